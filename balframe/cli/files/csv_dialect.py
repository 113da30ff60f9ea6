"""Text with separators: which separator a file has, how it writes decimals, and its types."""

import csv
import io
import re
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import polars as pl

from balframe.cli.files import first_bytes
from balframe.cli.files.read_errors import ContentError
from balframe.errors import InvalidInputError, listed

INFERRED = 10_000  # rows that the types of the columns are inferred from
_COMPRESSED = (b"\x1f\x8b", b"\x28\xb5\x2f\xfd", b"\x78\x01", b"\x78\x9c", b"\x78\xda")
_OTHERS = ";\t|"  # separators besides the comma
_TYPED = {"\\t": "\t", "tab": "\t"}
_QUOTED = re.compile(rb'"[^"]*"')
_THOUSANDS = r"^\s*[-+]?[1-9]\d{0,2}(,\d{3})+\s*$"
_NUMBER = r"^\s*[-+]?\d+(,\d+)?([eE][-+]?\d+)?\s*$"


@dataclass(frozen=True, slots=True)
class Dialect:
    """How a file of text separates its fields, and whether decimals have a comma."""

    separator: str = ","
    decimal_comma: bool = False


def separator_of(typed: str) -> str:
    """Read --separator: one character, of which a tab may be written out."""
    separator = _TYPED.get(typed, typed)
    if len(separator) != 1 or not separator.isascii() or separator in '"\r\n':
        raise InvalidInputError(
            f"--separator {typed!r} is not a single character; give one, as in --separator ';', or "
            "give tab."
        )
    return separator


def beginning(path: Path) -> bytes:
    """Read the first bytes of a text, or its first line where it is compressed."""
    first = first_bytes.beginning(path)
    if not first.startswith(_COMPRESSED):
        return first
    try:
        return first_bytes.first_line_inside(path)
    except pl.exceptions.NoDataError:
        return b""


def dialect_of(paths: Sequence[Path], separator: str, named: Collection[str]) -> Dialect:
    """Find the dialect of files; decimals have a comma only where no field needs it elsewhere.

    Commas that may separate thousands are refused in the columns of `named`, unless others decide.
    """
    if separator == ",":
        return Dialect()
    plain = Dialect(separator)
    files = [_numbers_with_commas(path, plain) for path in paths]
    if any(None in thousands.values() for thousands in files):
        return Dialect(separator, decimal_comma=True)
    for thousands in files:
        for column in (one for one in thousands if one in named):
            raise InvalidInputError(
                f"column {column!r} has values such as {thousands[column]!r}: the comma may "
                "separate thousands or decimals. Write thousands without it, and decimals with a "
                "point."
            )
    return plain


def recognised_separator(path: Path) -> str:
    """Find the separator in the line of names: a comma, or the only other one where none is."""
    text = beginning(path)
    if first_bytes.is_utf_16(text):
        raise ContentError(
            "it is encoded in UTF-16. Convert it to UTF-8, as in: iconv -f UTF-16 -t UTF-8"
        )
    unquoted = _QUOTED.sub(b"", first_bytes.without_mark(text))
    header = unquoted.partition(b"\n")[0].decode("latin-1")
    if "," in header:
        return ","
    others = [one for one in _OTHERS if one in header]
    if len(others) > 1:
        shown = " and ".join(map(repr, others))
        raise ContentError(
            f"its header has no comma, but has {shown}. Give the one that separates the fields, "
            f"as in --separator {others[0]!r}"
        )
    return others[0] if others else ","


def check_names(path: Path, separator: str) -> None:
    """Raise where two columns have one name; those without a name do not count."""
    text = first_bytes.without_mark(beginning(path)).decode(errors="replace")
    header = next(csv.reader(io.StringIO(text, newline=""), delimiter=separator), [])
    repeated = [repr(name) for name, n in Counter(header).items() if name and n > 1]
    if repeated:
        raise ContentError(
            f"more than one column has the name {listed(repeated)}. Rename all but one"
        )


def _numbers_with_commas(path: Path, plain: Dialect) -> dict[str, str | None]:
    """Find columns of numbers with commas, where no column has points.

    Each has a value if its commas may separate thousands, or None if they are decimal commas.
    """
    head = scanned([path], plain, None).head(INFERRED).collect()
    if any(dtype.is_float() for dtype in head.schema.values()):
        return {}
    found: dict[str, str | None] = {}
    for column in head.select(pl.col(pl.String)):
        values = column.drop_nulls()
        with_comma = values.filter(values.str.contains(",", literal=True))
        if not with_comma.is_empty() and values.str.contains(_NUMBER).all():
            is_ambiguous = with_comma.str.contains(_THOUSANDS).all()
            found[column.name] = with_comma[0] if is_ambiguous else None
    return found


def scanned(
    paths: Sequence[Path], dialect: Dialect, types: Mapping[str, pl.DataType] | None
) -> pl.LazyFrame:
    """Scan files of text with separators."""
    return pl.scan_csv(
        list(paths),
        separator=dialect.separator,
        decimal_comma=dialect.decimal_comma,
        schema_overrides=types,
        infer_schema_length=INFERRED,
        glob=False,
    )
