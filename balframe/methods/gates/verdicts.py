"""From scores and confidence intervals to verdicts: pass, fail or inconclusive."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from balframe.api.metric_selection import Scoring
from balframe.core.array_types import FloatArray, Int64Array
from balframe.core.sample import Sample
from balframe.errors import InvalidInputError, advised, listed, parameter
from balframe.frames.adapter import Name
from balframe.frames.counted_frame import CountedFrame
from balframe.methods.gates.baseline_differences import Baseline
from balframe.methods.gates.evidence import Evidence, Search
from balframe.methods.gates.rules import Rule, groups_of, segments_of
from balframe.metrics.lookup import registered

STATUS = ("pass", "fail", "inconclusive")
PASS, FAIL, INCONCLUSIVE = range(3)
_UNKNOWN = -1
_COUNTS = ("n", "n_labels", "baseline_n")


@dataclass(frozen=True, slots=True)
class Verdicts:
    """Verdicts of rules on segments, or on groups of segments, each named by its first.

    Rows and labels of verdicts that are not on a difference from a baseline are `_UNKNOWN`, and
    the scores behind it NaN.
    """

    segment: Int64Array
    is_of_many: Int64Array
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
        found: Evidence,
        status: Int64Array,
        *,
        is_of_many: bool,
    ) -> "Verdicts":
        """Put the verdicts of one rule together."""
        of_many, number = (np.full(len(segment), one) for one in (int(is_of_many), rule))
        shown = (found.estimate, found.lower, found.upper)
        estimate, lower, upper = (np.asarray(values, np.float64) for values in shown)
        unknown, nothing = np.full(len(segment), _UNKNOWN), np.full(len(segment), np.nan)
        beside = (unknown, unknown, nothing, nothing, unknown)
        if found.beside is not None:
            b = found.beside
            n_before = np.where(b.baseline_n > 0, b.baseline_n, _UNKNOWN)
            beside = (b.n, b.n_labels, b.score, b.baseline_score, n_before)
        clusters = (unknown, nothing, nothing) if found.clusters is None else found.clusters
        return cls(segment, of_many, number, estimate, lower, upper, status, *beside, *clusters)

    @classmethod
    def concat(cls, parts: list["Verdicts"]) -> "Verdicts":
        """Put verdicts one below the other."""
        integers = ("segment", "is_of_many", "rule", "status", "n_clusters", *_COUNTS)
        columns = {
            name: np.concatenate(
                [np.zeros(0, np.int64 if name in integers else np.float64)]
                + [getattr(part, name) for part in parts]
            )
            for name in cls.__dataclass_fields__
        }
        return cls(**columns)

    def among(self, positions: Int64Array) -> "Verdicts":
        """Take the segments to be at these positions."""
        return replace(self, segment=positions[self.segment])

    def in_order(self, reading: CountedFrame) -> "Verdicts":
        """Sort by margin, segment and rule; verdicts on groups of segments come last."""
        margin = reading.margin_of_segments()[self.segment]
        model = reading.model_of_segments()[self.segment]
        place = np.where(self.is_of_many, model, self.segment)
        order = np.lexsort((self.rule, place, self.is_of_many, margin))
        return Verdicts(*(getattr(self, name)[order] for name in self.__dataclass_fields__))


@dataclass(frozen=True, slots=True)
class Judge:
    """How rules are decided: by confidence intervals, or by estimates alone."""

    search: Search
    by_limits: bool

    def of_differences(self, rule: Rule, number: int, baseline: Baseline) -> Verdicts:
        """Judge by how much all segments that a rule applies to differ from the baseline."""
        assert rule.metric is not None
        segments = segments_of(rule, baseline.reading)
        found = self.search.of_differences(rule.metric, baseline, segments)
        return Verdicts.of(number, segments, found, self._status(rule, found), is_of_many=False)

    def verdicts(
        self, rule: Rule, number: int, sample: Sample, reading: CountedFrame
    ) -> Iterator[Verdicts]:
        """Judge all segments that a rule applies to, or those of each group together."""
        if rule.over is None:
            segments = segments_of(rule, reading)
            found = self.search.of_segments(rule.metric, rule.quantity, sample, reading, segments)
            yield Verdicts.of(number, segments, found, self._status(rule, found), is_of_many=False)
            return
        groups = groups_of(rule, reading)
        margins = [int(reading.margin_of_segments()[segments[0]]) for segments in groups]
        for segments, margin in zip(groups, margins, strict=True):
            assert rule.metric is not None
            n_together = margins.count(margin)
            found = self.search.of_extremes(
                rule.over, rule.metric, rule.quantity, sample, segments, n_together
            )
            status = self._status(rule, found)
            if not found.is_complete:  # one more segment can only let them lie further apart
                mends = (">=", ">", "==") if rule.over == "difference" else ("<=", "<", "==")
                stands = (status == FAIL) & (rule.operator not in mends)
                status = np.where(stands, FAIL, INCONCLUSIVE)
            yield Verdicts.of(number, segments[:1], found, status, is_of_many=True)

    def _status(self, rule: Rule, found: Evidence) -> Int64Array:
        keeps = rule.holds(found.estimate)
        if rule.metric is None:
            return np.where(keeps, PASS, FAIL)
        fails, is_known = ~keeps, found.is_known
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
    scoring: Scoring,
    reading: CountedFrame,
    baseline: Baseline | None,
) -> dict[Name, Any]:
    """Judge every rule, and put the verdicts one below the other."""
    sample = scoring.sample(reading)
    found = [
        verdicts if baseline is None else verdicts.among(baseline.positions)
        for number, rule in enumerate(rules)
        if not rule.is_relative
        for verdicts in judge.verdicts(rule, number, sample, reading)
    ]
    if baseline is not None:
        reading = baseline.reading
        found += [
            judge.of_differences(rule, number, baseline)
            for number, rule in enumerate(rules)
            if rule.is_relative
        ]
    rows = Verdicts.concat(found).in_order(reading)
    _, first = reading.cells.segments
    has_blank = any(rule.over is not None for rule in rules)
    blank = rows.is_of_many.astype(bool) if has_blank else None
    columns = reading.by_columns(first[rows.segment], blank) | {
        "rule": reading.text_column([rule.text for rule in rules], rows.rule),
        "estimate": rows.estimate,
        "lower": rows.lower,
        "upper": rows.upper,
        "bound": np.array([rule.bound for rule in rules])[rows.rule],
        "status": reading.text_column(STATUS, rows.status),
    }
    if baseline is not None:
        columns |= {name: reading.count_column(getattr(rows, name)) for name in _COUNTS}
        columns |= {"score": rows.score, "baseline_score": rows.baseline_score}
    if sample.clusters is not None:
        columns["n_clusters"] = reading.count_column(rows.n_clusters)
        columns |= {name: getattr(rows, name) for name in ("effective_clusters", "design_effect")}
    reasons = [rule.reason for rule in rules]
    texts = [reason for reason in reasons if reason is not None]
    if texts:
        codes = [len(texts) if one is None else texts.index(one) for one in reasons]
        columns["reason"] = reading.text_column(texts, np.array(codes)[rows.rule])
    return columns


def check_have_limits(rules: Iterable[Rule], *, paired: bool, clusters: bool) -> None:
    """Raise if the metric of a rule has no confidence interval to decide it."""
    for rule in rules:
        if rule.metric is None:
            continue
        if rule.is_relative and paired:
            if rule.metric.interval.is_paired:
                continue
            known = [one.name for one in registered() if one.interval.is_paired]
            what = "for the difference between two models on the same rows "
        elif clusters:
            if rule.metric.interval.has_clusters:
                continue
            known = [one.name for one in registered() if one.interval.has_clusters]
            what = "for rows in clusters "
        elif rule.metric.interval.method_of(None):
            continue
        else:
            known = [one.name for one in registered() if one.interval.method_of(None)]
            what = ""
        raise InvalidInputError(
            f"metric {rule.quantity!r} has no confidence interval {what}to decide the rule "
            f"{rule.text!r}. Give {advised('decide', 'estimate')}, or choose a metric that has "
            f"one: {listed(known, len(known))}."
        )


def check_have_baseline(rules: Iterable[Rule], baseline: object) -> None:
    """Raise if a rule compares with a baseline that is not given, or if none does with one."""
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
