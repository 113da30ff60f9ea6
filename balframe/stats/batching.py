"""Computations on many segments at once: segments with equally many labels form a matrix.

Equal segments are computed once.
"""

from collections.abc import Callable, Iterator, Sequence
from functools import partial

import numpy as np

from balframe.core.array_types import FloatArray, Int64Array
from balframe.core.counting_strategy import SEGMENTS, blocks
from balframe.core.threads import run_on_all_cores
from balframe.core.unique_rows import unique_rows
from balframe.stats.mean_recall import Recalls
from balframe.stats.proportions import Limits, Rows

# x, n and weights of the shape (segments, labels), to arrays of the shape (segments,)
_SegmentFunction = Callable[[FloatArray, FloatArray, FloatArray], Sequence[FloatArray]]
# x, n and weights, and x and n for upper limits, to limits of the shape (segments,)
_LimitFunction = Callable[[FloatArray, FloatArray, FloatArray, Rows | None], Limits]


def group_by_label_count(
    segment: Int64Array, n_segments: int, order: Int64Array
) -> Iterator[tuple[Int64Array, Int64Array]]:
    """Yield the segments with equally many labels, and a matrix of the positions of their entries.

    `order` sorts the entries by segment.
    """
    n_labels = np.bincount(segment, minlength=n_segments)
    first = np.cumsum(n_labels) - n_labels
    for size in np.unique(n_labels[n_labels > 0]):
        segments = np.flatnonzero(n_labels == size)
        yield segments, order[first[segments][:, None] + np.arange(size)]


def compute_by_segment(r: Recalls, n_outputs: int, compute: _SegmentFunction) -> list[FloatArray]:
    """Return `n_outputs` arrays with a value for every segment, computed from its recalls.

    `compute` takes x, n and weights of the shape (segments, labels) and returns `n_outputs` arrays
    of the shape (segments,). Segments whose effective counts are undefined get NaN.
    """
    return _compute_by_segment(r, r.effective_counts(), n_outputs, compute)


def _compute_by_segment(
    r: Recalls,
    columns: Sequence[FloatArray],
    n_outputs: int,
    compute: Callable[..., Sequence[FloatArray]],
) -> list[FloatArray]:
    """Compute from columns, of which the first three are x, n and the shares of recalls."""
    n_segments = len(r.divisor)
    out = np.full((n_outputs, n_segments), np.nan)
    order = np.argsort(r.segment, kind="stable")
    for segments, entries in group_by_label_count(r.segment, n_segments, order):
        values = [column[entries] for column in columns]
        finite = np.isfinite(np.hstack(values)).all(axis=1)
        if finite.any():
            out[:, segments[finite]] = compute_unique_rows(
                partial(_with_sorted_labels, compute), [v[finite] for v in values]
            )
    return list(out)


def limits_by_segment(r: Recalls, compute: _LimitFunction) -> Limits:
    """Return lower and upper limits of every segment, computed from its recalls.

    `compute` takes x, n and weights of the shape (segments, labels), and with weighted rows also x
    and n for the upper limit. Segments whose effective rows are undefined get NaN.
    """

    def compute_limits(
        x: FloatArray, n: FloatArray, share: FloatArray, *upper: FloatArray
    ) -> Limits:
        return compute(x, n, share, (upper[0], upper[1]) if upper else None)

    lower, upper = r.effective_rows()
    columns = (*lower, r.share, *(upper or ()))
    low, high = _compute_by_segment(r, columns, 2, compute_limits)
    return low, high


def compute_unique_rows(
    compute: Callable[..., Sequence[FloatArray]], values: Sequence[FloatArray]
) -> FloatArray:
    """Compute from arrays of the shape (rows, columns), once for equal rows."""
    first, copies = unique_rows([column for value in values for column in value.T])
    parts = [first[block] for block in blocks(slice(0, len(first)), SEGMENTS)] or [first]
    results = run_on_all_cores(lambda rows: compute(*(value[rows] for value in values)), parts)
    return np.hstack(results)[:, copies]


def _with_sorted_labels(
    compute: Callable[..., Sequence[FloatArray]],
    x: FloatArray,
    n: FloatArray,
    share: FloatArray,
    *upper: FloatArray,
) -> Sequence[FloatArray]:
    """Compute with sorted labels, so that segments differing only in label order are equal."""
    order = np.lexsort((x, n, share))
    return compute(*(np.take_along_axis(values, order, axis=1) for values in (x, n, share, *upper)))
