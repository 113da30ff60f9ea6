"""The function `store`, which adds the cells of a run to a Delta table."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, date, datetime
from importlib import import_module
from os import PathLike
from typing import Any, TypeVar, Unpack

from balframe._validate import check_choice
from balframe.api.method import RAISES, with_options
from balframe.api.options import (
    FRAMES,
    SHARED,
    CellOptions,
    ClusterOptions,
    CountOptions,
    InputOptions,
    Names,
    Option,
    WeightOptions,
)
from balframe.errors import NAME, OPTION, InvalidInputError, UnsupportedTypeError, listed, parameter
from balframe.frames.adapter import Name
from balframe.frames.by_entries import period
from balframe.frames.engines.inputs import InputFrame, materialize, unwrap
from balframe.frames.history.commit_run import commit_run
from balframe.frames.history.read_runs import LAST
from balframe.frames.history.run_rows import run_rows
from balframe.frames.history.run_table import DATE, RESERVED, table_path
from balframe.frames.query import MODEL, PERIOD, N
from balframe.methods.monitoring.baseline_data import read_day
from balframe.methods.scores.confusion import confusion

F = TypeVar("F", bound=Callable[..., Any])

_DECLARED = {
    **SHARED,
    "frame": Option(FRAMES, "The data, which are never modified. A lazy frame is collected."),
}
_HINTS = {
    "margins": "stored cells add up to every margin, when they are read.",
    "every": "days are stored, and become periods when they are read.",
    "metrics": "counts are stored, and every metric is computed from them when they are read.",
    "backend": "store returns the status of the run, not a frame.",
    "overwrite": "give replace=True to replace the run.",
}
_NOT_IN_IDS = "@"  # as it separates a table from a run


@dataclass(frozen=True, slots=True)
class StoredRun:
    """What became of a run: `status` is "added", "unchanged" or "replaced".

    `cells` is its number of cells, and `n` that of its rows.
    """

    run: str
    status: str
    cells: int
    n: int


class _Options(
    WeightOptions, CountOptions, CellOptions, ClusterOptions, InputOptions, total=False
): ...


def _with_options(function: F) -> F:
    return with_options(function, "bf.store", _DECLARED, RAISES, _HINTS)


@_with_options
def store(
    frame: object,
    table: str | PathLike[str],
    y_true: Name,
    y_pred: Names,
    *,
    run: str,
    by: Names = None,
    date: date | str | None = None,
    time: Name | None = None,
    model: str | None = None,
    source: str | None = None,
    replace: bool = False,
    **options: Unpack[_Options],
) -> StoredRun:
    """Return the status of a run after adding its cells to a Delta table.

    A run is one evaluation of a model: its cells, as `confusion` returns them, with an id, dates
    and their source. It is written in one commit, or not at all. The same run is stored once,
    however often it is written. polars, DuckDB and Spark read the table. Needs the extra `history`.

    Parameters
    ----------
    table : path or URI of a Delta table
        The table, which is a folder, or a URI that delta-rs writes, such as "s3://bucket/runs". It
        is created if there is none. All its runs have the same columns.
    run : text
        The id of the run, such as that of a pipeline. It must not contain "@" or be "last".
    date : date, optional
        The day that all rows are about, such as "2026-11-01". Give either `date` or `time`.
    time : column name, optional
        A column of dates or datetimes. Cells keep the day of their rows. The day of a datetime with
        a time zone is that of its local time. Give either `date` or `time`.
    model : text, optional
        The name or version of the model. Several columns of predictions are several models with the
        names of these columns; omit `model` then.
    source : text, optional
        Where the rows come from, such as a path or a query, for readers of the table.
    replace : bool, default False
        Replace a run of the same id that has other cells. By default, this raises.

    Returns
    -------
    StoredRun
        With the attributes `run`, `status`, `cells` and `n`: the id; "added", "unchanged" or
        "replaced"; the number of cells; and the number of rows. A run is unchanged if the table has
        it with the same cells, dates and models; nothing is then written.

    Notes
    -----
    The table has one row for each cell, with these columns: `run`, `date`, `model`, the by-columns,
    the column `cluster`, the true and the predicted label, `n`, with weights also `weight`,
    `weight_sq` and `weight_max`, and `source`, `stored_at` (the time in UTC) and
    `balframe_version`. Categories are stored as text, and numbers as 64 bits.

    A run is one commit of the table, so that readers see all of it or nothing, even if the writer
    is killed. Several processes may write at the same time. Each commit names its run in a
    transaction (`txn`) of the Delta log, and delta-rs refuses a commit if another one has named the
    same run since the table was read. The writer then reads the table again: it adds the run, finds
    it unchanged, or raises. This holds for all writers that call `store`, and on storage where
    delta-rs commits atomically: a local file system, and those that its documentation names.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> import polars as pl
    >>> import balframe as bf
    >>> df = pl.DataFrame({"y": [1, 1, 0, 0], "yhat": [1, 0, 0, 0]})
    >>> folder = TemporaryDirectory()
    >>> table = f"{folder.name}/runs"
    >>> bf.store(df, table, "y", "yhat", run="a1", date="2026-11-01", model="v3")
    StoredRun(run='a1', status='added', cells=3, n=4)
    >>> bf.store(df.to_pandas(), table, "y", "yhat", run="a1", date="2026-11-01", model="v3")
    StoredRun(run='a1', status='unchanged', cells=3, n=4)
    >>> pl.read_delta(table).select("run", "date", "model", "y", "yhat", "n").row(0)
    ('a1', datetime.date(2026, 11, 1), 'v3', 0, 0, 2)
    >>> folder.cleanup()
    """
    table = table_path(table)
    _check_texts(run=run, model=model, source=source)
    check_choice("replace", replace, (False, True))
    _check_id(run)
    day = _read_date(date, time)
    if time is not None:
        frame = materialize(frame)
        by = [*InputFrame.open(frame).entries(by), period(time, "1d")]
    cells: Any = confusion(frame, y_true, y_pred, by=by, backend="polars", **options)
    cells, _ = unwrap(cells)
    _check_names(cells.columns, has_model=model is not None)
    n = int(cells.get_column(N).sum())
    if n == 0:
        raise InvalidInputError("the frame has no row to store. Give one with rows.")
    rows = run_rows(
        cells if time is None else cells.rename({PERIOD: DATE}),
        run=run,
        day=day,
        model=model,
        provenance={"source": source, "stored_at": datetime.now(UTC), "version": _own_version()},
    )
    if rows.get_column(DATE).null_count():
        raise InvalidInputError(
            "column {!r}, which {time} names, has nulls, so that rows have no day. Leave these "
            "rows out first.",
            time,
            time=NAME,
        )
    status = commit_run(table, run, rows, may_replace=replace)
    return StoredRun(run, status.value, len(rows), n)


def _own_version() -> str:
    version: str = import_module("balframe").__version__
    return version


def _check_texts(**values: object) -> None:
    for name, value in values.items():
        if not isinstance(value, str) and not (value is None and name != "run"):
            raise UnsupportedTypeError("{} is not text; give text.", parameter(name, value))


def _check_id(run: str) -> None:
    if not run.strip() or _NOT_IN_IDS in run or run == LAST:
        raise InvalidInputError(
            '{run} is not the id of a run: it must not be empty, nor "last", which stands for the '
            'last run, nor contain "@", which separates a table from a run. Give another id.',
            run=run,
        )


def _read_date(day: object, time: Name | None) -> date | None:
    """Return the day of a run; None if a column has the days."""
    if (day is None) == (time is None):
        raise InvalidInputError(
            "give either {date}, the day that all rows are about, or {time}, a column of dates.",
            date=OPTION,
            time=OPTION,
        )
    if day is None:
        return None
    read = read_day(day.date() if isinstance(day, datetime) else day)
    if read is None:
        raise InvalidInputError("{date} is not a date; give one, such as '2026-11-01'.", date=day)
    return read


def _check_names(names: list[str], *, has_model: bool) -> None:
    """Raise if a by-column has the name of a column that every table of runs has."""
    reserved = [*RESERVED, *([MODEL] if has_model else [])]
    if taken := [name for name in names if name in reserved]:
        raise InvalidInputError(
            "the table has columns {} of its own, so no column of cells may have such a name; "
            "rename {}.",
            listed(map(repr, reserved)),
            listed(map(repr, taken)),
        )
