"""Metrics of all rows, if only some have a true label: estimates and limits from strata."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from balframe.core.array_types import BoolArray, FloatArray, Int64Array
from balframe.core.class_counts import ClassCounts
from balframe.core.safe_divide import ratio
from balframe.core.strata import Strata, is_correction
from balframe.errors import InvalidInputError, listed
from balframe.metrics.base import BaseMetric
from balframe.stats.base import GATE
from balframe.stats.partly_labelled import (
    least_doubts,
    share_bounds,
    share_gate_limits,
    share_limits,
)
from balframe.stats.partly_labelled_differences import (
    LimitsAt,
    mover_limits_and_p_values,
    share_differences,
)
from balframe.stats.partly_labelled_recalls import Recall, mean_recall_limits
from balframe.stats.proportions import Limits, clopper_pearson, normal_quantile, wilson

_SHARES = {  # which predictions they are shares of, and whether of wrong rows
    "accuracy": ("all", False),
    "hamming_loss": ("all", True),
    "precision": ("positive", False),
    "false_discovery_rate": ("positive", True),
    "npv": ("negative", False),
    "false_omission_rate": ("negative", True),
}
_RECALLS = {  # of the positive label, and whether of wrong rows
    "recall": (True, False),
    "false_negative_rate": (True, True),
    "specificity": (False, False),
    "false_positive_rate": (False, True),
}
_MEANS = {"balanced_accuracy": 1, "adjusted_balanced_accuracy": 2, "informedness": 2}  # times it
_RATES = ("selection_rate", "prevalence")
PARTLY_LABELLED = (*_SHARES, *_RECALLS, *_MEANS, *_RATES)
DECIDED = (*_SHARES, *_RATES)  # whose limits decide rules


def check_can_estimate(metrics: Mapping[str, BaseMetric], options: Mapping[str, Any]) -> None:
    """Raise for metrics that partly labelled rows have no estimates or limits of."""
    if not is_correction(options["missing"]):
        return
    names = [each.name for each in metrics.values()]
    check_metrics(names, PARTLY_LABELLED, "estimated")
    if options["missing"] == "bounds" or options.get("doubt") is not None:
        check_metrics(names, DECIDED, "bounded, or estimated with doubt,")


def check_metrics(names: list[str], allowed: tuple[str, ...], purpose: str) -> None:
    """Raise for metrics that partly labelled rows have no estimates or limits of."""
    others = [name for name in names if name not in allowed]
    if others:
        raise InvalidInputError(
            "metric {!r} cannot be {} if rows lack a true label; known are {}.",
            others[0],
            purpose,
            listed(map(repr, allowed), len(allowed)),
        )


def corrected_values(
    metric: BaseMetric, c: ClassCounts, strata: Strata, values: FloatArray
) -> FloatArray:
    """Return values of weighted rows; NaN where a stratum that matters has no label."""
    if metric.name == "selection_rate":
        share = share_strata(metric, c, strata)
        return ratio(share.right.sum(axis=1), share.n)
    relevant = share_strata(metric, c, strata) if metric.name in _SHARES else strata
    return np.where(relevant.lacks_labels, np.nan, values)


def has_limits(metric: BaseMetric) -> bool:
    """Return whether a metric has limits if only some rows have a true label."""
    return metric.name in PARTLY_LABELLED


def is_share(metric: BaseMetric) -> bool:
    """Return whether a metric is a share of all rows, or of those with some prediction."""
    return metric.name in (*_SHARES, *_RATES)


def share_strata(metric: BaseMetric, c: ClassCounts, strata: Strata) -> Strata:
    """Return strata of the rows that a share is of, whose right rows are those that it counts."""
    predicted = np.asarray(strata.prediction == c.pos_label)
    if metric.name == "selection_rate":  # which all rows have
        return replace(strata, labelled=strata.rows, right=np.where(predicted, strata.rows, 0))
    if metric.name == "prevalence":
        assert strata.positive is not None
        return replace(strata, right=strata.positive)
    which, is_wrong = _SHARES[metric.name]
    if which != "all":
        strata = _of_positive_label(strata, predicted).only(predicted ^ (which == "negative"))
    return replace(strata, right=strata.labelled - strata.right) if is_wrong else strata


def _of_positive_label(strata: Strata, predicted: BoolArray) -> Strata:
    """Return strata whose right rows are right about the positive label against all others."""
    assert strata.positive is not None
    right = np.where(predicted, strata.positive, strata.labelled - strata.positive)
    return replace(strata, right=right)


def corrected_limits(
    metric: BaseMetric,
    c: ClassCounts,
    strata: Strata,
    method: str | None,
    level: float,
) -> Limits:
    """Return the limits of a metric of all rows."""
    if is_share(metric):
        return _share_limits(metric, share_strata(metric, c, strata), method, level, strata.doubt)
    if strata.is_bounded or strata.doubt > 1 or method == GATE:
        nothing = np.full(len(strata.rows), np.nan)
        return nothing, nothing
    return _recall_limits(metric, c, strata)(normal_quantile(level), slice(None))


def least_doubt(
    metric: BaseMetric,
    c: ClassCounts,
    strata: Strata,
    bound: float,
    method: str | None,
    level: float,
) -> FloatArray:
    """Return the least doubt about unlabelled rows that leaves a rule undecided."""
    if metric.name == "selection_rate":  # which needs no true label
        return np.full(len(strata.rows), np.inf)

    def limits_at(s: Strata, doubt: FloatArray) -> Limits:
        return _share_limits(metric, s, method, level, doubt)

    return least_doubts(share_strata(metric, c, strata), bound, limits_at)


def _share_limits(
    metric: BaseMetric,
    strata: Strata,
    method: str | None,
    level: float,
    doubt: FloatArray | float,
) -> Limits:
    if metric.name == "selection_rate":
        right = strata.right.sum(axis=1)
        return (clopper_pearson if method == GATE else wilson)(right, strata.n, level)
    if strata.is_bounded:
        return share_bounds(strata, level)
    if method == GATE:
        return share_gate_limits(strata, level, doubt=doubt)
    return share_limits(strata, level, skewness=method == "scas", doubt=doubt)


def _recall_limits(metric: BaseMetric, c: ClassCounts, strata: Strata) -> LimitsAt:
    """Return a function of normal quantiles, and of the positions of segments."""
    predicted = np.asarray(strata.prediction == c.pos_label)
    strata = _of_positive_label(strata, predicted)
    sensitivity, specificity = Recall(strata, predicted), Recall(strata, ~predicted)

    def limits_at(z: FloatArray | float, at: Int64Array | slice) -> Limits:
        if metric.name in _MEANS and c.n_labels > 2:  # a mean of more than two recalls
            nothing = np.full(len(predicted[at]), np.nan)
            return nothing, nothing
        if metric.name in _MEANS:
            scale = _MEANS[metric.name]
            low, high = mean_recall_limits(sensitivity.at(at), specificity.at(at), z)
            return scale * low - (scale - 1), scale * high - (scale - 1)
        of_positive, is_wrong = _RECALLS[metric.name]
        low, high = (sensitivity if of_positive else specificity).at(at).limits(z)
        return (1 - high, 1 - low) if is_wrong else (low, high)

    return limits_at


def corrected_differences(
    metric: BaseMetric,
    counts: tuple[ClassCounts, ClassCounts],
    strata: tuple[Strata, Strata],
    estimates: tuple[FloatArray, FloatArray],
    level: float,
) -> tuple[Limits, FloatArray]:
    """Return limits of the differences of a metric of two sides, and p-values of no difference."""
    sides = tuple(zip(counts, strata, strict=True))
    if is_share(metric):
        first, second = (share_strata(metric, *side) for side in sides)
        return share_differences(first, second, level)
    first_limits, second_limits = (_recall_limits(metric, *side) for side in sides)
    return mover_limits_and_p_values(estimates, (first_limits, second_limits), level)
