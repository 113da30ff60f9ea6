"""Differences of two independent scores: confidence limits, and tests that the scores are equal.

Both scores are means of recalls, theta = sum_k a_k p_k with the same weights. The arrays have one
row for each pair of segments and one column for each label. A proportion has one column.

Where rows have weights, those of the lower limit of a difference may be others than those of the
upper one. A test that the difference is 0 takes the rows of the limit that is closer to 0.
"""

import numpy as np

from balframe.core.array_types import BoolArray, FloatArray
from balframe.stats.constrained_mle import WeightedBinomials, skewness_corrected_statistic
from balframe.stats.lazy_scipy import special
from balframe.stats.mean_recall import scas_limits, wider_limits
from balframe.stats.proportions import Limits, Rows, normal_quantile

PairRows = tuple[FloatArray, FloatArray, FloatArray, FloatArray]  # x and n of both segments

_ROUNDING = 1e-14  # of a mean of recalls


def mover_difference(
    p1: FloatArray,
    limits1: Limits,
    p2: FloatArray,
    limits2: Limits,
    correlation: FloatArray | float = 0,
) -> Limits:
    """Return MOVER limits of the difference p1 - p2 of two scores, from the limits of each.

    p1 - p2 - sqrt((p1 - l1)^2 + (u2 - p2)^2 - 2 r (p1 - l1)(u2 - p2)), and the upper limit in the
    same way; independent scores have the correlation r = 0.

    References
    ----------
    R. G. Newcombe, "Interval estimation for the difference between independent proportions",
    Statistics in Medicine 1998; G. Y. Zou and A. Donner, same journal, 2008.
    """
    (l1, u1), (l2, u2) = limits1, limits2
    difference = p1 - p2
    uncorrelated = np.sqrt(1 - np.square(correlation))
    half_below, half_above = (
        np.hypot(half1 - correlation * half2, uncorrelated * half2)
        for half1, half2 in ((p1 - l1, u2 - p2), (u1 - p1, p2 - l2))
    )
    return difference - half_below, difference + half_above


def difference_as_mean_recall(
    x1: FloatArray, n1: FloatArray, x2: FloatArray, n2: FloatArray, a: FloatArray
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return a mean of recalls that is (1 + d) / 2 for the difference d of independent scores.

    Its recalls are the shares of correct rows of the first segment and of wrong rows of the second.

    Parameters
    ----------
    x1, n1, x2, n2, a : float arrays, shape (pairs, labels)
        Correct rows and rows of the first and of the second segment, and the weights of the labels.

    Returns
    -------
    x, n, a : float arrays, shape (pairs, 2 labels)
    """
    x, n = np.hstack([x1, n2 - x2]), np.hstack([n1, n2])
    return x, n, np.hstack([a, a]) / 2


def scas_difference(
    x1: FloatArray,
    n1: FloatArray,
    x2: FloatArray,
    n2: FloatArray,
    a: FloatArray,
    level: float,
    upper_rows: PairRows | None = None,
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return limits of the difference of two independent scores, and the p-value of a test of 0.

    Both use the skewness-corrected score statistic of `difference_as_mean_recall`; the test
    evaluates it at 1/2. The p-value is under 1 - level exactly where the limits exclude 0, for
    levels of at least 0.7. It is 1 where nothing varies.

    Parameters
    ----------
    x1, n1, x2, n2, a : float arrays, shape (pairs, labels)
        As in `difference_as_mean_recall`.
    level : float
        Confidence level, between 0 and 1.
    upper_rows : four float arrays, optional
        x1, n1, x2 and n2 for the upper limit; by default the same. If they are given, the p-value
        is 1 where the difference is 0.

    Returns
    -------
    lower, upper, p_value : float arrays, shape (pairs,)

    References
    ----------
    P. J. Laud, "Equal-tailed confidence intervals for comparison of rates", Pharmaceutical
    Statistics 2017; here for weighted means.
    """
    x, n, a_both = difference_as_mean_recall(x1, n1, x2, n2, a)
    upper_recalls = _as_mean_recall(upper_rows, a)
    lower, upper = scas_limits(x, n, a_both, level, upper_recalls)
    if upper_recalls is not None:
        is_above, is_below = _sign(x, n, a_both)
        x, n = (
            np.where(is_below[:, None], high, low)
            for low, high in zip((x, n), upper_recalls, strict=True)
        )
    c = WeightedBinomials.of(x, n, a_both)
    z = skewness_corrected_statistic(c, *c.constrained_mle(np.full(len(lower), 0.5)))
    p = np.asarray(2 * special.ndtr(-np.abs(z)))
    if upper_recalls is not None:
        p = np.where(is_above | is_below, p, 1.0)
    return 2 * lower - 1, 2 * upper - 1, p


def _as_mean_recall(rows: PairRows | None, a: FloatArray) -> Rows | None:
    """Return x and n of `difference_as_mean_recall`."""
    return None if rows is None else difference_as_mean_recall(*rows, a)[:2]


def _sign(x: FloatArray, n: FloatArray, a: FloatArray) -> tuple[BoolArray, BoolArray]:
    """Return whether a mean of recalls (1 + d) / 2 is above, and below, 1/2."""
    excess = (a * x / n).sum(axis=1) - 0.5
    return excess > _ROUNDING, excess < -_ROUNDING


def gate_difference(
    x1: FloatArray,
    n1: FloatArray,
    x2: FloatArray,
    n2: FloatArray,
    a: FloatArray,
    level: float,
    upper_rows: PairRows | None = None,
) -> Limits:
    """Return the limits that decide about the difference of two independent scores.

    Each is the wider of the limits with the correction for skewness, as in `scas_difference`, and
    without it. Parameters as there.
    """
    z = normal_quantile(level)
    recalls = difference_as_mean_recall(x1, n1, x2, n2, a)
    lower, upper = wider_limits(*recalls, z, _as_mean_recall(upper_rows, a))
    return 2 * lower - 1, 2 * upper - 1
