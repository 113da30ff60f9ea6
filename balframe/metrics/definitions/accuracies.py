"""Accuracies: means of the recalls of the labels, under one weighting or another."""

import numpy as np

from balframe.core.array_types import FloatArray
from balframe.core.class_counts import ClassCounts
from balframe.core.safe_divide import ratio
from balframe.metrics.registry import metric, proportion
from balframe.stats.base import NoInterval
from balframe.stats.mean_recall import recalls_under_class_weight
from balframe.stats.metric_intervals import GeometricMeanOfRecalls, MeanOfRecalls, Parts, Proportion

BRODERSEN = "Brodersen et al. 2010, The balanced accuracy and its posterior distribution"
COENEN = "Coenen 2014, normalised accuracy"


def rescale_from_chance(score: FloatArray, chance: FloatArray) -> FloatArray:
    """Rescale a score so that chance is 0 and perfection 1; undefined where chance is 1."""
    return ratio(score - chance, 1 - chance)


def _accuracy_parts(c: ClassCounts) -> Parts:
    return c.total_correct, c.total


@proportion(
    among="all",
    aliases=(
        "acc",
        "accuracy_score",
        "f1_micro",
        "precision_micro",
        "recall_micro",
        "recall_weighted",
    ),
    source="scikit-learn, accuracy_score",
    chance="majority",
)
def accuracy(c: ClassCounts) -> Parts:
    """Share of rows predicted correctly: sum_k TP_k / n."""
    return _accuracy_parts(c)


@metric(
    range=(0, 1),
    aliases=("bal_acc", "bac", "bacc", "balanced_accuracy_score", "uar", "recall_macro"),
    source=BRODERSEN,
    interval=MeanOfRecalls(),
    chance="uniform",
)
def balanced_accuracy(c: ClassCounts) -> FloatArray:
    """Mean recall over the labels present in the segment: mean_k TP_k / P_k.

    It differs from scikit-learn's macro recall if a label is predicted but never true. There,
    scikit-learn counts a recall of 0, as `absent="zero"` does here.
    """
    return c.mean_recall


def _adjust(c: ClassCounts, mean: FloatArray) -> FloatArray:
    labels = np.full(c.n_segments, c.n_labels) if c.absent == "zero" else c.n_present
    return rescale_from_chance(mean, ratio(np.ones(c.n_segments), labels))


@metric(
    range=(-1, 1),
    source="scikit-learn, balanced_accuracy_score(adjusted=True)",
    interval=MeanOfRecalls(transform=_adjust),
    chance=0,
)
def adjusted_balanced_accuracy(c: ClassCounts) -> FloatArray:
    """Balanced accuracy rescaled so that chance with K labels present is 0: (BA - 1/K) / (1 - 1/K).

    The smallest possible value is 1/(1-K). It is undefined with a single label.
    """
    return _adjust(c, c.mean_recall)


def _normalize(c: ClassCounts, value: FloatArray) -> FloatArray:
    if c.n_labels == 1:
        return np.where(value == 1, 0.0, np.nan)
    labels = np.full(c.n_segments, c.n_labels)
    return rescale_from_chance(value, ratio(np.ones(c.n_segments), labels))


@metric(
    range=(-1, 1),
    aliases=("normalised_accuracy",),
    source=COENEN,
    interval=Proportion(_accuracy_parts, _normalize, among="all"),
    chance=0,
)
def normalized_accuracy(c: ClassCounts) -> FloatArray:
    """Accuracy rescaled so that chance among all C labels is 0: (acc - 1/C) / (1 - 1/C).

    With a single label a perfect accuracy scores 0, as in Coenen's table.
    """
    return _normalize(c, accuracy(c))


@metric(
    range=(0, 1),
    aliases=("gmean", "g_mean"),
    source="Kubat and Matwin 1997, g-mean",
    interval=GeometricMeanOfRecalls(),
    chance="uniform",
)
def geometric_mean(c: ClassCounts) -> FloatArray:
    """Geometric mean of the recalls, 0 if any of them is 0: (prod_k R_k)^(1/K).

    With few rows the logarithm of a recall is too low on average. The limits of the confidence
    interval are null where this bias exceeds half a standard error of the mean, and where a recall
    is 0.
    """
    with np.errstate(divide="ignore", invalid="ignore"):
        log_recall = np.log(c.correct) - np.log(c.support)  # of a ratio too small for a float
        is_small = (c.recall < np.finfo(np.float64).tiny) & (c.correct > 0)
        mean = np.exp(c.mean_over_labels(np.where(is_small, log_recall, np.log(c.recall))))
    has_absent_zero = (c.absent == "zero") & (c.n_present < c.n_labels) & (c.total > 0)
    return np.where(has_absent_zero, 0.0, mean)


@metric(
    range=(0, 1),
    needs=("class_weight",),
    aliases=("baw",),
    source="Brodersen et al. 2010, with weights in place of 1/K",
    interval=MeanOfRecalls(recalls_under_class_weight),
    chance="uniform",
)
def weighted_balanced_accuracy(c: ClassCounts) -> FloatArray:
    """Mean recall, weighted by label: sum_k w_k R_k / sum_k w_k.

    `class_weight="balanced"` weights all labels equally, which is the balanced accuracy.
    `"prevalence"` gives the accuracy. {positive: a, negative: 1 - a} gives the alpha-weighted
    accuracy. Labels absent from a segment are left out, and the other weights are rescaled.
    """
    if c.class_weight is None or isinstance(c.class_weight, str):
        is_prevalence = c.class_weight == "prevalence"
        return c.mean_over_labels(c.recall, c.support if is_prevalence else None)
    return c.mean_over_labels(c.recall, c.class_weight[c.label], c.class_weight.sum())


@metric(
    range=(0, 1),
    better=None,
    aliases=("nir",),
    source="caret, confusionMatrix",
    interval=NoInterval("a maximum is not smooth"),
)
def no_information_rate(c: ClassCounts) -> FloatArray:
    """Accuracy of always predicting the segment's most frequent label: max_k P_k / n."""
    largest = np.zeros(c.n_segments)
    np.maximum.at(largest, c.segment, c.support)
    return ratio(largest, c.total)


@proportion(
    among="all",
    better="lower",
    aliases=("error_rate", "misclassification_rate", "zero_one_loss"),
    source="scikit-learn, hamming_loss",
)
def hamming_loss(c: ClassCounts) -> Parts:
    """Share of rows predicted wrongly: 1 - accuracy."""
    return c.sum(c.missed), c.total
