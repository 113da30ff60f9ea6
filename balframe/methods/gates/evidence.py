"""The evidence for rules: the values of their quantities, with confidence intervals."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from balframe.api.interval_estimates import decision_request, design_effects, metric_limits
from balframe.api.metric_selection import metric_values, segment_counts
from balframe.core.array_types import BoolArray, FloatArray, Int64Array
from balframe.core.sample import Sample
from balframe.frames.counted_frame import CountedFrame
from balframe.methods.comparisons.extremes import ExtremesSearch, smallest_denominator
from balframe.methods.gates.baseline_differences import (
    Baseline,
    BaselineScores,
    ClusterStatistics,
    difference_limits,
)
from balframe.methods.gates.rule_parser import DisparityKind
from balframe.metrics.registry import Metric


@dataclass(frozen=True, slots=True)
class Evidence:
    """Values of a quantity with their limits, NaN where there are none.

    `is_evaluable` where the value is defined and has enough rows. Evidence on a group of segments
    `is_complete` if none of them was left out. `baseline_scores` are there if the values are
    differences from a baseline, and `clusters` if rows are in clusters.
    """

    estimate: FloatArray | Int64Array
    lower: FloatArray | Int64Array
    upper: FloatArray | Int64Array
    is_evaluable: BoolArray
    is_complete: bool = True
    baseline_scores: BaselineScores | None = None
    clusters: ClusterStatistics | None = None


@dataclass(frozen=True, slots=True)
class EvidenceRequest:
    """Which evidence rules need: with or without limits, at which level, on how many rows."""

    with_limits: bool
    simultaneous: bool
    level: float
    method: str | None
    min_support: int

    def segment_evidence(
        self,
        metric: Metric | None,
        quantity: str,
        sample: Sample,
        counted_frame: CountedFrame,
        segments: Int64Array,
    ) -> Evidence:
        """Score segments on a metric, or count their rows or labels if there is none."""
        sample = sample.at(segments)
        c = sample.counts
        if metric is None:
            n = segment_counts(c)[quantity]
            return Evidence(
                n, n, n, np.ones(len(n), np.bool_), clusters=_cluster_statistics(None, sample)
            )
        estimate = metric_values(metric, c)
        lower, upper = np.full((2, len(segments)), np.nan)
        is_evaluable = ~np.isnan(estimate) & (smallest_denominator(metric, c) >= self.min_support)
        for used in self._families(np.flatnonzero(is_evaluable), segments, counted_frame):
            lower[used], upper[used] = metric_limits(
                {quantity: metric},
                sample.at(used),
                {quantity: estimate[used]},
                decision_request(metric, self.method, self.level).together(
                    len(used) if self.simultaneous else 1
                ),
            )[quantity]
        return Evidence(
            estimate, lower, upper, is_evaluable, clusters=_cluster_statistics(metric, sample)
        )

    def difference_evidence(
        self, metric: Metric, baseline: Baseline, segments: Int64Array
    ) -> Evidence:
        """Return the differences of the scores of segments from those of the baseline."""
        scores = BaselineScores.of(metric, baseline, segments)
        difference = scores.difference
        lower, upper = np.full((2, len(segments)), np.nan)
        is_evaluable = ~np.isnan(difference) & (scores.support >= self.min_support)
        for used in self._families(np.flatnonzero(is_evaluable), segments, baseline.reading):
            request = decision_request(metric, None, self.level).together(
                len(used) if self.simultaneous else 1
            )
            lower[used], upper[used] = difference_limits(
                metric, baseline, segments[used], difference[used], request
            )
        clusters = baseline.clusters(metric, segments)
        return Evidence(
            difference, lower, upper, is_evaluable, baseline_scores=scores, clusters=clusters
        )

    def _families(
        self, used: Int64Array, segments: Int64Array, counted_frame: CountedFrame
    ) -> Iterator[Int64Array]:
        """Iterate over the segments of each margin, whose limits hold simultaneously."""
        if not self.with_limits or not len(used):
            return
        margin = counted_frame.segment_margins()[segments[used]]
        for code in np.unique(margin):
            yield used[margin == code]

    def disparity_evidence(
        self,
        disparity: DisparityKind,
        metric: Metric,
        quantity: str,
        sample: Sample,
        segments: Int64Array,
        n_groups: int,
    ) -> Evidence:
        """Return the difference or ratio of the highest and the lowest of a group of segments."""
        extremes = ExtremesSearch(self.level, self.min_support, self.method).find(
            quantity,
            metric,
            sample.at(segments),
            segments,
            n_groups if self.simultaneous else 1,
        )
        limits = {"difference": extremes.difference_limits, "ratio": extremes.ratio_limits}[
            disparity
        ]
        estimate = np.array(
            [{"difference": extremes.difference, "ratio": extremes.ratio}[disparity]]
        )
        lower, upper = (np.array([limit if self.with_limits else np.nan]) for limit in limits)
        return Evidence(estimate, lower, upper, ~np.isnan(estimate), not extremes.n_left_out)


def _cluster_statistics(metric: Metric | None, sample: Sample) -> ClusterStatistics | None:
    """Return the cluster statistics of a metric; those of a count of rows are undefined."""
    if sample.clusters is None:
        return None
    nothing = np.full(sample.counts.n_segments, np.nan)
    effective, effect = (nothing, nothing) if metric is None else design_effects(metric, sample)
    return sample.clusters.n, effective, effect
