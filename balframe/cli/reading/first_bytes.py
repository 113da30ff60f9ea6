"""What a file holds, by its first bytes, and the contents that no format has."""

import re
import zlib
from collections.abc import Mapping
from pathlib import Path
from typing import Literal

import polars as pl

from balframe.cli.reading.unreadable import ContentError

_HEAD = 2**16  # bytes
_NOT_IN_TEXT = "\x1e"
_ENVELOPES = {b"\x1f\x8b": "gzip", b"\x28\xb5\x2f\xfd": "zstd"}
_BYTE_ORDER = (b"\xff\xfe", b"\xfe\xff")  # of UTF-16
_MARKUP = re.compile(rb"<(!doctype |\?)?(html|xml|svg)\b", re.IGNORECASE)
_JSON = re.compile(rb'(\[\s*)?\{\s*"')
_CONTROL = re.compile(rb"[\0-\x08\x0e-\x1a]")
_SEPARATORS = re.compile(rb"[,;\t|]")
_OTHERS: Mapping[bytes, str] = {
    b"%PDF-": "PDF",
    b"\xd0\xcf\x11\xe0": "the format of old Excel, .xls",
    b"SQLite format 3": "SQLite",
}
BINARY: Mapping[bytes, Literal["parquet", "arrow", "xlsx"]] = {
    b"PAR1": "parquet",
    b"ARROW1": "arrow",
    b"\xff\xff\xff\xff": "arrow",  # a stream
    b"PK\x03\x04": "xlsx",
}


def check(path: Path) -> None:
    """Raise where the first bytes of a file are of no format that can be read."""
    with open(path, "rb") as file:
        first = file.read(_HEAD)
    envelope = next((name for mark, name in _ENVELOPES.items() if first.startswith(mark)), None)
    text = _unpacked(path, first, envelope)
    if envelope is not None:
        _check_inside(text, envelope)
    if markup := _MARKUP.match(_stripped(text)):
        raise ContentError(
            f"it looks like {markup[2].decode().upper()}, not like a table. Check where it comes "
            "from"
        )
    for mark, name in _OTHERS.items():
        if text.startswith(mark):
            raise ContentError(f"it looks like {name}. Save the table as csv, Parquet or xlsx")
    if not text.startswith(tuple(BINARY)) and _is_binary(text):
        raise ContentError(
            "it is neither Parquet, Arrow, xlsx nor text (csv or JSON, plain, gzip or zstd)"
        )


def looks_like(path: Path) -> str | None:
    """Tell plain csv and JSON from the first bytes, where they are surely so."""
    with open(path, "rb") as file:
        text = _stripped(file.read(_HEAD))
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
            line = pl.read_csv(
                path,
                has_header=False,
                separator=_NOT_IN_TEXT,
                quote_char=None,
                infer_schema=False,
                n_rows=1,
                encoding="utf8-lossy",
            )
            return str(line.item()).encode() if line.height else b""
    except (zlib.error, OSError, pl.exceptions.PolarsError):  # which reading it says
        return b""
    return first


def _check_inside(text: bytes, envelope: str) -> None:
    for mark, name in BINARY.items():
        if text.startswith(mark):
            raise ContentError(f"it holds {name} inside {envelope}. Decompress it first")


def _stripped(text: bytes) -> bytes:
    return text.removeprefix(b"\xef\xbb\xbf").lstrip()


def _is_binary(text: bytes) -> bool:
    """Tell whether the first line is no text in any encoding."""
    if text.startswith(_BYTE_ORDER):
        return False
    line = _stripped(text).partition(b"\n")[0]
    if b"\0" in line:
        return True
    try:
        line.decode()
    except UnicodeDecodeError:
        return _CONTROL.search(line) is not None
    return False
