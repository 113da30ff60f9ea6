"""The lowest and highest segments of a group, and the test of equality of all segments."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from balframe.api.interval_estimates import deciding, limits_of
from balframe.api.metric_selection import smallest, value_of
from balframe.core.array_types import BoolArray, Int64Array
from balframe.core.class_counts import ClassCounts
from balframe.core.sample import Sample
from balframe.frames.adapter import Name
from balframe.frames.counted_frame import CountedFrame, Group
from balframe.metrics.registry import Metric
from balframe.stats.batching import by_number_of_labels
from balframe.stats.clustered_means import MeansOfClusters, means_of_clusters
from balframe.stats.homogeneity_tests import (
    LEAST_FOR_CHI_SQUARE,
    equal_recalls,
    equal_scores,
    equal_scores_of_clusters,
)
from balframe.stats.multiple_testing import extreme_difference, extreme_ratio

_Pair = tuple[float, float]
_UNDEFINED_PAIR = (np.nan, np.nan)
_FEW_ROWS = f"p_value_recalls needs {LEAST_FOR_CHI_SQUARE} rows in every denominator"
_IN_ONE_CLUSTER = "all rows of a label or a denominator of some segment are in one cluster"
_NO_RECALLS = "p_value_recalls needs independent rows, and cluster is given"
_UNDEFINED_TESTS = (np.nan, np.nan, np.nan)


@dataclass(frozen=True, slots=True)
class SegmentExtremes:
    """A metric over the segments of a group; `lowest` and `highest` are positions of segments."""

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
        """Name the numbers as the columns of a result."""
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
    """How to look for extremes: the level of all limits together, and the least denominator.

    Segments that lack a label are left out of a comparison of means of recalls, unless the least
    denominator is 0. The method of the limits is that of gates where none is named.
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
        """Find those of segments whose sample is given; limits hold for so many `families`."""
        c = sample.counts
        values = value_of(metric, c)
        used = np.flatnonzero(np.isfinite(values) & self._has_support(metric, c))
        too_few = None if len(used) > 1 else "fewer than two segments could be compared"
        found = SegmentExtremes(name, len(used), c.n_segments - len(used), note=too_few)
        if not len(used):
            return found
        sample, values = sample.at(used), values[used]
        c, clusters = sample.counts, sample.clusters
        if clusters is not None:
            found = replace(found, n_clusters=len(np.unique(clusters.cluster)))
        low, high = (smallest(v, c) for v in (values, -values))
        lowest, highest = (int(segments[used[position]]) for position in (low, high))
        pair = (float(values[low]), float(values[high]))
        found = replace(found, lowest=lowest, highest=highest, extreme_scores=pair)
        if len(used) < 2:
            return found
        request = deciding(metric, self.method, self.level).together(n_families * len(used))
        limits = limits_of({name: metric}, sample, {name: values}, request)[name]
        quotient = pair[0] / pair[1] if pair[0] >= 0 and pair[1] > 0 else np.nan
        (statistic, p_value, p_value_recalls), note = _equality_tests(metric, sample)
        return replace(
            found,
            difference=pair[1] - pair[0],
            difference_limits=extreme_difference(*limits),
            ratio=quotient,
            ratio_limits=_UNDEFINED_PAIR if np.isnan(quotient) else extreme_ratio(*limits),
            statistic=statistic,
            p_value=p_value,
            p_value_recalls=p_value_recalls,
            note=note,
        )

    def _has_support(self, metric: Metric, c: ClassCounts) -> BoolArray:
        enough = smallest_denominator(metric, c) >= self.min_support
        return enough & ~metric.interval.lacks_label(c) if self.min_support else enough


def smallest_denominator(metric: Metric, c: ClassCounts) -> Int64Array:
    """Count the rows of the smallest denominator of a metric in each segment.

    A mean of recalls has one for every label present; of a metric that is neither that nor a
    proportion it is all rows.
    """
    if ("pos_label" in metric.needs and c.pos_label is None) or not c.n_segments:
        return c.n
    return metric.interval.smallest_denominator(c)


def _equality_tests(
    metric: Metric, sample: Sample
) -> tuple[tuple[float, float, float], str | None]:
    """Test that all score the same, and that they have the same recalls; say why not.

    Undefined unless the metric is linear in the recalls of the same labels everywhere.
    """
    c, clusters = sample.counts, sample.clusters
    r = metric.interval.linear_recalls(c)
    if r is None:
        return _UNDEFINED_TESTS, "there is no test for this metric"
    rows = r.in_effective_rows()
    order = np.lexsort((r.label, r.segment))
    for segments, entries in by_number_of_labels(r.segment, c.n_segments, order):
        columns = [values[entries] for values in rows]
        is_equal = (r.label[entries] == r.label[entries[0]]).all()
        if len(segments) < c.n_segments or not is_equal:
            break
        if not np.isfinite(columns[1]).all():
            return _UNDEFINED_TESTS, "the weights are too large or too small for a test"
        if clusters is not None and not clusters.are_rows:
            means = means_of_clusters(metric.interval, sample)
            return _clustered_equality_tests(means)
        tests = (*equal_scores(*columns), equal_recalls(*columns))
        return tests, _FEW_ROWS if np.isnan(tests[-1]) else None
    return _UNDEFINED_TESTS, "the segments have different labels"


def _clustered_equality_tests(
    means: MeansOfClusters | None,
) -> tuple[tuple[float, float, float], str | None]:
    assert means is not None
    with np.errstate(invalid="ignore", divide="ignore"):
        statistic, p_value = equal_scores_of_clusters(means)
    note = _IN_ONE_CLUSTER if np.isnan(p_value) else _NO_RECALLS
    return (statistic, p_value, np.nan), note


def group_samples(sample: Sample, reading: CountedFrame) -> Iterator[tuple[Group, Sample]]:
    """Give each group of segments with its sample; none where there are no rows."""
    for group in reading.groups() if sample.counts.n_segments else []:
        yield group, sample.at(group.segments)


def extreme_columns(
    reading: CountedFrame, groups: Iterable[Group], rows: Iterable[SegmentExtremes]
) -> tuple[dict[Name, Any], dict[Name, Any]]:
    """Look up margin and model of the groups, one for each row, and the segments of the rows."""
    _, first = reading.cells.segments
    rows = list(rows)
    of_group = [int(group.segments[0]) for group in groups]
    shared = reading.by_columns(first[np.array(of_group, np.int64)])
    codes = reading.codes
    found: dict[Name, Any] = {}
    for which in ("lowest", "highest"):
        for name in reading.query.by:
            none = len(reading.by[name])
            positions = [getattr(row, which) for row in rows]
            at = [none if one is None else int(codes[name][first[one]]) for one in positions]
            found[f"{which}_{name}"] = reading.library.take(
                reading.by[name], np.array(at, np.int64), nullable=True
            )
    return {name: shared[name] for name in reading.query.added}, found
