"""The ratio of proportions: limits and a test by its score statistic, corrected for skewness."""

from dataclasses import dataclass

import numpy as np

from balframe.core.array_types import FloatArray, Int64Array
from balframe.core.counting_strategy import blocks
from balframe.stats.constrained_mle import correct_for_skewness
from balframe.stats.lazy_scipy import special
from balframe.stats.proportions import normal_quantile
from balframe.stats.root_finding import increasing_root


def ratio_statistic(
    x_1: FloatArray, n_1: FloatArray, x_2: FloatArray, n_2: FloatArray, ratio: FloatArray
) -> FloatArray:
    """Return the statistic of the test that p_1 / p_2 is a ratio; 0 where nothing varies.

    It is the root z of T = z + A (z^2 - 1), with T = (x_1 / n_1 - ratio x_2 / n_2) / sqrt(V) and
    A = k3 / (6 V^1.5). V is the variance and k3 the third central moment of the numerator at the
    p_1 = ratio p_2 and p_2 of maximum likelihood; V has the factor n / (n - 1), n = n_1 + n_2. The
    statistic falls as the ratio grows up to 1 wherever it is 1 or more, or -1 or less. It is below
    sqrt(1 + 6 x_1 n / (n - 1)). At a ratio of 1, it is that of the test that p_1 and p_2 are equal.

    Parameters
    ----------
    x_1, n_1, x_2, n_2, ratio : float arrays
        Selected rows and all rows of the two proportions, every n at least 1; ratios above 0. They
        are broadcast against each other.

    References
    ----------
    J. J. Gart and J. Nam, "Approximate interval estimation of the ratio of binomial parameters: a
    review and corrections for skewness", Biometrics 1988; with the n / (n - 1) of O. Miettinen and
    M. Nurminen, "Comparative analysis of two rates", Statistics in Medicine 1985.
    """
    # p and 1 - p are sums without cancellation, so that they are right near 0 and near 1
    selected, unselected_1, unselected_2 = x_1 + x_2, n_1 - x_1, n_2 - x_2
    linear = selected * (1 - ratio) + unselected_2 - unselected_1 * ratio
    product = 4 * unselected_1 * unselected_2 * ratio
    root = np.sqrt(linear**2 + product)
    # root - |linear|: the smaller of two sums, whose product is `product`
    smaller = product / np.maximum(root + np.abs(linear), 1e-300)
    above, below = np.where(linear > 0, (root + linear, smaller), (smaller, root - linear))
    whole = selected * (1 + ratio) + unselected_2 + unselected_1 * ratio + root
    p_2, q_2 = 2 * selected / whole, (2 * unselected_2 + below) / whole
    p_1, q_1 = ratio * p_2, (2 * unselected_1 * ratio + above) / whole
    variance_1, variance_2 = p_1 * q_1 / n_1, ratio**2 * p_2 * q_2 / n_2
    variance = (variance_1 + variance_2) * (n_1 + n_2) / (n_1 + n_2 - 1)
    error = np.sqrt(np.where(variance > 0, variance, np.inf))
    third = variance_1 * (q_1 - p_1) / n_1 - ratio * variance_2 * (q_2 - p_2) / n_2
    return correct_for_skewness((x_1 / n_1 - ratio * x_2 / n_2) / error, third / error**3)


def ratio_limit(
    x_1: FloatArray,
    n_1: FloatArray,
    x_2: FloatArray,
    n_2: FloatArray,
    z: float,
    *,
    largest: FloatArray | float = 1.0,
) -> FloatArray:
    """Return the ratio p_1 / p_2 whose statistic is z, at most the largest one.

    With the normal quantile z of a level, z gives the lower confidence limit and -z the upper one.

    Parameters
    ----------
    x_1, n_1, x_2, n_2 : float arrays, shape (pairs,)
        Selected rows and all rows of the two proportions; every n is at least 1.
    z : float
        Positive for a lower limit, negative for an upper limit.
    largest : float array, shape (pairs,), default 1
        Limits above it are not searched; above 0 and at most 1.

    Returns
    -------
    float array, shape (pairs,)
        A lower limit is 0 where the statistic, which is bounded, is below z everywhere.
    """
    largest = np.broadcast_to(largest, x_1.shape)
    is_below = ratio_statistic(x_1, n_1, x_2, n_2, largest) < z
    is_reached = z < np.sqrt(1 + 6 * x_1 * (n_1 + n_2) / (n_1 + n_2 - 1))
    limit = np.where(is_below, 0.0, largest)
    rows = np.flatnonzero(is_below & is_reached)
    x, n, y, m = (values[rows] for values in (x_1, n_1, x_2, n_2))

    def excess(log_ratio: FloatArray, at: Int64Array) -> FloatArray:
        """Return z less the statistic, which falls as the ratio grows."""
        return z - ratio_statistic(x[at], n[at], y[at], m[at], np.exp(log_ratio))

    spread = np.sqrt(1 / (x + 0.5) + 1 / (y + 0.5))
    guess = np.log((x + 0.5) / n * m / (y + 0.5)) - z * spread
    root = increasing_root(excess, guess, below=np.log(largest[rows]))
    limit[rows] = np.minimum(np.exp(root), largest[rows])
    return limit


# The ratio of each of many proportions to the largest of them.

_BLOCK_SIZE = 2**16  # pairs that are compared at a time, so that they stay in cache
_LIMIT_TOLERANCE = 1e-12  # relative difference up to which limits are equal


@dataclass(frozen=True, slots=True)
class RatiosToLargest:
    """Limits and p-values of the ratio of each proportion to the largest one; shape (k,)."""

    lower: FloatArray
    upper: FloatArray
    p_value: FloatArray


def ratios_to_largest(x: FloatArray, n: FloatArray, level: float) -> RatiosToLargest:
    """Return limits of each proportion's ratio to the largest one, which is not known, and a test.

    The lower limit is the smallest lower limit of the ratios to the other proportions. The upper
    limit is the smallest of their upper limits at the level 1 - (1 - level) / (k - 1), with which
    their coverage is simultaneous (Bonferroni). No limit is above 1. The p-value is that of the
    two-sided test that the proportion is equal to the largest one. It is 2 (k - 1) times the
    smallest of the one-sided p-values that another proportion is not larger, and at most 1. It is
    at most 1 - level exactly where the upper limit is below 1.

    Parameters
    ----------
    x, n : float arrays, shape (k,)
        Selected rows and all rows of each proportion; every n is at least 1.
    level : float
        Confidence level, between 0 and 1.

    Returns
    -------
    RatiosToLargest
        NaN where there is only one proportion, or no row is selected.

    References
    ----------
    J. C. Hsu, "Simultaneous confidence intervals for all distances from the 'best'", Annals of
    Statistics 1981; here for ratios of proportions, with the limits of J. J. Gart and J. Nam,
    "Approximate interval estimation of the ratio of binomial parameters: a review and corrections
    for skewness", Biometrics 1988.
    """
    k = len(n)
    if k < 2 or not (x > 0).any():
        return RatiosToLargest(*np.full((3, k), np.nan))
    rival, statistic = _closest_rivals(x, n, np.arange(k), np.ones(k))
    simultaneous_level = 1 - (1 - level) / (k - 1)
    lower, upper = (
        _smallest_limits(x, n, z, rival, statistic)
        for z in (normal_quantile(level), -normal_quantile(simultaneous_level))
    )
    observed = x / n / (x / n).max()
    return RatiosToLargest(
        np.minimum(lower, observed),
        np.maximum(upper, observed),
        np.minimum(2 * (k - 1) * special.ndtr(statistic), 1),
    )


def _smallest_limits(
    x: FloatArray, n: FloatArray, z: float, rival: Int64Array, statistic: FloatArray
) -> FloatArray:
    """Return the smallest of 1 and each proportion's ratios with the statistic z to the others.

    `rival` and `statistic` are the rivals with the smallest statistic at a ratio of 1. The
    statistic falls as the ratio grows. So only a rival whose statistic is below z at the smallest
    ratio so far has a smaller one, and the others need no search.
    """
    smallest, rows = np.ones(len(n)), np.arange(len(n))
    while (is_below := statistic < z).any():
        rows, rival = rows[is_below], rival[is_below]
        before = smallest[rows]
        limit = ratio_limit(x[rows], n[rows], x[rival], n[rival], z, largest=before)
        smallest[rows] = limit
        rows = rows[(limit > 0) & (limit < before * (1 - _LIMIT_TOLERANCE))]
        rival, statistic = _closest_rivals(x, n, rows, smallest[rows])
    return smallest


def _closest_rivals(
    x: FloatArray, n: FloatArray, rows: Int64Array, ratio: FloatArray
) -> tuple[Int64Array, FloatArray]:
    """Return the rivals with the smallest statistic at these ratios, and this statistic."""
    rival, statistic = np.zeros(len(rows), np.int64), np.zeros(len(rows))
    for part in blocks(slice(0, len(rows)), max(1, _BLOCK_SIZE // len(n))):
        own = rows[part]
        score = ratio_statistic(x[own, None], n[own, None], x, n, ratio[part, None])
        score[np.arange(len(own)), own] = np.inf
        rival[part] = np.argmin(score, axis=1)
        statistic[part] = score[np.arange(len(own)), rival[part]]
    return rival, statistic
