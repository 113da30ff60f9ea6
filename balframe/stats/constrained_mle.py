"""Constrained maximum likelihood estimates of recalls whose weighted mean is fixed.

With x_k of n_k rows of label k correct and weights a_k that sum to 1, the score is the sum of
a_k p_k. If it is constrained to theta, the likelihood is largest at the p_k that solve
x_k / p_k - (n_k - x_k) / (1 - p_k) = l a_k, with one Lagrange multiplier l for all labels; theta
falls as l grows. The observed score then lies l V above theta, with
V = sum_k a_k^2 p_k (1 - p_k) / n_k. Counts need not be whole.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from balframe.core.array_types import BoolArray, FloatArray, Int64Array
from balframe.stats.root_finding import increasing_root

_NEGLIGIBLE = 1e-50  # shares below it change no limit, and their squares underflow
_LARGE_MULTIPLIER = 1e12  # times n / a: at this multiplier the fitted recalls are 0
_SCORE_TOLERANCE = 1e-15  # scores closer than this are equal


@dataclass(frozen=True)
class WeightedBinomials:
    """Counts and weights, one row for each label and one column for each segment."""

    x: FloatArray
    n: FloatArray
    a: FloatArray
    corrected_share: FloatArray | None = None

    @classmethod
    def of(cls, x: FloatArray, n: FloatArray, a: FloatArray) -> "WeightedBinomials":
        """Transpose arrays with one row for each segment and one column for each label."""
        x, n, a = (np.ascontiguousarray(values.T, np.float64) for values in (x, n, a))
        return cls(np.where(x > _NEGLIGIBLE * n, x, 0), n, np.maximum(a, _NEGLIGIBLE))

    def at(self, segments: Int64Array) -> "WeightedBinomials":
        """Take the segments at these positions."""
        share = None if self.corrected_share is None else self.corrected_share[:, segments]
        return WeightedBinomials(
            self.x[:, segments], self.n[:, segments], self.a[:, segments], share
        )

    def with_correction(self, share: FloatArray) -> "WeightedBinomials":
        """Return the same counts with the factors of V_f of other shares, as of other weights."""
        return replace(self, corrected_share=share)

    def mirror(self, where: bool | BoolArray = True) -> "WeightedBinomials":
        """Exchange correct and wrong rows, so that a score becomes 1 - score."""
        return replace(self, x=np.where(where, self.n - self.x, self.x))

    def followed_by(self, other: "WeightedBinomials") -> "WeightedBinomials":
        """Append the segments of other counts of the same labels."""
        pairs = ((self.x, other.x), (self.n, other.n), (self.a, other.a))
        return WeightedBinomials(*map(np.hstack, pairs))

    @cached_property
    def score(self) -> FloatArray:
        """The observed score."""
        return np.asarray((self.a * (self.x / self.n)).sum(axis=0))

    @cached_property
    def variance_factor(self) -> FloatArray:
        """Variance of each label's part of the score, over p (1 - p)."""
        return self.a * self.a / self.n

    @cached_property
    def share(self) -> FloatArray:
        """Share of each label in the sum of the variance factors."""
        return np.asarray(self.variance_factor / self.variance_factor.sum(axis=0))

    @cached_property
    def variance(self) -> FloatArray:
        """V at the observed recalls."""
        p = self.x / self.n
        return np.asarray((self.variance_factor * p * (1 - p)).sum(axis=0))

    @cached_property
    def variance_factor_f(self) -> FloatArray:
        """The variance factors of V_f, corrected for the recalls fitted to the same rows."""
        share = self.share if self.corrected_share is None else self.corrected_share
        return self.corrected_factor(share)

    def corrected_factor(self, share: FloatArray) -> FloatArray:
        """Return the variance factors times n / (n - 1 + share), with n at least 1."""
        rows = np.maximum(self.n, 1)
        return self.variance_factor * rows / (rows - 1 + share)

    @cached_property
    def third_moment_factor(self) -> FloatArray:
        """Third moment of each label's part of the score, over p (1 - p) (1 - 2 p)."""
        return self.variance_factor * self.a / self.n

    @cached_property
    def start(self) -> FloatArray:
        """The multiplier up to which p stays as observed: 0, unless no row varies."""
        varies = ((self.x > 0) & (self.x < self.n)).any(axis=0)
        smallest = np.where(self.x > 0, self.n / self.a, np.inf).min(axis=0)
        return np.where(varies, 0.0, smallest)

    def recalls(self, multiplier: FloatArray) -> FloatArray:
        """Return the estimates p_k at multipliers of at least 0; they fall as these grow."""
        la = multiplier * self.a
        root = np.sqrt((self.n - la) ** 2 + 4 * la * (self.n - self.x))
        p = 2 * self.x / (self.n + la + root)
        return np.minimum(np.maximum(p, 0), 1)

    def constrained_mle(self, theta: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return the multipliers, of either sign, and the estimates p_k for scores theta."""
        is_above = self.score > theta
        active = np.flatnonzero(np.abs(self.score - theta) > _SCORE_TOLERANCE)
        multiplier, p = np.zeros(len(theta)), self.x / self.n
        lowered = self.mirror(~is_above).at(active)
        target = np.where(is_above, theta, 1 - theta)[active]
        size = lowered.start + np.exp(_log_multiplier(lowered, target))
        fitted = lowered.recalls(size)
        multiplier[active] = np.where(is_above[active], size, -size)
        p[:, active] = np.where(is_above[active], fitted, 1 - fitted)
        return multiplier, p


def _log_multiplier(c: WeightedBinomials, theta: FloatArray) -> FloatArray:
    """Return the log of the multiplier less its start, for theta below the observed score."""
    guess = np.where(c.start > 0, c.start, (c.score - theta) / np.maximum(c.variance, _NEGLIGIBLE))

    def excess(t: FloatArray, rows: Int64Array) -> FloatArray:
        c_rows = c if len(rows) == len(theta) else c.at(rows)
        p = c_rows.recalls(c_rows.start + np.exp(t))
        return np.asarray(theta[rows] - (c_rows.a * p).sum(axis=0))

    return increasing_root(excess, np.log(guess))


Statistic = Callable[[WeightedBinomials, FloatArray, FloatArray], FloatArray]


def score_statistic(c: WeightedBinomials, multiplier: FloatArray, p: FloatArray) -> FloatArray:
    """Return the observed score less theta over its standard error; 0 where nothing varies."""
    pq = p * (1 - p)
    return np.asarray(multiplier * (c.variance_factor * pq).sum(axis=0) / _standard_error(c, pq))


def skewness_corrected_statistic(
    c: WeightedBinomials, multiplier: FloatArray, p: FloatArray
) -> FloatArray:
    """Return the score statistic corrected for skewness, with k3 its third central moment."""
    pq = p * (1 - p)
    error = _standard_error(c, pq)
    statistic = multiplier * (c.variance_factor * pq).sum(axis=0) / error
    third_moment = (c.third_moment_factor * pq * (1 - 2 * p)).sum(axis=0)
    return correct_for_skewness(statistic, third_moment / error**3)


def correct_for_skewness(statistic: FloatArray, skewness: FloatArray) -> FloatArray:
    """Return the root z of T = z + A (z^2 - 1), for a statistic T and A = skewness / 6.

    Where this quadratic equation has no root, the result is its vertex -1 / (2 A).
    """
    a = skewness / 6
    discriminant = 1 + 4 * a * (a + statistic)
    has_root = discriminant >= 0
    root = 2 * (a + statistic) / (1 + np.sqrt(np.where(has_root, discriminant, 0)))
    return np.where(has_root, root, -1 / (2 * np.where(has_root, 1, a)))


def _standard_error(c: WeightedBinomials, pq: FloatArray) -> FloatArray:
    """Return the root of V_f, infinite where nothing varies, so that the statistic is 0 there."""
    variance = (c.variance_factor_f * pq).sum(axis=0)
    return np.sqrt(np.where(variance > 0, variance, np.inf))


def _score_of(c: WeightedBinomials, p: FloatArray) -> FloatArray:
    return np.asarray((c.a * p).sum(axis=0))


def lower_limit(
    c: WeightedBinomials,
    z: FloatArray | float,
    *statistics: Statistic,
    value: Callable[[WeightedBinomials, FloatArray], FloatArray] = _score_of,
) -> FloatArray:
    """Return the least theta at which one of the statistics is at most z.

    The upper limit is 1 less the lower limit of the mirrored counts (`WeightedBinomials.mirror`).
    `z` is one quantile for all segments, or one for each. `value` returns the limit from the p_k at
    theta, by default theta itself. The limit is 0 where no statistic exceeds
    z anywhere: the skewness-corrected statistic of few rows is bounded.
    """
    lower = np.zeros(len(c.score))
    z = np.broadcast_to(z, lower.shape)
    rows = np.flatnonzero((c.x > 0).any(axis=0))
    offset = np.zeros(len(lower))
    for statistic in statistics:
        c_rows, largest = c.at(rows), _LARGE_MULTIPLIER * (c.n / c.a).max(axis=0)[rows]
        is_below = _statistic_at(c_rows, offset[rows], statistic) < z[rows]
        exceeds = _statistic_at(c_rows, largest, statistic) > z[rows]
        offset[rows[is_below & ~exceeds]] = np.inf
        solved = np.flatnonzero(is_below & exceeds)
        offset[rows[solved]] = _solve_statistic(c_rows.at(solved), z[rows[solved]], statistic)
        rows = rows[np.isfinite(offset[rows])]
    c_rows = c.at(rows)
    limit = value(c_rows, c_rows.recalls(c_rows.start + offset[rows]))
    lower[rows] = np.minimum(limit, c_rows.score)
    return lower


def _statistic_at(c: WeightedBinomials, offset: FloatArray, statistic: Statistic) -> FloatArray:
    """Return a statistic at the multipliers `start + offset`."""
    multiplier = c.start + offset
    return statistic(c, multiplier, c.recalls(multiplier))


def _solve_statistic(c: WeightedBinomials, z: FloatArray, statistic: Statistic) -> FloatArray:
    """Return the offset of the multiplier from its start at which the statistic is z."""
    sd = np.sqrt(c.variance)
    guess = np.where(sd > 0, z / np.maximum(sd, _NEGLIGIBLE), z * z / c.a.max(axis=0))

    def excess(t: FloatArray, rows: Int64Array) -> FloatArray:
        c_rows = c if len(rows) == len(sd) else c.at(rows)
        return _statistic_at(c_rows, np.exp(t), statistic) - z[rows]

    return np.exp(increasing_root(excess, np.log(guess)))
