"""Confidence limits of the ratio of each of many proportions to the largest of them."""

import numpy as np

from balframe.core.array_types import FloatArray, Int64Array
from balframe.core.counting_strategy import blocks
from balframe.methods.impact.risk_ratio import ratio_at, score_of_ratio
from balframe.stats.proportions import Limits, normal_quantile

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
