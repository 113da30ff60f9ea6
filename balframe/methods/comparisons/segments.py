"""Segments and their references: scores, confidence intervals of differences, p-values."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from functools import partial
from operator import attrgetter
from typing import Any

import numpy as np

from balframe.api.interval_estimates import design, from_limits_of_both, kept, n_clusters
from balframe.api.metric_selection import Adjust, value_of
from balframe.core.array_types import BoolArray, FloatArray, Int64Array
from balframe.core.class_counts import ClassCounts, comparing
from balframe.core.safe_divide import ratio
from balframe.core.sample import Sample
from balframe.frames.adapter import Name
from balframe.frames.counted_frame import CountedFrame
from balframe.metrics.registry import Metric
from balframe.stats.base import Interval, IntervalRequest
from balframe.stats.batching import by_number_of_labels, once_for_equals
from balframe.stats.cluster_influence import Influence, correlation
from balframe.stats.clustered_means import MeansOfClusters, means_of_clusters
from balframe.stats.differences import scas_difference
from balframe.stats.multiple_testing import adjusted_within

# Differences of two segments whose rows come in clusters, which both may share.


@dataclass(frozen=True, slots=True)
class ClusteredDifference:
    """Limits and p-values of differences, and whether the rows of both sides are independent."""

    lower: FloatArray
    upper: FloatArray
    p_value: FloatArray
    are_independent: BoolArray


def clustered_difference(
    name: str,
    metric: Metric,
    sides: tuple[Sample, Sample],
    scores: tuple[FloatArray, FloatArray],
    request: IntervalRequest,
) -> ClusteredDifference:
    """Find limits from those of both sides and their correlation, and test that it is 0.

    The p-value is undefined for a metric that is not linear in ratios.
    """
    one, other = (metric.interval.influence(side) for side in sides)
    n = len(scores[0])
    if one is None or other is None:
        low, high, p = np.full((3, n), np.nan)
        return ClusteredDifference(low, high, p, np.zeros(n, np.bool_))
    r = correlation(one, other)
    lower, upper = from_limits_of_both(name, metric, sides, scores, request, r)
    p = np.full(n, np.nan)
    if metric.interval.is_linear:
        p = _clustered_p_values(metric, sides, one.minus(other))
    clusters = [side.clusters for side in sides]
    assert clusters[0] is not None
    assert clusters[1] is not None
    at, _ = one.shared_with(other)
    are_shared = np.bincount(one.segment[at], minlength=n) > 0
    single = clusters[0].are_single & clusters[1].are_single
    return ClusteredDifference(lower, upper, p, single & ~are_shared)


def _clustered_p_values(
    metric: Metric, sides: tuple[Sample, Sample], found: Influence
) -> FloatArray:
    """Test by t; where no cluster moves the difference, with ratios pooled over both sides."""
    one, other = (means_of_clusters(metric.interval, side) for side in sides)
    if one is None or other is None:
        return np.full(len(found.variance), np.nan)
    difference = one.value - other.value
    p = found.p_value(difference)
    still = (found.variance == 0) & (difference != 0)
    if still.any():
        p[still] = _pooled_influence(one, other).p_value(difference)[still]
    return p


def _pooled_influence(one: MeansOfClusters, other: MeansOfClusters) -> Influence:
    """Find the influence of the clusters if both sides had the same ratios."""
    mean = (one.mean * one.n + other.mean * other.n) / (one.n + other.n)
    return one.influence_around(mean).minus(other.influence_around(mean))


_STACKED_COLUMNS = (
    *("n_labels", "min_support", "estimate", "reference_estimate", "difference", "ratio"),
    *("lower", "upper", "p_value"),
)
_DESIGN_COLUMNS = ("effective_clusters", "design_effect")


RecallDifferenceMethod = Callable[..., Sequence[FloatArray]]


@dataclass(frozen=True, slots=True)
class Comparison:
    """A metric of segments beside that of their references.

    `reference` is the position of the name of each reference among the `names`.
    """

    names: tuple[str, ...]
    reference: Int64Array
    n_labels: Int64Array
    min_support: Int64Array
    estimate: FloatArray
    reference_estimate: FloatArray
    lower: FloatArray
    upper: FloatArray
    p_value: FloatArray
    effective_clusters: FloatArray
    design_effect: FloatArray

    @property
    def difference(self) -> FloatArray:
        """How much the segment scores more than its reference."""
        return self.estimate - self.reference_estimate

    @property
    def ratio(self) -> FloatArray:
        """The segment's score over its reference's; undefined where either is below 0."""
        is_negative = (self.estimate < 0) | (self.reference_estimate < 0)
        return np.where(is_negative, np.nan, ratio(self.estimate, self.reference_estimate))

    @classmethod
    def concat(cls, parts: Sequence["Comparison"]) -> "Comparison":
        """Put several behind each other."""
        if len(parts) == 1:
            return parts[0]
        names = tuple(sorted({name for part in parts for name in part.names}))
        renamed = [part.with_names(names) for part in parts]
        columns = ([getattr(part, name) for part in renamed] for name in cls._array_fields())
        return cls(names, *(np.concatenate(arrays) for arrays in columns))

    def with_names(self, names: Sequence[str]) -> "Comparison":
        """Take the names of references from a longer list."""
        positions = np.array([names.index(name) for name in self.names], np.int64)
        return replace(self, names=tuple(names), reference=positions[self.reference])

    def at(self, rows: Int64Array) -> "Comparison":
        """Take these rows."""
        return Comparison(self.names, *(getattr(self, name)[rows] for name in self._array_fields()))

    @classmethod
    def _array_fields(cls) -> list[str]:
        return [one.name for one in fields(cls)][1:]

    def without_test(self, rows: BoolArray) -> "Comparison":
        """Leave limits and p-values of these rows undefined."""
        lower, upper, p = (
            np.where(rows, np.nan, values) for values in (self.lower, self.upper, self.p_value)
        )
        return replace(self, lower=lower, upper=upper, p_value=p)


def differences(
    metrics: Mapping[str, Metric], one: Sample, other: Sample, name: str, request: IntervalRequest
) -> dict[str, Comparison]:
    """Compare two sides, which share no rows, on the labels that are present in both."""
    first, second = restrict_to_shared_labels(one.counts, other.counts)
    sides = replace(one, counts=first), replace(other, counts=second)
    compute = (
        _independent_limits_and_p_values
        if one.clusters is None or other.clusters is None
        else _clustered_limits_and_p_values
    )
    out = {}
    for metric_name, metric in metrics.items():
        estimate, reference = (value_of(metric, c) for c in (first, second))
        difference = estimate - reference
        with np.errstate(invalid="ignore", divide="ignore"):
            lower, upper, p = compute(metric_name, metric, sides, (estimate, reference), request)
        width = metric.range[1] - metric.range[0]
        lower, upper = kept(lower, upper, difference, (-width, width), around=True)
        out[metric_name] = Comparison(
            (name,),
            np.zeros(first.n_segments, np.int64),
            first.n_present,
            first.min_support,
            estimate,
            reference,
            lower,
            upper,
            p,
            *design(metric, sides[0]),
        )
    return out


def _independent_limits_and_p_values(
    name: str,
    metric: Metric,
    sides: tuple[Sample, Sample],
    scores: tuple[FloatArray, FloatArray],
    request: IntervalRequest,
) -> Sequence[FloatArray]:
    """Find limits of differences of independent scores, and p-values where there is a test."""
    one, other = (side.counts for side in sides)
    compute = partial(scas_difference, level=request.level)
    comparable = np.isfinite(scores[0] - scores[1])
    found = recall_difference_limits(metric.interval, one, other, comparable, compute, 3)
    if found is not None:
        return list(found)
    limits = from_limits_of_both(name, metric, sides, scores, request)
    return [*limits, np.full(len(comparable), np.nan)]


def _clustered_limits_and_p_values(
    name: str,
    metric: Metric,
    sides: tuple[Sample, Sample],
    scores: tuple[FloatArray, FloatArray],
    request: IntervalRequest,
) -> Sequence[FloatArray]:
    """Find the same of scores that may share clusters; where each row is one, as without."""
    found = clustered_difference(name, metric, sides, scores, request)
    columns = [found.lower, found.upper, found.p_value]
    alone = np.flatnonzero(found.are_independent)
    if len(alone):
        one, other = (replace(side.at(alone), clusters=None) for side in sides)
        own = _independent_limits_and_p_values(
            name, metric, (one, other), (scores[0][alone], scores[1][alone]), request
        )
        for column, values in zip(columns, own, strict=True):
            column[alone] = values
    return columns


def restrict_to_shared_labels(
    one: ClassCounts, other: ClassCounts
) -> tuple[ClassCounts, ClassCounts]:
    """Let averages over labels look at the labels that are present on both sides."""
    keys, other_keys = (c.segment * c.n_labels + c.label for c in (one, other))
    shared = np.intersect1d(keys[one.present], other_keys[other.present], assume_unique=True)
    return comparing(one, np.isin(keys, shared)), comparing(other, np.isin(other_keys, shared))


def recall_difference_limits(
    interval: Interval,
    one: ClassCounts,
    other: ClassCounts,
    comparable: BoolArray,
    compute: RecallDifferenceMethod,
    n_columns: int,
) -> FloatArray | None:
    """Find limits of differences, where the metric is linear in recalls; None where it is not.

    `compute` takes x and n of either side and the weights, and returns as many columns as given:
    the limits of the difference of the means of recalls, and what else it finds.
    """
    if not interval.is_linear or interval.linear_recalls(one) is None:
        return None
    found = np.full((n_columns, len(comparable)), np.nan)
    for pairs, values in recall_pairs(interval, one, other, comparable):
        found[:, pairs] = once_for_equals(compute, values)
    none = interval.rescaled(one, np.zeros(len(comparable)))
    found[:2] = [interval.rescaled(one, limit) - none for limit in found[:2]]
    return found


def recall_pairs(
    interval: Interval, one: ClassCounts, other: ClassCounts, comparable: BoolArray
) -> Iterator[tuple[Int64Array, Sequence[FloatArray]]]:
    """Put pairs of equally many labels together: x and n of either side, and the weights."""
    columns: list[FloatArray] = []
    for c in (one, other):
        r = interval.linear_recalls(c)
        assert r is not None, "the metric is linear in recalls"
        entries = np.flatnonzero(comparable[r.segment])
        own = r.at(entries[np.lexsort((r.label[entries], r.segment[entries]))])
        x, n, weight = own.in_effective_rows()
        columns += x, n
    order = np.arange(len(own.segment))
    for pairs, entries in by_number_of_labels(own.segment, len(comparable), order):
        values = [column[entries] for column in (*columns, weight)]
        known = np.isfinite(np.hstack(values)).all(axis=1)
        yield pairs[known], [value[known] for value in values]


def gap_columns(
    reading: CountedFrame, sample: Sample, tables: Mapping[str, Comparison], adjust: Adjust
) -> dict[Name, Any]:
    """Put the metrics of each segment one below the other."""

    def stacked(column: Callable[[Comparison], Any]) -> Any:  # noqa: ANN401 (of any dtype)
        return np.column_stack([column(table) for table in tables.values()]).ravel()

    names = sorted({name for table in tables.values() for name in table.names})
    c, (_, first) = sample.counts, reading.cells.segments
    margin = reading.margin_of_segments()
    shown = [*_STACKED_COLUMNS, *(_DESIGN_COLUMNS if sample.clusters is not None else ())]
    tests = [adjusted_within(table.p_value, margin, adjust) for table in tables.values()]
    metric = np.tile(np.arange(len(tables)), c.n_segments)
    reference = stacked(lambda table: table.with_names(names).reference)
    return reading.by_columns(np.repeat(first, len(tables))) | {
        "n": np.repeat(c.n, len(tables)),
        "metric": reading.text_column(list(tables), metric),
        "reference": reading.text_column(names, reference),
        "p_adjusted": np.column_stack([p for p, _ in tests]).ravel(),
        "n_tests": np.column_stack([size for _, size in tests]).ravel(),
        **{name: stacked(attrgetter(name)) for name in shown},
        **{name: np.repeat(n, len(tables)) for name, n in n_clusters(sample).items()},
    }
