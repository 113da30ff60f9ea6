"""Differences of segments from their references: scores, confidence intervals, p-values."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from functools import partial
from operator import attrgetter
from typing import Any

import numpy as np

from balframe.api.columns import BETTER, NOT_DECIDED, VERDICTS, WORSE
from balframe.api.interval_estimates import (
    clip_difference_limits,
    cluster_counts,
    design_effects,
    mover_difference_limits,
)
from balframe.api.metric_selection import Adjust, sample_values, segment_counts
from balframe.core.array_types import BoolArray, FloatArray, Int64Array
from balframe.core.class_counts import ClassCounts, comparing
from balframe.core.safe_divide import ratio
from balframe.core.sample import Sample
from balframe.frames.adapter import Name
from balframe.frames.counted_frame import CountedFrame
from balframe.metrics.partly_labelled import corrected_differences
from balframe.metrics.registry import Metric
from balframe.stats.base import GATE, Interval, IntervalRequest
from balframe.stats.batching import compute_unique_rows, group_by_label_count
from balframe.stats.clustered_differences import (
    clustered_difference_p_values,
    shared_cluster_correlation,
)
from balframe.stats.clustered_means import clustered_means
from balframe.stats.differences import scas_difference
from balframe.stats.effective_sample_size import RowsBySide
from balframe.stats.mover_tests import mover_p_values
from balframe.stats.multiple_testing import adjust_within_families
from balframe.stats.proportions import Limits

_STACKED_COLUMNS = (
    *("n_labels", "min_support", "estimate", "reference_estimate", "difference", "ratio"),
    *("lower", "upper", "p_value"),
)
_DESIGN_COLUMNS = ("effective_clusters", "design_effect")


RecallDifferenceMethod = Callable[..., Sequence[FloatArray]]


@dataclass(frozen=True, slots=True)
class Comparison:
    """A metric of segments and of their references.

    `reference` is the position of each reference's name in `names`.
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
        """The estimate less that of the reference."""
        return self.estimate - self.reference_estimate

    @property
    def ratio(self) -> FloatArray:
        """The estimate divided by that of the reference; NaN if either is below 0."""
        is_negative = (self.estimate < 0) | (self.reference_estimate < 0)
        return np.where(is_negative, np.nan, ratio(self.estimate, self.reference_estimate))

    @classmethod
    def concat(cls, parts: Sequence["Comparison"]) -> "Comparison":
        """Return several comparisons as one, with the references' names in one list."""
        if len(parts) == 1:
            return parts[0]
        names = tuple(sorted({name for part in parts for name in part.names}))
        renamed = [part.with_names(names) for part in parts]
        columns = ([getattr(part, name) for part in renamed] for name in cls._array_fields())
        return cls(names, *(np.concatenate(arrays) for arrays in columns))

    def with_names(self, names: Sequence[str]) -> "Comparison":
        """Return the same rows with a longer list of references' names."""
        positions = np.array([names.index(name) for name in self.names], np.int64)
        return replace(self, names=tuple(names), reference=positions[self.reference])

    def at(self, rows: Int64Array) -> "Comparison":
        """Take these rows."""
        return Comparison(self.names, *(getattr(self, name)[rows] for name in self._array_fields()))

    @classmethod
    def _array_fields(cls) -> list[str]:
        return [field.name for field in fields(cls)][1:]

    def without_test(self, rows: BoolArray) -> "Comparison":
        """Return the rows with limits and p-values of these set to NaN."""
        lower, upper, p = (
            np.where(rows, np.nan, values) for values in (self.lower, self.upper, self.p_value)
        )
        return replace(self, lower=lower, upper=upper, p_value=p)


def differences(
    metrics: Mapping[str, Metric],
    sample: Sample,
    reference: Sample,
    reference_name: str,
    request: IntervalRequest,
) -> dict[str, Comparison]:
    """Compare segments with references, which share no rows, on the labels present in both."""
    counts = restrict_to_shared_labels(sample.counts, reference.counts)
    sides = replace(sample, counts=counts[0]), replace(reference, counts=counts[1])
    has_clusters = sample.clusters is not None and reference.clusters is not None
    counts = sides[0].counts, sides[1].counts
    out = {}
    for name, metric in metrics.items():
        compute = _independent_limits_and_p_values
        if has_clusters and not metric.interval.is_of_clusters:
            compute = _clustered_limits_and_p_values
        if sample.strata is not None:
            compute = _partly_labelled_limits_and_p_values
        estimate, reference_estimate = (sample_values(metric, side) for side in sides)
        difference = estimate - reference_estimate
        scores = (estimate, reference_estimate)
        with np.errstate(invalid="ignore", divide="ignore", over="ignore"):
            lower, upper, p = compute(metric, sides, scores, request)
        lower, upper = clip_difference_limits((lower, upper), difference, metric)
        out[name] = Comparison(
            (reference_name,),
            np.zeros(counts[0].n_segments, np.int64),
            counts[0].n_present,
            counts[0].min_support,
            estimate,
            reference_estimate,
            lower,
            upper,
            p,
            *design_effects(metric, sides[0]),
        )
    return out


def _independent_limits_and_p_values(
    metric: Metric,
    sides: tuple[Sample, Sample],
    scores: tuple[FloatArray, FloatArray],
    request: IntervalRequest,
) -> Sequence[FloatArray]:
    """Return limits and p-values if rows are independent; p-values are NaN without a test.

    A metric that is linearised has neither where a side has no limits that decide.
    """
    first, second = (side.counts for side in sides)
    compute = partial(scas_difference, level=request.level)
    comparable = np.isfinite(scores[0] - scores[1])
    columns = recall_difference_limits(metric.interval, first, second, comparable, compute, 3)
    if columns is not None:
        if metric.interval.labels_depend_on_predictions:
            fill_limits(columns[:2], metric, sides, scores, request)
        return list(columns)
    exact = [
        metric.interval.exact_limits(side, score) for side, score in zip(sides, scores, strict=True)
    ]
    if exact[0] is None or exact[1] is None:
        limits = mover_difference_limits(metric, sides, scores, request)
        return [*limits, np.full(len(comparable), np.nan)]
    decisive = np.array(
        mover_difference_limits(metric, sides, scores, IntervalRequest(GATE, request.level))
    )
    p = mover_p_values(exact[0], exact[1], (decisive[0], decisive[1]), request.level)
    return [*decisive, p]


def _partly_labelled_limits_and_p_values(
    metric: Metric,
    sides: tuple[Sample, Sample],
    scores: tuple[FloatArray, FloatArray],
    request: IntervalRequest,
) -> Sequence[FloatArray]:
    """Return limits and p-values of all rows; those of rows where all have a true label."""
    first, second = (side.strata for side in sides)
    assert first is not None
    assert second is not None
    if not len(scores[0]):
        return list(np.zeros((3, 0)))
    counts = sides[0].counts, sides[1].counts
    limits, p = corrected_differences(metric, counts, (first, second), request.level)
    columns = [*limits, np.where(np.isfinite(scores[0] - scores[1]), p, np.nan)]
    whole = np.flatnonzero((first.n_labelled == first.n) & (second.n_labelled == second.n))
    if len(whole):
        rows, others = (replace(side.at(whole), strata=None) for side in sides)
        estimates = scores[0][whole], scores[1][whole]
        of_rows = _independent_limits_and_p_values(metric, (rows, others), estimates, request)
        for column, values in zip(columns, of_rows, strict=True):
            column[whole] = values
    return columns


def fill_limits(
    limits: FloatArray,
    metric: Metric,
    sides: tuple[Sample, Sample],
    scores: tuple[FloatArray, FloatArray],
    request: IntervalRequest,
) -> None:
    """Fill undefined limits of differences by those of both sides."""
    undefined = np.flatnonzero(np.isnan(limits[0]) & np.isfinite(scores[0] - scores[1]))
    if len(undefined):
        first, second = (side.at(undefined) for side in sides)
        estimates = (scores[0][undefined], scores[1][undefined])
        limits[:, undefined] = mover_difference_limits(metric, (first, second), estimates, request)


def _clustered_limits_and_p_values(
    metric: Metric,
    sides: tuple[Sample, Sample],
    scores: tuple[FloatArray, FloatArray],
    request: IntervalRequest,
) -> Sequence[FloatArray]:
    """Return limits and p-values of sides that may share clusters.

    The limits are those of both sides with their correlation. The p-value is that of the limits,
    and NaN for a metric that is not linear in ratios. If each row is a cluster of its own, rows are
    independent.
    """
    first, second = (metric.interval.influence(side) for side in sides)
    n = len(scores[0])
    if first is None or second is None:
        return list(np.full((3, n), np.nan))
    r = shared_cluster_correlation(metric.interval, *sides, (first, second))
    limits = _clustered_limits(metric, sides, scores, request, r)
    p = np.full(n, np.nan)
    means, other_means = (clustered_means(metric.interval, side) for side in sides)
    if metric.interval.is_linear and means is not None and other_means is not None:
        p = clustered_difference_p_values(
            (means, other_means), r, scores[0] - scores[1], limits, request.level
        )
    clusters, reference_clusters = (side.clusters for side in sides)
    assert clusters is not None
    assert reference_clusters is not None
    position, _ = first.shared_pairs(second)
    has_shared = np.bincount(first.segment[position], minlength=n) > 0
    are_single = clusters.are_single & reference_clusters.are_single
    independent = np.flatnonzero(are_single & ~has_shared)
    columns = [*limits, p]
    if len(independent):
        first_side, second_side = (replace(side.at(independent), clusters=None) for side in sides)
        estimates = (scores[0][independent], scores[1][independent])
        independent_columns = _independent_limits_and_p_values(
            metric, (first_side, second_side), estimates, request
        )
        for column, values in zip(columns, independent_columns, strict=True):
            column[independent] = values
    return columns


def _clustered_limits(
    metric: Metric,
    sides: tuple[Sample, Sample],
    scores: tuple[FloatArray, FloatArray],
    request: IntervalRequest,
    correlation: FloatArray,
) -> Limits:
    """Return limits from those of both sides that decide, or from those of `report` without them.

    Limits for decisions keep their level in families of many segments.
    """
    decisive = IntervalRequest(GATE, request.level)
    lower, upper = mover_difference_limits(metric, sides, scores, decisive, correlation)
    undefined = np.flatnonzero(np.isnan(lower) & np.isfinite(scores[0] - scores[1]))
    if len(undefined) and not metric.interval.is_linear:
        few = tuple(side.at(undefined) for side in sides)
        few_scores = tuple(score[undefined] for score in scores)
        lower[undefined], upper[undefined] = mover_difference_limits(
            metric,
            (few[0], few[1]),
            (few_scores[0], few_scores[1]),
            request,
            correlation[undefined],
        )
    return lower, upper


def restrict_to_shared_labels(
    first: ClassCounts, second: ClassCounts
) -> tuple[ClassCounts, ClassCounts]:
    """Return class counts whose averages over labels use the labels present in both."""
    keys, second_keys = (c.segment * c.n_labels + c.label for c in (first, second))
    shared = np.intersect1d(keys[first.present], second_keys[second.present], assume_unique=True)
    return comparing(first, np.isin(keys, shared)), comparing(second, np.isin(second_keys, shared))


def recall_difference_limits(
    interval: Interval,
    first: ClassCounts,
    second: ClassCounts,
    comparable: BoolArray,
    compute: RecallDifferenceMethod,
    n_columns: int,
) -> FloatArray | None:
    """Return limits of differences of a metric that is linear in recalls; None for others.

    `compute` takes x and n of both sides and the weights, and as `upper_rows` x and n of both sides
    for the upper limit, None if these are the same. It returns `n_columns` columns, of which the
    first two are limits of the difference of mean recalls.
    """

    def compute_from_columns(*values: FloatArray) -> Sequence[FloatArray]:
        return compute(*values[:5], upper_rows=values[5:] or None)

    if not interval.is_linear or interval.linear_recalls(first) is None:
        return None
    columns = np.full((n_columns, len(comparable)), np.nan)
    if interval.labels_depend_on_predictions:
        comparable = comparable & _have_same_recalls(interval, first, second)
    for pairs, values in recall_pairs(interval, first, second, comparable):
        columns[:, pairs] = compute_unique_rows(compute_from_columns, values)
    origin = interval.rescaled(first, np.zeros(len(comparable)))
    columns[:2] = [interval.rescaled(first, limit) - origin for limit in columns[:2]]
    return columns


def _have_same_recalls(interval: Interval, first: ClassCounts, second: ClassCounts) -> BoolArray:
    """Return whether both sides of a pair have recalls of the same labels."""
    own, others = (
        np.zeros(0, np.int64) if r is None else r.segment * first.n_labels + r.label
        for r in (interval.linear_recalls(first), interval.linear_recalls(second))
    )
    differs = np.zeros(first.n_segments, np.bool_)
    differs[np.setxor1d(own, others) // max(first.n_labels, 1)] = True
    return ~differs


def recall_pairs(
    interval: Interval, first: ClassCounts, second: ClassCounts, comparable: BoolArray
) -> Iterator[tuple[Int64Array, Sequence[FloatArray]]]:
    """Yield pairs with equally many labels: x and n of both sides, and the weights.

    If rows have weights, x and n are those for the lower limit of the difference, and x and n of
    both sides for the upper one come last.
    """
    sides: list[RowsBySide] = []
    for c in (first, second):
        r = interval.linear_recalls(c)
        assert r is not None, "the metric is linear in recalls"
        entries = np.flatnonzero(comparable[r.segment])
        recalls = r.at(entries[np.lexsort((r.label[entries], r.segment[entries]))])
        sides.append(recalls.effective_rows())
    columns = [*sides[0].lower, *sides[1].for_upper, recalls.share]
    if any(side.upper is not None for side in sides):
        columns += [*sides[0].for_upper, *sides[1].lower]
    order = np.arange(len(recalls.segment))
    for pairs, entries in group_by_label_count(recalls.segment, len(comparable), order):
        values = [column[entries] for column in columns]
        is_finite = np.isfinite(np.hstack(values)).all(axis=1)
        yield pairs[is_finite], [value[is_finite] for value in values]


def verdict_codes(
    difference: FloatArray, is_significant: BoolArray, is_tested: BoolArray, better: str | None
) -> Int64Array:
    """Return the positions of the verdicts among `VERDICTS`, past their end without a test."""
    words = {"higher": (BETTER, WORSE), "lower": (WORSE, BETTER), None: ("higher", "lower")}
    above, below = map(VERDICTS.index, words[better])
    direction = np.where(difference > 0, above, below)
    is_decided = is_significant & (difference != 0)
    codes = np.where(is_decided, direction, VERDICTS.index(NOT_DECIDED))
    return np.where(is_tested, codes, len(VERDICTS))


def gap_columns(
    counted_frame: CountedFrame,
    sample: Sample,
    tables: Mapping[str, Comparison],
    metrics: Mapping[str, Metric],
    level: float,
    adjust: Adjust,
) -> dict[Name, Any]:
    """Return the columns of one row per segment and metric."""

    def stack(column: Callable[[Comparison], Any]) -> Any:  # noqa: ANN401 (of any dtype)
        return np.column_stack([column(table) for table in tables.values()]).ravel()

    names = sorted({name for table in tables.values() for name in table.names})
    c, (_, first_cells) = sample.counts, counted_frame.cells.segments
    margin = counted_frame.segment_margins()
    stacked = [*_STACKED_COLUMNS, *(_DESIGN_COLUMNS if sample.clusters is not None else ())]
    tests = [adjust_within_families(table.p_value, margin, adjust) for table in tables.values()]
    verdicts = [
        verdict_codes(tables[name].difference, p < 1 - level, np.isfinite(p), metric.better)
        for (name, metric), (p, _) in zip(metrics.items(), tests, strict=True)
    ]
    metric = np.tile(np.arange(len(tables)), c.n_segments)
    reference = stack(lambda table: table.with_names(names).reference)
    rows = segment_counts(c, sample.strata) | cluster_counts(sample)
    rows = {name: n for name, n in rows.items() if name not in stacked}
    return counted_frame.by_columns(np.repeat(first_cells, len(tables))) | {
        "metric": counted_frame.text_column(list(tables), metric),
        "reference": counted_frame.text_column(names, reference),
        "p_adjusted": np.column_stack([p for p, _ in tests]).ravel(),
        "verdict": counted_frame.text_column(VERDICTS, np.column_stack(verdicts).ravel()),
        "n_tests": np.column_stack([size for _, size in tests]).ravel(),
        **{name: stack(attrgetter(name)) for name in stacked},
        **{name: np.repeat(n, len(tables)) for name, n in rows.items()},
    }
