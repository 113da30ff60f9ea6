"""Confidence limits of the ratio of two independent proportions, by its score statistic."""

import numpy as np

from balframe.core.array_types import FloatArray, Int64Array
from balframe.stats.root_finding import increasing_root


def ratio_at(
    x_one: FloatArray, n_one: FloatArray, x_other: FloatArray, n_other: FloatArray, z: float
) -> FloatArray:
    """Return the ratio p_1 / p_2 whose score statistic is z.

    With the normal quantile z of a level, z gives the lower confidence limit and -z the upper one.

    Parameters
    ----------
    x_one, n_one, x_other, n_other : float arrays, shape (pairs,)
        Selected rows and all rows of either side; every n is at least 1.
    z : float
        Positive for a lower limit, negative for an upper limit.

    Returns
    -------
    float array, shape (pairs,)
        A lower limit is 0 where side 1 has no selected row. An upper limit is infinite where side 2
        has none.

    References
    ----------
    O. Miettinen and M. Nurminen, "Comparative analysis of two rates", Statistics in Medicine 1985.
    """
    pairs = (x_one, n_one, x_other, n_other)
    out = np.full(len(x_one), 0.0 if z > 0 else np.inf)
    rows = np.flatnonzero((x_one if z > 0 else x_other) > 0)
    x, n, y, m = (values[rows] for values in pairs)

    def excess(log: FloatArray, at: Int64Array) -> FloatArray:
        """Return z less the statistic, which falls as the ratio grows."""
        return z - score_of_ratio(x[at], n[at], y[at], m[at], np.exp(log))

    spread = np.sqrt(1 / (x + 0.5) + 1 / (y + 0.5))
    guess = np.log((x + 0.5) / n * m / (y + 0.5)) - z * spread
    out[rows] = np.exp(increasing_root(excess, guess))
    return out


def score_of_ratio(
    x: FloatArray, n: FloatArray, y: FloatArray, m: FloatArray, ratio: FloatArray
) -> FloatArray:
    """Divide x / n - ratio y / m by its standard error where p_1 = ratio p_2; 0 if nothing varies.

    The standard error is that of the p_1 and p_2 of maximum likelihood. They and 1 - p_1 and
    1 - p_2 are written as sums without cancellation, so that they are right near 0 and near 1.
    """
    selected, unselected, of_other = x + y, n - x, m - y
    linear = selected * (1 - ratio) + of_other - unselected * ratio
    root = np.sqrt(linear**2 + 4 * unselected * of_other * ratio)
    # root - |linear|: the smaller of two sums, whose product is 4 unselected of_other ratio
    rest = 4 * unselected * of_other * ratio / np.maximum(root + np.abs(linear), 1e-300)
    above, below = np.where(linear > 0, (root + linear, rest), (rest, root - linear))
    whole = selected * (1 + ratio) + of_other + unselected * ratio + root
    p_two = 2 * selected / whole
    spread_one = ratio * p_two * (2 * unselected * ratio + above) / whole / n
    spread_two = ratio**2 * p_two * (2 * of_other + below) / whole / m
    variance = (spread_one + spread_two) * (n + m) / (n + m - 1)
    difference = x / n - ratio * y / m
    return difference / np.sqrt(np.where(variance > 0, variance, np.inf))
