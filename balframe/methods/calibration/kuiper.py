"""Kuiper's test that scores are calibrated probabilities, without bins."""

import numpy as np

from balframe.core.array_types import FloatArray
from balframe.core.prefix_sums import PrefixSums
from balframe.core.probability_scores import ProbabilityScores
from balframe.core.safe_divide import ratio
from balframe.methods.calibration.logistic_fit import fit_offset
from balframe.methods.calibration.saddlepoint import log_tail, tilted_moments
from balframe.stats.lazy_scipy import special

_TERMS = np.arange(1, 13)  # enough for 16 digits of either series
_SERIES_SWITCH = 1.5  # the larger ranges use the alternating series
_SKEWNESS_FROM = 2.0  # standard deviations, from where on the skewness of the total matters
_SMALLEST_RANGE = 0.1  # the probability to exceed it is 1, up to 1e-200


def kuiper(p: ProbabilityScores) -> tuple[FloatArray, FloatArray]:
    """Return the range of the running sums of k - n s over ascending scores, and its p-value.

    The range, with the sum of no row in it, is divided by the number of rows. The p-value compares
    it, divided by the standard deviation sqrt(sum n s (1 - s)), with the range of a Wiener process.
    For more than 2 standard deviations, the leading terms of that are tails of the total, which are
    replaced by those of the sum of the outcomes: its skewness matters there.

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
    sum_range, p_value = p.by_blocks(_kuiper_block)
    return ratio(sum_range, p.n_rows), p_value


def _kuiper_block(p: ProbabilityScores) -> tuple[FloatArray, FloatArray]:
    """Return the range of the running sums, and its p-value."""
    sum_range, deviation = _running_sum_range(p)
    with np.errstate(divide="ignore"):
        standardised = np.divide(
            sum_range,
            deviation,
            out=np.full(len(sum_range), np.nan),
            where=(deviation > 0) | (sum_range > 0),
        )
    p_value = range_tail(standardised)
    is_large = (standardised > _SKEWNESS_FROM) & (deviation > 0)
    if is_large.any():
        large = p.of_segments(is_large).uncertain
        p_value[is_large] = _skewed_tail(large, sum_range[is_large], standardised[is_large])
    return sum_range, p_value


def _skewed_tail(p: ProbabilityScores, sum_range: FloatArray, x: FloatArray) -> FloatArray:
    """Return the probability that the range of the running sums is larger.

    The terms of `range_tail` are reflections of the total at multiples of x. The first is
    8 Phi(-x) = 4 Phi(-x) + 4 Phi(-x): the total is above E + R, or below E - R.
    """
    above = _total_beyond(p, p.expected + sum_range, 1)
    below = _total_beyond(p, p.expected - sum_range, -1)
    reflections = -16 * special.ndtr(-2 * x) + 24 * special.ndtr(-3 * x)
    return np.clip(4 * (above + below) + reflections, 0, 1)


def _total_beyond(p: ProbabilityScores, total: FloatArray, sign: int) -> FloatArray:
    """Return the probability of more positive rows than a total above E, or fewer than one below.

    By the saddlepoint approximation for a continuous total.
    """
    is_possible = (total > 0) & (total < p.n_rows)
    possible, total = p.of_segments(is_possible), total[is_possible]
    t = fit_offset(possible, total, np.full(len(total), fill_value=True))
    cumulant, variance = tilted_moments(possible, t)
    w = np.sqrt(2 * np.maximum(t * total - cumulant, 0))
    out = np.zeros(p.n_segments)
    usable = (w > 0) & (sign * t > 0)
    with np.errstate(divide="ignore", invalid="ignore"):
        tail = np.exp(log_tail(w, np.abs(t) * np.sqrt(variance)))
    out[is_possible] = np.where(usable, tail, 0.5)
    return out


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
