"""The function `combine`, which adds up the cells of several days or shards."""

from collections.abc import Iterable, Sequence
from typing import Any

from balframe.errors import InvalidInputError, UnsupportedTypeError, listed, parameter
from balframe.frames.adapter import FrameT, Name
from balframe.frames.concat import concat, names_of
from balframe.frames.engines.inputs import unwrapped
from balframe.frames.query import WEIGHT, WEIGHT_SQ, N, check_finest
from balframe.methods.scores.confusion import SHARE, confusion

# The columns of results of `confusion`, by what they hold.


def split_cell_columns(names: Sequence[Name], subject: str) -> tuple[list[Name], Name, Name]:
    """Separate the by-columns from the two columns of labels, which stand before the counts.

    `what` begins a sentence about the frame: "frames have".
    """
    at = names.index(N) if N in names else 0
    if at < 2:
        raise InvalidInputError(
            f"the {subject} the columns {listed(names)}, which are not those of a result of "
            "`confusion`: the true and the predicted labels must be in the two columns before "
            f"{N!r}. Give results of `confusion`."
        )
    check_finest(names, subject)
    if SHARE in names:
        raise InvalidInputError(
            f"the {subject} a column {SHARE!r}, and shares cannot be added. Drop it, or omit "
            f"{parameter('normalize')} in `confusion`."
        )
    labels = names[at - 2 : at]
    others = {N, WEIGHT, WEIGHT_SQ, *labels}
    return [name for name in names if name not in others], labels[0], labels[1]


def combine(frames: Iterable[FrameT]) -> FrameT:
    """Return the sum of several results of `confusion`, such as those of days, files or shards.

    The result equals `confusion` of all the rows together. A column added to the cells, for example
    `day`, is treated like a by-column; drop it first to sum over it.

    Parameters
    ----------
    frames : iterable of pandas, polars or pyarrow frames
        Results of `confusion`, all of one library and with the same columns. These are, in order,
        the by-columns, the true and the predicted labels, `n` and, if weighted, `weight` and
        `weight_sq`. Other columns may stand anywhere except between the labels and `n`.

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
    unwrapped_frames = [unwrapped(frame) for frame in _as_list(frames)]
    given = [native for native, _ in unwrapped_frames]
    by, y_true, y_pred = split_cell_columns(names_of(given[0]), "frames have")
    for frame in given[1:]:
        _check_same_columns(names_of(given[0]), names_of(frame))
    _, wrapped = unwrapped_frames[0]
    added: FrameT = wrapped(confusion(concat(given), y_true, y_pred, by=by, cells=True))
    return added


def _as_list(frames: Any) -> Sequence[Any]:  # noqa: ANN401
    if hasattr(frames, "columns") or not isinstance(frames, Iterable) or isinstance(frames, str):
        raise UnsupportedTypeError(
            f"combine got {type(frames).__qualname__}, but needs a list of results of "
            "`confusion`; give [frame, ...]."
        )
    given = list(frames)
    if not given:
        raise InvalidInputError("combine got an empty list; give at least one frame.")
    return given


def _check_same_columns(first: Sequence[Name], other: Sequence[Name]) -> None:
    if set(first) != set(other):
        raise InvalidInputError(
            f"the frames have different columns: {listed(first)}; and {listed(other)}. Give frames "
            "with the same columns."
        )
