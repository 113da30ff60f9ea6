"""Differences of two scores: their confidence limits, and tests that the scores are equal.

Both scores are means of recalls, theta = sum_k a_k p_k with the same weights; the arrays have one
row for each pair of segments and one column for each label. A proportion has one column.
"""

import numpy as np

from balframe.core.array_types import FloatArray
from balframe.stats.constrained_mle import Segments, corrected
from balframe.stats.lazy_scipy import special
from balframe.stats.mean_recall import scas, wider
from balframe.stats.proportions import Limits


def mover_difference(
    one: FloatArray,
    of_one: Limits,
    other: FloatArray,
    of_other: Limits,
    correlation: FloatArray | float = 0,
) -> Limits:
    """Recover the variances of a difference of scores from the limits of each.

    d - sqrt((p_1 - l_1)^2 + (u_2 - p_2)^2 - 2 r (p_1 - l_1)(u_2 - p_2)), and the upper limit in the
    same way; independent scores have the correlation r = 0.

    References
    ----------
    R. G. Newcombe, "Interval estimation for the difference between independent proportions",
    Statistics in Medicine 1998; G. Y. Zou and A. Donner, same journal, 2008.
    """
    (low_one, high_one), (low_other, high_other) = of_one, of_other
    difference = one - other
    below, above = (one - low_one, high_other - other), (high_one - one, other - low_other)
    apart = np.sqrt(1 - np.square(correlation))
    half_below, half_above = (
        np.hypot(own - correlation * of_other, apart * of_other) for own, of_other in (below, above)
    )
    return difference - half_below, difference + half_above


def stacked(
    x_one: FloatArray, n_one: FloatArray, x_other: FloatArray, n_other: FloatArray, a: FloatArray
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Write half of 1 + a difference of independent scores as a mean of recalls.

    They are those of the correct rows of one segment and the wrong rows of the other.

    Parameters
    ----------
    x_one, n_one, x_other, n_other, a : float arrays, shape (pairs, labels)
        Correct rows and rows of either segment, and the weights of the labels.

    Returns
    -------
    x, n, a : float arrays, shape (pairs, 2 labels)
    """
    x, n = np.hstack([x_one, n_other - x_other]), np.hstack([n_one, n_other])
    return x, n, np.hstack([a, a]) / 2


def scas_difference(
    x_one: FloatArray,
    n_one: FloatArray,
    x_other: FloatArray,
    n_other: FloatArray,
    a: FloatArray,
    level: float,
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return limits of the difference of two independent scores, and the p-value that it is 0.

    They are the skewness-corrected score limits of `stacked` recalls, and the same statistic at
    1/2. The p-value is under 1 - level exactly where the limits exclude 0, for levels from 0.7 on.
    It is 1 where nothing varies.

    Parameters
    ----------
    x_one, n_one, x_other, n_other, a : float arrays, shape (pairs, labels)
        As in `stacked`.
    level : float
        Confidence level, between 0 and 1.

    Returns
    -------
    lower, upper, p_value : float arrays, shape (pairs,)

    References
    ----------
    P. J. Laud, "Equal-tailed confidence intervals for comparison of rates", Pharmaceutical
    Statistics 2017; the weighted means are ours.
    """
    recalls = stacked(x_one, n_one, x_other, n_other, a)
    lower, upper = scas(*recalls, level)
    segments = Segments.of(*recalls)
    z = corrected(segments, *segments.held_at(np.full(len(lower), 0.5)))
    return 2 * lower - 1, 2 * upper - 1, np.asarray(2 * special.ndtr(-np.abs(z)))


def gate_difference(
    x_one: FloatArray,
    n_one: FloatArray,
    x_other: FloatArray,
    n_other: FloatArray,
    a: FloatArray,
    level: float,
) -> Limits:
    """Return the limits that decide about the difference of two independent scores.

    The wider, limit by limit, of those of `scas_difference` and those without the correction for
    skewness. Parameters as there.
    """
    lower, upper = wider(*stacked(x_one, n_one, x_other, n_other, a), level)
    return 2 * lower - 1, 2 * upper - 1
