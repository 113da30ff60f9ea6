"""Cells of earlier rows as they are typed: a file with them, or a column of predictions."""

from datetime import date
from pathlib import Path
from typing import Any

import polars as pl

from balframe.cli.days_in_text import with_days
from balframe.cli.files.open_files import Input, opened
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
    return _cells(text)


def reference(file: str | None, until: str | None, time: str) -> Any:  # noqa: ANN401
    """Read a file with the cells of the reference, or take its last day."""
    if (file is None) == (until is None):
        raise InvalidInputError(
            "give what is compared with either as --reference FILE, the cells of an earlier run, "
            "or as --until DATE, the last day of the rows that are the reference."
        )
    if file is not None and not is_file(file):
        raise InvalidInputError(
            f"--reference {file!r} is not a file. Give a file with the cells of an earlier run, as "
            "balframe confusion writes them, or give --until DATE instead."
        )
    if file is not None:
        return _cells(file, time)
    try:
        return {"until": date.fromisoformat(until or "")}
    except ValueError as error:
        raise InvalidInputError(
            f"--until {until!r} is not a date; give one, as in 2026-03-31."
        ) from error


def _cells(file: str, time: str | None = None) -> pl.DataFrame:
    with opened(Input([file])) as found:
        return with_days(found.rows, time).collect(engine="streaming")


def is_file(text: str) -> bool:
    """Tell whether there is a file of this name."""
    return Path(text).exists()
