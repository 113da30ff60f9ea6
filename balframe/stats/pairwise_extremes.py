"""The largest difference and ratio of many independent scores, with limits for all pairs at once.

The scores are means of recalls, theta = sum_k a_k p_k, each of rows of its own. The difference of
every pair has limits whose critical value is that of the range of as many standard normal variables
as there are scores. The limits of the largest difference follow from those of all pairs. So does
the p-value of a test that all scores are equal: it is below 1 - level exactly where the lower limit
is above 0. With two scores, both are those of `scas_difference`.

Where rows have weights, those for upper limits may be others than those for lower ones. A lower
limit of a difference takes the former of the second score and the latter of the first.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from balframe.core.array_types import FloatArray, Int64Array
from balframe.stats.constrained_mle import (
    WeightedBinomials,
    lower_limit,
    skewness_corrected_statistic,
)
from balframe.stats.differences import difference_as_mean_recall, mover_difference
from balframe.stats.lazy_scipy import optimize, special
from balframe.stats.mean_recall import invert_score_test
from balframe.stats.proportions import Limits, Rows, normal_quantile
from balframe.stats.root_finding import increasing_root

_STEP = 1 / 128  # of the integral over the smallest of the normal variables
_LOWEST, _HIGHEST = -9.0, 9.0
_MAX_PAIRS = 600  # whose limits are computed; up to 35 scores have no more
_FRONT = 60  # scores with the most extreme limits that are candidates
_LARGEST_LOG_RATIO = 14.0
_SMALLEST_Z, _LARGEST_Z = 1e-3, 8.2  # below, p is 1; beyond, levels round to 1
_SMALLEST_SCORE = 1e-12  # whose logarithm is taken
_ROUNDING = 2e-14  # of a difference of scores
_MAX_ROUNDS = 8  # of the search for the largest statistic; two to four are needed

_Pairs = tuple[Int64Array, Int64Array]


# The range of normal variables


def range_p_value(z: float, k: int) -> float:
    """Return the probability that two of k equal normal scores differ by over z standard errors.

    That is, that the range of k standard normal variables exceeds q = z sqrt(2): k times the
    integral over the smallest variable x of phi(x) {Phi(-x)^(k-1) - [Phi(x + q) - Phi(x)]^(k-1)},
    by the trapezoidal rule.

    References
    ----------
    H. O. Hartley, "The range in random samples", Biometrika 1942; J. W. Tukey, "The problem of
    multiple comparisons", 1953.
    """
    if k < 2 or not z > 0:
        return 1.0
    if k == 2:
        return float(2 * special.ndtr(-z))
    q = z * np.sqrt(2)
    x = np.arange(_LOWEST - q / 2, _HIGHEST, _STEP)
    log_above = special.log_ndtr(-x)
    share_beyond = np.exp(special.log_ndtr(-x - q) - log_above)
    with np.errstate(divide="ignore"):
        log_within = np.log1p(-share_beyond)
    density = np.exp(-x * x / 2 + (k - 1) * log_above) / np.sqrt(2 * np.pi)
    return float(min(k * _STEP * (density * -np.expm1((k - 1) * log_within)).sum(), 1))


def range_critical_value(level: float, k: int, n_families: int = 1) -> float:
    """Return the z whose `range_p_value` is (1 - level) / n_families.

    With two scores of one family, it is the normal quantile of the level.
    """
    alpha = (1 - level) / n_families
    if k <= 2:
        return normal_quantile(1 - alpha)

    def excess(log_z: float) -> float:
        return float(np.log(max(range_p_value(np.exp(log_z), k), 1e-300)) - np.log(alpha))

    root = optimize.brentq(excess, np.log(1e-3), np.log(25.0), xtol=1e-15, rtol=1e-14)
    return float(np.exp(root))


# Pairs of scores


@dataclass(frozen=True)
class IndependentScores:
    """Means of recalls, each of its own rows: arrays of the shape (scores, labels).

    `upper_rows` are x and n for upper limits, None if they are the same.
    """

    x: FloatArray
    n: FloatArray
    a: FloatArray
    upper_rows: Rows | None = None

    @cached_property
    def values(self) -> FloatArray:
        """The scores."""
        return np.asarray((self.a * self.x / self.n).sum(axis=1))

    def limits(self, z: float) -> Limits:
        """Return limits of each score by the score test with a correction for skewness."""
        return invert_score_test(
            self.x, self.n, self.a, z, skewness_corrected_statistic, upper_rows=self.upper_rows
        )

    def stacked_recalls(
        self, pairs: _Pairs, *, upper: bool
    ) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Return x, n and a of means of recalls that are (1 + d) / 2 for differences d of pairs.

        The rows are those for lower or for upper limits of d.
        """
        i, j = pairs
        (x, n), (x_up, n_up) = (self.x, self.n), self.upper_rows or (self.x, self.n)
        if upper:
            x, n, x_up, n_up = x_up, n_up, x, n
        return difference_as_mean_recall(x[i], n[i], x_up[j], n_up[j], self.a[i])

    def differences(self, pairs: _Pairs, *, upper: bool = False) -> WeightedBinomials:
        """Return the recalls of `stacked_recalls` as counts whose mean can be constrained."""
        return WeightedBinomials.of(*self.stacked_recalls(pairs, upper=upper))

    def lower_differences(self, pairs: _Pairs, z: float) -> FloatArray:
        """Return the lower limits of the differences of pairs."""
        limit = lower_limit(self.differences(pairs), z, skewness_corrected_statistic)
        return 2 * limit - 1

    def upper_differences(self, pairs: _Pairs, z: float) -> FloatArray:
        """Return the upper limits of the differences of pairs."""
        mirrored = self.differences(pairs, upper=True).mirror()
        limit = 1 - lower_limit(mirrored, z, skewness_corrected_statistic)
        return 2 * limit - 1

    def statistics(self, pairs: _Pairs) -> FloatArray:
        """Return the statistics of the tests that the scores of each pair are equal.

        With weights they have the sign of the difference of the higher and the lower score, and are
        0 where the two are equal.
        """
        if self.upper_rows is not None:
            i, j = pairs
            is_swapped = self.values[i] < self.values[j]
            pairs = np.where(is_swapped, j, i), np.where(is_swapped, i, j)
        c = self.differences(pairs)
        z = skewness_corrected_statistic(c, *c.constrained_mle(np.full(len(pairs[0]), 0.5)))
        if self.upper_rows is None:
            return z
        i, j = pairs
        return np.where(self.values[i] - self.values[j] > _ROUNDING, z, 0.0)

    def ratio_limits(self, pairs: _Pairs, z: float, offset: float, *, upper: bool) -> FloatArray:
        """Return a limit of the ratio (theta_i + offset) / (theta_j + offset) of each pair.

        The score statistic of theta_i - rho theta_j + (1 - rho) offset has the factors of its
        variance at rho = 1. A lower limit is 0, and an upper one infinite, where it does not reach
        z for any ratio.

        References
        ----------
        J. J. Gart and J. Nam, "Approximate interval estimation of the ratio of binomial parameters:
        a review and corrections for skewness", Biometrics 1988.
        """
        i, j = pairs
        x, n, a = self.stacked_recalls(pairs, upper=upper)
        share = WeightedBinomials.of(x, n, a).share
        is_second = np.arange(x.shape[1]) >= self.x.shape[1]
        sign = -1.0 if upper else 1.0

        def excess(t: FloatArray, rows: Int64Array) -> FloatArray:
            rho = np.exp(t)
            weights = 2 * a[rows] * np.where(is_second, rho[:, None], 1) / (1 + rho[:, None])
            c = WeightedBinomials.of(x[rows], n[rows], weights).with_correction(share[:, rows])
            theta = np.clip((rho + (rho - 1) * offset) / (1 + rho), 1e-12, 1 - 1e-12)
            return sign * z - skewness_corrected_statistic(c, *c.constrained_mle(theta))

        everywhere = np.arange(len(i))
        ends = np.full(len(i), _LARGEST_LOG_RATIO)
        reaches_low = excess(-ends, everywhere) < 0
        reaches_high = excess(ends, everywhere) > 0
        limits = np.where(reaches_low, np.inf, 0.0)
        solved = np.flatnonzero(reaches_low & reaches_high)
        if len(solved):
            guess = np.clip(_log_ratio(self.values + offset, i[solved], j[solved]), -13, 13)
            root = increasing_root(lambda t, rows: excess(t, solved[rows]), guess)
            limits[solved] = np.exp(root)
        return limits


def _log_ratio(values: FloatArray, i: Int64Array, j: Int64Array) -> FloatArray:
    log_values = np.log(np.maximum(values, _SMALLEST_SCORE))
    return np.asarray(log_values[i] - log_values[j])


# Extremes


@dataclass(frozen=True, slots=True)
class Extremes:
    """Limits of the largest difference and of lowest / highest, and the test of equality."""

    difference: tuple[float, float]
    ratio: tuple[float, float]
    p_value: float


def extremes_of_recalls(
    x: FloatArray,
    n: FloatArray,
    a: FloatArray,
    level: float,
    *,
    n_families: int = 1,
    offset: float = 0.0,
    upper_rows: Rows | None = None,
) -> Extremes:
    """Return limits of the largest difference of scores and of their ratio, and a p-value.

    Parameters
    ----------
    x, n, a : float arrays, shape (scores, labels)
        Correct rows, rows and weights of at least two scores; every n and a is above 0.
    level : float
        Confidence level, between 0 and 1.
    n_families : int, default 1
        Number of such sets of scores that share the error 1 - level.
    offset : float, default 0
        What is added to the scores before their ratio is taken.
    upper_rows : two float arrays of the shape (scores, labels), optional
        x and n for upper limits, which weights may make others; by default the same.

    Returns
    -------
    Extremes
        Limits of the largest difference; limits of the lowest score over the highest; the p-value
        of a test that all scores are equal. Of more than 35 scores, the 600 pairs with the most
        extreme approximate limits are compared; one that is passed over could only raise limits of
        the difference.
    """
    scores = IndependentScores(x, n, a, upper_rows)
    k, z = len(x), range_critical_value(level, len(x), n_families)
    limits = scores.limits(z)
    low_pairs, high_pairs = _candidate_pairs(scores.values, limits)
    lower = max(float(scores.lower_differences(low_pairs, z).max()), 0.0)
    upper = float(scores.upper_differences(high_pairs, z).max())
    p_value = range_p_value(_largest_statistic(scores, low_pairs), k)
    candidates = [(low_pairs, high_pairs)]
    if not _takes_all_pairs(k):
        candidates.append(_candidate_pairs(*_logarithms(scores.values, limits, offset)))
    ratio_lower, ratio_upper = (
        min(
            float(scores.ratio_limits(pairs[side][::-1], z, offset, upper=is_upper).min())
            for pairs in candidates
        )
        for side, is_upper in ((1, False), (0, True))
    )
    return Extremes((lower, upper), (ratio_lower, min(ratio_upper, 1.0)), p_value)


def _logarithms(values: FloatArray, limits: Limits, offset: float) -> tuple[FloatArray, Limits]:
    """Return the logarithms of scores and of their limits."""
    parts = (values, *limits)
    logs = [np.log(np.maximum(part + offset, _SMALLEST_SCORE)) for part in parts]
    return logs[0], (logs[1], logs[2])


def _largest_statistic(scores: IndependentScores, pairs: _Pairs) -> float:
    """Return the largest statistic of a pair, searched at limits of ever smaller errors."""
    largest = float(np.abs(scores.statistics(pairs)).max())
    for _ in range(_MAX_ROUNDS if len(scores.values) > 2 and len(pairs[0]) >= _MAX_PAIRS else 0):
        before = largest
        pairs, _ = _candidate_pairs(scores.values, scores.limits(max(largest, 0.1)))
        largest = max(largest, float(np.abs(scores.statistics(pairs)).max()))
        if largest <= before:
            break
    return largest


def extremes_of_limits(
    values: FloatArray,
    limits_at: Callable[[float], Limits],
    level: float,
    *,
    n_families: int = 1,
    correlation: Callable[[Int64Array, Int64Array], FloatArray] | None = None,
) -> tuple[tuple[float, float], float]:
    """Return limits of the largest difference of scores, and a p-value, from limits of each.

    `limits_at` takes a critical value z and returns limits of all scores. The limits of the
    differences are MOVER's. `correlation` returns that of pairs of scores, which are independent by
    default.
    """
    k, z = len(values), range_critical_value(level, len(values), n_families)
    lower, upper = _extreme_mover_limits(values, limits_at(z), correlation)

    def excess(z: float) -> float:
        lower, _ = _extreme_mover_limits(values, limits_at(z), correlation)
        return float(np.nan_to_num(lower, nan=-1.0))

    low, high = _SMALLEST_Z, _LARGEST_Z
    if not excess(low) > 0:
        statistic = 0.0
    elif excess(high) > 0:
        statistic = high
    else:
        statistic = float(optimize.brentq(excess, low, high, xtol=1e-10, rtol=1e-12))
    return (max(lower, 0.0), upper), range_p_value(statistic, k)


def _extreme_mover_limits(
    values: FloatArray,
    limits: Limits,
    correlation: Callable[[Int64Array, Int64Array], FloatArray] | None,
) -> tuple[float, float]:
    """Return the largest lower and the largest upper limit of a difference of two scores."""
    low, high = limits

    def mover_limits(i: Int64Array, j: Int64Array) -> Limits:
        r = 0 if correlation is None else correlation(i, j)
        return mover_difference(values[i], (low[i], high[i]), values[j], (low[j], high[j]), r)

    low_pairs, high_pairs = _candidate_pairs(values, limits)
    return float(mover_limits(*low_pairs)[0].max()), float(mover_limits(*high_pairs)[1].max())


def _candidate_pairs(values: FloatArray, limits: Limits) -> tuple[_Pairs, _Pairs]:
    """Return the pairs among which the largest lower and the largest upper limits are.

    Of few scores these are all pairs, with the higher score first, and all ordered pairs. Of more,
    the pairs are ranked by MOVER limits, and scores that others exceed are passed over.
    """
    k = len(values)
    if _takes_all_pairs(k):
        first, second = np.triu_indices(k, 1)
        swapped = values[first] < values[second]
        high, low = np.where(swapped, second, first), np.where(swapped, first, second)
        return (high, low), (np.r_[high, low], np.r_[low, high])
    lower, upper = limits
    low_pairs = _best_pairs(
        (_front(values, lower), _front(-values, -upper)),
        lambda i, j: (values[i] - values[j]) - np.hypot(values[i] - lower[i], upper[j] - values[j]),
    )
    high_pairs = _best_pairs(
        (_front(values, upper), _front(-values, -lower)),
        lambda i, j: (values[i] - values[j]) + np.hypot(upper[i] - values[i], values[j] - lower[j]),
    )
    return low_pairs, high_pairs


def _takes_all_pairs(k: int) -> bool:
    return k * (k - 1) // 2 <= _MAX_PAIRS


def _front(values: FloatArray, limit: FloatArray) -> Int64Array:
    """Return the scores that no other exceeds in value and limit, and those of the largest limits.

    MOVER limits grow with both.
    """
    order = np.lexsort((-limit, -values))
    ordered = limit[order]
    is_best = np.r_[True, ordered[1:] > np.maximum.accumulate(ordered)[:-1]]
    extreme = np.argsort(-limit, kind="stable")[:_FRONT]
    return np.union1d(order[is_best], extreme)


def _best_pairs(
    sides: tuple[Int64Array, Int64Array],
    approximate: Callable[[Int64Array, Int64Array], FloatArray],
) -> _Pairs:
    """Return the pairs of a score of each side whose approximate limits are largest."""
    i, j = (side.ravel() for side in np.meshgrid(*sides, indexing="ij"))
    is_pair = i != j
    i, j = i[is_pair], j[is_pair]
    best = np.argsort(-approximate(i, j), kind="stable")[:_MAX_PAIRS]
    return i[best], j[best]
