"""Limits of shares of all rows, if only some have a true label.

In a segment, rows with the same prediction and verdict form a stratum v, with N_v rows, of which
n_v have a true label and x_v are right. Within a stratum, rows with a true label are taken to be
like those without. With W_v = N_v / N, the share of right rows is theta = sum_v W_v p_v, estimated
by x_v / n_v (post-stratification). `stratified_binomials` has the tests whose limits these are.

References
----------
D. Holt and T. M. F. Smith, "Post stratification", Journal of the Royal Statistical Society A 1979.
"""

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from balframe.core.array_types import FloatArray, Int64Array
from balframe.core.strata import MIN_LABELS, Strata
from balframe.stats.constrained_mle import Statistic, WeightedBinomials, lower_limit
from balframe.stats.proportions import Limits, clopper_pearson, normal_quantile, wilson
from balframe.stats.root_finding import root_between
from balframe.stats.stratified_binomials import StratifiedBinomials, score, skewness_corrected_score

_LARGEST_LOG_DOUBT = 12.0  # beyond it, limits are those of any doubt


def _doubtful_share(c: WeightedBinomials, p: FloatArray) -> FloatArray:
    """Return the lowest share of right rows that the doubt about unlabelled rows allows."""
    assert isinstance(c, StratifiedBinomials)
    unlabelled = p / (p + c.doubt * (1 - p))
    mixed = c.labelled_share * p + (1 - c.labelled_share) * unlabelled
    return np.asarray((c.a * mixed).sum(axis=0))


def share_limits(
    s: Strata, level: float, *, skewness: bool = False, doubt: FloatArray | float = 1.0
) -> Limits:
    """Return limits of the share of right rows among all rows.

    Parameters
    ----------
    s : Strata
        Strata without rows are ignored.
    level : float
        Confidence level, between 0 and 1.
    skewness : bool, default False
        Correct the test for skewness.
    doubt : float or float array, default 1
        By how much the odds of being right may differ between rows with and without a label, in all
        segments or in each.

    Returns
    -------
    lower, upper : float arrays, shape (segments,)
    """
    return _share_limits(s, level, (skewness_corrected_score if skewness else score,), doubt)


def _share_limits(
    s: Strata, level: float, statistics: tuple[Statistic, ...], doubt: FloatArray | float
) -> Limits:
    z, sides = normal_quantile(level), []
    for right in (s.right, s.labelled - s.right):
        c = replace(StratifiedBinomials.of_strata(s, right), doubt=doubt)
        sides.append(lower_limit(c, z, *statistics, value=_doubtful_share))
    return sides[0], 1 - sides[1]


def share_gate_limits(s: Strata, level: float, *, doubt: FloatArray | float = 1.0) -> Limits:
    """Return the limits that decide: each the wider of two tests, and of MOVER if labels are few.

    Few are under five right or under five wrong rows with a label in a stratum of which others lack
    one. MOVER is on Clopper-Pearson's limits of strata.
    """
    lower, upper = _share_limits(s, level, (score, skewness_corrected_score), doubt)
    fewer = np.minimum(s.right, s.labelled - s.right)
    few = np.flatnonzero(((fewer < MIN_LABELS) & (s.labelled < s.rows)).any(axis=1))
    if len(few):
        low, high = _mover_limits(s.at(few), level)
        lower[few], upper[few] = np.minimum(lower[few], low), np.maximum(upper[few], high)
    return lower, upper


def _mover_limits(s: Strata, level: float) -> Limits:
    is_labelled = s.labelled > 0
    n = np.where(is_labelled, s.labelled, 1)
    low, high = clopper_pearson(s.right, n, level)
    low, high = np.where(is_labelled, low, 0), np.where(is_labelled, high, 1)
    p, w, z = s.right / n, s.share, normal_quantile(level)
    theta = (w * p).sum(axis=1)
    of_rows = (w * (p - theta[:, None]) ** 2).sum(axis=1) / s.n
    at_most = np.where(is_labelled, p, 1)
    highest = (w * at_most).sum(axis=1)
    below = np.sqrt((w**2 * (p - low) ** 2).sum(axis=1) + z**2 * of_rows)
    above = np.sqrt((w**2 * (high - at_most) ** 2).sum(axis=1) + z**2 * of_rows)
    return np.maximum(theta - below, 0), np.minimum(highest + above, 1)


def least_doubts(
    s: Strata, bound: float, limits_at: Callable[[Strata, FloatArray], Limits]
) -> FloatArray:
    """Return the least doubt at which limits no longer exclude a bound.

    1 where they include it without doubt, and infinite where they exclude it with any. `limits_at`
    returns the limits of strata at a doubt about each segment.
    """

    def excess(log_doubt: FloatArray, at: Int64Array) -> FloatArray:
        lower, upper = limits_at(s.at(at), np.exp(log_doubt))
        return np.where(is_above[at], bound - lower, upper - bound)

    lower, upper = limits_at(s, np.ones(len(s.rows)))
    is_above = lower > bound
    least = np.where(is_above | (upper < bound), np.inf, 1.0)
    tested = np.flatnonzero(np.isinf(least))
    most = np.full(len(tested), _LARGEST_LOG_DOUBT)
    log_doubt = root_between(lambda t, at: excess(t, tested[at]), np.zeros(len(tested)), most)
    least[tested] = np.where(log_doubt < most, np.exp(log_doubt), np.inf)
    return least


def share_bounds(s: Strata, level: float) -> Limits:
    """Return Wilson's limits of the lowest and of the highest share that labels leave possible.

    No row without a label is right, and all of them are.
    """
    right = s.right.sum(axis=1)
    lower, _ = wilson(right, s.n, level)
    _, upper = wilson(right + s.n - s.n_labelled, s.n, level)
    return lower, upper
