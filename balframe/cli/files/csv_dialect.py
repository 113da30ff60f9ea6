"""Text with separators: which separator a file has, how it writes decimals, and its types."""

import csv
import io
import re
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import polars as pl
import polars.selectors as cs

from balframe.cli.files.paths import Location, is_url, may_be_pattern
from balframe.cli.files.read_errors import ContentError
from balframe.errors import InvalidInputError, listed

N_ROWS_INFERRED = 10_000  # rows that the types of the columns are inferred from
N_FIRST_BYTES = 2**16

_NOT_IN_TEXT = "\x1e"
_BYTE_ORDER_MARK = b"\xef\xbb\xbf"
GZIP = b"\x1f\x8b"  # the first bytes of such a file
_COMPRESSED = (GZIP, b"\x28\xb5\x2f\xfd", b"\x78\x01", b"\x78\x9c", b"\x78\xda")
_OTHER_SEPARATORS = ";\t|"  # besides the comma
_SPELLED_SEPARATORS = {"\\t": "\t", "tab": "\t"}
_QUOTED = re.compile(rb'"[^"]*"')
_THOUSANDS = r"^\s*[-+]?[1-9]\d{0,2}(,\d{3})+\s*$"
_NUMBER = r"^\s*[-+]?\d+(,\d+)?([eE][-+]?\d+)?\s*$"


@dataclass(frozen=True, slots=True)
class Dialect:
    """How a file of text separates its fields, whether decimals have a comma, and what is null.

    The types of `text_columns` do not follow from their values.
    """

    separator: str = ","
    decimal_comma: bool = False
    null_values: tuple[str, ...] = ()
    text_columns: tuple[str, ...] = ()


def literal_column(name: str) -> pl.Expr:
    """Return the column of a name, which polars takes for a pattern if it is * or ^a$."""
    return cs.by_name(name).as_expr()


def first_bytes(location: Location) -> bytes:
    """Read the first bytes of a local file as they are."""
    with open(location, "rb") as file:
        return file.read(N_FIRST_BYTES)


def first_line_with_polars(location: Location, **options: Any) -> bytes:  # noqa: ANN401 (of polars)
    """Read the first line of a text that is compressed, or at a URL."""
    options |= {"has_header": False, "separator": _NOT_IN_TEXT, "quote_char": None}
    options |= {"infer_schema": False, "n_rows": 1}
    if is_url(location):
        lines = pl.scan_csv(location, glob=False, **options).collect()
    else:
        lines = pl.read_csv(location, **options)
    return str(lines.item()).encode() if lines.height else b""


def text_beginning(location: Location) -> bytes:
    """Read the first bytes of a text, or its first line if it is compressed or at a URL."""
    content = b"" if is_url(location) else first_bytes(location)
    if not (is_url(location) or content.startswith(_COMPRESSED)):
        return content
    try:
        return first_line_with_polars(location)
    except pl.exceptions.NoDataError:
        return b""


def is_compressed(location: Location) -> bool:
    """Return whether a local file begins as compressed text does."""
    return first_bytes(location).startswith(_COMPRESSED)


def _header(location: Location) -> bytes:
    """Read the line of names of a text, and at least the first bytes; quotes may contain ends."""
    text = text_beginning(location)
    if is_url(location) or is_compressed(location):
        return text
    with open(location, "rb") as file:
        text = file.read(N_FIRST_BYTES)
        while b"\n" not in _QUOTED.sub(b"", text) and (more := file.read(len(text))):
            text += more
    return text


def header_names(location: Location, separator: str) -> list[str]:
    """Read the names of the columns, as they are in the first line that is not empty."""
    text = without_byte_order_mark(_header(location)).decode(errors="replace")
    csv.field_size_limit(max(csv.field_size_limit(), len(text)))
    lines = csv.reader(io.StringIO(text, newline=""), delimiter=separator)
    return next(filter(None, lines), [])


def is_utf_16(text: bytes) -> bool:
    """Return whether bytes begin as UTF-16 does, which spreadsheets may write."""
    return text.startswith((b"\xff\xfe", b"\xfe\xff"))


def without_byte_order_mark(text: bytes) -> bytes:
    """Take the mark of UTF-8 from the front of a text."""
    return text.removeprefix(_BYTE_ORDER_MARK)


def read_separator_option(text: str) -> str:
    """Read --separator: one character, of which a tab may be written out."""
    separator = _SPELLED_SEPARATORS.get(text, text)
    if len(separator) != 1 or not separator.isascii() or separator in '"\r\n':
        raise InvalidInputError(
            f"--separator {text!r} is not a single character; give one, as in --separator ';', or "
            "give tab."
        )
    return separator


def detect_separator(location: Location) -> str:
    """Find the separator in the line of names: a comma, or the only other one where none is."""
    text = _header(location)
    if is_utf_16(text):
        raise ContentError(
            "it is encoded in UTF-16. Convert it to UTF-8, as in: iconv -f UTF-16 -t UTF-8"
        )
    unquoted = _QUOTED.sub(b"", without_byte_order_mark(text))
    header = unquoted.partition(b"\n")[0].decode("latin-1")
    if "," in header:
        return ","
    others = [separator for separator in _OTHER_SEPARATORS if separator in header]
    if len(others) > 1:
        candidates = " and ".join(map(repr, others))
        raise ContentError(
            f"its header has no comma, but has {candidates}. Give the one that separates the "
            f"fields, as in --separator {others[0]!r}"
        )
    return others[0] if others else ","


def check_names(location: Location, separator: str) -> None:
    """Raise where two columns have one name; those without a name do not count."""
    names = Counter(header_names(location, separator))
    repeated = [repr(name) for name, n in names.items() if name and n > 1]
    if repeated:
        raise ContentError(
            f"more than one column has the name {listed(repeated)}. Rename all but one"
        )


def detect_dialect(
    locations: Sequence[Location], plain: Dialect, columns: Collection[str]
) -> Dialect:
    """Find the dialect of files; decimals have a comma only where no field needs it elsewhere.

    Commas that may separate thousands are refused in `columns`, unless other columns decide.
    """
    if plain.separator == ",":
        return plain
    files = [_numbers_with_commas(location, plain) for location in locations]
    if any(None in thousands.values() for thousands in files):
        return replace(plain, decimal_comma=True)
    for thousands in files:
        for column, value in thousands.items():
            if column in columns:
                raise InvalidInputError(
                    f"column {column!r} has values such as {value!r}: the comma may separate "
                    "thousands or decimals. Write thousands without it, and decimals with a point."
                )
    return plain


def _numbers_with_commas(location: Location, plain: Dialect) -> dict[str, str | None]:
    """Find columns of numbers with commas, where no column has points.

    Each has a value if its commas may separate thousands, or None if they are decimal commas.
    """
    head = scan_csv([location], plain, None).head(N_ROWS_INFERRED).collect()
    if any(dtype.is_float() for dtype in head.schema.values()):
        return {}
    examples: dict[str, str | None] = {}
    for column in head.select(pl.col(pl.String)):
        values = column.drop_nulls()
        if column.name in plain.text_columns:
            continue
        with_comma = values.filter(values.str.contains(",", literal=True))
        if not with_comma.is_empty() and values.str.contains(_NUMBER).all():
            is_ambiguous = with_comma.str.contains(_THOUSANDS).all()
            examples[column.name] = with_comma[0] if is_ambiguous else None
    return examples


def scan_csv(
    locations: Sequence[Location], dialect: Dialect, types: Mapping[str, pl.DataType] | None
) -> pl.LazyFrame:
    """Scan files of text with separators."""
    sources: Any = list(locations)
    overrides = {**dict.fromkeys(dialect.text_columns, pl.String()), **(types or {})}
    if not any(map(is_url, locations)):  # polars 1.32 takes further names for more columns
        headers = (header_names(location, dialect.separator) for location in locations)
        names = set().union(*headers)
        overrides = {name: dtype for name, dtype in overrides.items() if name in names}
    return pl.scan_csv(
        sources,
        separator=dialect.separator,
        decimal_comma=dialect.decimal_comma,
        null_values=["", *dialect.null_values],  # a field of quotes alone is empty, too
        schema_overrides=overrides,
        infer_schema_length=N_ROWS_INFERRED,
        glob=all(map(may_be_pattern, locations)),
    )
