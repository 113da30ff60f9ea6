"""Agreement of truth and prediction beyond what their margins alone would give.

With p_o the accuracy and t_k, p_k the shares of label k in truth and prediction, chance agreement
is p_e = sum_k t_k p_k. Complements are summed as such, so that a rare label keeps its digits.

The weighted kappas look at how far apart the labels i and j of truth and prediction are, by their
positions in the whole label set, so that segments that lack a label are scored as the others are.
"""

import numpy as np

from balframe.core.array_types import FloatArray
from balframe.core.class_counts import ClassCounts
from balframe.core.safe_divide import ratio, scaled
from balframe.metrics.registry import metric
from balframe.stats.batching import by_number_of_labels
from balframe.stats.kappa_mcc import correlation, kappa
from balframe.stats.metric_intervals import CoefficientOfAgreement

_ROOM = 1000  # as a power of two
_ROOM_OF_EACH = 450  # of two factors, which leaves some for squares of distances


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
    aliases=("kap", "kappa", "cohen_kappa_score"),
    source="Cohen 1960",
    interval=CoefficientOfAgreement(kappa),
    chance=0,
)
def cohen_kappa(c: ClassCounts) -> FloatArray:
    """Agreement beyond chance, as a share of the maximum: (p_o - p_e) / (1 - p_e).

    p_o is the accuracy. p_e is the accuracy expected of independent predictions with the same
    shares of labels. It is undefined where truth and prediction are the same single label.
    """
    missed = scaled(c.sum(c.missed), c.total, _ROOM) * scaled(c.total, c.total)
    return 1 - ratio(missed, _disagreement(c, c.support, c.predicted))


def _before(one: FloatArray, other: FloatArray, steps: FloatArray, *, squared: bool) -> FloatArray:
    """Add up one_i other_j (j - i), or its square, over labels i before j, for rows of labels.

    Sums of products that are not negative keep their digits, as mean squares less squared means
    would not.
    """
    below = np.cumsum(one, axis=1)[:, :-1] * steps
    if squared:
        below = (2 * np.cumsum(below, axis=1) - below) * steps
    above = np.cumsum(other[:, ::-1], axis=1)[:, -2::-1]
    return np.asarray((below * above).sum(axis=1))


def _distance_by_chance(c: ClassCounts, *, squared: bool) -> FloatArray:
    """Find how far apart independent draws from the margins are on average, or its square."""
    total = c.spread(c.total)
    true, predicted = (scaled(shares, total, _ROOM_OF_EACH) for shares in (c.support, c.predicted))
    out = np.zeros(c.n_segments)
    everything = np.arange(len(c.segment))
    for segments, entries in by_number_of_labels(c.segment, c.n_segments, everything):
        t, p, steps = true[entries], predicted[entries], np.diff(c.label[entries])
        out[segments] = _before(t, p, steps, squared=squared) + _before(
            p, t, steps, squared=squared
        )
    return out


def _weighted_kappa(c: ClassCounts, power: int) -> FloatArray:
    """Compare how far apart truth and prediction are with what chance would give."""
    room = 2 * _ROOM_OF_EACH
    apart = scaled(c.distance(power), c.total, room) * scaled(c.total, c.total)
    kappa = 1 - ratio(apart, _distance_by_chance(c, squared=power == 2))
    return np.where(np.isfinite(kappa), np.clip(kappa, -1, 1), np.nan)


@metric(
    range=(-1, 1),
    source="Cohen 1968; scikit-learn, cohen_kappa_score(weights='linear')",
    chance=0,
)
def cohen_kappa_linear(c: ClassCounts) -> FloatArray:
    """Kappa weighted by distance: 1 - mean |i - j| / mean |i - j| by chance.

    For ordered labels. i and j are the positions of the true and the predicted label in the label
    set, whose order is sorted, that of the categories, or that of `labels=`. "By chance" is the
    mean over independent predictions with the same shares of labels. With two labels it is
    `cohen_kappa`.
    """
    return _weighted_kappa(c, 1)


@metric(
    range=(-1, 1),
    aliases=("quadratic_weighted_kappa", "qwk"),
    source="Cohen 1968; scikit-learn, cohen_kappa_score(weights='quadratic')",
    chance=0,
)
def cohen_kappa_quadratic(c: ClassCounts) -> FloatArray:
    """Kappa weighted by squared distance: 1 - mean (i - j)^2 / mean (i - j)^2 by chance.

    As `cohen_kappa_linear`, but an error of two positions counts four times as much as one.
    """
    return _weighted_kappa(c, 2)


@metric(
    range=(-1, 1),
    aliases=("mcc",),
    source="Gorodkin 2004",
    interval=CoefficientOfAgreement(correlation),
    chance=0,
)
def matthews_corrcoef(c: ClassCounts) -> FloatArray:
    """Correlation of true and predicted labels: (p_o - p_e) / sqrt((1 - sum t_k^2)(1 - sum p_k^2)).

    Undefined where truth or prediction is a single label. There scikit-learn returns 0.
    """
    spread = np.sqrt(_disagreement(c, c.support, c.support))
    spread = spread * np.sqrt(_disagreement(c, c.predicted, c.predicted))
    return np.clip(ratio(_gain(c), spread), -1, 1)
