"""The lowest and highest segments of a group, how far apart they are, and tests of equality."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from balframe.api.interval_estimates import metric_limits
from balframe.api.metric_selection import lowest_segment, sample_values
from balframe.core.array_types import BoolArray, FloatArray, Int64Array
from balframe.core.class_counts import ClassCounts
from balframe.core.sample import Sample
from balframe.frames.adapter import Name
from balframe.frames.counted_frame import CountedFrame, SegmentGroup
from balframe.metrics.partly_labelled import (
    completions,
    corrected_score,
    has_limits,
    is_share,
    linear_form,
    share_strata,
)
from balframe.metrics.registry import Metric
from balframe.stats.base import COMPARED, GATE, IntervalRequest
from balframe.stats.batching import group_by_label_count
from balframe.stats.clustered_differences import correlation_of_pairs
from balframe.stats.clustered_means import ClusteredMeans, clustered_means
from balframe.stats.effective_sample_size import RowsBySide
from balframe.stats.homogeneity_tests import (
    MIN_ROWS_FOR_CHI_SQUARE,
    clustered_homogeneity_test,
    recall_homogeneity_test,
    score_homogeneity_test,
)
from balframe.stats.multiple_testing import extreme_ratio
from balframe.stats.pairwise_extremes import extremes_of_limits, extremes_of_recalls
from balframe.stats.partly_labelled_differences import largest_share_difference
from balframe.stats.proportions import Limits, normal_level

_Pair = tuple[float, float]
_UNDEFINED_PAIR = (np.nan, np.nan)
_FEW_ROWS = f"p_value_recalls needs {MIN_ROWS_FOR_CHI_SQUARE} rows in every denominator"
_IN_ONE_CLUSTER = "all rows of a label or a denominator of some segment are in one cluster"
_NO_RECALLS = "p_value_recalls needs independent rows, but cluster is given"
_NO_INTERVAL = "not every segment has an interval"
_UNDEFINED_TESTS = (np.nan, np.nan, np.nan)


@dataclass(frozen=True, slots=True)
class SegmentExtremes:
    """The extremes of a metric; `lowest` and `highest` are positions of segments.

    `compared` are the positions of the compared segments in their group. If all scores are 0, their
    ratio has no estimate, but the limits `zero_ratio_limits`.
    """

    metric: str
    n_segments: int
    n_left_out: int
    lowest: int | None = None
    highest: int | None = None
    extreme_scores: _Pair = _UNDEFINED_PAIR
    difference: float = np.nan
    difference_limits: _Pair = _UNDEFINED_PAIR
    p_value: float = np.nan
    ratio: float = np.nan
    ratio_limits: _Pair = _UNDEFINED_PAIR
    ratio_p_value: float = np.nan
    zero_ratio_limits: _Pair | None = None
    compared: frozenset[int] = frozenset()
    statistic: float = np.nan
    p_value_all: float = np.nan
    p_value_recalls: float = np.nan
    note: str | None = None
    n_clusters: int = 0
    n_labelled: int = 0

    @property
    def numeric_columns(self) -> dict[Name, float]:
        """The numbers, by the names of their columns in a result."""
        return {
            "lowest": self.extreme_scores[0],
            "highest": self.extreme_scores[1],
            "difference": self.difference,
            "lower": self.difference_limits[0],
            "upper": self.difference_limits[1],
            "ratio": self.ratio,
            "ratio_lower": self.ratio_limits[0],
            "ratio_upper": self.ratio_limits[1],
            "n_segments": self.n_segments,
            "n_left_out": self.n_left_out,
            "n_clusters": self.n_clusters,
            "n_labelled": self.n_labelled,
            "p_value": self.p_value,
            "statistic": self.statistic,
            "df": max(self.n_segments - 1, 0),
            "p_value_all": self.p_value_all,
            "p_value_recalls": self.p_value_recalls,
        }


@dataclass(frozen=True, slots=True)
class _ComparedPairs:
    """Limits and p-values of the largest difference and of the smallest ratio of two segments."""

    difference: _Pair = _UNDEFINED_PAIR
    ratio: _Pair = _UNDEFINED_PAIR
    p_value: float = np.nan
    ratio_p_value: float = np.nan
    note: str | None = None


@dataclass(frozen=True, slots=True)
class ExtremesSearch:
    """A search for extremes: the level of limits of all pairs at once, and the least denominator.

    Segments that lack a label are left out of a comparison of means of recalls, unless
    `min_support` is 0. With `tests_all`, the equality of all segments is tested too. Without
    `has_ratios`, limits of ratios are not searched for.
    """

    level: float
    min_support: int
    tests_all: bool = False
    has_ratios: bool = True

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
        values = sample_values(metric, sample)
        used = np.flatnonzero(np.isfinite(values) & self._has_support(metric, c))
        too_few = None if len(used) > 1 else "fewer than two segments could be compared"
        extremes = SegmentExtremes(
            name,
            len(used),
            c.n_segments - len(used),
            note=too_few,
            compared=frozenset(used.tolist()),
        )
        if not len(used):
            return extremes
        sample, values = sample.at(used), values[used]
        c, clusters = sample.counts, sample.clusters
        if sample.strata is not None:
            extremes = replace(extremes, n_labelled=int(c.n.sum()))
        if clusters is not None:
            extremes = replace(extremes, n_clusters=len(np.unique(clusters.cluster)))
        low, high = (lowest_segment(v, c) for v in (values, -values))
        lowest, highest = (int(segments[used[position]]) for position in (low, high))
        scores = (float(values[low]), float(values[high]))
        extremes = replace(extremes, lowest=lowest, highest=highest, extreme_scores=scores)
        if len(used) < 2:
            return extremes
        with np.errstate(invalid="ignore", divide="ignore", over="ignore"):
            pairs = self._compare_pairs(metric, sample, values, n_families)
        if scores[0] >= 0 and scores[1] > 0:
            extremes = replace(
                extremes,
                ratio=scores[0] / scores[1],
                ratio_limits=pairs.ratio,
                ratio_p_value=pairs.ratio_p_value,
            )
        elif not any(scores):
            extremes = replace(extremes, zero_ratio_limits=pairs.ratio)
        (statistic, p_value_all, p_value_recalls), note = _UNDEFINED_TESTS, None
        if self.tests_all:
            (statistic, p_value_all, p_value_recalls), note = _homogeneity_tests(metric, sample)
        if len(used) == 2 and np.isfinite([p_value_all, pairs.p_value]).all():
            p_value_all = pairs.p_value  # two segments are one pair
        return replace(
            extremes,
            difference=scores[1] - scores[0],
            difference_limits=pairs.difference,
            p_value=pairs.p_value,
            statistic=statistic,
            p_value_all=p_value_all,
            p_value_recalls=p_value_recalls,
            note="; ".join(filter(None, (pairs.note, note))) or None,
        )

    def _compare_pairs(
        self, metric: Metric, sample: Sample, values: FloatArray, n_families: int
    ) -> _ComparedPairs:
        """Compare all pairs of segments: as recalls if all have the same labels, or by limits."""
        if sample.is_partly_labelled:
            return self._compare_partly_labelled(metric, sample, values, n_families)
        recalls = recalls_of_equal_labels(metric, sample)
        are_rows = sample.clusters is None or sample.clusters.are_rows
        if recalls is None or not are_rows:
            return self._compare_limits(metric, sample, values, n_families)
        c, (rows, a) = sample.counts, recalls
        if not np.isfinite(rows.lower[1]).all():
            return _ComparedPairs()
        ends = np.zeros(c.n_segments), np.ones(c.n_segments)
        scales = [metric.interval.rescaled(c, end) for end in ends]
        if any((scale != scale[0]).any() for scale in scales):
            return self._compare_limits(metric, sample, values, n_families)
        at_0, at_1 = (float(scale[0]) for scale in scales)
        return self._compare_recalls(rows, a, (at_0, at_1), n_families)

    def _compare_recalls(
        self, rows: RowsBySide, a: FloatArray, range_: _Pair, n_families: int
    ) -> _ComparedPairs:
        """Compare all pairs of means of recalls; the metric is `range_` where these are 0 and 1."""
        at_0, at_1 = range_
        slope, origin = abs(at_1 - at_0), min(at_0, at_1)
        rows = rows.mirror() if at_1 < at_0 else rows
        result = extremes_of_recalls(
            *rows.lower,
            a,
            self.level,
            n_families=n_families,
            offset=origin / slope,
            upper_rows=rows.upper,
            has_ratio=self.has_ratios,
        )
        lower, upper = result.difference
        return _ComparedPairs(
            (slope * lower, slope * upper), result.ratio, result.p_value, result.p_value
        )

    def _compare_limits(
        self, metric: Metric, sample: Sample, values: FloatArray, n_families: int
    ) -> _ComparedPairs:
        """Compare all pairs of segments by limits of each; the ratio by simultaneous limits."""
        request, doubtful = IntervalRequest(GATE, self.level), None
        if sample.strata is not None and sample.is_partly_labelled:
            request = IntervalRequest(COMPARED, self.level)
            doubtful = corrected_score(metric, sample.counts, sample.strata).extremes()

        def limits_at(z: float) -> Limits:
            return metric_limits(metric, sample, values, replace(request, level=normal_level(z)))

        simultaneous = _simultaneous_limits(metric, sample, values, request, n_families)
        if np.isnan(simultaneous).any():
            return _ComparedPairs(note=_NO_INTERVAL)
        correlation = None
        if sample.clusters is not None:
            correlation = correlation_of_pairs(metric.interval, sample)
        difference, p_value = extremes_of_limits(
            values,
            limits_at,
            self.level,
            n_families=n_families,
            correlation=correlation,
            doubtful=doubtful,
        )
        return _ComparedPairs(difference, extreme_ratio(*simultaneous), p_value)

    def _compare_partly_labelled(
        self, metric: Metric, sample: Sample, values: FloatArray, n_families: int
    ) -> _ComparedPairs:
        """Compare all pairs of segments of which some rows lack a true label."""
        strata, c = sample.strata, sample.counts
        assert strata is not None
        if strata.is_bounded and has_limits(metric, c):
            both, (slope, origin) = completions(metric, c, strata), linear_form(metric)
            range_ = origin, slope + origin
            return self._compare_recalls(both.rows, both.weight, range_, n_families)
        if not is_share(metric):
            return self._compare_limits(metric, sample, values, n_families)
        share = share_strata(metric, c, strata)
        difference, p = largest_share_difference(share, values, self.level, n_families)
        request = IntervalRequest(GATE, self.level)
        simultaneous = _simultaneous_limits(metric, sample, values, request, n_families)
        return _ComparedPairs(difference, extreme_ratio(*simultaneous), p)

    def _has_support(self, metric: Metric, c: ClassCounts) -> BoolArray:
        has_rows = metric.smallest_denominator(c) >= self.min_support
        return has_rows & ~metric.interval.lacks_label(c) if self.min_support else has_rows


def _simultaneous_limits(
    metric: Metric, sample: Sample, values: FloatArray, request: IntervalRequest, n_families: int
) -> Limits:
    """Return limits of all segments that hold at once, in so many families."""
    return metric_limits(metric, sample, values, request.bonferroni(n_families * len(values)))


def recalls_of_equal_labels(metric: Metric, sample: Sample) -> tuple[RowsBySide, FloatArray] | None:
    """Return effective rows and weights, of the shape (segments, labels).

    None if the metric is not linear in recalls, or if segments have different labels.
    """
    c = sample.counts
    r = metric.interval.linear_recalls(c)
    if r is None:
        return None
    order = np.lexsort((r.label, r.segment))
    for segments, entries in group_by_label_count(r.segment, c.n_segments, order):
        has_same_labels = (r.label[entries] == r.label[entries[0]]).all()
        if len(segments) == c.n_segments and has_same_labels:
            return r.effective_rows().at(entries), r.share[entries]
    return None


def _homogeneity_tests(
    metric: Metric, sample: Sample
) -> tuple[tuple[float, float, float], str | None]:
    """Return Q, the p-values of equal scores and of equal recalls, and a note if one is undefined.

    They are undefined unless the metric is linear in recalls of the same labels in all segments.
    """
    if sample.is_partly_labelled:
        return _UNDEFINED_TESTS, "rows lack a true label, so there is no test of all segments"
    recalls = recalls_of_equal_labels(metric, sample)
    if recalls is None:
        is_linear = metric.interval.linear_recalls(sample.counts) is not None
        different = "the segments have different labels"
        return _UNDEFINED_TESTS, different if is_linear else "there is no test of all segments"
    rows, a = recalls
    x, n = rows.fewer
    if not np.isfinite(n).all():
        return _UNDEFINED_TESTS, "the weights are too large or too small for a test"
    clusters = sample.clusters
    if clusters is not None and not clusters.are_rows:
        return _clustered_equality_tests(clustered_means(metric.interval, sample))
    tests = (*score_homogeneity_test(x, n, a), recall_homogeneity_test(x, n, a))
    return tests, _FEW_ROWS if np.isnan(tests[-1]) else None


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
