"""The pairs of many scores whose difference or ratio has the most extreme limits.

Pairs are ranked by MOVER limits of the difference, from limits of each score. These grow with a
score and its limit, so that a score is passed over where another exceeds it in both.
"""

from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from balframe.core.array_types import FloatArray, Int64Array
from balframe.stats.lazy_scipy import optimize, special
from balframe.stats.proportions import Limits, normal_quantile, wilson_at

_STEP = 1 / 128  # of the integral over the smallest of the normal variables
_LOWEST, _HIGHEST = -9.0, 9.0


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


@lru_cache(maxsize=64)
def range_critical_value(level: float, k: int, n_families: int = 1) -> float:
    """Return the z whose `range_p_value` is (1 - level) / n_families.

    With two scores of one family, it is the normal quantile of the level.
    """
    alpha = (1 - level) / n_families
    pair = normal_quantile(1 - alpha)
    low = pair if np.isfinite(pair) else -float(special.ndtri(alpha / 2))
    if k <= 2:
        return low

    def excess(z: float) -> float:
        return float(np.log(max(range_p_value(z, k), 1e-300)) - np.log(alpha))

    high = -float(special.ndtri(alpha / (k * (k - 1))))  # each pair at its share of the error
    if excess(low) <= 0:  # by rounding, at levels close to 0
        return low
    return float(optimize.brentq(excess, low, high + 1e-9, xtol=1e-15, rtol=1e-14))


Pairs = tuple[Int64Array, Int64Array]

MAX_PAIRS = 600  # whose limits are computed; up to 35 scores have no more
_FRONT = 60  # scores with the most extreme limits that are candidates
_WIDE_FRONT = 600  # the same, where limits are approximate


def takes_all_pairs(k: int) -> bool:
    """Return whether the limits of all pairs of k scores are computed."""
    return k * (k - 1) // 2 <= MAX_PAIRS


def all_pairs(values: FloatArray) -> tuple[Pairs, Pairs]:
    """Return all pairs of scores with the higher one first, and all pairs in either order."""
    first, second = np.triu_indices(len(values), 1)
    swapped = values[first] < values[second]
    high, low = np.where(swapped, second, first), np.where(swapped, first, second)
    return (high, low), (np.r_[high, low], np.r_[low, high])


def joined_pairs(pairs: Pairs, others: Pairs, k: int) -> Pairs:
    """Return the pairs of k scores that are in either of two lists, once each."""
    keys = np.unique(np.concatenate([first * k + second for first, second in (pairs, others)]))
    return keys // k, keys % k


@dataclass(frozen=True, slots=True)
class CandidatePairs:
    """First and second scores of the pairs among which one has the most extreme limit.

    `sign` is -1 for the largest lower limit of a difference, and 1 for the largest upper one.
    """

    first: Int64Array
    second: Int64Array
    sign: int

    @classmethod
    def of(cls, values: FloatArray, limits: Limits, sign: int) -> "CandidatePairs":
        """Return the scores that no other exceeds, and those with the most extreme limits."""
        lower, upper = limits if sign < 0 else limits[::-1]
        return cls(_front(values, lower, _FRONT), _front(-values, -upper, _FRONT), sign)

    def best(self, values: FloatArray, limits: Limits) -> Pairs:
        """Return the pairs with the largest approximate limits of the difference of values."""
        lower, upper = limits if self.sign < 0 else limits[::-1]
        i, j = (side.ravel() for side in np.meshgrid(self.first, self.second, indexing="ij"))
        is_pair = i != j
        i, j = i[is_pair], j[is_pair]
        half_width = np.hypot(values[i] - lower[i], upper[j] - values[j])
        limit = values[i] - values[j] + self.sign * half_width
        best = np.argsort(-limit, kind="stable")[:MAX_PAIRS]
        return i[best], j[best]


def _front(values: FloatArray, limit: FloatArray, n_extreme: int) -> Int64Array:
    """Return the scores that no other exceeds in value and limit, and those of the largest limits.

    No score below the one with the largest limit is among the former.
    """
    n_extreme = min(n_extreme, len(limit))
    extreme = np.argpartition(-limit, n_extreme - 1)[:n_extreme]
    largest = limit[extreme].max()
    rest = np.flatnonzero(values >= values[limit == largest].max())
    order = rest[np.lexsort((-limit[rest], -values[rest]))]
    ordered = limit[order]
    is_best = np.r_[True, ordered[1:] > np.maximum.accumulate(ordered)[:-1]]
    return np.union1d(order[is_best], extreme)


def extreme_scores(values: FloatArray, limits: Limits, z: float, other_z: float) -> Int64Array:
    """Return the scores among which those of `CandidatePairs` at another critical value are.

    `limits` are those at z. At the other one, they are approximated by Wilson's limits of as many
    rows as have these limits at z.
    """
    approximate = [
        _wilson_lower(value, limit, z, other_z)
        for value, limit in ((values, limits[0]), (1 - values, 1 - limits[1]))
    ]
    sides = zip((values, 1 - values), approximate, strict=True)
    return np.union1d(*(_front(value, limit, _WIDE_FRONT) for value, limit in sides))


def _wilson_lower(values: FloatArray, lower: FloatArray, z: float, other_z: float) -> FloatArray:
    """Return Wilson's lower limits at a critical value, given the limits at another."""
    width = values - lower
    n = z * z * lower * (1 - lower) / np.where(width > 0, width, 1) ** 2
    n = np.where(n > 0, n, 1)
    limit, _ = wilson_at(values * n, n, other_z)
    return np.where((lower > 0) & (width > 0), limit, lower)
