"""Metrics of all rows, if only some have a true label: estimates and limits from strata."""

from dataclasses import replace

import numpy as np

from balframe.core.array_types import BoolArray, FloatArray
from balframe.core.class_counts import ClassCounts
from balframe.core.safe_divide import ratio
from balframe.core.strata import Strata
from balframe.errors import InvalidInputError, listed
from balframe.metrics.base import BaseMetric
from balframe.stats.base import GATE
from balframe.stats.partly_labelled import (
    Recall,
    mean_recall_limits,
    share_bounds,
    share_gate_limits,
    share_limits,
)
from balframe.stats.proportions import Limits, clopper_pearson, wilson

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
    relevant = strata
    if metric.name in _SHARES:
        relevant = _subset(strata, c, _SHARES[metric.name][0])
    if metric.name == "selection_rate":
        predicted = _predicted_positive(strata, c)
        return ratio(np.where(predicted, strata.rows, 0).sum(axis=1), strata.n)
    return np.where(relevant.lacks_labels, np.nan, values)


def corrected_limits(
    metric: BaseMetric,
    c: ClassCounts,
    strata: Strata,
    method: str | None,
    level: float,
) -> Limits:
    """Return the limits of a metric of all rows."""
    name = metric.name
    if name == "selection_rate":
        selected = np.where(_predicted_positive(strata, c), strata.rows, 0).sum(axis=1)
        return (clopper_pearson if method == GATE else wilson)(selected, strata.n, level)
    if name == "prevalence":
        predicted = _predicted_positive(strata, c)
        positive = np.where(predicted, strata.right, strata.labelled - strata.right)
        return _share_limits(replace(strata, right=positive), method, level)
    if name in _SHARES:
        which, is_wrong = _SHARES[name]
        limits = _share_limits(_subset(strata, c, which), method, level)
        return _mirrored(limits) if is_wrong else limits
    if strata.is_bounded or strata.doubt > 1 or method == GATE:
        nothing = np.full(len(strata.rows), np.nan)
        return nothing, nothing
    predicted = _predicted_positive(strata, c)
    if name in _RECALLS:
        of_positive, is_wrong = _RECALLS[name]
        limits = Recall(strata, predicted if of_positive else ~predicted).limits(level)
        return _mirrored(limits) if is_wrong else limits
    low, high = mean_recall_limits(Recall(strata, predicted), Recall(strata, ~predicted), level)
    scale = _MEANS[name]
    return scale * low - (scale - 1), scale * high - (scale - 1)


def _share_limits(strata: Strata, method: str | None, level: float) -> Limits:
    if strata.is_bounded:
        return share_bounds(strata, level)
    if method == GATE:
        return share_gate_limits(strata, level, doubt=strata.doubt)
    return share_limits(strata, level, skewness=method == "scas", doubt=strata.doubt)


def _mirrored(limits: Limits) -> Limits:
    return 1 - limits[1], 1 - limits[0]


def _predicted_positive(strata: Strata, c: ClassCounts) -> BoolArray:
    return np.asarray(strata.prediction == c.pos_label)


def _subset(strata: Strata, c: ClassCounts, which: str) -> Strata:
    if which == "all":
        return strata
    predicted = _predicted_positive(strata, c)
    return strata.only(predicted if which == "positive" else ~predicted)
