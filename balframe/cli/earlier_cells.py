"""A baseline as it is typed: a column of predictions, or a file with the cells of earlier rows."""

from pathlib import Path

import polars as pl

from balframe.cli.reading.inputs import Input, opened
from balframe.errors import InvalidInputError, listed


def baseline(text: str, rows: pl.LazyFrame) -> str | pl.DataFrame:
    """Take a column of the rows by its name, or read a file."""
    names = rows.collect_schema().names()
    if text in names:
        return text
    if not is_file(text):
        raise InvalidInputError(
            f"--baseline {text!r} is neither a column nor a file. Give a column of predictions, or "
            f"a file with the cells of an earlier run. Columns: {listed(names)}."
        )
    with opened(Input([text])) as found:
        return found.rows.collect(engine="streaming")


def is_file(text: str) -> bool:
    """Tell whether there is a file of this name."""
    return Path(text).exists()
