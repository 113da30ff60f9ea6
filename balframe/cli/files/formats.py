"""The formats of files: one row each, with how files are recognised, and how they are read."""

import gzip
import json
import logging
import posixpath
import re
import zipfile
import zlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from importlib import import_module
from typing import Any
from xml.etree import ElementTree

import polars as pl

from balframe.cli.files.csv_dialect import (
    N_ROWS_INFERRED,
    Dialect,
    first_bytes,
    scan_csv,
    text_beginning,
)
from balframe.cli.files.paths import Location, download_advice, is_url, may_be_pattern, path_of
from balframe.cli.files.read_errors import DAMAGED, ContentError
from balframe.errors import InvalidInputError, MissingExtraError, first_line, listed
from balframe.frames.history.run_table import scan_table

# How far the cells of a workbook reach, because a reader holds all in between in memory.


_MOST_CELLS = 2**27  # of a range that is mostly empty
_LEAST_SHARE = 1 / 16  # of cells with a value in a larger range
_BLOCK_SIZE = 2**22  # bytes
_OVERLAP = 2**10
_MANY_ROWS = b"99999"  # of all rows whose numbers are not late
_LATE_ROW = re.compile(rb'r="[A-Z]{1,3}(\d{6,7})"')
_COLUMN = re.compile(rb'r="([A-Z]{1,3})\d')
_CELL = re.compile(  # with a value, a text or a formula
    rb'<(?:\w+:)?c\b[^>]*?\br="([A-Z]{1,3})(\d{1,7})"[^>/]*>\s*<(?:\w+:)?(?:v|is|f)\b'
)
_DAMAGED = (zipfile.BadZipFile, zlib.error, ElementTree.ParseError, KeyError, EOFError, OSError)
_RELATION = "{http://schemas.openxmlformats.org/officeDocument/2006/relationships}id"


def check_used_range(location: Location) -> None:
    """Raise where the first sheet of a workbook of xlsx has a few cells far from the others."""
    try:
        if _may_be_too_far(location):
            _check_cells(location)
    except _DAMAGED:
        return  # which reading it reports


def _may_be_too_far(location: Location) -> bool:
    """Return whether the range may be large, counting cells that have only a format."""
    columns, rows = {b"A"}, {_MANY_ROWS}
    for block in _blocks(location):
        columns |= {*_COLUMN.findall(block)}
        rows |= {*_LATE_ROW.findall(block)}
    return max(map(_column_number, columns)) * max(map(int, rows)) > _MOST_CELLS


def _check_cells(location: Location) -> None:
    columns, rows, n_cells = {b"A"}, {b"1"}, 0
    for block in _blocks(location):
        cells = _CELL.findall(block)
        columns |= {column for column, _ in cells}
        rows |= {row for _, row in cells}
        n_cells += len(cells)
    last, n_rows = max(columns, key=_column_number), max(map(int, rows))
    n_in_range = _column_number(last) * n_rows
    if n_in_range > _MOST_CELLS and n_cells < n_in_range * _LEAST_SHARE:
        raise ContentError(
            f"its cells reach to column {last.decode()} and row {n_rows:,}, but only {n_cells:,} "
            f"of these {n_in_range:,} cells have a value. Delete those far from the table, or save "
            "it as csv"
        )


def _first_sheet(archive: zipfile.ZipFile) -> str:
    """Return the name of the first sheet in the archive."""
    sheets = (
        element
        for element in ElementTree.fromstring(archive.read("xl/workbook.xml")).iter()
        if element.tag.endswith("}sheet")
    )
    first = next(sheets, None)
    relations = ElementTree.fromstring(archive.read("xl/_rels/workbook.xml.rels"))
    targets = {relation.get("Id"): relation.get("Target", "") for relation in relations}
    target = targets["" if first is None else first.get(_RELATION)]
    return posixpath.normpath(posixpath.join("/xl", target)).lstrip("/")


def _blocks(location: Location) -> Iterator[bytes]:
    """Read blocks of the first sheet, which overlap by more than the tags of a cell."""
    rest = b""
    with zipfile.ZipFile(location) as archive, archive.open(_first_sheet(archive)) as sheet:
        while block := sheet.read(_BLOCK_SIZE):
            yield rest + block
            rest = block[-_OVERLAP:]


def _column_number(letters: bytes) -> int:
    """Return the position of a column, from 1: A is 1, Z is 26, AA is 27."""
    number = 0
    for letter in letters:
        number = number * 26 + letter - ord("A") + 1
    return number


Types = Mapping[str, pl.DataType]
Scan = Callable[[Sequence[Location], Dialect, Types | None], pl.LazyFrame]

_COMPRESSION_ENDINGS = (".gz", ".zst")
_VERDICTS = re.compile(rb'\{\s*"schema"\s*:\s*"balframe\.verdicts/')
_ARROW_STREAM = b"\xff\xff\xff\xff"


@dataclass(frozen=True, slots=True)
class Format:
    """A format of files: its name as an option has it, and its title as sentences have it.

    `scan` reads its files lazily, and those of URLs with `is_read_from_urls`. `magic` are the first
    bytes that its files have; a Delta table is a folder without them. Text may be compressed. Text
    with separators has `has_separator`; `separator` is that of all its files, and without one it is
    detected. Files with `has_types` have types of columns, and those with `has_row_count` their
    number of rows. `extra` is the package that reads the format, and the extra of balframe that
    installs the package.
    """

    name: str
    title: str
    endings: tuple[str, ...]
    scan: Scan
    magic: tuple[bytes, ...] = ()
    is_text: bool = False
    has_separator: bool = False
    separator: str | None = None
    has_types: bool = False
    has_row_count: bool = False
    is_read_from_urls: bool = False
    extra: tuple[str, str] | None = None


def scan_files(
    file_format: Format, locations: Sequence[Location], dialect: Dialect, types: Types | None = None
) -> pl.LazyFrame:
    """Scan files of a format; `types` are those of their columns, where they are known."""
    if file_format.extra is not None:
        package, extra = file_format.extra
        try:
            import_module(package)
        except ModuleNotFoundError as error:
            raise MissingExtraError(
                f"{file_format.name} files need {package}, which is not installed: "
                f"python -m pip install 'balframe[{extra}]'"
            ) from error
    return file_format.scan(locations, dialect, types)


def _scan_parquet(
    locations: Sequence[Location], dialect: Dialect, types: Types | None
) -> pl.LazyFrame:
    sources: Any = list(locations)
    return pl.scan_parquet(sources, glob=all(map(may_be_pattern, locations)))


def _scan_arrow(
    locations: Sequence[Location], dialect: Dialect, types: Types | None
) -> pl.LazyFrame:
    def scan(location: Location) -> pl.LazyFrame:
        is_stream = not is_url(location) and first_bytes(location).startswith(_ARROW_STREAM)
        return pl.read_ipc_stream(location).lazy() if is_stream else pl.scan_ipc(location)

    return pl.concat([scan(location) for location in locations])


def _scan_ndjson(
    locations: Sequence[Location], dialect: Dialect, types: Types | None
) -> pl.LazyFrame:
    def scan(location: Location) -> pl.LazyFrame:
        beginning = b"" if is_url(location) else text_beginning(location).lstrip()
        is_document = _VERDICTS.match(beginning) is not None
        if not is_document and beginning[:1] != b"[":
            return pl.scan_ndjson(
                location, infer_schema_length=N_ROWS_INFERRED, schema_overrides=types
            )
        with open(location, "rb") as file:
            content = file.read()
        if content.startswith(b"\x1f\x8b"):
            content = _decompress(content)
        if is_document:
            content = _rows_of_document(content)
        return pl.read_json(content, infer_schema_length=None, schema_overrides=types).lazy()

    return pl.concat([scan(location) for location in locations])


def _scan_logs(
    locations: Sequence[Location], dialect: Dialect, types: Types | None
) -> pl.LazyFrame:
    """Raise, because logs are read together, before files are scanned one by one."""
    raise NotImplementedError


def _rows_of_document(content: bytes) -> bytes:
    """Return the rows of a document of verdicts as an array."""
    try:
        return json.dumps(json.loads(content)["verdicts"]).encode()
    except (KeyError, ValueError) as error:
        raise ContentError(DAMAGED) from error


def _decompress(content: bytes) -> bytes:
    try:
        return gzip.decompress(content)
    except (EOFError, OSError, zlib.error) as error:
        raise ContentError(DAMAGED) from error


def _scan_xlsx(
    locations: Sequence[Location], dialect: Dialect, types: Types | None
) -> pl.LazyFrame:
    import fastexcel

    logging.getLogger("fastexcel").setLevel(logging.ERROR)  # of columns without a value
    for location in locations:
        check_used_range(location)
    try:
        return pl.concat(
            [pl.read_excel(path, infer_schema_length=None).lazy() for path in locations]
        )
    except fastexcel.FastExcelError as error:
        raise ContentError(first_line(error)) from error


def _scan_delta(
    locations: Sequence[Location], dialect: Dialect, types: Types | None
) -> pl.LazyFrame:
    return pl.concat([scan_table(str(location)) for location in locations])


_ROWS = (  # in the order of help and messages
    Format(
        "csv", "csv", (".csv",), scan_csv, is_text=True, has_separator=True, is_read_from_urls=True
    ),
    Format(
        "tsv",
        "tsv",
        (".tsv",),
        scan_csv,
        is_text=True,
        has_separator=True,
        separator="\t",
        is_read_from_urls=True,
    ),
    Format(
        "parquet",
        "Parquet",
        (".parquet",),
        _scan_parquet,
        magic=(b"PAR1",),
        is_read_from_urls=True,
        has_types=True,
        has_row_count=True,
    ),
    Format(
        "arrow",
        "Arrow",
        (".arrow", ".arrows", ".ipc", ".feather"),
        _scan_arrow,
        magic=(b"ARROW1", _ARROW_STREAM),
        is_read_from_urls=True,
        has_types=True,
        has_row_count=True,
    ),
    Format(
        "ndjson", "JSON", (".ndjson", ".jsonl"), _scan_ndjson, is_text=True, is_read_from_urls=True
    ),
    Format("json", "JSON", (".json",), _scan_ndjson, is_text=True),
    Format(
        "xlsx",
        "xlsx",
        (".xlsx",),
        _scan_xlsx,
        magic=(b"PK\x03\x04",),
        extra=("fastexcel", "excel"),
    ),
    Format("eval", "logs of evals", (".eval",), _scan_logs),
    Format(
        "delta",
        "Delta",
        (),
        _scan_delta,
        is_read_from_urls=True,
        has_types=True,
        has_row_count=True,
        extra=("deltalake", "history"),
    ),
)
FORMATS: Mapping[str, Format] = {row.name: row for row in _ROWS}
_ENDINGS = {ending: row for row in _ROWS for ending in row.endings}


def titles(formats: Sequence[Format] = _ROWS) -> list[str]:
    """List the titles of formats, each once."""
    return list(dict.fromkeys(row.title for row in formats))


def format_by_ending(location: Location) -> Format | None:
    """Find the format that the ending of a name stands for."""
    name = path_of(location).name.lower()
    plain = name
    for ending in _COMPRESSION_ENDINGS:
        plain = plain.removesuffix(ending) if plain == name else plain
    file_format = _ENDINGS.get(path_of(plain).suffix)
    return (
        file_format if plain == name or (file_format is not None and file_format.is_text) else None
    )


def unknown_ending(location: Location) -> InvalidInputError:
    """Return the error that the ending of a name stands for no format."""
    path = path_of(location)
    text = f"ends in {path.suffix!r}" if path.suffix else "has no file extension"
    is_compressed = path.suffix.lower() in _COMPRESSION_ENDINGS
    if is_compressed and path_of(path.stem).suffix.lower() in _ENDINGS:
        text = f"ends in {''.join(path.suffixes[-2:])!r}"
    text_titles = ", ".join(titles([row for row in _ROWS if row.is_text]))
    return InvalidInputError(
        f"'{location}' {text}; the supported extensions are {listed(_ENDINGS)}. Text "
        f"({text_titles}) may be compressed, as in .csv.gz and .csv.zst. Give its format with "
        "--input-format."
    )


def check_url(file_format: Format, location: Location) -> None:
    """Raise where files of a format are not read from URLs."""
    if is_url(location) and not file_format.is_read_from_urls:
        raise InvalidInputError(
            f"'{location}' is a URL, from which {file_format.name} is not read. "
            f"{download_advice(location)}"
        )
