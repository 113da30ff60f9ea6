"""Hints where text beside numbers, true and false, or dates may stand for no value.

A single such word makes a whole column text, so that it would count as a class label, or as a score
of the wrong type.
"""

import csv
import gzip
import shlex
from collections.abc import Collection, Mapping, Sequence
from contextlib import suppress

import polars as pl

from balframe.cli.files.csv_dialect import GZIP, N_ROWS_INFERRED, first_bytes, literal_column
from balframe.cli.files.null_words import is_null_word, null_advice
from balframe.cli.files.paths import Location, SourceFile, is_url
from balframe.errors import InvalidInputError, warn

_KINDS: Mapping[str, str] = {  # of values beside which a word is not a value of its own: a pattern
    "numbers": r"^\s*[-+]?(\d+([.,]\d*)?|\.\d+)([eE][-+]?\d+)?\s*$",
    "true and false": r"^(?i:true|false)$",
    "dates": r"^\s*\d{4}-\d{2}-\d{2}",
}


def check_null_words(
    rows: pl.LazyFrame,
    sources: Sequence[SourceFile],
    separator: str,
    columns: Collection[str],
    groups: Collection[str],
) -> None:
    """Raise where a column of text has numbers and words that look like nulls.

    In columns of groups such a word is a group of its own, which is only a warning.
    """
    schema = rows.collect_schema()
    names = [name for name in dict.fromkeys(columns) if schema.get(name) == pl.String]
    if not names:
        return
    head = rows.select(map(literal_column, names)).head(N_ROWS_INFERRED).collect()
    for name in names:
        kind, words = _null_words(head.get_column(name))
        if kind:  # of the first rows
            values = rows.select(literal_column(name).unique()).collect(engine="streaming")
            kind, words = _null_words(values.get_column(name))
        if not words:
            continue
        place = _place(sources, separator, name, words[0])
        message = f"column {name!r} holds {kind}, and {words[0]!r}{place}. {null_advice(words)}"
        if name not in groups:
            raise InvalidInputError(message)
        warn(message)


def check_numbers(
    rows: pl.LazyFrame, sources: Sequence[SourceFile], separator: str, columns: Collection[str]
) -> None:
    """Raise for the first text in a column that must have numbers."""
    schema = rows.collect_schema()
    for name in (name for name in dict.fromkeys(columns) if schema.get(name) == pl.String):
        text = literal_column(name)
        as_read, as_typed = (
            text.filter(value.cast(pl.Float64, strict=False).is_null() & text.is_not_null()).first()
            for value in (text, text.str.strip_chars())
        )
        query = rows.select(as_typed, as_read.alias("1"), text.drop_nulls().first().alias("2"))
        invalid, with_spaces, first = query.collect(engine="streaming").row(0)
        example = next((text for text in (invalid, with_spaces, first) if text is not None), None)
        if example is None:
            continue
        place = _place(sources, separator, name, example)
        advice = "Write numbers as in 1.5, or give another column."
        if invalid is None:
            advice = f"Give --type {shlex.quote(f'{name}=float')} to read its texts as numbers."
        raise InvalidInputError(
            f"column {name!r} must hold numbers, but holds the text {example!r}{place}. {advice}"
        )


def _null_words(values: pl.Series) -> tuple[str, list[str]]:
    """Find the kind of values of a column, if it has no other text but words, and the words."""
    texts = values.alias("").drop_nulls().unique(maintain_order=True)  # its name is no pattern
    for kind, pattern in _KINDS.items():
        is_of_kind = texts.str.contains(pattern)
        others = texts.filter(~is_of_kind).to_list()
        if is_of_kind.any() and all(map(is_null_word, others)):
            return kind, others
    return "", []


def _place(sources: Sequence[SourceFile], separator: str, column: str, text: str) -> str:
    """Return where a column first has a text, as far as that is found; lines need a separator."""
    for source in sources if separator else ():
        line = find_line(source.location, separator, column, text)
        if line is not None:
            return f" on line {line:,} of {source.name}"
    return ""


def line_of(sources: Sequence[SourceFile], separator: str, column: str, text: str) -> int | None:
    """Return the line of the only file in which a column first has a text, if it is found."""
    if len(sources) != 1:
        return None
    return find_line(sources[0].location, separator, column, text)


def find_line(location: Location, separator: str, column: str, text: str) -> int | None:
    """Return the line of a local file, plain or in gzip, on which a column first has a text."""
    if is_url(location):
        return None
    is_gzip = first_bytes(location).startswith(GZIP)
    with suppress(OSError, EOFError, UnicodeDecodeError, csv.Error, ValueError, StopIteration):
        opened = gzip.open if is_gzip else open
        with opened(location, "rt", encoding="utf-8-sig", newline="") as lines:
            reader = csv.reader(lines, delimiter=separator)
            position = next(reader).index(column)
            line = reader.line_num + 1
            for fields in reader:
                if len(fields) > position and fields[position] == text:
                    return line
                line = reader.line_num + 1
    return None
