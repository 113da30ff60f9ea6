"""Averages over labels of metrics that look at one label each, as scikit-learn names them.

As in scikit-learn, a label that occurs in the truth and is never predicted has precision 0 there:
otherwise a model would gain by ignoring a label. A label that does not occur in the segment is left
out of the average, unless `absent="zero"` or `"null"` says otherwise.
"""

from functools import partial

import numpy as np

from balframe.core.array_types import FloatArray
from balframe.core.class_counts import ClassCounts
from balframe.core.safe_divide import ratio
from balframe.metrics.registry import metric
from balframe.stats.label_ratios import F1, JACCARD, PRECISION, linearise_average
from balframe.stats.linearised_intervals import Linearised
from balframe.stats.mean_recall import precisions_of_labels
from balframe.stats.metric_intervals import MeanOfRecalls, Parts, Proportion

_F1_MACRO = partial(linearise_average, F1, "macro")
_F1_WEIGHTED = partial(linearise_average, F1, "weighted")


def _label_precision(c: ClassCounts) -> FloatArray:
    return np.where((c.support > 0) & (c.predicted == 0), 0.0, c.precision)


def _label_f1(c: ClassCounts) -> FloatArray:
    return ratio(2 * c.correct, c.support + c.predicted)


def _label_jaccard(c: ClassCounts) -> FloatArray:
    return ratio(c.correct, c.support + c.false_alarms)


@metric(
    range=(0, 1),
    source="scikit-learn, precision_score(average='macro')",
    interval=MeanOfRecalls(precisions_of_labels, among_predicted=True),
)
def precision_macro(c: ClassCounts) -> FloatArray:
    """Mean precision over the labels that occur: mean_k TP_k / (TP_k + FP_k).

    A label that occurs in the truth and is never predicted counts as 0, as in scikit-learn.
    """
    return c.mean_over_labels(_label_precision(c))


@metric(
    range=(0, 1),
    source="scikit-learn, precision_score(average='weighted')",
    interval=Linearised(partial(linearise_average, PRECISION, "weighted")),
)
def precision_weighted(c: ClassCounts) -> FloatArray:
    """Mean precision weighted by support: sum_k P_k TP_k / (TP_k + FP_k) / sum_k P_k.

    A label that occurs in the truth and is never predicted counts as 0, as in scikit-learn.
    """
    return c.mean_over_labels(_label_precision(c), c.support)


@metric(
    range=(0, 1), source="scikit-learn, f1_score(average='macro')", interval=Linearised(_F1_MACRO)
)
def f1_macro(c: ClassCounts) -> FloatArray:
    """Mean F1 over the labels that occur: mean_k 2 TP_k / (2 TP_k + FP_k + FN_k)."""
    return c.mean_over_labels(_label_f1(c))


@metric(
    range=(0, 1),
    source="scikit-learn, f1_score(average='weighted')",
    interval=Linearised(_F1_WEIGHTED),
)
def f1_weighted(c: ClassCounts) -> FloatArray:
    """Mean F1 weighted by support: sum_k P_k F1_k / sum_k P_k."""
    return c.mean_over_labels(_label_f1(c), c.support)


@metric(
    range=(0, 1),
    source="scikit-learn, jaccard_score(average='macro')",
    interval=Linearised(partial(linearise_average, JACCARD, "macro"), guard=_F1_MACRO),
)
def jaccard_macro(c: ClassCounts) -> FloatArray:
    """Mean Jaccard index over the labels that occur: mean_k TP_k / (TP_k + FP_k + FN_k)."""
    return c.mean_over_labels(_label_jaccard(c))


@metric(
    range=(0, 1),
    source="scikit-learn, jaccard_score(average='weighted')",
    interval=Linearised(partial(linearise_average, JACCARD, "weighted"), guard=_F1_WEIGHTED),
)
def jaccard_weighted(c: ClassCounts) -> FloatArray:
    """Mean Jaccard index weighted by support: sum_k P_k J_k / sum_k P_k."""
    return c.mean_over_labels(_label_jaccard(c), c.support)


def _accuracy_parts(c: ClassCounts) -> Parts:
    return c.total_correct, c.total


def _jaccard_of_accuracy(c: ClassCounts, accuracy: FloatArray) -> FloatArray:
    return accuracy / (2 - accuracy)


@metric(
    range=(0, 1),
    source="scikit-learn, jaccard_score(average='micro')",
    interval=Proportion(_accuracy_parts, _jaccard_of_accuracy, is_linear=False),
)
def jaccard_micro(c: ClassCounts) -> FloatArray:
    """Jaccard index of all labels pooled: sum_k TP_k / sum_k (TP_k + FP_k + FN_k)."""
    return ratio(c.total_correct, c.sum(c.support + c.false_alarms))
