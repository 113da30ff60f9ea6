"""The runs of a table: which there are, and the cells of a run."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date

import polars as pl

from balframe.errors import OPTION, InvalidInputError, listed
from balframe.frames.history.run_table import (
    DATE,
    RUN,
    STORED_AT,
    CellColumns,
    naming_table,
    scan_table,
)
from balframe.frames.query import MODEL

LAST = "last"
_MOST_LISTED = 10


@dataclass(frozen=True, slots=True)
class RunCells:
    """The cells of a run as they are stored, and the names of their columns."""

    cells: pl.DataFrame
    by: tuple[str, ...]
    y_true: str
    y_pred: str


def read_run_cells(table: str, name: str, by: Sequence[str] | None = None) -> RunCells:
    """Return the cells of a run, by its id, its date, or "last".

    `by` are the by-columns to keep, by default all. The models of a run with several are always
    kept, because they do not add up.
    """
    rows = scan_table(table)
    with naming_table(table, "read"):
        columns = CellColumns.of(rows.collect_schema().names(), table)
        run = _find_run(rows, name, table)
        cells = rows.filter(pl.col(RUN) == run).collect()
    kept = [*columns.by] if by is None else [*dict.fromkeys(by)]
    missing = [column for column in kept if column not in (*columns.by, DATE, MODEL)]
    if missing:
        raise InvalidInputError(
            "run {!r} of table {!r} has no column {}; its by-columns are {}. Give {by} of these, "
            "or store runs by more columns in another table.",
            run,
            table,
            listed(map(repr, missing)),
            listed(map(repr, columns.by)),
            by=OPTION,
        )
    if cells.get_column(MODEL).n_unique() > 1 and MODEL not in kept:
        kept.append(MODEL)
    return RunCells(cells, tuple(kept), columns.y_true, columns.y_pred)


def _find_run(rows: pl.LazyFrame, name: str, table: str) -> str:
    """Find the run that a name stands for."""
    runs = (
        rows.group_by(RUN)
        .agg(pl.col(DATE).max(), pl.col(STORED_AT).max())
        .sort(DATE, STORED_AT, RUN)
        .collect()
    )
    if runs.is_empty():
        raise InvalidInputError(f"table {table!r} has no run yet. Store one first.")
    ids: list[str] = runs.get_column(RUN).to_list()
    if name in ids:
        return name
    if name == LAST:
        return ids[-1]
    of_day: list[str] = [run for run, day, _ in runs.rows() if day == _day(name)]
    if len(of_day) == 1:
        return of_day[0]
    if of_day:
        raise InvalidInputError(
            f"table {table!r} has {len(of_day)} runs of {name}: {listed(of_day, _MOST_LISTED)}. "
            "Give the id of one."
        )
    latest = [f"{run} ({day})" for run, day, _ in reversed(runs.rows())]
    raise InvalidInputError(
        f"table {table!r} has no run {name!r}, neither by its id nor by its date. Its runs are, "
        f"the last first: {listed(latest, _MOST_LISTED)}. Give the id or date of one, or {LAST!r}."
    )


def _day(text: str) -> date | None:
    try:
        return date.fromisoformat(text)
    except ValueError:
        return None
