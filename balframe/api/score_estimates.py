"""Metrics of scores in every segment, and their limits for rows or for clusters."""

from dataclasses import dataclass

import numpy as np

from balframe.api.interval_estimates import DesignEffects, clip_limits, where_finite
from balframe.core.array_types import BoolArray, FloatArray, Int64Array
from balframe.core.cluster_ties import cluster_segments, matching_ties
from balframe.core.ranking import Ranking
from balframe.core.score_ties import Ties
from balframe.metrics.clustered_scores import ClusterRows
from balframe.metrics.row_influence import ClassSizes
from balframe.metrics.score_metrics import ScoreMetric
from balframe.stats.cluster_influence import Influence
from balframe.stats.proportions import Limits


@dataclass(frozen=True)
class ScoreSample:
    """A ranking of every segment, and its rows by cluster; `ties` are those of each group."""

    ranking: Ranking
    clusters: ClusterRows | None = None
    group_ties: Int64Array | None = None

    @classmethod
    def of(cls, ties: Ties, cluster_ties: Ties | None = None) -> "ScoreSample":
        """Rank the ties of segments; the last by-column of `cluster_ties` has the clusters."""
        ranking = Ranking.of(ties)
        if cluster_ties is None:
            return cls(ranking)
        segment = cluster_segments(cluster_ties)
        at = matching_ties(ranking.ties, segment[cluster_ties.segment], cluster_ties.score)
        pair = cluster_ties.segment.astype(np.int64)
        clusters = ClusterRows.of(segment, cluster_ties.by[-1], pair, cluster_ties, ranking)
        return cls(ranking, clusters, at)

    @property
    def n_segments(self) -> int:
        """Number of segments."""
        return self.ranking.ties.n_segments

    @property
    def n_clusters(self) -> Int64Array:
        """Number of clusters with rows in each segment."""
        assert self.clusters is not None
        return self.clusters.n_clusters(self.n_segments)

    def estimate(self, metric: ScoreMetric) -> FloatArray:
        """Compute a metric in every segment; NaN where it is undefined."""
        return metric.function(self.ranking)

    def limits(self, metric: ScoreMetric, estimate: FloatArray, level: float) -> Limits:
        """Compute the confidence limits of a metric, NaN where they are undefined.

        Where each row is its own cluster, they are those of independent rows.
        """
        with np.errstate(invalid="ignore", divide="ignore", over="ignore"):
            limits = metric.interval.limits(self.ranking, estimate, level)
            if self.clusters is not None:
                influence = self._influence(metric, estimate)
                clustered = (np.full(self.n_segments, np.nan),) * 2
                if influence is not None:
                    clustered = metric.interval.cluster_limits(
                        self.ranking, estimate, influence, level
                    )
                single = self._are_single
                limits = (
                    np.where(single, limits[0], clustered[0]),
                    np.where(single, limits[1], clustered[1]),
                )
        return clip_limits(*limits, estimate, metric.range, around_estimate=True)

    def decision_limits(self, metric: ScoreMetric, estimate: FloatArray, level: float) -> Limits:
        """Compute the limits that decide rules, of independent rows."""
        with np.errstate(invalid="ignore", divide="ignore", over="ignore"):
            limits = metric.interval.decision_limits(self.ranking, estimate, level)
        return clip_limits(*limits, estimate, metric.range, around_estimate=True)

    def design_effects(self, metric: ScoreMetric, estimate: FloatArray) -> DesignEffects:
        """Return effective clusters and design effects, NaN where they are undefined."""
        with np.errstate(invalid="ignore", divide="ignore"):
            influence = self._influence(metric, estimate)
        if influence is None:
            undefined = np.full(self.n_segments, np.nan)
            return undefined, undefined
        return defined_design_effects(influence)

    @property
    def _are_single(self) -> BoolArray:
        assert self.clusters is not None
        return self.clusters.are_single(self.n_segments)

    def _influence(self, metric: ScoreMetric, estimate: FloatArray) -> Influence | None:
        """Return the influence of clusters; None for a metric without influences of rows."""
        rows = metric.interval.influence(self.ranking, estimate)
        if self.clusters is None or rows is None:
            return None
        at = self.group_ties
        return self.clusters.influence(
            rows.positive[at],
            rows.negative[at],
            ClassSizes.of(self.ranking),
            is_by_class=rows.is_by_class,
        )


def defined_design_effects(influence: Influence) -> DesignEffects:
    """Return effective clusters and design effects, both NaN where one is."""
    with np.errstate(invalid="ignore", divide="ignore"):
        return where_finite(influence.design_effect, influence)
