"""The best operating point of every segment."""

from dataclasses import dataclass

import numpy as np

from balframe.core.array_types import FloatArray, Int64Array, IntegerArray
from balframe.core.operating_points import OperatingPoints
from balframe.metrics.registry import Metric

_MAX_PRODUCT = 2**61  # of counts, up to which the gain and the imbalance fit into int64


@dataclass(frozen=True, slots=True)
class Optimum:
    """The position of the best point of each segment, -1 if the metric is nowhere defined."""

    point: Int64Array

    def take(self, values: FloatArray) -> FloatArray:
        """Return the values of the best points, NaN for a segment without one."""
        if not len(values):
            return np.full(len(self.point), np.nan)
        return np.where(self.point < 0, np.nan, values[self.point])


def find_optimum(
    points: OperatingPoints, metric: Metric, values: FloatArray, n_segments: int
) -> Optimum:
    """Return the best point of each segment; of several, the one with the highest threshold.

    For balanced accuracy and its linear functions, this maximises TP N - FP P, in whole numbers if
    rows have no weights. Of several best points, it prefers those with the smallest |TPR - TNR|.
    """
    if metric.interval.rises_with_both_recalls:
        c = points.counts(1, slice(None))
        positives, negatives = c.tp + c.fn, c.tn + c.fp
        if float(positives.max(initial=0)) * float(negatives.max(initial=0)) > _MAX_PRODUCT:
            c = c.in_floats()
            positives, negatives = c.tp + c.fn, c.tn + c.fp
        gain = c.tp * negatives - c.fp * positives
        imbalance = np.abs(c.tp * negatives - c.tn * positives)
        defined = np.flatnonzero((positives > 0) & (negatives > 0))
        return _last_best_points(gain, imbalance, points.segment, defined, n_segments)
    objective = values if metric.better == "higher" else -values
    defined = np.flatnonzero(~np.isnan(values))
    return _last_best_points(objective, None, points.segment, defined, n_segments)


def _last_best_points(
    objective: FloatArray,
    imbalance: FloatArray | None,
    segment: IntegerArray,
    points: Int64Array,
    n_segments: int,
) -> Optimum:
    for values, sign in ((objective, 1), (imbalance, -1)):
        if values is not None and len(points):
            signed_values = sign * values[points]
            starts = np.flatnonzero(np.diff(segment[points], prepend=-1))
            highest = np.maximum.reduceat(signed_values, starts)
            lengths = np.diff(np.append(starts, len(points)))
            points = points[signed_values == np.repeat(highest, lengths)]
    best = np.full(n_segments, -1)
    best[segment[points]] = points  # ascending, so that the highest threshold stays
    return Optimum(best)


def points_at_threshold(points: OperatingPoints, threshold: FloatArray) -> Optimum:
    """Return the point of each segment at the threshold of that segment."""
    n_points = np.bincount(points.segment, minlength=len(threshold))
    below = points.threshold < threshold[points.segment]
    n_below = np.bincount(points.segment[below], minlength=len(threshold))
    first = np.cumsum(n_points) - n_points
    return Optimum(np.where(np.isnan(threshold) | (n_points == 0), -1, first + n_below))
