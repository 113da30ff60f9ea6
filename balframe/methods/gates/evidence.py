"""The evidence for rules: the values of their quantities, with confidence intervals."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from balframe.api.interval_estimates import design_effects, metric_limits
from balframe.api.metric_selection import MetricSelection, sample_values, segment_counts
from balframe.core.array_types import BoolArray, FloatArray, Int64Array
from balframe.core.sample import Sample
from balframe.errors import UnknownNameError
from balframe.frames.adapter import Name
from balframe.frames.counted_frame import CountedFrame
from balframe.methods.comparisons.extremes import ExtremesSearch, SegmentExtremes
from balframe.methods.gates.baseline import (
    Baseline,
    BaselineScores,
    ClusterStatistics,
    difference_limits,
)
from balframe.methods.gates.rules import Rule
from balframe.metrics.partly_labelled import least_doubt
from balframe.metrics.registry import Metric
from balframe.stats.base import GATE, IntervalRequest

# by quantity, positions of segments, and number of groups whose limits hold simultaneously
_GroupExtremes = dict[tuple[str, bytes, int], SegmentExtremes]


@dataclass(frozen=True, slots=True)
class Evidence:
    """Values of the quantity of a rule with their limits, NaN where there are none.

    `rule` is the position of the rule. A value is that of a segment or, with `is_disparity`, of a
    group of segments, named by its first one. `is_evaluable` where it is defined and has enough
    rows. A disparity `is_complete` if no segment of the group was left out. `baseline_scores` are
    there if the values are differences from a baseline, and `clusters` if rows are in clusters.
    `is_absent` where a segment is expected and has no rows. `least_doubt` is there if rows lack a
    true label: that about these rows which leaves the rule undecided. So are `n_labelled`, the rows
    that have one.
    """

    rule: int
    segments: Int64Array
    estimate: FloatArray | Int64Array
    lower: FloatArray | Int64Array
    upper: FloatArray | Int64Array
    is_evaluable: BoolArray
    is_disparity: bool = False
    is_complete: bool = True
    baseline_scores: BaselineScores | None = None
    clusters: ClusterStatistics | None = None
    is_absent: BoolArray | None = None
    least_doubt: FloatArray | None = None
    n_labelled: Int64Array | None = None


@dataclass(frozen=True, slots=True)
class EvidenceRequest:
    """Which evidence rules need: with or without limits, at which level, on how many rows."""

    with_limits: bool
    simultaneous: bool
    level: float
    min_support: int

    def collect(
        self,
        rules: Sequence[Rule],
        selection: MetricSelection,
        counted_frame: CountedFrame,
        baseline: Baseline | None,
    ) -> list[Evidence]:
        """Return the evidence for all rules; its segments are those of the baseline, if any."""
        sample, extremes = selection.sample(counted_frame), _GroupExtremes()
        evidence = [
            item
            for number, rule in enumerate(rules)
            if not rule.is_relative
            for item in self._absolute_evidence(number, rule, sample, counted_frame, extremes)
        ]
        if baseline is None:
            return evidence
        positions = baseline.positions
        return [
            *(replace(item, segments=positions[item.segments]) for item in evidence),
            *(
                self._difference_evidence(number, rule, baseline)
                for number, rule in enumerate(rules)
                if rule.is_relative
            ),
        ]

    def _absolute_evidence(
        self,
        number: int,
        rule: Rule,
        sample: Sample,
        counted_frame: CountedFrame,
        extremes: _GroupExtremes,
    ) -> Iterator[Evidence]:
        """Iterate over the evidence on all segments of a rule, or on each group of them."""
        if not rule.is_over_segments:
            segments = rule_segments(rule, counted_frame)
            yield self._segment_evidence(number, rule, sample, counted_frame, segments)
            return
        groups = rule_groups(rule, counted_frame)
        margins = [int(counted_frame.segment_margins()[segments[0]]) for segments in groups]
        for segments, margin in zip(groups, margins, strict=True):
            if rule.disparity is None:
                n = np.array([(sample.at(segments).counts.n > 0).sum()])
                yield number_of_segments(number, segments, n)
                continue
            n_groups = margins.count(margin) if self.simultaneous else 1
            yield self._disparity_evidence(number, rule, sample, segments, n_groups, extremes)

    def _segment_evidence(
        self,
        number: int,
        rule: Rule,
        sample: Sample,
        counted_frame: CountedFrame,
        segments: Int64Array,
    ) -> Evidence:
        """Score segments on a metric, or count their rows or labels if there is none."""
        sample = sample.at(segments)
        c, metric = sample.counts, rule.metric
        clusters = _cluster_statistics(metric, sample)
        if metric is None:
            n = segment_counts(c, sample.strata)[rule.quantity]
            return Evidence(number, segments, n, n, n, np.ones(len(n), np.bool_), clusters=clusters)
        estimate = sample_values(metric, sample)
        lower, upper, doubt = np.full((3, len(segments)), np.nan)
        is_evaluable = ~np.isnan(estimate) & (metric.smallest_denominator(c) >= self.min_support)
        for family in self.families(is_evaluable, segments, counted_frame):
            request = IntervalRequest(GATE, self.level).bonferroni(
                len(family) if self.simultaneous else 1
            )
            members = sample.at(family)
            lower[family], upper[family] = metric_limits(metric, members, estimate[family], request)
            if members.strata is not None and not members.strata.is_bounded:
                doubt[family] = least_doubt(
                    metric,
                    members.counts,
                    members.strata,
                    rule.bound,
                    request.method,
                    request.level,
                )
        return Evidence(
            number,
            segments,
            estimate,
            lower,
            upper,
            is_evaluable,
            clusters=clusters,
            least_doubt=None if sample.strata is None else doubt,
            n_labelled=None if sample.strata is None else c.n,
        )

    def _difference_evidence(self, number: int, rule: Rule, baseline: Baseline) -> Evidence:
        """Return the differences of the scores of segments from those of the baseline."""
        metric = rule.metric
        assert metric is not None
        segments = rule_segments(rule, baseline.counted_frame)
        scores = BaselineScores.of(metric, baseline, segments)
        difference = scores.difference
        lower, upper = np.full((2, len(segments)), np.nan)
        is_evaluable = ~np.isnan(difference) & (scores.support >= self.min_support)
        for family in self.families(is_evaluable, segments, baseline.counted_frame):
            request = IntervalRequest(GATE, self.level)
            lower[family], upper[family] = difference_limits(
                metric,
                baseline,
                segments[family],
                difference[family],
                request.bonferroni(len(family) if self.simultaneous else 1),
            )
        return Evidence(
            number,
            segments,
            difference,
            lower,
            upper,
            is_evaluable,
            baseline_scores=scores,
            clusters=baseline.cluster_statistics(metric, segments),
        )

    def families(
        self, is_evaluable: BoolArray, segments: Int64Array, counted_frame: CountedFrame
    ) -> Iterator[Int64Array]:
        """Iterate over the evaluable segments of each margin, whose limits hold simultaneously."""
        evaluable = np.flatnonzero(is_evaluable)
        if not self.with_limits or not len(evaluable):
            return
        margin = counted_frame.segment_margins()[segments[evaluable]]
        for code in np.unique(margin):
            yield evaluable[margin == code]

    def _disparity_evidence(
        self,
        number: int,
        rule: Rule,
        sample: Sample,
        segments: Int64Array,
        n_groups: int,
        extremes_by_key: _GroupExtremes,
    ) -> Evidence:
        """Return the difference or ratio of the highest and the lowest of a group of segments."""
        assert rule.metric is not None
        assert rule.disparity is not None
        key = rule.quantity, segments.tobytes(), n_groups
        if key not in extremes_by_key:  # other rules may bound the same difference, or the ratio
            search = ExtremesSearch(self.level, self.min_support)
            extremes_by_key[key] = search.find(
                rule.quantity, rule.metric, sample.at(segments), segments, n_groups
            )
        extremes = extremes_by_key[key]
        value, limits = {
            "difference": (extremes.difference, extremes.difference_limits),
            "ratio": (extremes.ratio, extremes.ratio_limits),
        }[rule.disparity]
        estimate = np.array([value])
        lower, upper = (np.array([limit if self.with_limits else np.nan]) for limit in limits)
        return Evidence(
            number,
            segments[:1],
            estimate,
            lower,
            upper,
            ~np.isnan(estimate),
            is_disparity=True,
            is_complete=not extremes.n_left_out,
        )

    def simultaneous_level(self, n: int) -> float:
        """Return the level of each of n limits that hold simultaneously, if they have to."""
        return 1 - (1 - self.level) / (n if self.simultaneous else 1)


def number_of_segments(rule: int, segments: Int64Array, n: Int64Array) -> Evidence:
    """Return the number of segments of a group that have rows."""
    return Evidence(rule, segments[:1], n, n, n, np.ones(1, np.bool_), is_disparity=True)


def _cluster_statistics(metric: Metric | None, sample: Sample) -> ClusterStatistics | None:
    """Return the cluster statistics of a metric; those of a count of rows are undefined."""
    if sample.clusters is None:
        return None
    undefined = np.full(sample.counts.n_segments, np.nan)
    effective, effect = (undefined, undefined) if metric is None else design_effects(metric, sample)
    return sample.clusters.n, effective, effect


# The segments that a rule applies to.


def rule_segments(rule: Rule, counted_frame: CountedFrame) -> Int64Array:
    """List the segments that a rule applies to, in order."""
    return np.sort(np.concatenate([np.zeros(0, np.int64), *rule_groups(rule, counted_frame)]))


def rule_groups(rule: Rule, counted_frame: CountedFrame) -> list[Int64Array]:
    """List the segments that a rule applies to, by group."""
    if not len(counted_frame.cells.n):
        return []
    codes = _where_codes(rule, counted_frame)
    _, first = counted_frame.cells.segments
    segments_by_group = []
    for group in counted_frame.groups():
        if not set(codes) <= set(group.by) or (rule.is_over_segments and not group.by):
            continue
        is_selected = np.ones(len(group.segments), np.bool_)
        for name, value_codes in codes.items():
            is_selected &= np.isin(counted_frame.codes[name][first[group.segments]], value_codes)
        if is_selected.any():
            segments_by_group.append(group.segments[is_selected])
    return segments_by_group


def _where_codes(rule: Rule, counted_frame: CountedFrame) -> dict[Name, list[int]]:
    return {
        name: [counted_frame.level_code(name, value) for value in values]
        for name, values in rule.where.items()
    }


def check_applies(rule: Rule, counted_frame: CountedFrame) -> None:
    """Raise if a value of 'where' does not occur, or if no segment has these values."""
    if not len(counted_frame.cells.n):
        return
    for name, codes in _where_codes(rule, counted_frame).items():
        for value, code in zip(rule.where[name], codes, strict=True):
            if code not in counted_frame.codes[name]:
                levels = counted_frame.adapter.python_values(counted_frame.by[name])
                is_text = any(isinstance(level, str) for level in levels)
                spelling = (
                    "its spelling"
                    if isinstance(value, str) or not is_text
                    else "its quotes, as of text"
                )
                raise UnknownNameError(
                    f"the rule {rule.text!r} applies where {name!r} is {value!r}, which does not "
                    f"occur in the data. Check {spelling}, or remove it from 'where'. A segment "
                    "that may be absent belongs in `expect` of `check`."
                )
    if not rule_groups(rule, counted_frame):
        conditions = {name: list(values) for name, values in rule.where.items()}
        raise UnknownNameError(
            f"the rule {rule.text!r} applies where {conditions}, and no segment has these values. "
            "Check 'where' of the rule."
        )
