"""The function `read_run`, which returns the cells of a run of a Delta table."""

from collections.abc import Sequence
from os import PathLike
from typing import Any, Literal

from balframe.api.checked_arguments import checked_arguments
from balframe.frames.convert_result import backend_adapter
from balframe.frames.history.read_runs import LAST, read_run_cells
from balframe.frames.history.run_table import table_path
from balframe.methods.scores.confusion import confusion


@checked_arguments
def read_run(
    table: str | PathLike[str],
    run: str = LAST,
    *,
    by: str | Sequence[str] | None = None,
    backend: Literal["polars", "pandas"] = "polars",
) -> Any:  # noqa: ANN401 (a frame of the library that `backend` names)
    """Return the cells of a run that `store` has written, as `confusion` returned them.

    They can be a `baseline`, or be read as rows are. Needs the extra `history`.

    Parameters
    ----------
    table : path or URI of a Delta table
        The table.
    run : text, default "last"
        The id of the run, its last day, such as "2026-11-01", or "last". The last run is that of
        the latest day, and among several, the one stored last.
    by : column name or list of column names, optional
        The by-columns of the result, to which finer cells are added up; by default, all by-columns
        of the run. `date` and `model` may be among them.
    backend : {"polars", "pandas"}, default "polars"
        The library of the result.

    Returns
    -------
    frame
        One row for each segment, true label and predicted label, as `confusion` returns them. A run
        of several models keeps its column `model`.

    Raises
    ------
    BalframeError
        If there is no such table or run, or if the day has more than one run.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> import polars as pl
    >>> import balframe as bf
    >>> df = pl.DataFrame({"g": ["a", "a", "b"], "y": [1, 1, 0], "yhat": [1, 0, 0]})
    >>> folder = TemporaryDirectory()
    >>> table = f"{folder.name}/runs"
    >>> _ = bf.store(df, table, "y", "yhat", by="g", run="a1", date="2026-11-01")
    >>> bf.read_run(table).equals(bf.confusion(df, "y", "yhat", by="g"))
    True
    >>> bf.read_run(table, "2026-11-01", by=[]).rows()
    [(0, 0, 1), (1, 0, 1), (1, 1, 1)]
    >>> folder.cleanup()
    """
    backend_adapter(backend)  # raises if it is not an option
    names = [by] if isinstance(by, str) else by
    stored = read_run_cells(table_path(table), run, names)
    return confusion(
        stored.cells, stored.y_true, stored.y_pred, by=stored.by, cells=True, backend=backend
    )
