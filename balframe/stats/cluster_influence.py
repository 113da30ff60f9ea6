"""By how much each cluster moves an estimate: its variance, and the degrees of freedom.

An estimate has one influence value u_c for each cluster c, and the variance sum_c u_c^2. The values
are scaled so that this is unbiased for independent rows (CR2).

References
----------
R. M. Bell and D. F. McCaffrey, "Bias reduction in standard errors for linear regression with
multi-stage samples", Survey Methodology 2002. E. L. Korn and B. I. Graubard, "Confidence intervals
for proportions with small expected number of positive counts estimated from survey data", Survey
Methodology 1998, for limits with effective rows and a t quantile.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from balframe.core.array_types import BoolArray, FloatArray, Int64Array
from balframe.core.cells import ranges_of
from balframe.core.safe_divide import ratio
from balframe.stats.effective_sample_size import kish
from balframe.stats.lazy_scipy import special
from balframe.stats.proportions import normal_quantile

_LARGEST = 1e6  # quantiles beyond it give limits that say nothing


@dataclass(frozen=True)
class Influence:
    """The influence of the clusters on an estimate, for all segments; NaN where it is undefined.

    Parameters
    ----------
    segment, cluster, times : int64 arrays, shape (pairs,)
        Segment, cluster, and number of clusters of each pair of both that has rows in the
        denominator, as in `Clusters`.
    value : float array, shape (pairs,)
        u_c.
    expected : float array, shape (pairs,)
        Variance that the cluster would have if rows were independent.
    size : float array, shape (pairs,)
        What takes its place where no row varies.
    variance_of_rows : float array, shape (segments,)
        Variance of the estimate if rows were independent.
    """

    segment: Int64Array
    cluster: Int64Array
    times: Int64Array
    value: FloatArray
    expected: FloatArray
    size: FloatArray
    variance_of_rows: FloatArray

    def sum(self, values: FloatArray) -> FloatArray:
        """Add up over the clusters of each segment."""
        n_segments = len(self.variance_of_rows)
        sums = np.bincount(self.segment, weights=values * self.times, minlength=n_segments)
        return np.asarray(sums, np.float64)

    @classmethod
    def concat(cls, parts: Sequence["Influence"]) -> "Influence":
        """Put the segments of several behind each other."""
        counts = np.cumsum([0, *(len(part.variance_of_rows) for part in parts)])
        shifted = [part.segment + n for part, n in zip(parts, counts, strict=False)]

        def joined(name: str) -> FloatArray:
            return np.concatenate([getattr(part, name) for part in parts])

        return cls(
            np.concatenate(shifted),
            np.concatenate([part.cluster for part in parts]),
            np.concatenate([part.times for part in parts]),
            joined("value"),
            joined("expected"),
            joined("size"),
            joined("variance_of_rows"),
        )

    def at(self, segments: Int64Array) -> "Influence":
        """Take the segments at these positions, in this order and as often as they are given."""
        pairs, segment = ranges_of(self.segment, len(self.variance_of_rows), segments)
        return Influence(
            segment,
            self.cluster[pairs],
            self.times[pairs],
            self.value[pairs],
            self.expected[pairs],
            self.size[pairs],
            self.variance_of_rows[segments],
        )

    @cached_property
    def n_clusters(self) -> FloatArray:
        """Clusters with rows in the denominator, of each segment: m."""
        return self.sum(np.ones(len(self.segment)))

    @cached_property
    def variance(self) -> FloatArray:
        """Variance of the estimate of each segment."""
        return self.sum(self.value**2)

    @property
    def at_least_of_rows(self) -> FloatArray:
        """The variance, or that of independent rows where this is larger; NaN where it is 0."""
        larger = np.maximum(self.variance, self.variance_of_rows)
        return np.where(larger > 0, larger, np.nan)

    @cached_property
    def varies(self) -> BoolArray:
        """Whether the rows of a segment differ in what they add to the estimate."""
        return np.asarray(self.variance_of_rows > 0)

    @cached_property
    def effective_clusters(self) -> FloatArray:
        """Clusters of equal size that are as many as those of each segment: 1 / sum tau_c^2.

        tau_c is the share of the cluster in the variance of independent rows.
        """
        share = np.where(self.varies[self.segment], self.expected, self.size)
        return kish(self.sum(share), self.sum(share**2))

    @cached_property
    def df(self) -> FloatArray:
        """Degrees of freedom: min(m* - 1, 2m / (kurtosis - 1)), kurtosis = m sum u^4 / V^2."""
        kurtosis = self.n_clusters * ratio(self.sum(self.value**4), self.variance**2)
        more = np.where(kurtosis > 1, kurtosis - 1, np.nan)
        return np.fmin(self.effective_clusters - 1, ratio(2 * self.n_clusters, more))

    def quantile(self, level: float) -> FloatArray:
        """Find the quantile of t; that of the normal distribution where no row varies."""
        normal = normal_quantile(level)
        df = np.maximum(self.df, 0)
        known = df > 0
        t = np.full(len(df), np.where(np.isnan(self.df), np.nan, _LARGEST))
        t[known] = np.clip(special.stdtrit(df[known], (1 + level) / 2), normal, _LARGEST)
        return np.where(self.varies, t, normal)

    def p_value(self, estimate: FloatArray) -> FloatArray:
        """Test that the estimate is 0, two-sided, by the t distribution."""
        with np.errstate(divide="ignore", invalid="ignore"):
            t = np.where(estimate == 0, 0, np.abs(estimate) / np.sqrt(self.variance))
        return np.asarray(2 * special.stdtr(np.maximum(self.df, 0), -t))

    @cached_property
    def design_effect(self) -> FloatArray:
        """Variance over that of independent rows; where no row varies, NaN."""
        return ratio(self.variance, self.variance_of_rows)

    def _keys(self, other: "Influence") -> tuple[Int64Array, Int64Array]:
        """Give each pair of segment and cluster, of both, a number."""
        codes = np.concatenate([self.cluster, other.cluster])
        low, size = codes.min(initial=0), 1 + codes.max(initial=0) - codes.min(initial=0)
        one, of_other = (it.segment * size + it.cluster - low for it in (self, other))
        return one, of_other

    def shared_with(self, other: "Influence") -> tuple[Int64Array, Int64Array]:
        """Find the pairs that both have: their positions in this one, and in the other."""
        keys = self._keys(other)
        _, one, of_other = np.intersect1d(*keys, assume_unique=True, return_indices=True)
        return one, of_other

    def minus(self, other: "Influence") -> "Influence":
        """Find the influence on the difference of two estimates, which may share clusters."""
        keys = np.concatenate(self._keys(other))
        distinct, first, pair = np.unique(keys, return_index=True, return_inverse=True)

        def added(one: FloatArray, of_other: FloatArray) -> FloatArray:
            values = np.concatenate([one, of_other])
            return np.asarray(np.bincount(pair, weights=values, minlength=len(distinct)))

        def taken(one: Int64Array, of_other: Int64Array) -> Int64Array:
            return np.asarray(np.concatenate([one, of_other])[first])

        return Influence(
            taken(self.segment, other.segment),
            taken(self.cluster, other.cluster),
            taken(self.times, other.times),
            added(self.value, -other.value),
            added(self.expected, other.expected),
            added(self.size, other.size),
            self.variance_of_rows + other.variance_of_rows,
        )


def influence_of(distance: FloatArray | Int64Array, n: FloatArray, held: FloatArray) -> FloatArray:
    """Return u_c from a cluster's sum of distances from the mean over n rows, of which it has h_c.

    That is the sum over n sqrt(1 - h_c); NaN where one cluster has all rows.
    """
    rest = np.where(held < 1, 1 - held, np.nan)
    return np.asarray(distance / (n * np.sqrt(rest)))


def correlation(one: Influence, other: Influence) -> FloatArray:
    """Find the correlation of two estimates in each segment, 0 where one does not vary."""
    at, of_other = one.shared_with(other)
    products = one.value[at] * other.value[of_other]
    covariance = np.bincount(one.segment[at], products, len(one.variance))
    product = one.variance * other.variance
    known = product > 0
    r = covariance / np.sqrt(np.where(known, product, 1))
    return np.where(known, np.clip(r, -1, 1), 0)
