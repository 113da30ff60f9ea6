"""Areas under ROC curves of rows in clusters: the influence of each cluster, and limits.

References
----------
N. A. Obuchowski, "Nonparametric analysis of clustered ROC curve data", Biometrics 1997. The
correction for few clusters differs.
"""

from dataclasses import dataclass

import numpy as np

from balframe.core.array_types import BoolArray, FloatArray, Int64Array
from balframe.core.cells import is_segment_start
from balframe.core.score_ties import Ties
from balframe.methods.thresholds.auc import RocAucs, logit_limits
from balframe.methods.thresholds.auc_leave_one_out import complement_aucs
from balframe.metrics.definitions.ranking import Ranking
from balframe.stats.cluster_influence import Influence, cr2_influence
from balframe.stats.proportions import Limits


@dataclass(frozen=True)
class ClusteredRocAucs:
    """Areas, the influence of clusters on them, and whether each row is its own cluster."""

    aucs: RocAucs
    influence: Influence
    are_single: BoolArray

    @property
    def auc(self) -> FloatArray:
        """The areas."""
        return self.aucs.auc

    @property
    def n_clusters(self) -> Int64Array:
        """Number of clusters of each segment."""
        return self.influence.n_clusters.astype(np.int64)

    @classmethod
    def of(cls, ranking: Ranking, aucs: RocAucs, cluster_ties: Ties) -> "ClusteredRocAucs":
        """Return the areas of all segments; clusters are the last by-column of their ties."""
        with np.errstate(invalid="ignore", divide="ignore"):
            return cls._of(ranking, aucs, cluster_ties)

    @classmethod
    def _of(cls, ranking: Ranking, aucs: RocAucs, cluster_ties: Ties) -> "ClusteredRocAucs":
        segment = cluster_segments(cluster_ties)
        at = _matching_ties(ranking.ties, segment[cluster_ties.segment], cluster_ties.score)
        positive, negative = (
            np.asarray(side.row_counts, np.float64)
            for side in (cluster_ties.positive, cluster_ties.negative)
        )
        expected = aucs.auc[ranking.ties.segment[at]]
        placements = (ranking.positive_placements[at], ranking.negative_placements[at])
        n_clusters = cluster_ties.n_segments
        value, variance = np.zeros((2, n_clusters))
        n_rows = np.zeros(n_clusters)
        classes = zip(
            (positive, negative),
            placements,
            (aucs.n_positive, aucs.n_negative),
            (aucs.positive_spread, aucs.negative_spread),
            strict=True,
        )
        for rows, placement, n, spread in classes:
            distance = np.where(rows > 0, rows * (placement - expected), 0)
            cluster_rows = np.bincount(cluster_ties.segment, rows, n_clusters)
            share = cluster_rows / n[segment]
            sums = np.bincount(cluster_ties.segment, distance, n_clusters)
            value += cr2_influence(sums, n[segment], share)
            variance += (spread / n)[segment] * share
            n_rows += cluster_rows
        used = np.flatnonzero(n_rows)
        influence = Influence(
            segment[used],
            cluster_ties.by[-1][used],
            np.ones(len(used), np.int64),
            value[used],
            variance[used],
            n_rows[used],
            aucs.variance(),
        )
        are_single = np.bincount(segment, n_rows > 1, len(aucs.auc)) == 0
        return cls(aucs, influence, are_single)

    def at(self, segments: Int64Array) -> "ClusteredRocAucs":
        """Return the segments at these positions, which may repeat."""
        return ClusteredRocAucs(
            self.aucs.at(segments), self.influence.at(segments), self.are_single[segments]
        )

    def limits(self, level: float) -> Limits:
        """Return the confidence limits, for independent rows if each is its own cluster."""
        influence = self.influence
        with np.errstate(invalid="ignore", divide="ignore"):
            limits = logit_limits(
                self.aucs.auc, influence.conservative_variance, influence.quantile(level)
            )
        lower, upper = (
            np.where(self.are_single, independent_limit, limit)
            for independent_limit, limit in zip(self.aucs.limits(level), limits, strict=True)
        )
        return lower, upper


def clustered_complement_aucs(ties: Ties, cluster_ties: Ties) -> ClusteredRocAucs:
    """Return the areas of the complement of each segment, which is all other segments.

    Time is in proportion to the ties times the segments, since every complement has an influence
    of all its clusters.
    """
    cluster_segment, segments = cluster_segments(cluster_ties), np.arange(ties.n_segments)
    overall: list[int | None] = [0] * len(ties.by)
    parts = []
    for segment in segments:
        complement = Ranking.of(ties.at(np.delete(segments, segment)).rolled_up((), overall))
        others = np.flatnonzero(cluster_segment != segment)
        clusters = cluster_ties.at(others).rolled_up((), [*overall, None])
        parts.append(ClusteredRocAucs.of(complement, RocAucs.of(complement), clusters))
    return ClusteredRocAucs(
        complement_aucs(ties),
        Influence.concat([part.influence for part in parts]),
        np.concatenate([part.are_single for part in parts]),
    )


def cluster_segments(cluster_ties: Ties) -> Int64Array:
    """Return the segment of each pair of segment and cluster, numbered from 0."""
    return np.cumsum(is_segment_start(cluster_ties.by[:-1], cluster_ties.n_segments)) - 1


def _matching_ties(ties: Ties, segment: Int64Array, score: FloatArray) -> Int64Array:
    """Return the position of the tie that has each segment and score."""
    n = len(ties.score)
    is_sought = np.arange(n + len(score)) >= n
    segments = np.append(ties.segment.astype(np.int64), segment)
    order = np.lexsort((is_sought, np.append(ties.score, score), segments))
    position = np.empty(len(order), np.int64)
    position[order] = np.cumsum(~is_sought[order]) - 1
    return position[n:]
