"""The columns of the power of rules."""

from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np

from balframe.api.metric_selection import MetricSelection
from balframe.core.array_types import FloatArray, Int64Array
from balframe.frames.adapter import Name
from balframe.frames.counted_frame import CountedFrame
from balframe.methods.gates.baseline import Baseline
from balframe.methods.gates.power_analysis import PowerRequest, RulePower
from balframe.methods.gates.power_batches import RELIABILITY
from balframe.methods.gates.rules import Rule

_UNKNOWN = -1


def power_columns(
    request: PowerRequest,
    rules: Sequence[Rule],
    selection: MetricSelection,
    shared: MetricSelection,
    counted_frame: CountedFrame,
    baseline: Baseline | None,
) -> dict[Name, Any]:
    """Return the columns of the power of every rule.

    Rules on differences use the selection `shared`, of labels that both have.
    """
    all_segments = counted_frame if baseline is None else baseline.counted_frame
    positions = None if baseline is None else baseline.positions
    segments, rule_codes, powers = [], [], []
    for number, rule in enumerate(rules):
        if rule.is_relative:
            power = request.rule_power(rule, shared.sample(all_segments), all_segments, baseline)
            at = power.segments
        else:
            power = request.rule_power(rule, selection.sample(counted_frame), counted_frame, None)
            at = power.segments if positions is None else positions[power.segments]
        segments.append(at)
        rule_codes.append(np.full(len(at), number))
        powers.append(power)
    rows = np.concatenate(segments), np.concatenate(rule_codes)
    return _sorted_columns(request, rules, all_segments, *rows, powers)


def _sorted_columns(
    request: PowerRequest,
    rules: Sequence[Rule],
    counted_frame: CountedFrame,
    segments: Int64Array,
    rule_codes: Int64Array,
    powers: Sequence[RulePower],
) -> dict[Name, Any]:
    """Sort by margin, segment, rule and power."""
    _, first = counted_frame.cells.segments
    margin = counted_frame.segment_margins()[segments]
    order, n_powers = np.lexsort((rule_codes, segments, margin)), len(request.powers)

    def repeat(values: Any) -> Any:  # noqa: ANN401 (an array of any dtype)
        return np.repeat(np.concatenate([*values])[order], n_powers)

    def ravel(values: Iterable[FloatArray]) -> FloatArray:
        return np.asarray(np.concatenate([*values])[order].ravel())

    rows = np.repeat(order, n_powers)
    rule_codes = rule_codes[rows]
    return counted_frame.by_columns(first[segments[rows]]) | {
        "rule": counted_frame.text_column([rule.text for rule in rules], rule_codes),
        "power": np.tile(np.asarray(request.powers, np.float64), len(order)),
        "n": repeat(power.n for power in powers),
        "min_support": repeat(power.min_support for power in powers),
        **_cluster_columns(powers, repeat),
        "estimate": repeat(power.estimate for power in powers),
        "bound": np.array([rule.bound for rule in rules])[rule_codes],
        "detectable_difference": ravel(power.result.detectable_difference for power in powers),
        "power_at_zero": repeat(power.result.pass_probability for power in powers),
        "rows_needed": counted_frame.count_column(
            as_row_counts(ravel(power.result.rows_needed for power in powers))
        ),
        "clusters_needed": counted_frame.count_column(
            as_row_counts(ravel(power.result.clusters_needed for power in powers))
        ),
        "rows_needed_per_label": counted_frame.count_column(
            as_row_counts(ravel(power.result.rows_needed_per_label for power in powers))
        ),
        "reliability": counted_frame.text_column(
            RELIABILITY, repeat(power.result.reliability for power in powers)
        ),
    }


def _cluster_columns(powers: Sequence[RulePower], repeat: Callable[[Any], Any]) -> dict[Name, Any]:
    """Return the columns of clusters, where rows are in clusters."""
    clusters = [power.clusters for power in powers]
    if clusters[0].n_clusters is None:
        return {}
    return {
        "n_clusters": repeat(effects.n_clusters for effects in clusters),
        "effective_clusters": repeat(effects.effective_clusters for effects in clusters),
        "design_effect": repeat(effects.design_effect for effects in clusters),
    }


def as_row_counts(values: FloatArray) -> Int64Array:
    """Return numbers of rows as integers, unknown if undefined or too large."""
    is_usable = values < 2.0**53
    return np.where(is_usable, np.where(is_usable, values, 0).astype(np.int64), _UNKNOWN)
