"""The rows of `power` if only some rows have a true label: how many of each stratum to label."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from balframe._validate import is_number
from balframe.api.metric_selection import MetricSelection
from balframe.core.array_types import FloatArray, Int64Array
from balframe.core.cells import segment_positions
from balframe.core.sample import Sample
from balframe.core.strata import Strata, places
from balframe.errors import NAME, InvalidInputError, parameter
from balframe.frames.adapter import Name
from balframe.frames.counted_frame import CountedFrame
from balframe.methods.gates.evidence import check_applies, rule_segments
from balframe.methods.gates.power_columns import as_row_counts
from balframe.methods.gates.power_of_labels import LabelPlan
from balframe.methods.gates.rules import Rule
from balframe.metrics.partly_labelled import (
    PARTLY_LABELLED,
    LinearRule,
    check_metrics,
    corrected_estimate,
    has_limits,
    is_share,
)
from balframe.stats.lazy_scipy import special
from balframe.stats.proportions import normal_quantile

_NOT_PLANNED = ("selection_rate",)  # which needs no labels
_IS_IN_RULE = "is in rule"
_VALUES = ("estimate", "power_at_zero", "labels_needed", "half_width", _IS_IN_RULE)


def check_can_plan(rules: Sequence[Rule], options: Mapping[str, Any]) -> None:
    """Raise for rules and options that labels are not planned for."""
    for name in ("baseline", "disagreement", "design_effect", "trials", "cluster"):
        if options[name] is not None:
            raise InvalidInputError(
                "{} cannot be combined with {missing}, which plans how many rows to label; omit "
                "one.",
                parameter(name, NAME),
                missing="correct",
            )
    metrics = [rule.metric.name for rule in rules if rule.metric is not None]
    allowed = tuple(name for name in PARTLY_LABELLED if name not in _NOT_PLANNED)
    check_metrics(metrics, allowed, "planned")


def check_half_width(half_width: object, missing: object) -> None:
    """Raise unless labels are planned for a half width of an interval, or it is None."""
    if half_width is None:
        return
    if missing != "correct":
        raise InvalidInputError(
            "{half_width} is for rows to be labelled; give {missing} too.",
            half_width=half_width,
            missing="correct",
        )
    if not is_number(half_width) or not 0 < half_width < 0.5:
        raise InvalidInputError(
            "{half_width} is not the half width of an interval; give a number between 0 and 0.5, "
            "such as 0.05.",
            half_width=half_width,
        )


@dataclass(frozen=True, slots=True)
class LabelRequest:
    """What labels are planned for: powers of rules, or a half width of their metrics' intervals."""

    powers: Sequence[float]
    level: float
    simultaneous: bool
    half_width: float | None
    n_segment_keys: int

    def columns(
        self, rules: Sequence[Rule], selection: MetricSelection, counted_frame: CountedFrame
    ) -> dict[Name, Any]:
        """Return the columns of one row per stratum, rule and power."""
        sample = selection.sample(counted_frame)
        first = counted_frame.cells.segments[1]
        segment_keys = [codes[first] for codes in counted_frame.cells.by[: self.n_segment_keys]]
        segment = segment_positions(segment_keys, len(first))
        powers = self.powers if self.half_width is None else [np.nan]
        with np.errstate(invalid="ignore", divide="ignore", over="ignore"):
            plans = [self._rule_columns(rule, sample, segment, counted_frame) for rule in rules]
        shape = len(first), len(rules), len(powers)
        values = {name: np.stack([plan[name] for plan in plans], axis=1) for name in _VALUES}
        stratum, rule, power = (
            index.ravel()[values[_IS_IN_RULE].ravel() > 0] for index in np.indices(shape)
        )
        at = stratum, rule, power
        return counted_frame.by_columns(first[stratum]) | {
            "rule": counted_frame.text_column([rule.text for rule in rules], rule),
            "power": np.asarray(powers, np.float64)[power],
            "bound": np.array([rule.bound for rule in rules])[rule],
            **{name: values[name][at] for name in ("estimate", "power_at_zero", "half_width")},
            "labels_needed": counted_frame.count_column(as_row_counts(values["labels_needed"][at])),
            "n": sample.n[stratum],
            "n_labelled": sample.counts.n[stratum],
        }

    def _rule_columns(
        self, rule: Rule, sample: Sample, segment: Int64Array, counted_frame: CountedFrame
    ) -> dict[str, FloatArray]:
        """Return what is planned for a rule, of the shape (strata, powers)."""
        assert rule.metric is not None
        assert sample.strata is not None
        check_applies(rule, counted_frame)
        if not has_limits(rule.metric, sample.counts):
            raise InvalidInputError(
                f"metric {rule.metric.name!r} is a mean of {sample.counts.n_labels} recalls, and "
                "labels are planned for means of two only; give a rule on one recall or precision."
            )
        is_in_rule = np.isin(np.arange(len(segment)), rule_segments(rule, counted_frame))
        pilot = _by_segment(sample.strata, segment)
        estimate = corrected_estimate(rule.metric, sample.counts, pilot)
        n_together = len(np.unique(segment[is_in_rule])) if self.simultaneous else 1
        z = -float(special.ndtri((1 - self.level) / max(n_together, 1) / 2))
        linear = LinearRule.of(
            rule.metric,
            sample.counts,
            pilot,
            rule.bound,
            is_lower_bound=rule.operator in (">=", ">"),
        )
        quantiles = np.full(len(estimate), z)
        plan = LabelPlan.of(linear.score, linear.bound, quantiles, linear.predicted)
        wide = LabelPlan.of(linear.near, linear.bound, quantiles)
        is_planned = np.isfinite(estimate)
        if not is_share(rule.metric):
            is_planned &= pilot.has_both(sample.counts.pos_label)
        passes = np.where(is_planned, plan.pass_probability(), np.nan)
        labels = self._labels(plan, wide, linear.width)
        labels = np.where(is_planned[:, None, None], labels, np.nan)
        has_plan = np.isfinite(labels).all(axis=1)
        half_width = [
            linear.width
            * wide.with_labels(np.nan_to_num(each, nan=1.0)).half_width(normal_quantile(self.level))
            for each in np.moveaxis(labels, -1, 0)
        ]
        of_powers = np.ones(labels.shape[-1])
        return {
            "estimate": np.outer(estimate[segment], of_powers),
            "power_at_zero": np.outer(passes[segment], of_powers),
            "labels_needed": labels[segment, places(segment)],
            "half_width": np.where(has_plan, np.stack(half_width, axis=-1), np.nan)[segment],
            _IS_IN_RULE: np.outer(is_in_rule, of_powers),
        }

    def _labels(self, plan: LabelPlan, wide: LabelPlan, width: float) -> FloatArray:
        """Return the labels to be had, of the shape (segments, strata, powers)."""
        if self.half_width is not None:
            half_width = self.half_width / width
            return wide.for_half_width(half_width, normal_quantile(self.level))[..., None]
        (n_segments, n_strata), n_powers = plan.strata.rows.shape, len(self.powers)
        repeated = plan.at(np.repeat(np.arange(n_segments), n_powers))  # one search is faster
        labels = repeated.for_power(np.tile(self.powers, n_segments))
        return np.moveaxis(labels.reshape(n_segments, n_powers, n_strata), 1, 2)


def _by_segment(strata: Strata, segment: Int64Array) -> Strata:
    """Put strata, each a segment of its own so far, side by side."""
    assert strata.positive is not None
    counts = (strata.rows, strata.labelled, strata.right, strata.positive)
    n_segments = int(segment.max(initial=-1)) + 1
    columns = (column[:, 0] for column in counts)
    return Strata.of(segment, strata.prediction[:, 0], n_segments, *columns)
