"""Errors of engines, for data that they cannot read and operations that they do not support."""

import re
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any

import polars as pl

from balframe.errors import InvalidInputError, UnsupportedTypeError, clipped, listed, panic_reason

_UNSUPPORTED_ERRORS = {
    ("ibis", "TranslationError"),
    ("pyarrow", "ArrowNotImplementedError"),  # where Ibis casts what an engine exports
    ("sqlframe", "UnsupportedOperationError"),
}
_FORMATS = (
    "parquet|thrift|magic bytes|page header|csv|json|arrow file|ipc|out-of-spec|utf-?8|unicode|"
    "pars(e|ing)|fields|schema lengths|compress|corrupt|end of stream|base64|buffers|view contained"
)
_READ_ERRORS = {  # by module and class, a pattern of errors about reading data
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
_TYPES_ADVICE = (
    "If a column has a type that polars lacks, give the file as a dataset, "
    "`pyarrow.dataset.dataset(path)`: of that, only columns in use are read."
)
_CLOSED = re.compile(
    r"(connection|cursor|database|session)( is| was| has)?( been| already)* closed|"
    r"closed (database|connection|cursor)|connection already closed|stopped SparkContext",
    re.IGNORECASE,
)
_PATH = re.compile(r"""['"]?([A-Za-z]:\\|\w+:/|/)[^'"\s]+\.\w+""")
_DUCKDB_FILE = re.compile(r"^\s*(?:file =|Current file:) (.+)$", re.MULTILINE)


@contextmanager
def translate_errors(frame: object) -> Iterator[None]:
    """Raise an error of balframe for errors about reading data, or about missing operations."""
    try:
        yield
    except pl.exceptions.PanicException as error:
        if not _reads_files(frame):
            raise
        reason = f"polars failed with an internal error: {panic_reason(error)}"
        raise InvalidInputError(f"{_unreadable_message(frame, reason)} {_TYPES_ADVICE}") from error
    except Exception as error:
        classes, text = _error_classes(error), str(error)
        if is_closed_connection(error):
            raise InvalidInputError(
                f"the connection of the frame has been closed: {_relevant_line(text)}. Keep it "
                "open until the result is computed, or create the frame again from an open "
                "connection."
            ) from error
        if classes & _UNSUPPORTED_ERRORS:
            raise UnsupportedTypeError(_unsupported_message(frame, text)) from error
        patterns = [_READ_ERRORS[name] for name in classes & {*_READ_ERRORS}]
        is_about_reading = any(re.search(pattern, text, re.IGNORECASE) for pattern in patterns)
        if is_about_reading and _reads_files(frame):
            raise InvalidInputError(_unreadable_message(frame, text)) from error
        raise


def is_closed_connection(error: Exception) -> bool:
    """Return whether an engine reports that its connection is closed."""
    return type(error).__module__ != "builtins" and _CLOSED.search(str(error)) is not None


def _reads_files(frame: object) -> bool:
    """Return whether a frame may read files; only polars reveals that."""
    if isinstance(frame, pl.LazyFrame):
        with suppress(Exception, pl.exceptions.PanicException):  # the same file may fail here too
            return "SCAN" in frame.explain()
    return True


def _error_classes(error: Exception) -> set[tuple[str, str]]:
    """Return the classes of an error, by module and name, without the base of DuckDB's errors."""
    own, *bases = type(error).__mro__
    classes = [own, *(base for base in bases if base.__name__ != "Error")]
    return {(cls.__module__.strip("_").partition(".")[0], cls.__name__) for cls in classes}


def _unsupported_message(frame: Any, text: str) -> str:  # noqa: ANN401
    engine = type(frame).__module__.partition(".")[0].capitalize()
    if hasattr(frame, "get_backend"):
        engine = f"{engine}'s backend {frame.get_backend().name!r}"
    return (
        f"{engine} does not support an operation that this result needs: "
        f"{_relevant_line(text)}. Collect the rows first, as with `table.to_polars()`, or use a "
        "backend that supports it."
    )


def _unreadable_message(frame: object, text: str) -> str:
    reason = _relevant_line(text)
    if _PATH.search(reason):
        return f"the data cannot be read: {reason}."
    file = _DUCKDB_FILE.search(text)
    if file is not None:
        return f"{file[1]!r} cannot be read: {reason}."
    files = _scanned_files(frame)
    return (
        f"the data cannot be read: {reason}. The engine does not report which file "
        f"fails{', of ' * bool(files)}{files}; read each file alone to find it."
    )


def _relevant_line(text: str) -> str:
    """Return the line with the reason: the first, or for Java the line about the file."""
    lines = text.strip().splitlines() or ["no reason was reported"]
    about_file = [line for line in lines if "reading file" in line]
    return clipped((about_file or lines)[0].strip().rstrip(".:"), 600)


def _scanned_files(frame: Any) -> str:  # noqa: ANN401
    """Return the files of a frame, as far as its engine reveals them."""
    paths: list[str] = []
    if isinstance(frame, pl.LazyFrame):
        with suppress(Exception, pl.exceptions.PanicException):  # the same file may fail here too
            paths = re.findall(r"SCAN \[(.*?)\]", frame.explain())
    elif hasattr(getattr(frame, "expr", None), "walk"):
        node_paths = (getattr(node, "path", None) for node in frame.expr.walk())
        paths = [repr(path) for path in node_paths if path is not None]
    return listed(paths, 3) if paths else ""
