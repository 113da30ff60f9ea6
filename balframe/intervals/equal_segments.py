"""Work on many segments at once: those of equally many labels together, equal ones only once."""

from collections.abc import Callable, Iterator, Sequence

import numpy as np

from balframe.core.arrays import FloatArray, Int64Array
from balframe.intervals.recalls_of_counts import Recalls

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
    order = np.lexsort((x, n, r.weight, r.segment))  # the order of labels makes no difference
    for segments, entries in by_number_of_labels(r.segment, n_segments, order):
        rows = np.hstack([x[entries], n[entries], share[entries]])
        known = np.isfinite(rows).all(axis=1)
        if known.any():
            distinct, copies = _distinct(rows[known])
            out[:, segments[known]] = np.array(compute(*np.hsplit(distinct, 3)))[:, copies]
    return list(out)


def _distinct(rows: FloatArray) -> tuple[FloatArray, Int64Array]:
    """Find the different rows, and which of them each row is; faster than `numpy.unique`."""
    order = np.lexsort(rows.T)
    ordered = rows[order]
    is_new = np.append(True, (ordered[1:] != ordered[:-1]).any(axis=1))
    copies = np.empty(len(rows), np.int64)
    copies[order] = np.cumsum(is_new) - 1
    return ordered[is_new], copies
