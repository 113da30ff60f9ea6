"""Kuiper's test that scores are calibrated probabilities, without bins."""

import numpy as np

from balframe.core.array_types import FloatArray
from balframe.core.prefix_sums import PrefixSums
from balframe.core.probability_scores import ProbabilityScores
from balframe.core.safe_divide import ratio
from balframe.stats.lazy_scipy import special

_TERMS = np.arange(1, 13)  # enough for 16 digits of either series
_SERIES_SWITCH = 1.5  # the larger ranges use the alternating series
_SMALLEST_RANGE = 0.1  # the probability to exceed it is 1, up to 1e-200


def kuiper(p: ProbabilityScores) -> tuple[FloatArray, FloatArray]:
    """Return the range of the running sums of k - n s over ascending scores, and its p-value.

    The range, with the sum of no row in it, is divided by the number of rows. The p-value compares
    it, divided by the standard deviation sqrt(sum n s (1 - s)), with the range of a Wiener process.

    Returns
    -------
    statistic, p_value : float arrays, shape (segments,)
        NaN for a segment without rows. The p-value is NaN too if all scores are 0 or 1 and right;
        it is 0 if they are 0 or 1 and one is wrong.

    References
    ----------
    W. Feller, "The asymptotic distribution of the range of sums of independent random variables",
    Annals of Mathematical Statistics 1951; I. Arrieta-Ibarra and others, "Metrics of calibration
    for probabilistic predictions", Journal of Machine Learning Research 2022.
    """
    sum_range, deviation = p.by_blocks(_running_sum_range)
    with np.errstate(divide="ignore"):
        standardised = np.divide(
            sum_range,
            deviation,
            out=np.full(len(sum_range), np.nan),
            where=(deviation > 0) | (sum_range > 0),
        )
    return ratio(sum_range, p.n_rows), range_tail(standardised)


def _running_sum_range(p: ProbabilityScores) -> tuple[FloatArray, FloatArray]:
    """Return the range of the running sums, and their standard deviation at the end."""
    running = PrefixSums.of(p.k - p.n * p.score)
    ends = np.arange(1, len(p.score) + 1)
    sums_so_far = running.between(p.bounds[p.segment], ends)
    high = np.maximum(p.reduced(np.maximum, sums_so_far), 0)
    low = np.minimum(p.reduced(np.minimum, sums_so_far), 0)
    return high - low, np.sqrt(np.maximum(p.variance, 0))


def range_tail(x: FloatArray) -> FloatArray:
    """Return the probability that the range of a Wiener process on [0, 1] exceeds x."""
    out = np.where(np.isnan(x), np.nan, 1.0)
    large, small = (
        np.flatnonzero(x > _SERIES_SWITCH),
        np.flatnonzero((x > _SMALLEST_RANGE) & (x <= _SERIES_SWITCH)),
    )
    j = _TERMS
    alternating = j * (-1.0) ** (j - 1)
    out[large] = 8 * special.ndtr(-j * x[large, None]) @ alternating
    odd = ((2 * j - 1) * np.pi) ** 2
    squared = x[small, None] ** 2
    out[small] -= 8 * ((1 / squared + 1 / odd) * np.exp(-odd / (2 * squared))).sum(axis=1)
    return np.clip(out, 0, 1)
