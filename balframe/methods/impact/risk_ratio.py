"""Confidence limits of the ratio of two independent proportions, by its score statistic."""

import numpy as np

from balframe.core.array_types import FloatArray, Int64Array
from balframe.core.counting_strategy import blocks
from balframe.stats.proportions import Limits, normal_quantile
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


# Confidence limits of the ratio of each of many proportions to the largest of them.


_PAIRS = 2**16  # compared at a time, so that they stay in cache
_SAME = 1e-12  # limits closer than this, relatively, are the same one


def limits_of_ratio_to_largest(x: FloatArray, n: FloatArray, level: float) -> Limits:
    """Return limits of each proportion's ratio to the largest one, which is not known.

    The lower limit is the smallest lower limit of the ratios to the other proportions. The upper
    limit is the smallest of their upper limits at the level 1 - (1 - level) / (k - 1), with which
    all hold together (Bonferroni). No limit is above 1.

    Parameters
    ----------
    x, n : float arrays, shape (k,)
        Selected rows and all rows of each proportion; every n is at least 1.
    level : float
        Confidence level, between 0 and 1.

    Returns
    -------
    lower, upper : float arrays, shape (k,)
        NaN where there is only one proportion, or no row is selected.

    References
    ----------
    J. C. Hsu, "Simultaneous confidence intervals for all distances from the 'best'", Annals of
    Statistics 1981; here for ratios of proportions.
    """
    if len(n) < 2 or not (x > 0).any():
        lower, upper = np.full((2, len(n)), np.nan)
        return lower, upper
    together = 1 - (1 - level) / (len(n) - 1)
    return _smallest(x, n, normal_quantile(level)), _smallest(x, n, -normal_quantile(together))


def _smallest(x: FloatArray, n: FloatArray, z: float) -> FloatArray:
    """Find the smallest of 1 and each proportion's ratios with the statistic z to the others.

    The statistic falls as the ratio grows. So only a rival whose statistic is below z at the
    smallest ratio so far has a smaller one, and the others need no search.
    """
    smallest, rows = np.ones(len(n)), np.arange(len(n))
    while len(rows):
        parts = [rows[block] for block in blocks(slice(0, len(rows)), max(1, _PAIRS // len(n)))]
        rival = np.concatenate([_closest(x, n, part, smallest[part]) for part in parts])
        limit = ratio_at(x[rows], n[rows], x[rival], n[rival], z)
        is_smaller = limit < smallest[rows] * (1 - _SAME)
        rows, limit = rows[is_smaller], limit[is_smaller]
        smallest[rows] = limit
    return smallest


def _closest(x: FloatArray, n: FloatArray, rows: Int64Array, ratio: FloatArray) -> Int64Array:
    """Find the rivals with the smallest statistic at these ratios."""
    score = score_of_ratio(x[rows, None], n[rows, None], x, n, ratio[:, None])
    score[np.arange(len(rows)), rows] = np.inf
    return np.asarray(np.argmin(score, axis=1))
