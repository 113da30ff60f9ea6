"""The evidence for rules: the values of their quantities, with confidence intervals."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

import numpy as np

from balframe.api.interval_estimates import deciding, design, limits_of
from balframe.api.metric_selection import counted, value_of
from balframe.core.array_types import BoolArray, FloatArray, Int64Array
from balframe.core.sample import Sample
from balframe.frames.counted_frame import CountedFrame
from balframe.methods.comparisons.extremes import Extremal, denominator
from balframe.methods.gates.baseline_differences import (
    Baseline,
    Beside,
    OfClusters,
    limits_of_differences,
)
from balframe.metrics.registry import Metric


@dataclass(frozen=True, slots=True)
class Evidence:
    """Values of a quantity with their limits, NaN where there are none.

    `is_known` where the value is defined and has rows enough; the evidence on many segments
    together `is_complete` where none of them was left out. Where the values are differences from a
    baseline, `beside` says what they are differences of. `clusters` are how many there are, how
    many effective ones, and the design effects, where rows are in clusters.
    """

    estimate: FloatArray | Int64Array
    lower: FloatArray | Int64Array
    upper: FloatArray | Int64Array
    is_known: BoolArray
    is_complete: bool = True
    beside: Beside | None = None
    clusters: OfClusters | None = None


@dataclass(frozen=True, slots=True)
class Search:
    """Which evidence to look for: with limits or without, at which level, on how many rows."""

    with_limits: bool
    simultaneous: bool
    level: float
    method: str | None
    min_support: int

    def of_segments(
        self,
        metric: Metric | None,
        quantity: str,
        sample: Sample,
        reading: CountedFrame,
        segments: Int64Array,
    ) -> Evidence:
        """Score some segments on a metric, or count their rows or labels where there is none."""
        sample = sample.at(segments)
        c = sample.counts
        if metric is None:
            n = counted(c)[quantity]
            return Evidence(n, n, n, np.ones(len(n), np.bool_), clusters=_clusters(None, sample))
        estimate = value_of(metric, c)
        lower, upper = np.full((2, len(segments)), np.nan)
        is_known = ~np.isnan(estimate) & (denominator(metric, c) >= self.min_support)
        for used in self._families(np.flatnonzero(is_known), segments, reading):
            lower[used], upper[used] = limits_of(
                {quantity: metric},
                sample.at(used),
                {quantity: estimate[used]},
                deciding(metric, self.method, self.level).together(
                    len(used) if self.simultaneous else 1
                ),
            )[quantity]
        return Evidence(estimate, lower, upper, is_known, clusters=_clusters(metric, sample))

    def of_differences(self, metric: Metric, baseline: Baseline, segments: Int64Array) -> Evidence:
        """Find how much more segments score on a metric than in the baseline."""
        beside = Beside.of(metric, baseline, segments)
        difference = beside.difference
        lower, upper = np.full((2, len(segments)), np.nan)
        is_known = ~np.isnan(difference) & (beside.support >= self.min_support)
        for used in self._families(np.flatnonzero(is_known), segments, baseline.reading):
            request = deciding(metric, None, self.level).together(
                len(used) if self.simultaneous else 1
            )
            lower[used], upper[used] = limits_of_differences(
                metric, baseline, segments[used], difference[used], request
            )
        clusters = baseline.clusters(metric, segments)
        return Evidence(difference, lower, upper, is_known, beside=beside, clusters=clusters)

    def _families(
        self, used: Int64Array, segments: Int64Array, reading: CountedFrame
    ) -> Iterator[Int64Array]:
        """Put segments together whose limits hold at once: those of each margin."""
        if not self.with_limits or not len(used):
            return
        margin = reading.margin_of_segments()[segments[used]]
        for one in np.unique(margin):
            yield used[margin == one]

    def of_extremes(
        self,
        over: Literal["difference", "ratio"],
        metric: Metric,
        quantity: str,
        sample: Sample,
        segments: Int64Array,
        n_groups: int,
    ) -> Evidence:
        """Find how far apart the highest and the lowest of some segments are."""
        found = Extremal(self.level, self.min_support, self.method).find(
            quantity,
            metric,
            sample.at(segments),
            segments,
            n_groups if self.simultaneous else 1,
        )
        limits = {"difference": found.difference_limits, "ratio": found.ratio_limits}[over]
        estimate = np.array([{"difference": found.difference, "ratio": found.ratio}[over]])
        lower, upper = (np.array([end if self.with_limits else np.nan]) for end in limits)
        return Evidence(estimate, lower, upper, ~np.isnan(estimate), not found.n_left_out)


def _clusters(metric: Metric | None, sample: Sample) -> OfClusters | None:
    """Count the clusters, and find the design effects; those of a count of rows are undefined."""
    if sample.clusters is None:
        return None
    nothing = np.full(sample.counts.n_segments, np.nan)
    effective, effect = (nothing, nothing) if metric is None else design(metric, sample)
    return sample.clusters.n, effective, effect
