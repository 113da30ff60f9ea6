"""The evidence for rules on metrics of scores: their values, with limits that decide."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from balframe.api.interval_estimates import clip_difference_limits
from balframe.api.metric_selection import segment_counts
from balframe.api.score_estimates import ScoreSample
from balframe.core.array_types import FloatArray, Int64Array
from balframe.core.class_counts import ClassCounts, segments_at
from balframe.errors import NAME, OPTION, InvalidInputError, listed
from balframe.frames.counted_frame import CountedFrame
from balframe.frames.engines.inputs import unwrap
from balframe.frames.query import InputSpec
from balframe.frames.score_pairs import ScoredPairs, ScorePairSource
from balframe.frames.scores import ScoredFrame
from balframe.frames.sources import ScoreSource, Source
from balframe.frames.thresholds import Thresholds
from balframe.methods.comparisons.baseline_input import is_frame
from balframe.methods.comparisons.score_models import PairedRankings, check_no_class_weight
from balframe.methods.gates.baseline import BaselineScores
from balframe.methods.gates.evidence import (
    Evidence,
    EvidenceRequest,
    number_of_segments,
    rule_groups,
    rule_segments,
)
from balframe.methods.gates.rules import BY_ESTIMATE, Rule
from balframe.metrics.lookup import ranking_metrics
from balframe.metrics.score_metrics import ScoreMetric


@dataclass(frozen=True)
class ScoredSegments:
    """The scores of every segment and, with a baseline, those of another model too."""

    counted_frame: CountedFrame
    sample: ScoreSample
    models: PairedRankings | None

    @classmethod
    def of(cls, scores: ScoredFrame | ScoredPairs) -> "ScoredSegments":
        """Rank the rows of the counted frames."""
        if isinstance(scores, ScoredFrame):
            return cls(scores.counted_frame, ScoreSample.of(scores.ties, scores.clusters), None)
        models = PairedRankings.of(scores)
        return cls(scores.counted_frame, models.first_sample, models)

    @property
    def totals(self) -> ClassCounts:
        """The counts of every segment."""
        return self.sample.ranking.points.totals()


def score_evidence(
    rules: Sequence[Rule], request: EvidenceRequest, segments: ScoredSegments
) -> list[Evidence]:
    """Return the evidence for all rules, on metrics of scores or on counts."""
    return [
        item
        for number, rule in enumerate(rules)
        for item in _rule_evidence(number, rule, request, segments)
    ]


def _rule_evidence(
    number: int, rule: Rule, request: EvidenceRequest, scored: ScoredSegments
) -> Iterator[Evidence]:
    totals = scored.totals
    if rule.is_over_segments:
        for group in rule_groups(rule, scored.counted_frame):
            n = np.array([(totals.n[group] > 0).sum()])
            yield number_of_segments(number, group, n)
        return
    at = rule_segments(rule, scored.counted_frame)
    metric = rule.score_metric
    if metric is None:
        n = segment_counts(segments_at(totals, at))[rule.quantity]
        evidence = Evidence(number, at, n, n, n, np.ones(len(n), np.bool_))
    else:
        models = scored.models if rule.is_relative else None
        evidence = _metric_evidence(number, metric, at, request, scored, models)
    if scored.sample.clusters is not None:
        effects = _design_effects(rule, scored)
        clusters = (scored.sample.n_clusters[at], effects[0][at], effects[1][at])
        evidence = replace(evidence, clusters=clusters)
    yield evidence


def _metric_evidence(
    number: int,
    metric: ScoreMetric,
    at: Int64Array,
    request: EvidenceRequest,
    scored: ScoredSegments,
    models: PairedRankings | None,
) -> Evidence:
    """Return the scores of segments on a metric, or their differences from those of a baseline."""
    smallest = _smallest_denominator(metric, scored.totals)
    compared = None if models is None else models.difference(metric)
    value = scored.sample.estimate(metric) if compared is None else compared.difference
    is_evaluable = (~np.isnan(value) & (smallest >= request.min_support))[at]
    lower, upper = np.full((2, len(at)), np.nan)
    for family in request.families(is_evaluable, at, scored.counted_frame):
        level = request.simultaneous_level(len(family))
        if models is None or compared is None:
            limits = scored.sample.decision_limits(metric, value, level)
        else:
            limits = models.decision_limits(metric, compared, level)
            limits = clip_difference_limits(limits, value, metric)
        lower[family], upper[family] = (limit[at[family]] for limit in limits)
    evidence = Evidence(number, at, value[at], lower, upper, is_evaluable)
    if compared is None:
        return evidence
    c = segments_at(scored.totals, at)
    scores = BaselineScores(
        c.n, c.n_present, compared.first[at], compared.second[at], c.n, smallest[at]
    )
    return replace(evidence, baseline_scores=scores)


def _smallest_denominator(metric: ScoreMetric, totals: ClassCounts) -> Int64Array:
    """Return the rows of the rarer class, or all rows for a mean over rows."""
    if metric.interval.is_mean_of_rows:
        return totals.n
    n_positive = totals.count(totals.n_correct)
    return np.asarray(np.minimum(n_positive, totals.n - n_positive))


def _design_effects(rule: Rule, scored: ScoredSegments) -> tuple[FloatArray, FloatArray]:
    undefined = np.full(scored.sample.n_segments, np.nan)
    metric = rule.score_metric
    if metric is None:
        return undefined, undefined
    if rule.is_relative and scored.models is not None:
        return scored.models.difference(metric).design_effects
    return scored.sample.design_effects(metric, scored.sample.estimate(metric))


# How scores are read, and whether rules suit them.


@dataclass(frozen=True, slots=True)
class ScoreInput:
    """What is read of a frame, and how."""

    input_spec: InputSpec
    source: Source


def score_input(baseline: object, options: Mapping[str, Any]) -> ScoreInput:
    """Return how scores are read, together with those of a baseline if there is one."""
    if options["cells"]:
        raise InvalidInputError(
            "cells hold counts of predicted labels, but {y_score} gives scores. Give rows; "
            "identical rows are read by {counts}.",
            y_score=NAME,
            counts=OPTION,
        )
    check_no_class_weight(options["class_weight"])
    if baseline is None:
        return ScoreInput(InputSpec(scores=True), ScoreSource(Thresholds()))
    native, _ = unwrap(baseline)
    if is_frame(native):
        raise InvalidInputError(
            "{baseline} is a frame, but cells have no scores. Name the column of the other model's "
            "scores on the same rows.",
            baseline=OPTION,
        )
    return ScoreInput(InputSpec(scores=True, baseline=native), ScorePairSource())


def check_on_scores(rules: Iterable[Rule]) -> None:
    """Raise if a rule cannot be judged by scores."""
    for rule in rules:
        if rule.metric is not None:
            raise InvalidInputError(
                "the rule {!r} is on a metric of predicted labels, but {y_score} gives scores. "
                "Check it in a call with {y_pred}, and give {y_score} only with rules on metrics "
                "of scores.",
                rule.text,
                y_score=NAME,
                y_pred=NAME,
            )
        if rule.disparity is not None:
            raise InvalidInputError(
                "the rule {!r} is on a {} of segments, which has no confidence interval for "
                "metrics of scores. Give a rule on each segment, such as '{} >= 0.7'.",
                rule.text,
                rule.disparity,
                rule.quantity,
            )


def check_on_labels(rules: Iterable[Rule]) -> None:
    """Raise if a rule needs scores."""
    for rule in rules:
        if rule.score_metric is not None:
            raise InvalidInputError(
                "the rule {!r} is on a metric of scores, but {y_pred} gives predicted labels. "
                "Give the column of scores as {y_score}, in a call of its own.",
                rule.text,
                y_pred=NAME,
                y_score=NAME,
            )


def check_scores_have_limits(rules: Iterable[Rule], *, clusters: bool) -> None:
    """Raise if a metric of scores has no limits that decide a rule."""
    for rule in rules:
        metric = rule.score_metric
        if metric is None:
            continue
        if clusters:
            raise InvalidInputError(
                "metric {!r} has no confidence interval for rows in clusters to decide the rule "
                "{!r}. Give {decide}, or omit {cluster}.",
                rule.quantity,
                rule.text,
                decide=BY_ESTIMATE,
                cluster=OPTION,
            )
        if _decides(metric, is_relative=rule.is_relative):
            continue
        names = [
            other.name
            for other in ranking_metrics()
            if _decides(other, is_relative=rule.is_relative)
        ]
        raise InvalidInputError(
            "metric {!r} has no confidence interval {}to decide the rule {!r}{}. Give {decide}, or "
            "choose a metric that has one: {}.",
            rule.quantity,
            "for the difference between two models on the same rows " * rule.is_relative,
            rule.text,
            f": {metric.interval.why_undecided}" if metric.interval.why_undecided else "",
            listed(names, len(names)),
            decide=BY_ESTIMATE,
        )


def _decides(metric: ScoreMetric, *, is_relative: bool) -> bool:
    interval = metric.interval
    return interval.is_bounded if is_relative else interval.has_decision_limits
