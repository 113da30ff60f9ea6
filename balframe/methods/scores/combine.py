"""The function `combine`, which adds up the cells of several days or shards."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from balframe.api.checked_arguments import checked_arguments
from balframe.api.options import Backend
from balframe.api.run import without_label_warnings
from balframe.errors import OPTION, InvalidInputError, UnsupportedTypeError, listed
from balframe.frames.adapter import FrameT, Name
from balframe.frames.concat import column_names, concat
from balframe.frames.convert_result import BACKENDS
from balframe.frames.engines.inputs import InputFrame, materialize, unwrap
from balframe.frames.query import WEIGHT, WEIGHT_MAX, WEIGHT_SQ, N, check_no_margins
from balframe.methods.scores.confusion import SHARE, confusion


def split_cell_columns(names: Sequence[Name], subject: str) -> tuple[list[Name], Name, Name]:
    """Return the by-columns, the column of true labels and that of predicted labels.

    The labels are the two columns before the counts. `subject` begins the messages: "frames have".
    """
    n_position = names.index(N) if N in names else 0
    if n_position < 2:
        raise InvalidInputError(
            f"the {subject} the columns {listed(names)}, which are not those of a result of "
            "`confusion`: the true and the predicted labels must be in the two columns before "
            f"{N!r}. Give results of `confusion`."
        )
    check_no_margins(names, subject)
    if SHARE in names:
        raise InvalidInputError(
            "the {} a column {!r}, and shares cannot be added. Drop it, or omit {normalize} in "
            "`confusion`.",
            subject,
            SHARE,
            normalize=OPTION,
        )
    y_true, y_pred = names[n_position - 2 : n_position]
    others = {N, WEIGHT, WEIGHT_SQ, WEIGHT_MAX, y_true, y_pred}
    return [name for name in names if name not in others], y_true, y_pred


@dataclass(frozen=True, slots=True)
class StoredCells:
    """The cells of an earlier run, a frame of pandas or polars, and its columns by their roles."""

    cells: Any
    by: list[Name]
    y_true: Name
    y_pred: Name
    is_weighted: bool


def read_stored_cells(native: Any, subject: str) -> StoredCells:  # noqa: ANN401
    """Return the cells that a result of `confusion` holds, each once; see `split_cell_columns`."""
    native = materialize(native)
    cells_frame = InputFrame.open(native)
    names = cells_frame.column_names
    by, y_true, y_pred = split_cell_columns(names, subject)
    backend: Backend = None if cells_frame.engine.name in BACKENDS[:2] else "polars"
    with without_label_warnings():
        cells = confusion(native, y_true, y_pred, by=by, cells=True, backend=backend)
    return StoredCells(cells, by, y_true, y_pred, WEIGHT in names)


@checked_arguments
def combine(frames: Iterable[FrameT]) -> FrameT:
    """Return the sum of several results of `confusion`, such as those of days, files or shards.

    The result equals `confusion` of all the rows together. A column added to the cells, for example
    `day`, is treated like a by-column; drop it first to sum over it.

    Parameters
    ----------
    frames : iterable of pandas, polars or pyarrow frames
        Results of `confusion`, all of one library and with the same columns. These are, in order,
        the by-columns, the true and the predicted labels, `n` and, if weighted, `weight`,
        `weight_sq` and `weight_max`. Other columns may stand anywhere except between the labels and
        `n`.

    Returns
    -------
    frame of the same library
        The same columns as `confusion` returns. With several models, `model` is a by-column in
        ascending order. Polars LazyFrames return a LazyFrame.

    Raises
    ------
    BalframeError
        If the frames are not results of `confusion`, have different columns, or contain roll-ups
        or shares, which cannot be added.

    Examples
    --------
    >>> import polars as pl
    >>> import balframe as bf
    >>> days = [
    ...     pl.DataFrame({"y": [1, 1, 0], "yhat": [1, 0, 0]}),
    ...     pl.DataFrame({"y": [1, 0, 0], "yhat": [1, 0, 1]}),
    ... ]
    >>> cells = [bf.confusion(day, "y", "yhat") for day in days]
    >>> bf.combine(cells).rows()
    [(0, 0, 2), (0, 1, 1), (1, 0, 1), (1, 1, 2)]
    >>> bf.combine(cells).equals(bf.confusion(pl.concat(days), "y", "yhat"))
    True
    """
    unwrapped_frames = [unwrap(frame) for frame in _as_list(frames)]
    natives = [native for native, _ in unwrapped_frames]
    columns = column_names(natives[0])
    by, y_true, y_pred = split_cell_columns(columns, "frames have")
    for native in natives[1:]:
        _check_same_columns(columns, column_names(native))
    _, wrapped = unwrapped_frames[0]
    cells: FrameT = wrapped(confusion(concat(natives), y_true, y_pred, by=by, cells=True))
    return cells


def _as_list(frames: Any) -> Sequence[Any]:  # noqa: ANN401
    if hasattr(frames, "columns") or not isinstance(frames, Iterable) or isinstance(frames, str):
        raise UnsupportedTypeError(
            f"combine got {type(frames).__qualname__}, but needs a list of results of "
            "`confusion`; give [frame, ...]."
        )
    listed_frames = list(frames)
    if not listed_frames:
        raise InvalidInputError("combine got an empty list; give at least one frame.")
    return listed_frames


def _check_same_columns(first: Sequence[Name], other: Sequence[Name]) -> None:
    if set(first) != set(other):
        raise InvalidInputError(
            f"the frames have different columns: {listed(first)}; and {listed(other)}. Give frames "
            "with the same columns."
        )
