"""Weighted means of recalls under a constraint, by maximum likelihood: for limits and for tests.

With x_k of n_k rows of label k correct and weights a_k that sum to 1, the score is the sum of
a_k p_k. Where it is held at theta, the likelihood is largest at the p_k that solve
x_k / p_k - (n_k - x_k) / (1 - p_k) = l a_k, with one multiplier l for all labels; theta falls as l
grows. The observed score then lies l V above theta, with V = sum_k a_k^2 p_k (1 - p_k) / n_k.
Counts need not be whole.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from balframe.core.array_types import BoolArray, FloatArray, Int64Array
from balframe.stats.root_finding import increasing_root

_NOTHING = 1e-50  # shares below it change no limit, and their squares have no digits
_FAR = 1e12  # times n / a: a multiplier that leaves no share of correct rows
_SAME = 1e-15  # scores closer than this are the same one


@dataclass(frozen=True)
class Segments:
    """Counts and weights, one row for each label and one column for each segment."""

    x: FloatArray
    n: FloatArray
    a: FloatArray

    @classmethod
    def of(cls, x: FloatArray, n: FloatArray, a: FloatArray) -> "Segments":
        """Take arrays with one row for each segment and one column for each label."""
        x, n, a = (np.ascontiguousarray(values.T, np.float64) for values in (x, n, a))
        return cls(np.where(x > _NOTHING * n, x, 0), n, np.maximum(a, _NOTHING))

    def at(self, segments: Int64Array) -> "Segments":
        """Take some of the segments."""
        return Segments(self.x[:, segments], self.n[:, segments], self.a[:, segments])

    def mirrored(self, where: bool | BoolArray = True) -> "Segments":
        """Count wrong rows in place of correct ones, so that a score becomes 1 - score."""
        return replace(self, x=np.where(where, self.n - self.x, self.x))

    def and_mirrored(self) -> "Segments":
        """Put the segments with wrong rows in place of correct ones behind them."""
        x = np.hstack((self.x, self.mirrored().x))
        return Segments(x, np.hstack((self.n, self.n)), np.hstack((self.a, self.a)))

    @cached_property
    def score(self) -> FloatArray:
        """The score that was observed."""
        return np.asarray((self.a * (self.x / self.n)).sum(axis=0))

    @cached_property
    def part(self) -> FloatArray:
        """Variance of each label's part of the score, over p (1 - p)."""
        return self.a * self.a / self.n

    @cached_property
    def share(self) -> FloatArray:
        """Share of each label in the sum of the parts."""
        return np.asarray(self.part / self.part.sum(axis=0))

    @cached_property
    def variance(self) -> FloatArray:
        """V at the recalls that were observed."""
        p = self.x / self.n
        return np.asarray((self.part * p * (1 - p)).sum(axis=0))

    @cached_property
    def part_f(self) -> FloatArray:
        """The parts, larger for the recalls having been fitted to these rows."""
        return self.corrected(self.share)

    def corrected(self, share: FloatArray) -> FloatArray:
        """Enlarge the parts by n / (n - 1 + share); fewer effective rows than one count as one."""
        rows = np.maximum(self.n, 1)
        return self.part * rows / (rows - 1 + share)

    @cached_property
    def third(self) -> FloatArray:
        """Third moment of each label's part of the score, over p (1 - p) (1 - 2 p)."""
        return self.part * self.a / self.n

    @cached_property
    def start(self) -> FloatArray:
        """The multiplier up to which p stays as observed: 0, unless no row varies."""
        varies = ((self.x > 0) & (self.x < self.n)).any(axis=0)
        first = np.where(self.x > 0, self.n / self.a, np.inf).min(axis=0)
        return np.where(varies, 0.0, first)

    def recalls(self, multiplier: FloatArray) -> FloatArray:
        """Fit p_k; they fall as the multiplier, which is not negative, grows."""
        la = multiplier * self.a
        root = np.sqrt((self.n - la) ** 2 + 4 * la * (self.n - self.x))
        p = 2 * self.x / (self.n + la + root)
        return np.minimum(np.maximum(p, 0), 1)

    def held_at(self, theta: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Find the multipliers, of either sign, and p_k where the scores are held at theta."""
        is_above = self.score > theta
        moved = np.flatnonzero(np.abs(self.score - theta) > _SAME)
        multiplier, p = np.zeros(len(theta)), self.x / self.n
        one = self.mirrored(~is_above).at(moved)
        target = np.where(is_above, theta, 1 - theta)[moved]
        found = one.start + np.exp(_log_multiplier(one, target))
        fitted = one.recalls(found)
        multiplier[moved] = np.where(is_above[moved], found, -found)
        p[:, moved] = np.where(is_above[moved], fitted, 1 - fitted)
        return multiplier, p


def _log_multiplier(c: Segments, theta: FloatArray) -> FloatArray:
    """Find how far above its start the multiplier is, where theta is below the observed score."""
    guess = np.where(c.start > 0, c.start, (c.score - theta) / np.maximum(c.variance, _NOTHING))

    def excess(t: FloatArray, rows: Int64Array) -> FloatArray:
        own = c if len(rows) == len(theta) else c.at(rows)
        p = own.recalls(own.start + np.exp(t))
        return np.asarray(theta[rows] - (own.a * p).sum(axis=0))

    return increasing_root(excess, np.log(guess))


Statistic = Callable[[Segments, FloatArray, FloatArray], FloatArray]


def standardised(c: Segments, multiplier: FloatArray, p: FloatArray) -> FloatArray:
    """Divide the distance of the observed score by its standard error; 0 where nothing varies."""
    spread = p * (1 - p)
    return np.asarray(multiplier * (c.part * spread).sum(axis=0) / _standard_error(c, spread))


def corrected(c: Segments, multiplier: FloatArray, p: FloatArray) -> FloatArray:
    """Correct the standardised distance T for skewness: the root of T = z + A (z^2 - 1).

    A = k3 / (6 V_f^1.5), with k3 the third central moment of the score. Where this quadratic
    equation has no root, its vertex -1 / (2 A) takes the place of one.
    """
    spread = p * (1 - p)
    error = _standard_error(c, spread)
    distance = multiplier * (c.part * spread).sum(axis=0) / error
    skew = (c.third * spread * (1 - 2 * p)).sum(axis=0) / (6 * error**3)
    under = 1 + 4 * skew * (skew + distance)
    has_root = under >= 0
    with_root = 2 * (skew + distance) / (1 + np.sqrt(np.where(has_root, under, 0)))
    return np.where(has_root, with_root, -1 / (2 * np.where(has_root, 1, skew)))


def _standard_error(c: Segments, spread: FloatArray) -> FloatArray:
    """Take the root of V_f; infinite where nothing varies, so that no distance counts there."""
    variance = (c.part_f * spread).sum(axis=0)
    return np.sqrt(np.where(variance > 0, variance, np.inf))


def lower_limit(c: Segments, z: FloatArray | float, *statistics: Statistic) -> FloatArray:
    """Find the least theta at which one of the statistics is no more than z, one for all or each.

    That is 0 where none is ever more: corrected for skewness, a distance from few rows is bounded.
    """
    lower = np.zeros(len(c.score))
    z = np.broadcast_to(z, lower.shape)
    rows = np.flatnonzero((c.x > 0).any(axis=0))
    beyond = np.zeros(len(lower))
    for statistic in statistics:
        own, far = c.at(rows), _FAR * (c.n / c.a).max(axis=0)[rows]
        goes_on = _standing(own, beyond[rows], statistic) < z[rows]
        ends = _standing(own, far, statistic) > z[rows]
        beyond[rows[goes_on & ~ends]] = np.inf
        searched = np.flatnonzero(goes_on & ends)
        beyond[rows[searched]] = _where_it_reaches(own.at(searched), z[rows[searched]], statistic)
        rows = rows[np.isfinite(beyond[rows])]
    own = c.at(rows)
    limit = (own.a * own.recalls(own.start + beyond[rows])).sum(axis=0)
    lower[rows] = np.minimum(limit, own.score)
    return lower


def _standing(c: Segments, beyond: FloatArray, statistic: Statistic) -> FloatArray:
    """Compute a statistic at multipliers so far beyond their start."""
    multiplier = c.start + beyond
    return statistic(c, multiplier, c.recalls(multiplier))


def _where_it_reaches(c: Segments, z: FloatArray, statistic: Statistic) -> FloatArray:
    """Find how far beyond its start a multiplier is where the statistic is z."""
    sd = np.sqrt(c.variance)
    guess = np.where(sd > 0, z / np.maximum(sd, _NOTHING), z * z / c.a.max(axis=0))

    def excess(t: FloatArray, rows: Int64Array) -> FloatArray:
        own = c if len(rows) == len(sd) else c.at(rows)
        return _standing(own, np.exp(t), statistic) - z[rows]

    return np.exp(increasing_root(excess, np.log(guess)))
