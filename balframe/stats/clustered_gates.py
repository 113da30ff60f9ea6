"""Limits that decide about weighted means of ratios whose rows come in clusters.

An upper limit is 1 less the lower limit of the mean with correct and wrong rows exchanged.
"""

from dataclasses import dataclass, fields

import numpy as np

from balframe.core.array_types import BoolArray, FloatArray, Int64Array
from balframe.core.safe_divide import ratio
from balframe.stats.cluster_influence import t_quantile
from balframe.stats.clustered_means import ClusteredMeans
from balframe.stats.constrained_mle import (
    WeightedBinomials,
    lower_limit,
    score_statistic,
    skewness_corrected_statistic,
)
from balframe.stats.lazy_scipy import special
from balframe.stats.mean_recall import MIN_ROWS_FOR_SCORE
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
