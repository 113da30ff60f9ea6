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
from dataclasses import dataclass, replace

import numpy as np

from balframe.core.array_types import BoolArray, FloatArray, Int64Array
from balframe.core.strata import MIN_LABELS, Strata
from balframe.stats.base import GATE
from balframe.stats.constrained_mle import Statistic, WeightedBinomials, lower_limit
from balframe.stats.differences import scas_difference
from balframe.stats.effective_sample_size import RowsBySide
from balframe.stats.lazy_scipy import special
from balframe.stats.mean_recall import gate_limits, scas_limits, score_limits
from balframe.stats.mover_tests import agreeing_p_values
from balframe.stats.proportions import Limits, Rows, clopper_pearson_lower, normal_quantile
from balframe.stats.root_finding import root_between
from balframe.stats.stratified_binomials import (
    STATISTICS,
    StratifiedBinomials,
    mover_half_width,
    score,
    skewness_corrected_score,
)

_NO_ROWS = 1e-9  # of a recall that is not defined in a completion, as if of so few rows


@dataclass(frozen=True)
class Completions:
    """The rows of a mean of recalls in both completions, of the shape (segments, recalls)."""

    rows: RowsBySide
    weight: FloatArray

    @classmethod
    def of_share(cls, s: Strata) -> "Completions":
        """Return the share of right rows among all rows of the strata."""
        right = s.right.sum(axis=1)
        return cls._of((right, s.n), (right + s.n - s.n_labelled, s.n))

    @classmethod
    def of_recall(cls, s: Strata, predicted: BoolArray) -> "Completions":
        """Return the recall of a label, with the strata predicted to have it."""
        unlabelled, wrong = s.rows - s.labelled, s.labelled - s.right
        detected, perhaps = (
            np.where(predicted, rows, 0).sum(axis=1) for rows in (s.right, unlabelled)
        )
        missed, perhaps_missed = (
            np.where(predicted, 0, rows).sum(axis=1) for rows in (wrong, unlabelled)
        )
        return cls._of(
            (detected, detected + missed + perhaps_missed),
            (detected + perhaps, detected + perhaps + missed),
        )

    @classmethod
    def _of(cls, lowest: Rows, highest: Rows) -> "Completions":
        (x, n), (x_up, n_up) = lowest, highest
        low = x, np.maximum(n, _NO_ROWS)
        high = np.where(n_up > 0, x_up, _NO_ROWS), np.maximum(n_up, _NO_ROWS)
        columns = [each[:, None] for each in (*low, *high)]
        rows = RowsBySide((columns[0], columns[1]), (columns[2], columns[3]))
        return cls(rows, np.ones((len(x), 1)))

    def mean_with(self, other: "Completions") -> "Completions":
        """Return the mean of two recalls, which are lowest and highest at once."""
        lower, upper = (
            (np.hstack([x, other_x]), np.hstack([n, other_n]))
            for (x, n), (other_x, other_n) in (
                (self.rows.lower, other.rows.lower),
                (self.rows.for_upper, other.rows.for_upper),
            )
        )
        weight = np.hstack([self.weight, other.weight]) / 2
        return Completions(RowsBySide(lower, upper), weight)

    def at(self, segments: Int64Array | slice) -> "Completions":
        """Take the segments at these positions."""
        lower, upper = (
            (x[segments], n[segments]) for x, n in (self.rows.lower, self.rows.for_upper)
        )
        return Completions(RowsBySide(lower, upper), self.weight[segments])

    def limits(self, level: float, method: str | None) -> Limits:
        """Return limits by a method that all rows have if they have a label."""
        compute = {GATE: gate_limits, "scas": scas_limits}.get(method or "", score_limits)
        return compute(*self.rows.lower, self.weight, level, self.rows.upper)

    def differences(self, other: "Completions", level: float) -> tuple[Limits, FloatArray]:
        """Return limits of differences from other segments, and p-values of no difference."""
        own, others = self.rows, other.rows
        lower, _, p_above = scas_difference(*own.lower, *others.for_upper, self.weight, level)
        _, upper, p_below = scas_difference(*own.for_upper, *others.lower, self.weight, level)
        lowest = self._score(own.lower) - other._score(others.for_upper)
        highest = self._score(own.for_upper) - other._score(others.lower)
        p = np.select([lowest > 0, highest < 0], [p_above, p_below], 1.0)
        return (lower, upper), agreeing_p_values(p, (lower, upper), level)

    def _score(self, rows: Rows) -> FloatArray:
        return np.asarray((self.weight * rows[0] / rows[1]).sum(axis=1))


_LARGEST_LOG_DOUBT = 12.0  # beyond it, limits are those of any doubt


def doubted_sum(c: WeightedBinomials, p: FloatArray) -> FloatArray:
    """Return the lowest theta that the doubt about rows without a label allows."""
    assert isinstance(c, StratifiedBinomials)
    return np.asarray((c.a * c.doubted(p)).sum(axis=0))


def share_limits(s: Strata, level: float, *, skewness: bool = False) -> Limits:
    """Return limits of the share of right rows among all rows, at the doubt of the strata.

    Parameters
    ----------
    s : Strata
        Strata without rows are ignored.
    level : float
        Confidence level, between 0 and 1.
    skewness : bool, default False
        Correct the test for skewness.

    Returns
    -------
    lower, upper : float arrays, shape (segments,)
    """
    return _share_limits(s, level, (skewness_corrected_score if skewness else score,))


def _share_limits(s: Strata, level: float, statistics: tuple[Statistic, ...]) -> Limits:
    z, sides = normal_quantile(level), []
    for right in (s.right, s.labelled - s.right):
        c = StratifiedBinomials.of_strata(s, right)
        sides.append(lower_limit(c, z, *statistics, value=doubted_sum))
    return sides[0], 1 - sides[1]


def share_gate_limits(s: Strata, level: float) -> Limits:
    """Return the limits that decide: each the wider of two tests, and of MOVER if labels are few.

    MOVER is on Clopper-Pearson's limits of strata, at half the tail of the level.
    """
    lower, upper = _share_limits(s, level, STATISTICS)
    few = np.flatnonzero(have_few_labels(s))
    few_strata, z = s.at(few), normal_quantile(level)
    low, high = (
        _mover_lower(StratifiedBinomials.of_strata(few_strata, right), z)
        for right in (few_strata.right, few_strata.labelled - few_strata.right)
    )
    lower[few], upper[few] = np.minimum(lower[few], low), np.maximum(upper[few], 1 - high)
    return lower, upper


def have_few_labels(s: Strata) -> BoolArray:
    """Return whether a stratum with rows without a label has under five right or wrong ones."""
    fewer = np.minimum(s.right, s.labelled - s.right)
    return np.asarray(((fewer < MIN_LABELS) & (s.labelled < s.rows)).any(axis=1))


def strata_limits(c: StratifiedBinomials, z: FloatArray | float) -> tuple[FloatArray, FloatArray]:
    """Return the share of each stratum and its lower limit that MOVER takes, both with doubt.

    That is Clopper-Pearson's at half the tail: MOVER errs more than its parts where these are
    skewed.
    """
    shares = c.x / c.n
    tail = np.broadcast_to(special.ndtr(-np.asarray(z)) / 2, shares.shape)
    return c.doubted(shares), c.doubted(clopper_pearson_lower(c.x, c.n, tail))


def _mover_lower(c: StratifiedBinomials, z: float) -> FloatArray:
    shares, limits = strata_limits(c, z)
    lowest = (c.a * shares).sum(axis=0) - mover_half_width(c, shares, limits, z)
    return np.asarray(np.maximum(lowest, 0))


def least_doubts(s: Strata, bound: float, limits_of: Callable[[Strata], Limits]) -> FloatArray:
    """Return the least doubt at which limits no longer exclude a bound.

    1 where they include it without doubt, and infinite where they exclude it with any. `limits_of`
    returns the limits of strata at their doubt.
    """

    def limits_at(doubt: FloatArray, at: Int64Array) -> Limits:
        return limits_of(replace(s.at(at), doubt=doubt))

    def excess(log_doubt: FloatArray, at: Int64Array) -> FloatArray:
        lower, upper = limits_at(np.exp(log_doubt), at)
        return np.where(is_above[at], bound - lower, upper - bound)

    every = np.arange(len(s.rows))
    lower, upper = limits_at(np.ones(len(s.rows)), every)
    is_above = lower > bound
    least = np.where(is_above | (upper < bound), np.inf, 1.0)
    tested = np.flatnonzero(np.isinf(least))
    most = np.full(len(tested), _LARGEST_LOG_DOUBT)
    log_doubt = root_between(lambda t, at: excess(t, tested[at]), np.zeros(len(tested)), most)
    least[tested] = np.where(log_doubt < most, np.exp(log_doubt), np.inf)
    return least
