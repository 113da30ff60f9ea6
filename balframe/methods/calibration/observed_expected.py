"""Confidence limits of the intercept, and of the ratio of observed to expected positive rows (O/E).

The true odds are e^a times those of the scores. M(a), V(a) and k3(a) are the first three cumulants
of the number of positive rows then. Limits of a are limits of O/E: M(a) / E.
"""

import numpy as np

from balframe.core.array_types import BoolArray, FloatArray, Int64Array
from balframe.core.probability_scores import ProbabilityScores
from balframe.core.safe_divide import ratio
from balframe.methods.calibration.slope_limits import (
    excess_and_variance,
    offset_root,
    shifted_chances,
    starting_offset,
)
from balframe.stats.constrained_mle import correct_for_skewness
from balframe.stats.lazy_scipy import special
from balframe.stats.proportions import Limits, normal_quantile

_LARGE_ERROR = 1.0  # standard error of an intercept, from which Wald limits are not a first guess
_SMALLEST_VARIANCE = 1e-200


def intercept_limits(p: ProbabilityScores, intercept: FloatArray, level: float) -> Limits:
    """Return the limits of the intercept: where the skewness-corrected score statistic is z.

    The statistic is (O - M(a)) / sqrt(f V(a)), and its skewness k3(a) / (f V(a))^1.5. The factor f
    of the variance is for scores whose slope is not 1. It is sum (y - p)^2 / V at the intercept:
    residuals have the variance plus the squared misfit. It is at least 1, and at most what equal
    chances of all rows would give, O (N - O) / (N V). Where all scores are equal, limits are those
    of `"scas"` for a proportion.

    Returns
    -------
    lower, upper : float arrays, shape (segments,)
        NaN where the statistic does not reach z: the lower limit if no row is positive, the upper
        one if none is negative, and both without scores between 0 and 1.
    """
    z = normal_quantile(level)
    observed, total = p.n_positive.astype(np.float64), p.n_rows.astype(np.float64)
    variance, squares = _variance_and_squares(p, intercept)
    largest = ratio(observed * (total - observed), total * variance)
    factor = np.maximum(np.minimum(ratio(squares, variance), largest), 1)
    factor = np.where(np.isfinite(factor), factor, 1)
    with np.errstate(divide="ignore"):
        error = np.sqrt(factor / variance)

    def limit(sign: int, rows_beyond: FloatArray) -> FloatArray:
        def excess(
            p: ProbabilityScores, a: FloatArray, rows: Int64Array
        ) -> tuple[FloatArray, FloatArray]:
            value, derivative = _corrected_statistic(p, a, factor[rows])
            return sign * z - value, -derivative

        # the statistic tends to +-sqrt(1 + 6 f rows) as the expected rows of a label tend to 0
        has_root = (rows_beyond > 0) & (1 + 6 * factor * rows_beyond > z * z)
        guess = intercept - sign * z * error
        is_far = ~(error < _LARGE_ERROR)
        if (is_far & has_root).any():
            guess = np.where(is_far, starting_offset(p, observed, -sign * z), guess)
        return offset_root(p, excess, guess, has_root)

    # at low levels, the correction for skewness can be more than z
    lower = np.minimum(limit(1, observed), np.where(np.isnan(intercept), np.inf, intercept))
    upper = np.maximum(
        limit(-1, total - observed), np.where(np.isnan(intercept), -np.inf, intercept)
    )
    return lower, upper


def _variance_and_squares(p: ProbabilityScores, a: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return the variance of the positive rows at intercepts a, and the sum of (y - p)^2."""
    share, complement = shifted_chances(p, a)
    squares = p.k * complement * complement + (p.n - p.k) * share * share
    return p.sum(p.n * share * complement), p.sum(squares)


def _corrected_statistic(
    p: ProbabilityScores, a: FloatArray, factor: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """Return the skewness-corrected score statistic at the intercepts a, and its derivative."""
    share, complement = shifted_chances(p, a)
    expected_less_observed, variance = excess_and_variance(p, share, complement)
    product = share * complement
    weight = p.n * product
    third, fourth = p.sum(weight * (complement - share)), p.sum(weight * (1 - 6 * product))
    variance = np.maximum(variance, _SMALLEST_VARIANCE)
    error, relative_third = np.sqrt(factor * variance), third / variance
    statistic = -expected_less_observed / error
    skewness = relative_third / (6 * factor * error)
    statistic_slope = -variance / error - statistic * relative_third / 2
    skewness_slope = (fourth / variance - 1.5 * relative_third**2) / (6 * factor * error)
    corrected = correct_for_skewness(statistic, 6 * skewness)
    divisor = 1 + 2 * skewness * corrected
    slope = ratio(statistic_slope - skewness_slope * (corrected**2 - 1), divisor)
    return corrected, np.where(divisor > 0, slope, 0)


def oe_ratio_limits(
    p: ProbabilityScores, uncertain: ProbabilityScores, intercept: Limits, level: float
) -> Limits:
    """Return the limits of O / E, given the scores, from those of the intercept.

    Parameters
    ----------
    p, uncertain : ProbabilityScores
        All scores, and those between 0 and 1 to which the limits of the intercept belong. Where
        there is none of these, because all scores are 0 or 1 or one of these is wrong, no intercept
        fits. The limits are then those of the share of positive rows over the mean score.
    intercept : pair of float arrays, shape (segments,)

    Returns
    -------
    lower, upper : float arrays, shape (segments,)
        NaN where E is 0 or no row exists. The limits are never below 0 or above N / E.
    """
    fits = uncertain.n_rows > 0
    if not fits.all():
        p, uncertain, intercept = _with_equal_scores(p, uncertain, fits, intercept, level)
    # correct scores of 1 are in O and E, whatever the intercept
    certain = p.n_positive - uncertain.n_positive
    most = certain + uncertain.n_rows
    limits = []
    for a, otherwise in zip(intercept, (certain, most), strict=True):
        moved, _ = excess_and_variance(uncertain, *shifted_chances(uncertain, np.nan_to_num(a)))
        rows = np.where(np.isnan(a), otherwise, p.n_positive + moved)
        with np.errstate(over="ignore"):
            limit = ratio(np.clip(rows, 0, most), p.expected)
        limits.append(np.where(np.isfinite(limit), limit, np.nan))
    return limits[0], limits[1]


def _with_equal_scores(
    p: ProbabilityScores,
    uncertain: ProbabilityScores,
    fits: BoolArray,
    intercept: Limits,
    level: float,
) -> tuple[ProbabilityScores, ProbabilityScores, Limits]:
    """Replace the scores of segments that no intercept fits by one half, with its limits."""
    n_rows = p.n_rows
    segment = np.flatnonzero(~fits & (n_rows > 0))
    half = np.full(len(segment), 0.5)
    equal = ProbabilityScores(segment, half, n_rows[segment], p.n_positive[segment], p.n_segments)
    shares = ratio(equal.n_positive, equal.n_rows)
    is_inner = (shares > 0) & (shares < 1)
    fitted = np.where(is_inner, special.logit(np.where(is_inner, shares, 0.5)), np.nan)
    limits = intercept_limits(equal, fitted, level)
    order = np.argsort(np.append(uncertain.segment, segment), kind="stable")
    both = ProbabilityScores(
        np.append(uncertain.segment, equal.segment)[order],
        np.append(uncertain.score, equal.score)[order],
        np.append(uncertain.n, equal.n)[order],
        np.append(uncertain.k, equal.k)[order],
        p.n_segments,
    )
    lower, upper = (np.where(fits, a, b) for a, b in zip(intercept, limits, strict=True))
    return p, both, (lower, upper)
