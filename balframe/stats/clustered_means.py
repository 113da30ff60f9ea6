"""Weighted means of ratios, such as recalls, whose rows come in clusters.

Of the rows of label k in a segment, whose weights sum to N_k, cluster c has the weight N_ck. These
rows contribute t_ck to the total t_k: the weight of correct rows, or, for two models, that of the
rows that only the first gets right minus that of those that only the second gets right. The mean is
sum_k a_k t_k / N_k with shares a_k that sum to 1. A cluster influences label k by
u_ck = (t_ck - t_k / N_k N_ck) / (N_k sqrt(1 - N_ck / N_k)), and the mean by sum_k a_k u_ck. Without
weights, N_k is the number of rows.

If rows were independent, label k would have the variance v_k / n_k, where v_k is that of a single
row and n_k the effective number of rows (`balframe.stats.effective_sample_size`). A cluster would
add to it in proportion to its sum of squared weights.

References
----------
D. A. Binder, "On the variances of asymptotically normal estimators from complex surveys",
International Statistical Review 1983, for the influence of weighted rows (Taylor linearisation).
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from balframe.core.array_types import BoolArray, FloatArray, Int64Array
from balframe.core.safe_divide import ratio
from balframe.core.sample import Clusters, Sample
from balframe.stats.base import Interval
from balframe.stats.batching import group_by_label_count
from balframe.stats.cluster_influence import Influence, cr2_influence
from balframe.stats.constrained_mle import score_statistic, skewness_corrected_statistic
from balframe.stats.effective_sample_size import effective_number, kish_effective_size
from balframe.stats.mean_recall import Recalls, invert_score_test
from balframe.stats.paired_differences import PairedLimits
from balframe.stats.proportions import Limits, wilson_at

_ROUNDING = 1e-12  # times a cluster's rows: smaller residuals are 0 up to rounding


@dataclass(frozen=True)
class ClusteredMeans:
    """The means of all segments, flat over their labels, and the contribution of each cluster.

    Parameters
    ----------
    clusters : Clusters
        The pairs of segment and cluster.
    segment : int64 array, shape (entries,)
        Segment of each label that is used, ascending.
    n, share, mean, row_variance : float arrays, shape (entries,)
        Effective rows n_k, a_k, ratio t_k / N_k, and variance of a single row. `n` are the fewer of
        those for the two limits.
    n_of_side : two float arrays, shape (entries,)
        Effective rows for the lower and for the upper limit, if rows are independent.
    entry, pair : int64 arrays, shape (parts,)
        Label and pair of each part; a part is the rows of one label in one cluster.
    total, weight, weight_sq : float arrays, shape (parts,)
        t_ck, N_ck, and the sum of squared weights; rows in place of both without weights.
    """

    clusters: Clusters
    segment: Int64Array
    n: FloatArray
    share: FloatArray
    mean: FloatArray
    row_variance: FloatArray
    n_of_side: tuple[FloatArray, FloatArray]
    entry: Int64Array
    pair: Int64Array
    total: FloatArray
    weight: FloatArray
    weight_sq: FloatArray

    @cached_property
    def times(self) -> Int64Array:
        """The number of equal clusters that each part stands for."""
        return self.clusters.times[self.pair]

    @cached_property
    def label_weight(self) -> FloatArray:
        """Weight of the rows of each label: N_k."""
        return self._sum_over_clusters(self.weight)

    @cached_property
    def weight_share(self) -> FloatArray:
        """Share of the weight of its label that each part has: h_ck."""
        return self.weight / self.label_weight[self.entry]

    @cached_property
    def variance_share(self) -> FloatArray:
        """Share of each part in the variance of its label if rows were independent."""
        return ratio(self.weight_sq, self._sum_over_clusters(self.weight_sq)[self.entry])

    def _sum_over_clusters(self, values: FloatArray) -> FloatArray:
        """Add up the parts of each label."""
        sums = np.bincount(self.entry, weights=values * self.times, minlength=len(self.n))
        return np.asarray(sums, np.float64)

    def _sum_over_labels(self, values: FloatArray) -> FloatArray:
        """Add up the labels of each segment."""
        sums = np.bincount(self.segment, weights=values, minlength=self.clusters.n_segments)
        return np.asarray(sums, np.float64)

    def _label_influence(self, mean: FloatArray) -> FloatArray:
        """Return u_ck; NaN where all rows of a label are in one cluster."""
        residual = self.total - mean[self.entry] * self.weight
        residual = np.where(np.abs(residual) <= _ROUNDING * self.weight, 0, residual)
        return cr2_influence(residual, self.label_weight[self.entry], self.weight_share)

    @cached_property
    def value(self) -> FloatArray:
        """The mean of each segment, NaN where it has no label."""
        has_labels = np.bincount(self.segment, minlength=self.clusters.n_segments) > 0
        return np.where(has_labels, self._sum_over_labels(self.share * self.mean), np.nan)

    @cached_property
    def varies(self) -> BoolArray:
        """Whether the rows of each label differ."""
        return np.asarray(self.row_variance > 0)

    @cached_property
    def _label_variance(self) -> FloatArray:
        """Variance of the mean of each label."""
        return self._sum_over_clusters(self._label_influence(self.mean) ** 2)

    @property
    def has_spread(self) -> BoolArray:
        """Whether the means of the clusters of each label differ."""
        return np.asarray(self._label_variance != 0)

    @cached_property
    def label_design_effects(self) -> FloatArray:
        """Design effect of each label, at least 1; rows per effective cluster if no row varies."""
        variance = self._label_variance
        effective_clusters = self.label_effective_clusters
        observed = np.maximum(ratio(variance * self.n, self.row_variance), 1)
        is_one_cluster = self._sum_over_clusters((self.weight_share >= 1).astype(np.float64)) > 0
        of_clusters = np.maximum(self.n / effective_clusters, 1)
        estimate = np.where(self.varies, observed, of_clusters)
        return np.where(is_one_cluster, np.nan, estimate)

    @cached_property
    def label_effective_clusters(self) -> FloatArray:
        """Effective number of clusters of each label: 1 / sum_c h_ck^2."""
        return kish_effective_size(self.label_weight, self._sum_over_clusters(self.weight**2))

    @cached_property
    def clusters_with_errors_and_hits(self) -> tuple[FloatArray, FloatArray]:
        """Effective number of clusters with errors of each label, and with correct rows."""
        errors, hits = (
            effective_number(weight, self._sum_over_clusters)
            for weight in (np.maximum(self.weight - self.total, 0), self.total)
        )
        return errors, hits

    @cached_property
    def fewest_clusters_with_outcome(self) -> FloatArray:
        """The least of the clusters with errors and with correct rows, over a segment's labels."""
        fewest = np.full(self.clusters.n_segments, np.inf)
        np.minimum.at(fewest, self.segment, np.minimum(*self.clusters_with_errors_and_hits))
        return fewest

    @cached_property
    def influence(self) -> Influence:
        """Influence of each cluster on the mean."""
        return self.influence_at(self.mean)

    def influence_at(self, mean: FloatArray) -> Influence:
        """Return the influence around other ratios of the labels, such as pooled ones."""
        factor = self.share**2 / self.n
        effects = np.where(self.varies, self.label_design_effects, 0)
        iid_variance, clustered_variance = (
            self._sum_over_labels(factor * self.row_variance * effect) for effect in (1, effects)
        )
        rescaling = ratio(iid_variance, clustered_variance)[self.segment]
        expected = factor * self.row_variance * effects * rescaling
        pairs = self._used_pairs
        return Influence(
            self.clusters.segment[pairs],
            self.clusters.cluster[pairs],
            self.clusters.times[pairs],
            self._sum_over_pair(self.share[self.entry] * self._label_influence(mean)),
            self._sum_over_pair(
                np.where(self.varies, expected, 0)[self.entry] * self.variance_share
            ),
            self._sum_over_pair(factor[self.entry] * self.weight_share),
            iid_variance,
        )

    @cached_property
    def _used_pairs(self) -> Int64Array:
        """The pairs of segment and cluster that have a part."""
        return np.flatnonzero(np.bincount(self.pair, minlength=len(self.clusters.segment)))

    def _sum_over_pair(self, values: FloatArray) -> FloatArray:
        """Add up the parts of each pair of segment and cluster that has one."""
        sums = np.bincount(self.pair, weights=values, minlength=len(self.clusters.segment))
        return np.asarray(sums[self._used_pairs], np.float64)

    @cached_property
    def effective_sizes(self) -> FloatArray:
        """Effective sample size of each label, at least 1: with these the mean has its variance.

        n_k over the design effect of the label. The sizes of labels whose rows vary are rescaled to
        account for the covariance between labels.
        """
        return self._sizes_at(self.influence.variance)

    @cached_property
    def conservative_sizes(self) -> FloatArray:
        """The effective sample sizes if the variance is at least the exchangeable one."""
        return self._sizes_at(np.maximum(self.influence.variance, self.exchangeable_variance))

    def _sizes_at(self, variance: FloatArray) -> FloatArray:
        """Return effective sample sizes for these variances, or for that of independent rows."""
        iid_parts = self.share**2 / self.n * self.row_variance
        without_covariance = self._sum_over_labels(
            np.where(self.varies, iid_parts * self.label_design_effects, 0)
        )
        conservative = np.maximum(variance, self.influence.iid_variance)
        rescaling = ratio(conservative, without_covariance)[self.segment]
        n = self.n / self.label_design_effects / np.where(self.varies, rescaling, 1)
        return np.where(n < 1, 1, n)

    @cached_property
    def exchangeable_variance(self) -> FloatArray:
        """Variance if the rows of all clusters have the same correlation, for few errors.

        With v_k = p_k (1 - p_k), a cluster has the variance sum_k a_k^2 v_k s_ck / n_k if its rows
        are independent, where s_ck is its share of squared weights, and (sum_k a_k sqrt(v_k)
        h_ck)^2 if they are all equal, where h_ck is its share of weights. The sum F over the
        clusters is multiplied by k = S(n_k / d) / S(n_k), at least 1: with S(n) = sum_k a_k^2
        p~ (1 - p~) / n_k, p~ = (p_k n + 1/2) / (n + 1) and the design effect d of F. If errors are
        few, and fewer still count as independent, the variance p (1 - p) is too small by chance.
        """
        factor = self.share**2 / self.n
        independent = self._sum_over_pair(
            (factor * self.row_variance)[self.entry] * self.variance_share
        )
        sd = self._sum_over_pair(
            (self.share * np.sqrt(self.row_variance))[self.entry] * self.weight_share
        )
        variance = self.influence.exchangeable_variance(independent, sd**2 - independent)
        design_effect = np.fmax(ratio(variance, self.influence.iid_variance), 1)[self.segment]

        def smoothed_variance(n: FloatArray) -> FloatArray:
            p = (self.mean * n + 0.5) / (n + 1)
            return self._sum_over_labels(np.where(self.varies, factor * p * (1 - p), 0))

        k = ratio(smoothed_variance(self.n / design_effect), smoothed_variance(self.n))
        return np.fmax(k, 1) * variance

    @cached_property
    def design_effect(self) -> FloatArray:
        """Variance of the mean over that of independent rows."""
        factor = self.share**2 / self.n
        size_effect = ratio(
            self._sum_over_labels(factor * self.label_design_effects), self._sum_over_labels(factor)
        )
        return np.where(self.influence.varies, self.influence.design_effect, size_effect)


def clustered_means(interval: Interval, sample: Sample) -> ClusteredMeans | None:
    """Return the means of ratios of which a metric is a function, or None if there are none."""
    clusters = sample.clusters
    assert clusters is not None

    def compute() -> ClusteredMeans | None:
        totals, cluster_totals = (
            interval.ratios(c) for c in (sample.counts, clusters.pairs.counts)
        )
        if totals is None or cluster_totals is None:
            return None
        return _join(totals, cluster_totals, clusters)

    return sample.once((clustered_means, id(interval)), compute)


def _join(totals: Recalls, cluster_totals: Recalls, clusters: Clusters) -> ClusteredMeans:
    """Join the ratios of segments with those of their clusters."""
    totals = totals.at(np.lexsort((totals.label, totals.segment)))
    rows = totals.effective_rows()
    mean = totals.correct / totals.support
    weight_sum = np.bincount(totals.segment, weights=totals.weight, minlength=clusters.n_segments)
    is_edge = (totals.correct <= 0) | (totals.correct >= totals.support)
    labels = LabelMeans(
        totals.segment,
        totals.label,
        rows.fewer[1],
        totals.weight / weight_sum[totals.segment],
        mean,
        np.where(is_edge, 0, mean * (1 - mean)),
        (rows.lower[1], rows.for_upper[1]),
    )
    return labels.with_clusters(
        clusters,
        cluster_totals.segment,
        cluster_totals.label,
        cluster_totals.correct,
        cluster_totals.support,
        cluster_totals.support_sq,
    )


@dataclass(frozen=True, slots=True)
class LabelMeans:
    """The labels of all segments, ascending by segment, then label; as in `ClusteredMeans`."""

    segment: Int64Array
    label: Int64Array
    n: FloatArray
    share: FloatArray
    mean: FloatArray
    row_variance: FloatArray
    n_of_side: tuple[FloatArray, FloatArray]

    def with_clusters(
        self,
        clusters: Clusters,
        pair: Int64Array,
        label: Int64Array,
        total: FloatArray,
        weight: FloatArray,
        weight_sq: FloatArray,
    ) -> ClusteredMeans:
        """Match each part with its segment and label; parts of unused labels are left out."""
        size = 1 + max(self.label.max(initial=0), label.max(initial=0))
        keys, part_keys = self.segment * size + self.label, clusters.segment[pair] * size + label
        entry = np.searchsorted(keys, part_keys)
        parts = np.flatnonzero(np.append(keys, -1)[entry] == part_keys)
        return ClusteredMeans(
            clusters,
            self.segment,
            self.n,
            self.share,
            self.mean,
            self.row_variance,
            self.n_of_side,
            entry[parts],
            pair[parts],
            total[parts],
            weight[parts],
            weight_sq[parts],
        )


# Confidence limits


_LimitsFunction = Callable[[FloatArray, FloatArray, FloatArray, FloatArray], Limits]


def clustered_mean_limits(means: ClusteredMeans, method: str, level: float) -> Limits:
    """Return the limits of every segment, NaN where a label has all rows in one cluster."""
    low, high = np.full((2, means.clusters.n_segments), np.nan)
    quantile, n = means.influence.quantile(level), means.conservative_sizes
    for segments, entries in group_by_label_count(means.segment, len(low), np.arange(len(n))):
        finite = np.isfinite(n[entries]).all(axis=1) & np.isfinite(quantile[segments])
        segments, entries = segments[finite], entries[finite]
        rows, mean, share = (values[entries] for values in (n, means.mean, means.share))
        low[segments], high[segments] = _METHODS[method](
            rows * mean, rows, share, quantile[segments]
        )
    return low, high


_METHODS: dict[str, _LimitsFunction] = {
    "wilson": lambda x, n, a, t: wilson_at(x[:, 0], n[:, 0], t),
    "score": lambda x, n, a, t: invert_score_test(x, n, a, t, score_statistic),
    "scas": lambda x, n, a, t: invert_score_test(x, n, a, t, skewness_corrected_statistic),
}


# Two models on the same rows


def clustered_paired_limits(
    means: ClusteredMeans,
    only_first: FloatArray,
    only_second: FloatArray,
    level: float,
    limits_at: PairedLimits,
) -> Limits:
    """Invert the score test with effective counts and a t quantile of each segment.

    Parameters
    ----------
    means : ClusteredMeans
        Means of the differences of the labels.
    only_first, only_second : float arrays, shape (entries,)
        Shares of the rows of each label that only the first, and only the second, of two models
        gets right.
    level : float
        Confidence level, between 0 and 1.
    limits_at : function
        Limits of independent rows at quantiles.

    Returns
    -------
    lower, upper : float arrays, shape (segments,)
        NaN where all rows of a label are in one cluster.
    """
    low, high = np.full((2, means.clusters.n_segments), np.nan)
    quantile, n = means.influence.quantile(level), means.effective_sizes
    columns = (only_first * n, only_second * n, n, means.share)
    for segments, entries in group_by_label_count(means.segment, len(low), np.arange(len(n))):
        finite = np.isfinite(n[entries]).all(axis=1) & np.isfinite(quantile[segments])
        segments = segments[finite]
        b, c, rows, share = (column[entries[finite]] for column in columns)
        low[segments], high[segments] = limits_at(b, c, rows, share, quantile[segments])
    return low, high


def clustered_paired_p_value(means: ClusteredMeans) -> FloatArray:
    """Return the p-value of the t test that two models have the same score.

    Where the clusters of a label have equal differences, its variance is estimated around 0.
    """
    return means.influence_at(np.where(means.has_spread, means.mean, 0)).p_value(means.value)
