"""What rules compare with: another model on the same rows, or an earlier run on other rows.

A difference is that of the means over the labels that are present in both.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import Any, Protocol

import numpy as np

from balframe.api.interval_estimates import (
    clip_difference_limits,
    design_effects,
    mover_difference_limits,
)
from balframe.api.metric_selection import MetricSelection, metric_values
from balframe.api.options import Names
from balframe.core.array_types import FloatArray, Int64Array
from balframe.core.class_counts import ClassCounts, segments_at
from balframe.core.sample import Sample
from balframe.frames.adapter import Name
from balframe.frames.counted_frame import CountedFrame
from balframe.frames.earlier_cells import CountedPair
from balframe.frames.engines.inputs import unwrap
from balframe.methods.comparisons.baseline_input import (
    BaselineInput,
    cell_input,
    column_input,
    count_baseline_rows,
    is_frame,
)
from balframe.methods.comparisons.models import DiscordantRows, PairedModels, split_models
from balframe.methods.comparisons.segments import (
    fill_limits,
    recall_difference_limits,
    restrict_to_shared_labels,
)
from balframe.metrics.registry import Metric
from balframe.stats.base import IntervalRequest
from balframe.stats.differences import gate_difference
from balframe.stats.proportions import Limits

# Number of clusters, number of effective clusters, and design effect of every segment.
ClusterStatistics = tuple[Int64Array, FloatArray, FloatArray]


class Baseline(Protocol):
    """What the data are compared with.

    `data` are the counts of the data alone. `counted_frame` has the segments of the baseline
    too, among which `positions` are those of the data.
    """

    @property
    def data(self) -> CountedFrame:
        """The data alone."""

    @property
    def counted_frame(self) -> CountedFrame:
        """The data, with all segments."""

    @property
    def positions(self) -> Int64Array:
        """Positions of the segments of the data."""

    def counts(self, segments: Int64Array) -> tuple[ClassCounts, ClassCounts]:
        """Return the class counts of segments in the data and in the baseline."""

    def limits(self, metric: Metric, segments: Int64Array, request: IntervalRequest) -> Limits:
        """Compute limits of the differences in segments that both have."""

    def cluster_statistics(self, metric: Metric, segments: Int64Array) -> ClusterStatistics | None:
        """Return the number of clusters of segments, and their effect on the differences."""


@dataclass(frozen=True)
class PairedBaseline:
    """Another model on the same rows; `joint` has the cells of both."""

    joint: CountedFrame
    selection: MetricSelection

    @cached_property
    def data(self) -> CountedFrame:
        """The data alone."""
        model, _ = split_models(self.joint)
        clusters = model.clusters
        if clusters is not None:
            clusters = replace(clusters, cells=clusters.cells.regrouped())
        return replace(model, cells=model.cells.regrouped(), clusters=clusters)

    @property
    def counted_frame(self) -> CountedFrame:
        """The data, which have all segments."""
        return self.data

    @property
    def positions(self) -> Int64Array:
        """Positions of the segments of the data."""
        return np.arange(len(self.joint.cells.segments[1]))

    @cached_property
    def _models(self) -> PairedModels:
        return PairedModels.of(self.joint, self.selection)

    def counts(self, segments: Int64Array) -> tuple[ClassCounts, ClassCounts]:
        """Return the class counts of both models."""
        models = self._models
        first, second = (
            segments_at(model.counts, segments) for model in (models.first, models.second)
        )
        return first, second

    def discordant_rows(self, metric: Metric, segments: Int64Array) -> DiscordantRows | None:
        """Return the rows that only one model gets right."""
        return self._models.at(segments).discordant_rows(metric.interval)

    def limits(self, metric: Metric, segments: Int64Array, request: IntervalRequest) -> Limits:
        """Invert the score test of paired differences, with and without skewness correction."""
        return self._models.at(segments).gate_limits(metric.interval, request.level)

    def cluster_statistics(self, metric: Metric, segments: Int64Array) -> ClusterStatistics | None:
        """Return the number of clusters of segments, and their effect on the differences."""
        models = self._models.at(segments)
        if models.first.clusters is None:
            return None
        return models.first.clusters.n, *models.design_effects(metric.interval)


@dataclass(frozen=True)
class UnpairedBaseline:
    """The cells of an earlier run on other rows."""

    sides: CountedPair
    selection: MetricSelection

    @property
    def data(self) -> CountedFrame:
        """The data alone."""
        return self.sides.current

    @property
    def counted_frame(self) -> CountedFrame:
        """The data, with the segments that only the earlier run has."""
        return self.sides.aligned_current

    @property
    def positions(self) -> Int64Array:
        """Positions of the segments of the data."""
        return self.sides.segment_positions

    @cached_property
    def _counts(self) -> tuple[ClassCounts, ClassCounts]:
        now, before = (
            self.selection.class_counts(self.sides.aligned_current, side.cells)
            for side in (self.sides.aligned_current, self.sides.aligned_earlier)
        )
        return now, before

    def counts(self, segments: Int64Array) -> tuple[ClassCounts, ClassCounts]:
        """Return the class counts now and before."""
        if self._clustered is not None:
            now, before = (sample.at(segments).counts for sample in self._clustered)
        else:
            now, before = (segments_at(c, segments) for c in self._counts)
        return now, before

    @cached_property
    def _clustered(self) -> tuple[Sample, Sample] | None:
        """The samples now and before; None if rows are independent."""
        pair = self.sides.aligned_current, self.sides.aligned_earlier
        if pair[0].clusters is None:
            return None
        now, before = map(self.selection.sample, pair)
        return now, before

    def limits(self, metric: Metric, segments: Int64Array, request: IntervalRequest) -> Limits:
        """Compute limits of the differences of independent scores, as they decide rules.

        If rows are in clusters, they are MOVER's of the limits that decide about each score, as if
        no cluster were in both runs. If some are, these limits are too wide rather than too narrow.
        """
        if self._clustered is None:
            return self._independent_limits(metric, segments, request)
        pair = [sample.at(segments) for sample in self._clustered]
        counts = restrict_to_shared_labels(pair[0].counts, pair[1].counts)
        sides = replace(pair[0], counts=counts[0]), replace(pair[1], counts=counts[1])
        scores = metric_values(metric, counts[0]), metric_values(metric, counts[1])
        limits = mover_difference_limits(metric, sides, scores, request)
        clusters = [side.clusters for side in sides if side.clusters is not None]
        single = np.all([each.are_single for each in clusters], axis=0)
        if metric.interval.is_of_clusters or not single.any():
            return limits
        own = self._independent_limits(metric, segments, request)
        low, high = (np.where(single, *each) for each in zip(own, limits, strict=True))
        return low, high

    def _independent_limits(
        self, metric: Metric, segments: Int64Array, request: IntervalRequest
    ) -> Limits:
        """Compute the limits if rows are independent."""
        now, before = restrict_to_shared_labels(*self.counts(segments))
        everywhere = np.ones(len(segments), np.bool_)
        compute = partial(gate_difference, level=request.level)
        limits = recall_difference_limits(metric.interval, now, before, everywhere, compute, 2)
        if limits is not None and not metric.interval.labels_depend_on_predictions:
            return limits[0], limits[1]
        sides = (
            Sample(now, lambda: self.sides.aligned_current.cells.at(segments)),
            Sample(before, lambda: self.sides.aligned_earlier.cells.at(segments)),
        )
        scores = metric_values(metric, now), metric_values(metric, before)
        if limits is not None:
            fill_limits(limits, metric, sides, scores, request)
            return limits[0], limits[1]
        return mover_difference_limits(metric, sides, scores, request)

    def cluster_statistics(self, metric: Metric, segments: Int64Array) -> ClusterStatistics | None:
        """Return the number of clusters of segments, and their effect on the scores."""
        if self._clustered is None:
            return None
        now = self._clustered[0].at(segments)
        assert now.clusters is not None
        return now.clusters.n, *design_effects(metric, now)


@dataclass(frozen=True, slots=True)
class BaselineScores:
    """The rows and scores of segments in the data and in the baseline.

    `n_labels` is the number of labels that are present in both, and `support` that of the rows in
    the smallest denominator of the metric.
    """

    n: Int64Array
    n_labels: Int64Array
    score: FloatArray
    baseline_score: FloatArray
    baseline_n: Int64Array
    support: Int64Array

    @classmethod
    def of(cls, metric: Metric, baseline: Baseline, segments: Int64Array) -> "BaselineScores":
        """Score both on the labels that they share.

        Where one has no rows, the other is scored on all of its labels.
        """
        counts = baseline.counts(segments)
        shared_counts = restrict_to_shared_labels(*counts)
        is_alone = (counts[0].n == 0) | (counts[1].n == 0)
        score, baseline_score = (
            np.where(is_alone, metric_values(metric, c), metric_values(metric, shared))
            for c, shared in zip(counts, shared_counts, strict=True)
        )
        support, baseline_support = (metric.smallest_denominator(c) for c in shared_counts)
        return cls(
            counts[0].n,
            shared_counts[0].n_present,
            score,
            baseline_score,
            counts[1].n,
            np.minimum(support, baseline_support),
        )

    @property
    def difference(self) -> FloatArray:
        """The score of the data minus that of the baseline."""
        return self.score - self.baseline_score


def difference_limits(
    metric: Metric,
    baseline: Baseline,
    segments: Int64Array,
    difference: FloatArray,
    request: IntervalRequest,
) -> Limits:
    """Compute limits of differences from a baseline, inside the range of differences."""
    with np.errstate(invalid="ignore", divide="ignore", over="ignore"):
        limits = baseline.limits(metric, segments, request)
    return clip_difference_limits(limits, difference, metric)


# The baseline that a caller gives.


@dataclass(frozen=True, slots=True)
class BaselineRequest:
    """A baseline as a caller requests it: how data are read with it, and what is checked."""

    input: BaselineInput
    make_baseline: Callable[[Any, MetricSelection], Baseline | None]

    @property
    def is_paired(self) -> bool:
        """Whether the baseline is another model on the same rows."""
        return self.input.input_spec.baseline is not None


def baseline_request(
    baseline: object, y_true: Name, y_pred: Names, by: Names, options: Mapping[str, Any]
) -> BaselineRequest:
    """Return how to read data with a baseline; the rest is what the method is given."""
    if baseline is None:
        return BaselineRequest(BaselineInput(), lambda counts, selection: None)
    native, _ = unwrap(baseline)
    if not is_frame(native):
        return BaselineRequest(column_input(native, options), PairedBaseline)
    cells, _ = unwrap(count_baseline_rows(native, y_true, y_pred, by, options))
    return BaselineRequest(cell_input(cells), UnpairedBaseline)
