"""Logistic recalibration of scores: an intercept, a slope, and a test that they are 0 and 1.

The log odds of a positive row are a + b l with l = log(s / (1 - s)). Scores of 0 and 1 that are
right add nothing. A segment where one of them is wrong has no recalibration.
"""

from dataclasses import replace
from functools import partial

import numpy as np

from balframe.core.array_types import BoolArray, FloatArray
from balframe.core.probability_scores import Probabilities
from balframe.core.safe_divide import ratio
from balframe.stats.lazy_scipy import special
from balframe.stats.proportions import normal_quantile, wilson_at

# Logistic regressions on one variable, for many segments at once.


_MOST_NEWTON_STEPS = 100
_LONGEST_STEP = 2.0
_CONVERGED = 1e-10  # a step of Newton's, after which the next would be lost in rounding
_ROUNDING = 1e-12  # of the likelihood
_FLAT = 1e-14  # of a curvature, which rounding could make negative

Pair = tuple[FloatArray, FloatArray]


def fitted(p: Probabilities) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return a and b of the most likely log odds a + b x, and the standard error of b.

    Newton's steps are no longer than 2. A step that makes the outcomes less likely is halved.

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
    here = np.stack([special.logit(p.n_positive / p.n_rows), np.zeros(len(rows))])
    best, step, before = here, np.zeros_like(here), np.full(len(rows), -np.inf)
    for _ in range(_MOST_NEWTON_STEPS):
        likelihood, gradient, hessian = _likelihood(p, here)
        is_better = likelihood >= before - _ROUNDING * np.abs(np.maximum(before, -1e300))
        newton, error = _newton(gradient, hessian)
        size = np.hypot(*newton)
        is_close = is_better & (size <= _CONVERGED * (1 + np.abs(here[1])))
        found = is_close & np.isnan(out[0, rows])
        out[:, rows[found]] = np.vstack([here + newton, error])[:, found]
        going = np.isnan(out[0, rows])
        if not going.any():
            break
        best, before = np.where(is_better, here, best), np.where(is_better, likelihood, before)
        shorter = np.minimum(_LONGEST_STEP / np.maximum(size, _LONGEST_STEP), 1)
        step = np.where(is_better, newton * shorter, step / 2)
        here = best + step
        if 2 * going.sum() <= len(going):
            p, rows, before = p.of_segments(going), rows[going], before[going]
            here, best, step = here[:, going], best[:, going], step[:, going]
    a, b, of_b = out
    return a, b, of_b


def _likelihood(
    p: Probabilities, at: FloatArray
) -> tuple[FloatArray, Pair, tuple[FloatArray, FloatArray, FloatArray]]:
    """Compute the logarithm of the likelihood, its gradient and its curvature."""
    x = p.score
    logit = p.spread(at[0]) + p.spread(at[1]) * x
    small = np.exp(-np.abs(logit))
    below = 1 / (1 + small)
    residual = p.k - p.n * np.where(logit > 0, below, small * below)
    spread = p.n * (small * below * below)
    likelihood = p.k * logit - p.n * (np.maximum(logit, 0) - np.log(below))
    of_slope = spread * x
    return (
        p.sum(likelihood),
        (p.sum(residual), p.sum(residual * x)),
        (p.sum(spread), p.sum(of_slope), p.sum(of_slope * x)),
    )


def _newton(
    gradient: Pair, hessian: tuple[FloatArray, FloatArray, FloatArray]
) -> tuple[FloatArray, FloatArray]:
    """Solve for the step of a and b, and find the standard error of b."""
    (of_a, of_b), (aa, ab, bb) = gradient, hessian
    mean = ratio(ab, aa)
    left = np.maximum(bb - mean * ab, _FLAT * bb)
    step_b = ratio(of_b - mean * of_a, left)
    step_a = ratio(of_a, aa) - mean * step_b
    return np.nan_to_num(np.stack([step_a, step_b])), np.sqrt(ratio(np.ones(len(left)), left))


Estimated = tuple[FloatArray, FloatArray, FloatArray]  # and lower and upper limits

_MOST_STEPS, _NEWTON = 100, 40  # after the first 40, bounds are halved
_FIRST_STEP, _GROWTH = 2.0, 1.2  # the longest step, which grows until the root is passed
_FARTHEST = 2000.0  # log odds of floats are at most 745
_NARROW = 1e-13  # bounds with nothing between them
_CLOSE = 1e-9  # a step of Newton's after which the next would be lost in rounding


def intercept(p: Probabilities, level: float) -> Estimated:
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


def _intercepts(p: Probabilities, z: float) -> Estimated:
    p = _usable(p)
    has_positive, has_negative = p.n_positive > 0, p.n_positive < p.n_rows
    return (
        _shift(p, 0.0, has_positive & has_negative),
        _shift(p, -z, has_positive),
        _shift(p, z, has_negative),
    )


def _shift(p: Probabilities, z: float, solved: BoolArray) -> FloatArray:
    """Solve sum n expit(a + l) - z sqrt(sum n p q) = O by Newton's steps between bounds."""
    root, rows = np.full(p.n_segments, np.nan), np.flatnonzero(solved)
    p = p.of_segments(solved)
    a = _guess(p, z)
    low, high = np.full(len(a), -_FARTHEST), np.full(len(a), _FARTHEST)
    longest = _FIRST_STEP
    for i in range(_MOST_STEPS):
        excess, slope = _excess(p, a, z)
        low, high = np.where(excess < 0, a, low), np.where(excess < 0, high, a)
        with np.errstate(over="ignore"):
            step = np.where(slope > 0, -ratio(excess, slope), -np.sign(excess) * longest)
        is_close = (slope > 0) & (np.abs(step) <= _CLOSE)
        is_close |= high - low <= _NARROW * (1 + np.abs(a))
        found = is_close & np.isnan(root[rows])
        root[rows[found]] = np.clip(a + step, low, high)[found]
        going = np.isnan(root[rows])
        if not going.any():
            break
        a = a + np.clip(step, -longest, longest)
        is_inside = (low < a) & (a < high) & (i < _NEWTON)
        a = np.where(is_inside, a, (low + high) / 2)
        longest *= _GROWTH
        if 2 * going.sum() <= len(going):
            p = p.of_segments(going)
            a, low, high, rows = a[going], low[going], high[going], rows[going]
    return root


def _guess(p: Probabilities, z: float) -> FloatArray:
    """Shift the log odds of the mean score to those of the observed share, or of its limit."""
    total = p.n_rows.astype(np.float64)
    low, high = wilson_at(p.n_positive.astype(np.float64), total, abs(z))
    share = np.clip(high if z > 0 else low, 1e-9, 1 - 1e-9)
    mean = np.clip(p.expected / total, 1e-300, 1 - 1e-16)
    curvature = ratio(total * mean * (1 - mean), p.variance)
    away = (special.logit(share) - special.logit(mean)) * curvature
    return np.clip(np.nan_to_num(away), -1e3, 1e3)


def _excess(p: Probabilities, a: FloatArray, z: float) -> tuple[FloatArray, FloatArray]:
    """Compare the expected rows with the observed ones, less z standard errors; and its slope."""
    odds = p.score * p.spread(np.exp(np.minimum(a, 0)))
    rest = (1 - p.score) * p.spread(np.exp(-np.maximum(a, 0)))
    share, beyond = odds / (odds + rest), rest / (odds + rest)
    spread = p.n * share * beyond
    # the smaller of both sides, so that digits are kept where the share is next to 1
    residual = np.where(share < beyond, p.n * share - p.k, (p.n - p.k) - p.n * beyond)
    excess, variance = p.sum(residual), p.sum(spread)
    if z == 0:
        return excess, variance
    error = np.sqrt(variance)
    skewed = p.sum(spread * (beyond - share))
    return excess - z * error, variance - z * ratio(skewed, 2 * error)


def slope(p: Probabilities, level: float) -> Estimated:
    """Return the slope of the recalibration, with Wald's limits.

    Returns
    -------
    estimate, lower, upper : float arrays, shape (segments,)
        NaN where maximum likelihood has no finite slope: all rows are positive or all negative, or
        no positive row scores lower than a negative one, or none scores higher. NaN too where 100
        steps of Newton's do not converge.
    """
    estimate, error = p.by_blocks(_slopes)
    half = normal_quantile(level) * error
    return estimate, estimate - half, estimate + half


def _slopes(p: Probabilities) -> tuple[FloatArray, FloatArray]:
    p = _usable(p)
    p = replace(p, score=_log_odds(p))
    is_finite = _overlap(p)
    p = p.of_segments(is_finite)
    x = p.score - p.spread(p.sum(p.n * p.score) / p.n_rows)
    scale = np.sqrt(p.sum(p.n * x * x) / p.n_rows)
    estimate, error = (np.full(len(is_finite), np.nan) for _ in range(2))
    _, of_one, error_of_one = fitted(replace(p, score=x / p.spread(scale)))
    estimate[is_finite], error[is_finite] = of_one / scale, error_of_one / scale
    return estimate, error


def _overlap(p: Probabilities) -> BoolArray:
    """Tell whether positive rows score both above and below negative ones, so that a slope fits."""
    ends = []
    for side in (p.k, p.n - p.k):
        highest = p.reduced(np.maximum, np.where(side > 0, p.score, -np.inf))
        lowest = p.reduced(np.minimum, np.where(side > 0, p.score, np.inf))
        ends.append((lowest, highest))
    positive, negative = ends
    return (negative[1] > positive[0]) & (positive[1] > negative[0])


def score_test(p: Probabilities) -> FloatArray:
    """Return the p-value of the score test that the intercept is 0 and the slope is 1.

    g' H^-1 g is compared with chi-square of 2 degrees of freedom. g is (O - E, sum (k - n s) l),
    and H has the weights n s (1 - s). Nothing is fitted.

    Returns
    -------
    float array, shape (segments,)
        NaN for a segment without two different scores between 0 and 1.
    """
    (p_value,) = p.by_blocks(_score_tests)
    return p_value


def _score_tests(p: Probabilities) -> tuple[FloatArray]:
    p = _usable(p)
    logit = _log_odds(p)
    weight = p.n * p.score * (1 - p.score)
    total = p.sum(weight)
    centred = logit - p.spread(ratio(p.sum(weight * logit), total))
    residual = p.k - p.n * p.score
    curvature = np.where(p.has_several, p.sum(weight * centred * centred), np.nan)
    with np.errstate(over="ignore"):
        statistic = ratio(p.sum(residual) ** 2, total)
        statistic = statistic + ratio(p.sum(residual * centred) ** 2, curvature)
    return (np.exp(-statistic / 2),)


def _usable(p: Probabilities) -> Probabilities:
    """Keep the scores between 0 and 1, of the segments where all others are right."""
    has_fault = p.is_refuted | p.is_outside
    kept = p.uncertain
    return kept.where(~has_fault[kept.segment]) if has_fault.any() else kept


def _log_odds(p: Probabilities) -> FloatArray:
    return np.log(p.score) - np.log1p(-p.score)
