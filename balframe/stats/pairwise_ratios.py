"""The smallest limits of ratios (theta_i + offset) / (theta_j + offset) of pairs of scores.

The score statistic of theta_i - rho theta_j + (1 - rho) offset is that of a mean of recalls whose
weights depend on rho, with the factors of its variance at rho = 1. A limit of rho is where it is z.

References
----------
J. J. Gart and J. Nam, "Approximate interval estimation of the ratio of binomial parameters: a
review and corrections for skewness", Biometrics 1988.
"""

from dataclasses import dataclass

import numpy as np

from balframe.core.array_types import BoolArray, FloatArray, Int64Array
from balframe.stats.constrained_mle import WeightedBinomials, skewness_corrected_statistic
from balframe.stats.risk_ratio import ratio_limit
from balframe.stats.root_finding import increasing_root

_LARGEST_LOG_RATIO = 14.0
_FIRST = 32  # pairs whose limits are computed before the others are compared with the smallest
_SMALLEST_SCORE = 1e-12
_MAX_STEPS = 20
_LARGEST_STEP = 1.0
_DIFFERENTIAL = 1e-6
_TOLERANCE = 1e-13
_STATISTIC_TOLERANCE = 1e-9

_Recalls = tuple[FloatArray, FloatArray, FloatArray]  # x, n and a, of the shape (pairs, labels)


def smallest_ratio_limit(first: _Recalls, second: _Recalls, z: float, offset: float = 0) -> float:
    """Return the smallest of 1 and the limits of the ratios of pairs of scores.

    Parameters
    ----------
    first, second : three float arrays, shape (pairs, labels)
        Correct rows, rows and weights of the numerators, and of the denominators.
    z : float
        Positive for lower limits, negative for upper limits.
    offset : float, default 0
        What is added to the scores.

    Returns
    -------
    float
        Where the statistic of a pair is below a positive z for all ratios, it is the least ratio
        that is possible: 0 with offsets up to 0.
    """
    (x_1, n_1, a), (x_2, n_2, _) = first, second
    if a.shape[1] == 1 and offset == 0 and min(n_1.min(), n_2.min()) >= 1:
        return _smallest_risk_ratio(x_1[:, 0], n_1[:, 0], x_2[:, 0], n_2[:, 0], z)
    return _MeanRatios.of(first, second, z, offset).smallest_limit()


def _smallest_risk_ratio(
    x_1: FloatArray, n_1: FloatArray, x_2: FloatArray, n_2: FloatArray, z: float
) -> float:
    """Return the smallest limit of the ratios of proportions, at most 1."""
    smallest = 1.0
    for pairs in (slice(_FIRST), slice(_FIRST, None)):
        if len(x_1[pairs]) and smallest > 0:
            x, n, y, m = (values[pairs] for values in (x_1, n_1, x_2, n_2))
            limits = ratio_limit(x, n, y, m, z, largest=smallest)
            smallest = min(smallest, float(limits.min()))
    return smallest


@dataclass(frozen=True)
class _MeanRatios:
    """Pairs as means of recalls, mirrored for upper limits, so that z is positive for both.

    x, n and a have the shape (pairs, 2 labels).
    """

    x: FloatArray
    n: FloatArray
    a: FloatArray
    share: FloatArray
    z: float
    offset: float
    is_upper: bool

    @classmethod
    def of(cls, first: _Recalls, second: _Recalls, z: float, offset: float) -> "_MeanRatios":
        (x_1, n_1, a), (x_2, n_2, _) = first, second
        x, n, a = np.hstack([x_1, n_2 - x_2]), np.hstack([n_1, n_2]), np.hstack([a, a]) / 2
        share = WeightedBinomials.of(x, n, a).share
        return cls(n - x if z < 0 else x, n, a, share, abs(z), offset, z < 0)

    def at_ratio(self, t: FloatArray, rows: Int64Array) -> tuple[WeightedBinomials, FloatArray]:
        """Return the counts with the weights at log ratios t, and what their mean has to be."""
        rho = np.exp(t)
        factor = 2 * np.column_stack([1 / (1 + rho), rho / (1 + rho)])
        weights = self.a[rows] * np.repeat(factor, self.a.shape[1] // 2, axis=1)
        c = WeightedBinomials.of(self.x[rows], self.n[rows], weights)
        shift = (rho - 1) * self.offset
        theta = ((1 - shift) if self.is_upper else rho + shift) / (1 + rho)
        theta = np.clip(theta, _SMALLEST_SCORE, 1 - _SMALLEST_SCORE)
        return c.with_correction(self.share[:, rows]), theta

    def excess(self, t: FloatArray, rows: Int64Array) -> FloatArray:
        """Return a function of the log ratio that is 0 at the limit, and increasing."""
        c, theta = self.at_ratio(t, rows)
        statistic = skewness_corrected_statistic(c, *c.constrained_mle(theta))
        return statistic - self.z if self.is_upper else self.z - statistic

    def guess(self) -> tuple[FloatArray, FloatArray]:
        """Return about the log ratios at limits, and the logarithms of the multipliers there."""
        k = self.a.shape[1] // 2
        p = (self.x + 0.5) / (self.n + 1)
        variance = 4 * self.a**2 * p * (1 - p) / self.n
        score = 2 * self.a * (1 - p if self.is_upper else p)
        first, second = score[:, :k].sum(axis=1), 1 - score[:, k:].sum(axis=1)
        first, second = (np.maximum(v + self.offset, _SMALLEST_SCORE) for v in (first, second))
        var_1, var_2 = variance[:, :k].sum(axis=1), variance[:, k:].sum(axis=1)
        spread = self.z * np.sqrt(var_1 / first**2 + var_2 / second**2)
        t = np.log(first / second) + (spread if self.is_upper else -spread)
        t = np.clip(t, -13, 13)
        rho = np.exp(t)
        return t, np.log(self.z * (1 + rho) / np.sqrt(var_1 + rho**2 * var_2))

    def smallest_limit(self) -> float:
        """Return the smallest limit, at most 1.

        Only a pair whose statistic is beyond z at the smallest limit so far has a smaller one.
        """
        t, log_multiplier = self.guess()
        order = np.argsort(t, kind="stable")
        first = order[:_FIRST]
        roots, is_solved = self.solve(t[first], log_multiplier[first], first)
        smallest = min(0.0, roots[is_solved].min(initial=0.0))
        rest = np.r_[first[~is_solved], order[_FIRST:]]
        if len(rest):
            rest = rest[self.excess(np.full(len(rest), smallest), rest) > 0]
        if not len(rest):
            return float(np.exp(smallest))
        least = max(self.offset, 0) / (1 + max(self.offset, 0))
        low = np.log(max(least, np.exp(-_LARGEST_LOG_RATIO)))
        if not (self.excess(np.full(len(rest), low), rest) < 0).all():
            return least
        start = np.minimum(t[rest], smallest)
        roots = increasing_root(lambda t, rows: self.excess(t, rest[rows]), start, smallest)
        return float(np.exp(roots.min()))

    def solve(
        self, t: FloatArray, s: FloatArray, pairs: Int64Array
    ) -> tuple[FloatArray, BoolArray]:
        """Return log ratios at limits by Newton's method, and where it converges.

        Log ratio t and logarithm s of the multiplier solve two equations: the fitted recalls have
        the mean that the ratio requires, and the statistic is z.
        """
        t, s, is_solved = t.copy(), s.copy(), np.zeros(len(t), np.bool_)
        rows = np.arange(len(t))
        with np.errstate(all="ignore"):
            for _ in range(_MAX_STEPS):
                f, at_next_t, at_next_s = self._equations(
                    t[rows] + _DIFFERENTIAL * np.array([[0], [1], [0]]),
                    s[rows] + _DIFFERENTIAL * np.array([[0], [0], [1]]),
                    pairs[rows],
                )
                by_t, by_s = (at_next_t - f) / _DIFFERENTIAL, (at_next_s - f) / _DIFFERENTIAL
                determinant = by_t[0] * by_s[1] - by_t[1] * by_s[0]
                step_t = (by_s[0] * f[1] - by_s[1] * f[0]) / determinant
                step_s = (by_t[1] * f[0] - by_t[0] * f[1]) / determinant
                t[rows] += np.clip(step_t, -_LARGEST_STEP, _LARGEST_STEP)
                s[rows] += np.clip(step_s, -_LARGEST_STEP, _LARGEST_STEP)
                is_close = np.abs(step_t) <= _TOLERANCE * (1 + np.abs(t[rows]))
                is_solved[rows] = is_close & (np.abs(f) <= _STATISTIC_TOLERANCE).all(axis=0)
                rows = rows[~is_solved[rows] & (np.abs(t[rows]) < _LARGEST_LOG_RATIO)]
                if not len(rows):
                    break
        return t, is_solved

    def _equations(self, t: FloatArray, s: FloatArray, pairs: Int64Array) -> FloatArray:
        """Return how far two equations are from being solved, of the shape (points, 2, pairs)."""
        c, theta = self.at_ratio(t.ravel(), np.tile(pairs, len(t)))
        multiplier = c.start + np.exp(s.ravel())
        p = c.recalls(multiplier)
        statistic = skewness_corrected_statistic(c, multiplier, p)
        equations = np.stack([np.log((c.a * p).sum(axis=0) / theta), statistic - self.z])
        return np.moveaxis(equations.reshape(2, *t.shape), 1, 0)
