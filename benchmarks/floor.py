"""The floor: a compiled loop of one thread over codes that are ready, counts alone."""

import numba
import numpy as np

from benchmarks.cases import Case
from benchmarks.data import Codes, FloatArray, IntArray


def count(codes: Codes, case: Case) -> IntArray | FloatArray:
    """Count the pairs of labels of every segment."""
    sizes = case.segments, case.labels
    if codes.weight is not None:
        return weigh_all(codes.segment, codes.y, codes.yhat, codes.weight, *sizes)
    return count_all(codes.segment, codes.y, codes.yhat, *sizes)


@numba.njit()
def count_all(
    segment: IntArray, y: IntArray, yhat: IntArray, n_segments: int, n_labels: int
) -> IntArray:
    """Add 1 for each row."""
    counts = np.zeros(n_segments * n_labels * n_labels, np.int64)
    for i in range(segment.size):
        counts[(segment[i] * n_labels + y[i]) * n_labels + yhat[i]] += 1
    return counts


@numba.njit()
def weigh_all(
    segment: IntArray,
    y: IntArray,
    yhat: IntArray,
    weight: FloatArray,
    n_segments: int,
    n_labels: int,
) -> FloatArray:
    """Add the weight of each row."""
    totals = np.zeros(n_segments * n_labels * n_labels, np.float64)
    for i in range(segment.size):
        totals[(segment[i] * n_labels + y[i]) * n_labels + yhat[i]] += weight[i]
    return totals
