"""The ratio of proportions: limits and a test by its score statistic, corrected for skewness."""

import numpy as np

from balframe.core.array_types import FloatArray, Int64Array
from balframe.stats.constrained_mle import correct_for_skewness
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
    z: FloatArray | float,
    *,
    largest: FloatArray | float = 1.0,
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

    Returns
    -------
    float array, shape (pairs,)
        A lower limit is 0 where the statistic, which is bounded, is below z everywhere.
    """
    largest, z = np.broadcast_to(largest, x_1.shape), np.broadcast_to(z, x_1.shape)
    is_below = ratio_statistic(x_1, n_1, x_2, n_2, largest) < z
    is_reached = z < np.sqrt(1 + 6 * x_1 * (n_1 + n_2) / (n_1 + n_2 - 1))
    limit = np.where(is_below, 0.0, largest)
    rows = np.flatnonzero(is_below & is_reached)
    x, n, y, m, quantile = (values[rows] for values in (x_1, n_1, x_2, n_2, z))

    def excess(log_ratio: FloatArray, at: Int64Array) -> FloatArray:
        """Return its quantile less the statistic, which falls as the ratio grows."""
        return quantile[at] - ratio_statistic(x[at], n[at], y[at], m[at], np.exp(log_ratio))

    spread = np.sqrt(1 / (x + 0.5) + 1 / (y + 0.5))
    guess = np.log((x + 0.5) / n * m / (y + 0.5)) - quantile * spread
    root = increasing_root(excess, guess, below=np.log(largest[rows]))
    limit[rows] = np.minimum(np.exp(root), largest[rows])
    return limit
