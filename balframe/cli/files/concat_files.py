"""Several files as one lazy frame."""

from collections.abc import Collection, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import polars as pl

from balframe.cli.files import formats
from balframe.cli.files.common_types import Schema, agreed
from balframe.cli.files.csv_dialect import INFERRED, Dialect
from balframe.cli.files.formats import InputFormat
from balframe.cli.files.partitions import partitions
from balframe.cli.files.paths import Source
from balframe.cli.files.read_errors import named
from balframe.errors import InvalidInputError

_EXACT = 2**53  # doubles hold all whole numbers up to here


@dataclass(frozen=True, slots=True)
class Files:
    """Files of one format, and how to read them."""

    kind: InputFormat
    sources: Sequence[Source]
    dialect: Dialect

    def scan(self, paths: Sequence[Path], types: Schema | None = None) -> pl.LazyFrame:
        """Scan some of the files; `types` are those of their columns, where they are known."""
        return formats.scanned(self.kind, paths, self.dialect, types)

    @property
    def amount(self) -> str:
        """Say how much there is to read: rows where the files know it, else bytes."""
        paths = [source.path for source in self.sources]
        if self.kind not in formats.COUNTED:
            from rich.filesize import decimal

            return decimal(sum(path.stat().st_size for path in paths))
        n_rows = self.scan(paths).select(pl.len()).collect().item()
        return f"{n_rows:,} rows"

    def named(self, *sources: Source) -> AbstractContextManager[None]:
        """Say which files cannot be read; where nothing but the content showed it, as what."""
        is_recognised = any(source.is_copy for source in sources)
        names = [source.name for source in sources]
        return named(*names, kind=self.kind if is_recognised else None)

    def has_values(self, source: Source, column: str) -> bool:
        """Tell whether the rows that a type is inferred from have a value, where types are."""
        scan = self.scan([source.path])
        if self.kind not in formats.INFERRED_TYPES or column not in scan.collect_schema():
            return True
        head = scan.select(column).head(INFERRED).collect()
        return head.get_column(column).null_count() < head.height

    def is_exact(self, source: Source, column: str) -> bool:
        """Tell whether doubles hold all whole numbers of a column."""
        scan = self.scan([source.path])
        if column not in scan.collect_schema():  # but in the path
            return True
        with self.named(source):
            ends = scan.select(low=pl.col(column).min(), high=pl.col(column).max())
            low, high = ends.collect(engine="streaming").row(0)
        return low is None or -_EXACT <= low <= high <= _EXACT


@dataclass(frozen=True, slots=True)
class _File:
    """A file, the columns that its path holds, and those inside it."""

    source: Source
    constants: Mapping[str, Any]
    schema: Schema

    @property
    def key(self) -> Any:  # noqa: ANN401 (what files that are scanned at once have in common)
        return tuple(self.schema.items()), tuple(self.constants.items())


def rows(files: Files, columns: Collection[str]) -> pl.LazyFrame:
    """Scan all files, which have to agree on `columns`; others that differ are left out."""
    sources = _with_lines(files)
    constants, types = partitions([source.path for source in sources])
    if len(sources) == 1:
        only = files.scan([sources[0].path])
        with files.named(sources[0]):
            inside = only.collect_schema()
        _check_constants(_File(sources[0], constants[0], inside), columns)
        return _with_constants(only, constants[0], types)
    held = [_File(*one, _schema(files, one[0])) for one in zip(sources, constants, strict=True)]
    for one in held:
        _check_constants(one, columns)
    types = agreed(
        {
            one.source: {**one.schema, **{name: types[name] for name in one.constants}}
            for one in held
        },
        columns,
        files.has_values,
        files.is_exact,
    )
    groups: dict[Any, list[_File]] = {}
    for one in held:
        groups.setdefault(one.key, []).append(one)
    return pl.concat([_group(files, group, types) for group in groups.values()])


def _with_lines(files: Files) -> Sequence[Source]:
    """Leave out parts without a line, whose columns are not known, unless none has one."""
    if files.kind not in ("ndjson", "json"):
        return files.sources
    return [s for s in files.sources if not formats.is_empty(s.path)] or files.sources


def _schema(files: Files, source: Source) -> Schema:
    with files.named(source):
        return files.scan([source.path]).collect_schema()


def _check_constants(file: _File, columns: Collection[str]) -> None:
    """Raise where a column that is asked for is both in the path of a file and inside it."""
    for name in file.constants:
        if name in columns and name in file.schema:
            raise InvalidInputError(
                f"{file.source.name} has a column {name!r}, and so has its path, as {name}=... "
                "Rename the folder, or the column of the file."
            )


def _group(files: Files, group: Sequence[_File], types: Schema) -> pl.LazyFrame:
    """Scan files with the same columns at once, and give the columns their types."""
    inside = {c: types[c] for c in group[0].schema if c in types}
    scanned = files.scan([one.source.path for one in group], inside)
    cast = scanned.select(pl.col(name).cast(dtype) for name, dtype in inside.items())
    return _with_constants(cast, group[0].constants, types).select(*types)


def _with_constants(
    scan: pl.LazyFrame, constants: Mapping[str, Any], types: Schema
) -> pl.LazyFrame:
    literals = {c: pl.lit(value, types[c]) for c, value in constants.items() if c in types}
    return scan.with_columns(**literals)
