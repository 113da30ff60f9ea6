"""Names of files to one lazy frame: what format they have, and how their text is separated."""

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

import polars as pl

from balframe.cli.files import csv_dialect, first_bytes, formats
from balframe.cli.files.concat_files import Files, rows
from balframe.cli.files.csv_dialect import Dialect
from balframe.cli.files.formats import InputFormat
from balframe.cli.files.paths import Source, held
from balframe.cli.files.read_errors import EMPTY, OF_READING, ContentError, is_of_reading, named
from balframe.errors import InvalidInputError, listed, warn

FoundT = TypeVar("FoundT", bound=str)


@dataclass(frozen=True, slots=True)
class Input:
    """What to read: names of files, and what was said of them.

    `columns` are those that the call names: files have to agree about those.
    """

    names: Sequence[str]
    format: InputFormat | None = None
    separator: str | None = None
    columns: Collection[str] = ()


@dataclass(frozen=True, slots=True)
class Opened:
    """The rows of files, and how much there is to read of them."""

    rows: pl.LazyFrame
    files: Files

    def counting(self) -> str:
        """Say what is done while a query runs."""
        with suppress(*OF_READING):  # of a file of another schema, which the query says better
            return f"counting {self.files.amount}"
        return "counting"


@contextmanager
def opened(asked: Input) -> Iterator[Opened]:
    """Scan files as one frame; an error in reading them, now or later, says which ones fail."""
    left_out: list[Path] = []

    def is_chosen(path: Path) -> bool:
        if asked.format is not None:  # which chooses among the files of a folder
            return formats.by_ending(path) in (asked.format, None)
        if formats.by_ending(path) is None:
            left_out.append(path)
        return formats.by_ending(path) is not None

    with held(asked.names, is_chosen) as sources:
        _warn_of(left_out)
        kind = _one(sources, "format", lambda source: _kind_of(source, asked.format))
        dialect = _dialect(kind, sources, asked)
        files = Files(kind, sources, dialect)
        with files.named(*sources):
            scanned = rows(files, asked.columns)
            with _guilty_named(files, scanned, asked.columns):
                yield Opened(scanned, files)


@contextmanager
def _guilty_named(files: Files, scanned: pl.LazyFrame, columns: Collection[str]) -> Iterator[None]:
    """Where several files of text cannot be read, read each alone, and name the first that fails.

    Types are inferred from the beginning, so that a value may turn out late to be of another.
    """
    try:
        yield
    except (*OF_READING, InvalidInputError) as error:
        if is_of_reading(error) and len(files.sources) > 1 and files.kind in formats.TEXT:
            types = scanned.collect_schema()
            for source in files.sources:
                with files.named(source):
                    _read_through(files, source, {c: types[c] for c in types if c in columns})
        raise


def _read_through(files: Files, source: Source, types: Mapping[str, pl.DataType]) -> None:
    """Read columns of a file to its end, as types that all files agree on."""
    inside = files.scan([source.path]).collect_schema().names()
    types = {name: dtype for name, dtype in types.items() if name in inside}
    query = files.scan([source.path], types).select(pl.col(*types).null_count())
    query.collect(engine="streaming")


def _warn_of(left_out: Sequence[Path]) -> None:
    """Warn of the files of folders whose endings stand for no format."""
    if left_out:
        endings = sorted({path.suffix or "no ending" for path in left_out})
        files = "1 file" if len(left_out) == 1 else f"{len(left_out)} files"
        warn(
            f"{files} of folders left out, whose endings stand for no format: "
            f"{listed(endings, 5)}. Give a pattern without them, or --input-format to read them."
        )


def _kind_of(source: Source, asked: InputFormat | None) -> InputFormat:
    """Find the format of a file: the one asked for, or by its ending, or by what it holds."""
    first_bytes.check(source.path)
    if asked is None and source.is_copy:
        return formats.recognised(source.path)
    kind = asked or formats.by_ending(source.path)
    if kind is None and formats.by_first_bytes(source.path) is None:
        raise formats.without_format(source.path)
    if kind is not None and kind not in formats.TEXT and source.path.stat().st_size == 0:
        raise ContentError(EMPTY)
    content = formats.surely(source.path, kind)
    if kind is not None and content not in (None, kind):
        said = f"{source.name} has a {kind} file extension, but contains {content}."
        if asked is not None:
            said = f"{source.name} contains {content}, not {kind}."
        raise InvalidInputError(f"{said} Give --input-format {content}.")
    return kind or content or "csv"


def _dialect(kind: InputFormat, sources: Sequence[Source], asked: Input) -> Dialect:
    typed = asked.separator
    if kind not in ("csv", "tsv"):
        if typed is not None:
            raise InvalidInputError(
                f"--separator is only for csv, but the input is {kind}. Omit it."
            )
        return Dialect()
    if typed is not None:
        separator = csv_dialect.separator_of(typed)
    elif kind == "tsv":
        separator = "\t"
    else:
        separator = _one(
            sources, "separator", lambda source: csv_dialect.recognised_separator(source.path)
        )
    for source in sources:
        with named(source.name):
            csv_dialect.check_names(source.path, separator)
    with named(*(source.name for source in sources)):
        paths = [source.path for source in sources]
        return csv_dialect.dialect_of(paths, separator, asked.columns)


def _one(sources: Sequence[Source], what: str, find: Callable[[Source], FoundT]) -> FoundT:
    """Find what all files have to have the same of."""
    found: dict[FoundT, str] = {}
    for source in sources:
        with named(source.name):
            found.setdefault(find(source), source.name)
    if len(found) > 1:
        examples = listed(f"{one!r} in {name}" for one, name in found.items())
        raise InvalidInputError(
            f"the files have more than one {what}: {examples}. Give files with the same {what}."
        )
    return next(iter(found))
