"""From rules to what they can see: how likely segments are to pass, and how many rows they need."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from balframe.api.metric_selection import Scoring, value_of
from balframe.core.array_types import BoolArray, FloatArray, Int64Array
from balframe.core.class_counts import ClassCounts
from balframe.core.selection import segments_at
from balframe.errors import InvalidInputError, listed, warn
from balframe.frames.adapter import Name
from balframe.frames.counted_frame import Reading
from balframe.methods.comparisons.extremes import denominator
from balframe.methods.gates.baseline_differences import Baseline, Beside
from balframe.methods.gates.power_analysis import (
    RELIABILITY,
    Forecast,
    Goal,
    alone,
    beside,
    forecast,
    without_predictions,
)
from balframe.methods.gates.rules import Rule
from balframe.methods.gates.where import segments_of
from balframe.metrics.catalogue import registered

Powers = float | Sequence[float]  # one, or several

_UNKNOWN = -1


@dataclass(frozen=True, slots=True)
class Planner:
    """How rules will be decided, and which powers are asked for.

    `disagreement` is the share of rows that only one model gets right, where the predictions of
    the baseline are not known.
    """

    powers: Sequence[float]
    level: float
    simultaneous: bool
    min_support: int
    disagreement: float | None

    def plan(
        self, rule: Rule, c: ClassCounts, reading: Reading, baseline: Baseline | None
    ) -> "Plans":
        """Plan a rule in all segments that it applies to; `c` are the counts of the data."""
        assert rule.metric is not None
        segments = segments_of(rule, reading)
        own = segments_at(c, segments)
        if rule.is_relative and baseline is not None:
            found = Beside.of(rule.metric, baseline, segments)
            estimate, support = found.difference, found.support
        else:
            estimate, support = value_of(rule.metric, own), denominator(rule.metric, own)
        known = ~np.isnan(estimate) & (support >= self.min_support)
        goal = Goal(rule.bound, rule.operator in (">=", ">"), self._tails(known, segments, reading))
        if not rule.is_relative:
            parts = alone(rule.metric, own, known, goal)
        elif baseline is not None:
            parts = beside(rule.metric, baseline, segments, known, goal)
        else:
            assert self.disagreement is not None
            estimate = np.where(known, 0.0, np.nan)
            parts = without_predictions(rule.metric, own, known, goal, self.disagreement)
        seen = forecast(rule.metric, own.n, own, list(parts), self.powers)
        return Plans(segments, own.n, own.min_support, estimate, seen)

    def _tails(self, known: BoolArray, segments: Int64Array, reading: Reading) -> FloatArray:
        """Share the level among the segments of each margin that can be judged."""
        margin = reading.margin_of_segments()[segments]
        n_together = np.bincount(margin, weights=known)[margin] if self.simultaneous else 1
        return np.asarray((1 - self.level) / np.maximum(n_together, 1) / 2 * np.ones(len(known)))


@dataclass(frozen=True, slots=True)
class Plans:
    """The plans of one rule: its segments, their rows and scores, and what is seen in them."""

    segments: Int64Array
    n: Int64Array
    min_support: Int64Array
    estimate: FloatArray
    seen: Forecast


def plan_columns(
    planner: Planner,
    rules: Sequence[Rule],
    scoring: Scoring,
    shared: Scoring,
    reading: Reading,
    baseline: Baseline | None,
) -> dict[Name, Any]:
    """Plan every rule, and put the plans one below the other.

    Rules on differences use the scoring `shared`, of labels that both sides have.
    """
    own, all_read = reading, reading if baseline is None else baseline.reading
    positions = None if baseline is None else baseline.positions
    segment, rule_of, plans = [], [], []
    for number, rule in enumerate(rules):
        if rule.is_relative:
            found = planner.plan(rule, shared.class_counts(all_read), all_read, baseline)
            at = found.segments
        else:
            found = planner.plan(rule, scoring.class_counts(own), own, None)
            at = found.segments if positions is None else positions[found.segments]
        segment.append(at)
        rule_of.append(np.full(len(at), number))
        plans.append(found)
    of_plans = np.concatenate(segment), np.concatenate(rule_of)
    return _in_rows(planner, rules, all_read, *of_plans, plans)


def _in_rows(
    planner: Planner,
    rules: Sequence[Rule],
    reading: Reading,
    segment: Int64Array,
    rule: Int64Array,
    plans: Sequence[Plans],
) -> dict[Name, Any]:
    """Sort by margin, segment, rule and power."""
    _, first = reading.cells.segments
    margin = reading.margin_of_segments()[segment]
    order, n_powers = np.lexsort((rule, segment, margin)), len(planner.powers)

    def once(values: Any) -> Any:  # noqa: ANN401 (an array of any dtype)
        return np.repeat(np.concatenate([*values])[order], n_powers)

    def each(values: Iterable[FloatArray]) -> FloatArray:
        return np.asarray(np.concatenate([*values])[order].ravel())

    rows = np.repeat(order, n_powers)
    rule = rule[rows]
    return reading.by_columns(first[segment[rows]]) | {
        "rule": reading.text_column([one.text for one in rules], rule),
        "power": np.tile(np.asarray(planner.powers, np.float64), len(order)),
        "n": once(one.n for one in plans),
        "min_support": once(one.min_support for one in plans),
        "estimate": once(one.estimate for one in plans),
        "bound": np.array([one.bound for one in rules])[rule],
        "min_detectable_difference": each(one.seen.detectable for one in plans),
        "probability_pass": once(one.seen.probability_pass for one in plans),
        "n_needed": reading.count_column(_rows(each(one.seen.n_needed for one in plans))),
        "n_needed_per_label": reading.count_column(
            _rows(each(one.seen.n_needed_per_label for one in plans))
        ),
        "reliability": reading.text_column(
            RELIABILITY, once(one.seen.reliability for one in plans)
        ),
    }


def _rows(values: FloatArray) -> Int64Array:
    """Turn numbers of rows into integers, unknown where there are none or too many."""
    usable = values < 2.0**53
    return np.where(usable, np.where(usable, values, 0).astype(np.int64), _UNKNOWN)


def plannable(rules: Sequence[Rule], *, paired: bool) -> list[Rule]:
    """List the rules whose power is known, and warn of the others; raise if none is left."""
    left_out = {rule.text: why for rule in rules if (why := _why_not(rule, paired=paired))}
    kept = [rule for rule in rules if rule.text not in left_out]
    if left_out:
        reasons = listed((f"{text!r} ({why})" for text, why in left_out.items()), 5)
        message = f"power is not known for {reasons}."
        if not kept:
            known = [one.name for one in registered() if one.interval.is_linear]
            raise InvalidInputError(
                f"{message} Give a rule on one of {listed(known, len(known))}, such as "
                "'balanced_accuracy >= 0.8'."
            )
        warn(f"{message} {'It is' if len(left_out) == 1 else 'They are'} left out.")
    return kept


def _why_not(rule: Rule, *, paired: bool) -> str | None:
    if rule.metric is None:
        return "a count"
    if rule.over is not None:
        return f"a {rule.over} of segments"
    if rule.operator == "==":
        return "no interval has only this value"
    if not rule.metric.interval.is_linear:
        return f"{rule.quantity} is neither a proportion nor a mean of recalls"
    if rule.is_relative and paired and not rule.metric.interval.is_paired:
        return f"the denominator of {rule.quantity} depends on the predictions"
    return None
