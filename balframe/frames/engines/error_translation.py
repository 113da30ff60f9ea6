"""Failures of engines: data that they cannot read, and operations that they do not support."""

import re
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any

import polars as pl

from balframe.errors import InvalidInputError, UnsupportedTypeError, clipped, listed

_LACKS = {("ibis", "TranslationError"), ("sqlframe", "UnsupportedOperationError")}
_FORMATS = (
    "parquet|thrift|magic bytes|page header|csv|json|arrow file|ipc|out-of-spec|utf-?8|unicode|"
    "pars(e|ing)|fields|schema lengths|compress|corrupt|end of stream|base64|buffers|view contained"
)
_READING = {  # by module and class, the words of errors that are about reading data
    ("polars", "ComputeError"): _FORMATS,
    ("narwhals", "ComputeError"): _FORMATS,
    ("narwhals", "NarwhalsError"): "view index|ARROW:schema",
    ("pyarrow", "ArrowInvalid"): _FORMATS,
    ("pandas", "ParserError"): "",
    ("pandas", "EmptyDataError"): "",
    ("duckdb", "IOException"): "",
    ("duckdb", "InvalidInputException"): "csv error|magic bytes|parquet|(read|sniff|glob)\\w* file",
    ("duckdb", "ConversionException"): "csv error",
    ("duckdb", "Error"): "what type|out of buffer|variable-length|invalid data|compress|TProtocol",
    ("py4j", "Py4JJavaError"): "error while reading file",
    ("pyspark", "PySparkException"): "error while reading file",
    ("builtins", "UnicodeDecodeError"): "",
    ("builtins", "ValueError"): "mismatched dtypes found in `pd.read",
    ("builtins", "OSError"): f"{_FORMATS}|no such file|invalid number of bytes",
}
_PATH = re.compile(r"""['"]?([A-Za-z]:\\|\w+:/|/)[^'"\s]+\.\w+""")
_FILE_OF_DUCKDB = re.compile(r"^\s*(?:file =|Current file:) (.+)$", re.MULTILINE)


@contextmanager
def failures_explained(frame: object) -> Iterator[None]:
    """Raise one error of balframe for what is known to be about reading, or about the engine."""
    try:
        yield
    except pl.exceptions.PanicException as error:
        if not _reads_files(frame):
            raise
        reason = f"Polars failed with an internal error: {error}"
        raise InvalidInputError(_cannot_be_read(frame, reason)) from error
    except Exception as error:
        kinds, text = _kinds(error), str(error)
        if kinds & _LACKS:
            raise UnsupportedTypeError(_lacks(frame, text)) from error
        words = [_READING[one] for one in kinds & {*_READING}]
        is_about_reading = any(re.search(one, text, re.IGNORECASE) for one in words)
        if is_about_reading and _reads_files(frame):
            raise InvalidInputError(_cannot_be_read(frame, text)) from error
        raise


def _reads_files(frame: object) -> bool:
    """Tell whether a frame may read files, which is known of polars alone."""
    if isinstance(frame, pl.LazyFrame):
        with suppress(Exception):  # of the very file
            return "SCAN" in frame.explain()
    return True


def _kinds(error: Exception) -> set[tuple[str, str]]:
    """Name the class of an error and those it is made of, less DuckDB's base of all its errors."""
    first, *others = type(error).__mro__
    named = [first, *(one for one in others if one.__name__ != "Error")]
    return {(one.__module__.strip("_").partition(".")[0], one.__name__) for one in named}


def _lacks(frame: Any, text: str) -> str:  # noqa: ANN401 (of a library that need not be there)
    holder = type(frame).__module__.partition(".")[0].capitalize()
    if hasattr(frame, "get_backend"):
        holder = f"{holder}'s backend {frame.get_backend().name!r}"
    return (
        f"{holder} does not support an operation that this result needs: {_line(text)}. Collect "
        "the rows first, as with `table.to_polars()`, or use a backend that supports it."
    )


def _cannot_be_read(frame: object, text: str) -> str:
    reason = _line(text)
    if _PATH.search(reason):
        return f"the data cannot be read: {reason}."
    named = _FILE_OF_DUCKDB.search(text)
    if named is not None:
        return f"{named[1]!r} cannot be read: {reason}."
    files = _scanned(frame)
    return (
        f"the data cannot be read: {reason}. The engine does not report which file "
        f"fails{', of ' * bool(files)}{files}; read each file alone to find it."
    )


def _line(text: str) -> str:
    """Take the line that says what happened: the first, but of Java the one about the file."""
    lines = text.strip().splitlines() or ["no reason was reported"]
    about = [line for line in lines if "reading file" in line]
    return clipped((about or lines)[0].strip().rstrip(".:"), 600)


def _scanned(frame: Any) -> str:  # noqa: ANN401 (of a library that need not be there)
    """Name the files of a frame as far as its engine does."""
    paths: list[str] = []
    if isinstance(frame, pl.LazyFrame):
        with suppress(Exception):  # of the very file
            paths = re.findall(r"SCAN \[(.*?)\]", frame.explain())
    elif hasattr(getattr(frame, "expr", None), "walk"):
        found = (getattr(one, "path", None) for one in frame.expr.walk())
        paths = [repr(path) for path in found if path is not None]
    return listed(paths, 3) if paths else ""
