"""Metrics of all rows, if only some have a true label: estimates and limits from strata."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from balframe.core.array_types import BoolArray, FloatArray
from balframe.core.class_counts import ClassCounts
from balframe.core.safe_divide import ratio
from balframe.core.strata import Strata, is_correction
from balframe.errors import InvalidInputError, listed
from balframe.metrics.base import BaseMetric
from balframe.stats.base import COMPARED, GATE
from balframe.stats.partly_labelled import (
    Completions,
    least_doubts,
    share_gate_limits,
    share_limits,
)
from balframe.stats.partly_labelled_differences import (
    mover_limits_and_p_values,
    share_differences,
)
from balframe.stats.partly_labelled_recalls import (
    CorrectedScore,
    LinearScore,
    LinearTransform,
    MeanRecall,
    Purpose,
    Recall,
    transform_limits,
)
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
_PURPOSES: dict[str | None, Purpose] = {COMPARED: "difference", GATE: "rule"}
_RATES = ("selection_rate", "prevalence")
PARTLY_LABELLED = (*_SHARES, *_RECALLS, *_MEANS, *_RATES)


def check_can_estimate(metrics: Mapping[str, BaseMetric], options: Mapping[str, Any]) -> None:
    """Raise for metrics that partly labelled rows have no estimates or limits of."""
    if not is_correction(options["missing"]):
        return
    check_metrics([each.name for each in metrics.values()], PARTLY_LABELLED, "estimated")


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


def has_limits(metric: BaseMetric, c: ClassCounts) -> bool:
    """Return whether a metric has limits if rows lack a true label.

    Means of more than two recalls have none.
    """
    return metric.name in PARTLY_LABELLED and (metric.name not in _MEANS or c.n_labels <= 2)


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
    """Return the limits of a metric of all rows; NaN for means of more than two recalls."""
    if metric.name == "selection_rate":
        share = share_strata(metric, c, strata)
        right = share.right.sum(axis=1)
        return (clopper_pearson if method == GATE else wilson)(right, share.n, level)
    if not has_limits(metric, c):
        nothing = np.full(len(strata.rows), np.nan)
        return nothing, nothing
    if strata.is_bounded:
        limits = completions(metric, c, strata).limits(level, method)
        return transform_limits(limits, *linear_form(metric))
    if is_share(metric):
        share = share_strata(metric, c, strata)
        if method == GATE:
            return share_gate_limits(share, level)
        return share_limits(share, level, skewness=method == "scas")
    purpose = _PURPOSES.get(method, "report")
    return corrected_score(metric, c, strata).limits(normal_quantile(level), purpose)


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

    def limits_of(s: Strata) -> Limits:
        return corrected_limits(metric, c, s, method, level)

    return least_doubts(strata, bound, limits_of)


def linear_form(metric: BaseMetric) -> tuple[float, float]:
    """Return slope and origin of a metric as a function of a share, or of a mean of recalls."""
    if metric.name in _MEANS:
        return _MEANS[metric.name], 1 - _MEANS[metric.name]
    return (-1, 1) if _RECALLS.get(metric.name, (True, False))[1] else (1, 0)


def completions(metric: BaseMetric, c: ClassCounts, strata: Strata) -> Completions:
    """Return the rows of the completions that bound a metric, before `linear_form`."""
    if is_share(metric):
        return Completions.of_share(share_strata(metric, c, strata))
    return _recall_or_mean(metric, c, strata).completions()


def corrected_score(metric: BaseMetric, c: ClassCounts, strata: Strata) -> CorrectedScore:
    """Return a recall, a mean of two, or a linear transform of these."""
    return LinearTransform(_recall_or_mean(metric, c, strata), *linear_form(metric))


def _recall_or_mean(metric: BaseMetric, c: ClassCounts, strata: Strata) -> Recall | MeanRecall:
    predicted = np.asarray(strata.prediction == c.pos_label)
    strata = _of_positive_label(strata, predicted)
    of_label, of_others = Recall(strata, predicted), Recall(strata, ~predicted)
    if metric.name in _MEANS:
        return MeanRecall(of_label, of_others)
    return of_label if _RECALLS[metric.name][0] else of_others


def corrected_estimate(metric: BaseMetric, c: ClassCounts, strata: Strata) -> FloatArray:
    """Return estimates of all rows; NaN where a stratum that matters has no label."""
    if not is_share(metric):
        lowest, _ = corrected_score(metric, c, strata).extremes()
        return np.where(strata.lacks_labels, np.nan, lowest)
    share = share_strata(metric, c, strata)
    p = np.nan_to_num(ratio(share.right, share.labelled))
    return np.where(share.lacks_labels | (share.n == 0), np.nan, (share.share * p).sum(axis=1))


@dataclass(frozen=True, slots=True)
class LinearRule:
    """A rule on a metric of all rows, as one that a linear score is above a bound.

    `near` is the share or recall near the observed shares, and the metric changes `width` times as
    much. For a mean of two recalls, `predicted` are the strata that are predicted to have the label
    of the first.
    """

    score: LinearScore
    bound: float
    near: LinearScore
    width: float
    predicted: BoolArray | None = None

    @classmethod
    def of(
        cls, metric: BaseMetric, c: ClassCounts, s: Strata, bound: float, *, is_lower_bound: bool
    ) -> "LinearRule":
        """Return the rule that a metric is above, or below, a bound; the latter is mirrored."""
        slope, origin = linear_form(metric)
        bound, is_lower_bound = (bound - origin) / slope, is_lower_bound == (slope > 0)
        bound = bound if is_lower_bound else 1 - bound
        if is_share(metric):
            share = share_strata(metric, c, s)
            right = share.right if is_lower_bound else share.labelled - share.right
            near = LinearScore.of_share(replace(share, right=right))
            return cls(near, bound, near, 1)
        score = _recall_or_mean(metric, c, s)
        score = score if is_lower_bound else score.mirrored()
        near = score.linearised()
        if isinstance(score, MeanRecall):
            return cls(near, bound, near, abs(slope), score.recall.predicted)
        return cls(score.contrast(bound), 0.0, near, abs(slope))


def corrected_differences(
    metric: BaseMetric,
    counts: tuple[ClassCounts, ClassCounts],
    strata: tuple[Strata, Strata],
    level: float,
) -> tuple[Limits, FloatArray]:
    """Return limits of the differences of a metric of two sides, and p-values of no difference."""
    own, other = zip(counts, strata, strict=True)
    if not has_limits(metric, counts[0]):
        lower, upper, p = np.full((3, len(strata[0].rows)), np.nan)
        return (lower, upper), p
    if strata[0].is_bounded:
        limits, p = completions(metric, *own).differences(completions(metric, *other), level)
        slope, _ = linear_form(metric)
        return transform_limits(limits, slope, 0), p
    if is_share(metric):
        return share_differences(share_strata(metric, *own), share_strata(metric, *other), level)
    scores = corrected_score(metric, *own), corrected_score(metric, *other)
    return mover_limits_and_p_values(*scores, level)
