"""Earlier runs as they are typed: a file with their cells, or a column of predictions."""

import csv
from collections.abc import Sequence
from datetime import date
from pathlib import Path
from typing import Any

import polars as pl

from balframe.cli.files.null_words import without_null_words
from balframe.cli.files.open_files import Input, open_input
from balframe.cli.files.paths import is_url
from balframe.cli.parse_values import label, read_dates
from balframe.errors import InvalidInputError, listed


def read_baseline(
    text: str, rows: pl.LazyFrame, null_words: Sequence[str] = ()
) -> str | pl.DataFrame:
    """Return the name of a column of the rows, or the cells that a file has."""
    names = rows.collect_schema().names()
    if text in names:
        return text
    if not is_file(text):
        raise InvalidInputError(
            f"--baseline {text!r} is neither a column nor a file. Give a column of predictions, or "
            f"a file with the cells of an earlier run. Columns: {listed(names)}."
        )
    return _read_cells(text, null_words)


def read_stream_baseline(
    text: str, time: str, null_words: Sequence[str] = ()
) -> date | pl.DataFrame:
    """Return the last day of the rows that are the baseline, or the cells that a file has."""
    try:
        return date.fromisoformat(text)
    except ValueError:
        pass
    if not is_file(text):
        raise InvalidInputError(
            f"--baseline {text!r} is neither a date nor a file. Give the last day of the rows that "
            "are the baseline, as in 2026-03-31, or a file with the cells of an earlier run, as "
            "balframe confusion writes them."
        )
    return _read_cells(text, null_words, time)


def read_expect(
    texts: Sequence[str], rows: pl.LazyFrame, by: Sequence[str], null_words: Sequence[str] = ()
) -> Any:  # noqa: ANN401
    """Return the segments that a file has, or the values of by-columns, each with its own.

    Raises
    ------
    InvalidInputError
        If a text is neither a by-column with values nor a file, if a column is given twice, or if
        there is a file beside anything else.
    """
    values: dict[str, list[Any]] = {}
    for text in texts:
        names = [name for name in by if text.startswith(f"{name}=")]
        if not names and is_file(text) and len(texts) == 1:
            return _read_cells(text, null_words)
        if not names:
            raise InvalidInputError(
                f"--expect {text!r} is neither a column of --by with its values, as in "
                f"race=White,Black, nor a single file with segments. Columns: {listed(by) or None}."
            )
        name = max(names, key=len)
        if name in values:
            raise InvalidInputError(
                f"--expect gives column {name!r} more than once; give all of its values together, "
                "separated by commas."
            )
        (fields,) = csv.reader([text.removeprefix(f"{name}=")], skipinitialspace=True) or [[]]
        values[name] = [label(field, rows, name) if field else None for field in fields or [""]]
    return values


def _read_cells(file: str, null_words: Sequence[str], time: str | None = None) -> pl.DataFrame:
    with open_input(Input([file])) as opened:
        names = opened.rows.collect_schema().names()
        rows = without_null_words(opened.rows, names, null_words)
        return read_dates(rows, time).collect(engine="streaming")


def is_file(text: str) -> bool:
    """Return whether there is a file of this name, or it is a URL."""
    return is_url(text) or Path(text).exists()
