"""Names that SQLFrame does not read as those of columns."""

from collections.abc import Iterable
from typing import Any

from balframe.errors import InvalidInputError, first_line, listed
from balframe.frames.adapter import Name

_ADVICE = "Rename it where the frame is created, before SQLFrame reads it."


def check_columns(frame: Any) -> None:  # noqa: ANN401 (of a library that need not be there)
    """Refuse a frame whose columns SQLFrame itself does not tell apart, or does not find."""
    names, n_columns = frame.columns, len(frame.expression.expressions)
    if len(names) != n_columns:
        raise InvalidInputError(
            f"the SQLFrame frame has {n_columns} columns, but SQLFrame has lost the name of one: "
            f"it knows {listed(map(repr, names))}. It loses names that are SQL keywords, such as "
            f"current_date, or contain a quotation mark. {_ADVICE}"
        )
    try:
        _ = frame.schema
    except Exception as error:  # of its parser, or of the database
        reason = first_line(error.__cause__ or error).rstrip(".!")
        odd = [name for name in names if not (name.isascii() and name.isidentifier())]
        advice = "Drop or cast that column where the frame is created."
        if odd:
            advice = (
                "It may have misread the name of a column. Names with characters other than A to "
                f"Z, digits and _ are {listed(map(repr, odd))}. {_ADVICE}"
            )
        raise InvalidInputError(
            f"SQLFrame cannot describe its frame: {reason}. {advice}"
        ) from error


def check_names(names: Iterable[Name]) -> None:
    """Refuse names that SQLFrame reads as a number, a text or null."""
    from sqlframe.base.functions import col

    for name in map(str, names):
        try:
            meaning = col(name).expression.key
        except Exception:  # of its parser: what is no SQL is only a name
            continue
        if meaning in ("literal", "null"):
            raise InvalidInputError(
                f"SQLFrame reads the column name {name!r} as a constant. A name must not be a "
                f"number, a quoted string or null. {_ADVICE}"
            )
