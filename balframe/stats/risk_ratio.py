"""The ratio of proportions: limits and a test by its score statistic, corrected for skewness."""

from collections.abc import Callable

import numpy as np

from balframe.core.array_types import FloatArray, Int64Array
from balframe.stats.constrained_mle import correct_for_skewness
from balframe.stats.proportions import Limits, Rows
from balframe.stats.root_finding import increasing_root

RatioStatistic = Callable[[FloatArray, FloatArray, FloatArray, FloatArray, FloatArray], FloatArray]


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
    return correct_for_skewness(*_score_and_skewness(x_1, n_1, x_2, n_2, ratio))


def uncorrected_ratio_statistic(
    x_1: FloatArray, n_1: FloatArray, x_2: FloatArray, n_2: FloatArray, ratio: FloatArray
) -> FloatArray:
    """Return T of `ratio_statistic`, which is not bounded."""
    return _score_and_skewness(x_1, n_1, x_2, n_2, ratio)[0]


def _score_and_skewness(
    x_1: FloatArray, n_1: FloatArray, x_2: FloatArray, n_2: FloatArray, ratio: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """Return T and k3 / V^1.5."""
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
    return (x_1 / n_1 - ratio * x_2 / n_2) / error, third / error**3


def ratio_limit(
    x_1: FloatArray,
    n_1: FloatArray,
    x_2: FloatArray,
    n_2: FloatArray,
    z: FloatArray | float,
    *,
    largest: FloatArray | float = 1.0,
    statistic: RatioStatistic = ratio_statistic,
) -> FloatArray:
    """Return the ratio p_1 / p_2 whose statistic is z, at most the largest one.

    With the normal quantile z of a level, z gives the lower confidence limit and -z the upper one.

    Parameters
    ----------
    x_1, n_1, x_2, n_2 : float arrays, shape (pairs,)
        Selected rows and all rows of the two proportions; every n is at least 1.
    z : float, or float array of the shape (pairs,)
        Positive for a lower limit, negative for an upper limit.
    largest : float array, shape (pairs,), default 1
        Limits above it are not searched; above 0 and at most 1.
    statistic : function, default ratio_statistic
        That of the test, or `uncorrected_ratio_statistic`.

    Returns
    -------
    float array, shape (pairs,)
        A lower limit is 0 where the statistic, which is bounded, is below z everywhere.
    """
    largest, z = np.broadcast_to(largest, x_1.shape), np.broadcast_to(z, x_1.shape)
    is_below = statistic(x_1, n_1, x_2, n_2, largest) < z
    is_reached = x_1 > 0
    if statistic is ratio_statistic:
        is_reached = z < np.sqrt(1 + 6 * x_1 * (n_1 + n_2) / (n_1 + n_2 - 1))
    limit = np.where(is_below, 0.0, largest)
    rows = np.flatnonzero(is_below & is_reached)
    x, n, y, m, quantile = (values[rows] for values in (x_1, n_1, x_2, n_2, z))

    def excess(log_ratio: FloatArray, at: Int64Array) -> FloatArray:
        """Return its quantile less the statistic, which falls as the ratio grows."""
        return quantile[at] - statistic(x[at], n[at], y[at], m[at], np.exp(log_ratio))

    spread = np.sqrt(1 / (x + 0.5) + 1 / (y + 0.5))
    guess = np.log((x + 0.5) / n * m / (y + 0.5)) - quantile * spread
    root = increasing_root(excess, guess, below=np.log(largest[rows]))
    limit[rows] = np.minimum(np.exp(root), largest[rows])
    return limit


def risk_ratio_limits(
    first: Rows, second: Rows, upper_rows: tuple[Rows, Rows], z: float, *, wider: bool = False
) -> Limits:
    """Return the limits of the ratio of two proportions, of any size.

    Parameters
    ----------
    first, second : two float arrays, shape (pairs,)
        Selected rows and all rows of the proportion above and of the one below, for the lower
        limit.
    upper_rows : two pairs of float arrays
        The same for the upper limit.
    z : float
        Normal quantile, above 0.
    wider : bool, default False
        Whether to return the wider of these limits and those without the correction for skewness.

    Returns
    -------
    lower, upper : float arrays, shape (pairs,)
        The upper limit is infinite where the statistic is above -z for all ratios.
    """
    upper_first, upper_second = upper_rows
    # one over an upper limit is the lower one of the inverse ratio
    above, below = (np.hstack(rows) for rows in ((first, upper_second), (second, upper_first)))
    statistics: list[RatioStatistic] = [ratio_statistic]
    if wider:
        statistics.append(uncorrected_ratio_statistic)
    limits = [_lower_limit((*above, *below), z, statistic) for statistic in statistics]
    lower, inverse = np.split(np.min(limits, axis=0), 2)
    with np.errstate(divide="ignore"):
        return lower, 1 / inverse


def _lower_limit(
    rows: tuple[FloatArray, FloatArray, FloatArray, FloatArray],
    z: float,
    statistic: RatioStatistic,
) -> FloatArray:
    """Return the lower limit of a ratio; above 1 it is one over the upper limit of 1 / ratio."""
    is_above = statistic(*rows, np.ones(len(rows[0]))) >= z
    x_1, n_1, x_2, n_2 = np.where(is_above, (*rows[2:], *rows[:2]), rows)
    limit = ratio_limit(x_1, n_1, x_2, n_2, np.where(is_above, -z, z), statistic=statistic)
    with np.errstate(divide="ignore"):
        return np.where(is_above, 1 / limit, limit)
