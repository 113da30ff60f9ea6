"""The lowest and highest segments of a group, and the test of equality of all segments."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from balframe.api.interval_estimates import decision_request, metric_limits
from balframe.api.metric_selection import lowest_segment, metric_values
from balframe.core.array_types import BoolArray, Int64Array
from balframe.core.class_counts import ClassCounts
from balframe.core.sample import Sample
from balframe.frames.adapter import Name
from balframe.frames.counted_frame import CountedFrame, SegmentGroup
from balframe.metrics.registry import Metric
from balframe.stats.batching import group_by_label_count
from balframe.stats.clustered_means import ClusteredMeans, clustered_means
from balframe.stats.homogeneity_tests import (
    MIN_ROWS_FOR_CHI_SQUARE,
    clustered_homogeneity_test,
    recall_homogeneity_test,
    score_homogeneity_test,
)
from balframe.stats.multiple_testing import extreme_difference, extreme_ratio

_Pair = tuple[float, float]
_UNDEFINED_PAIR = (np.nan, np.nan)
_FEW_ROWS = f"p_value_recalls needs {MIN_ROWS_FOR_CHI_SQUARE} rows in every denominator"
_IN_ONE_CLUSTER = "all rows of a label or a denominator of some segment are in one cluster"
_NO_RECALLS = "p_value_recalls needs independent rows, and cluster is given"
_UNDEFINED_TESTS = (np.nan, np.nan, np.nan)


@dataclass(frozen=True, slots=True)
class SegmentExtremes:
    """The extremes of a metric; `lowest` and `highest` are positions of segments."""

    metric: str
    n_segments: int
    n_left_out: int
    lowest: int | None = None
    highest: int | None = None
    extreme_scores: _Pair = _UNDEFINED_PAIR
    difference: float = np.nan
    difference_limits: _Pair = _UNDEFINED_PAIR
    ratio: float = np.nan
    ratio_limits: _Pair = _UNDEFINED_PAIR
    statistic: float = np.nan
    p_value: float = np.nan
    p_value_recalls: float = np.nan
    note: str | None = None
    n_clusters: int = 0

    @property
    def numeric_columns(self) -> dict[Name, float]:
        """The numbers, by the names of their columns in a result."""
        return {
            "lowest": self.extreme_scores[0],
            "highest": self.extreme_scores[1],
            "difference": self.difference,
            "difference_lower": self.difference_limits[0],
            "difference_upper": self.difference_limits[1],
            "ratio": self.ratio,
            "ratio_lower": self.ratio_limits[0],
            "ratio_upper": self.ratio_limits[1],
            "n_segments": self.n_segments,
            "n_left_out": self.n_left_out,
            "n_clusters": self.n_clusters,
            "statistic": self.statistic,
            "df": max(self.n_segments - 1, 0),
            "p_value": self.p_value,
            "p_value_recalls": self.p_value_recalls,
        }


@dataclass(frozen=True, slots=True)
class ExtremesSearch:
    """A search for extremes: the simultaneous level of all limits, and the least denominator.

    Segments that lack a label are left out of a comparison of means of recalls, unless
    `min_support` is 0. Without a method, the limits are those of gates.
    """

    level: float
    min_support: int
    method: str | None = None

    def find(
        self,
        name: str,
        metric: Metric,
        sample: Sample,
        segments: Int64Array,
        n_families: int = 1,
    ) -> SegmentExtremes:
        """Return the extremes of segments with this sample; limits allow for `n_families`."""
        c = sample.counts
        values = metric_values(metric, c)
        used = np.flatnonzero(np.isfinite(values) & self._has_support(metric, c))
        too_few = None if len(used) > 1 else "fewer than two segments could be compared"
        extremes = SegmentExtremes(name, len(used), c.n_segments - len(used), note=too_few)
        if not len(used):
            return extremes
        sample, values = sample.at(used), values[used]
        c, clusters = sample.counts, sample.clusters
        if clusters is not None:
            extremes = replace(extremes, n_clusters=len(np.unique(clusters.cluster)))
        low, high = (lowest_segment(v, c) for v in (values, -values))
        lowest, highest = (int(segments[used[position]]) for position in (low, high))
        scores = (float(values[low]), float(values[high]))
        extremes = replace(extremes, lowest=lowest, highest=highest, extreme_scores=scores)
        if len(used) < 2:
            return extremes
        request = decision_request(metric, self.method, self.level).bonferroni(
            n_families * len(used)
        )
        limits = metric_limits(metric, sample, values, request)
        ratio = scores[0] / scores[1] if scores[0] >= 0 and scores[1] > 0 else np.nan
        (statistic, p_value, p_value_recalls), note = _equality_tests(metric, sample)
        return replace(
            extremes,
            difference=scores[1] - scores[0],
            difference_limits=extreme_difference(*limits),
            ratio=ratio,
            ratio_limits=_UNDEFINED_PAIR if np.isnan(ratio) else extreme_ratio(*limits),
            statistic=statistic,
            p_value=p_value,
            p_value_recalls=p_value_recalls,
            note=note,
        )

    def _has_support(self, metric: Metric, c: ClassCounts) -> BoolArray:
        has_rows = metric.smallest_denominator(c) >= self.min_support
        return has_rows & ~metric.interval.lacks_label(c) if self.min_support else has_rows


def _equality_tests(
    metric: Metric, sample: Sample
) -> tuple[tuple[float, float, float], str | None]:
    """Return the tests of equal scores and of equal recalls, and a note if one is undefined.

    They are undefined unless the metric is linear in recalls of the same labels in all segments.
    """
    c, clusters = sample.counts, sample.clusters
    r = metric.interval.linear_recalls(c)
    if r is None:
        return _UNDEFINED_TESTS, "there is no test for this metric"
    rows = r.effective_counts()
    order = np.lexsort((r.label, r.segment))
    for segments, entries in group_by_label_count(r.segment, c.n_segments, order):
        columns = [values[entries] for values in rows]
        has_same_labels = (r.label[entries] == r.label[entries[0]]).all()
        if len(segments) < c.n_segments or not has_same_labels:
            break
        if not np.isfinite(columns[1]).all():
            return _UNDEFINED_TESTS, "the weights are too large or too small for a test"
        if clusters is not None and not clusters.are_rows:
            return _clustered_equality_tests(clustered_means(metric.interval, sample))
        tests = (*score_homogeneity_test(*columns), recall_homogeneity_test(*columns))
        return tests, _FEW_ROWS if np.isnan(tests[-1]) else None
    return _UNDEFINED_TESTS, "the segments have different labels"


def _clustered_equality_tests(
    means: ClusteredMeans | None,
) -> tuple[tuple[float, float, float], str | None]:
    assert means is not None
    with np.errstate(invalid="ignore", divide="ignore"):
        statistic, p_value = clustered_homogeneity_test(means)
    note = _IN_ONE_CLUSTER if np.isnan(p_value) else _NO_RECALLS
    return (statistic, p_value, np.nan), note


def group_samples(
    sample: Sample, counted_frame: CountedFrame
) -> Iterator[tuple[SegmentGroup, Sample]]:
    """Yield each group of segments with its sample; nothing if there are no rows."""
    for group in counted_frame.groups() if sample.counts.n_segments else []:
        yield group, sample.at(group.segments)


def extreme_columns(
    counted_frame: CountedFrame, groups: Iterable[SegmentGroup], rows: Iterable[SegmentExtremes]
) -> tuple[dict[Name, Any], dict[Name, Any]]:
    """Return the columns of margin and model, and those of the lowest and highest segments.

    Each row has its own group.
    """
    _, first_cells = counted_frame.cells.segments
    rows = list(rows)
    group_segments = [int(group.segments[0]) for group in groups]
    shared = counted_frame.by_columns(first_cells[np.array(group_segments, np.int64)])
    codes = counted_frame.codes
    by_columns: dict[Name, Any] = {}
    for extreme in ("lowest", "highest"):
        for name in counted_frame.query.by:
            null = len(counted_frame.by[name])
            segments = [getattr(row, extreme) for row in rows]
            levels = [
                null if segment is None else int(codes[name][first_cells[segment]])
                for segment in segments
            ]
            by_columns[f"{extreme}_{name}"] = counted_frame.adapter.take(
                counted_frame.by[name], np.array(levels, np.int64), nullable=True
            )
    return {name: shared[name] for name in counted_frame.query.added_columns}, by_columns
