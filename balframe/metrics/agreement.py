"""Agreement of truth and prediction beyond what their margins alone would give."""

import numpy as np

from balframe.core.arrays import FloatArray
from balframe.core.class_counts import ClassCounts, ratio
from balframe.metrics.recalls import accuracy, skill
from balframe.metrics.registry import metric


def _margins(c: ClassCounts) -> tuple[FloatArray, FloatArray]:
    total = c.spread(c.total)
    return ratio(c.support, total), ratio(c.predicted, total)


@metric(range=(-1, 1), aliases=("kappa", "cohen_kappa_score"), source="Cohen 1960")
def cohen_kappa(c: ClassCounts) -> FloatArray:
    """Accuracy above that of independent answers with the same margins: (p_o - p_e) / (1 - p_e).

    Undefined where truth and prediction are one and the same label throughout.
    """
    true, predicted = _margins(c)
    return skill(accuracy(c), c.sum(true * predicted))


@metric(range=(-1, 1), aliases=("mcc",), source="Gorodkin 2004")
def matthews_corrcoef(c: ClassCounts) -> FloatArray:
    """Correlation of truth and prediction: (p_o - p_e) / sqrt((1 - sum t_k^2)(1 - sum p_k^2)).

    Undefined where truth or prediction is a single label throughout; scikit-learn gives 0 there.
    """
    true, predicted = _margins(c)
    spread = (1 - c.sum(true * true)) * (1 - c.sum(predicted * predicted))
    return ratio(accuracy(c) - c.sum(true * predicted), np.sqrt(spread))
