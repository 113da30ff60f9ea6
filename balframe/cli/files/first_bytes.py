"""What a file contains, by its first bytes, and the contents that no format has."""

import re
import zlib
from collections.abc import Mapping
from pathlib import Path

import polars as pl

from balframe.cli.files import formats
from balframe.cli.files.csv_dialect import (
    N_FIRST_BYTES,
    first_bytes,
    first_line_with_polars,
    is_utf_16,
    text_beginning,
    without_byte_order_mark,
)
from balframe.cli.files.formats import FORMATS, Format
from balframe.cli.files.read_errors import ContentError

_COMPRESSIONS = {b"\x1f\x8b": "gzip", b"\x28\xb5\x2f\xfd": "zstd"}
_MARKUP = re.compile(rb"<(!doctype |\?)?(html|xml|svg)\b", re.IGNORECASE)
_QUOTED_KEY = re.compile(rb'(\[\s*)?\{\s*"')
_JSON = re.compile(rb"\{|\[\s*([{\]]|$)")  # an object, or an array of objects
_CONTROL = re.compile(rb"[\0-\x08\x0e-\x1a]")
_SEPARATORS = re.compile(rb"[,;\t|]")
_ZIP, _ZIP_NAME, _JOURNAL = b"PK\x03\x04", 30, b"_journal/"  # of logs: the first member's name
_UNSUPPORTED: Mapping[bytes, str] = {
    b"%PDF-": "PDF",
    b"\xd0\xcf\x11\xe0": "the format of old Excel, .xls",
    b"SQLite format 3": "SQLite",
}


def check_content(path: Path) -> None:
    """Raise where the first bytes of a file are of no format that can be read."""
    content = first_bytes(path)
    compression = next(
        (name for magic, name in _COMPRESSIONS.items() if content.startswith(magic)), None
    )
    text = _decompress(path, content, compression)
    file_format = _format_by_magic(text)
    if compression is not None and file_format is not None:
        raise ContentError(f"it holds {file_format.name} inside {compression}. Decompress it first")
    if markup := _MARKUP.match(_stripped(text)):
        raise ContentError(
            f"it looks like {markup[2].decode().upper()}, not like a table. Check where it comes "
            "from"
        )
    for magic, name in _UNSUPPORTED.items():
        if text.startswith(magic):
            raise ContentError(f"it looks like {name}. Save the table as csv, Parquet or xlsx")
    if file_format is None and _is_binary(text):
        binary = formats.titles([row for row in FORMATS.values() if row.magic])
        raise ContentError(
            f"it is neither {', '.join(binary)} nor text (csv or JSON, plain, gzip or zstd)"
        )


def format_by_magic(path: Path) -> Format | None:
    """Find the format whose first bytes a file has, of those that have any."""
    return _format_by_magic(first_bytes(path))


def contradicting_format(path: Path, file_format: Format | None) -> Format | None:
    """Find the format that a file certainly has, where it may be another than `file_format`."""
    by_magic = format_by_magic(path)
    if by_magic is not None:
        return by_magic
    text = _stripped(first_bytes(path))
    if _QUOTED_KEY.match(text):
        return None if file_format in (FORMATS["ndjson"], FORMATS["json"]) else FORMATS["json"]
    is_csv = _SEPARATORS.search(text.partition(b"\n")[0]) and not _is_binary(text)
    has_separator = file_format is not None and file_format.has_separator
    return FORMATS["csv"] if is_csv and not has_separator else None


def recognize_format(path: Path) -> Format:
    """Find the format of a file by its content; text that is not JSON is csv."""
    by_magic = format_by_magic(path)
    if by_magic is not None:
        return by_magic
    return FORMATS["json" if _JSON.match(_stripped(text_beginning(path))) else "csv"]


def _format_by_magic(content: bytes) -> Format | None:
    if content.startswith(_ZIP) and content[_ZIP_NAME:].startswith(_JOURNAL):
        return FORMATS["eval"]
    return next((row for row in FORMATS.values() if content.startswith(row.magic)), None)


def _decompress(path: Path, content: bytes, compression: str | None) -> bytes:
    """Decompress the first bytes, as far as possible."""
    try:
        if compression == "gzip":
            return zlib.decompressobj(wbits=zlib.MAX_WBITS | 16).decompress(content, N_FIRST_BYTES)
        if compression == "zstd":
            return first_line_with_polars(path, encoding="utf8-lossy")
    except (zlib.error, OSError, pl.exceptions.PolarsError):  # which reading it will report
        return b""
    return content


def _stripped(text: bytes) -> bytes:
    return without_byte_order_mark(text).lstrip()


def _is_binary(text: bytes) -> bool:
    """Return whether the first line is not text in any encoding."""
    if is_utf_16(text):
        return False
    line = _stripped(text).partition(b"\n")[0]
    if b"\0" in line:
        return True
    try:
        line.decode()
    except UnicodeDecodeError:
        return _CONTROL.search(line) is not None
    return False
