"""The power of rules in every segment: probabilities, detectable differences, sample sizes."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from balframe.api.interval_estimates import design_effects
from balframe.api.metric_selection import metric_values
from balframe.core.array_types import BoolArray, FloatArray, Int64Array
from balframe.core.class_counts import segments_at
from balframe.core.safe_divide import ratio
from balframe.core.sample import Sample
from balframe.frames.counted_frame import CountedFrame
from balframe.methods.gates.baseline import Baseline, BaselineScores
from balframe.methods.gates.evidence import check_applies, rule_segments
from balframe.methods.gates.power_batches import (
    ROUGH,
    PowerResult,
    PowerTarget,
    RowPlan,
    difference_batches,
    item_batches,
    item_plan,
    planned_model_batches,
    power_result,
    score_batches,
)
from balframe.methods.gates.rules import Rule


@dataclass(frozen=True, slots=True)
class PowerRequest:
    """How rules will be decided, and with which powers.

    `disagreement` is the share of rows that only one model gets right, if the predictions of the
    baseline do not exist yet. `design_effect` is that of all rules; None where it follows from the
    clusters of rows, or where rows are independent. `trials` is the planned number of rows of each
    cluster, None if they stay as many.
    """

    powers: Sequence[float]
    level: float
    simultaneous: bool
    min_support: int
    disagreement: float | None
    design_effect: float | None
    trials: int | None = None

    def rule_power(
        self, rule: Rule, sample: Sample, counted_frame: CountedFrame, baseline: Baseline | None
    ) -> "RulePower":
        """Return the power of a rule in its segments; `sample` has the rows of all."""
        assert rule.metric is not None
        check_applies(rule, counted_frame)
        segments = rule_segments(rule, counted_frame)
        counts = segments_at(sample.counts, segments)
        if rule.is_relative and baseline is not None:
            scores = BaselineScores.of(rule.metric, baseline, segments)
            estimate, support = scores.difference, scores.support
        else:
            estimate = metric_values(rule.metric, counts)
            support = rule.metric.smallest_denominator(counts)
        clusters = self._clusters(rule, sample, baseline, segments)
        is_evaluable = ~np.isnan(estimate) & (support >= self.min_support)
        is_evaluable &= np.isfinite(clusters.design_effect)
        tail = self._tail_probabilities(is_evaluable, segments, counted_frame)
        plan = clusters.plan(counts.n, is_evaluable)
        if rule.metric.interval.trials_needed:
            plan = item_plan(rule.metric, sample.at(segments), self.trials)
        effect = np.nan_to_num(plan.design_effect, nan=1)
        least = max(round(self.min_support / effect.max(initial=1)), 1)
        n = plan.n / effect
        is_lower_bound = rule.operator in (">=", ">")
        per_row = np.where(counts.n > 0, ratio(counts.n, n), 1)
        target = PowerTarget(rule.bound, is_lower_bound, tail, n, least, per_row)
        if rule.metric.interval.trials_needed:
            batches = item_batches(
                rule.metric, sample.at(segments), estimate, is_evaluable, target, plan
            )
        elif not rule.is_relative:
            batches = score_batches(rule.metric, counts, is_evaluable, target)
        elif baseline is not None:
            batches = difference_batches(rule.metric, baseline, segments, is_evaluable, target)
        else:
            assert self.disagreement is not None
            estimate = np.where(is_evaluable, 0.0, np.nan)
            batches = planned_model_batches(
                rule.metric, counts, is_evaluable, target, self.disagreement
            )
        result = power_result(rule.metric, counts, list(batches), self.powers, plan)
        clusters = replace(clusters, design_effect=plan.design_effect)
        result = replace(result, reliability=clusters.lower_reliability(result.reliability))
        return RulePower(segments, counts.n, counts.min_support, estimate, result, clusters)

    def _clusters(
        self, rule: Rule, sample: Sample, baseline: Baseline | None, segments: Int64Array
    ) -> "ClusterEffects":
        """Return the effect of clusters on the score, or the difference, of a rule."""
        nothing = np.full(len(segments), np.nan)
        if self.design_effect is not None:
            return ClusterEffects(None, nothing, np.full(len(segments), float(self.design_effect)))
        if sample.clusters is None:
            return ClusterEffects(None, nothing, np.ones(len(segments)))
        assert rule.metric is not None
        if rule.is_relative:
            assert baseline is not None
            statistics = baseline.cluster_statistics(rule.metric, segments)
            assert statistics is not None
            n_clusters, effective, effect = statistics
        else:
            n_clusters = sample.clusters.n[segments]
            effective, effect = (values[segments] for values in design_effects(rule.metric, sample))
        is_single = sample.clusters.are_single[segments]
        if rule.metric.interval.trials_needed:  # whose items are independent
            is_single = np.ones_like(is_single)
        effect = np.where(is_single, 1, np.maximum(effect, 1))
        return ClusterEffects(n_clusters, effective, effect, self.trials)

    def _tail_probabilities(
        self, is_evaluable: BoolArray, segments: Int64Array, counted_frame: CountedFrame
    ) -> FloatArray:
        """Share the level among the evaluable segments of each margin."""
        margin = counted_frame.segment_margins()[segments]
        n_together = np.bincount(margin, weights=is_evaluable)[margin] if self.simultaneous else 1
        return np.asarray(
            (1 - self.level) / np.maximum(n_together, 1) / 2 * np.ones(len(is_evaluable))
        )


@dataclass(frozen=True, slots=True)
class ClusterEffects:
    """The clusters of the rows of every segment, and what they do to the variance of a score.

    `n_clusters` is None where rows are not in clusters. Where the design effect is given, or rows
    are independent, the effective number of clusters is NaN.
    """

    n_clusters: Int64Array | None
    effective_clusters: FloatArray
    design_effect: FloatArray
    trials: int | None = None

    def plan(self, n: Int64Array, is_evaluable: BoolArray) -> "RowPlan":
        """Return the planned rows, if `n` rows are observed; rows of a cluster may be other ones.

        With the intraclass correlation r, the design effect of t rows a cluster is 1 + (t - 1) r.
        It is taken to be 1 if no cluster has two rows.
        """
        effect = np.where(is_evaluable, self.design_effect, 1)
        if self.n_clusters is None:
            return RowPlan(n.astype(np.float64), np.full(len(n), np.nan), effect)
        clusters = np.maximum(self.n_clusters, 1).astype(np.float64)
        if self.trials is None:
            return RowPlan(n.astype(np.float64), clusters, effect)
        correlation = np.where(n > clusters, (effect - 1) / np.maximum(n / clusters - 1, 1e-9), 1)
        effect = 1 + (self.trials - 1) * np.clip(correlation, 0, 1)
        return RowPlan(clusters * self.trials, clusters, effect, has_whole_clusters=True)

    def lower_reliability(self, reliability: Int64Array) -> Int64Array:
        """Return the reliability of powers of effective rows, which is rough."""
        return np.where(self.design_effect > 1, np.maximum(reliability, ROUGH), reliability)


@dataclass(frozen=True, slots=True)
class RulePower:
    """The power of one rule, with its segments and their rows and scores."""

    segments: Int64Array
    n: Int64Array
    min_support: Int64Array
    estimate: FloatArray
    result: PowerResult
    clusters: ClusterEffects
