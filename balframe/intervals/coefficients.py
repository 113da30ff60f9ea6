"""Confidence limits of kappa and of the correlation of truth and prediction: the delta method.

In a segment, pi_ij is the share of rows of true label i and predicted label j, t_i and p_j are its
margins, d_ij is 1 where i = j, and g_ij is the derivative of the coefficient. Its variance is
[sum pi g^2 - (sum pi g)^2] / n. Where that is 0, as for a perfect score, there are no limits.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from balframe.core.arrays import BoolArray, FloatArray, Int64Array
from balframe.core.cells import LEFT_OUT, Cells
from balframe.core.class_counts import ClassCounts
from balframe.core.division import ratio
from balframe.intervals.proportions import Limits, normal_quantile

_LEAST_VARIANCE = 1e-14
_LEAST_SHARE = 1e-28  # of the squared mean: a variance below it is rounding


@dataclass(frozen=True, slots=True)
class Shares:
    """The cells of all segments, flat; every array has the shape (cells,).

    The complements 1 - t and 1 - p are given too, for they are sums of small shares where a label
    is that of nearly all rows.
    """

    segment: Int64Array
    cell: FloatArray
    is_hit: BoolArray
    true_i: FloatArray
    true_j: FloatArray
    predicted_i: FloatArray
    predicted_j: FloatArray
    not_true_i: FloatArray
    not_predicted_i: FloatArray
    not_predicted_j: FloatArray

    @classmethod
    def of(cls, c: ClassCounts, cells: Cells) -> "Shares":
        """Look up the margins of the cells."""
        segment, _ = cells.segments
        counted = np.flatnonzero(cells.actual != LEFT_OUT)
        segment = segment[counted]
        keys = c.segment * c.n_labels + c.label

        def entry(labels: Int64Array) -> Int64Array:
            return np.searchsorted(keys, segment * c.n_labels + labels[counted])

        true, predicted = entry(cells.actual), entry(cells.outcome)
        total = c.spread(c.total)
        of_truth, of_prediction = ratio(c.support, total), ratio(c.predicted, total)
        not_truth, not_prediction = (ratio(c.others(v), total) for v in (c.support, c.predicted))
        weight = np.asarray(
            (cells.n if cells.weight is None else cells.weight)[counted], np.float64
        )
        return cls(
            segment,
            ratio(weight, c.total[segment]),
            true == predicted,
            of_truth[true],
            of_truth[predicted],
            of_prediction[true],
            of_prediction[predicted],
            not_truth[true],
            not_prediction[true],
            not_prediction[predicted],
        )

    def sum(self, values: FloatArray, n_segments: int) -> FloatArray:
        """Average values over the cells of each segment: sum pi_ij v_ij."""
        total = np.bincount(self.segment, weights=self.cell * values, minlength=n_segments)
        return np.asarray(total, np.float64)


Coefficient = Callable[[Shares, FloatArray, FloatArray, float], Limits]


def kappa(shares: Shares, estimate: FloatArray, n: FloatArray, level: float) -> Limits:
    """g_ij = [d_ij - (p_i + t_j)(1 - kappa)] / (1 - p_e).

    References
    ----------
    J. L. Fleiss, J. Cohen and B. S. Everitt, "Large sample standard errors of kappa and weighted
    kappa", Psychological Bulletin 1969.
    """
    no_chance = shares.sum(shares.not_predicted_i, len(n))[shares.segment]
    rest = 1 - estimate[shares.segment]
    with np.errstate(divide="ignore", invalid="ignore"):
        slope = (shares.is_hit - (shares.predicted_i + shares.true_j) * rest) / no_chance
    return _limits(shares, slope, estimate, n, level)


def correlation(shares: Shares, estimate: FloatArray, n: FloatArray, level: float) -> Limits:
    """g_ij = [d_ij - p_i - t_j] / sqrt(BD) + MCC (p_j / B + t_i / D).

    B = 1 - sum p_j^2 and D = 1 - sum t_i^2.
    """
    at = shares.segment
    b = shares.sum(shares.not_predicted_j, len(n))[at]
    d = shares.sum(shares.not_true_i, len(n))[at]
    with np.errstate(divide="ignore", invalid="ignore"):
        slope = (shares.is_hit - shares.predicted_i - shares.true_j) / np.sqrt(b * d)
        slope = slope + estimate[at] * (shares.predicted_j / b + shares.true_i / d)
    return _limits(shares, slope, estimate, n, level)


def _limits(
    shares: Shares, slope: FloatArray, estimate: FloatArray, n: FloatArray, level: float
) -> Limits:
    mean = shares.sum(slope, len(n))
    spread = shares.sum((slope - mean[shares.segment]) ** 2, len(n))
    least = np.maximum(_LEAST_VARIANCE, _LEAST_SHARE * mean**2)
    sd = np.sqrt(np.where(spread > least, spread, np.nan) / n)
    half = normal_quantile(level) * sd
    return np.maximum(estimate - half, -1), np.minimum(estimate + half, 1)
