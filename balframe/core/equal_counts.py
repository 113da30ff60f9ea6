"""Segments with equal counts in every cell, whose scores are equal too."""

import numpy as np

from balframe.core.array_types import Int64Array
from balframe.core.cells import LEFT_OUT, Cells
from balframe.core.counting_strategy import SAMPLE, are_many_segments
from balframe.core.unique_rows import distinct

_FEW_PAIRS = 16  # of labels; with more, segments of more than a few rows are hardly ever equal
_MOST_DIFFERENT = 0.25  # share of a sample up to which computing less makes up for the search


def equal_counts(cells: Cells, n_labels: int) -> tuple[Int64Array, Int64Array] | None:
    """Find the different segments: where one of each stands, and which of them every segment is.

    None where segments are few or mostly different, and where rows are weighted or left out.
    """
    segment, first = cells.segments
    if not are_many_segments(len(first)) or n_labels**2 > _FEW_PAIRS:
        return None
    if cells.sums.weight is not None or (cells.actual == LEFT_OUT).any():
        return None
    pair = cells.actual * n_labels + cells.outcome
    some = slice(first[SAMPLE] if len(first) > SAMPLE else None)
    sampled = _columns(segment[some], pair[some], cells.n[some], n_labels**2)
    if len(distinct(sampled)[0]) > _MOST_DIFFERENT * len(sampled[0]):
        return None
    return distinct(_columns(segment, pair, cells.n, n_labels**2))


def _columns(
    segment: Int64Array, pair: Int64Array, n: Int64Array, n_pairs: int
) -> list[Int64Array]:
    """Make a column of counts for every pair of labels, with a row for every segment."""
    counts = np.zeros((n_pairs, segment[-1] + 1), np.int64)
    counts[pair, segment] = n
    return list(counts)
