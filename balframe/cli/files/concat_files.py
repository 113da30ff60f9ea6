"""Several files as one lazy frame, with columns from their paths, and types that all agree on."""

from collections.abc import Collection, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import polars as pl

from balframe.cli.files.column_types import read_writing
from balframe.cli.files.csv_dialect import N_ROWS_INFERRED, Dialect, literal_column, text_beginning
from balframe.cli.files.formats import Format, scan_files
from balframe.cli.files.null_hints import line_of
from balframe.cli.files.paths import Location, SourceFile, is_url, path_of
from balframe.cli.files.read_errors import READ_ERRORS, naming_files, without_panic_output
from balframe.cli.files.unknown_types import read_known_types
from balframe.errors import InvalidInputError, listed
from balframe.frames.concat import as_longer_float

Schema = Mapping[str, pl.DataType]

_MAX_EXACT = 2**53  # floats represent all whole numbers up to here
_NULL_IN_PATH = "__HIVE_DEFAULT_PARTITION__"
_STRING_TYPES = (pl.String, pl.Categorical, pl.Enum)
_TIME_UNITS = ("ns", "us", "ms")  # the finest first
_TYPE_WORDS = {
    pl.String: "strings",
    pl.Boolean: "true or false",
    pl.Date: "dates",
    pl.Time: "times of day",
    pl.Duration: "durations",
}


_MAYBE_TEXTS = ("Extension", "Binary")  # a UUID is the latter in polars


@dataclass(frozen=True, slots=True)
class Files:
    """Files of one format, how to read them, and the columns that are certainly read."""

    format: Format
    sources: Sequence[SourceFile]
    dialect: Dialect
    columns: Collection[str] = ()

    def scan(self, locations: Sequence[Location], types: Schema | None = None) -> pl.LazyFrame:
        """Scan some of the files; `types` are those of their columns, where they are known."""
        if not self.format.has_types:
            return scan_files(self.format, locations, self.dialect, types)
        try:
            with without_panic_output():
                rows = self._scan_typed(locations, types)
            schema = rows.collect_schema()
            if any(str(schema.get(name)).startswith(_MAYBE_TEXTS) for name in self.columns):
                with_texts = read_known_types(locations, self.columns)
                return rows if with_texts is None else with_texts
            return rows
        except InvalidInputError as error:
            table = read_known_types(locations, self.columns) if error.__cause__ else None
            if table is None:
                raise (error.__cause__ or error) from None
            return table

    def _scan_typed(self, locations: Sequence[Location], types: Schema | None) -> pl.LazyFrame:
        """Scan files that have types; an error of the family holds back the output of a panic."""
        try:
            rows = scan_files(self.format, locations, self.dialect, types)
            rows.collect_schema()
        except READ_ERRORS as error:
            raise InvalidInputError("the files cannot be read") from error
        return rows

    def size_text(self) -> str:
        """Return how much there is to read: rows where the files know it, else bytes."""
        locations = [source.location for source in self.sources]
        if any(map(is_url, locations)):  # which would have to be asked first
            return ""
        if not self.format.has_row_count:
            from rich.filesize import decimal

            return decimal(sum(Path(location).stat().st_size for location in locations))
        n_rows = self.scan(locations).select(pl.len()).collect().item()
        return f"{n_rows:,} rows"

    def count_rows(self, source: SourceFile) -> int | None:
        """Return the number of rows in a file; None for a URL, which would be read twice."""
        if is_url(source.location):
            return None
        if self.format.title == "JSON" and not _has_text(source.location):
            return 0
        with self.naming(source):
            rows = self.scan([source.location]).select(pl.len())
            n_rows: int = rows.collect(engine="streaming").item()
        return n_rows

    def naming(self, *sources: SourceFile) -> AbstractContextManager[None]:
        """Name files that cannot be read; and their format, if only the content showed it."""
        is_recognized = any(source.is_copy for source in sources)
        names = [source.name for source in sources]
        return naming_files(
            *names,
            format=self.format.name if is_recognized else None,
            find_line=partial(line_of, sources, self.dialect.separator)
            if self.format.has_separator
            else None,
        )

    def has_values(self, source: SourceFile, column: str) -> bool:
        """Return whether the rows that a type is inferred from have a value, if types are."""
        rows = self.scan([source.location])
        if self.format.has_types or column not in rows.collect_schema():
            return True
        head = rows.select(column).head(N_ROWS_INFERRED).collect()
        return head.get_column(column).null_count() < head.height

    def is_exact_as_float(self, source: SourceFile, column: str) -> bool:
        """Return whether floats represent all whole numbers of a column."""
        rows = self.scan([source.location])
        if column not in rows.collect_schema():  # but in the path
            return True
        with self.naming(source):
            ends = rows.select(low=literal_column(column).min(), high=literal_column(column).max())
            low, high = ends.collect(engine="streaming").row(0)
        return low is None or -_MAX_EXACT <= low <= high <= _MAX_EXACT


@dataclass(frozen=True, slots=True)
class _File:
    """A file, the columns of its path with their values, and the columns inside it."""

    source: SourceFile
    path_values: Mapping[str, Any]
    schema: Schema

    @property
    def scan_group(self) -> Any:  # noqa: ANN401
        """What files that are scanned together have in common."""
        return tuple(self.schema.items()), tuple(self.path_values.items())


def concat_files(files: Files, columns: Collection[str]) -> pl.LazyFrame:
    """Scan all files, which have to agree on `columns`; others that differ are left out."""
    sources = _sources_with_lines(files)
    schemas = [_schema(files, source) for source in sources]
    in_files = {name for schema in schemas for name in schema}
    texts = in_files.intersection(files.dialect.text_columns)  # as the same columns of other files
    path_values, path_types = _path_columns([source.location for source in sources], texts)
    members = list(map(_File, sources, path_values, schemas))
    for file in members:
        _check_path_columns(file, columns)
    if len(members) == 1:
        return _with_path_columns(files.scan([sources[0].location]), path_values[0], path_types)
    full_schemas = {
        file.source: {**file.schema, **{name: path_types[name] for name in file.path_values}}
        for file in members
    }
    types = _common_types(full_schemas, columns, files)
    groups: dict[Any, list[_File]] = {}
    for file in members:
        groups.setdefault(file.scan_group, []).append(file)
    return pl.concat([_scan_group(files, group, types) for group in groups.values()])


def _sources_with_lines(files: Files) -> Sequence[SourceFile]:
    """Leave out files of JSON without a line, whose columns are not known, unless none has one."""
    if files.format.title != "JSON":
        return files.sources
    return [source for source in files.sources if _has_text(source.location)] or files.sources


def _has_text(location: Location) -> bool:
    return is_url(location) or bool(text_beginning(location).strip())


def _schema(files: Files, source: SourceFile) -> Schema:
    with files.naming(source):
        return files.scan([source.location]).collect_schema()


def _scan_group(files: Files, group: Sequence[_File], types: Schema) -> pl.LazyFrame:
    """Scan files with the same columns together, and give the columns their types."""
    own_types = {name: types[name] for name in group[0].schema if name in types}
    rows = files.scan([file.source.location for file in group], own_types)
    rows = rows.select(
        (
            as_longer_float(literal_column(name), group[0].schema[name])
            if dtype == pl.Float64
            else literal_column(name)
        ).cast(dtype)
        for name, dtype in own_types.items()
    )
    rows = _with_path_columns(rows, group[0].path_values, types)
    return rows.select(map(literal_column, types))


# Columns that the folders of files name, as in day=2026-01-01 (Hive partitions).


def _check_path_columns(file: _File, columns: Collection[str]) -> None:
    """Raise where one of `columns` is both in the path of a file and inside it."""
    for name in file.path_values:
        if name in columns and name in file.schema:
            raise InvalidInputError(
                f"{file.source.name} has a column {name!r}, and so has its path, as {name}=... "
                "Rename the folder, or the column of the file."
            )


def _with_path_columns(
    rows: pl.LazyFrame, path_values: Mapping[str, Any], types: Schema
) -> pl.LazyFrame:
    return rows.with_columns(
        **{name: pl.lit(value, types[name]) for name, value in path_values.items() if name in types}
    )


def _path_columns(
    locations: Sequence[Location], as_texts: Collection[str]
) -> tuple[list[dict[str, Any]], dict[str, pl.DataType]]:
    """Read the columns in the path of each file: their values there, and their types."""
    texts = [path_texts(location) for location in locations]
    values: dict[str, dict[str | None, Any]] = {}
    types: dict[str, pl.DataType] = {}
    for name in dict.fromkeys(name for of_file in texts for name in of_file):
        distinct = list(dict.fromkeys(of_file[name] for of_file in texts if name in of_file))
        column = pl.Series(distinct, dtype=pl.String)
        column = column if name in as_texts else _typed_path_values(column)
        values[name] = dict(zip(distinct, column.to_list(), strict=True))
        types[name] = column.dtype
    return [
        {name: values[name][text] for name, text in of_file.items()} for of_file in texts
    ], types


def path_texts(location: Location) -> dict[str, str | None]:
    """Take the parts of a path that name a column and its value."""
    parts = (part.partition("=") for part in path_of(location).parent.parts)
    return {
        unquote(name): None if value == _NULL_IN_PATH else unquote(value)
        for name, mark, value in parts
        if name and mark
    }


def _typed_path_values(texts: pl.Series) -> pl.Series:
    """Read texts as whole numbers or dates where that is how all of them are written."""
    for column in (
        texts.cast(pl.Int64, strict=False),
        texts.str.to_date("%Y-%m-%d", strict=False),
    ):
        if not column.is_null().all() and column.cast(pl.String).eq_missing(texts).all():
            return column
    return texts


# Types of columns that all files agree on.


def _common_types(
    schemas: Mapping[SourceFile, Schema], columns: Collection[str], files: Files
) -> dict[str, pl.DataType]:
    """Find one type for each column that all files have; those of `columns` must have one.

    A column without a value in a file agrees with any type. Whole numbers agree with other numbers
    if floats represent them.
    """
    _check_names(schemas, columns)
    first = next(iter(schemas.values()))
    types: dict[str, pl.DataType] = {}
    for column in first:
        if not all(column in schema for schema in schemas.values()):
            continue
        by_source = {source: schema[column] for source, schema in schemas.items()}
        if len(set(by_source.values())) > 1:
            by_source = {
                source: dtype
                for source, dtype in by_source.items()
                if dtype != pl.Null and files.has_values(source, column)
            }
        common = _common_type(list(dict.fromkeys(by_source.values())) or [first[column]])
        if common is not None:
            types[column] = common
            if common.is_float() and column in columns:
                integers = [source for source, dtype in by_source.items() if dtype.is_integer()]
                _check_exact(column, integers, files)
        elif column in columns:
            raise _different_types(column, by_source)
    return types


def check_labels(files: Files, labels: Sequence[str]) -> None:
    """Raise where a file has only numbers as labels, and another only words, as of another code."""
    by_label: dict[str, dict[SourceFile, pl.DataType]] = {name: {} for name in labels}
    for source in files.sources:
        head = files.scan([source.location]).head(N_ROWS_INFERRED)
        for name, writing in read_writing(head, labels, ()).items():
            if writing.n and writing.n_whole in (0, writing.n):
                by_label[name][source] = writing.dtype(are_labels=True)
    for name, by_source in by_label.items():
        if len({*by_source.values()}) > 1:
            raise _different_types(name, by_source)


def _check_names(schemas: Mapping[SourceFile, Schema], columns: Collection[str]) -> None:
    """Raise where one of `columns` is in some of the files alone."""
    for name in columns:
        has_column = {source: name in schema for source, schema in schemas.items()}
        if len(set(has_column.values())) > 1:
            holder = next(source for source in schemas if has_column[source])
            other = next(source for source in schemas if not has_column[source])
            raise InvalidInputError(
                f"the files have different columns: {holder.name} has {listed(schemas[holder])}; "
                f"{other.name} has {listed(schemas[other])}. Give files with the same columns."
            )


def _check_exact(column: str, sources: Sequence[SourceFile], files: Files) -> None:
    """Raise where a whole number would become another one beside numbers with points."""
    for source in sources:
        if not files.is_exact_as_float(source, column):
            raise InvalidInputError(
                f"column {column!r} holds whole numbers beyond 2**53 in {source.name}, which are "
                "not exact beside the other numbers of another file. Give files whose columns have "
                "the same types."
            )


def _common_type(types: Sequence[pl.DataType]) -> pl.DataType | None:
    """Find the type that represents the values of all: a wider number, a finer time, or text."""
    if len(types) == 1:
        return types[0]
    times = [dtype for dtype in types if isinstance(dtype, pl.Datetime)]
    if len(times) == len(types) and len({dtype.time_zone for dtype in times}) == 1:
        return min(times, key=lambda dtype: _TIME_UNITS.index(dtype.time_unit))
    if all(dtype in _STRING_TYPES for dtype in types):
        return pl.String()
    if all(dtype.is_unsigned_integer() for dtype in types):
        return pl.UInt64()
    if all(dtype.is_integer() for dtype in types):
        return pl.Int64()
    if all(dtype.is_integer() or dtype.is_float() for dtype in types):
        return pl.Float64()
    return None


def _different_types(column: str, by_source: Mapping[SourceFile, pl.DataType]) -> InvalidInputError:
    names: dict[str, str] = {}
    for source, dtype in by_source.items():
        names.setdefault(_type_words(dtype), source.name)
    differences = " but ".join(f"{words} in {name}" for words, name in names.items())
    return InvalidInputError(
        f"the files have different types: column {column!r} holds {differences}. Give files whose "
        "columns have the same types."
    )


def _type_words(dtype: pl.DataType) -> str:
    if dtype.is_integer():
        return "whole numbers"
    if dtype.is_numeric():
        return "numbers"
    if isinstance(dtype, pl.Datetime):
        zone = f"in {dtype.time_zone}" if dtype.time_zone else "without a zone"
        return f"dates with times {zone}"
    return _TYPE_WORDS.get(dtype.base_type(), f"values of type {dtype}")
