"""Means over items that were tried several times: pass@k and pass^k, their limits and differences.

Of n_i trials of item i, c_i passed. Of k trials drawn without replacement, any passes with the
probability u_i = 1 - C(n_i - c_i, k) / C(n_i, k), and all pass with C(c_i, k) / C(n_i, k). If the
trials of an item are independent, these are unbiased for the probabilities of k new trials. Items
with fewer than k trials are left out. The estimate p is the mean of u_i over the m others, each of
which weighs the same.

With V = sum (u_i - p)^2 / (m (m - 1)), the estimate is as precise as a proportion of
n_eff = p (1 - p) / V rows, but never more than the sets of k trials, sum floor(n_i / k).

References
----------
M. Chen et al., "Evaluating large language models trained on code", 2021, for pass@k. W. Hoeffding,
"Probability inequalities for sums of bounded random variables", Journal of the American Statistical
Association 1963, for the independent sets of trials.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from balframe.core.array_types import BoolArray, FloatArray, Int64Array
from balframe.core.class_counts import ClassCounts
from balframe.core.safe_divide import ratio
from balframe.core.sample import Clusters, Sample
from balframe.stats.base import GATE, Interval, IntervalRequest
from balframe.stats.cluster_influence import t_quantile
from balframe.stats.delta_method import ExactLimits
from balframe.stats.lazy_scipy import special
from balframe.stats.paired_differences import paired_gate_limits, paired_limits_at
from balframe.stats.proportions import Limits, normal_quantile, wilson_at

Chances = Callable[[Int64Array, Int64Array, int], FloatArray]


def chance_that_any_passes(passed: Int64Array, trials: Int64Array, k: int) -> FloatArray:
    """Return the probability that any of k trials of each item passes; NaN under k trials."""
    return 1 - chance_that_all_pass(trials - passed, trials, k)


def chance_that_all_pass(passed: Int64Array, trials: Int64Array, k: int) -> FloatArray:
    """Return the probability that all of k trials of each item pass; NaN under k trials."""
    has_enough = trials >= k
    can_pass = has_enough & (passed >= k)
    n, c = np.where(can_pass, trials, k), np.where(can_pass, passed, k)
    logarithm = (
        special.gammaln(c + 1.0)
        - special.gammaln(c - k + 1.0)
        - special.gammaln(n + 1.0)
        + special.gammaln(n - k + 1.0)
    )
    chance = np.where(can_pass, np.exp(np.minimum(logarithm, 0)), 0.0)
    chance = np.where(can_pass & (passed == trials), 1.0, chance)
    return np.where(has_enough, chance, np.nan)


@dataclass(frozen=True)
class ItemMeans:
    """The mean of a value from -1 to 1 over the items of each segment.

    Parameters
    ----------
    segment, times : int64 arrays, shape (items,)
        Segment of each item, and the number of equal items that it stands for.
    value : float array, shape (items,)
        The value of each item.
    sets : int64 array, shape (items,)
        The independent sets of trials of each item: floor(n_i / k).
    n_segments : int
        Number of segments.
    """

    segment: Int64Array
    times: Int64Array
    value: FloatArray
    sets: Int64Array
    n_segments: int

    @classmethod
    def of(cls, clusters: Clusters, k: int, chance: Chances) -> "ItemMeans":
        """Return the means of the probabilities of items with k trials or more."""
        counts = clusters.pairs.counts
        value = chance(counts.total_correct.astype(np.int64), counts.n, k)
        used = np.flatnonzero(np.isfinite(value))
        return cls(
            clusters.segment[used],
            clusters.times[used],
            value[used],
            counts.n[used] // k,
            clusters.n_segments,
        )

    def sum(self, values: FloatArray | Int64Array) -> FloatArray:
        """Add up over the items of each segment."""
        sums = np.bincount(self.segment, values * self.times, self.n_segments)
        return np.asarray(sums, np.float64)

    @cached_property
    def n_items(self) -> FloatArray:
        """Number of items: m."""
        return self.sum(np.ones(len(self.value)))

    @cached_property
    def mean(self) -> FloatArray:
        """The mean p; NaN without items."""
        return ratio(self.sum(self.value), self.n_items)

    @cached_property
    def are_rows(self) -> BoolArray:
        """Whether each value is 0 or 1, so that the items are rows of a proportion."""
        return np.asarray(self.sum((self.value != 0) & (self.value != 1)) == 0)

    @cached_property
    def _deviation(self) -> FloatArray:
        return self.value - self.mean[self.segment]

    @cached_property
    def variance(self) -> FloatArray:
        """Variance of the mean: V; NaN with one item."""
        return ratio(self.sum(self._deviation**2), self.n_items * (self.n_items - 1))

    @cached_property
    def df(self) -> FloatArray:
        """Degrees of freedom, min(m - 1, 2m / (kurtosis - 1)); infinite where no value differs.

        kurtosis = m sum (u - p)^4 / (sum (u - p)^2)^2.
        """
        squares = self.sum(self._deviation**2)
        kurtosis = ratio(self.n_items * self.sum(self._deviation**4), squares**2)
        excess = np.where(kurtosis > 1, kurtosis - 1, np.nan)
        return np.fmin(self.n_items - 1, ratio(2 * self.n_items, excess))

    def effective_size(self, spread: FloatArray) -> FloatArray:
        """Return spread / V, the rows that are as precise; at least 1, at most the sets."""
        with np.errstate(divide="ignore", invalid="ignore"):
            size = np.where(self.variance > 0, spread / self.variance, np.inf)
        return np.maximum(np.minimum(size, self.sum(self.sets)), 1)

    @cached_property
    def _is_at_end(self) -> BoolArray:
        return np.asarray((self.mean == 0) | (self.mean == 1))

    @cached_property
    def effective_items(self) -> FloatArray:
        """Rows of a proportion that is as precise: n_eff, and m where all values are 0, or 1."""
        size = self.effective_size(self.mean * (1 - self.mean))
        return np.where(self._is_at_end, self.n_items, size)

    def quantile(self, level: float) -> FloatArray:
        """Return the t quantile of each segment; the normal one where all values are equal ends."""
        z = np.full(self.n_segments, normal_quantile(level))
        return t_quantile(np.where(self._is_at_end, np.inf, self.df), z)

    def pointwise_limits(self, level: float) -> Limits:
        """Return limits that describe: Wilson's of n_eff rows, with the t quantile."""
        n = self.effective_items
        return wilson_at(self.mean * n, n, self.quantile(level))

    def exact_limits(self) -> ExactLimits:
        """Return the limits that decide: Clopper-Pearson's of min(n_eff, m) rows.

        An item counts as one row at most, however many trials it has: what is risky is that hard
        items are not among those tried.
        """
        nothing = np.zeros(self.n_segments)
        n = np.where(self.n_items > 0, np.fmin(self.effective_items, self.n_items), np.nan)
        return ExactLimits(self.mean, n, nothing, nothing)


@dataclass(frozen=True, slots=True)
class ItemMean(Interval):
    """A mean over items of the probability that any, or that all, of k trials pass.

    Parameters
    ----------
    k : int
        Number of trials.
    chance : function
        `chance_that_any_passes` or `chance_that_all_pass`.
    """

    k: int
    chance: Chances

    @property
    def kind(self) -> str:
        """What kind of interval it is."""
        return "mean over items"

    @property
    def why_undecided(self) -> str:
        """Why a score that is defined may have no limits that decide."""
        return "no item has as many trials"

    @property
    def is_of_clusters(self) -> bool:
        """Always: clusters are the items."""
        return True

    def method_of(self, requested: str | None) -> str:
        """Return the only method, Wilson with effective rows; limits for gates are exact."""
        return "exact" if requested == GATE else "wilson"

    @property
    def has_clusters(self) -> bool:
        """Always."""
        return True

    def item_values(self, passed: Int64Array, trials: Int64Array) -> FloatArray:
        """Return the probability that any, or that all, of k trials of each item pass."""
        return self.chance(passed, trials, self.k)

    @property
    def trials_needed(self) -> int:
        """The number of trials k."""
        return self.k

    def means(self, sample: Sample) -> ItemMeans:
        """Return the means of a sample."""
        key = type(self), self.k, self.chance
        return sample.once(key, lambda: item_means(sample.counts, self.k, self.chance))

    def limits(self, sample: Sample, estimate: FloatArray, request: IntervalRequest) -> Limits:
        """Compute limits of independent items; those of a proportion if values are 0 or 1."""
        z = np.full(len(estimate), normal_quantile(request.level))
        if request.method == GATE:
            return self.exact_limits(sample, estimate).limits(z)
        means = self.means(sample)
        of_items = means.pointwise_limits(request.level)
        of_rows = wilson_at(means.mean * means.n_items, means.n_items, z)
        lower, upper = (
            np.where(means.are_rows, *each) for each in zip(of_rows, of_items, strict=True)
        )
        return lower, upper

    def limits_of_clusters(
        self, sample: Sample, estimate: FloatArray, request: IntervalRequest
    ) -> Limits:
        """Compute the same limits, because items are the clusters."""
        return self.limits(sample, estimate, request)

    def exact_limits(self, sample: Sample, estimate: FloatArray) -> ExactLimits:
        """Return the limits that decide at any quantile."""
        means = self.means(sample)
        exact = means.exact_limits()
        n = np.where(means.are_rows & (means.n_items > 0), means.n_items, exact.n)
        return ExactLimits(exact.share, n, exact.excess, exact.bias)

    @property
    def is_paired(self) -> bool:
        """Always: two models are compared on the same items."""
        return True

    def pair_clusters(self, first: Sample, second: Sample) -> "PairedItems":
        """Return the differences of two models on the same items."""
        return PairedItems.of(self.means(first), self.means(second))


def item_means(c: ClassCounts, k: int, chance: Chances) -> ItemMeans:
    """Return the means over the items of class counts, which are their clusters."""
    clusters: Clusters | None = c.clusters
    assert clusters is not None, "the query has clusters"
    return ItemMeans.of(clusters, k, chance)


@dataclass(frozen=True)
class PairedItems:
    """Two models on the same items: the differences of their values of each item.

    Where they `are_rows`, both values of each item are 0 or 1, and items are rows.

    b = sum max(d, 0) and c = sum max(-d, 0) stand for items that only the first, and only the
    second model passes, as d^2 <= |d| makes this conservative.
    """

    differences: ItemMeans
    are_rows: BoolArray

    @classmethod
    def of(cls, first: ItemMeans, second: ItemMeans) -> "PairedItems":
        """Return the differences; both have the same items in the same order."""
        difference = ItemMeans(
            first.segment,
            first.times,
            first.value - second.value,
            np.minimum(first.sets, second.sets),
            first.n_segments,
        )
        return cls(difference, first.are_rows & second.are_rows)

    @cached_property
    def _sums(self) -> tuple[FloatArray, FloatArray, FloatArray]:
        d = self.differences
        value = d.value
        return d.sum(np.maximum(value, 0)), d.sum(np.maximum(-value, 0)), d.n_items

    def limits_and_p_values(self, level: float) -> tuple[Limits, FloatArray]:
        """Return limits that describe, and p-values: the levels at which these are 0.

        Tango's limits of b, c and m, all times n_eff / m, with the t quantile.
        """
        d, (b, c, n) = self.differences, self._sums
        with np.errstate(divide="ignore", invalid="ignore"):
            spread = (b + c) / n - ((b - c) / n) ** 2
            is_simple = self.are_rows | (b + c == 0)
            factor = np.where(is_simple, 1, d.effective_size(spread) / n)
            df = np.where(is_simple, np.inf, d.df)
            statistic = np.where(b == c, 0, np.abs(b - c) / np.sqrt((b + c) / factor))
        z = np.full(len(n), normal_quantile(level))
        limits = self._tango(t_quantile(df, z), factor)
        tail = np.where(
            np.isinf(df), special.ndtr(-statistic), special.stdtr(np.maximum(df, 1e-9), -statistic)
        )
        return limits, np.where(n > 0, np.minimum(2 * tail, 1), np.nan)

    def _tango(self, z: FloatArray, factor: FloatArray) -> Limits:
        b, c, n = self._sums
        low, high = np.full((2, len(n)), np.nan)
        at = np.flatnonzero(n > 0)
        b, c, n = ((values[at] * factor[at])[:, None] for values in (b, c, n))
        low[at], high[at] = paired_limits_at(b, c, n, np.ones_like(n), z[at])
        return low, high

    def gate_limits(self, level: float) -> Limits:
        """Return the limits that decide: those of b, c and m as if they were counts."""
        b, c, n = self._sums
        low, high = np.full((2, len(n)), np.nan)
        at = np.flatnonzero(n > 0)
        b, c, n = (values[at][:, None] for values in (b, c, n))
        low[at], high[at] = paired_gate_limits(b, c, n, np.ones_like(n), level)
        return low, high
