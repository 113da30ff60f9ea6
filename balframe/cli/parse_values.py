"""Text of the command line to the values of parameters."""

import csv
import re
import shlex
from collections.abc import Callable, Mapping, Sequence
from datetime import date, datetime
from pathlib import Path
from typing import Any, Literal

import polars as pl

from balframe.cli.files.csv_dialect import literal_column
from balframe.cli.toml.forms import InlineRules
from balframe.errors import BalframeError, InvalidInputError, UnknownNameError, listed, warn
from balframe.frames.by_entries import Period, intersection
from balframe.frames.by_entries import bins as cut_column
from balframe.frames.by_entries import period as period_of
from balframe.methods.gates.rules import naming_place, read_rule_set
from balframe.metrics.lookup import find_metric

_ISO_DATE_OR_TIME = (
    r"^(?<date>\d{4}-\d{2}-\d{2})"
    r"([T ](?<hour>\d{2}):(?<minute>\d{2})(:\d{2}([.,]\d+)?)?"
    r"( ?(?<offset>UTC|Z|(?<hours>[+-]\d{2})(:?(?<minutes>\d{2}))?))?)?$"
)
_BRACKETS = re.compile(r"\([^()]*\)")


def label(text: str, rows: pl.LazyFrame, column: str | None) -> Any:  # noqa: ANN401
    """Read a label as a value of a column; it stays text where it is not written as one."""
    dtype = None if column is None else rows.collect_schema().get(column)
    if dtype == pl.Boolean and text.lower() in ("true", "false"):
        return text.lower() == "true"
    readers: list[Callable[[str], Any]] = []
    if dtype is not None and dtype.is_numeric():
        readers = [_as_written(int), *([] if dtype.is_integer() else [_as_written(float)])]
    elif dtype == pl.Date:
        readers = [date.fromisoformat]
    elif isinstance(dtype, pl.Datetime):
        readers = [datetime.fromisoformat]
    for read in readers:
        try:
            return read(text)
        except ValueError:
            continue
    return text


def _as_written(read: Callable[[str], Any]) -> Callable[[str], Any]:
    """Return a reader of numbers that refuses other writings: 007 and 7.0 are not 7."""

    def read_as_written(text: str) -> Any:  # noqa: ANN401
        value = read(text)
        if repr(value) != text:
            raise ValueError(text)
        return value

    return read_as_written


def values(texts: Sequence[str], rows: pl.LazyFrame, column: str, option: str) -> list[Any]:
    """Read texts as values of a column; raise for one that is none of its numbers."""
    read = [label(text, rows, column) for text in texts]
    dtype = rows.collect_schema().get(column)
    invalid = [value for value in read if isinstance(value, str)]
    if not invalid or dtype is None or not dtype.is_numeric():
        return read
    name = literal_column(column)
    numbers = rows.select(name.drop_nulls().unique().sort()).collect(engine="streaming")
    raise InvalidInputError(
        f"--{option} {invalid[0]!r} is not a number as column {column!r} has them: "
        f"{listed(map(repr, numbers.to_series()))}. Write it as there."
    )


def class_weights(
    texts: Sequence[str], rows: pl.LazyFrame, y_true: str
) -> Mapping[Any, float] | Literal["balanced", "prevalence"]:
    """Read "yes=0.8" for every label, or the name of a weighting."""
    if len(texts) == 1 and texts[0] in ("balanced", "prevalence"):
        return texts[0]  # type: ignore[return-value]
    weights: dict[Any, float] = {}
    for text in texts:
        name, mark, weight = text.rpartition("=")
        value = label(name, rows, y_true)
        if value in weights:
            raise InvalidInputError(
                f"--class-weight gives {name!r} more than one weight; give one."
            )
        try:
            weights[value] = float(weight)
        except ValueError:
            mark = ""
        if not mark:
            raise InvalidInputError(
                f"--class-weight {text!r} is not valid; give a label and its weight, as in "
                "yes=0.8, or give balanced or prevalence."
            )
    return weights


def one_or_more(names: Sequence[str]) -> str | list[str]:
    """Return one name alone, and several as a list."""
    return list(names) if len(names) > 1 else names[0]


def not_separated(kind: str, option: str, text: str, names: Sequence[str]) -> UnknownNameError:
    """Return the error that names stand in one option, separated by commas."""
    options = " ".join(f"--{option} {shlex.quote(name)}" for name in names)
    return UnknownNameError(f"{kind} {text!r} not found; to name several, give {options}.")


def metrics(texts: Sequence[str]) -> Any:  # noqa: ANN401
    """Read names, or new names with names, as in acc=accuracy."""
    for text in texts:
        names = [part.strip() for part in text.split(",")]
        if len(names) > 1 and all(map(_is_metric, names)):
            raise not_separated("metric", "metric", text, names)
    outside = {text: _BRACKETS.sub("", text) for text in texts}  # as in cost(fn=5, fp=1)
    if not any("=" in text for text in outside.values()):
        return one_or_more(texts)
    ambiguous = next((text for text in texts if outside[text].count("=") > 1), None)
    if ambiguous is not None:
        raise InvalidInputError(
            f"--metric {ambiguous!r} has more than one =; give a metric, or a new name and a "
            "metric, as in acc=accuracy."
        )
    pairs = [
        (text.partition("=")[0], text.partition("=")[2]) if "=" in outside[text] else (text, text)
        for text in texts
    ]
    if len(dict(pairs)) < len(pairs):
        raise InvalidInputError("--metric gives two metrics the same name; give each its own.")
    return dict(pairs)


def _is_metric(name: str) -> bool:
    try:
        return find_metric(name) is not None
    except BalframeError:
        return False


def rules(texts: list[str] | None, files: list[Path | InlineRules] | None) -> Any:  # noqa: ANN401
    """Take rules from the command line, from files or from a configuration."""
    if (not texts) == (not files):
        raise InvalidInputError(
            "give rules either one by one with --rule 'recall >= 0.7', or in a file with --rules "
            "gate.toml."
        )
    inline = [item for item in files or [] if isinstance(item, InlineRules)]
    if inline:
        with naming_place(inline[0].source.table):
            read_rule_set(inline[0].rules)
        return inline[0].rules
    return texts or files or []


def nouns(text: str) -> tuple[str, ...]:
    """Read the singular and the plural of a noun, separated by a comma."""
    words = tuple(word.strip() for word in text.split(","))
    if len(words) != 2 or not all(words):
        raise InvalidInputError(
            f"{text!r} is not a pair of words; give the singular and the plural, separated by a "
            "comma, as in person,people."
        )
    return words


def by_entries(values: Mapping[str, Any]) -> Any:  # noqa: ANN401 (a name, or entries)
    """Read the by-columns, with those that are computed, by the options that have them."""
    cut = bins(values["bins"]) if values.get("bins") else {}
    if not isinstance(cut, Mapping):
        raise InvalidInputError("--bins needs the column that is cut; give it as in age=4.")
    entries: list[Any] = list(values["by"] or ())
    for name, edges in cut.items():
        if name not in entries:
            raise InvalidInputError(
                f"--bins cuts column {name!r}, which is not in --by; name it there too."
            )
        if edges is not None:
            entries[entries.index(name)] = cut_column(name, edges)
    if values.get("time") is not None or values.get("every") is not None:
        entries.append(period(values["time"], values["every"]))
    texts = values.get("intersection") or ()
    rows = csv.reader(() if list(texts) == ["none"] else texts, skipinitialspace=True)
    entries += [intersection(*(name.strip() for name in row)) for row in rows]
    return one_or_more(entries + ([intersection()] if list(texts) == ["none"] else []))


def period(time: str | None, every: str | None) -> Period:
    """Read a column of times and the length of its periods, which need each other."""
    if time is None or every is None:
        raise InvalidInputError(
            f"--{'time' if every is None else 'every'} needs "
            f"--{'every' if every is None else 'time'} too: the column that holds dates or "
            "datetimes as --time, and the length of the periods as --every, such as --every 1w."
        )
    return period_of(time, every)


def thresholds(text: str) -> Any:  # noqa: ANN401
    """Read "all", a number of thresholds, a list "0.2,0.5", or "quantiles,10"."""
    if text.strip() == "all":
        return "all"
    kind, _, size = text.partition(",")
    try:
        if kind.strip() == "quantiles":
            return "quantiles", int(size)
        return _thresholds(text)
    except ValueError as error:
        raise InvalidInputError(
            f"--thresholds {text!r} is not valid; give all, a number of thresholds, as in 101, a "
            "list, as in 0.2,0.5, or quantiles,10 for 10 quantiles of the scores."
        ) from error


def _thresholds(text: str) -> int | list[float]:
    is_count = text.strip().isdigit()
    return int(text) if is_count else [float(number) for number in text.split(",")]


def bins(texts: Sequence[str]) -> Any:  # noqa: ANN401
    """Read a number of bins for all columns, or bins or edges for each: age=18,25,45."""
    try:
        if len(texts) == 1 and "=" not in texts[0]:
            return _bins(texts[0])
        by_column: dict[str, Any] = {}
        for text in texts:
            name, _, column_bins = text.rpartition("=")
            if not name or name in by_column:
                raise ValueError(text)
            by_column[name] = _bins(column_bins)
    except ValueError as error:
        raise InvalidInputError(
            f"--bins {' '.join(texts)!r} is not valid; give a number of bins, as in 4, none, or "
            "one of them or the edges for each column, as in age=18,25,45."
        ) from error
    return by_column


def _bins(text: str) -> int | list[float] | None:
    if text == "none":
        return None
    if "," in text:  # after a single edge, too
        return [_number(edge) for edge in text.removesuffix(",").split(",")]
    return int(text)


def _number(text: str) -> float:
    return int(text) if text.strip().lstrip("-").isdigit() else float(text)


def read_dates(rows: pl.LazyFrame, column: str | None) -> pl.LazyFrame:
    """Read a column of text as dates, as csv and JSON contain them; numbers are none.

    Of a time, that is its local date, or the date in UTC where the column has several offsets.
    """
    dtype = None if column is None else rows.collect_schema().get(column)
    if column is None or dtype is None or not (dtype == pl.String or dtype.is_numeric()):
        return rows
    text = literal_column(column).cast(pl.String)
    parts = text.str.strip_chars().str.extract_groups(_ISO_DATE_OR_TIME).struct
    dates = parts.field("date").str.to_date("%Y-%m-%d", strict=False)
    hours, minutes = (parts.field(name).cast(pl.Int64) for name in ("hours", "minutes"))
    sign = pl.when(parts.field("hours").str.starts_with("-")).then(-1).otherwise(1)
    offset = (hours * 60 + sign * minutes.fill_null(0)).fill_null(0)
    own = pl.when(parts.field("offset").is_not_null()).then(offset)
    has_time = parts.field("hour").is_not_null()
    first, n_offsets = (
        rows.select(
            text.filter(dates.is_null() & text.is_not_null()).first().alias("first"),
            own.filter(has_time).n_unique().alias("n_offsets"),
        )
        .collect(engine="streaming")
        .row(0)
    )
    if first is not None:
        raise InvalidInputError(
            f"column {column!r} holds {first!r}, which is not a date; write dates as in "
            "2026-03-31 or 2026-03-31 10:00 (ISO 8601)."
        )
    if n_offsets > 1:
        warn(
            f"column {column!r} holds times with several offsets from UTC, so each day is that of "
            "UTC, also where an offset is missing."
        )
        clock = parts.field("hour").cast(pl.Int64) * 60 + parts.field("minute").cast(pl.Int64)
        in_utc = dates.cast(pl.Datetime) + pl.duration(minutes=(clock - offset).fill_null(0))
        dates = in_utc.dt.date()
    return rows.with_columns(dates.alias(column))
