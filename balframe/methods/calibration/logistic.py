"""Logistic regressions on one variable, for many segments at once."""

import numpy as np

from balframe.core.array_types import FloatArray
from balframe.core.probability_scores import Probabilities
from balframe.core.safe_divide import ratio
from balframe.later import special

_MOST_STEPS = 100
_LONGEST_STEP = 2.0
_CLOSE = 1e-10  # a step of Newton's, after which the next would be lost in rounding
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
    for _ in range(_MOST_STEPS):
        likelihood, gradient, hessian = _likelihood(p, here)
        is_better = likelihood >= before - _ROUNDING * np.abs(np.maximum(before, -1e300))
        newton, error = _newton(gradient, hessian)
        size = np.hypot(*newton)
        is_close = is_better & (size <= _CLOSE * (1 + np.abs(here[1])))
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
