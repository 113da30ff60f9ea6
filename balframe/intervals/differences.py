"""Differences of two scores: their confidence limits, and tests that the scores are equal.

Both scores are means of recalls, theta = sum_k a_k p_k with the same weights; the arrays have one
row for each pair of segments and one column for each label. A proportion has one column.
"""

import numpy as np

from balframe.core.arrays import FloatArray
from balframe.intervals.later import special
from balframe.intervals.mid_p import mid_p_value
from balframe.intervals.proportions import Limits, normal_quantile

LEAST_FOR_Z = 30  # rows of every label in both segments from which the normal test holds


def mover_difference(
    one: FloatArray, of_one: Limits, other: FloatArray, of_other: Limits
) -> Limits:
    """Recover the variances of a difference of independent scores from the limits of each.

    d - sqrt((p_1 - l_1)^2 + (u_2 - p_2)^2) and d + sqrt((u_1 - p_1)^2 + (p_2 - l_2)^2).

    References
    ----------
    R. G. Newcombe, "Interval estimation for the difference between independent proportions",
    Statistics in Medicine 1998; G. Y. Zou and A. Donner, same journal, 2008.
    """
    (low_one, high_one), (low_other, high_other) = of_one, of_other
    difference = one - other
    return (
        difference - np.hypot(one - low_one, high_other - other),
        difference + np.hypot(high_one - one, other - low_other),
    )


def p_value(
    x_one: FloatArray, n_one: FloatArray, x_other: FloatArray, n_other: FloatArray, a: FloatArray
) -> FloatArray:
    """Test that the recalls of two independent segments are equal, two-sided.

    z = d / sqrt(sum_k a_k^2 P_k (1 - P_k) (1/n_1k + 1/n_2k)) with pooled recalls P_k; and where
    one of the supports is under 30, the mid-p value of the difference of binomials with these
    recalls. Where nothing varies, all being right or all wrong, it is 1.
    """
    pooled = (x_one + x_other) / (n_one + n_other)
    variance = (a * a * pooled * (1 - pooled) * (1 / n_one + 1 / n_other)).sum(axis=1)
    difference = (a * (x_one / n_one - x_other / n_other)).sum(axis=1)
    z = np.abs(difference) / np.sqrt(np.where(variance > 0, variance, np.inf))
    p = 2 * special.ndtr(-z)
    few = np.flatnonzero(np.minimum(n_one, n_other).min(axis=1) < LEAST_FOR_Z)
    if len(few):
        is_less = (difference[few] < 0)[:, None]  # so that the order of the sides does not matter
        higher, lower = (
            np.where(is_less, *pair)
            for pair in ((n_other[few], n_one[few]), (n_one[few], n_other[few]))
        )
        p[few] = mid_p_value(
            np.abs(difference[few]),
            np.hstack([higher, lower]),
            np.tile(pooled[few], 2),
            np.hstack([a[few], -a[few]]),
        )
    return np.asarray(p, np.float64)


def paired_limits(
    only_one: FloatArray, only_other: FloatArray, n: FloatArray, a: FloatArray, level: float
) -> Limits:
    """Find limits of a difference of two scores on the same rows.

    The limits of each label's difference of recalls are adjusted Wald ones: with b of n rows that
    only the first gets right and c that only the second does, 1 is added to b and to c and 2 to n.
    They are combined as those of independent scores are (MOVER).

    Parameters
    ----------
    only_one, only_other, n, a : float arrays, shape (segments, labels)
        Rows of the label that only the first, and only the second, of two classifiers gets right;
        all its rows; and the weights of the labels.
    level : float
        Confidence level, between 0 and 1.

    References
    ----------
    D. G. Bonett and R. M. Price, "Adjusted Wald confidence interval for a difference of binomial
    proportions based on paired data", Journal of Educational and Behavioral Statistics 2012; G. Y.
    Zou and A. Donner, Statistics in Medicine 2008.
    """
    observed = (only_one - only_other) / n
    centre = (only_one - only_other) / (n + 2)
    discordant = (only_one + only_other + 2) / (n + 2)
    half = normal_quantile(level) * np.sqrt((discordant - centre**2) / (n + 2))
    below = np.maximum(observed - (centre - half), 0)
    above = np.maximum(centre + half - observed, 0)
    difference = (a * observed).sum(axis=1)
    return (
        difference - np.sqrt((a * a * below**2).sum(axis=1)),
        difference + np.sqrt((a * a * above**2).sum(axis=1)),
    )


def mcnemar(only_one: FloatArray, only_other: FloatArray) -> FloatArray:
    """Test exactly that two classifiers are right on equally many of the same rows, two-sided.

    References
    ----------
    Q. McNemar, "Note on the sampling error of the difference between correlated proportions or
    percentages", Psychometrika 1947; the exact form is the sign test of the discordant rows.
    """
    fewer, discordant = np.minimum(only_one, only_other), only_one + only_other
    more = np.maximum(discordant - fewer, np.finfo(np.float64).tiny)
    return np.minimum(1.0, 2 * special.betainc(more, fewer + 1, 0.5))
