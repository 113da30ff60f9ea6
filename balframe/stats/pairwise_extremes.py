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
from balframe.core.counting_strategy import SEGMENTS, blocks
from balframe.core.unique_rows import unique_rows
from balframe.stats.candidate_pairs import (
    CandidatePairs,
    Pairs,
    all_pairs,
    extreme_scores,
    joined_pairs,
    range_critical_value,
    range_p_value,
    takes_all_pairs,
)
from balframe.stats.constrained_mle import (
    WeightedBinomials,
    lower_limit,
    skewness_corrected_statistic,
)
from balframe.stats.differences import difference_as_mean_recall, mover_difference
from balframe.stats.lazy_scipy import optimize
from balframe.stats.mean_recall import invert_score_test
from balframe.stats.pairwise_ratios import (
    RatioRows,
    are_proportions,
    ratio_statistic,
    smallest_ratio_limits,
)
from balframe.stats.proportions import Limits, Rows

_SMALLEST_Z, _LARGEST_Z = 1e-3, 8.2  # below, p is 1; beyond, levels round to 1
_SMALLEST_SCORE = 1e-12  # whose logarithm is taken
_ROUNDING = 2e-14  # of a difference of scores
_MAX_ROUNDS = 8  # of the search for the largest statistic; two to four are needed
_MANY = 2**12  # scores of which equal ones are found, and most left out of the later rounds


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

    def at(self, scores: Int64Array | slice) -> "IndependentScores":
        """Take the scores at these positions."""
        upper = self.upper_rows
        return IndependentScores(
            self.x[scores],
            self.n[scores],
            self.a[scores],
            None if upper is None else (upper[0][scores], upper[1][scores]),
        )

    def without_copies(self) -> "IndependentScores":
        """Return two of each kind of equal scores: all that a pair can be made of."""
        arrays = (self.x, self.n, self.a, *(self.upper_rows or ()))
        first, copies = unique_rows([column for values in arrays for column in values.T])
        occurs_again = np.bincount(copies, minlength=len(first)) > 1
        return self.at(np.r_[first, first[occurs_again]])

    def limits(self, z: float) -> Limits:
        """Return limits of each score by the score test with a correction for skewness."""
        parts = [
            invert_score_test(
                part.x, part.n, part.a, z, skewness_corrected_statistic, upper_rows=part.upper_rows
            )
            for part in map(self.at, blocks(slice(0, len(self.x)), SEGMENTS))
        ]
        lower, upper = (np.concatenate(sides) for sides in zip(*parts, strict=True))
        return lower, upper

    def _sides(self, *, upper: bool) -> tuple[Rows, Rows]:
        """Return x and n of first and of second scores, for lower or upper limits of a pair."""
        rows = (self.x, self.n)
        upper_rows = self.upper_rows or rows
        return (upper_rows, rows) if upper else (rows, upper_rows)

    def differences(self, pairs: Pairs, *, upper: bool = False) -> WeightedBinomials:
        """Return counts of means of recalls that are (1 + d) / 2 for differences d of pairs."""
        (i, j), ((x, n), (x_2, n_2)) = pairs, self._sides(upper=upper)
        recalls = difference_as_mean_recall(x[i], n[i], x_2[j], n_2[j], self.a[i])
        return WeightedBinomials.of(*recalls)

    def lower_differences(self, pairs: Pairs, z: float) -> FloatArray:
        """Return the lower limits of the differences of pairs."""
        return 2 * lower_limit(self.differences(pairs), z, skewness_corrected_statistic) - 1

    def extreme_differences(self, low: Pairs, high: Pairs, z: float) -> tuple[float, float]:
        """Return the largest lower limit of some pairs, and the largest upper limit of others."""
        mirrored = self.differences(high, upper=True).mirror()
        c = self.differences(low).followed_by(mirrored)
        limits = lower_limit(c, z, skewness_corrected_statistic)
        lower, upper = limits[: len(low[0])], 1 - limits[len(low[0]) :]
        return float((2 * lower - 1).max()), float((2 * upper - 1).max())

    def statistics(self, pairs: Pairs) -> FloatArray:
        """Return the statistics of the tests that the scores of each pair are equal.

        With `upper_rows` they are 0 where the higher score, less of the rows for its lower limit,
        does not exceed the lower one.
        """
        if self.upper_rows is not None:
            i, j = pairs
            is_swapped = self.values[i] < self.values[j]
            pairs = np.where(is_swapped, j, i), np.where(is_swapped, i, j)
        i, j = pairs
        (x, n), (x_2, n_2) = self._sides(upper=False)
        if are_proportions(self.a, n, n_2):
            equal = np.ones(len(i))
            z = ratio_statistic(x[i, 0], n[i, 0], x_2[j, 0], n_2[j, 0], equal)
        else:
            c = self.differences(pairs)
            z = skewness_corrected_statistic(c, *c.constrained_mle(np.full(len(i), 0.5)))
        if self.upper_rows is None:
            return z
        return np.where(self.values[i] - self.values[j] > _ROUNDING, np.maximum(z, 0), 0.0)

    def smallest_ratio_limits(
        self, low: Pairs, high: Pairs, z: float, offset: float
    ) -> tuple[float, float]:
        """Return the smallest limits of ratios of the second to the first scores, at most 1.

        The lower limits are those of some pairs, and the upper ones those of others.
        """
        return smallest_ratio_limits(
            self._ratio_rows(low, upper=False), self._ratio_rows(high, upper=True), z, offset
        )

    def _ratio_rows(self, pairs: Pairs, *, upper: bool) -> RatioRows:
        """Return the rows of second and of first scores, and weights."""
        (j, i), ((x, n), (x_2, n_2)) = pairs, self._sides(upper=upper)
        return x[i], n[i], x_2[j], n_2[j], self.a[i]


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
    has_ratio: bool = True,
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
    has_ratio : bool, default True
        Whether limits of the ratio are computed, which are NaN otherwise.

    Returns
    -------
    Extremes
        Limits of the largest difference; limits of the lowest score over the highest; the p-value
        of a test that all scores are equal. Of more than 35 scores, the 600 pairs with the most
        extreme approximate limits are compared; one that is passed over could only raise limits of
        the difference.
    """
    k, z = len(x), range_critical_value(level, len(x), n_families)
    scores = IndependentScores(x, n, a, upper_rows)
    if takes_all_pairs(k):
        low, high = all_pairs(scores.values)
        statistic = float(np.abs(scores.statistics(low)).max())
        low_ratios, high_ratios = low, high
    else:
        scores = scores.without_copies() if k > _MANY else scores
        limits = scores.limits(z)
        candidates = [CandidatePairs.of(scores.values, limits, sign) for sign in (-1, 1)]
        low, high = (pairs.best(scores.values, limits) for pairs in candidates)
        logs = _logarithms(scores.values, limits, offset)
        low_log, high_log = (pairs.best(*logs) for pairs in candidates)
        statistic = _largest_statistic(scores, low, limits, z)
        low_ratios, high_ratios = joined_pairs(low, low_log, k), joined_pairs(high, high_log, k)
    lower, upper = scores.extreme_differences(low, high, z)
    ratio = np.nan, np.nan
    if has_ratio:
        ratio = scores.smallest_ratio_limits(high_ratios, low_ratios, z, offset)
    return Extremes((max(lower, 0.0), upper), ratio, range_p_value(statistic, k))


def _logarithms(values: FloatArray, limits: Limits, offset: float) -> tuple[FloatArray, Limits]:
    """Return the logarithms of scores and of their limits."""
    parts = (values, *limits)
    logs = [np.log(np.maximum(part + offset, _SMALLEST_SCORE)) for part in parts]
    return logs[0], (logs[1], logs[2])


def _largest_statistic(scores: IndependentScores, pairs: Pairs, limits: Limits, z: float) -> float:
    """Return the largest statistic of a pair, searched at limits of ever smaller errors.

    It begins with the pairs that the limits at z lead to.
    """
    largest = float(np.abs(scores.statistics(pairs)).max())
    for _ in range(_MAX_ROUNDS):
        before, some, at = largest, scores, max(largest, 0.1)
        if len(scores.x) > _MANY:
            some = scores.at(extreme_scores(scores.values, limits, z, at))
        some_limits = some.limits(at)
        best = CandidatePairs.of(some.values, some_limits, -1).best(some.values, some_limits)
        largest = max(largest, float(np.abs(some.statistics(best)).max()))
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
    doubtful: Limits | None = None,
) -> tuple[tuple[float, float], float]:
    """Return limits of the largest difference of scores, and a p-value, from limits of each.

    `limits_at` takes a critical value z and returns limits of all scores. The limits of the
    differences are MOVER's. `correlation` returns that of pairs of scores, which are independent by
    default. `doubtful` are the lowest and the highest values that doubt allows, between which each
    score may be.
    """
    k, z = len(values), range_critical_value(level, len(values), n_families)
    limits, ends = limits_at(z), doubtful or (values, values)
    lower, upper = (_extreme_mover_limit(ends, limits, correlation, sign) for sign in (-1, 1))

    def excess(z: float) -> float:
        limit = _extreme_mover_limit(ends, limits_at(z), correlation, -1)
        return float(np.nan_to_num(limit, nan=-1.0))

    low, high = (z, max(z, _LARGEST_Z)) if lower > 0 else (min(z, _SMALLEST_Z), z)
    if lower > 0 and excess(high) > 0:
        statistic = high
    elif not lower > 0 and not excess(low) > 0:
        statistic = 0.0
    else:
        statistic = float(optimize.brentq(excess, low, high, xtol=1e-10, rtol=1e-12))
    return (max(lower, 0.0), upper), range_p_value(statistic, k)


def _extreme_mover_limit(
    ends: Limits,
    limits: Limits,
    correlation: Callable[[Int64Array, Int64Array], FloatArray] | None,
    sign: int,
) -> float:
    """Return the largest lower or upper limit of a difference of two scores, for a sign -1 or 1.

    `ends` are the lowest and the highest value of each. It is NaN where a score has no limits.
    """
    low, high = limits
    if np.isnan(low).any() or np.isnan(high).any():
        return np.nan
    side = (sign + 1) // 2
    first, second = ends[side], ends[1 - side]
    if takes_all_pairs(len(first)):
        i, j = all_pairs(first)[side]
    else:
        i, j = CandidatePairs.of(first, limits, sign).best(first, limits)
    r = 0 if correlation is None else correlation(i, j)
    limit = mover_difference(first[i], (low[i], high[i]), second[j], (low[j], high[j]), r)[side]
    return float(limit.max())
