"""Confidence limits of the ratio of two independent proportions, by its score statistic."""

import numpy as np

from balframe.core.array_types import FloatArray, Int64Array
from balframe.core.counting_strategy import blocks
from balframe.stats.proportions import Limits, normal_quantile
from balframe.stats.root_finding import increasing_root


def ratio_limit(
    x_1: FloatArray, n_1: FloatArray, x_2: FloatArray, n_2: FloatArray, z: float
) -> FloatArray:
    """Return the ratio p_1 / p_2 whose score statistic is z.

    With the normal quantile z of a level, z gives the lower confidence limit and -z the upper one.

    Parameters
    ----------
    x_one, n_one, x_other, n_other : float arrays, shape (pairs,)
        Selected rows and all rows of the two proportions; every n is at least 1.
    z : float
        Positive for a lower limit, negative for an upper limit.

    Returns
    -------
    float array, shape (pairs,)
        A lower limit is 0 where x_1 is 0. An upper limit is infinite where x_2 is 0.

    References
    ----------
    O. Miettinen and M. Nurminen, "Comparative analysis of two rates", Statistics in Medicine 1985.
    """
    pairs = (x_1, n_1, x_2, n_2)
    out = np.full(len(x_1), 0.0 if z > 0 else np.inf)
    rows = np.flatnonzero((x_1 if z > 0 else x_2) > 0)
    x, n, y, m = (values[rows] for values in pairs)

    def excess(log_ratio: FloatArray, at: Int64Array) -> FloatArray:
        """Return z less the statistic, which falls as the ratio grows."""
        return z - ratio_score_statistic(x[at], n[at], y[at], m[at], np.exp(log_ratio))

    spread = np.sqrt(1 / (x + 0.5) + 1 / (y + 0.5))
    guess = np.log((x + 0.5) / n * m / (y + 0.5)) - z * spread
    out[rows] = np.exp(increasing_root(excess, guess))
    return out


def ratio_score_statistic(
    x: FloatArray, n: FloatArray, y: FloatArray, m: FloatArray, ratio: FloatArray
) -> FloatArray:
    """Return (x / n - ratio y / m) / standard error at p_1 = ratio p_2; 0 if the variance is 0.

    The standard error is that of the p_1 and p_2 of maximum likelihood. They and 1 - p_1 and
    1 - p_2 are written as sums without cancellation, so that they are right near 0 and near 1.
    """
    selected, unselected_1, unselected_2 = x + y, n - x, m - y
    linear = selected * (1 - ratio) + unselected_2 - unselected_1 * ratio
    root = np.sqrt(linear**2 + 4 * unselected_1 * unselected_2 * ratio)
    # root - |linear|: the smaller of two sums, whose product is 4 unselected_1 unselected_2 ratio
    smaller = 4 * unselected_1 * unselected_2 * ratio / np.maximum(root + np.abs(linear), 1e-300)
    above, below = np.where(linear > 0, (root + linear, smaller), (smaller, root - linear))
    whole = selected * (1 + ratio) + unselected_2 + unselected_1 * ratio + root
    p_2 = 2 * selected / whole
    variance_1 = ratio * p_2 * (2 * unselected_1 * ratio + above) / whole / n
    variance_2 = ratio**2 * p_2 * (2 * unselected_2 + below) / whole / m
    variance = (variance_1 + variance_2) * (n + m) / (n + m - 1)
    difference = x / n - ratio * y / m
    return difference / np.sqrt(np.where(variance > 0, variance, np.inf))


# Confidence limits of the ratio of each of many proportions to the largest of them.

_BLOCK_SIZE = 2**16  # pairs that are compared at a time, so that they stay in cache
_LIMIT_TOLERANCE = 1e-12  # relative difference up to which limits are equal


def ratio_to_largest_limits(x: FloatArray, n: FloatArray, level: float) -> Limits:
    """Return limits of each proportion's ratio to the largest one, which is not known.

    The lower limit is the smallest lower limit of the ratios to the other proportions. The upper
    limit is the smallest of their upper limits at the level 1 - (1 - level) / (k - 1), with which
    their coverage is simultaneous (Bonferroni). No limit is above 1.

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
    simultaneous_level = 1 - (1 - level) / (len(n) - 1)
    return _smallest_limits(x, n, normal_quantile(level)), _smallest_limits(
        x, n, -normal_quantile(simultaneous_level)
    )


def _smallest_limits(x: FloatArray, n: FloatArray, z: float) -> FloatArray:
    """Return the smallest of 1 and each proportion's ratios with the statistic z to the others.

    The statistic falls as the ratio grows. So only a rival whose statistic is below z at the
    smallest ratio so far has a smaller one, and the others need no search.
    """
    smallest, rows = np.ones(len(n)), np.arange(len(n))
    while len(rows):
        parts = [
            rows[block] for block in blocks(slice(0, len(rows)), max(1, _BLOCK_SIZE // len(n)))
        ]
        rival = np.concatenate([_closest_rivals(x, n, part, smallest[part]) for part in parts])
        limit = ratio_limit(x[rows], n[rows], x[rival], n[rival], z)
        is_smaller = limit < smallest[rows] * (1 - _LIMIT_TOLERANCE)
        rows, limit = rows[is_smaller], limit[is_smaller]
        smallest[rows] = limit
    return smallest


def _closest_rivals(
    x: FloatArray, n: FloatArray, rows: Int64Array, ratio: FloatArray
) -> Int64Array:
    """Return the rivals with the smallest statistic at these ratios."""
    score = ratio_score_statistic(x[rows, None], n[rows, None], x, n, ratio[:, None])
    score[np.arange(len(rows)), rows] = np.inf
    return np.asarray(np.argmin(score, axis=1))
