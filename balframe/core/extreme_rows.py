"""Ties with two more rows a segment: a positive and a negative one beyond all scores."""

from dataclasses import replace

import numpy as np
import numpy.typing as npt

from balframe.core.array_types import FloatArray, Int64Array
from balframe.core.row_sums import RowSums
from balframe.core.score_ties import Ties


def with_extreme_rows(ties: Ties, *, positive_is_lowest: bool) -> Ties:
    """Add a positive row below all scores and a negative row above them, or the reverse.

    So a ranking becomes worse, or better, by the most that one row of each class can change it.
    With weights, each row has the largest weight of its class in the segment.
    """
    starts = np.searchsorted(ties.segment, np.arange(ties.n_segments))
    ends = np.searchsorted(ties.segment, np.arange(ties.n_segments), side="right")
    at = np.column_stack([starts, ends]).ravel()
    is_lowest = np.tile([True, False], ties.n_segments)
    score = np.insert(ties.score, at, np.where(is_lowest, -np.inf, np.inf))
    segment = np.insert(ties.segment, at, np.repeat(np.arange(ties.n_segments), 2))
    positive, negative = (
        _with_rows(side, at, is_lowest == is_own_lowest, ties.segment, ties.n_segments)
        for side, is_own_lowest in (
            (ties.positive, positive_is_lowest),
            (ties.negative, not positive_is_lowest),
        )
    )
    return replace(ties, segment=segment, score=score, positive=positive, negative=negative)


def _with_rows(
    side: RowSums,
    at: Int64Array,
    is_added: npt.NDArray[np.bool_],
    segment: npt.NDArray[np.integer],
    n_segments: int,
) -> RowSums:
    """Insert one row of the class in each segment, where it is added, and none elsewhere."""
    n = np.insert(np.asarray(side.row_counts, np.int64), at, is_added)
    sums = side.with_squares()
    if sums.weight is None or sums.weight_sq is None or sums.weight_max is None:
        return replace(side, n=n)
    largest: FloatArray = np.zeros(n_segments)
    np.maximum.at(largest, segment, sums.weight_max)
    weight = np.where(is_added, np.repeat(largest, 2), 0)
    with np.errstate(under="ignore", over="ignore"):
        square = np.ldexp(weight, sums.exponent) ** 2
    return replace(
        sums,
        n=n,
        weight=np.insert(sums.weight, at, weight),
        weight_sq=np.insert(sums.weight_sq, at, square),
        weight_max=np.insert(sums.weight_max, at, weight),
    )


def with_rows_of_class(ties: Ties, *, of_positive: bool, is_lowest: bool, times: float) -> Ties:
    """Add rows of one class below or above all scores, of a total weight.

    It is `times` the largest weight of the class in the segment, or without weights a number of
    rows that need not be whole. Squared and largest weights are not kept.
    """
    segments = np.arange(ties.n_segments)
    at = np.searchsorted(ties.segment, segments, side="left" if is_lowest else "right")
    score = np.insert(ties.score, at, -np.inf if is_lowest else np.inf)
    segment = np.insert(ties.segment, at, segments)
    sides = []
    for side, is_positive in ((ties.positive, True), (ties.negative, False)):
        added = _largest_weights(side, ties) * times if is_positive == of_positive else 0
        weight = np.insert(_weights(side), at, added)
        n = np.insert(np.asarray(side.row_counts, np.int64), at, 0)
        sides.append(RowSums(n, weight=weight, weight_sq=weight, weight_max=weight))
    return replace(ties, segment=segment, score=score, positive=sides[0], negative=sides[1])


def _weights(side: RowSums) -> FloatArray:
    return np.asarray(side.row_counts if side.weight is None else side.weight, np.float64)


def _largest_weights(side: RowSums, ties: Ties) -> FloatArray:
    """Return the largest weight of the class in each segment; 1 without weights."""
    values = side.with_squares().weight_max
    if values is None:
        return np.ones(ties.n_segments)
    largest: FloatArray = np.zeros(ties.n_segments)
    np.maximum.at(largest, ties.segment, values)
    return largest
