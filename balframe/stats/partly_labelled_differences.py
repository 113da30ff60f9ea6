"""Differences of scores of segments of which only some rows have a true label.

Differences of shares have the limits that two score tests do not reject, one of which is corrected
for skewness: both are of (1 + d) / 2, and the p-value is that of the test of d = 0. Other scores
have MOVER limits, from the limits of both sides, and the p-value is that of the level at which
these are 0. With doubt, the limits are those of the extreme shares that it allows.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from balframe.core.array_types import FloatArray, Int64Array
from balframe.core.strata import Strata
from balframe.stats.candidate_pairs import (
    CandidatePairs,
    Pairs,
    all_pairs,
    range_critical_value,
    range_p_value,
    takes_all_pairs,
)
from balframe.stats.constrained_mle import lower_limit
from balframe.stats.lazy_scipy import special
from balframe.stats.mover_tests import agreeing_p_values, quantile_guess, z_at_zero
from balframe.stats.partly_labelled import doubted_sum, share_limits
from balframe.stats.partly_labelled_recalls import CorrectedScore
from balframe.stats.proportions import Limits, normal_level, normal_quantile
from balframe.stats.root_finding import root_between
from balframe.stats.stratified_binomials import STATISTICS, StratifiedBinomials


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
            2 * lower_limit(c, z, *STATISTICS, value=doubted_sum) - 1
            for c in (self.smallest, self.largest)
        )
        return lower, -mirrored

    def statistic(self) -> FloatArray:
        """Return how many standard errors from 0 each difference is; 0 where it may be either."""
        sides = []
        for c in (self.smallest, self.largest):
            fitted = c.constrained_mle(_mean_at_zero(c))
            sides.append(np.minimum(*(statistic(c, *fitted) for statistic in STATISTICS)))
        return np.maximum(np.maximum(*sides), 0)


def _mean_at_zero(c: StratifiedBinomials) -> FloatArray:
    """Return the mean of two shares at which doubt allows a mean of 1/2, and thus no difference.

    It is the observed mean where this allows it.
    """
    middle, mean = np.full(len(c.score), 0.5), c.score.copy()
    doubted = np.flatnonzero((c.doubt > np.ones(len(mean))) & (mean > middle))
    without = np.setdiff1d(np.arange(len(mean)), doubted)

    def excess(mean: FloatArray, at: Int64Array) -> FloatArray:
        some = c.at(doubted[at])
        return doubted_sum(some, some.constrained_mle(mean)[1]) - 0.5

    mean[doubted] = root_between(excess, middle[doubted], mean[doubted])
    mean[without] = 0.5
    return mean


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
    first: CorrectedScore, second: CorrectedScore, level: float
) -> tuple[Limits, FloatArray]:
    """Return MOVER limits of differences of two scores, and p-values that agree with them.

    p-values are NaN where a score is not defined.
    """
    both = first.followed_by(second)
    (low, other_low), (high, other_high) = (np.split(ends, 2) for ends in both.extremes())
    lowest, highest, n = low - other_high, high - other_low, len(low)

    def distances(z: FloatArray, at: Int64Array) -> tuple[FloatArray, FloatArray]:
        """Return how far the limits are from the lowest and from the highest differences."""
        limits = both.at(np.r_[at, n + at]).limits(np.tile(z, 2), "difference")
        (lower, other_lower), (upper, other_upper) = (np.split(limit, 2) for limit in limits)
        below = np.hypot(low[at] - lower, other_upper - other_high[at])
        return below, np.hypot(upper - high[at], other_low[at] - other_lower)

    below, above = distances(np.full(n, normal_quantile(level)), np.arange(n))
    limits = lowest - below, highest + above
    nearest = np.select([lowest > 0, highest < 0], [lowest, highest], 0.0)

    def excess(z: FloatArray, pairs: Int64Array) -> FloatArray:
        at = tested[pairs]
        below, above = distances(z, at)
        half = np.where(nearest[at] > 0, below, above)
        return np.asarray(np.log(np.maximum(half, np.finfo(float).tiny) / np.abs(nearest[at])))

    p = np.where(np.isfinite(lowest + highest), 1.0, np.nan)
    tested = np.flatnonzero(np.isfinite(p) & (nearest != 0))
    guess = quantile_guess(nearest, (nearest - below, nearest + above), level)[tested]
    p[tested] = 2 * special.ndtr(-z_at_zero(excess, guess, np.zeros(len(tested), np.bool_)))
    return limits, np.where(np.isnan(p), np.nan, agreeing_p_values(p, limits, level))
