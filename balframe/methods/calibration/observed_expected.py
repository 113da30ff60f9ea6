"""Confidence limits of the ratio of observed to expected positive rows (O/E)."""

import numpy as np

from balframe.core.probability_scores import ProbabilityScores
from balframe.core.safe_divide import ratio
from balframe.stats.proportions import Limits, normal_quantile


def oe_ratio_limits(p: ProbabilityScores, level: float) -> Limits:
    """Return the limits of O / E, given the scores: the roots of a score equation.

    (O - r E)^2 = z^2 (r E - r^2 S2), where E is the sum of the scores and S2 that of their squares.
    Where all scores of a segment are equal, they are Wilson's limits divided by the score.

    Parameters
    ----------
    p : Probabilities
    level : float
        Confidence level, between 0 and 1.

    Returns
    -------
    lower, upper : float arrays, shape (segments,)
        NaN where E is 0, and where no factor fits: the largest score times it would be far above 1.
        The limits include O / E, even if no factor gives this many positive rows.
    """
    z2 = normal_quantile(level) ** 2
    observed, expected = p.n_positive.astype(np.float64), p.expected
    # solved for r E, so that no square of E occurs, which may leave the range of a float
    share = np.nan_to_num(ratio(p.score, p.spread(expected)))
    square = p.sum(p.n * share * share)  # S2 / E^2
    discriminant = z2 * (z2 + 4 * observed * (1 - observed * square))
    root = np.sqrt(np.where(discriminant >= 0, discriminant, np.nan))
    total = 2 * observed + z2 + root
    upper = np.maximum(total / (2 * (1 + z2 * square)), observed)
    with np.errstate(over="ignore"):
        limits = ratio(2 * observed**2 / total, expected), ratio(upper, expected)
    lower, upper = (np.where(np.isfinite(limit), limit, np.nan) for limit in limits)
    return lower, upper
