"""Areas under ROC curves of rows in clusters: the influence of each cluster, and limits.

References
----------
N. A. Obuchowski, "Nonparametric analysis of clustered ROC curve data", Biometrics 1997. The
correction for few clusters differs.
"""

from dataclasses import dataclass

import numpy as np

from balframe.core.array_types import BoolArray, FloatArray, Int64Array, IntegerArray
from balframe.core.cluster_ties import cluster_segments, matching_ties
from balframe.core.ranking import Ranking
from balframe.core.safe_divide import ratio
from balframe.core.score_ties import Ties
from balframe.methods.thresholds.auc import RocAucs
from balframe.methods.thresholds.auc_leave_one_out import complement_aucs
from balframe.metrics.clustered_scores import weights_and_squares
from balframe.stats.cluster_influence import Influence, cr2_influence
from balframe.stats.effective_sample_size import kish_effective_size
from balframe.stats.proportions import Limits
from balframe.stats.roc_auc_limits import logit_limits


@dataclass(frozen=True)
class ClusteredRocAucs:
    """Areas, the influence of clusters on them, and their number.

    `are_single` is whether each row is its own cluster.
    """

    aucs: RocAucs
    influence: Influence
    n_clusters: Int64Array
    are_single: BoolArray

    @property
    def auc(self) -> FloatArray:
        """The areas."""
        return self.aucs.auc

    @classmethod
    def of(cls, ranking: Ranking, aucs: RocAucs, cluster_ties: Ties) -> "ClusteredRocAucs":
        """Return the areas of all segments; clusters are the last by-column of their ties."""
        with np.errstate(invalid="ignore", divide="ignore"):
            return cls._of(ranking, aucs, cluster_ties)

    @classmethod
    def _of(cls, ranking: Ranking, aucs: RocAucs, cluster_ties: Ties) -> "ClusteredRocAucs":
        segment = cluster_segments(cluster_ties)
        at = matching_ties(ranking.ties, segment[cluster_ties.segment], cluster_ties.score)
        expected = aucs.auc[ranking.ties.segment[at]]
        n_clusters = cluster_ties.n_segments
        value, variance = np.zeros((2, n_clusters))
        n_rows, n_effective = np.zeros((2, n_clusters))
        classes = zip(
            (cluster_ties.positive, cluster_ties.negative),
            (ranking.positive_placements[at], ranking.negative_placements[at]),
            (aucs.n_positive, aucs.n_negative),
            (aucs.positive_spread, aucs.negative_spread),
            strict=True,
        )
        for side, placement, n, spread in classes:
            rows = np.asarray(side.row_counts, np.float64)
            weight, weight_sq = weights_and_squares(side)
            distance = np.where(rows > 0, weight * (placement - expected), 0)
            sums, cluster_weight, cluster_sq, cluster_rows = (
                _grouped(values, cluster_ties.segment, n_clusters)
                for values in (distance, weight, weight_sq, rows)
            )
            total, total_sq = (
                _grouped(values, segment, len(aucs.auc))[segment]
                for values in (cluster_weight, cluster_sq)
            )
            value += cr2_influence(sums, total, ratio(cluster_weight, total))
            variance += (spread / n)[segment] * ratio(cluster_sq, total_sq)
            n_rows += cluster_rows
            n_effective += np.nan_to_num(kish_effective_size(cluster_weight, cluster_sq))
        used = np.flatnonzero(n_effective)
        influence = Influence(
            segment[used],
            cluster_ties.by[-1][used],
            np.ones(len(used), np.int64),
            value[used],
            variance[used],
            n_effective[used],
            aucs.variance(),
        )
        counts, several = (
            np.bincount(segment[n_rows >= least], minlength=len(aucs.auc)) for least in (1, 2)
        )
        return cls(aucs, influence, counts, several == 0)

    def at(self, segments: Int64Array) -> "ClusteredRocAucs":
        """Return the segments at these positions, which may repeat."""
        return ClusteredRocAucs(
            self.aucs.at(segments),
            self.influence.at(segments),
            self.n_clusters[segments],
            self.are_single[segments],
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
        np.concatenate([part.n_clusters for part in parts]),
        np.concatenate([part.are_single for part in parts]),
    )


def _grouped(values: FloatArray, group: IntegerArray, n_groups: int) -> FloatArray:
    """Add up the values of each group."""
    return np.asarray(np.bincount(group, values, n_groups), np.float64)
