"""Logistic recalibration of scores: an intercept, a slope, and a test that they are 0 and 1.

The log odds of a positive row are a + b l with l = log(s / (1 - s)). Scores of 0 and 1 that are
right add nothing. A segment where one of them is wrong has no recalibration.
"""

from dataclasses import replace
from functools import partial

import numpy as np

from balframe.core.array_types import BoolArray, FloatArray
from balframe.core.probability_scores import ProbabilityScores
from balframe.core.safe_divide import ratio
from balframe.stats.lazy_scipy import special
from balframe.stats.proportions import normal_quantile, wilson_at

# Logistic regression on one variable, for many segments at once.

_MAX_NEWTON_STEPS = 100
_MAX_STEP_LENGTH = 2.0
_STEP_TOLERANCE = 1e-10  # the step after a Newton step of this length is lost in rounding
_LIKELIHOOD_TOLERANCE = 1e-12  # relative, for rounding
_MIN_CURVATURE = 1e-14  # relative, because rounding could make it negative

_Pair = tuple[FloatArray, FloatArray]


def fit_logistic(p: ProbabilityScores) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return a and b of the most likely log odds a + b x, and the standard error of b.

    Newton steps are no longer than 2. A step that makes the outcomes less likely is halved.

    Parameters
    ----------
    p : Probabilities
        With x as the score, of mean 0 and variance 1 in each segment. There is a finite maximum:
        positive rows lie both above and below negative ones.

    Returns
    -------
    a, b, error : float arrays, shape (segments,)
        NaN where 100 steps do not converge.
    """
    out = np.full((3, p.n_segments), np.nan)
    rows = np.arange(p.n_segments)
    current = np.stack([special.logit(p.n_positive / p.n_rows), np.zeros(len(rows))])
    best, step, best_likelihood = current, np.zeros_like(current), np.full(len(rows), -np.inf)
    for _ in range(_MAX_NEWTON_STEPS):
        likelihood, gradient, hessian = _log_likelihood(p, current)
        is_better = likelihood >= best_likelihood - _LIKELIHOOD_TOLERANCE * np.abs(
            np.maximum(best_likelihood, -1e300)
        )
        newton, error = _newton_step(gradient, hessian)
        size = np.hypot(*newton)
        is_close = is_better & (size <= _STEP_TOLERANCE * (1 + np.abs(current[1])))
        has_converged = is_close & np.isnan(out[0, rows])
        out[:, rows[has_converged]] = np.vstack([current + newton, error])[:, has_converged]
        is_active = np.isnan(out[0, rows])
        if not is_active.any():
            break
        best, best_likelihood = (
            np.where(is_better, current, best),
            np.where(is_better, likelihood, best_likelihood),
        )
        shrinkage = np.minimum(_MAX_STEP_LENGTH / np.maximum(size, _MAX_STEP_LENGTH), 1)
        step = np.where(is_better, newton * shrinkage, step / 2)
        current = best + step
        if 2 * is_active.sum() <= len(is_active):
            p, rows, best_likelihood = (
                p.of_segments(is_active),
                rows[is_active],
                best_likelihood[is_active],
            )
            current, best, step = current[:, is_active], best[:, is_active], step[:, is_active]
    a, b, error = out
    return a, b, error


def _log_likelihood(
    p: ProbabilityScores, coefficients: FloatArray
) -> tuple[FloatArray, _Pair, tuple[FloatArray, FloatArray, FloatArray]]:
    """Return the log-likelihood, its gradient and its negative Hessian."""
    x = p.score
    logit = p.spread(coefficients[0]) + p.spread(coefficients[1]) * x
    tail = np.exp(-np.abs(logit))
    larger_share = 1 / (1 + tail)
    residual = p.k - p.n * np.where(logit > 0, larger_share, tail * larger_share)
    weight = p.n * (tail * larger_share * larger_share)
    likelihood = p.k * logit - p.n * (np.maximum(logit, 0) - np.log(larger_share))
    weighted_x = weight * x
    return (
        p.sum(likelihood),
        (p.sum(residual), p.sum(residual * x)),
        (p.sum(weight), p.sum(weighted_x), p.sum(weighted_x * x)),
    )


def _newton_step(
    gradient: _Pair, hessian: tuple[FloatArray, FloatArray, FloatArray]
) -> tuple[FloatArray, FloatArray]:
    """Return the Newton step of a and b, and the standard error of b."""
    (gradient_a, gradient_b), (aa, ab, bb) = gradient, hessian
    mean = ratio(ab, aa)
    curvature_b = np.maximum(bb - mean * ab, _MIN_CURVATURE * bb)
    step_b = ratio(gradient_b - mean * gradient_a, curvature_b)
    step_a = ratio(gradient_a, aa) - mean * step_b
    return np.nan_to_num(np.stack([step_a, step_b])), np.sqrt(
        ratio(np.ones(len(curvature_b)), curvature_b)
    )


# Intercept, slope and score test.

EstimateWithLimits = tuple[FloatArray, FloatArray, FloatArray]  # estimate, lower, upper

_MAX_ROOT_STEPS, _N_NEWTON_STEPS = 100, 40  # after the first 40, bounds are halved
_FIRST_STEP_LENGTH, _STEP_GROWTH = 2.0, 1.2  # the longest step grows until it passes the root
_FARTHEST_ROOT = 2000.0  # log odds of floats are at most 745
_BRACKET_TOLERANCE = 1e-13  # relative, of bounds with nothing between them
_ROOT_TOLERANCE = 1e-9  # the step after a Newton step of this length is lost in rounding


def intercept(p: ProbabilityScores, level: float) -> EstimateWithLimits:
    """Return the intercept of the recalibration whose slope is 1, with its limits.

    The estimate solves sum n expit(a + l) = O. The limits are where the score statistic is z:
    |sum n expit(a + l) - O| = z sqrt(sum n expit(a + l) expit(-a - l)).

    Returns
    -------
    estimate, lower, upper : float arrays, shape (segments,)
        NaN without scores between 0 and 1. Of a segment where these rows are all negative, the
        estimate and the lower limit are NaN, and where they are all positive, the upper one.
    """
    estimate, lower, upper = p.by_blocks(partial(_intercepts, z=normal_quantile(level)))
    return estimate, lower, upper


def _intercepts(p: ProbabilityScores, z: float) -> EstimateWithLimits:
    p = _finite_logits(p)
    has_positive, has_negative = p.n_positive > 0, p.n_positive < p.n_rows
    return (
        _solve_intercept(p, 0.0, has_positive & has_negative),
        _solve_intercept(p, -z, has_positive),
        _solve_intercept(p, z, has_negative),
    )


def _solve_intercept(p: ProbabilityScores, z: float, has_root: BoolArray) -> FloatArray:
    """Solve sum n expit(a + l) - z sqrt(sum n p q) = O for a, by Newton steps between bounds."""
    root, rows = np.full(p.n_segments, np.nan), np.flatnonzero(has_root)
    p = p.of_segments(has_root)
    a = _starting_intercept(p, z)
    low, high = np.full(len(a), -_FARTHEST_ROOT), np.full(len(a), _FARTHEST_ROOT)
    max_step = _FIRST_STEP_LENGTH
    for i in range(_MAX_ROOT_STEPS):
        excess, slope = _excess(p, a, z)
        low, high = np.where(excess < 0, a, low), np.where(excess < 0, high, a)
        with np.errstate(over="ignore"):
            step = np.where(slope > 0, -ratio(excess, slope), -np.sign(excess) * max_step)
        is_close = (slope > 0) & (np.abs(step) <= _ROOT_TOLERANCE)
        is_close |= high - low <= _BRACKET_TOLERANCE * (1 + np.abs(a))
        has_converged = is_close & np.isnan(root[rows])
        root[rows[has_converged]] = np.clip(a + step, low, high)[has_converged]
        is_active = np.isnan(root[rows])
        if not is_active.any():
            break
        a = a + np.clip(step, -max_step, max_step)
        takes_newton_step = (low < a) & (a < high) & (i < _N_NEWTON_STEPS)
        a = np.where(takes_newton_step, a, (low + high) / 2)
        max_step *= _STEP_GROWTH
        if 2 * is_active.sum() <= len(is_active):
            p = p.of_segments(is_active)
            a, low, high, rows = a[is_active], low[is_active], high[is_active], rows[is_active]
    return root


def _starting_intercept(p: ProbabilityScores, z: float) -> FloatArray:
    """Return a first guess, from the log odds of the mean score and of the share or its limit."""
    total = p.n_rows.astype(np.float64)
    low, high = wilson_at(p.n_positive.astype(np.float64), total, abs(z))
    share = np.clip(high if z > 0 else low, 1e-9, 1 - 1e-9)
    mean = np.clip(p.expected / total, 1e-300, 1 - 1e-16)
    curvature = ratio(total * mean * (1 - mean), p.variance)
    shift = (special.logit(share) - special.logit(mean)) * curvature
    return np.clip(np.nan_to_num(shift), -1e3, 1e3)


def _excess(p: ProbabilityScores, a: FloatArray, z: float) -> tuple[FloatArray, FloatArray]:
    """Return expected less observed rows, less z standard errors, and the derivative in a."""
    odds = p.score * p.spread(np.exp(np.minimum(a, 0)))
    odds_against = (1 - p.score) * p.spread(np.exp(-np.maximum(a, 0)))
    share, complement = odds / (odds + odds_against), odds_against / (odds + odds_against)
    weight = p.n * share * complement
    # the smaller of share and complement, so that digits are kept where the share is next to 1
    residual = np.where(share < complement, p.n * share - p.k, (p.n - p.k) - p.n * complement)
    excess, variance = p.sum(residual), p.sum(weight)
    if z == 0:
        return excess, variance
    error = np.sqrt(variance)
    skewness = p.sum(weight * (complement - share))
    return excess - z * error, variance - z * ratio(skewness, 2 * error)


def slope(p: ProbabilityScores, level: float) -> EstimateWithLimits:
    """Return the slope of the recalibration, with Wald's limits.

    Returns
    -------
    estimate, lower, upper : float arrays, shape (segments,)
        NaN where maximum likelihood has no finite slope: all rows are positive or all negative, or
        no positive row scores lower than a negative one, or none scores higher. NaN too where 100
        Newton steps do not converge.
    """
    estimate, error = p.by_blocks(_slopes)
    half = normal_quantile(level) * error
    return estimate, estimate - half, estimate + half


def _slopes(p: ProbabilityScores) -> tuple[FloatArray, FloatArray]:
    p = _finite_logits(p)
    p = replace(p, score=_logits(p))
    is_finite = _labels_overlap(p)
    p = p.of_segments(is_finite)
    x = p.score - p.spread(p.sum(p.n * p.score) / p.n_rows)
    scale = np.sqrt(p.sum(p.n * x * x) / p.n_rows)
    estimate, error = (np.full(len(is_finite), np.nan) for _ in range(2))
    _, scaled_slope, scaled_error = fit_logistic(replace(p, score=x / p.spread(scale)))
    estimate[is_finite], error[is_finite] = scaled_slope / scale, scaled_error / scale
    return estimate, error


def _labels_overlap(p: ProbabilityScores) -> BoolArray:
    """Return whether positive rows score above and below negative ones: the slope is finite."""
    ranges = []
    for rows in (p.k, p.n - p.k):
        highest = p.reduced(np.maximum, np.where(rows > 0, p.score, -np.inf))
        lowest = p.reduced(np.minimum, np.where(rows > 0, p.score, np.inf))
        ranges.append((lowest, highest))
    positive, negative = ranges
    return (negative[1] > positive[0]) & (positive[1] > negative[0])


def score_test(p: ProbabilityScores) -> FloatArray:
    """Return the p-value of the score test that the intercept is 0 and the slope is 1.

    g' H^-1 g is compared with chi-square of 2 degrees of freedom. g is (O - E, sum (k - n s) l),
    and H has the weights n s (1 - s). No model is fitted.

    Returns
    -------
    float array, shape (segments,)
        NaN for a segment without two different scores between 0 and 1.
    """
    (p_value,) = p.by_blocks(_score_tests)
    return p_value


def _score_tests(p: ProbabilityScores) -> tuple[FloatArray]:
    p = _finite_logits(p)
    logit = _logits(p)
    weight = p.n * p.score * (1 - p.score)
    total = p.sum(weight)
    centred = logit - p.spread(ratio(p.sum(weight * logit), total))
    residual = p.k - p.n * p.score
    curvature = np.where(p.has_several, p.sum(weight * centred * centred), np.nan)
    with np.errstate(over="ignore"):
        statistic = ratio(p.sum(residual) ** 2, total)
        statistic = statistic + ratio(p.sum(residual * centred) ** 2, curvature)
    return (np.exp(-statistic / 2),)


def _finite_logits(p: ProbabilityScores) -> ProbabilityScores:
    """Keep the scores between 0 and 1, of segments whose scores of 0 and 1 are all right."""
    is_invalid = p.is_refuted | p.is_outside
    ties = p.uncertain
    return ties.where(~is_invalid[ties.segment]) if is_invalid.any() else ties


def _logits(p: ProbabilityScores) -> FloatArray:
    return np.log(p.score) - np.log1p(-p.score)
