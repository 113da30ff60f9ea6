"""The formats of files: how they are recognised, and how each is read."""

import gzip
import logging
import re
import zlib
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, Literal

import polars as pl

from balframe.cli.files import csv_dialect, first_bytes
from balframe.cli.files.csv_dialect import INFERRED, Dialect, beginning
from balframe.cli.files.read_errors import DAMAGED, ContentError
from balframe.errors import InvalidInputError, MissingExtraError, first_line, listed

InputFormat = Literal["csv", "tsv", "parquet", "arrow", "ndjson", "json", "xlsx"]
Types = Mapping[str, pl.DataType]

_ENDINGS: Mapping[str, InputFormat] = {
    ".csv": "csv",
    ".tsv": "tsv",
    ".parquet": "parquet",
    ".ndjson": "ndjson",
    ".jsonl": "ndjson",
    ".json": "json",
    ".arrow": "arrow",
    ".arrows": "arrow",
    ".ipc": "arrow",
    ".feather": "arrow",
    ".xlsx": "xlsx",
}
TEXT = ("csv", "tsv", "ndjson", "json")  # which may be compressed
INFERRED_TYPES = (*TEXT, "xlsx")
COUNTED = ("parquet", "arrow")  # which say how many rows they have
_COMPRESSED = (".gz", ".zst")
_ARRAY = b"["
_JSON = re.compile(rb"\{|\[\s*([{\]]|$)")  # an object, or an array of objects


def by_ending(path: Path) -> InputFormat | None:
    """Find the format that the ending of a name stands for."""
    name = path.name.lower()
    plain = next((name.removesuffix(end) for end in _COMPRESSED if name.endswith(end)), name)
    found = _ENDINGS.get(Path(plain).suffix)
    return found if plain == name or found in TEXT else None


def without_format(path: Path) -> InvalidInputError:
    """Say of a name that its ending stands for no format."""
    ending = f"ends in {path.suffix!r}" if path.suffix else "has no file extension"
    if path.suffix.lower() in _COMPRESSED and Path(path.stem).suffix.lower() in _ENDINGS:
        ending = f"ends in {''.join(path.suffixes[-2:])!r}"
    return InvalidInputError(
        f"'{path}' {ending}; the supported extensions are {listed(_ENDINGS)}. Text (csv, tsv, "
        "JSON) may be compressed, as in .csv.gz and .csv.zst. Give its format with --input-format."
    )


def by_first_bytes(path: Path) -> InputFormat | None:
    """Find the format whose first bytes a file has, of those that have any."""
    return first_bytes.binary_format(first_bytes.beginning(path))


def surely(path: Path, kind: InputFormat | None) -> InputFormat | None:
    """Find the format that a file surely holds, where it may be of another than `kind`."""
    found = by_first_bytes(path)
    text = first_bytes.looks_like(path) if found is None else None
    if text == "csv" and kind not in ("csv", "tsv"):
        return "csv"
    if text == "json" and kind not in ("ndjson", "json"):
        return "json"
    return found


def recognised(path: Path) -> InputFormat:
    """Find the format of a file by what it holds; text that is no JSON is csv."""
    found = by_first_bytes(path)
    if found is not None:
        return found
    text = first_bytes.without_mark(beginning(path)).lstrip()
    return "json" if _JSON.match(text) else "csv"


def scanned(
    kind: InputFormat, paths: Sequence[Path], dialect: Dialect, types: Types | None = None
) -> pl.LazyFrame:
    """Scan files of a format; `types` are those of their columns, where they are known."""
    return _READERS[kind](list(paths), dialect, types)


def is_empty(path: Path) -> bool:
    """Tell whether a file of text has nothing in it, as a part without rows."""
    return not beginning(path).strip()


def _csv(paths: list[Path], dialect: Dialect, types: Types | None) -> pl.LazyFrame:
    return csv_dialect.scanned(paths, dialect, types)


def _parquet(paths: list[Path], dialect: Dialect, types: Types | None) -> pl.LazyFrame:
    return pl.scan_parquet(paths, glob=False)


def _arrow(paths: list[Path], dialect: Dialect, types: Types | None) -> pl.LazyFrame:
    def one(path: Path) -> pl.LazyFrame:
        is_stream = first_bytes.beginning(path).startswith(first_bytes.ARROW_STREAM)
        return pl.read_ipc_stream(path).lazy() if is_stream else pl.scan_ipc(path)

    return pl.concat([one(path) for path in paths])


def _json(paths: list[Path], dialect: Dialect, types: Types | None) -> pl.LazyFrame:
    def one(path: Path) -> pl.LazyFrame:
        if beginning(path).lstrip()[:1] != _ARRAY:
            return pl.scan_ndjson(path, infer_schema_length=INFERRED, schema_overrides=types)
        with open(path, "rb") as file:
            content = file.read()
        if content.startswith(b"\x1f\x8b"):
            content = _decompressed(content)
        return pl.read_json(content, infer_schema_length=None, schema_overrides=types).lazy()

    return pl.concat([one(path) for path in paths])


def _decompressed(content: bytes) -> bytes:
    try:
        return gzip.decompress(content)
    except (EOFError, OSError, zlib.error) as error:
        raise ContentError(DAMAGED) from error


def _xlsx(paths: list[Path], dialect: Dialect, types: Types | None) -> pl.LazyFrame:
    try:
        import fastexcel
    except ModuleNotFoundError as error:
        raise MissingExtraError(
            "xlsx files need fastexcel, which is not installed: "
            "python -m pip install 'balframe[excel]'"
        ) from error
    logging.getLogger("fastexcel").setLevel(logging.ERROR)  # of columns without a value
    try:
        return pl.concat([pl.read_excel(path, infer_schema_length=None).lazy() for path in paths])
    except fastexcel.FastExcelError as error:
        raise ContentError(first_line(error)) from error


_READERS: dict[str, Callable[[list[Path], Dialect, Any], pl.LazyFrame]] = {
    "csv": _csv,
    "tsv": _csv,
    "parquet": _parquet,
    "arrow": _arrow,
    "ndjson": _json,
    "json": _json,
    "xlsx": _xlsx,
}
