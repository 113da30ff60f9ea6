"""Averages over labels of metrics that look at one label each, as scikit-learn names them.

As in scikit-learn, a label that occurs in the truth and is never predicted has precision 0 there:
otherwise a model would gain by ignoring a label. A label that does not occur in the segment is left
out of the average, unless `absent="zero"` or `"null"` says otherwise.
"""

import numpy as np

from balframe.core.array_types import FloatArray
from balframe.core.class_counts import ClassCounts
from balframe.core.safe_divide import ratio
from balframe.metrics.registry import metric


def _label_precision(c: ClassCounts) -> FloatArray:
    return np.where((c.support > 0) & (c.predicted == 0), 0.0, c.precision)


def _label_f1(c: ClassCounts) -> FloatArray:
    return ratio(2 * c.correct, c.support + c.predicted)


def _label_jaccard(c: ClassCounts) -> FloatArray:
    return ratio(c.correct, c.support + c.false_alarms)


@metric(range=(0, 1), source="scikit-learn, precision_score(average='macro')")
def precision_macro(c: ClassCounts) -> FloatArray:
    """Mean precision over the labels that occur: mean_k TP_k / (TP_k + FP_k).

    A label that occurs in the truth and is never predicted counts as 0, as in scikit-learn.
    """
    return c.mean_over_labels(_label_precision(c))


@metric(range=(0, 1), source="scikit-learn, precision_score(average='weighted')")
def precision_weighted(c: ClassCounts) -> FloatArray:
    """Mean precision weighted by support: sum_k P_k TP_k / (TP_k + FP_k) / sum_k P_k.

    A label that occurs in the truth and is never predicted counts as 0, as in scikit-learn.
    """
    return c.mean_over_labels(_label_precision(c), c.support)


@metric(range=(0, 1), source="scikit-learn, f1_score(average='macro')")
def f1_macro(c: ClassCounts) -> FloatArray:
    """Mean F1 over the labels that occur: mean_k 2 TP_k / (2 TP_k + FP_k + FN_k)."""
    return c.mean_over_labels(_label_f1(c))


@metric(range=(0, 1), source="scikit-learn, f1_score(average='weighted')")
def f1_weighted(c: ClassCounts) -> FloatArray:
    """Mean F1 weighted by support: sum_k P_k F1_k / sum_k P_k."""
    return c.mean_over_labels(_label_f1(c), c.support)


@metric(range=(0, 1), source="scikit-learn, jaccard_score(average='macro')")
def jaccard_macro(c: ClassCounts) -> FloatArray:
    """Mean Jaccard index over the labels that occur: mean_k TP_k / (TP_k + FP_k + FN_k)."""
    return c.mean_over_labels(_label_jaccard(c))


@metric(range=(0, 1), source="scikit-learn, jaccard_score(average='weighted')")
def jaccard_weighted(c: ClassCounts) -> FloatArray:
    """Mean Jaccard index weighted by support: sum_k P_k J_k / sum_k P_k."""
    return c.mean_over_labels(_label_jaccard(c), c.support)


@metric(range=(0, 1), source="scikit-learn, jaccard_score(average='micro')")
def jaccard_micro(c: ClassCounts) -> FloatArray:
    """Jaccard index of all labels pooled: sum_k TP_k / sum_k (TP_k + FP_k + FN_k)."""
    return ratio(c.total_correct, c.sum(c.support + c.false_alarms))
