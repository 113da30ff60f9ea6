"""Scores beside those of a baseline, and limits of the differences, in every segment.

A difference is that of the means over the labels that are present on both sides.
"""

from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import Protocol

import numpy as np

from balframe.api.interval_estimates import from_limits_of_both, kept
from balframe.api.metric_selection import Scoring, value_of
from balframe.core.array_types import FloatArray, Int64Array
from balframe.core.class_counts import ClassCounts, segments_at
from balframe.core.sample import Sample
from balframe.frames.counted_frame import CountedFrame
from balframe.frames.earlier_cells import Sides
from balframe.methods.comparisons.extremes import denominator
from balframe.methods.comparisons.models import Discordant, PairedModels, readings_of_models
from balframe.methods.comparisons.segments import limits_of_difference, on_shared_labels
from balframe.metrics.registry import Metric
from balframe.stats.base import IntervalRequest
from balframe.stats.differences import gate_difference
from balframe.stats.proportions import Limits

OfClusters = tuple[Int64Array, FloatArray, FloatArray]  # their number, effective ones, effects


class Baseline(Protocol):
    """What the data are compared with.

    `own` is what was read of the data alone. `reading` has the segments of the baseline too, among
    which `positions` are those of the data.
    """

    @property
    def own(self) -> CountedFrame:
        """The data alone."""

    @property
    def reading(self) -> CountedFrame:
        """The data, with all segments."""

    @property
    def positions(self) -> Int64Array:
        """Positions of the segments of the data."""

    def counts(self, segments: Int64Array) -> tuple[ClassCounts, ClassCounts]:
        """Take the class counts of segments in the data and in the baseline."""

    def limits(self, metric: Metric, segments: Int64Array, request: IntervalRequest) -> Limits:
        """Compute limits of the differences in segments that both have."""

    def clusters(self, metric: Metric, segments: Int64Array) -> OfClusters | None:
        """Say how many clusters segments have, and what they mean for the differences."""


@dataclass(frozen=True)
class Paired:
    """Another model on the same rows; `joint` are the cells of both."""

    joint: CountedFrame
    scoring: Scoring

    @cached_property
    def own(self) -> CountedFrame:
        """The data alone."""
        own, _ = readings_of_models(self.joint)
        clusters = own.clusters
        if clusters is not None:
            clusters = replace(clusters, cells=clusters.cells.regrouped())
        return replace(own, cells=own.cells.regrouped(), clusters=clusters)

    @property
    def reading(self) -> CountedFrame:
        """The data, which have all segments."""
        return self.own

    @property
    def positions(self) -> Int64Array:
        """Positions of the segments of the data."""
        return np.arange(len(self.joint.cells.segments[1]))

    @cached_property
    def _models(self) -> PairedModels:
        return PairedModels.of(self.joint, self.scoring)

    def counts(self, segments: Int64Array) -> tuple[ClassCounts, ClassCounts]:
        """Take the class counts of both models."""
        models = self._models
        one, other = (segments_at(one.counts, segments) for one in (models.one, models.other))
        return one, other

    def discordant(self, metric: Metric, segments: Int64Array) -> Discordant | None:
        """Find the rows that only one model gets right."""
        return self._models.at(segments).discordant(metric.interval)

    def limits(self, metric: Metric, segments: Int64Array, request: IntervalRequest) -> Limits:
        """Invert the score test of paired differences."""
        return self._models.at(segments).tested(metric.interval, request.level)[0]

    def clusters(self, metric: Metric, segments: Int64Array) -> OfClusters | None:
        """Say what clusters mean for the differences."""
        models = self._models.at(segments)
        if models.one.clusters is None:
            return None
        return models.one.clusters.n, *models.design(metric.interval)


@dataclass(frozen=True)
class Unpaired:
    """The cells of an earlier run, of rows of its own."""

    sides: Sides
    scoring: Scoring

    @property
    def own(self) -> CountedFrame:
        """The data alone."""
        return self.sides.own

    @property
    def reading(self) -> CountedFrame:
        """The data, with the segments that only the earlier run has."""
        return self.sides.now

    @property
    def positions(self) -> Int64Array:
        """Positions of the segments of the data."""
        return self.sides.positions

    @cached_property
    def _counts(self) -> tuple[ClassCounts, ClassCounts]:
        now, before = (
            self.scoring.class_counts(self.sides.now, side.cells)
            for side in (self.sides.now, self.sides.before)
        )
        return now, before

    def counts(self, segments: Int64Array) -> tuple[ClassCounts, ClassCounts]:
        """Take the class counts now and before."""
        now, before = (segments_at(c, segments) for c in self._counts)
        return now, before

    def limits(self, metric: Metric, segments: Int64Array, request: IntervalRequest) -> Limits:
        """Compute limits that decide, of independent scores."""
        now, before = on_shared_labels(*self.counts(segments))
        everywhere = np.ones(len(segments), np.bool_)
        compute = partial(gate_difference, level=request.level)
        found = limits_of_difference(metric.interval, now, before, everywhere, compute, 2)
        if found is not None:
            return found[0], found[1]
        sides = (
            Sample(now, lambda: self.sides.now.cells.at(segments)),
            Sample(before, lambda: self.sides.before.cells.at(segments)),
        )
        scores = value_of(metric, now), value_of(metric, before)
        return from_limits_of_both(metric.name, metric, sides, scores, request)

    def clusters(self, metric: Metric, segments: Int64Array) -> None:
        """Have no clusters: their rows would have to be known on both sides."""


@dataclass(frozen=True, slots=True)
class Beside:
    """Segments beside their baseline: the rows and scores of both, and the labels of both.

    `n_labels` counts the labels that are present on both sides, and `support` the rows of the
    metric's smallest denominator.
    """

    n: Int64Array
    n_labels: Int64Array
    score: FloatArray
    baseline_score: FloatArray
    baseline_n: Int64Array
    support: Int64Array

    @classmethod
    def of(cls, metric: Metric, baseline: Baseline, segments: Int64Array) -> "Beside":
        """Score both sides; where one has no rows, the other is scored on all of its labels."""
        alone = baseline.counts(segments)
        shared = on_shared_labels(*alone)
        is_alone = (alone[0].n == 0) | (alone[1].n == 0)
        score, baseline_score = (
            np.where(is_alone, value_of(metric, own), value_of(metric, compared))
            for own, compared in zip(alone, shared, strict=True)
        )
        one, other = (denominator(metric, c) for c in shared)
        return cls(
            alone[0].n,
            shared[0].n_present,
            score,
            baseline_score,
            alone[1].n,
            np.minimum(one, other),
        )

    @property
    def difference(self) -> FloatArray:
        """How much more the data score than the baseline."""
        return self.score - self.baseline_score


def limits_of_differences(
    metric: Metric,
    baseline: Baseline,
    segments: Int64Array,
    difference: FloatArray,
    request: IntervalRequest,
) -> Limits:
    """Compute limits of the differences found, in the range that differences have."""
    with np.errstate(invalid="ignore", divide="ignore", over="ignore"):
        lower, upper = baseline.limits(metric, segments, request)
    width = metric.range[1] - metric.range[0]
    return kept(lower, upper, difference, (-width, width), around=True)
