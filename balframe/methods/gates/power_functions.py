"""Power functions: probabilities of a pass and a fail, detectable differences, sample sizes.

The limits of a score decide, so a rule fails if the score is below a critical value. The
probability of that is computed under the truth, from the first three moments of the score. Arrays
have one value for each segment.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Protocol

import numpy as np

from balframe.core.array_types import BoolArray, FloatArray, Int64Array
from balframe.methods.gates.power_designs import StudyDesign, ratio_or_zero
from balframe.stats.constrained_mle import correct_for_skewness
from balframe.stats.lazy_scipy import special
from balframe.stats.root_finding import increasing_root

# Proportions: exact probabilities of Clopper-Pearson limits.


_SAME = 1e-12  # proportions closer than this are equal
_N_ERRORS_AHEAD = 24  # numbers of errors to try beyond the first that suffices

_Condition = Callable[[FloatArray], BoolArray]


@dataclass(frozen=True, slots=True)
class ProportionPower:
    """The power of rules on proportions x / n with lower bounds, by Clopper-Pearson limits.

    `tail` is the probability of an error on either side. All probabilities are exact.
    """

    x: FloatArray
    n: FloatArray
    bound: FloatArray
    tail: FloatArray

    @property
    def mirrored(self) -> "ProportionPower":
        """The power with pass and fail exchanged."""
        return replace(self, x=self.n - self.x, bound=1 - self.bound)

    def _max_failing_count(self) -> FloatArray:
        """Return the most correct rows with an upper limit below the bound, -1 if none has."""
        return _largest_count(lambda k: _binomial_cdf(k, self.n, self.bound) < self.tail, self.n)

    def fail_probability(self, score: FloatArray) -> FloatArray:
        """Return the probability that the upper limit is below the bound, at a true proportion."""
        return _binomial_cdf(self._max_failing_count(), self.n, score)

    def pass_probability(self) -> FloatArray:
        """Return the probability that the lower limit is above the bound, at x / n."""
        mirrored = self.mirrored
        return mirrored.fail_probability(mirrored.x / mirrored.n)

    def detectable_difference(self, power: float) -> FloatArray:
        """Return the smallest decrease of the proportion at which it fails with this probability.

        0 if it does so without a decrease, NaN if it never does.
        """
        most = self._max_failing_count()
        p = 1 - special.betaincinv(self.n - most, most + 1, power)
        return np.where(most < 0, np.nan, np.maximum(self.x / self.n - p, 0))

    def sample_size_factor(self, power: float) -> FloatArray:
        """Return the factor of the rows from which the proportion passes with this probability.

        NaN if it is not above its bound.
        """
        p, is_above = self.x / self.n, self.x / self.n > self.bound + _SAME
        rows = np.full(len(p), np.nan)
        rows[is_above] = _sample_size(
            1 - p[is_above], 1 - self.bound[is_above], self.tail[is_above], power
        )
        return rows / self.n


def _binomial_cdf(k: FloatArray, n: FloatArray, p: FloatArray) -> FloatArray:
    """Return the probability of at most k of n rows, each with probability p; k is below n."""
    possible = np.maximum(k, 0)
    return np.where(k < 0, 0.0, special.betainc(n - possible, possible + 1, 1 - p))


def _largest_count(condition: _Condition, n: FloatArray) -> FloatArray:
    """Return the largest integer below n at which the condition holds; -1 if there is none.

    It holds at all integers below that too.
    """
    low, high = np.full(len(n), -1.0), np.array(n, np.float64)
    while (going := high - low > 1).any():
        middle = np.floor((low + high) / 2)
        is_true = going & condition(np.clip(middle, 0, n - 1))
        low = np.where(is_true, middle, low)
        high = np.where(going & ~is_true, middle, high)
    return low


def _sample_size(
    q: FloatArray, q_at_bound: FloatArray, tail: FloatArray, power: float
) -> FloatArray:
    """Return the rows from which a share of errors q passes with this probability.

    With more rows, more errors are allowed from time to time. In between, the probability
    decreases, so it is lowest just before.
    """

    def min_rows(errors: FloatArray, at: Int64Array) -> FloatArray:
        """Return the fewest rows with which so many errors still pass."""
        high = np.ceil(2 * (errors + 1) / q_at_bound[at]) + 8
        while (is_low := _binomial_cdf(errors, high, q_at_bound[at]) >= tail[at]).any():
            high = np.where(is_low, 2 * high, high)
        low = errors + 0.0
        while (going := high - low > 1).any():
            middle = np.floor((low + high) / 2)
            is_enough = _binomial_cdf(errors, middle, q_at_bound[at]) < tail[at]
            high = np.where(going & is_enough, middle, high)
            low = np.where(going & ~is_enough, middle, low)
        return high

    def is_likely(errors: FloatArray, at: Int64Array) -> BoolArray:
        return _binomial_cdf(errors, min_rows(errors + 1, at) - 1, q[at]) >= power

    everything = np.arange(len(q))
    high = np.zeros(len(q))
    while (unlikely := ~is_likely(high, everything)).any():
        high = np.where(unlikely, 2 * high + 1, high)
    low = np.floor((high - 1) / 2)
    while (going := high - low > 1).any():
        middle = np.floor((low + high) / 2)
        likely = is_likely(middle, everything)
        high = np.where(going & likely, middle, high)
        low = np.where(going & ~likely, middle, low)
    first = high.copy()
    for errors in range(1, _N_ERRORS_AHEAD):
        first = np.where(is_likely(high + errors, everything), first, high + errors + 1)
    return min_rows(first, everything)


# Scores: probabilities from three moments.


_MIN_SHARE = 1e-9  # the share of a score that remains after the largest decrease
_MIN_REACH = 0.1  # standard errors, where the search for the sample size begins
_MIN_LOG_FACTOR = -12.0  # logarithm of the smallest factor of the rows that is tried

_Function = Callable[[FloatArray, Int64Array], FloatArray]


class CriticalValue(Protocol):
    """The critical value: how many standard deviations below its bound a score fails."""

    def __call__(self, z: FloatArray, skewness: FloatArray) -> FloatArray:
        """Compute it from the quantile of the limits and the skewness at the bound."""


def skewness_corrected_critical_value(z: FloatArray, skewness: FloatArray) -> FloatArray:
    """Return the critical value of limits that are corrected for skewness."""
    return np.asarray(skewness * (z * z - 1) / 6 - z)


def wider_critical_value(z: FloatArray, skewness: FloatArray) -> FloatArray:
    """Return the critical value of the wider of the limits with and without the correction."""
    return np.minimum(-z, skewness_corrected_critical_value(z, skewness))


@dataclass(frozen=True, slots=True)
class ScorePower:
    """The power of rules on scores with lower bounds, by limits with a critical value.

    `z` is the normal quantile of the limits.

    References
    ----------
    P. Hall, "On the removal of skewness by transformation", JRSS B 1992, for probabilities from
    three moments; C. P. Farrington and G. Manning, "Test statistics and sample size formulae for
    comparative binomial trials with null hypothesis of non-zero risk difference or non-unity
    relative risk", Statistics in Medicine 1990, for variances under the constraint.
    """

    design: StudyDesign
    bound: FloatArray
    z: FloatArray
    critical_value: CriticalValue = wider_critical_value

    @classmethod
    def of(cls, design: StudyDesign, bound: FloatArray, z: FloatArray) -> "ScorePower":
        """Clip the bounds to the range of the score."""
        return cls(design, np.clip(bound, design.lowest + _MIN_SHARE, 1 - _MIN_SHARE), z)

    def at(self, segments: Int64Array) -> "ScorePower":
        """Return these segments."""
        return replace(
            self, design=self.design.at(segments), bound=self.bound[segments], z=self.z[segments]
        )

    def fail_probability(self, score: FloatArray) -> FloatArray:
        """Return the probability that the upper limit is below the bound, at a true score."""
        truth = self.design.constrained_to(score)
        sd, skewness = truth.moments()
        sd_at_bound, skewness_at_bound = truth.constrained_to(self.bound).moments()
        reach = self.bound + sd_at_bound * self.critical_value(self.z, skewness_at_bound)
        return _probability_below(reach - score, sd, skewness)

    @property
    def mirrored(self) -> "ScorePower":
        """The power with pass and fail exchanged."""
        design = self.design.mirrored()
        bound = -self.bound if design.lowest < 0 else 1 - self.bound
        return replace(self, design=design, bound=bound)

    def pass_probability(self) -> FloatArray:
        """Return the probability that the lower limit is above the bound, at the observed score."""
        mirrored = self.mirrored
        return mirrored.fail_probability(mirrored.design.score)

    def detectable_difference(self, power: float) -> FloatArray:
        """Return the smallest decrease of the score at which it fails with this probability.

        0 if it does so without a decrease, NaN if it never does.
        """
        max_decrease = self.design.score - self.design.lowest
        decrease = np.full(len(max_decrease), np.nan)
        decrease[self.fail_probability(self.design.score) >= power] = 0
        at_end = self.fail_probability(self.design.score - max_decrease * (1 - _MIN_SHARE))
        rows = np.flatnonzero(np.isnan(decrease) & (at_end > power) & (max_decrease > 0))
        selected = self.at(rows)

        def excess(t: FloatArray, at: Int64Array) -> FloatArray:
            part = selected.at(at)
            return (
                part.fail_probability(part.design.score - max_decrease[rows][at] * _to_share(t))
                - power
            )

        decrease[rows] = max_decrease[rows] * _to_share(
            increasing_root(excess, np.zeros(len(rows)))
        )
        return decrease

    def sample_size_factor(self, power: float) -> FloatArray:
        """Return the factor of the rows with which the score passes with this probability.

        The largest such factor if there are several; NaN if the score is not above its bound.
        """
        mirrored, is_above = self.mirrored, self.design.score > self.bound + 2 * _MIN_SHARE
        factor = np.full(len(is_above), np.nan)
        rows = np.flatnonzero(is_above)
        selected = mirrored.at(rows)

        def excess(t: FloatArray, at: Int64Array) -> FloatArray:
            part = selected.at(at)
            more = replace(part, design=part.design.scaled(np.exp(t)))
            return more.fail_probability(part.design.score) - power

        moments = (
            selected.design.moments()[0],
            selected.design.constrained_to(selected.bound).moments()[0],
        )
        reach = np.maximum(selected.z + special.ndtri(power), _MIN_REACH) * np.maximum(*moments)
        guess = 2 * np.log(reach / (selected.bound - selected.design.score))
        factor[rows] = np.exp(_last_upward_root(excess, guess))
        return factor


def _probability_below(distance: FloatArray, sd: FloatArray, skewness: FloatArray) -> FloatArray:
    """Return the probability that a score is no more than this above its expectation."""
    z = correct_for_skewness(ratio_or_zero(distance, sd), skewness)
    return np.where(sd > 0, special.ndtr(z), distance >= 0)


def _to_share(t: FloatArray) -> FloatArray:
    """Map any number to a share between 0 and 1."""
    return np.asarray(special.expit(np.clip(t, -30, 21)))


def _last_upward_root(function: _Function, guess: FloatArray) -> FloatArray:
    """Return where functions become positive for the last time; they stay so from some point on.

    The lower end of the range that is searched if they are positive in all of it.
    """
    t = guess + 4
    rows = np.arange(len(t))
    for step in (1.0, -1.0):
        going = rows
        while len(going):
            going = going[step * function(t[going], going) < 0]
            going = going[t[going] > _MIN_LOG_FACTOR]
            t[going] += step
    inside = np.flatnonzero(t > _MIN_LOG_FACTOR)
    t[inside] = increasing_root(lambda value, at: function(value, inside[at]), t[inside] + 0.5)
    return np.maximum(t, _MIN_LOG_FACTOR)
