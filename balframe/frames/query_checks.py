"""Checks of a query that is valid, but whose result would be misleading."""

from balframe.errors import NAME, Advice, InvalidInputError, UnsupportedTypeError, join, parameter
from balframe.frames.adapter import Adapter, Frame
from balframe.frames.query import WEIGHT, N, Query


def check_distinct_labels(query: Query, role: str) -> None:
    """Raise if the predictions, in the parameter `role`, are the column of true labels."""
    if not query.has_truth or query.y_true not in query.y_pred:
        return
    is_baseline = query.baseline is not None and query.y_true not in query.y_pred[:-1]
    raise InvalidInputError(
        "column {!r} is given as {y_true} and as {}, so every row would be right; give the "
        "column of {} as {}.",
        query.y_true,
        parameter("baseline" if is_baseline else role, NAME),
        "scores" if query.scores else "predictions",
        parameter("baseline" if is_baseline else role, NAME),
        y_true=NAME,
    )


MAX_ROLL_UP_COLUMNS = 12  # of margins="all", whose 4,096 roll-ups take seconds


def check_number_of_roll_ups(query: Query) -> None:
    """Raise if `margins="all"` would add up too many subsets of the by-columns."""
    n = len(query.by)
    if query.margins != "all" or n <= MAX_ROLL_UP_COLUMNS:
        return
    raise InvalidInputError(
        "{margins} of {} by-columns has {:,} roll-ups; it takes up to {} columns, which have "
        "{:,}. Give {} for the one over all rows, or fewer columns per call. To find the "
        "combinations that score worst, call slices.",
        n,
        2**n,
        MAX_ROLL_UP_COLUMNS,
        2**MAX_ROLL_UP_COLUMNS,
        parameter("margins", Advice("overall")),
        margins=Advice("all"),
    )


def check_not_cells(query: Query, frame: Frame, adapter: Adapter, *, reads_cells: bool) -> None:
    """Raise if the frame has the columns of a result of `confusion`, but each row would count once.

    In such a result, numbers `n` come right after the true and the predicted labels. With
    `reads_cells` the method has the option `cells`.
    """
    if query.cells or query.counts is not None or query.scores or not query.has_truth:
        return
    columns = adapter.column_names(frame)
    if N not in columns or N in query.columns:
        return
    position = columns.index(N)
    if tuple(columns[max(position - 2, 0) : position]) != (query.y_true, *query.y_pred):
        return
    if not _may_be_counts(frame, adapter):
        return
    options = [] if reads_cells and WEIGHT in columns else [parameter("counts", Advice(N))]
    options += [parameter("cells", True)] if reads_cells else []
    raise InvalidInputError(
        "the columns {!r}, {!r} and {!r} are those of a result of `confusion`, whose rows are "
        "cells, but each row would count once. Give {}; if each is a row of the data, rename "
        "column {!r} or move it.",
        query.y_true,
        query.y_pred[0],
        N,
        join(" or ", options),
        N,
    )


def _may_be_counts(frame: Frame, adapter: Adapter) -> bool:
    """Return whether the column `n` of a frame holds numbers, be they Decimals."""
    try:
        return adapter.label_kind(frame, N) == "number"
    except UnsupportedTypeError:
        return True
