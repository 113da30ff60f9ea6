"""The influence of each cluster on an estimate: its variance and degrees of freedom.

An estimate has one influence value u_c for each cluster c, and the variance sum_c u_c^2. The values
are scaled so that this variance is unbiased for independent rows (CR2).

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
from balframe.core.cells import segment_ranges
from balframe.core.safe_divide import ratio
from balframe.stats.effective_sample_size import kish_effective_size
from balframe.stats.lazy_scipy import special
from balframe.stats.proportions import normal_quantile

_MAX_QUANTILE = 1e6  # beyond it limits carry no information


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
        Expected u_c^2 if rows were independent.
    size : float array, shape (pairs,)
        Effective rows of the cluster; for means, its weight up to a factor. Replaces `expected`
        where no row varies.
    iid_variance : float array, shape (segments,)
        Variance of the estimate if rows were independent.
    """

    segment: Int64Array
    cluster: Int64Array
    times: Int64Array
    value: FloatArray
    expected: FloatArray
    size: FloatArray
    iid_variance: FloatArray

    def sum(self, values: FloatArray) -> FloatArray:
        """Add up over the clusters of each segment."""
        n_segments = len(self.iid_variance)
        sums = np.bincount(self.segment, weights=values * self.times, minlength=n_segments)
        return np.asarray(sums, np.float64)

    @classmethod
    def concat(cls, parts: Sequence["Influence"]) -> "Influence":
        """Concatenate the segments of several influences."""
        counts = np.cumsum([0, *(len(part.iid_variance) for part in parts)])
        return cls(
            np.concatenate([part.segment + n for part, n in zip(parts, counts, strict=False)]),
            np.concatenate([part.cluster for part in parts]),
            np.concatenate([part.times for part in parts]),
            np.concatenate([part.value for part in parts]),
            np.concatenate([part.expected for part in parts]),
            np.concatenate([part.size for part in parts]),
            np.concatenate([part.iid_variance for part in parts]),
        )

    def at(self, segments: Int64Array) -> "Influence":
        """Take the segments at these positions, in this order and with repetitions."""
        pairs, segment = segment_ranges(self.segment, len(self.iid_variance), segments)
        return Influence(
            segment,
            self.cluster[pairs],
            self.times[pairs],
            self.value[pairs],
            self.expected[pairs],
            self.size[pairs],
            self.iid_variance[segments],
        )

    @cached_property
    def n_clusters(self) -> FloatArray:
        """Number of clusters with rows in the denominator, of each segment: m."""
        return self.sum(np.ones(len(self.segment)))

    @cached_property
    def variance(self) -> FloatArray:
        """Variance of the estimate of each segment."""
        return self.sum(self.value**2)

    @cached_property
    def conservative_variance(self) -> FloatArray:
        """The largest of the variance, that of independent rows and the exchangeable one.

        NaN where all are 0. `size` has to be the effective rows of each cluster.
        """
        exchangeable = self.exchangeable_variance(self.expected, self.expected * (self.size - 1))
        largest = np.maximum(np.maximum(self.variance, self.iid_variance), exchangeable)
        return np.where(largest > 0, largest, np.nan)

    def exchangeable_variance(self, independent: FloatArray, excess: FloatArray) -> FloatArray:
        """Return the variance if the rows of all clusters have the same correlation rho.

        A cluster then has the variance e_c + rho g_c. rho is estimated by the analysis of variance,
        which weights clusters by 1 / e_c: a large cluster that is right by luck does not hide the
        spread of the small ones. It lies between 0 and 1, and is 0 where no cluster has two rows.

        Parameters
        ----------
        independent : float array, shape (pairs,)
            e_c, the variance of the cluster if its rows were independent.
        excess : float array, shape (pairs,)
            g_c, what would be added to it if they were all equal.
        """
        varies = independent > 0
        below = np.where(varies, independent, 1)
        squares = self.sum(np.where(varies, self.value**2 / below - 1, 0))
        excesses = self.sum(np.where(varies, excess / below, 0))
        has_excess = excesses > 0
        rho = np.where(has_excess, np.clip(squares / np.where(has_excess, excesses, 1), 0, 1), 0)
        return self.sum(independent + rho[self.segment] * excess)

    @cached_property
    def varies(self) -> BoolArray:
        """Whether the variance of independent rows is above 0."""
        return np.asarray(self.iid_variance > 0)

    @cached_property
    def effective_clusters(self) -> FloatArray:
        """Effective number of clusters of each segment: 1 / sum_c tau_c^2.

        tau_c is the share of the cluster in the variance of independent rows.
        """
        share = np.where(self.varies[self.segment], self.expected, self.size)
        return kish_effective_size(self.sum(share), self.sum(share**2))

    @cached_property
    def df(self) -> FloatArray:
        """Satterthwaite degrees of freedom, at most m* - 1 for m* effective clusters.

        2m / (kurtosis - 1), with kurtosis = m sum_c u_c^4 / V^2.
        """
        kurtosis = self.n_clusters * ratio(self.sum(self.value**4), self.variance**2)
        excess = np.where(kurtosis > 1, kurtosis - 1, np.nan)
        return np.fmin(self.effective_clusters - 1, ratio(2 * self.n_clusters, excess))

    @cached_property
    def quantile_df(self) -> FloatArray:
        """Degrees of freedom of the quantile of each segment; infinite where no row varies."""
        return np.where(self.varies, np.maximum(self.df, 0), np.inf)

    def quantile(self, level: float) -> FloatArray:
        """Return the t quantile of each segment; the normal quantile where no row varies."""
        return t_quantile(self.quantile_df, np.full(len(self.df), normal_quantile(level)))

    def p_value(self, estimate: FloatArray) -> FloatArray:
        """Return the two-sided p-value of the t test that the estimate is 0."""
        with np.errstate(divide="ignore", invalid="ignore"):
            t = np.where(estimate == 0, 0, np.abs(estimate) / np.sqrt(self.variance))
        return np.asarray(2 * special.stdtr(np.maximum(self.df, 0), -t))

    @cached_property
    def design_effect(self) -> FloatArray:
        """Design effect: variance over that of independent rows; NaN where no row varies."""
        return ratio(self.variance, self.iid_variance)

    def shared_pairs(self, other: "Influence") -> tuple[Int64Array, Int64Array]:
        """Return the positions of the pairs that both have, in this influence and in the other."""
        codes = np.concatenate([self.cluster, other.cluster])
        low, size = codes.min(initial=0), 1 + codes.max(initial=0) - codes.min(initial=0)
        own_keys, other_keys = (
            influence.segment * size + influence.cluster - low for influence in (self, other)
        )
        _, own_pairs, other_pairs = np.intersect1d(
            own_keys, other_keys, assume_unique=True, return_indices=True
        )
        return own_pairs, other_pairs


def t_quantile(df: FloatArray, z: FloatArray) -> FloatArray:
    """Return the quantiles of t distributions with the tails of the normal quantiles z.

    z itself where the degrees of freedom are infinite, and a number so large that limits carry no
    information where they are 0.
    """
    t = np.where(np.isnan(df), np.nan, np.where(np.isinf(df), z, _MAX_QUANTILE))
    has_df = (df > 0) & np.isfinite(df)
    quantile = -special.stdtrit(df[has_df], special.ndtr(-z[has_df]))
    t[has_df] = np.clip(np.nan_to_num(quantile, nan=_MAX_QUANTILE), z[has_df], _MAX_QUANTILE)
    return t


def cr2_influence(
    residual_sum: FloatArray | Int64Array, n: FloatArray, share: FloatArray
) -> FloatArray:
    """Return u_c, the residual sum of a cluster over n sqrt(1 - h_c).

    n is the weight of all rows, of which the cluster has the share h_c. NaN where that is 1.
    """
    complement = np.where(share < 1, 1 - share, np.nan)
    return np.asarray(residual_sum / (n * np.sqrt(complement)))


def influence_correlation(first: Influence, second: Influence) -> FloatArray:
    """Return the correlation of two estimates in each segment, 0 where one does not vary."""
    first_pairs, second_pairs = first.shared_pairs(second)
    products = first.value[first_pairs] * second.value[second_pairs]
    covariance = np.bincount(first.segment[first_pairs], products, len(first.variance))
    variance_product = first.variance * second.variance
    varies = variance_product > 0
    r = covariance / np.sqrt(np.where(varies, variance_product, 1))
    return np.where(varies, np.clip(r, -1, 1), 0)
