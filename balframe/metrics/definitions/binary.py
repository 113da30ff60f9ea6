"""Metrics of one label, the positive one, against all others."""

from functools import cache, partial

import numpy as np

from balframe.core.array_types import FloatArray
from balframe.core.class_counts import ClassCounts
from balframe.core.safe_divide import ratio, ratio_of_products, rescale
from balframe.metrics.parametric import Numbers, family
from balframe.metrics.registry import metric, proportion
from balframe.stats.label_ratios import f_beta, linearise_average
from balframe.stats.linearised_intervals import Linearised
from balframe.stats.mean_recall import binary_recalls
from balframe.stats.metric_intervals import MeanOfRecalls, Parts, Proportion, jaccard_to_f1
from balframe.stats.ratio_intervals import RatioOfProportions

_NEEDS = ("pos_label",)
_ROOM = 900  # for the smallest weights, as a power of two
_FAWCETT = "Fawcett 2006, An introduction to ROC analysis"


@proportion(
    among="positives",
    needs=_NEEDS,
    aliases=("sens", "sensitivity", "tpr", "true_positive_rate", "hit_rate", "recall_score"),
    source="scikit-learn, recall_score",
)
def recall(c: ClassCounts) -> Parts:
    """Share of the positives that are predicted positive: TP / (TP + FN)."""
    p = c.positive
    return p.tp, p.tp + p.fn


@proportion(
    among="negatives",
    needs=_NEEDS,
    aliases=("spec", "tnr", "true_negative_rate"),
    source=_FAWCETT,
)
def specificity(c: ClassCounts) -> Parts:
    """Share of the negatives that are predicted negative: TN / (TN + FP)."""
    p = c.positive
    return p.tn, p.tn + p.fp


@proportion(
    needs=_NEEDS,
    aliases=("ppv", "positive_predictive_value", "precision_score"),
    source="scikit-learn, precision_score",
)
def precision(c: ClassCounts) -> Parts:
    """Share of the predicted positives that are positive: TP / (TP + FP)."""
    p = c.positive
    return p.tp, p.tp + p.fp


@proportion(
    needs=_NEEDS,
    aliases=("negative_predictive_value",),
    source="Altman and Bland 1994, Diagnostic tests 2: predictive values",
)
def npv(c: ClassCounts) -> Parts:
    """Share of the predicted negatives that are negative: TN / (TN + FN)."""
    p = c.positive
    return p.tn, p.tn + p.fn


@proportion(
    among="negatives", better="lower", needs=_NEEDS, aliases=("fpr", "fall_out"), source=_FAWCETT
)
def false_positive_rate(c: ClassCounts) -> Parts:
    """Share of the negatives that are predicted positive: FP / (FP + TN)."""
    p = c.positive
    return p.fp, p.fp + p.tn


@proportion(
    among="positives", better="lower", needs=_NEEDS, aliases=("fnr", "miss_rate"), source=_FAWCETT
)
def false_negative_rate(c: ClassCounts) -> Parts:
    """Share of the positives that are predicted negative: FN / (FN + TP)."""
    p = c.positive
    return p.fn, p.fn + p.tp


@proportion(better="lower", needs=_NEEDS, aliases=("fdr",), source="Benjamini and Hochberg 1995")
def false_discovery_rate(c: ClassCounts) -> Parts:
    """Share of the predicted positives that are negative: FP / (FP + TP)."""
    p = c.positive
    return p.fp, p.fp + p.tp


@proportion(
    better="lower",
    needs=_NEEDS,
    aliases=("for",),
    source="Altman and Bland 1994, Diagnostic tests 2: predictive values",
)
def false_omission_rate(c: ClassCounts) -> Parts:
    """Share of the predicted negatives that are positive: FN / (FN + TN)."""
    p = c.positive
    return p.fn, p.fn + p.tn


def _jaccard_parts(c: ClassCounts) -> Parts:
    p = c.positive
    return p.tp, p.tp + p.fp + p.fn


@metric(
    range=(0, 1),
    needs=_NEEDS,
    aliases=("f1_score", "f_meas", "f_measure"),
    interval=Proportion(_jaccard_parts, jaccard_to_f1, is_linear=False),
    source="scikit-learn, f1_score; van Rijsbergen 1979",
)
def f1(c: ClassCounts) -> FloatArray:
    """Harmonic mean of precision and recall: 2 TP / (2 TP + FP + FN)."""
    p = c.positive
    return ratio(2 * p.tp, 2 * p.tp + p.fp + p.fn)


@cache
def _limits_of_fbeta(beta: float) -> Linearised:
    return Linearised(partial(linearise_average, f_beta(beta), "positive"))


@family(
    Numbers(("beta",), "a finite number above 0", "2", (1.0,), lambda beta: beta > 0),
    range=lambda beta: (0.0, 1.0),
    listed_range=(0, 1),
    interval=_limits_of_fbeta,
    needs=_NEEDS,
    source="scikit-learn, fbeta_score; van Rijsbergen 1979",
)
def fbeta(c: ClassCounts, beta: float) -> FloatArray:
    """F1 with recall b times as important: (1 + b^2) TP / ((1 + b^2) TP + b^2 FN + FP).

    b is the number in the name. `fbeta(2)` gives recall more weight, `fbeta(0.5)` precision, and
    `fbeta(1)` is `f1`. b is finite and above 0.
    """
    p = c.positive
    size = p.tp + p.fp + p.fn
    tp, fp, fn = (rescale(counts, size, _ROOM) for counts in (p.tp, p.fp, p.fn))
    return ratio(tp, tp + fp / (1 + beta * beta) + fn / (1 + 1 / beta / beta))


@proportion(
    needs=_NEEDS,
    aliases=("jaccard_score", "critical_success_index", "csi"),
    source="scikit-learn, jaccard_score; Jaccard 1912",
)
def jaccard(c: ClassCounts) -> Parts:
    """Share of true positives among rows positive in truth or prediction: TP / (TP + FP + FN)."""
    return _jaccard_parts(c)


@proportion(
    among="all",
    better=None,
    needs=_NEEDS,
    aliases=("detection_prevalence", "predicted_positive_rate"),
    source="fairlearn, selection_rate",
)
def selection_rate(c: ClassCounts) -> Parts:
    """Share of rows predicted positive: (TP + FP) / n."""
    return c.positive.tp + c.positive.fp, c.positive.total


@proportion(
    among="all", better=None, needs=_NEEDS, aliases=("base_rate",), source="caret, confusionMatrix"
)
def prevalence(c: ClassCounts) -> Parts:
    """Share of rows that are positive: (TP + FN) / n."""
    return c.positive.tp + c.positive.fn, c.positive.total


def _informedness(c: ClassCounts, mean: FloatArray) -> FloatArray:
    return 2 * mean - 1


@metric(
    range=(-1, 1),
    needs=_NEEDS,
    aliases=("j_index", "youden_j", "bookmaker_informedness"),
    source="Youden 1950",
    interval=MeanOfRecalls(binary_recalls, _informedness),
    chance=0,
)
def informedness(c: ClassCounts) -> FloatArray:
    """How far recall and specificity together exceed chance: recall + specificity - 1.

    With two labels it is 2 BA - 1, BA being the balanced accuracy.
    """
    p = c.positive
    positives, negatives = p.tp + p.fn, p.tn + p.fp
    tp, fn = rescale(p.tp, positives), rescale(p.fn, positives)
    tn, fp = rescale(p.tn, negatives), rescale(p.fp, negatives)
    return ratio(tp * tn - fn * fp, (tp + fn) * (tn + fp))


def _predicted_positive_parts(c: ClassCounts) -> tuple[Parts, Parts]:
    """Return the rows predicted positive, of positives and of negatives."""
    p = c.positive
    return (p.tp, p.tp + p.fn), (p.fp, p.fp + p.tn)


def _predicted_negative_parts(c: ClassCounts) -> tuple[Parts, Parts]:
    """Return the rows predicted negative, of positives and of negatives."""
    p = c.positive
    return (p.fn, p.fn + p.tp), (p.tn, p.tn + p.fp)


@metric(
    range=(0, np.inf),
    needs=_NEEDS,
    aliases=("lr_plus",),
    source="scikit-learn, class_likelihood_ratios",
    interval=RatioOfProportions(_predicted_positive_parts),
    chance=1,
)
def positive_likelihood_ratio(c: ClassCounts) -> FloatArray:
    """Factor by which a positive prediction changes the odds: recall / (1 - specificity)."""
    p = c.positive
    return ratio_of_products([p.tp, p.fp + p.tn], [p.tp + p.fn, p.fp])


@metric(
    range=(0, np.inf),
    better="lower",
    needs=_NEEDS,
    aliases=("lr_minus",),
    source="scikit-learn, class_likelihood_ratios",
    interval=RatioOfProportions(_predicted_negative_parts),
    chance=1,
)
def negative_likelihood_ratio(c: ClassCounts) -> FloatArray:
    """Factor by which a negative prediction changes the odds: (1 - recall) / specificity."""
    p = c.positive
    return ratio_of_products([p.fn, p.tn + p.fp], [p.fn + p.tp, p.tn])


def _odds(c: ClassCounts, share: FloatArray) -> FloatArray:
    return ratio(share, 1 - share)


def _false_negative_share_parts(c: ClassCounts) -> Parts:
    p = c.positive
    return p.fn, p.fn + p.fp


@metric(
    range=(0, np.inf),
    better=None,
    needs=_NEEDS,
    source="Berk et al. 2018, treatment equality",
    interval=Proportion(_false_negative_share_parts, _odds, is_linear=False),
)
def treatment_ratio(c: ClassCounts) -> FloatArray:
    """Ratio of false negatives to false positives: FN / FP."""
    return ratio_of_products([c.positive.fn], [c.positive.fp])


@metric(
    range=(0, np.inf),
    needs=_NEEDS,
    aliases=("dor",),
    source="Glas et al. 2003",
    interval=RatioOfProportions(_predicted_positive_parts, is_of_odds=True),
    chance=1,
)
def diagnostic_odds_ratio(c: ClassCounts) -> FloatArray:
    """Odds ratio of predicted and true positives: TP TN / (FP FN)."""
    p = c.positive
    return ratio_of_products([p.tp, p.tn], [p.fn, p.fp])
