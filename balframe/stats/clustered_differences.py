"""Differences of two scores whose rows come in clusters, some of which both sides may share.

The limits are those of `mover_difference`, from the limits of each side that decide. The p-value is
2 Phi(-z), where z is the normal quantile at which the limit nearer to 0 is 0.
"""

from collections.abc import Callable
from dataclasses import dataclass, fields

import numpy as np

from balframe.core.array_types import BoolArray, FloatArray, Int64Array
from balframe.core.counting_strategy import SEGMENTS, blocks
from balframe.core.safe_divide import ratio
from balframe.core.sample import Sample
from balframe.core.threads import run_on_all_cores
from balframe.stats.base import Interval
from balframe.stats.cluster_influence import Influence, influence_correlation, t_quantile
from balframe.stats.clustered_means import ClusteredMeans, clustered_means
from balframe.stats.constrained_mle import (
    WeightedBinomials,
    lower_limit,
    score_statistic,
    skewness_corrected_statistic,
)
from balframe.stats.effective_sample_size import effective_number
from balframe.stats.lazy_scipy import sparse, special
from balframe.stats.mean_recall import MIN_ROWS_FOR_SCORE
from balframe.stats.mover_tests import agreeing_p_values, quantile_guess, z_at_zero
from balframe.stats.proportions import Limits, clopper_pearson_lower, normal_quantile

_SHRINKAGE = 4  # with (z / this)^2 clusters with errors, the shrinkage weight w is 1/2


@dataclass(frozen=True, slots=True)
class LowerGates:
    """What the lower limits of segments with equally many labels are computed from.

    Parameters
    ----------
    mean, n, clusters, with_errors, share : float arrays, shape (segments, labels)
        Ratio, effective sample size, effective number of clusters and of clusters with errors, and
        weight of each label.
    df : float array, shape (segments,)
        Degrees of freedom of the t quantile; infinite for the normal quantile.
    are_rows : bool array, shape (segments,)
        Whether each cluster is a single row, so that the limits are those of independent rows.
    """

    mean: FloatArray
    n: FloatArray
    clusters: FloatArray
    with_errors: FloatArray
    share: FloatArray
    df: FloatArray
    are_rows: BoolArray

    @classmethod
    def of(cls, means: ClusteredMeans, segments: Int64Array, is_mirrored: bool) -> "LowerGates":
        """Return the gates of segments with equally many labels, of which each has some.

        If mirrored, correct and wrong rows are exchanged.
        """
        start, stop = (np.searchsorted(means.segment, segments, side) for side in ("left", "right"))
        entries = start[:, None] + np.arange(int((stop - start).max(initial=1)))
        are_rows = means.clusters.are_single[segments]
        errors, hits = means.clusters_with_errors_and_hits
        n = means.n_of_side[is_mirrored][entries]
        return cls(
            1 - means.mean[entries] if is_mirrored else means.mean[entries],
            np.where(are_rows[:, None], n, means.conservative_sizes[entries]),
            np.where(are_rows[:, None], n, means.label_effective_clusters[entries]),
            (hits if is_mirrored else errors)[entries],
            means.share[entries],
            np.where(are_rows, np.inf, means.influence.quantile_df[segments]),
            are_rows,
        )

    def where(self, condition: BoolArray, other: "LowerGates") -> "LowerGates":
        """Return these segments where the condition holds, and the others elsewhere."""
        columns = ((getattr(side, field.name) for side in (self, other)) for field in fields(self))
        chosen = (
            np.where(condition[:, None] if own.ndim > 1 else condition, own, others)
            for own, others in columns
        )
        return LowerGates(*chosen)

    @classmethod
    def concat(cls, first: "LowerGates", second: "LowerGates") -> "LowerGates":
        """Append the segments of the second to those of the first."""
        columns = ((getattr(side, f.name) for side in (first, second)) for f in fields(cls))
        return cls(*(np.concatenate(list(arrays)) for arrays in columns))

    def at(self, segments: Int64Array | slice) -> "LowerGates":
        """Take the segments at these positions."""
        return LowerGates(*(getattr(self, field.name)[segments] for field in fields(self)))

    @property
    def score(self) -> FloatArray:
        """The mean of each segment."""
        return np.asarray((self.share * self.mean).sum(axis=1))

    @property
    def is_defined(self) -> BoolArray:
        """Whether a segment has limits: no label has all rows in one cluster."""
        return np.asarray(np.isfinite(self.n).all(axis=1) & ~np.isnan(self.df))

    def limits(self, z: FloatArray) -> FloatArray:
        """Return the lower limits at a normal quantile of each segment; all are defined."""
        t, tail = t_quantile(self.df, z), special.ndtr(-z)[:, None]
        n = shrink_effective_size(self.n, self.clusters, self.with_errors, z[:, None])
        smallest = np.minimum(self.n, self.clusters)
        if self.mean.shape[1] == 1:
            reduced = np.maximum(n * ((z / t) ** 2)[:, None], np.minimum(n, smallest))
            return clopper_pearson_lower(reduced * self.mean, reduced, tail)[:, 0]
        sizes, p, a = (
            np.concatenate(both)
            for both in ((n, smallest), (self.mean, self.mean), (self.share, self.share))
        )
        # the smaller of the limits by the score and the skewness-corrected statistic
        limits = lower_limit(
            WeightedBinomials.of(sizes * p, sizes, a),
            np.concatenate([t, z]),
            score_statistic,
            skewness_corrected_statistic,
        )
        lower = np.maximum(*np.split(limits, 2))
        few = np.flatnonzero(self.are_rows & (self.n < MIN_ROWS_FOR_SCORE).any(axis=1))
        lower[few] = np.minimum(lower[few], self.at(few)._mover_limits(tail[few]))
        return lower

    def _mover_limits(self, tail: FloatArray) -> FloatArray:
        """Return the lower MOVER limits on Clopper-Pearson limits of the labels."""
        distance = self.mean - clopper_pearson_lower(self.mean * self.n, self.n, tail)
        half = np.sqrt(((self.share * distance) ** 2).sum(axis=1))
        return np.asarray(np.maximum(self.score - half, 0))


def clustered_gate_limits(means: ClusteredMeans, level: float) -> Limits:
    """Return the limits of every segment, NaN where a label has all rows in one cluster.

    The lower one allows for few clusters with errors, the upper one for few with correct rows.
    """
    z = normal_quantile(level)
    low, high = np.full((2, means.clusters.n_segments), np.nan)
    n_labels = np.bincount(means.segment, minlength=len(low))
    for size in np.unique(n_labels[n_labels > 0]):
        segments = np.flatnonzero(n_labels == size)
        for is_mirrored, limits in ((False, low), (True, high)):
            gates = LowerGates.of(means, segments, is_mirrored)
            defined = np.flatnonzero(gates.is_defined)
            limits[segments[defined]] = gates.at(defined).limits(np.full(len(defined), z))
    return low, 1 - high


def shrink_effective_size(
    n: FloatArray, clusters: FloatArray, with_errors: FloatArray, quantile: FloatArray | float
) -> FloatArray:
    """Shrink effective sample sizes towards the number of clusters where few have errors.

    The design effect is estimated from the errors. Where few clusters have errors, it may be low by
    chance together with the error rate. 1/n' = w/n + (1 - w)/m with w = e / (e + (z/4)^2), where e
    is the effective number of clusters with errors. The constant 4 is set by simulation.
    """
    w = with_errors / (with_errors + (quantile / _SHRINKAGE) ** 2)
    shrunken = ratio(np.ones(np.shape(n)), w / n + (1 - w) / clusters)
    return np.where(n > clusters, shrunken, n)


_REDUCTION = 0.5  # of the z transform of r, in its standard errors; set by simulation
_LOSS = 3  # clusters by which the standard error of the z transform allows for its estimation
_BLOCK_SIZE = SEGMENTS // 4  # of each, four columns are searched at once


def shared_cluster_correlation(
    interval: Interval, first: Sample, second: Sample, influences: tuple[Influence, Influence]
) -> FloatArray:
    """Return the correlation of the scores of both sides, smaller if it is above 0 and uncertain.

    A correlation above 0 narrows the limits of a difference. Its z transform is reduced by half a
    standard error, 1 / sqrt(e - 3): tanh(atanh r - 1 / (2 sqrt(max(e - 3, 1)))), at least 0. e is
    the least of the effective numbers of clusters with errors and with correct rows of both sides,
    of each label.

    References
    ----------
    R. A. Fisher, "On the probable error of a coefficient of correlation deduced from a small
    sample", Metron 1921, for the z transform and its standard error.
    """
    fewest = (_fewest_clusters_with_outcome(interval, side) for side in (first, second))
    return _reduced(influence_correlation(*influences), np.minimum(*fewest))


def correlation_of_pairs(
    interval: Interval, sample: Sample
) -> Callable[[Int64Array, Int64Array], FloatArray] | None:
    """Return a function that takes two arrays of segments, and returns their correlations.

    These are the correlations of `shared_cluster_correlation`. None if no cluster has rows in two
    segments.
    """
    influence = interval.influence(sample)
    if influence is None:
        return None
    codes, cluster = np.unique(influence.cluster, return_inverse=True)
    if len(codes) == len(cluster):
        return None
    sd = np.sqrt(np.where(influence.variance > 0, influence.variance, 1))
    values = sparse.csc_array(
        (influence.value / sd[influence.segment], (cluster, influence.segment)),
        shape=(len(codes), len(sd)),
    )
    fewest = _fewest_clusters_with_outcome(interval, sample)

    def correlate(first: Int64Array, second: Int64Array) -> FloatArray:
        products = values[:, first].multiply(values[:, second])
        r: FloatArray = np.asarray(products.sum(axis=0), np.float64).ravel()
        return _reduced(np.clip(r, -1, 1), np.minimum(fewest[first], fewest[second]))

    return correlate


def _reduced(r: FloatArray, fewest: FloatArray) -> FloatArray:
    """Reduce correlations above 0 by half the standard error of their z transform."""
    with np.errstate(divide="ignore"):
        z = np.arctanh(r) - _REDUCTION / np.sqrt(np.maximum(fewest - _LOSS, 1))
    return np.where(r > 0, np.maximum(np.tanh(z), 0), r)


def _fewest_clusters_with_outcome(interval: Interval, sample: Sample) -> FloatArray:
    """Return the least effective number of clusters with errors and with correct rows."""
    means, clusters = clustered_means(interval, sample), sample.clusters
    if means is not None:
        return means.fewest_clusters_with_outcome
    assert clusters is not None
    hits = clusters.pairs.counts.total_correct
    errors = clusters.pairs.counts.total - hits
    return np.minimum(*(effective_number(rows, clusters.sum) for rows in (errors, hits)))


def clustered_difference_p_values(
    means: tuple[ClusteredMeans, ClusteredMeans],
    correlation: FloatArray,
    difference: FloatArray,
    limits: Limits,
    level: float,
) -> FloatArray:
    """Return two-sided p-values: below 1 - level exactly where the limits exclude 0.

    Parameters
    ----------
    means : two ClusteredMeans
        Both sides; each segment has the same labels in both.
    correlation : float array, shape (segments,)
        As in `shared_cluster_correlation`.
    difference, limits : float arrays, shape (segments,)
        The difference of both scores and its limits at this level. The scores are the means, or the
        same increasing linear function of both.
    level : float
        Confidence level, between 0 and 1.

    Returns
    -------
    p_value : float array, shape (segments,)
        NaN where limits are undefined; 1 where the difference is 0.
    """
    p = np.where(np.isfinite(difference) & np.isfinite(limits[0]), 1.0, np.nan)
    n_labels = np.bincount(means[0].segment, minlength=len(p))
    differs = (p == 1) & (difference != 0)
    guess = quantile_guess(difference, limits, level)
    for size in np.unique(n_labels[differs]):
        segments = np.flatnonzero(differs & (n_labels == size))
        pairs = _GatePairs.of(means, segments, correlation[segments])
        p[segments] = 2 * special.ndtr(-_z_at_zero(pairs, guess[segments]))
    return agreeing_p_values(p, limits, level)


def _z_at_zero(pairs: "_GatePairs", guess: FloatArray) -> FloatArray:
    """Return `_GatePairs.z_at_zero` of all pairs, a block at a time."""

    def solve(rows: slice) -> FloatArray:
        with np.errstate(divide="ignore", invalid="ignore"):
            return pairs.at(rows).z_at_zero(guess[rows])

    return np.concatenate(run_on_all_cores(solve, blocks(slice(0, len(guess)), _BLOCK_SIZE)))


@dataclass(frozen=True, slots=True)
class _GatePairs:
    """The two limits that the limit nearer to 0 of each difference is computed from.

    `larger` has the lower limits of the side with the larger score, and `smaller` the upper limits
    of the other side: the lower ones of its mirrored rows.
    """

    larger: LowerGates
    smaller: LowerGates
    correlation: FloatArray

    @classmethod
    def of(
        cls,
        means: tuple[ClusteredMeans, ClusteredMeans],
        segments: Int64Array,
        correlation: FloatArray,
    ) -> "_GatePairs":
        """Return the pairs of segments with equally many labels."""
        first, second = means
        is_first = first.value[segments] > second.value[segments]
        larger, smaller = (
            LowerGates.of(first, segments, is_mirrored).where(
                is_first ^ is_mirrored, LowerGates.of(second, segments, is_mirrored)
            )
            for is_mirrored in (False, True)
        )
        return cls(larger, smaller, correlation)

    def at(self, rows: slice) -> "_GatePairs":
        """Take these pairs."""
        return _GatePairs(self.larger.at(rows), self.smaller.at(rows), self.correlation[rows])

    @property
    def difference(self) -> FloatArray:
        """The larger score less the smaller one."""
        return np.asarray(self.larger.score + self.smaller.score - 1)

    def excess(self, z: FloatArray, rows: Int64Array) -> FloatArray:
        """Return the logarithm of the half width at z over the difference."""
        both = LowerGates.concat(self.larger.at(rows), self.smaller.at(rows))
        distance = np.maximum(both.score - both.limits(np.tile(z, 2)), 0)
        above, below = np.split(distance, 2)
        r = self.correlation[rows]
        half = np.hypot(above - r * below, np.sqrt(1 - r**2) * below)
        smallest = np.finfo(np.float64).tiny
        return np.asarray(np.log(np.maximum(half, smallest) / self.difference[rows]))

    def z_at_zero(self, guess: FloatArray) -> FloatArray:
        """Return the normal quantiles at which the limits nearer to 0 are 0, from a guess."""
        # with a correlation above 0, limits of any level may exclude 0
        return z_at_zero(self.excess, guess, self.correlation > 0)
