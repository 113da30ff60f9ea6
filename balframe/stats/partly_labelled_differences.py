"""Differences of scores of segments of which only some rows have a true label.

Differences of shares have the limits that two score tests do not reject, one of which is corrected
for skewness: both are of (1 + d) / 2, and the p-value is that of the test of d = 0. Other scores
have MOVER limits, from the limits of both sides, and the p-value is that of the level at which
these are 0.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from balframe.core.array_types import FloatArray, Int64Array
from balframe.core.strata import Strata
from balframe.stats.candidate_pairs import CandidatePairs, Pairs, all_pairs, takes_all_pairs
from balframe.stats.constrained_mle import lower_limit
from balframe.stats.differences import mover_difference
from balframe.stats.lazy_scipy import special
from balframe.stats.mover_tests import agreeing_p_values, quantile_guess, z_at_zero
from balframe.stats.normal_range import range_critical_value, range_p_value
from balframe.stats.partly_labelled import share_limits
from balframe.stats.proportions import Limits, normal_level, normal_quantile
from balframe.stats.stratified_binomials import StratifiedBinomials, score, skewness_corrected_score

# Returns limits at normal quantiles, of scores at these positions.
LimitsAt = Callable[[FloatArray | float, Int64Array | slice], Limits]

_STATISTICS = (score, skewness_corrected_score)


@dataclass(frozen=True)
class _ShareDifferences:
    """The differences d of the shares of pairs of samples, as means (1 + d) / 2.

    Strata without a label are wrong in the first sample and right in the second for `smallest`, and
    the other way round for `largest`, which has 1 less the means.
    """

    smallest: StratifiedBinomials
    largest: StratifiedBinomials

    @classmethod
    def of(cls, first: Strata, second: Strata) -> "_ShareDifferences":
        """Return the differences of the shares of right rows."""
        of = StratifiedBinomials.of_strata
        wrong, second_wrong = (side.labelled - side.right for side in (first, second))
        return cls(
            of(first, first.right).mean_with(of(second, second_wrong)),
            of(first, wrong).mean_with(of(second, second.right)),
        )

    def limits(self, z: float) -> Limits:
        """Return limits of the differences."""
        lower, mirrored = (
            2 * lower_limit(c, z, *_STATISTICS) - 1 for c in (self.smallest, self.largest)
        )
        return lower, -mirrored

    def statistic(self) -> FloatArray:
        """Return how many standard errors from 0 each difference is; 0 where it may be either."""
        sides = []
        for c in (self.smallest, self.largest):
            fitted = c.constrained_mle(np.full(len(c.score), 0.5))
            sides.append(np.minimum(*(statistic(c, *fitted) for statistic in _STATISTICS)))
        return np.maximum(np.maximum(*sides), 0)


def share_differences(first: Strata, second: Strata, level: float) -> tuple[Limits, FloatArray]:
    """Return limits of the differences of shares of right rows, and p-values of no difference."""
    differences = _ShareDifferences.of(first, second)
    limits = differences.limits(normal_quantile(level))
    p = np.asarray(2 * special.ndtr(-differences.statistic()))
    return limits, agreeing_p_values(p, limits, level)


def largest_share_difference(
    strata: Strata, values: FloatArray, level: float, n_families: int = 1
) -> tuple[tuple[float, float], float]:
    """Return limits of the largest difference of shares, and a p-value of no difference.

    The limits of all pairs hold at once. `values` are the shares of right rows.
    """
    k = len(values)
    z = range_critical_value(level, k, n_families)
    low, high = _extreme_pairs(strata, values, z)
    lower, _ = _pairs(strata, low).limits(z)
    _, upper = _pairs(strata, high).limits(z)
    p = range_p_value(float(_pairs(strata, low).statistic().max()), k)
    return (max(float(lower.max()), 0.0), float(upper.max())), p


def _pairs(strata: Strata, pairs: Pairs) -> _ShareDifferences:
    return _ShareDifferences.of(*map(strata.at, pairs))


def _extreme_pairs(strata: Strata, values: FloatArray, z: float) -> Sequence[Pairs]:
    """Return the pairs among which one has the largest lower, and the largest upper limit."""
    if takes_all_pairs(len(values)):
        return all_pairs(values)
    limits = share_limits(strata, normal_level(z))
    return [CandidatePairs.of(values, limits, sign).best(values, limits) for sign in (-1, 1)]


def mover_limits_and_p_values(
    estimates: tuple[FloatArray, FloatArray],
    limits_at: tuple[LimitsAt, LimitsAt],
    level: float,
) -> tuple[Limits, FloatArray]:
    """Return MOVER limits of differences of two scores, and p-values that agree with them.

    Parameters
    ----------
    estimates : two float arrays, shape (pairs,)
        The scores of both sides.
    limits_at : two functions
        Return the limits of both sides at normal quantiles, one for each of the pairs at some
        positions.
    level : float
        Confidence level, between 0 and 1.
    """
    first, second = estimates
    difference, n = first - second, len(first)
    z, every = np.full(n, normal_quantile(level)), np.arange(n)
    limits = mover_difference(first, limits_at[0](z, every), second, limits_at[1](z, every))

    def excess(z: FloatArray, pairs: Int64Array) -> FloatArray:
        at = tested[pairs]
        low, high = (limits_of(z, at) for limits_of in limits_at)
        lower, upper = mover_difference(first[at], low, second[at], high)
        half = np.where(difference[at] > 0, difference[at] - lower, upper - difference[at])
        return np.asarray(np.log(np.maximum(half, np.finfo(float).tiny) / np.abs(difference[at])))

    p = np.where(np.isfinite(difference), 1.0, np.nan)
    tested = np.flatnonzero(np.isfinite(difference) & (difference != 0))
    guess = quantile_guess(difference, limits, level)[tested]
    p[tested] = 2 * special.ndtr(-z_at_zero(excess, guess, np.zeros(len(tested), np.bool_)))
    return limits, np.where(np.isfinite(difference), agreeing_p_values(p, limits, level), np.nan)
