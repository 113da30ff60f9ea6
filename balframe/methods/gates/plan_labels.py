"""The rows of `power` if only some rows have a true label: how many of each stratum to label."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from balframe._validate import is_number
from balframe.api.metric_selection import MetricSelection
from balframe.core.array_types import FloatArray, Int64Array
from balframe.core.strata import Strata
from balframe.errors import NAME, InvalidInputError, parameter
from balframe.frames.adapter import Name
from balframe.frames.counted_frame import CountedFrame
from balframe.frames.query import name_list
from balframe.methods.gates.power_of_labels import LabelPlan
from balframe.methods.gates.rules import Rule
from balframe.metrics.partly_labelled import DECIDED, check_metrics, share_strata
from balframe.metrics.registry import Metric
from balframe.stats.lazy_scipy import special
from balframe.stats.proportions import normal_quantile

_NOT_PLANNED = ("selection_rate",)  # which needs no labels
_UNKNOWN = -1


def strata_columns(by: Any, y_pred: Any, verdict: Any) -> list[Name]:  # noqa: ANN401 (names)
    """Return the columns whose combinations are the strata of all segments."""
    return list(dict.fromkeys([*name_list(by), *name_list(verdict), *name_list(y_pred)]))


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
    allowed = tuple(name for name in DECIDED if name not in _NOT_PLANNED)
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
            "{half_width} is no half width of an interval; give a number between 0 and 0.5, such "
            "as 0.05.",
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
        self, rules: Sequence[Rule], selection: MetricSelection, counted: CountedFrame
    ) -> dict[Name, Any]:
        """Return the columns of one row per stratum, rule and power."""
        sample = selection.sample(counted)
        first = counted.cells.segments[1]
        segment = _segments(counted, self.n_segment_keys)
        powers = self.powers if self.half_width is None else [np.nan]
        n, n_rows = len(first), len(rules) * len(powers)
        values: dict[str, FloatArray] = {
            name: np.full((n, len(rules), len(powers)), np.nan)
            for name in ("estimate", "power_at_zero", "labels_needed", "half_width")
        }
        for number, rule in enumerate(rules):
            assert rule.metric is not None
            assert sample.strata is not None
            strata = share_strata(rule.metric, sample.counts, sample.strata)
            position, pilot = _by_segment(strata, segment)
            plan = self._plan(rule, rule.metric, pilot)
            known = ~pilot.lacks_labels & (pilot.n > 0)
            share = np.where(pilot.labelled > 0, pilot.right, 0) / np.maximum(pilot.labelled, 1)
            estimate = np.where(known, (pilot.share * share).sum(axis=1), np.nan)
            values["estimate"][:, number] = estimate[segment][:, None]
            passes = np.where(known, plan.pass_probability(), np.nan)
            values["power_at_zero"][:, number] = passes[segment][:, None]
            for i, labels in enumerate(self._labels(plan)):
                values["labels_needed"][:, number, i] = labels[segment, position]
                enough = plan.with_labels(np.nan_to_num(labels, nan=1.0))
                half = enough.half_width(normal_quantile(self.level))
                half = np.where(np.isfinite(labels).all(axis=1), half, np.nan)
                values["half_width"][:, number, i] = half[segment]
        labels_needed = values["labels_needed"].ravel()
        is_known = np.isfinite(labels_needed)
        rows = np.repeat(np.arange(n), n_rows)
        texts = [rule.text for rule in rules]
        return counted.by_columns(first[rows]) | {
            "rule": counted.text_column(
                texts, np.tile(np.repeat(np.arange(len(rules)), len(powers)), n)
            ),
            "power": np.tile(np.asarray(powers, np.float64), n * len(rules)),
            "bound": np.tile(np.repeat([rule.bound for rule in rules], len(powers)), n),
            **{name: values[name].ravel() for name in ("estimate", "power_at_zero", "half_width")},
            "labels_needed": counted.count_column(
                np.where(is_known, np.nan_to_num(labels_needed), _UNKNOWN).astype(np.int64)
            ),
            "n": sample.n[rows],
            "n_labelled": sample.counts.n[rows],
        }

    def _plan(self, rule: Rule, metric: Metric, pilot: Strata) -> LabelPlan:
        n_together = (pilot.n > 0).sum() if self.simultaneous else 1
        tail = (1 - self.level) / max(int(n_together), 1) / 2
        z = np.full(len(pilot.rows), -float(special.ndtri(tail)))
        is_lower_bound = rule.operator in (">=", ">")
        return LabelPlan.of(pilot, rule.bound, z, is_lower_bound=is_lower_bound)

    def _labels(self, plan: LabelPlan) -> Iterator[FloatArray]:
        if self.half_width is not None:
            yield plan.for_half_width(self.half_width, normal_quantile(self.level))
            return
        for power in self.powers:
            yield plan.for_power(np.full(len(plan.z), power))


def _segments(counted: CountedFrame, n_keys: int) -> Int64Array:
    """Return the segment of every stratum, by the first by-columns."""
    first = counted.cells.segments[1]
    if not n_keys or not len(first):
        return np.zeros(len(first), np.int64)
    keys = np.column_stack([codes[first] for codes in counted.cells.by[:n_keys]])
    return np.unique(keys, axis=0, return_inverse=True)[1].ravel()


def _by_segment(strata: Strata, segment: Int64Array) -> tuple[Int64Array, Strata]:
    """Put the strata of each segment side by side; return the place of each among them too."""
    n_segments = int(segment.max(initial=-1)) + 1
    size = np.bincount(segment, minlength=n_segments)
    order = np.argsort(segment, kind="stable")
    position = np.empty(len(segment), np.int64)
    position[order] = np.arange(len(segment)) - (np.cumsum(size) - size)[segment[order]]
    columns = (strata.prediction, strata.rows, strata.labelled, strata.right)
    prediction, *counts = (column[order, 0] for column in columns)
    return position, Strata.of(segment[order], prediction, n_segments, *counts)
