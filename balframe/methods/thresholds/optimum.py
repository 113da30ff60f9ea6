"""The best point of every segment."""

from dataclasses import dataclass

import numpy as np

from balframe.core.array_types import FloatArray, Int64Array, IntegerArray
from balframe.core.operating_points import OperatingPoints
from balframe.metrics.registry import Metric

_LARGEST_PRODUCT = 2**61


@dataclass(frozen=True, slots=True)
class Optimum:
    """The position of the best point of each segment, -1 where the metric is nowhere defined."""

    point: Int64Array

    def of(self, values: FloatArray) -> FloatArray:
        """Take the values of the best points; undefined where there is none."""
        if not len(values):
            return np.full(len(self.point), np.nan)
        return np.where(self.point < 0, np.nan, values[self.point])


def optimum(
    points: OperatingPoints, metric: Metric, values: FloatArray, n_segments: int
) -> Optimum:
    """Find the best point of each segment; of several the highest threshold.

    For balanced accuracy and its linear functions this maximises TP N - FP P, in whole numbers
    where rows have no weights, and of several takes first those with the smallest |TPR - TNR|.
    """
    if metric.interval.rises_with_both_recalls:
        c = points.counts(1, slice(None))
        positives, negatives = c.tp + c.fn, c.tn + c.fp
        if float(positives.max(initial=0)) * float(negatives.max(initial=0)) > _LARGEST_PRODUCT:
            c = c.in_floats()
            positives, negatives = c.tp + c.fn, c.tn + c.fp
        gain = c.tp * negatives - c.fp * positives
        imbalance = np.abs(c.tp * negatives - c.tn * positives)
        defined = np.flatnonzero((positives > 0) & (negatives > 0))
        return _best(gain, imbalance, points.segment, defined, n_segments)
    objective = values if metric.better == "higher" else -values
    defined = np.flatnonzero(~np.isnan(values))
    return _best(objective, None, points.segment, defined, n_segments)


def _best(
    objective: FloatArray,
    imbalance: FloatArray | None,
    segment: IntegerArray,
    points: Int64Array,
    n_segments: int,
) -> Optimum:
    for values, sign in ((objective, 1), (imbalance, -1)):
        if values is not None and len(points):
            of_points = sign * values[points]
            starts = np.flatnonzero(np.diff(segment[points], prepend=-1))
            top = np.maximum.reduceat(of_points, starts)
            lengths = np.diff(np.append(starts, len(points)))
            points = points[of_points == np.repeat(top, lengths)]
    best = np.full(n_segments, -1)
    best[segment[points]] = points  # ascending, so that the highest threshold stays
    return Optimum(best)


def point_at(points: OperatingPoints, threshold: FloatArray) -> Optimum:
    """Find in each segment the point of a threshold, one given for each segment."""
    n_points = np.bincount(points.segment, minlength=len(threshold))
    below = points.threshold < threshold[points.segment]
    n_below = np.bincount(points.segment[below], minlength=len(threshold))
    first = np.cumsum(n_points) - n_points
    return Optimum(np.where(np.isnan(threshold) | (n_points == 0), -1, first + n_below))
