"""Work on many segments at once: those of equally many labels together, equal ones only once."""

from collections.abc import Callable, Iterator, Sequence
from functools import partial

import numpy as np

from balframe.core.array_types import FloatArray, Int64Array
from balframe.core.counting_strategy import SEGMENTS, blocks
from balframe.core.threads import on_all_cores
from balframe.core.unique_rows import distinct
from balframe.stats.mean_recall import Recalls

Rows = Callable[[FloatArray, FloatArray, FloatArray], Sequence[FloatArray]]


def by_number_of_labels(
    segment: Int64Array, n_segments: int, order: Int64Array
) -> Iterator[tuple[Int64Array, Int64Array]]:
    """Put segments of equally many entries together, and the positions of these into a matrix.

    `order` sorts the entries by segment.
    """
    n_labels = np.bincount(segment, minlength=n_segments)
    first = np.cumsum(n_labels) - n_labels
    for size in np.unique(n_labels[n_labels > 0]):
        segments = np.flatnonzero(n_labels == size)
        yield segments, order[first[segments][:, None] + np.arange(size)]


def over_segments(r: Recalls, columns: int, compute: Rows) -> list[FloatArray]:
    """Compute for every segment from its recalls, equal segments once.

    `compute` takes x, n and weights of the shape (segments, labels) and gives as many arrays of
    the shape (segments,) as `columns` says. Segments without limits get NaN.
    """
    n_segments = len(r.whole)
    x, n, share = r.in_effective_rows()
    out = np.full((columns, n_segments), np.nan)
    order = np.argsort(r.segment, kind="stable")
    for segments, entries in by_number_of_labels(r.segment, n_segments, order):
        values = x[entries], n[entries], share[entries]
        known = np.isfinite(np.hstack(values)).all(axis=1)
        if known.any():
            found = once_for_equals(partial(_in_one_order, compute), [v[known] for v in values])
            out[:, segments[known]] = found
    return list(out)


def once_for_equals(
    compute: Callable[..., Sequence[FloatArray]], values: Sequence[FloatArray]
) -> FloatArray:
    """Compute from arrays of the shape (rows, columns), from equal rows once."""
    first, copies = distinct([column for value in values for column in value.T])
    parts = [first[block] for block in blocks(slice(0, len(first)), SEGMENTS)] or [first]
    found = on_all_cores(lambda rows: compute(*(value[rows] for value in values)), parts)
    return np.hstack(found)[:, copies]


def _in_one_order(
    compute: Rows, x: FloatArray, n: FloatArray, share: FloatArray
) -> Sequence[FloatArray]:
    """Sort the labels of each segment, since their order makes no difference."""
    order = np.lexsort((x, n, share))
    return compute(*(np.take_along_axis(values, order, axis=1) for values in (x, n, share)))
