"""Test that scores are the probabilities of independent outcomes: the total, and the slope.

Each of the two independent parts is compared with its own distribution, by saddlepoint or, where
hardly anything varies, exactly. Both give a mid-p-value, which becomes a normal deviate. The sum of
squares of these is compared with chi-square of 2 degrees of freedom.

References
----------
I. M. Skovgaard, "Saddlepoint expansions for conditional distributions", Journal of Applied
Probability 1987, for the slope given the total.
"""

from dataclasses import dataclass, fields

import numpy as np

from balframe.core.array_types import BoolArray, FloatArray, Int64Array
from balframe.core.probability_scores import ProbabilityScores
from balframe.core.safe_divide import ratio
from balframe.methods.calibration.saddlepoint import (
    MIDDLE,
    SERIES_BELOW,
    TiltedChances,
    log_lattice_tail,
    log_near_centre,
    log_tail,
    two_sided,
)
from balframe.methods.calibration.slope_limits import NEAR_FIT, SlopeFit
from balframe.stats.lazy_scipy import special
from balframe.stats.proportions import log_combinations

_LOG_2 = np.log(2)
_SMALLEST_CHANCE = 1e-300
_TINY = np.finfo(np.float64).tiny
_MIN_CORRECTION = 0.1  # of the probability of the total, where hardly anything varies


def recalibration_p_value(
    p: ProbabilityScores,
    logit: FloatArray,
    intercept: FloatArray,
    overlap: BoolArray,
    fit: SlopeFit,
) -> FloatArray:
    """Return the p-value of the test that intercept and slope are 0 and 1.

    With one distinct score, it is the exact two-sided p-value of the number of positive rows.

    Parameters
    ----------
    p : ProbabilityScores
        Scores between 0 and 1.
    logit : float array, shape (ties,)
        Log odds of the scores.
    intercept : float array, shape (segments,)
        Of the recalibration whose slope is 1. NaN where no row is positive, or none negative.
    overlap : bool array, shape (segments,)
        Where the slope is finite.
    fit : SlopeFit
        Fits of these segments.

    Returns
    -------
    float array, shape (segments,)
        NaN for a segment without rows.
    """
    # squares of the normal deviates of two-sided p-values
    squares = [
        special.ndtri_exp(log_p - _LOG_2) ** 2
        for log_p in log_p_values(p, logit, intercept, overlap, fit)
    ]
    p_value = np.exp(-sum(squares) / 2)
    is_equal = ~p.has_several
    if is_equal.any():
        p_value[is_equal] = binomial_p_value(p.of_segments(is_equal))
    return np.where(p.n_rows > 0, p_value, np.nan)


def log_p_values(
    p: ProbabilityScores,
    logit: FloatArray,
    intercept: FloatArray,
    overlap: BoolArray,
    fit: SlopeFit,
) -> tuple[FloatArray, FloatArray]:
    """Return logs of two-sided mid-p-values: of the number of positive rows, and of the slope.

    The slope is tested given the total, by the double saddlepoint approximation at the
    recalibration. It is exact with one positive or one negative row, and where scores separate the
    labels. Its log p-value is 0 where the total leaves a single outcome.
    """
    total, slope = np.zeros((2, p.n_segments))
    observed, negative = p.n_positive, p.n_rows - p.n_positive
    has_many = np.minimum(observed, negative) > 1
    if has_many.any():
        many, t = p.of_segments(has_many), intercept[has_many]
        logit_of_many = logit if many is p else logit[p.spread(has_many)]
        tables = _TiltedTables.of(many, logit_of_many, t)
        total[has_many] = _total_of_many(many, t, tables)
        slope[has_many] = _slope_of_many(
            t, overlap[has_many], tables, fit.of_segments(has_many[overlap])
        )
    is_end = ~has_many
    if is_end.any():
        ends, logit = p.of_segments(is_end), logit[p.spread(is_end)]
        few = (observed <= negative)[is_end]
        total[is_end] = np.where(few, _total_at_end(ends, 1), _total_at_end(ends, -1))
        of_one = _place_of_single_row(ends, logit, ends.k, 1)
        of_other = _place_of_single_row(ends, logit, ends.n - ends.k, -1)
        slope[is_end] = np.where(few, of_one, of_other)
    return total, slope


def binomial_p_value(p: ProbabilityScores) -> FloatArray:
    """Return exact two-sided p-values of the number of positive rows, given the mean score.

    Twice the smaller of P(X <= O) and P(X >= O), at most 1.
    """
    observed, total = p.n_positive.astype(np.float64), p.n_rows.astype(np.float64)
    share = ratio(p.expected, total)
    at_least = np.where(
        observed > 0, special.betainc(np.maximum(observed, 1), total - observed + 1, share), 1
    )
    at_most = np.where(
        observed < total,
        special.betaincc(observed + 1, np.maximum(total - observed, 1), share),
        1,
    )
    return np.asarray(np.minimum(2 * np.minimum(at_least, at_most), 1))


def _total_at_end(p: ProbabilityScores, sign: int) -> FloatArray:
    """Return the log p-value of none or one row with the rare label: positive, or -1: negative."""
    with np.errstate(divide="ignore", over="ignore"):
        if sign > 0:
            log_none, odds, rows = np.log1p(-p.score), p.score / (1 - p.score), p.n_positive
        else:
            log_none, odds, rows = np.log(p.score), (1 - p.score) / p.score, p.n_rows - p.n_positive
        none = p.sum(p.n * log_none)
        single = none + np.log(p.sum(p.n * odds))
        fewer = np.logaddexp(none, single - _LOG_2)
        more = np.log(np.maximum(-np.expm1(none) - np.exp(single) / 2, 0))
    return np.where(rows == 0, none, np.minimum(_LOG_2 + np.minimum(fewer, more), 0))


def _place_of_single_row(
    p: ProbabilityScores, logit: FloatArray, rows: Int64Array, sign: int
) -> FloatArray:
    """Return the log p-value of the score of the one row with a label, 0 where there is not one.

    Its chances are in proportion to the odds of the scores, to the power `sign`.
    """
    is_here, log_odds = rows > 0, sign * logit + np.log(p.n)
    chance = np.exp(log_odds - p.spread(p.reduced(np.maximum, log_odds)))
    score = p.spread(p.sum(np.where(is_here, p.score, 0)))
    own, below = np.where(is_here, chance / 2, 0), np.where(p.score < score, chance, 0)
    with np.errstate(divide="ignore"):
        log_below = np.log(ratio(p.sum(below + own), p.sum(chance)))
        log_above = np.log(ratio(p.sum(np.where(p.score > score, chance, own)), p.sum(chance)))
    log_p = np.minimum(_LOG_2 + np.minimum(log_below, log_above), 0)
    return np.where(p.count(rows) == 1, log_p, 0)


def _total_of_many(p: ProbabilityScores, t: FloatArray, at: "_TiltedTables") -> FloatArray:
    """Return the log p-value of the number of positive rows, by saddlepoint."""
    w = np.sign(t) * np.sqrt(2 * np.maximum(t * p.n_positive - at.cumulant, 0))
    near = np.abs(w) < SERIES_BELOW
    log_p = log_lattice_tail(np.where(near, 1, w), np.where(near, 1, t), at.variance)
    if near.any():
        third = p.sum(p.n * p.score * (1 - p.score) * (1 - 2 * p.score))
        log_p = np.where(near, log_near_centre(w, third, p.variance), log_p)
    return two_sided(log_p)


def _slope_of_many(
    t: FloatArray, overlap: BoolArray, tables: "_TiltedTables", fit: SlopeFit
) -> FloatArray:
    """Return the log p-value of the slope given the total, by saddlepoint.

    The probability of the table is the least that it can be. Where the labels are separated, it is
    this.
    """
    log_least = tables.log_half_table
    log_one_side = log_least.copy()
    tables, least = tables.of_segments(overlap), log_least[overlap]
    # slope 1 and intercept t, in the units of the fit
    profile = fit.profile(t[overlap] + fit.centre, fit.scale)
    w, u = np.abs(profile.w), np.abs(profile.u)
    near = ~(w >= NEAR_FIT)
    beyond = log_tail(np.where(near, 1, w), np.where(near, 1, u))
    beyond = np.where(near, tables.log_near_fit(profile.w), beyond)
    # without a fit, the score test of the slope
    beyond = np.where(np.isnan(fit.b), special.log_ndtr(-np.abs(tables.score_z)), beyond)
    log_one_side[overlap] = np.clip(beyond, least, np.log1p(-np.exp(least)))
    return two_sided(log_one_side)


@dataclass(frozen=True)
class _TiltedTables:
    """Tables of segments whose intercept is the fitted one for slope 1.

    Parameters
    ----------
    cumulant, variance : float arrays, shape (segments,)
        K(t) and K''(t) of the number of positive rows.
    score_z : float array, shape (segments,)
        Standardised score statistic of the slope.
    skewness : float array
        Correction of w next to the fit: k3 / (6 V^1.5) + d / (2 J sqrt V). J, V, d and k3 are the
        sums of n p q times 1, c^2, (1 - 2 p) c and (1 - 2 p) c^3. c is the centred logit.
    log_half_table : float array
        Log of half the probability of the table, given the total.
    """

    cumulant: FloatArray
    variance: FloatArray
    score_z: FloatArray
    skewness: FloatArray
    log_half_table: FloatArray

    @classmethod
    def of(cls, p: ProbabilityScores, logit: FloatArray, t: FloatArray) -> "_TiltedTables":
        """Add up the rows of each segment."""
        tilted = TiltedChances.of(p.score, 1 - p.score, p.spread(t))
        product = tilted.chance * tilted.complement
        weight = p.n * product
        variance = p.sum(weight)
        c = logit - p.spread(ratio(p.sum(weight * logit), variance))
        squares, asymmetry = weight * c * c, tilted.complement - tilted.chance
        third = asymmetry * weight
        error = np.sqrt(p.sum(squares))
        with np.errstate(divide="ignore"):
            log_complement = np.log(np.maximum(tilted.complement, _SMALLEST_CHANCE))
        likelihood = p.k * (logit + p.spread(t)) + p.n * log_complement
        kurtosis = ratio(p.sum(weight * (1 - 6 * product)), variance)
        skewness = ratio(p.sum(third), variance)
        correction = 1 + (kurtosis / 8 - 5 * skewness**2 / 24) / np.maximum(variance, _TINY)
        log_of_total = np.log(
            np.maximum(correction, _MIN_CORRECTION) / np.sqrt(2 * np.pi * variance)
        )
        # where hardly anything varies, the approximation is above 1
        log_table = p.sum(likelihood) + p.sum(_log_arrangements(p.n, p.k))
        log_table -= np.minimum(log_of_total, 0)
        return cls(
            p.sum(p.n * tilted.log_mgf),
            variance,
            ratio(p.sum((p.k - p.n * tilted.chance) * c), error),
            ratio(p.sum(squares * c * asymmetry), 6 * error**3)
            + ratio(p.sum(third * c), 2 * variance * error),
            np.minimum(log_table, 0) - _LOG_2,
        )

    def of_segments(self, kept: BoolArray) -> "_TiltedTables":
        """Keep some of the segments."""
        return _TiltedTables(*(getattr(self, field.name)[kept] for field in fields(self)))

    def log_near_fit(self, w: FloatArray) -> FloatArray:
        """Return the log of the mid-probability of larger slopes, where w is close to 0."""
        middle = 0.5 - (w + self.skewness) / np.sqrt(2 * np.pi)
        return np.asarray(np.log(np.clip(middle, *MIDDLE)))


def _log_arrangements(n: Int64Array, k: Int64Array) -> FloatArray:
    """Return the log of the number of ways to choose k of n rows; 0 of a single row."""
    out, has_many = np.zeros(len(n)), n > 1
    out[has_many] = log_combinations(n[has_many], k[has_many])
    return out
