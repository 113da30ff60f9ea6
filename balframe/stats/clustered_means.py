"""Weighted means of ratios, such as recalls, whose rows come in clusters.

Of the n_k rows of label k in a segment, n_ck are in cluster c, and t_ck is what these add to the
total t_k: correct rows, or, for two models, those that only the first gets right less those that
only the second does. The mean is sum_k a_k t_k / n_k with weights a_k that sum to 1. A cluster
influences label k by u_ck = (t_ck - t_k / n_k n_ck) / (n_k sqrt(1 - n_ck / n_k)), and the mean by
sum_k a_k u_ck.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from balframe.core.array_types import BoolArray, FloatArray, Int64Array
from balframe.core.safe_divide import ratio
from balframe.core.sample import Clusters, Sample
from balframe.stats.base import GATE, Interval
from balframe.stats.batching import by_number_of_labels
from balframe.stats.cluster_influence import Influence, influence_of
from balframe.stats.constrained_mle import Segments, corrected, lower_limit, standardised
from balframe.stats.effective_sample_size import kish
from balframe.stats.mean_recall import Recalls, not_rejected
from balframe.stats.paired_differences import paired_limits_at
from balframe.stats.proportions import Limits, exact, normal_quantile, wilson_at

_ROUNDING = 1e-12  # of a cluster's rows: a distance from the mean so small is none


@dataclass(frozen=True)
class MeansOfClusters:
    """The means of all segments, flat over their labels, and what each cluster adds to a label.

    Parameters
    ----------
    clusters : Clusters
        The pairs of segment and cluster.
    segment : int64 array, shape (entries,)
        Segment of each label that is used, ascending.
    n, share, mean, spread : float arrays, shape (entries,)
        Rows n_k, weight a_k, ratio t_k / n_k, and variance of a single row.
    entry, pair : int64 arrays, shape (parts,)
        Label and pair of each part.
    total, rows : float arrays, shape (parts,)
        t_ck and n_ck.
    """

    clusters: Clusters
    segment: Int64Array
    n: FloatArray
    share: FloatArray
    mean: FloatArray
    spread: FloatArray
    entry: Int64Array
    pair: Int64Array
    total: FloatArray
    rows: FloatArray

    @cached_property
    def times(self) -> Int64Array:
        """Of how many clusters each part stands."""
        return self.clusters.times[self.pair]

    @cached_property
    def held(self) -> FloatArray:
        """Share of the rows of its label that each part has: h_ck."""
        return self.rows / self.n[self.entry]

    def _over_clusters(self, values: FloatArray) -> FloatArray:
        """Add up the parts of each label."""
        sums = np.bincount(self.entry, weights=values * self.times, minlength=len(self.n))
        return np.asarray(sums, np.float64)

    def _over_labels(self, values: FloatArray) -> FloatArray:
        """Add up the labels of each segment."""
        sums = np.bincount(self.segment, weights=values, minlength=self.clusters.n_segments)
        return np.asarray(sums, np.float64)

    def _influence_on_labels(self, mean: FloatArray) -> FloatArray:
        """Compute u_ck; NaN where all rows of a label are in one cluster."""
        distance = self.total - mean[self.entry] * self.rows
        distance = np.where(np.abs(distance) <= _ROUNDING * self.rows, 0, distance)
        return influence_of(distance, self.n[self.entry], self.held)

    @cached_property
    def value(self) -> FloatArray:
        """The mean of each segment, NaN where it has no label."""
        has_labels = np.bincount(self.segment, minlength=self.clusters.n_segments) > 0
        return np.where(has_labels, self._over_labels(self.share * self.mean), np.nan)

    @cached_property
    def varies(self) -> BoolArray:
        """Whether the rows of each label differ."""
        return np.asarray(self.spread > 0)

    @cached_property
    def design_effects(self) -> FloatArray:
        """Design effect of each label, at least 1; by clusters of equal size if no row varies."""
        variance = self._over_clusters(self._influence_on_labels(self.mean) ** 2)
        effective = self.effective_clusters_of_labels
        observed = np.maximum(ratio(variance * self.n, self.spread), 1)
        alone = self._over_clusters((self.held >= 1).astype(np.float64)) > 0
        return np.where(alone, np.nan, np.where(self.varies, observed, self.n / effective))

    @cached_property
    def effective_clusters_of_labels(self) -> FloatArray:
        """Clusters of equal size that are as many as those of each label: 1 / sum_c h_ck^2."""
        return kish(self.n, self._over_clusters(self.rows**2))

    def effective_clusters_with(self, rows: FloatArray) -> FloatArray:
        """Count the clusters of equal size that hold these rows of each label; 0 without rows."""
        return np.nan_to_num(kish(self._over_clusters(rows), self._over_clusters(rows**2)))

    @cached_property
    def influence(self) -> Influence:
        """Influence of each cluster on the mean."""
        return self.influence_around(self.mean)

    def influence_around(self, mean: FloatArray) -> Influence:
        """Find the influence where the ratios of the labels are these, such as pooled ones."""
        part = self.share**2 / self.n
        effects = np.where(self.varies, self.design_effects, 0)
        of_rows, enlarged = (
            self._over_labels(part * self.spread * factor) for factor in (1, effects)
        )
        expected = part * self.spread * effects * ratio(of_rows, enlarged)[self.segment]
        pairs = np.flatnonzero(np.bincount(self.pair, minlength=len(self.clusters.segment)))

        def over_labels(values: FloatArray) -> FloatArray:
            sums = np.bincount(self.pair, weights=values, minlength=len(self.clusters.segment))
            return np.asarray(sums[pairs], np.float64)

        return Influence(
            self.clusters.segment[pairs],
            self.clusters.cluster[pairs],
            self.clusters.times[pairs],
            over_labels(self.share[self.entry] * self._influence_on_labels(mean)),
            over_labels(np.where(self.varies, expected, 0)[self.entry] * self.held),
            over_labels(part[self.entry] * self.held),
            of_rows,
        )

    @cached_property
    def effective_rows(self) -> FloatArray:
        """Rows of each label that would give the mean its variance, at least 1.

        n_k over the design effect of the label. Those of the labels whose rows vary are rescaled,
        so that the covariance between labels counts too.
        """
        part = self.share**2 / self.n * self.spread
        variance, of_rows = self.influence.variance, self.influence.variance_of_rows
        apart = self._over_labels(np.where(self.varies, part * self.design_effects, 0))
        rescaled = ratio(np.maximum(variance, of_rows), apart)[self.segment]
        n = self.n / self.design_effects / np.where(self.varies, rescaled, 1)
        return np.where(n < 1, 1, n)

    @cached_property
    def design_effect(self) -> FloatArray:
        """Variance of the mean over that of independent rows."""
        part = self.share**2 / self.n
        by_size = ratio(self._over_labels(part * self.design_effects), self._over_labels(part))
        return np.where(self.influence.varies, self.influence.design_effect, by_size)


def means_of_clusters(interval: Interval, sample: Sample) -> MeansOfClusters | None:
    """Read the ratios of which a metric is a function; None where it is not one of ratios."""
    clusters = sample.clusters
    assert clusters is not None

    def read() -> MeansOfClusters | None:
        outer, inner = (interval.ratios(c) for c in (sample.counts, clusters.pairs.counts))
        return None if outer is None or inner is None else _joined(outer, inner, clusters)

    return sample.once((means_of_clusters, id(interval)), read)


def _joined(outer: Recalls, inner: Recalls, clusters: Clusters) -> MeansOfClusters:
    """Put the ratios of segments and of clusters together."""
    outer = outer.at(np.lexsort((outer.label, outer.segment)))
    mean = outer.correct / outer.support
    whole = np.bincount(outer.segment, weights=outer.weight, minlength=clusters.n_segments)
    is_edge = (outer.correct <= 0) | (outer.correct >= outer.support)
    labels = Labels(
        outer.segment,
        outer.label,
        outer.support,
        outer.weight / whole[outer.segment],
        mean,
        np.where(is_edge, 0, mean * (1 - mean)),
    )
    return labels.joined(clusters, inner.segment, inner.label, inner.correct, inner.support)


@dataclass(frozen=True, slots=True)
class Labels:
    """The labels of all segments, ascending by segment, then label; as in `MeansOfClusters`."""

    segment: Int64Array
    label: Int64Array
    n: FloatArray
    share: FloatArray
    mean: FloatArray
    spread: FloatArray

    def joined(
        self,
        clusters: Clusters,
        pair: Int64Array,
        label: Int64Array,
        total: FloatArray,
        rows: FloatArray,
    ) -> MeansOfClusters:
        """Find the label of its segment that each part belongs to; parts of others are left out."""
        size = 1 + max(self.label.max(initial=0), label.max(initial=0))
        keys, wanted = self.segment * size + self.label, clusters.segment[pair] * size + label
        entry = np.searchsorted(keys, wanted)
        parts = np.flatnonzero(np.append(keys, -1)[entry] == wanted)
        return MeansOfClusters(
            clusters,
            self.segment,
            self.n,
            self.share,
            self.mean,
            self.spread,
            entry[parts],
            pair[parts],
            total[parts],
            rows[parts],
        )


# Confidence limits of means of ratios whose rows come in clusters.


_DOUBT = 4  # over the quantile, squared: clusters with errors at which half of the doubt is gone

Rows = Callable[[FloatArray, FloatArray, FloatArray, FloatArray], Limits]


def limits_of_means(of: MeansOfClusters, method: str, level: float) -> Limits:
    """Compute the limits of every segment, NaN where a label has all rows in one cluster."""
    if method == GATE:
        return _gate(of, level)
    low, high = np.full((2, of.clusters.n_segments), np.nan)
    quantile, n, every = of.influence.quantile(level), of.effective_rows, np.arange(len(of.n))
    for segments, entries in by_number_of_labels(of.segment, len(low), every):
        known = np.isfinite(n[entries]).all(axis=1) & np.isfinite(quantile[segments])
        segments, entries = segments[known], entries[known]
        rows, mean, share = (values[entries] for values in (n, of.mean, of.share))
        low[segments], high[segments] = _METHODS[method](
            rows * mean, rows, share, quantile[segments]
        )
    return low, high


def _wilson(x: FloatArray, n: FloatArray, a: FloatArray, t: FloatArray) -> Limits:
    return wilson_at(x[:, 0], n[:, 0], t)


def _score(x: FloatArray, n: FloatArray, a: FloatArray, t: FloatArray) -> Limits:
    return not_rejected(x, n, a, t, standardised)


def _scas(x: FloatArray, n: FloatArray, a: FloatArray, t: FloatArray) -> Limits:
    return not_rejected(x, n, a, t, corrected)


_METHODS: dict[str, Rows] = {"wilson": _wilson, "score": _score, "scas": _scas}


def _gate(of: MeansOfClusters, level: float) -> Limits:
    """Compute the limits that decide; the lower one doubts a lack of errors, the upper one hits."""
    lower = _lower(of, of.mean, of.rows - of.total, level)
    return lower, 1 - _lower(of, 1 - of.mean, of.total, level)


def _lower(of: MeansOfClusters, mean: FloatArray, errors: FloatArray, level: float) -> FloatArray:
    """Compute lower limits that decide, from the errors in each part."""
    z, t = normal_quantile(level), of.influence.quantile(level)
    clusters = of.effective_clusters_of_labels
    n = doubted(of.effective_rows, clusters, of.effective_clusters_with(errors), z)
    least = np.minimum(of.effective_rows, clusters)
    found = np.full(of.clusters.n_segments, np.nan)
    for segments, entries in by_number_of_labels(of.segment, len(found), np.arange(len(n))):
        known = np.isfinite(n[entries]).all(axis=1) & np.isfinite(t[segments])
        segments, entries = segments[known], entries[known]
        rows, floor, p, a = (values[entries] for values in (n, least, mean, of.share))
        if entries.shape[1] == 1:
            fewer = np.maximum(rows[:, 0] * (z / t[segments]) ** 2, np.minimum(rows, floor)[:, 0])
            found[segments], _ = exact(fewer * p[:, 0], fewer, level)
        else:
            found[segments] = np.maximum(
                _wider(rows, p, a, t[segments]), _wider(floor, p, a, np.full(len(p), z))
            )
    return found


def _wider(n: FloatArray, p: FloatArray, a: FloatArray, quantile: FloatArray) -> FloatArray:
    """Find the lower limits that score or skewness-corrected score does not reject."""
    return lower_limit(Segments.of(n * p, n, a), quantile, standardised, corrected)


def doubted(
    n: FloatArray, clusters: FloatArray, with_errors: FloatArray, quantile: float
) -> FloatArray:
    """Take rows away where few clusters have errors, down to the number of clusters.

    The design effect is estimated from the errors. Where few clusters have some, it and the error
    rate are low together by luck. 1/n' = w/n + (1 - w)/m with w = e / (e + (z/4)^2), where e
    clusters of equal size have errors. The constant is set by simulation.
    """
    known = with_errors / (with_errors + (quantile / _DOUBT) ** 2)
    fewer = ratio(np.ones(len(n)), known / n + (1 - known) / clusters)
    return np.where(n > clusters, fewer, n)


# Two models on the same rows, which come in clusters: limits of the difference, and its p-value.


def paired_limits_of_clusters(
    means: MeansOfClusters, only_one: FloatArray, only_other: FloatArray, level: float
) -> Limits:
    """Invert the score test with effective counts and a t quantile of each segment.

    Parameters
    ----------
    means : MeansOfClusters
        Of the differences of the labels.
    only_one, only_other : float arrays, shape (entries,)
        Rows of each label that only the first, and only the second, of two models gets right.
    level : float
        Confidence level, between 0 and 1.

    Returns
    -------
    lower, upper : float arrays, shape (segments,)
        NaN where all rows of a label are in one cluster.
    """
    low, high = np.full((2, means.clusters.n_segments), np.nan)
    quantile, n = means.influence.quantile(level), means.effective_rows
    columns = (*(rows / means.n * n for rows in (only_one, only_other)), n, means.share)
    for segments, entries in by_number_of_labels(means.segment, len(low), np.arange(len(n))):
        known = np.isfinite(n[entries]).all(axis=1) & np.isfinite(quantile[segments])
        segments = segments[known]
        b, c, rows, share = (column[entries[known]] for column in columns)
        low[segments], high[segments] = paired_limits_at(b, c, rows, share, quantile[segments])
    return low, high


def paired_p_value_of_clusters(means: MeansOfClusters) -> FloatArray:
    """Test by t that two models have the same score.

    Where no cluster moves the difference, its clusters are compared with a difference of 0.
    """
    p, difference = means.influence.p_value(means.value), means.value
    still = np.flatnonzero((means.influence.variance == 0) & (difference != 0))
    if len(still):
        p[still] = means.influence_around(np.zeros_like(means.mean)).p_value(difference)[still]
    return p
