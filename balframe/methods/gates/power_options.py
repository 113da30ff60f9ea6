"""The options of `power`: which rules have a known power, and which values are valid."""

from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np

from balframe._validate import is_number, is_whole_number
from balframe.api.metric_selection import MetricSelection
from balframe.core.array_types import FloatArray, Int64Array
from balframe.errors import NAME, OPTION, InvalidInputError, Spelled, listed, warn
from balframe.frames.adapter import Name
from balframe.frames.counted_frame import CountedFrame
from balframe.methods.gates.baseline import Baseline
from balframe.methods.gates.power_analysis import PowerRequest, RulePower
from balframe.methods.gates.power_batches import RELIABILITY
from balframe.methods.gates.rules import Rule
from balframe.metrics.lookup import registered_metrics

Powers = float | Sequence[float]


def rules_with_power(rules: Sequence[Rule], *, paired: bool) -> list[Rule]:
    """Return the rules whose power is known, and warn of the others; raise if none is left."""
    left_out = {
        rule.text: reason for rule in rules if (reason := _reason_left_out(rule, paired=paired))
    }
    kept = [rule for rule in rules if rule.text not in left_out]
    if left_out:
        reasons = listed((f"{text!r} ({reason})" for text, reason in left_out.items()), 5)
        message = f"power is not known for {reasons}."
        if not kept:
            metrics = [metric.name for metric in registered_metrics() if metric.interval.is_linear]
            raise InvalidInputError(
                f"{message} Give a rule on one of {listed(metrics, len(metrics))}, such as "
                "'balanced_accuracy >= 0.8'."
            )
        warn(f"{message} {'It is' if len(left_out) == 1 else 'They are'} left out.")
    return kept


def _reason_left_out(rule: Rule, *, paired: bool) -> str | None:
    if rule.score_metric is not None:
        return f"{rule.quantity} is computed from scores"
    if rule.metric is None:
        return "a count"
    if rule.disparity is not None:
        return f"a {rule.disparity} of segments"
    if rule.operator == "==":
        return "no interval has only this value"
    if rule.metric.interval.trials_needed:
        return "differences of means over items are not planned" if rule.is_relative else None
    if not rule.metric.interval.is_linear:
        return f"{rule.quantity} is neither a proportion nor a mean of recalls"
    kind = rule.metric.interval
    if rule.is_relative and (kind.labels_depend_on_predictions or (paired and not kind.is_paired)):
        return f"the denominator of {rule.quantity} depends on the predictions"
    return None


def check_powers(power: Any) -> list[float]:  # noqa: ANN401 (what a caller gives)
    """Return the powers as a list, if they are valid."""
    powers = list(power) if isinstance(power, (list, tuple, np.ndarray)) else [power]
    if not all(is_number(value) and 0 < value < 1 for value in powers):
        raise InvalidInputError(
            "{power} is not a probability; give a number between 0 and 1, such as 0.8, or a list "
            "of them.",
            power=power,
        )
    if not powers or len(set(powers)) < len(powers):
        raise InvalidInputError(
            "{power} is empty or has a number twice; give each number once.", power=power
        )
    return [float(value) for value in powers]


def check_disagreement(
    disagreement: Any,  # noqa: ANN401 (what a caller gives)
    baseline: object,
    rules: Sequence[Rule],
) -> None:
    """Raise unless it is a share, and rules compare with a model without predictions."""
    if disagreement is None:
        return
    if not is_number(disagreement) or not 0 < disagreement <= 1:
        raise InvalidInputError(
            "{disagreement} is not a share; give a number above 0, up to 1, such as 0.1.",
            disagreement=disagreement,
        )
    if baseline is not None:
        raise InvalidInputError(
            "{disagreement} and {baseline} are both given, but the share of rows that only one "
            "model gets right follows from the baseline. Omit one.",
            disagreement=OPTION,
            baseline=OPTION,
        )
    if not any(rule.is_relative for rule in rules):
        raise InvalidInputError(
            "{disagreement} is given, but no rule compares with a baseline; give a rule such as "
            "'balanced_accuracy >= baseline - 0.02', or omit it.",
            disagreement=OPTION,
        )


def check_design_effect(
    design_effect: Any,  # noqa: ANN401 (what a caller gives)
    cluster: Name | None,
    disagreement: float | None,
) -> None:
    """Raise unless it is at least 1, and does not follow from clusters."""
    if design_effect is not None:
        if not is_number(design_effect) or not 1 <= design_effect < np.inf:
            raise InvalidInputError(
                "{design_effect} is not valid; give a number of at least 1, such as 2 if the "
                "variance is twice that of independent rows.",
                design_effect=design_effect,
            )
        if cluster is not None:
            raise InvalidInputError(
                "{design_effect} and {cluster} are both given, but the design effect follows from "
                "the clusters. Omit one.",
                design_effect=OPTION,
                cluster=cluster,
            )
    elif cluster is not None and disagreement is not None:
        raise InvalidInputError(
            "{cluster} cannot be combined with {disagreement}: the design effect of a difference "
            "is unknown without the predictions of both models. Give {design_effect} instead.",
            cluster=cluster,
            disagreement=OPTION,
            design_effect=Spelled("design=bf.design(design_effect=...)", None),
        )


def check_trials(trials: object, cluster: Name | None, rules: Sequence[Rule]) -> None:
    """Raise unless it is a number of rows of each cluster that is enough for the metrics."""
    if trials is None:
        return
    most, metric = max(
        (rule.metric.interval.trials_needed, rule.quantity)
        for rule in rules
        if rule.metric is not None
    )
    if not is_whole_number(trials, max(most, 1)):
        raise InvalidInputError(
            "{trials} is not valid; give a whole number of at least {}{}.",
            max(most, 1),
            f", as {metric} needs" if most > 1 else "",
            trials=trials,
        )
    if cluster is None:
        raise InvalidInputError(
            "{trials} is the planned number of rows of each cluster; give {cluster} too.",
            trials=trials,
            cluster=NAME,
        )


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
