"""What a file holds, by its first bytes, and the contents that no format has."""

import re
import zlib
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Literal

import polars as pl

from balframe.cli.files.read_errors import ContentError

_HEAD = 2**16  # bytes
_NOT_IN_TEXT = "\x1e"
_ENVELOPES = {b"\x1f\x8b": "gzip", b"\x28\xb5\x2f\xfd": "zstd"}
_MARKUP = re.compile(rb"<(!doctype |\?)?(html|xml|svg)\b", re.IGNORECASE)
_JSON = re.compile(rb'(\[\s*)?\{\s*"')
_CONTROL = re.compile(rb"[\0-\x08\x0e-\x1a]")
_SEPARATORS = re.compile(rb"[,;\t|]")
_BYTE_ORDER_MARK = b"\xef\xbb\xbf"
_OTHERS: Mapping[bytes, str] = {
    b"%PDF-": "PDF",
    b"\xd0\xcf\x11\xe0": "the format of old Excel, .xls",
    b"SQLite format 3": "SQLite",
}
ARROW_STREAM = b"\xff\xff\xff\xff"
_BINARY: Mapping[bytes, Literal["parquet", "arrow", "xlsx"]] = {
    b"PAR1": "parquet",
    b"ARROW1": "arrow",
    ARROW_STREAM: "arrow",
    b"PK\x03\x04": "xlsx",
}


def beginning(path: Path) -> bytes:
    """Read the first bytes of a file as they are."""
    with open(path, "rb") as file:
        return file.read(_HEAD)


def first_line_inside(path: Path, **options: Any) -> bytes:  # noqa: ANN401 (of polars)
    """Read the first line of a text that is compressed."""
    lines = pl.read_csv(
        path,
        has_header=False,
        separator=_NOT_IN_TEXT,
        quote_char=None,
        infer_schema=False,
        n_rows=1,
        **options,
    )
    return str(lines.item()).encode() if lines.height else b""


def binary_format(content: bytes) -> Literal["parquet", "arrow", "xlsx"] | None:
    """Find the binary format that bytes begin as, if they do."""
    return next((kind for mark, kind in _BINARY.items() if content.startswith(mark)), None)


def is_utf_16(text: bytes) -> bool:
    """Tell whether bytes begin as UTF-16 does, which spreadsheets may write."""
    return text.startswith((b"\xff\xfe", b"\xfe\xff"))


def without_mark(text: bytes) -> bytes:
    """Take the mark of UTF-8 from the front of a text."""
    return text.removeprefix(_BYTE_ORDER_MARK)


def check(path: Path) -> None:
    """Raise where the first bytes of a file are of no format that can be read."""
    first = beginning(path)
    envelope = next((name for mark, name in _ENVELOPES.items() if first.startswith(mark)), None)
    text = _unpacked(path, first, envelope)
    kind = binary_format(text)
    if envelope is not None and kind is not None:
        raise ContentError(f"it holds {kind} inside {envelope}. Decompress it first")
    if markup := _MARKUP.match(_stripped(text)):
        raise ContentError(
            f"it looks like {markup[2].decode().upper()}, not like a table. Check where it comes "
            "from"
        )
    for mark, name in _OTHERS.items():
        if text.startswith(mark):
            raise ContentError(f"it looks like {name}. Save the table as csv, Parquet or xlsx")
    if kind is None and _is_binary(text):
        raise ContentError(
            "it is neither Parquet, Arrow, xlsx nor text (csv or JSON, plain, gzip or zstd)"
        )


def looks_like(path: Path) -> str | None:
    """Tell plain csv and JSON from the first bytes, where they are surely so."""
    text = _stripped(beginning(path))
    if _JSON.match(text):
        return "json"
    line = text.partition(b"\n")[0]
    return "csv" if _SEPARATORS.search(line) and not _is_binary(text) else None


def _unpacked(path: Path, first: bytes, envelope: str | None) -> bytes:
    """Decompress the first bytes, as far as they can be."""
    try:
        if envelope == "gzip":
            return zlib.decompressobj(wbits=zlib.MAX_WBITS | 16).decompress(first, _HEAD)
        if envelope == "zstd":
            return first_line_inside(path, encoding="utf8-lossy")
    except (zlib.error, OSError, pl.exceptions.PolarsError):  # which reading it says
        return b""
    return first


def _stripped(text: bytes) -> bytes:
    return without_mark(text).lstrip()


def _is_binary(text: bytes) -> bool:
    """Tell whether the first line is no text in any encoding."""
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
