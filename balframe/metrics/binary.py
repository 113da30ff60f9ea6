"""Metrics of one label, the positive one, against all others."""

import numpy as np

from balframe.core.arrays import FloatArray
from balframe.core.class_counts import ClassCounts, ratio
from balframe.metrics.registry import metric

_NEEDS = ("pos_label",)


@metric(
    range=(0, 1), needs=_NEEDS, aliases=("sensitivity", "tpr", "true_positive_rate", "hit_rate")
)
def recall(c: ClassCounts) -> FloatArray:
    """Share of the positives that are found: TP / (TP + FN)."""
    p = c.positive
    return ratio(p.tp, p.tp + p.fn)


@metric(range=(0, 1), needs=_NEEDS, aliases=("tnr", "true_negative_rate"))
def specificity(c: ClassCounts) -> FloatArray:
    """Share of the negatives that are left alone: TN / (TN + FP)."""
    p = c.positive
    return ratio(p.tn, p.tn + p.fp)


@metric(range=(0, 1), needs=_NEEDS, aliases=("ppv", "positive_predictive_value"))
def precision(c: ClassCounts) -> FloatArray:
    """Share of the predicted positives that are right: TP / (TP + FP)."""
    p = c.positive
    return ratio(p.tp, p.tp + p.fp)


@metric(range=(0, 1), needs=_NEEDS, aliases=("negative_predictive_value",))
def npv(c: ClassCounts) -> FloatArray:
    """Share of the predicted negatives that are right: TN / (TN + FN)."""
    p = c.positive
    return ratio(p.tn, p.tn + p.fn)


@metric(range=(0, 1), better="lower", needs=_NEEDS, aliases=("fpr", "fall_out"))
def false_positive_rate(c: ClassCounts) -> FloatArray:
    """Share of the negatives called positive: FP / (FP + TN)."""
    p = c.positive
    return ratio(p.fp, p.fp + p.tn)


@metric(range=(0, 1), better="lower", needs=_NEEDS, aliases=("fnr", "miss_rate"))
def false_negative_rate(c: ClassCounts) -> FloatArray:
    """Share of the positives that are missed: FN / (FN + TP)."""
    p = c.positive
    return ratio(p.fn, p.fn + p.tp)


@metric(range=(0, 1), better="lower", needs=_NEEDS, aliases=("fdr",))
def false_discovery_rate(c: ClassCounts) -> FloatArray:
    """Share of the predicted positives that are wrong: FP / (FP + TP)."""
    p = c.positive
    return ratio(p.fp, p.fp + p.tp)


@metric(range=(0, 1), better="lower", needs=_NEEDS, aliases=("for",))
def false_omission_rate(c: ClassCounts) -> FloatArray:
    """Share of the predicted negatives that are wrong: FN / (FN + TN)."""
    p = c.positive
    return ratio(p.fn, p.fn + p.tn)


@metric(range=(0, 1), needs=_NEEDS, aliases=("f1_score", "f_measure"))
def f1(c: ClassCounts) -> FloatArray:
    """Harmonic mean of precision and recall: 2 TP / (2 TP + FP + FN)."""
    p = c.positive
    return ratio(2 * p.tp, 2 * p.tp + p.fp + p.fn)


@metric(range=(0, 1), needs=_NEEDS, aliases=("jaccard_score", "critical_success_index"))
def jaccard(c: ClassCounts) -> FloatArray:
    """Positives found, among all rows that are or were called positive: TP / (TP + FP + FN)."""
    p = c.positive
    return ratio(p.tp, p.tp + p.fp + p.fn)


@metric(range=(0, 1), better=None, needs=_NEEDS, aliases=("predicted_positive_rate",))
def selection_rate(c: ClassCounts) -> FloatArray:
    """Share of rows called positive: (TP + FP) / n."""
    return ratio(c.positive.tp + c.positive.fp, c.positive.total)


@metric(range=(0, 1), better=None, needs=_NEEDS, aliases=("base_rate",))
def prevalence(c: ClassCounts) -> FloatArray:
    """Share of rows that are positive: (TP + FN) / n."""
    return ratio(c.positive.tp + c.positive.fn, c.positive.total)


@metric(range=(-1, 1), needs=_NEEDS, aliases=("youden_j",), source="Youden 1950")
def informedness(c: ClassCounts) -> FloatArray:
    """Both recalls above chance, with two labels 2 BA - 1: recall + specificity - 1."""
    return recall(c) + specificity(c) - 1


@metric(range=(0, np.inf), needs=_NEEDS, aliases=("lr_plus",))
def positive_likelihood_ratio(c: ClassCounts) -> FloatArray:
    """How much a positive call raises the odds of being positive: recall / (1 - specificity)."""
    return ratio(recall(c), false_positive_rate(c))


@metric(range=(0, np.inf), better="lower", needs=_NEEDS, aliases=("lr_minus",))
def negative_likelihood_ratio(c: ClassCounts) -> FloatArray:
    """How much a negative call lowers the odds of being positive: (1 - recall) / specificity."""
    return ratio(false_negative_rate(c), specificity(c))


@metric(range=(0, np.inf), needs=_NEEDS, aliases=("dor",), source="Glas et al. 2003")
def diagnostic_odds_ratio(c: ClassCounts) -> FloatArray:
    """Odds of a positive call among positives over those among negatives: TP TN / (FP FN)."""
    p = c.positive
    return ratio(p.tp, p.fn) * ratio(p.tn, p.fp)
