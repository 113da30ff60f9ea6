"""The smallest limits of ratios (theta_i + offset) / (theta_j + offset) of pairs of scores.

The score statistic of theta_i - rho theta_j + (1 - rho) offset is that of a mean of recalls whose
weights depend on rho, with the factors of its variance at rho = 1. A limit of rho is where it is z.

References
----------
J. J. Gart and J. Nam, "Approximate interval estimation of the ratio of binomial parameters: a
review and corrections for skewness", Biometrics 1988.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from balframe.core.array_types import BoolArray, FloatArray, Int64Array
from balframe.stats.constrained_mle import (
    WeightedBinomials,
    correct_for_skewness,
    skewness_corrected_statistic,
)
from balframe.stats.differences import difference_as_mean_recall
from balframe.stats.proportions import Limits, Rows
from balframe.stats.root_finding import increasing_root

RatioStatistic = Callable[[FloatArray, FloatArray, FloatArray, FloatArray, FloatArray], FloatArray]


def ratio_statistic(
    x_1: FloatArray, n_1: FloatArray, x_2: FloatArray, n_2: FloatArray, ratio: FloatArray
) -> FloatArray:
    """Return the statistic of the test that p_1 / p_2 is a ratio; 0 where nothing varies.

    It is the root z of T = z + A (z^2 - 1), with T = (x_1 / n_1 - ratio x_2 / n_2) / sqrt(V) and
    A = k3 / (6 V^1.5). V is the variance and k3 the third central moment of the numerator at the
    p_1 = ratio p_2 and p_2 of maximum likelihood; V has the factor n / (n - 1), n = n_1 + n_2. The
    statistic falls as the ratio grows up to 1 wherever it is 1 or more, or -1 or less. It is below
    sqrt(1 + 6 x_1 n / (n - 1)). At a ratio of 1, it is that of the test that p_1 and p_2 are equal.

    Parameters
    ----------
    x_1, n_1, x_2, n_2, ratio : float arrays
        Selected rows and all rows of the two proportions, every n at least 1; ratios above 0. They
        are broadcast against each other.

    References
    ----------
    J. J. Gart and J. Nam, "Approximate interval estimation of the ratio of binomial parameters: a
    review and corrections for skewness", Biometrics 1988; with the n / (n - 1) of O. Miettinen and
    M. Nurminen, "Comparative analysis of two rates", Statistics in Medicine 1985.
    """
    return correct_for_skewness(*_score_and_skewness(x_1, n_1, x_2, n_2, ratio))


def uncorrected_ratio_statistic(
    x_1: FloatArray, n_1: FloatArray, x_2: FloatArray, n_2: FloatArray, ratio: FloatArray
) -> FloatArray:
    """Return T of `ratio_statistic`, which is not bounded."""
    return _score_and_skewness(x_1, n_1, x_2, n_2, ratio)[0]


def _score_and_skewness(
    x_1: FloatArray, n_1: FloatArray, x_2: FloatArray, n_2: FloatArray, ratio: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """Return T and k3 / V^1.5."""
    # p and 1 - p are sums without cancellation, so that they are right near 0 and near 1
    selected, unselected_1, unselected_2 = x_1 + x_2, n_1 - x_1, n_2 - x_2
    linear = selected * (1 - ratio) + unselected_2 - unselected_1 * ratio
    product = 4 * unselected_1 * unselected_2 * ratio
    root = np.sqrt(linear**2 + product)
    # root - |linear|: the smaller of two sums, whose product is `product`
    smaller = product / np.maximum(root + np.abs(linear), 1e-300)
    above, below = np.where(linear > 0, (root + linear, smaller), (smaller, root - linear))
    whole = selected * (1 + ratio) + unselected_2 + unselected_1 * ratio + root
    p_2, q_2 = 2 * selected / whole, (2 * unselected_2 + below) / whole
    p_1, q_1 = ratio * p_2, (2 * unselected_1 * ratio + above) / whole
    variance_1, variance_2 = p_1 * q_1 / n_1, ratio**2 * p_2 * q_2 / n_2
    variance = (variance_1 + variance_2) * (n_1 + n_2) / (n_1 + n_2 - 1)
    error = np.sqrt(np.where(variance > 0, variance, np.inf))
    third = variance_1 * (q_1 - p_1) / n_1 - ratio * variance_2 * (q_2 - p_2) / n_2
    return (x_1 / n_1 - ratio * x_2 / n_2) / error, third / error**3


def ratio_limit(
    x_1: FloatArray,
    n_1: FloatArray,
    x_2: FloatArray,
    n_2: FloatArray,
    z: FloatArray | float,
    *,
    largest: FloatArray | float = 1.0,
    statistic: RatioStatistic = ratio_statistic,
) -> FloatArray:
    """Return the ratio p_1 / p_2 whose statistic is z, at most the largest one.

    With the normal quantile z of a level, z gives the lower confidence limit and -z the upper one.

    Parameters
    ----------
    x_1, n_1, x_2, n_2 : float arrays, shape (pairs,)
        Selected rows and all rows of the two proportions; every n is at least 1.
    z : float, or float array of the shape (pairs,)
        Positive for a lower limit, negative for an upper limit.
    largest : float array, shape (pairs,), default 1
        Limits above it are not searched; above 0 and at most 1.
    statistic : function, default ratio_statistic
        That of the test, or `uncorrected_ratio_statistic`.

    Returns
    -------
    float array, shape (pairs,)
        A lower limit is 0 where the statistic, which is bounded, is below z everywhere.
    """
    largest, z = np.broadcast_to(largest, x_1.shape), np.broadcast_to(z, x_1.shape)
    is_below = statistic(x_1, n_1, x_2, n_2, largest) < z
    is_reached = x_1 > 0
    if statistic is ratio_statistic:
        is_reached = z < np.sqrt(1 + 6 * x_1 * (n_1 + n_2) / (n_1 + n_2 - 1))
    limit = np.where(is_below, 0.0, largest)
    rows = np.flatnonzero(is_below & is_reached)
    x, n, y, m, quantile = (values[rows] for values in (x_1, n_1, x_2, n_2, z))

    def excess(log_ratio: FloatArray, at: Int64Array) -> FloatArray:
        """Return its quantile less the statistic, which falls as the ratio grows."""
        return quantile[at] - statistic(x[at], n[at], y[at], m[at], np.exp(log_ratio))

    spread = np.sqrt(1 / (x + 0.5) + 1 / (y + 0.5))
    guess = np.log((x + 0.5) / n * m / (y + 0.5)) - quantile * spread
    root = increasing_root(excess, guess, below=np.log(largest[rows]))
    limit[rows] = np.minimum(np.exp(root), largest[rows])
    return limit


def risk_ratio_limits(
    first: Rows, second: Rows, upper_rows: tuple[Rows, Rows], z: float, *, wider: bool = False
) -> Limits:
    """Return the limits of the ratio of two proportions, of any size.

    Parameters
    ----------
    first, second : two float arrays, shape (pairs,)
        Selected rows and all rows of the proportion above and of the one below, for the lower
        limit.
    upper_rows : two pairs of float arrays
        The same for the upper limit.
    z : float
        Normal quantile, above 0.
    wider : bool, default False
        Whether to return the wider of these limits and those without the correction for skewness.

    Returns
    -------
    lower, upper : float arrays, shape (pairs,)
        The upper limit is infinite where the statistic is above -z for all ratios.
    """
    upper_first, upper_second = upper_rows
    # one over an upper limit is the lower one of the inverse ratio
    above, below = (np.hstack(rows) for rows in ((first, upper_second), (second, upper_first)))
    statistics: list[RatioStatistic] = [ratio_statistic]
    if wider:
        statistics.append(uncorrected_ratio_statistic)
    limits = [_lower_limit((*above, *below), z, statistic) for statistic in statistics]
    lower, inverse = np.split(np.min(limits, axis=0), 2)
    with np.errstate(divide="ignore"):
        return lower, 1 / inverse


def _lower_limit(
    rows: tuple[FloatArray, FloatArray, FloatArray, FloatArray],
    z: float,
    statistic: RatioStatistic,
) -> FloatArray:
    """Return the lower limit of a ratio; above 1 it is one over the upper limit of 1 / ratio."""
    is_above = statistic(*rows, np.ones(len(rows[0]))) >= z
    x_1, n_1, x_2, n_2 = np.where(is_above, (*rows[2:], *rows[:2]), rows)
    limit = ratio_limit(x_1, n_1, x_2, n_2, np.where(is_above, -z, z), statistic=statistic)
    with np.errstate(divide="ignore"):
        return np.where(is_above, 1 / limit, limit)


_LARGEST_LOG_RATIO = 14.0
_FIRST = 32  # pairs whose limits are computed before the others are compared with the smallest
_SMALLEST_SCORE = 1e-12
_MAX_STEPS = 20
_LARGEST_STEP = 1.0
_DIFFERENTIAL = 1e-6
_TOLERANCE = 1e-13
_STATISTIC_TOLERANCE = 1e-9

# x and n of the numerators and of the denominators, and a, of the shape (pairs, labels)
RatioRows = tuple[FloatArray, FloatArray, FloatArray, FloatArray, FloatArray]


def smallest_ratio_limits(
    lower: RatioRows, upper: RatioRows, z: float, offset: float = 0
) -> tuple[float, float]:
    """Return the smallest of 1 and the lower limits of ratios, and of 1 and the upper limits.

    Parameters
    ----------
    lower, upper : five float arrays, shape (pairs, labels)
        Correct rows and rows of the numerators and of the denominators, and weights, of the pairs
        whose lower limits, and of those whose upper limits are computed.
    z : float
        Critical value, above 0.
    offset : float, default 0
        What is added to the scores.

    Returns
    -------
    lower, upper : float
        Where the statistic of a pair is below z for all ratios, its lower limit is the least ratio
        that is possible: 0 with offsets up to 0.
    """
    is_upper = np.arange(len(lower[0]) + len(upper[0])) >= len(lower[0])
    x_1, n_1, x_2, n_2, a = map(np.vstack, zip(lower, upper, strict=True))
    if are_proportions(a, n_1, n_2) and offset == 0:
        risks = (values[:, 0] for values in (x_1, n_1, x_2, n_2))
        limits = _smallest_risk_ratios(*risks, z=z, is_upper=is_upper)
    else:
        recalls = difference_as_mean_recall(x_1, n_1, x_2, n_2, a)
        limits = _MeanRatios.of(*recalls, z=z, offset=offset, is_upper=is_upper).smallest_limits()
    return float(limits[0]), float(limits[1])


def are_proportions(a: FloatArray, *rows: FloatArray) -> bool:
    """Return whether scores are those for which `ratio_statistic` is defined."""
    return a.shape[1] == 1 and all(n.min() >= 1 for n in rows)


def _smallest_risk_ratios(
    x_1: FloatArray,
    n_1: FloatArray,
    x_2: FloatArray,
    n_2: FloatArray,
    *,
    z: float,
    is_upper: BoolArray,
) -> FloatArray:
    """Return the smallest lower and the smallest upper limit of ratios of proportions, up to 1."""
    side, smallest = is_upper.astype(np.int64), np.ones(2)
    is_first = _first_of_each_side(np.arange(len(side)), side)
    for is_next in (is_first, ~is_first):
        pairs = np.flatnonzero(is_next & (smallest[side] > 0))
        if not len(pairs):
            break
        x, n, y, m, z_pairs = (v[pairs] for v in (x_1, n_1, x_2, n_2, np.where(is_upper, -z, z)))
        limits = ratio_limit(x, n, y, m, z_pairs, largest=smallest[side[pairs]])
        smallest = _side_minima(limits, side[pairs], smallest)
    return smallest


def _first_of_each_side(order: Int64Array, side: Int64Array) -> BoolArray:
    """Return whether each pair is among the first of its side in this order."""
    is_first = np.zeros(len(side), np.bool_)
    for code in (0, 1):
        is_first[order[side[order] == code][:_FIRST]] = True
    return is_first


def _side_minima(values: FloatArray, side: Int64Array, initial: FloatArray) -> FloatArray:
    """Return the smallest value of each side, if it is below the initial one."""
    return np.array([values[side == code].min(initial=initial[code]) for code in (0, 1)])


@dataclass(frozen=True)
class _MeanRatios:
    """Pairs as means of recalls, mirrored for upper limits, so that z is positive for both.

    x, n and a have the shape (pairs, 2 labels); `side` is 0 for lower and 1 for upper limits.
    """

    x: FloatArray
    n: FloatArray
    a: FloatArray
    share: FloatArray
    z: float
    offset: float
    side: Int64Array

    @classmethod
    def of(
        cls,
        x: FloatArray,
        n: FloatArray,
        a: FloatArray,
        *,
        z: float,
        offset: float,
        is_upper: BoolArray,
    ) -> "_MeanRatios":
        share = WeightedBinomials.of(x, n, a).share
        x = np.where(is_upper[:, None], n - x, x)
        return cls(x, n, a, share, z, offset, is_upper.astype(np.int64))

    def at_ratio(self, t: FloatArray, rows: Int64Array) -> tuple[WeightedBinomials, FloatArray]:
        """Return the counts with the weights at log ratios t, and what their mean has to be."""
        rho = np.exp(t)
        factor = 2 * np.column_stack([1 / (1 + rho), rho / (1 + rho)])
        weights = self.a[rows] * np.repeat(factor, self.a.shape[1] // 2, axis=1)
        c = WeightedBinomials.of(self.x[rows], self.n[rows], weights)
        shift = (rho - 1) * self.offset
        theta = np.where(self.side[rows] == 1, 1 - shift, rho + shift) / (1 + rho)
        theta = np.clip(theta, _SMALLEST_SCORE, 1 - _SMALLEST_SCORE)
        return c.with_correction(self.share[:, rows]), theta

    def excess(self, t: FloatArray, rows: Int64Array) -> FloatArray:
        """Return a function of the log ratio that is 0 at the limit, and increasing."""
        c, theta = self.at_ratio(t, rows)
        statistic = skewness_corrected_statistic(c, *c.constrained_mle(theta))
        return np.where(self.side[rows] == 1, statistic - self.z, self.z - statistic)

    def guess(self) -> tuple[FloatArray, FloatArray]:
        """Return about the log ratios at limits, and the logarithms of the multipliers there."""
        k, is_upper = self.a.shape[1] // 2, self.side == 1
        p = (self.x + 0.5) / (self.n + 1)
        variance = 4 * self.a**2 * p * (1 - p) / self.n
        score = 2 * self.a * np.where(is_upper[:, None], 1 - p, p)
        first, second = score[:, :k].sum(axis=1), 1 - score[:, k:].sum(axis=1)
        first, second = (np.maximum(v + self.offset, _SMALLEST_SCORE) for v in (first, second))
        var_1, var_2 = variance[:, :k].sum(axis=1), variance[:, k:].sum(axis=1)
        spread = self.z * np.sqrt(var_1 / first**2 + var_2 / second**2)
        t = np.clip(np.log(first / second) + np.where(is_upper, spread, -spread), -13, 13)
        rho = np.exp(t)
        return t, np.log(self.z * (1 + rho) / np.sqrt(var_1 + rho**2 * var_2))

    def smallest_limits(self) -> FloatArray:
        """Return the smallest lower and the smallest upper limit, at most 1.

        Only a pair whose statistic is beyond z at the smallest limit so far has a smaller one.
        """
        t, log_multiplier = self.guess()
        first = np.flatnonzero(_first_of_each_side(np.argsort(t, kind="stable"), self.side))
        roots, is_solved = self.solve(t[first], log_multiplier[first], first)
        smallest = _side_minima(roots[is_solved], self.side[first[is_solved]], np.zeros(2))
        rest = np.setdiff1d(np.arange(len(t)), first[is_solved])
        if len(rest):
            rest = rest[self.excess(smallest[self.side[rest]], rest) > 0]
        if not len(rest):
            return np.exp(smallest)
        least = max(self.offset, 0) / (1 + max(self.offset, 0))
        low = np.log(max(least, np.exp(-_LARGEST_LOG_RATIO)))
        reaches_low = self.excess(np.full(len(rest), low), rest) < 0
        limits = _side_minima(np.where(reaches_low, 1.0, least), self.side[rest], np.exp(smallest))
        pairs = rest[limits[self.side[rest]] > least]  # no pair of their side is unbounded
        if not len(pairs):
            return limits
        below = smallest[self.side[pairs]]
        roots = increasing_root(
            lambda t, rows: self.excess(t, pairs[rows]), np.minimum(t[pairs], below), below=below
        )
        return _side_minima(np.exp(roots), self.side[pairs], limits)

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
