"""Kuiper's test that scores are the probabilities they say, without bins."""

import numpy as np

from balframe.core.array_types import FloatArray
from balframe.core.prefix_sums import RunningSums
from balframe.core.probability_scores import Probabilities
from balframe.core.safe_divide import ratio
from balframe.stats.lazy_scipy import special

_TERMS = np.arange(1, 13)  # enough for 16 digits of either series
_CHANGE = 1.5  # between the two series
_SURE = 0.1  # a range that is exceeded for sure, up to 1e-200


def kuiper(p: Probabilities) -> tuple[FloatArray, FloatArray]:
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
    reach, spread = p.by_blocks(_range)
    with np.errstate(divide="ignore"):
        standardised = np.divide(
            reach, spread, out=np.full(len(reach), np.nan), where=(spread > 0) | (reach > 0)
        )
    return ratio(reach, p.n_rows), range_tail(standardised)


def _range(p: Probabilities) -> tuple[FloatArray, FloatArray]:
    """Find the range of the running sums, and their standard deviation at the end."""
    sums = RunningSums.of(p.k - p.n * p.score)
    ends = np.arange(1, len(p.score) + 1)
    reached = sums.between(p.bounds[p.segment], ends)
    high = np.maximum(p.reduced(np.maximum, reached), 0)
    low = np.minimum(p.reduced(np.minimum, reached), 0)
    return high - low, np.sqrt(np.maximum(p.variance, 0))


def range_tail(x: FloatArray) -> FloatArray:
    """Find how likely the range of a Wiener process on [0, 1] exceeds x."""
    out = np.where(np.isnan(x), np.nan, 1.0)
    far, near = np.flatnonzero(x > _CHANGE), np.flatnonzero((x > _SURE) & (x <= _CHANGE))
    j = _TERMS
    alternating = j * (-1.0) ** (j - 1)
    out[far] = 8 * special.ndtr(-j * x[far, None]) @ alternating
    odd = ((2 * j - 1) * np.pi) ** 2
    squared = x[near, None] ** 2
    out[near] -= 8 * ((1 / squared + 1 / odd) * np.exp(-odd / (2 * squared))).sum(axis=1)
    return np.clip(out, 0, 1)
