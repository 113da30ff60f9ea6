"""How many fields the lines of a text have: none may have more than the header.

Polars reports such a line only if a query reads all columns. Otherwise its values would be read
from the wrong columns.
"""

import re
from collections.abc import Iterator

import polars as pl

from balframe.cli.files.csv_dialect import header_names, is_compressed
from balframe.cli.files.paths import Location, is_url, may_be_pattern
from balframe.cli.files.read_errors import MORE_FIELDS, ContentError

_BLOCK_SIZE = 2**18  # bytes
_PAIR_OF_QUOTES = re.compile(rb'"[^"\n]*"')


def check_field_counts(location: Location, separator: str) -> None:
    """Raise where a line has more fields than the header."""
    n_names = len(header_names(location, separator))
    if is_url(location) or is_compressed(location):
        _read_all_fields(location, separator)
        return
    too_many, n_lines = separator.encode() * n_names, 0
    for marks in _marks(location, separator):
        outside = _PAIR_OF_QUOTES.sub(b"", marks)
        is_unpaired = b'"' in outside
        if not is_unpaired and (position := outside.find(too_many)) >= 0:
            line = n_lines + outside.count(b"\n", 0, position) + 1
            raise ContentError(f"line {line:,} {MORE_FIELDS}")
        has_quotes = len(outside) < len(marks)  # which may be part of fields that are not quoted
        if is_unpaired or (has_quotes and too_many in marks.replace(b'"', b"")):
            _read_all_fields(location, separator)
            return
        n_lines += marks.count(b"\n")


def _marks(location: Location, separator: str) -> Iterator[bytes]:
    """Read the separators, quotes and ends of whole lines, and leave out all other bytes."""
    marks = separator.encode() + b'"\n'
    others = bytes(byte for byte in range(256) if byte not in marks)
    rest = b""
    with open(location, "rb") as file:
        while block := file.read(_BLOCK_SIZE):
            lines, end, rest = (rest + block.translate(None, others)).rpartition(b"\n")
            yield lines + end
    yield rest


def _read_all_fields(location: Location, separator: str) -> None:
    """Read all columns as texts, because quoted fields may contain separators and ends of lines."""
    rows = pl.scan_csv(
        location,
        separator=separator,
        infer_schema=False,
        encoding="utf8-lossy",
        glob=may_be_pattern(location),
    )
    rows.select(pl.all().null_count()).collect(engine="streaming")
