"""Agreement of truth and prediction beyond what their margins alone would give.

With p_o the accuracy and t_k, p_k the shares of label k in truth and prediction, chance agreement
is p_e = sum_k t_k p_k. Complements are summed as such, so that a rare label keeps its digits.
"""

import numpy as np

from balframe.core.arrays import FloatArray
from balframe.core.class_counts import ClassCounts
from balframe.core.division import ratio, scaled
from balframe.intervals.coefficients import correlation, kappa
from balframe.intervals.kinds import CoefficientOfAgreement
from balframe.metrics.registry import metric

_ROOM = 1000  # as a power of two


def _products(c: ClassCounts, one: FloatArray, other: FloatArray) -> FloatArray:
    """Multiply shares of each segment's weight, in units that leave room for the smallest ones."""
    total = c.spread(c.total)
    smaller, larger = np.minimum(one, other), np.maximum(one, other)
    return scaled(smaller, total, _ROOM) * scaled(larger, total)


def _disagreement(c: ClassCounts, one: FloatArray, other: FloatArray) -> FloatArray:
    """Find how often independent draws from two margins differ: 1 - sum_k one_k other_k."""
    return c.sum(_products(c, one, c.others(other)))


def _gain(c: ClassCounts) -> FloatArray:
    """Find p_o - p_e as the sum of the covariances of the labels, each 0 where chance gives it."""
    return c.sum(_products(c, c.correct, c.true_negatives) - _products(c, c.missed, c.false_alarms))


@metric(
    range=(-1, 1),
    aliases=("kappa", "cohen_kappa_score"),
    source="Cohen 1960",
    interval=CoefficientOfAgreement(kappa),
    chance=0,
)
def cohen_kappa(c: ClassCounts) -> FloatArray:
    """Accuracy above that of independent answers with the same margins: (p_o - p_e) / (1 - p_e).

    Undefined where truth and prediction are one and the same label throughout.
    """
    missed = scaled(c.sum(c.missed), c.total, _ROOM) * scaled(c.total, c.total)
    return 1 - ratio(missed, _disagreement(c, c.support, c.predicted))


@metric(
    range=(-1, 1),
    aliases=("mcc",),
    source="Gorodkin 2004",
    interval=CoefficientOfAgreement(correlation),
    chance=0,
)
def matthews_corrcoef(c: ClassCounts) -> FloatArray:
    """Correlation of truth and prediction: (p_o - p_e) / sqrt((1 - sum t_k^2)(1 - sum p_k^2)).

    Undefined where truth or prediction is a single label throughout; scikit-learn gives 0 there.
    """
    spread = np.sqrt(_disagreement(c, c.support, c.support))
    spread = spread * np.sqrt(_disagreement(c, c.predicted, c.predicted))
    return np.clip(ratio(_gain(c), spread), -1, 1)
