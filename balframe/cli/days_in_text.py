"""Days in a column of text, as csv and JSON hold dates and datetimes."""

import polars as pl

from balframe.errors import InvalidInputError

_ISO = (
    r"^\d{4}-\d{2}-\d{2}"
    r"([T ]\d{2}:\d{2}(:\d{2}([.,]\d+)?)?( ?(UTC|Z|[+-]\d{2}(:?\d{2})?))?)?$"
)
_DAY = 10  # characters of 2026-03-31


def with_days(rows: pl.LazyFrame, name: str | None) -> pl.LazyFrame:
    """Read the texts of a column as days, which begin them: the local ones, whatever the offset."""
    if name is None or rows.collect_schema().get(name) != pl.String:
        return rows
    text = pl.col(name).str.strip_chars()
    day = text.str.slice(0, _DAY).str.to_date("%Y-%m-%d", strict=False)
    read = pl.when(text.str.contains(_ISO)).then(day)
    is_wrong = read.is_null() & pl.col(name).is_not_null()
    wrong = rows.filter(is_wrong).select(pl.col(name)).head(1).collect(engine="streaming")
    if not wrong.is_empty():
        raise InvalidInputError(
            f"column {name!r} holds {wrong.item()!r}, which is not a date; write dates as in "
            "2026-03-31 or 2026-03-31 10:00 (ISO 8601)."
        )
    return rows.with_columns(read.alias(name))
