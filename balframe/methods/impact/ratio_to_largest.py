"""The ratio of each of many proportions to the largest of them: limits and a test."""

from dataclasses import dataclass

import numpy as np

from balframe.core.array_types import FloatArray, Int64Array
from balframe.core.counting_strategy import blocks
from balframe.stats.lazy_scipy import special
from balframe.stats.proportions import normal_quantile
from balframe.stats.risk_ratio import ratio_limit, ratio_statistic

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
