"""Errors of files that cannot be read, which name the files and the reason."""

import os
import re
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager

import polars as pl

from balframe.cli.files.null_words import is_null_word, null_advice
from balframe.errors import InvalidInputError, clipped, first_line, listed, panic_reason

_POLARS_ERRORS = (pl.exceptions.PolarsError, pl.exceptions.PanicException)
READ_ERRORS = (*_POLARS_ERRORS, OSError)
FindLine = Callable[[str, str], int | None]  # of a column and a text
EMPTY = "it is empty"
DAMAGED = "it is damaged or cut off"
MORE_FIELDS = "has more fields than the header. Put values that have the separator in quotes"
_STANDARD_ERROR = 2  # the file descriptor
_REASONS = {  # what messages of libraries contain, and what that means
    "out-of-spec": DAMAGED,  # from Arrow
    "File out of specification": DAMAGED,
    "os error 22": DAMAGED,  # a file that is too short for Arrow
    "fill whole buffer": DAMAGED,
    "unexpected end of file": DAMAGED,  # from gzip
    "corrupt deflate": DAMAGED,
    "incomplete frame": DAMAGED,  # from zstd
    "calamine error": f"{DAMAGED}, or no workbook of xlsx",
    " at character ": "it is not valid JSON. It may be damaged or cut off",
    "invalid utf-8": "it is not UTF-8. Convert it, as in: iconv -f LATIN1 -t UTF-8",
    "valid UTF-8": "it is not UTF-8. Convert it, as in: iconv -f LATIN1 -t UTF-8",
    "empty CSV": f"{EMPTY}. It has no header with column names",
    "NDJSON types on empty": f"{EMPTY}. It has no line",
    "found more fields": f"a line {MORE_FIELDS}",
}
_LATE_CSV_VALUE = re.compile(
    r"could not parse `(?P<value>.*)` as dtype `(?P<dtype>\w+)` at column '(?P<column>.*)' \(column"
)
_LATE_JSON_VALUE = re.compile(r"cannot parse '(?P<value>.*)'( \(\w+\))? as (?P<dtype>\w+)")
_TYPE_WORDS = {
    "i64": "whole numbers",
    "int64": "whole numbers",
    "f64": "numbers",
    "float64": "numbers",
    "bool": "true and false",
    "boolean": "true and false",
}


class ContentError(ValueError):
    """A file has content that cannot be read; the message is the reason, without the file."""


class _UnreadableFileError(InvalidInputError):
    """An error that names the files that cannot be read."""


@contextmanager
def naming_files(
    *names: str, format: str | None = None, find_line: FindLine | None = None
) -> Iterator[None]:
    """Add to errors which files cannot be read and why, and the format if it was recognised.

    `find_line` returns the line on which a column has a text, if it is found.
    """
    try:
        yield
    except _UnreadableFileError:
        raise
    except (*READ_ERRORS, ContentError) as error:
        raise _unreadable(names, format, error, find_line) from error
    except InvalidInputError as error:
        if not is_read_error(error):
            raise
        raise _unreadable(names, format, error.__cause__ or error, find_line) from error


def is_read_error(error: BaseException) -> bool:
    """Return whether an error comes from reading files, in whatever words a method reports it."""
    if isinstance(error, InvalidInputError):  # one from an OSError is of writing
        return isinstance(error.__cause__, _POLARS_ERRORS)
    return isinstance(error, READ_ERRORS)


def _unreadable(
    names: Sequence[str], format: str | None, error: BaseException, find_line: FindLine | None
) -> _UnreadableFileError:
    as_format = f" as {format}" if format is not None else ""
    reason = _reason(error, find_line)
    return _UnreadableFileError(f"{listed(names, 3)} cannot be read{as_format}: {reason}")


def _reason(error: BaseException, find_line: FindLine | None) -> str:
    """Return what is wrong with a file, or the first line of a message that is not known."""
    if isinstance(error, pl.exceptions.PanicException):
        return (
            f"Polars failed with an internal error ({panic_reason(error)}). The file may be "
            "damaged, or a column is of a type that Polars lacks."
        )
    text = getattr(error, "strerror", None) or first_line(error)
    if match := _LATE_CSV_VALUE.search(text) or _LATE_JSON_VALUE.search(text):
        return _late_value_reason(find_line, **match.groupdict())
    reason = next((reason for part, reason in _REASONS.items() if part in text), text)
    return f"{reason.rstrip('.:')}."


def _late_value_reason(
    find_line: FindLine | None, value: str, dtype: str, column: str | None = None
) -> str:
    """Return that a value is of another type than those that the type was inferred from."""
    subject = f"column {column!r}" if column is not None else "a column"
    words = _TYPE_WORDS.get(dtype.lower(), "values of another type")
    line = None if find_line is None or column is None else find_line(column, value)
    place = "" if line is None else f" on line {line:,}"
    advice = "Correct the value, or save the file as Parquet, which stores types."
    if column is not None and is_null_word(value):
        advice = null_advice([value])
    return f"{subject} holds {words}, then {clipped(value)!r}{place}. {advice}"


@contextmanager
def without_panic_output() -> Iterator[None]:
    """Hold back what is written to standard error below Python, such as panics of polars.

    It is dropped if an error of one line reports it. Python's own standard error, as for warnings
    and the line of progress, stays where it is.
    """
    try:
        sys.stderr.flush()
        original = os.dup(_STANDARD_ERROR)
    except OSError:  # closed by the program that started this
        yield
        return
    python_stream = sys.stderr
    with tempfile.TemporaryFile() as buffer, open(original, "w", errors="backslashreplace") as line:
        os.dup2(buffer.fileno(), _STANDARD_ERROR)
        if python_stream is sys.__stderr__:
            sys.stderr = line
        is_reported = False
        try:
            yield
        except BaseException:
            is_reported = True
            raise
        finally:
            line.flush()
            os.dup2(original, _STANDARD_ERROR)
            sys.stderr = python_stream
            if not is_reported:
                buffer.seek(0)
                os.write(_STANDARD_ERROR, buffer.read())
