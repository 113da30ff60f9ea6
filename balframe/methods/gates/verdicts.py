"""From scores and confidence intervals to verdicts: pass, fail or inconclusive."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from balframe.api.metric_selection import MetricSelection
from balframe.core.array_types import FloatArray, Int64Array
from balframe.core.sample import Sample
from balframe.errors import InvalidInputError, advised, listed, parameter
from balframe.frames.adapter import Name
from balframe.frames.counted_frame import CountedFrame
from balframe.methods.gates.baseline_differences import Baseline
from balframe.methods.gates.evidence import Evidence, EvidenceRequest
from balframe.methods.gates.rules import Rule, rule_groups, rule_segments
from balframe.metrics.lookup import registered_metrics

STATUSES = ("pass", "fail", "inconclusive")
PASS, FAIL, INCONCLUSIVE = range(3)
_UNKNOWN = -1
_COUNTS = ("n", "n_labels", "baseline_n")


@dataclass(frozen=True, slots=True)
class Verdicts:
    """Verdicts of rules on segments, or on groups of segments, each named by its first one.

    Without a baseline, numbers of rows and labels are `_UNKNOWN`, and scores are NaN.
    """

    segment: Int64Array
    is_disparity: Int64Array
    rule: Int64Array
    estimate: FloatArray
    lower: FloatArray
    upper: FloatArray
    status: Int64Array
    n: Int64Array
    n_labels: Int64Array
    score: FloatArray
    baseline_score: FloatArray
    baseline_n: Int64Array
    n_clusters: Int64Array
    effective_clusters: FloatArray
    design_effect: FloatArray

    @classmethod
    def of(
        cls,
        rule: int,
        segment: Int64Array,
        evidence: Evidence,
        status: Int64Array,
        *,
        is_disparity: bool,
    ) -> "Verdicts":
        """Return the verdicts of one rule."""
        disparity, number = (np.full(len(segment), code) for code in (int(is_disparity), rule))
        estimate, lower, upper = (
            np.asarray(values, np.float64)
            for values in (evidence.estimate, evidence.lower, evidence.upper)
        )
        unknown, undefined = np.full(len(segment), _UNKNOWN), np.full(len(segment), np.nan)
        with_baseline = (unknown, unknown, undefined, undefined, unknown)
        if evidence.baseline_scores is not None:
            b = evidence.baseline_scores
            baseline_n = np.where(b.baseline_n > 0, b.baseline_n, _UNKNOWN)
            with_baseline = (b.n, b.n_labels, b.score, b.baseline_score, baseline_n)
        clusters = (
            (unknown, undefined, undefined) if evidence.clusters is None else evidence.clusters
        )
        return cls(
            segment, disparity, number, estimate, lower, upper, status, *with_baseline, *clusters
        )

    @classmethod
    def concat(cls, parts: list["Verdicts"]) -> "Verdicts":
        """Put verdicts one below the other."""
        integers = ("segment", "is_disparity", "rule", "status", "n_clusters", *_COUNTS)
        columns = {
            name: np.concatenate(
                [np.zeros(0, np.int64 if name in integers else np.float64)]
                + [getattr(part, name) for part in parts]
            )
            for name in cls.__dataclass_fields__
        }
        return cls(**columns)

    def at_positions(self, positions: Int64Array) -> "Verdicts":
        """Return the verdicts with segments at these positions of others."""
        return replace(self, segment=positions[self.segment])

    def sort(self, counted_frame: CountedFrame) -> "Verdicts":
        """Sort by margin, segment and rule; verdicts on groups of segments come last."""
        margin = counted_frame.segment_margins()[self.segment]
        model = counted_frame.segment_models()[self.segment]
        place = np.where(self.is_disparity, model, self.segment)
        order = np.lexsort((self.rule, place, self.is_disparity, margin))
        return Verdicts(*(getattr(self, name)[order] for name in self.__dataclass_fields__))


@dataclass(frozen=True, slots=True)
class Judge:
    """How rules are decided: by confidence intervals, or by estimates alone."""

    search: EvidenceRequest
    by_limits: bool

    def of_differences(self, rule: Rule, number: int, baseline: Baseline) -> Verdicts:
        """Judge by how much all segments that a rule applies to differ from the baseline."""
        assert rule.metric is not None
        segments = rule_segments(rule, baseline.reading)
        found = self.search.difference_evidence(rule.metric, baseline, segments)
        return Verdicts.of(number, segments, found, self._status(rule, found), is_disparity=False)

    def verdicts(
        self, rule: Rule, number: int, sample: Sample, counted_frame: CountedFrame
    ) -> Iterator[Verdicts]:
        """Judge all segments that a rule applies to, or those of each group together."""
        if rule.disparity is None:
            segments = rule_segments(rule, counted_frame)
            found = self.search.segment_evidence(
                rule.metric, rule.quantity, sample, counted_frame, segments
            )
            yield Verdicts.of(
                number, segments, found, self._status(rule, found), is_disparity=False
            )
            return
        groups = rule_groups(rule, counted_frame)
        margins = [int(counted_frame.segment_margins()[segments[0]]) for segments in groups]
        for segments, margin in zip(groups, margins, strict=True):
            assert rule.metric is not None
            n_together = margins.count(margin)
            found = self.search.disparity_evidence(
                rule.disparity, rule.metric, rule.quantity, sample, segments, n_together
            )
            status = self._status(rule, found)
            if not found.is_complete:  # one more segment can only let them lie further apart
                mends = (">=", ">", "==") if rule.disparity == "difference" else ("<=", "<", "==")
                stands = (status == FAIL) & (rule.operator not in mends)
                status = np.where(stands, FAIL, INCONCLUSIVE)
            yield Verdicts.of(number, segments[:1], found, status, is_disparity=True)

    def _status(self, rule: Rule, found: Evidence) -> Int64Array:
        keeps = rule.holds(found.estimate)
        if rule.metric is None:
            return np.where(keeps, PASS, FAIL)
        fails, is_known = ~keeps, found.is_evaluable
        if self.by_limits:
            lower, upper = found.lower, found.upper
            is_known = is_known & ~np.isnan(lower) & ~np.isnan(upper)
            keeps = keeps & rule.holds(lower) & rule.holds(upper)
            if rule.operator == "==":
                fails = (lower > rule.bound) | (upper < rule.bound)
            else:
                fails = fails & ~rule.holds(lower) & ~rule.holds(upper)
        status = np.select([keeps, fails], [PASS, FAIL], INCONCLUSIVE)
        return np.where(is_known, status, INCONCLUSIVE)


def verdict_columns(
    judge: Judge,
    rules: Sequence[Rule],
    selection: MetricSelection,
    counted_frame: CountedFrame,
    baseline: Baseline | None,
) -> dict[Name, Any]:
    """Judge every rule, and put the verdicts one below the other."""
    sample = selection.sample(counted_frame)
    found = [
        verdicts if baseline is None else verdicts.at_positions(baseline.positions)
        for number, rule in enumerate(rules)
        if not rule.is_relative
        for verdicts in judge.verdicts(rule, number, sample, counted_frame)
    ]
    if baseline is not None:
        counted_frame = baseline.reading
        found += [
            judge.of_differences(rule, number, baseline)
            for number, rule in enumerate(rules)
            if rule.is_relative
        ]
    rows = Verdicts.concat(found).sort(counted_frame)
    _, first = counted_frame.cells.segments
    has_blank = any(rule.disparity is not None for rule in rules)
    blank = rows.is_disparity.astype(bool) if has_blank else None
    columns = counted_frame.by_columns(first[rows.segment], blank) | {
        "rule": counted_frame.text_column([rule.text for rule in rules], rows.rule),
        "estimate": rows.estimate,
        "lower": rows.lower,
        "upper": rows.upper,
        "bound": np.array([rule.bound for rule in rules])[rows.rule],
        "status": counted_frame.text_column(STATUSES, rows.status),
    }
    if baseline is not None:
        columns |= {name: counted_frame.count_column(getattr(rows, name)) for name in _COUNTS}
        columns |= {"score": rows.score, "baseline_score": rows.baseline_score}
    if sample.clusters is not None:
        columns["n_clusters"] = counted_frame.count_column(rows.n_clusters)
        columns |= {name: getattr(rows, name) for name in ("effective_clusters", "design_effect")}
    reasons = [rule.reason for rule in rules]
    texts = [reason for reason in reasons if reason is not None]
    if texts:
        codes = [len(texts) if reason is None else texts.index(reason) for reason in reasons]
        columns["reason"] = counted_frame.text_column(texts, np.array(codes)[rows.rule])
    return columns


def check_have_limits(rules: Iterable[Rule], *, paired: bool, clusters: bool) -> None:
    """Raise if the metric of a rule has no confidence interval to decide it."""
    for rule in rules:
        if rule.metric is None:
            continue
        if rule.is_relative and paired:
            if rule.metric.interval.is_paired:
                continue
            metrics = [metric.name for metric in registered_metrics() if metric.interval.is_paired]
            purpose = "for the difference between two models on the same rows "
        elif clusters:
            if rule.metric.interval.has_clusters:
                continue
            metrics = [
                metric.name for metric in registered_metrics() if metric.interval.has_clusters
            ]
            purpose = "for rows in clusters "
        elif rule.metric.interval.method_of(None):
            continue
        else:
            metrics = [
                metric.name for metric in registered_metrics() if metric.interval.method_of(None)
            ]
            purpose = ""
        raise InvalidInputError(
            f"metric {rule.quantity!r} has no confidence interval {purpose}to decide the rule "
            f"{rule.text!r}. Give {advised('decide', 'estimate')}, or choose a metric that has "
            f"one: {listed(metrics, len(metrics))}."
        )


def check_have_baseline(rules: Iterable[Rule], baseline: object) -> None:
    """Raise if there are rules with a baseline but no baseline, or the other way round."""
    relative = [rule for rule in rules if rule.is_relative]
    if relative and baseline is None:
        raise InvalidInputError(
            f"the rule {relative[0].text!r} compares with a baseline, but {parameter('baseline')} "
            "is missing; give another column of predictions, or the cells of an earlier run, a "
            "result of `confusion`."
        )
    if baseline is not None and not relative:
        raise InvalidInputError(
            f"{parameter('baseline')} is given, but no rule compares with it; give a rule such as "
            "'balanced_accuracy >= baseline - 0.02'."
        )
