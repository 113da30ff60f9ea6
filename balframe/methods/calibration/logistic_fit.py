"""Fits of log odds to the labels of many segments at once: a slope, or an offset only."""

from collections.abc import Callable

import numpy as np

from balframe.core.array_types import BoolArray, FloatArray, Int64Array
from balframe.core.probability_scores import ProbabilityScores
from balframe.core.safe_divide import ratio
from balframe.stats.lazy_scipy import special
from balframe.stats.proportions import wilson_at

# Logistic regression on one variable, for many segments at once.

_MAX_NEWTON_STEPS = 100
_MAX_STEP_LENGTH = 2.0
_STEP_TOLERANCE = 1e-6  # its square is the error after the Newton step
_LIKELIHOOD_TOLERANCE = 1e-12  # relative, for rounding
_MIN_CURVATURE = 1e-14  # relative, because rounding could make it negative

_Pair = tuple[FloatArray, FloatArray]


def fit_logistic(p: ProbabilityScores, guess: FloatArray) -> _Pair:
    """Return a and b of the most likely log odds a + b x.

    Newton steps are no longer than 2. A step that makes the outcomes less likely is halved.

    Parameters
    ----------
    p : ProbabilityScores
        With x as the score, of mean 0 and variance 1 in each segment. There is a finite maximum:
        positive rows lie both above and below negative ones.
    guess : float array, shape (2, segments)
        Where to start.

    Returns
    -------
    a, b : float arrays, shape (segments,)
        NaN where 100 steps do not converge.
    """
    out = np.full((2, p.n_segments), np.nan)
    rows = np.arange(p.n_segments)
    current = guess
    best, step, best_likelihood = current, np.zeros_like(current), np.full(len(rows), -np.inf)
    for _ in range(_MAX_NEWTON_STEPS):
        likelihood, gradient, hessian = _log_likelihood(p, current)
        is_better = likelihood >= best_likelihood - _LIKELIHOOD_TOLERANCE * np.abs(
            np.maximum(best_likelihood, -1e300)
        )
        newton = _newton_step(gradient, hessian)
        size = np.hypot(*newton)
        is_close = is_better & (size <= _STEP_TOLERANCE * (1 + np.abs(current[1])))
        has_converged = is_close & np.isnan(out[0, rows])
        out[:, rows[has_converged]] = (current + newton)[:, has_converged]
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
    return out[0], out[1]


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


def _newton_step(gradient: _Pair, hessian: tuple[FloatArray, FloatArray, FloatArray]) -> FloatArray:
    """Return the Newton step of a and b."""
    (gradient_a, gradient_b), (aa, ab, bb) = gradient, hessian
    mean = ratio(ab, aa)
    curvature_b = np.maximum(bb - mean * ab, _MIN_CURVATURE * bb)
    step_b = ratio(gradient_b - mean * gradient_a, curvature_b)
    step_a = ratio(gradient_a, aa) - mean * step_b
    return np.nan_to_num(np.stack([step_a, step_b]))


def logits(p: ProbabilityScores) -> FloatArray:
    """Return the log odds of scores between 0 and 1."""
    return np.log(p.score) - np.log1p(-p.score)


def labels_overlap(p: ProbabilityScores) -> BoolArray:
    """Return whether positive rows score above and below negative ones: the slope is finite."""
    ranges = []
    for rows in (p.k, p.n - p.k):
        highest = p.reduced(np.maximum, np.where(rows > 0, p.score, -np.inf))
        lowest = p.reduced(np.minimum, np.where(rows > 0, p.score, np.inf))
        ranges.append((lowest, highest))
    positive, negative = ranges
    return (negative[1] > positive[0]) & (positive[1] > negative[0])


# Offsets of the log odds of scores: the slope is 1.

_MAX_ROOT_STEPS, _N_NEWTON_STEPS = 100, 40  # after the first 40, bounds are halved
_FIRST_STEP_LENGTH, _STEP_GROWTH = 2.0, 1.2  # the longest step grows until it passes the root
_FARTHEST_ROOT = 2000.0  # log odds of floats are at most 745
_BRACKET_TOLERANCE = 1e-13  # relative, of bounds with nothing between them
_ROOT_TOLERANCE = 1e-6  # its square is the error after the Newton step

# of the segments at some positions, at offsets: values that increase with it, and their derivatives
OffsetFunction = Callable[[ProbabilityScores, FloatArray, Int64Array], _Pair]


def fit_offset(p: ProbabilityScores, target: FloatArray, has_root: BoolArray) -> FloatArray:
    """Return the offset a with sum n expit(a + l) = target; NaN without a root."""

    def excess(p: ProbabilityScores, a: FloatArray, rows: Int64Array) -> _Pair:
        moved, variance = excess_and_variance(p, *shifted_chances(p, a))
        return moved - (target[rows] - p.n_positive), variance

    return offset_root(p, excess, starting_offset(p, target, 0.0), has_root)


def offset_root(
    p: ProbabilityScores, excess: OffsetFunction, guess: FloatArray, has_root: BoolArray
) -> FloatArray:
    """Return the offsets where an increasing function is 0, by Newton steps between bounds."""
    root, rows = np.full(p.n_segments, np.nan), np.flatnonzero(has_root)
    p, a = p.of_segments(has_root), guess[has_root]
    low, high = np.full(len(a), -_FARTHEST_ROOT), np.full(len(a), _FARTHEST_ROOT)
    max_step = _FIRST_STEP_LENGTH
    for i in range(_MAX_ROOT_STEPS):
        value, slope = excess(p, a, rows)
        low, high = np.where(value < 0, a, low), np.where(value < 0, high, a)
        with np.errstate(over="ignore"):
            step = np.where(slope > 0, -ratio(value, slope), -np.sign(value) * max_step)
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


def starting_offset(p: ProbabilityScores, target: FloatArray, z: float) -> FloatArray:
    """Return a first guess, from the log odds of the mean score and of a share or its limit."""
    total = np.maximum(p.n_rows, 1).astype(np.float64)
    low, high = wilson_at(target, total, abs(z))
    share = np.clip(high if z > 0 else low, 1e-9, 1 - 1e-9)
    mean = np.clip(p.expected / total, 1e-300, 1 - 1e-16)
    curvature = ratio(total * mean * (1 - mean), p.variance)
    shift = (special.logit(share) - special.logit(mean)) * curvature
    return np.clip(np.nan_to_num(shift), -1e3, 1e3)


def shifted_chances(p: ProbabilityScores, a: FloatArray) -> _Pair:
    """Return the chance of a positive and of a negative row, with log odds shifted by a."""
    odds = p.score * p.spread(np.exp(np.minimum(a, 0)))
    odds_against = (1 - p.score) * p.spread(np.exp(-np.maximum(a, 0)))
    total = odds + odds_against
    return odds / total, odds_against / total


def excess_and_variance(p: ProbabilityScores, share: FloatArray, complement: FloatArray) -> _Pair:
    """Return expected less observed positive rows, and the variance of their number."""
    # the smaller of share and complement, so that digits are kept where the share is next to 1
    residual = np.where(share < complement, p.n * share - p.k, (p.n - p.k) - p.n * complement)
    return p.sum(residual), p.sum(p.n * share * complement)
