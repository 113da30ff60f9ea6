"""Areas under ROC curves whose rows come in clusters: the influence of each cluster, and limits.

References
----------
N. A. Obuchowski, "Nonparametric analysis of clustered ROC curve data", Biometrics 1997, but for the
correction for few clusters.
"""

from dataclasses import dataclass

import numpy as np

from balframe.core.array_types import BoolArray, FloatArray, Int64Array
from balframe.core.cells import beginnings
from balframe.core.score_ties import Ties
from balframe.methods.thresholds.auc import RocAucs, logit_limits
from balframe.methods.thresholds.auc_leave_one_out import complement_aucs
from balframe.metrics.definitions.ranking import Ranking
from balframe.stats.cluster_influence import Influence, influence_of
from balframe.stats.proportions import Limits


@dataclass(frozen=True)
class ClusteredRocAucs:
    """Areas, the influence of the clusters on each, and whether each row is its own cluster."""

    aucs: RocAucs
    influence: Influence
    are_single: BoolArray

    @property
    def auc(self) -> FloatArray:
        """The areas."""
        return self.aucs.auc

    @property
    def n_clusters(self) -> Int64Array:
        """Clusters of each segment."""
        return self.influence.n_clusters.astype(np.int64)

    @classmethod
    def of(cls, ranking: Ranking, areas: RocAucs, held: Ties) -> "ClusteredRocAucs":
        """Take those of all segments; `held` are the ties of clusters, the last by-column."""
        with np.errstate(invalid="ignore", divide="ignore"):
            return cls._of(ranking, areas, held)

    @classmethod
    def _of(cls, ranking: Ranking, areas: RocAucs, held: Ties) -> "ClusteredRocAucs":
        segment = cluster_segments(held)
        at = _matching_ties(ranking.ties, segment[held.segment], held.score)
        positive, negative = (
            np.asarray(side.counted, np.float64) for side in (held.positive, held.negative)
        )
        expected = areas.auc[ranking.ties.segment[at]]
        placements = (ranking.positive_placements[at], ranking.negative_placements[at])
        value, variance = np.zeros((2, held.n_segments))
        n_pairs = np.zeros(held.n_segments)
        sides = zip(
            (positive, negative),
            placements,
            (areas.n_positive, areas.n_negative),
            (areas.positive_spread, areas.negative_spread),
            strict=True,
        )
        for rows, placement, n, spread in sides:
            distance = np.where(rows > 0, rows * (placement - expected), 0)
            own = np.bincount(held.segment, rows, held.n_segments)
            share = own / n[segment]
            sums = np.bincount(held.segment, distance, held.n_segments)
            value += influence_of(sums, n[segment], share)
            variance += (spread / n)[segment] * share
            n_pairs += own
        counted = np.flatnonzero(n_pairs)
        influence = Influence(
            segment[counted],
            held.by[-1][counted],
            np.ones(len(counted), np.int64),
            value[counted],
            variance[counted],
            n_pairs[counted],
            areas.variance(),
        )
        single = np.bincount(segment, n_pairs > 1, len(areas.auc)) == 0
        return cls(areas, influence, single)

    def at(self, segments: Int64Array) -> "ClusteredRocAucs":
        """Take the segments at these positions, in this order and as often as they are given."""
        return ClusteredRocAucs(
            self.aucs.at(segments), self.influence.at(segments), self.are_single[segments]
        )

    def limits(self, level: float) -> Limits:
        """Find the confidence limits; those of independent rows where each is its own cluster."""
        found = self.influence
        with np.errstate(invalid="ignore", divide="ignore"):
            limits = logit_limits(self.aucs.auc, found.at_least_of_rows, found.quantile(level))
        lower, upper = (
            np.where(self.are_single, own, limit)
            for own, limit in zip(self.aucs.limits(level), limits, strict=True)
        )
        return lower, upper


def clustered_complement_aucs(ties: Ties, held: Ties) -> ClusteredRocAucs:
    """Find the areas of all segments but one, for each of them.

    Time is in proportion to the ties times the segments: the influence is that of all other rows.
    """
    segment, every = cluster_segments(held), np.arange(ties.n_segments)
    together: list[int | None] = [0] * len(ties.by)
    parts = []
    for one in every:
        others = Ranking.of(ties.at(np.delete(every, one)).rolled_up((), together))
        of_clusters = held.at(np.flatnonzero(segment != one)).rolled_up((), [*together, None])
        parts.append(ClusteredRocAucs.of(others, RocAucs.of(others), of_clusters))
    return ClusteredRocAucs(
        complement_aucs(ties),
        Influence.concat([part.influence for part in parts]),
        np.concatenate([part.are_single for part in parts]),
    )


def cluster_segments(held: Ties) -> Int64Array:
    """Tell the segment of each pair of segment and cluster, numbered from 0."""
    return np.cumsum(beginnings(held.by[:-1], held.n_segments)) - 1


def _matching_ties(ties: Ties, segment: Int64Array, score: FloatArray) -> Int64Array:
    """Find the ties of all rows to which those of clusters belong."""
    n = len(ties.score)
    is_held = np.arange(n + len(score)) >= n
    order = np.lexsort(
        (is_held, np.append(ties.score, score), np.append(ties.segment.astype(np.int64), segment))
    )
    position = np.empty(len(order), np.int64)
    position[order] = np.cumsum(~is_held[order]) - 1
    return position[n:]
