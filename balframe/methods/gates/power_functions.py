"""How likely a gate is to decide: chances of a pass and of a fail, differences and rows needed.

The limits of a score decide, so that a score is found to be below its bound where it is below a
critical value. The chance of that is computed under the truth, from the first three moments of the
score. Arrays have one value for each segment.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Protocol

import numpy as np

from balframe.core.array_types import BoolArray, FloatArray, Int64Array
from balframe.methods.gates.power_designs import Design, over
from balframe.stats.lazy_scipy import special
from balframe.stats.root_finding import increasing_root

# How likely a gate is to decide about proportions: exact probabilities of Clopper-Pearson limits.


_SAME = 1e-12  # proportions closer than this are the same one
_MANY = 24  # numbers of errors behind the first that is enough, which are looked at too

_Holds = Callable[[FloatArray], BoolArray]


@dataclass(frozen=True, slots=True)
class PlannedProportion:
    """Proportions x / n, the bounds that they should not fall below, and Clopper-Pearson limits.

    `tail` is the probability of an error on either side. All probabilities are exact.
    """

    x: FloatArray
    n: FloatArray
    bound: FloatArray
    tail: FloatArray

    @property
    def turned(self) -> "PlannedProportion":
        """Exchange pass and fail."""
        return replace(self, x=self.n - self.x, bound=1 - self.bound)

    def _most_to_fail(self) -> FloatArray:
        """Find the most right rows with the upper limit below the bound; -1 if there is none."""
        return _last(lambda k: _at_most(k, self.n, self.bound) < self.tail, self.n)

    def chance_to_fail(self, score: FloatArray) -> FloatArray:
        """Return the probability that the upper limit is below the bound, at a true proportion."""
        return _at_most(self._most_to_fail(), self.n, score)

    def chance_to_pass(self) -> FloatArray:
        """Return the probability that the lower limit is above the bound, at x / n."""
        turned = self.turned
        return turned.chance_to_fail(turned.x / turned.n)

    def detectable(self, power: float) -> FloatArray:
        """Find the least fall of the proportion at which it fails with this probability.

        0 where it does so without a fall, NaN where it never does.
        """
        most = self._most_to_fail()
        p = 1 - special.betaincinv(self.n - most, most + 1, power)
        return np.where(most < 0, np.nan, np.maximum(self.x / self.n - p, 0))

    def factor_needed(self, power: float) -> FloatArray:
        """Find from how many times the rows on the proportion passes with this probability.

        NaN where it is not above its bound.
        """
        p, known = self.x / self.n, self.x / self.n > self.bound + _SAME
        rows = np.full(len(p), np.nan)
        rows[known] = _rows_needed(1 - p[known], 1 - self.bound[known], self.tail[known], power)
        return rows / self.n


def _at_most(k: FloatArray, n: FloatArray, p: FloatArray) -> FloatArray:
    """Return the probability of at most k of n rows, each with probability p; k is below n."""
    possible = np.maximum(k, 0)
    return np.where(k < 0, 0.0, special.betainc(n - possible, possible + 1, 1 - p))


def _last(holds: _Holds, n: FloatArray) -> FloatArray:
    """Find the largest whole number below n for which it holds, as for all below; -1 if none is."""
    low, high = np.full(len(n), -1.0), np.array(n, np.float64)
    while (going := high - low > 1).any():
        middle = np.floor((low + high) / 2)
        is_held = going & holds(np.clip(middle, 0, n - 1))
        low = np.where(is_held, middle, low)
        high = np.where(going & ~is_held, middle, high)
    return low


def _rows_needed(
    q: FloatArray, q_at_bound: FloatArray, tail: FloatArray, power: float
) -> FloatArray:
    """Find from how many rows on a share of errors q is found to be below that at the bound.

    With more rows, more errors are allowed from time to time. In between the chance falls, so that
    it is lowest just before.
    """

    def allowing(errors: FloatArray, at: Int64Array) -> FloatArray:
        """Find the fewest rows on which so many errors are few enough."""
        high = np.ceil(2 * (errors + 1) / q_at_bound[at]) + 8
        while (few := _at_most(errors, high, q_at_bound[at]) >= tail[at]).any():
            high = np.where(few, 2 * high, high)
        low = errors + 0.0
        while (going := high - low > 1).any():
            middle = np.floor((low + high) / 2)
            enough = _at_most(errors, middle, q_at_bound[at]) < tail[at]
            high = np.where(going & enough, middle, high)
            low = np.where(going & ~enough, middle, low)
        return high

    def is_likely(errors: FloatArray, at: Int64Array) -> BoolArray:
        return _at_most(errors, allowing(errors + 1, at) - 1, q[at]) >= power

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
    for errors in range(1, _MANY):
        first = np.where(is_likely(high + errors, everything), first, high + errors + 1)
    return allowing(first, everything)


_LEAST = 1e-9  # the share of a score that is left at the end of the path
_LEAST_REACH = 0.1  # standard errors, to begin the search for the rows needed
_FEWEST = -12.0  # powers of e, from the rows at hand to the fewest that are looked at

_Function = Callable[[FloatArray, Int64Array], FloatArray]


class Critical(Protocol):
    """How many standard deviations below its bound a score is found to be below it."""

    def __call__(self, z: FloatArray, skewness: FloatArray) -> FloatArray:
        """Compute it from the quantile of the limits and the skewness at the bound."""


def uncorrected(z: FloatArray, skewness: FloatArray) -> FloatArray:
    """Give the critical value of limits without a correction for skewness."""
    return -z


def corrected_for_skewness(z: FloatArray, skewness: FloatArray) -> FloatArray:
    """Give the critical value of limits that are corrected for skewness."""
    return np.asarray(skewness * (z * z - 1) / 6 - z)


def of_wider(z: FloatArray, skewness: FloatArray) -> FloatArray:
    """Give that of the wider of limits with the correction and without."""
    return np.minimum(-z, corrected_for_skewness(z, skewness))


@dataclass(frozen=True, slots=True)
class Planned:
    """Scores, the bounds that they should not fall below, and the limits that decide.

    `z` is the normal quantile of the limits.

    References
    ----------
    P. Hall, "On the removal of skewness by transformation", JRSS B 1992, for probabilities from
    three moments; C. P. Farrington and G. Manning, "Test statistics and sample size formulae for
    comparative binomial trials with null hypothesis of non-zero risk difference or non-unity
    relative risk", Statistics in Medicine 1990, for variances under the constraint.
    """

    design: Design
    bound: FloatArray
    z: FloatArray
    critical: Critical = of_wider

    @classmethod
    def of(
        cls, design: Design, bound: FloatArray, z: FloatArray, critical: Critical = of_wider
    ) -> "Planned":
        """Take any bounds; those that a score cannot pass lie at the ends of its range."""
        inside = np.clip(bound, design.lowest + _LEAST, 1 - _LEAST)
        return cls(design, inside, z, critical)

    def at(self, segments: Int64Array) -> "Planned":
        """Take these segments."""
        return replace(
            self, design=self.design.at(segments), bound=self.bound[segments], z=self.z[segments]
        )

    def chance_to_fail(self, score: FloatArray) -> FloatArray:
        """Return the probability that the upper limit is below the bound, at a true score."""
        truth = self.design.held_at(score)
        sd, skewness = truth.moments()
        sd_at_bound, skewness_at_bound = truth.held_at(self.bound).moments()
        reach = self.bound + sd_at_bound * self.critical(self.z, skewness_at_bound)
        return _probability_below(reach - score, sd, skewness)

    @property
    def turned(self) -> "Planned":
        """Exchange pass and fail."""
        design = self.design.turned()
        bound = -self.bound if design.lowest < 0 else 1 - self.bound
        return replace(self, design=design, bound=bound)

    def chance_to_pass(self) -> FloatArray:
        """Return the probability that the lower limit is above the bound, at the observed score."""
        turned = self.turned
        return turned.chance_to_fail(turned.design.score)

    def detectable(self, power: float) -> FloatArray:
        """Find the least fall of the score at which it fails with this probability.

        0 where it does so without a fall, NaN where it never does.
        """
        most = self.design.score - self.design.lowest
        fall = np.full(len(most), np.nan)
        fall[self.chance_to_fail(self.design.score) >= power] = 0
        at_end = self.chance_to_fail(self.design.score - most * (1 - _LEAST))
        rows = np.flatnonzero(np.isnan(fall) & (at_end > power) & (most > 0))
        own = self.at(rows)

        def excess(t: FloatArray, at: Int64Array) -> FloatArray:
            part = own.at(at)
            return part.chance_to_fail(part.design.score - most[rows][at] * _share(t)) - power

        fall[rows] = most[rows] * _share(increasing_root(excess, np.zeros(len(rows))))
        return fall

    def factor_needed(self, power: float) -> FloatArray:
        """Find how many times the rows pass with this probability, the rates as they are.

        The largest such factor where there are several; NaN where the score is not above its bound.
        """
        turned, known = self.turned, self.design.score > self.bound + 2 * _LEAST
        factor = np.full(len(known), np.nan)
        rows = np.flatnonzero(known)
        own = turned.at(rows)

        def excess(t: FloatArray, at: Int64Array) -> FloatArray:
            part = own.at(at)
            more = replace(part, design=part.design.times(np.exp(t)))
            return more.chance_to_fail(part.design.score) - power

        moments = (own.design.moments()[0], own.design.held_at(own.bound).moments()[0])
        reach = np.maximum(own.z + special.ndtri(power), _LEAST_REACH) * np.maximum(*moments)
        guess = 2 * np.log(reach / (own.bound - own.design.score))
        factor[rows] = np.exp(_last_rise(excess, guess))
        return factor


def _probability_below(distance: FloatArray, sd: FloatArray, skewness: FloatArray) -> FloatArray:
    """Return the probability that a score is no more than this above its expectation."""
    t, skew = over(distance, sd), skewness / 6
    under = 1 + 4 * skew * (skew + t)
    has_root = under >= 0
    with_root = 2 * (skew + t) / (1 + np.sqrt(np.where(has_root, under, 0)))
    z = np.where(has_root, with_root, -1 / (2 * np.where(has_root, 1, skew)))
    return np.where(sd > 0, special.ndtr(z), distance >= 0)


def _share(t: FloatArray) -> FloatArray:
    """Turn any number into a share between 0 and 1."""
    return np.asarray(special.expit(np.clip(t, -30, 21)))


def _last_rise(function: _Function, guess: FloatArray) -> FloatArray:
    """Find where functions become positive for the last time; they are so from some point on.

    The end of the range that is searched where they are positive all over it.
    """
    t = guess + 4
    rows = np.arange(len(t))
    for step in (1.0, -1.0):
        going = rows
        while len(going):
            going = going[step * function(t[going], going) < 0]
            going = going[t[going] > _FEWEST]
            t[going] += step
    found = np.flatnonzero(t > _FEWEST)
    t[found] = increasing_root(lambda one, at: function(one, found[at]), t[found] + 0.5)
    return np.maximum(t, _FEWEST)
