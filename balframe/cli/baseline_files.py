"""Earlier runs as they are typed: TABLE@RUN, a file with cells, or a column of predictions."""

import csv
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import date
from pathlib import Path
from typing import Any

import polars as pl

from balframe.cli import parse_values
from balframe.cli.files.formats import format_by_ending
from balframe.cli.files.open_files import Input, open_input
from balframe.cli.files.paths import is_url
from balframe.cli.parse_values import read_dates
from balframe.cli.threshold_option import predict_at_threshold
from balframe.errors import InvalidInputError, listed
from balframe.frames.history.run_table import DATE, is_table
from balframe.frames.query import name_list


def read_baseline(
    text: str,
    rows: pl.LazyFrame,
    by: Sequence[str],
    values: Mapping[str, Any],
    beside: Input,
    *,
    is_old_run: bool = False,
) -> str | pl.DataFrame:
    """Return the name of a column, or the rows or cells of a file, or the cells of a stored run.

    Scores among rows become predictions at the threshold that `values` may have. Messages call it
    the old run, in place of a baseline, if it is the first file.
    """
    names = rows.collect_schema().names()
    if text in names:
        return text
    if is_stored_run(text):
        return _read_stored_run(text, by, "the old run" if is_old_run else "--baseline")
    if not is_file(text):
        message = (
            f"the old run {text!r} is neither a file nor a column. Give a file with its rows or "
            "its cells, a run of a Delta table, as in runs@last, or with --baseline a column of "
            "predictions."
            if is_old_run
            else f"--baseline {text!r} is neither a column nor a file. Give a column of "
            "predictions, a file with the rows or cells of an earlier run, or a run of a Delta "
            "table, as in runs@last."
        )
        raise InvalidInputError(f"{message} Columns: {listed(names)}.")
    return _at_threshold(_read_cells(text, beside), values)


def _at_threshold(frame: pl.DataFrame, values: Mapping[str, Any]) -> pl.DataFrame:
    """Return rows of scores as predictions at the threshold that `values` may have."""
    threshold, y_pred = values.get("threshold"), name_list(values.get("y_pred"))
    if threshold is None or not {values["y_true"], *y_pred} <= {*frame.columns}:
        return frame
    own = {**values, "baseline": None}
    return predict_at_threshold(frame.lazy(), threshold, own, y_pred).collect()


def read_stream_baseline(
    text: str, time: str, by: Sequence[str], beside: Input
) -> date | pl.DataFrame:
    """Return the last day of the rows that are the baseline, or the cells of a run or a file."""
    try:
        return date.fromisoformat(text)
    except ValueError:
        pass
    if is_stored_run(text):
        cells = _read_stored_run(text, [*by, DATE])
        return cells if time in cells.columns else cells.rename({DATE: time})
    if not is_file(text):
        raise InvalidInputError(
            f"--baseline {text!r} is neither a date nor a file. Give the last day of the rows that "
            "are the baseline, as in 2026-03-31, a file with the cells of an earlier run, as "
            "balframe confusion writes them, or a run of a Delta table, as in runs@last."
        )
    return _read_cells(text, beside, time)


def read_audit_baseline(
    text: str, by: Sequence[str], time: str | None, beside: Input
) -> pl.DataFrame:
    """Return the rows or cells that a file has, or the cells of a stored run."""
    if is_stored_run(text):
        cells = _read_stored_run(text, by if time is None else [*by, DATE])
        is_renamed = time is not None and time not in cells.columns
        return cells.rename({DATE: time}) if is_renamed and time is not None else cells
    if not is_file(text):
        raise InvalidInputError(
            f"--baseline {text!r} is not a file. Give a file with the rows of an earlier audit, or "
            "with their cells, as balframe confusion writes them, or a run of a Delta table, as in "
            "runs@last."
        )
    return _read_cells(text, beside)


def read_expect(texts: Sequence[str], rows: pl.LazyFrame, by: Sequence[str], beside: Input) -> Any:  # noqa: ANN401
    """Return the segments that a file or a stored run has, or the values of by-columns.

    Raises
    ------
    InvalidInputError
        If a text is neither a by-column with values nor a file nor a stored run, if a column is
        given twice, or if there is a file or a run beside anything else.
    """
    values: dict[str, list[Any]] = {}
    for text in texts:
        names = [name for name in by if text.startswith(f"{name}=")]
        if not names and len(texts) == 1:
            if is_stored_run(text):
                return _read_stored_run(text, by, "--expect")
            if is_file(text):
                return _read_cells(text, beside)
        if not names:
            raise InvalidInputError(
                f"--expect {text!r} is neither a column of --by with its values, as in "
                "race=White,Black, nor a single file with segments, nor a run of a Delta table, as "
                f"in runs@last. Columns: {listed(by) or None}."
            )
        name = max(names, key=len)
        if name in values:
            raise InvalidInputError(
                f"--expect gives column {name!r} more than once; give all of its values together, "
                "separated by commas."
            )
        (fields,) = csv.reader([text.removeprefix(f"{name}=")], skipinitialspace=True) or [[]]
        present = [field for field in fields if field]
        read = dict(zip(present, parse_values.values(present, rows, name, "expect"), strict=True))
        values[name] = [read.get(field) for field in fields or [""]]
    return values


def _read_stored_run(text: str, by: Sequence[str], option: str = "--baseline") -> pl.DataFrame:
    """Return the cells of TABLE@RUN, added up to by-columns."""
    from balframe.methods.history.read_run import read_run

    table, mark, run = text.rpartition("@")
    if not mark:
        raise InvalidInputError(
            f"{option} {text!r} is a table of runs. Give one of them: {text}@last, or its id or "
            "date after the @."
        )
    cells: pl.DataFrame = read_run(table, run, by=by)
    return cells


def is_stored_run(text: str) -> bool:
    """Return whether a text is a table of runs, or TABLE@RUN, and not a file."""
    if is_table(text):
        return True
    table, mark, _ = text.rpartition("@")
    if not mark or (Path(text).exists() and not is_url(text)):
        return False
    return is_table(table) or (is_url(table) and format_by_ending(text) is None)


def _read_cells(file: str, beside: Input, time: str | None = None) -> pl.DataFrame:
    with open_input(replace(beside, names=[file])) as opened:
        return read_dates(opened.rows, time).collect(engine="streaming")


def is_file(text: str) -> bool:
    """Return whether there is a file of this name, or it is a URL."""
    return is_url(text) or Path(text).exists()
