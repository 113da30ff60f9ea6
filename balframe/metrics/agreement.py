"""Agreement of truth and prediction beyond what their margins alone would give.

With p_o the accuracy and t_k, p_k the shares of label k in truth and prediction, chance agreement
is p_e = sum_k t_k p_k. Complements are summed as such, so that a rare label keeps its digits.
"""

import numpy as np

from balframe.core.arrays import FloatArray
from balframe.core.class_counts import ClassCounts
from balframe.core.division import ratio
from balframe.metrics.kinds import Delta
from balframe.metrics.recalls import hamming_loss
from balframe.metrics.registry import metric


def _disagreement(c: ClassCounts, one: FloatArray, other: FloatArray) -> FloatArray:
    """Find how often independent draws from two margins differ: 1 - sum_k one_k other_k."""
    total = c.spread(c.total)
    return c.sum(ratio(one, total) * ratio(c.others(other), total))


@metric(
    range=(-1, 1),
    aliases=("kappa", "cohen_kappa_score"),
    source="Cohen 1960",
    interval=Delta("kappa"),
    chance=0,
)
def cohen_kappa(c: ClassCounts) -> FloatArray:
    """Accuracy above that of independent answers with the same margins: (p_o - p_e) / (1 - p_e).

    Undefined where truth and prediction are one and the same label throughout.
    """
    return 1 - ratio(hamming_loss(c), _disagreement(c, c.support, c.predicted))


@metric(
    range=(-1, 1),
    aliases=("mcc",),
    source="Gorodkin 2004",
    interval=Delta("correlation"),
    chance=0,
)
def matthews_corrcoef(c: ClassCounts) -> FloatArray:
    """Correlation of truth and prediction: (p_o - p_e) / sqrt((1 - sum t_k^2)(1 - sum p_k^2)).

    Undefined where truth or prediction is a single label throughout; scikit-learn gives 0 there.
    """
    gain = _disagreement(c, c.support, c.predicted) - hamming_loss(c)
    spread = np.sqrt(_disagreement(c, c.support, c.support))
    spread = spread * np.sqrt(_disagreement(c, c.predicted, c.predicted))
    return np.clip(ratio(gain, spread), -1, 1)
