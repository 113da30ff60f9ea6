"""Ties of clusters, the last by-column, beside the ties of all rows of each segment."""

import numpy as np

from balframe.core.array_types import FloatArray, Int64Array
from balframe.core.cells import segment_positions
from balframe.core.score_ties import Ties


def cluster_segments(cluster_ties: Ties) -> Int64Array:
    """Return the segment of each pair of segment and cluster, numbered from 0."""
    return segment_positions(cluster_ties.by[:-1], cluster_ties.n_segments)


def matching_ties(ties: Ties, segment: Int64Array, score: FloatArray) -> Int64Array:
    """Return the position of the tie that has each segment and score."""
    n = len(ties.score)
    is_sought = np.arange(n + len(score)) >= n
    segments = np.append(ties.segment.astype(np.int64), segment)
    order = np.lexsort((is_sought, np.append(ties.score, score), segments))
    position = np.empty(len(order), np.int64)
    position[order] = np.cumsum(~is_sought[order]) - 1
    return position[n:]
