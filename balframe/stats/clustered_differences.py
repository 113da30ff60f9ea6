"""Differences of two scores whose rows come in clusters, some of which both sides may share.

The limits are those of `mover_difference`, from the limits of each side that decide. The p-value is
2 Phi(-z), where z is the normal quantile at which the limit nearer to 0 is 0.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from balframe.core.array_types import FloatArray, Int64Array
from balframe.core.counting_strategy import SEGMENTS, blocks
from balframe.core.sample import Sample
from balframe.core.threads import run_on_all_cores
from balframe.stats.base import Interval
from balframe.stats.cluster_influence import Influence, influence_correlation
from balframe.stats.clustered_gates import LowerGates
from balframe.stats.clustered_means import ClusteredMeans, clustered_means
from balframe.stats.effective_sample_size import effective_number
from balframe.stats.lazy_scipy import sparse, special
from balframe.stats.mover_tests import agreeing_p_values, quantile_guess, z_at_zero
from balframe.stats.proportions import Limits

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
