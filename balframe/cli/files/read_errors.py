"""What is said of files that cannot be read."""

import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

import polars as pl

from balframe.errors import InvalidInputError, clipped, first_line, listed

_OF_POLARS = (pl.exceptions.PolarsError, pl.exceptions.PanicException)
OF_READING = (*_OF_POLARS, OSError)
EMPTY = "it is empty"
DAMAGED = "it is damaged or cut off"
_REASONS = {  # what libraries say, and what that means
    "out-of-spec": DAMAGED,  # of Arrow
    "File out of specification": DAMAGED,
    "os error 22": DAMAGED,  # a file that is too short for Arrow
    "fill whole buffer": DAMAGED,
    "unexpected end of file": DAMAGED,  # of gzip
    "corrupt deflate": DAMAGED,
    "incomplete frame": DAMAGED,  # of zstd
    "calamine error": f"{DAMAGED}, or no workbook of xlsx",
    " at character ": "it is not valid JSON. It may be damaged or cut off",
    "invalid utf-8": "it is not UTF-8. Convert it, as in: iconv -f LATIN1 -t UTF-8",
    "valid UTF-8": "it is not UTF-8. Convert it, as in: iconv -f LATIN1 -t UTF-8",
    "empty CSV": f"{EMPTY}. It has no header with column names",
    "NDJSON types on empty": f"{EMPTY}. It has no line",
    "found more fields": "a line has more fields than the header",
}
_LATE_VALUE = re.compile(
    r"could not parse `(?P<value>.*)` as dtype `(?P<dtype>\w+)` at column '(?P<column>.*)' \(column"
)
_LATE_IN_JSON = re.compile(r"cannot parse '(?P<value>.*)'( \(\w+\))? as (?P<dtype>\w+)")
_IN_WORDS = {
    "i64": "whole numbers",
    "int64": "whole numbers",
    "f64": "numbers",
    "float64": "numbers",
    "bool": "true and false",
    "boolean": "true and false",
}


class ContentError(ValueError):
    """A file holds what cannot be read; the message is the reason, which `named` gives a name."""


class _UnreadableError(InvalidInputError):
    """Says already which files cannot be read."""


@contextmanager
def named(*names: str, kind: str | None = None) -> Iterator[None]:
    """Say which files cannot be read and why, and as what where that was recognised."""
    try:
        yield
    except _UnreadableError:
        raise
    except (*OF_READING, ContentError) as error:
        raise _unreadable(names, kind, error) from error
    except InvalidInputError as error:
        if not is_of_reading(error):
            raise
        raise _unreadable(names, kind, error.__cause__ or error) from error


def is_of_reading(error: BaseException) -> bool:
    """Tell whether an error comes of reading files, though a verb may have said so in its words."""
    if isinstance(error, InvalidInputError):  # one from an OSError is of writing
        return isinstance(error.__cause__, _OF_POLARS)
    return isinstance(error, OF_READING)


def _unreadable(names: Sequence[str], kind: str | None, error: BaseException) -> _UnreadableError:
    recognised = f" as {kind}" if kind is not None else ""
    return _UnreadableError(f"{listed(names, 3)} cannot be read{recognised}: {_reason(error)}")


def _reason(error: BaseException) -> str:
    """Say what is wrong with a file, or give the first line of a message that is not known."""
    if isinstance(error, pl.exceptions.PanicException):
        return "Polars failed with an internal error; the file may be damaged."
    text = getattr(error, "strerror", None) or first_line(error)
    if late := _LATE_VALUE.search(text) or _LATE_IN_JSON.search(text):
        return _of_late_value(**late.groupdict())
    reason = next((reason for mark, reason in _REASONS.items() if mark in text), text)
    return f"{reason.rstrip('.:')}."


def _of_late_value(value: str, dtype: str, column: str | None = None) -> str:
    """Say where a value is of another type than those that the type was inferred from."""
    subject = f"column {column!r}" if column is not None else "a column"
    words = _IN_WORDS.get(dtype.lower(), "values of another type")
    return (
        f"{subject} holds {words}, then {clipped(value)!r}. Correct the value, or save the file "
        "as Parquet, which stores types."
    )
