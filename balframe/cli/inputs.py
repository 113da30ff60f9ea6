"""Files to lazy frames, and text from the command line to labels."""

import errno
import glob
import os
import sys
import tempfile
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import date, datetime
from functools import partial
from pathlib import Path
from typing import IO, Any, BinaryIO, Literal, get_args

import polars as pl

from balframe.errors import InvalidInputError, first_line, listed
from balframe.intervals.request import Method

_BLOCK = 2**20  # bytes
_INFERRED = 10_000  # rows that tell the types of the columns of a csv or ndjson file
_csv = partial(pl.scan_csv, infer_schema_length=_INFERRED, glob=False)
_READERS: Mapping[str, Callable[[Any], pl.LazyFrame]] = {
    ".csv": _csv,
    ".tsv": partial(_csv, separator="\t"),
    ".parquet": partial(pl.scan_parquet, glob=False, hive_partitioning=True),
    ".ndjson": partial(pl.scan_ndjson, infer_schema_length=_INFERRED),
    ".jsonl": partial(pl.scan_ndjson, infer_schema_length=_INFERRED),
    ".arrow": pl.scan_ipc,
    ".ipc": pl.scan_ipc,
    ".feather": pl.scan_ipc,
}
OF_POLARS = (pl.exceptions.PolarsError, pl.exceptions.PanicException)
UNREADABLE = (*OF_POLARS, OSError)
_ADVICE = {
    "invalid utf-8": "Convert it to UTF-8, as in: iconv -f LATIN1 -t UTF-8.",
    "empty CSV": "It has no line, not even of names of columns.",
    "found more fields": "A line has more fields than the line of names.",
}


@contextmanager
def opened(names: Sequence[str]) -> Iterator[pl.LazyFrame]:
    """Scan files; "-" is csv on standard input, kept on disk for the time being."""
    if list(names) != ["-"]:
        yield _scanned(_files(names))
        return
    with tempfile.NamedTemporaryFile(suffix=".csv") as copy:
        _copy(sys.stdin.buffer, copy)
        copy.flush()
        yield _csv(copy.name)


def _copy(source: BinaryIO, copy: IO[bytes]) -> None:
    """Copy all there is: a pipe that does not wait may give None before its end."""
    while (part := source.read(_BLOCK)) != b"":
        if part is None:
            raise BlockingIOError(errno.EAGAIN, os.strerror(errno.EAGAIN))
        copy.write(part)


def _files(names: Sequence[str]) -> list[Path]:
    """List the files that names and patterns stand for."""
    found: list[Path] = []
    for name in names:
        if name == "-":
            raise InvalidInputError("'-' is standard input; it cannot go with files.")
        path = Path(name)
        if path.is_dir():
            raise InvalidInputError(
                f"{name!r} is a folder; give its files, as in '{path / '*.parquet'}'."
            )
        matches = [path] if path.exists() else sorted(map(Path, glob.glob(name, recursive=True)))
        matches = [match for match in matches if not match.is_dir()]
        if not matches:
            raise InvalidInputError(_no_file(name))
        found += matches
    twice = [file for file, number in Counter(map(Path.resolve, found)).items() if number > 1]
    if twice:
        raise InvalidInputError(f"'{twice[0]}' is given twice; its rows would count twice.")
    return found


def _no_file(name: str) -> str:
    if glob.has_magic(name):
        return f"{name!r} matches no file; give the path of a file, or a pattern."
    if name in get_args(Method):
        return f"{name!r} is not a file; --interval is a flag, --interval-method {name} a method."
    message = f"{name!r} is not a file; give the path of a file, or a pattern"
    if Path(name).suffix:
        return f"{message}."
    return f"{message}. An option is given again for each of its values, as in --by sex --by age."


def _scanned(files: Sequence[Path]) -> pl.LazyFrame:
    suffixes = {file.suffix.lower(): str(file) for file in files}
    for suffix, name in suffixes.items():
        if suffix not in _READERS:
            ending = f"ends in {suffix!r}" if suffix else "has no ending"
            raise InvalidInputError(
                f"{name!r} {ending}; the files that can be read end in {listed(_READERS)}."
            )
    if len(suffixes) > 1:
        raise InvalidInputError(
            f"the files are of several kinds: {listed(suffixes)}. Give those of one kind."
        )
    return _READERS[next(iter(suffixes))](list(files))


def unreadable(names: Sequence[str], error: BaseException) -> InvalidInputError:
    """Say which files cannot be read, and why."""
    if list(names) == ["-"]:
        return InvalidInputError(f"standard input cannot be read as csv: {_reason(error)}")
    files = _files(names)
    columns: list[str] = []
    for file in files:
        try:
            found = _scanned([file]).collect_schema().names()
        except UNREADABLE as first:
            return InvalidInputError(f"'{file}' cannot be read: {_reason(first)}")
        columns = columns or found
        has_same = set(found) == set(columns)
        if not has_same or (found != columns and "names differ" in str(error)):
            order = " in the same order" if has_same else ""
            return InvalidInputError(
                f"the files have different columns: '{files[0]}' has {listed(columns)}; "
                f"'{file}' has {listed(found)}. Give files with the same columns{order}."
            )
    given = listed([f"'{file}'" for file in files], 3)
    return InvalidInputError(f"{given} cannot be read: {_reason(error)}")


def _reason(error: BaseException) -> str:
    """Give the first line of what Polars says, and the way out where one is known."""
    if isinstance(error, pl.exceptions.PanicException):
        return "Polars breaks off with an error of its own, as over a damaged file."
    text = getattr(error, "strerror", None) or first_line(error)
    advice = next((advice for mark, advice in _ADVICE.items() if mark in text), "")
    return f"{text.rstrip('.:')}. {advice}".rstrip()


def label(text: str, rows: pl.LazyFrame, name: str) -> Any:  # noqa: ANN401
    """Read a label as a value of a column; left as text where that cannot be."""
    dtype = rows.collect_schema().get(name)
    if dtype == pl.Boolean and text.lower() in ("true", "false"):
        return text.lower() == "true"
    readers: list[Callable[[str], Any]] = []
    if dtype is not None and dtype.is_numeric():
        readers = [int, float]
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


def class_weights(
    texts: Sequence[str], rows: pl.LazyFrame, y_true: str
) -> Mapping[Any, float] | Literal["balanced", "prevalence"]:
    """Read "yes=0.8" for every label, or one of the names of weightings."""
    if len(texts) == 1 and texts[0] in ("balanced", "prevalence"):
        return texts[0]  # type: ignore[return-value]
    weights = {}
    for text in texts:
        name, mark, weight = text.rpartition("=")
        read = label(name, rows, y_true)
        if read in weights:
            raise InvalidInputError(f"--class-weight gives {name!r} more than one weight.")
        try:
            weights[read] = float(weight)
        except ValueError:
            mark = ""
        if not mark:
            raise InvalidInputError(
                f"--class-weight {text!r} is none of: a label and its weight, as in 'yes=0.8', "
                "'balanced', 'prevalence'."
            )
    return weights


def thresholds(text: str) -> Any:  # noqa: ANN401
    """Read a number of thresholds, a list "0.2,0.5", or "quantiles,10"."""
    kind, _, size = text.partition(",")
    try:
        if kind.strip() == "quantiles":
            return "quantiles", int(size)
        return [float(one) for one in text.split(",")] if "," in text else _number(text)
    except ValueError as error:
        raise InvalidInputError(
            f"--thresholds {text!r} is none of: a number of them, as in 101, a list, as in "
            "0.2,0.5, or quantiles,10."
        ) from error


def _number(text: str) -> int | list[float]:
    return int(text) if text.strip().isdigit() else [float(text)]
