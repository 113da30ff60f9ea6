"""Agreement of truth and prediction beyond what their margins alone would give.

With p_o the accuracy and t_k, p_k the shares of label k in truth and prediction, chance agreement
is p_e = sum_k t_k p_k. Complements are summed as such, so that a rare label keeps its digits.

The weighted kappas look at how far apart the labels i and j of truth and prediction are, by their
positions in the whole label set, so that segments that lack a label are scored as the others are.
"""

from functools import partial

import numpy as np

from balframe.core.array_types import FloatArray
from balframe.core.class_counts import ClassCounts
from balframe.core.safe_divide import ratio, rescale
from balframe.metrics.registry import metric
from balframe.stats.batching import group_by_label_count
from balframe.stats.kappa_mcc import kappa, linearise_weighted_kappa, matthews_correlation
from balframe.stats.linearised_intervals import AgreementCoefficient, Linearised

_HEADROOM = 1000  # as a power of two
_SUM_HEADROOM = 900  # of sums over labels, which leaves some for squares of distances


def _products(c: ClassCounts, a: FloatArray, b: FloatArray) -> FloatArray:
    """Multiply shares of each segment's weight, in units large enough for the smallest."""
    return _scaled_products(a, b, c.spread(c.total))


def _scaled_products(a: FloatArray, b: FloatArray, total: FloatArray) -> FloatArray:
    """Multiply a and b as shares of the total, in the units of `_products`."""
    smaller, larger = np.minimum(a, b), np.maximum(a, b)
    return rescale(smaller, total, _HEADROOM) * rescale(larger, total)


def _expected_disagreement(c: ClassCounts, a: FloatArray, b: FloatArray) -> FloatArray:
    """Return how often independent draws from two margins differ: 1 - sum_k a_k b_k."""
    return c.sum(_products(c, a, c.others(b)))


def _agreement_beyond_chance(c: ClassCounts) -> FloatArray:
    """Return p_o - p_e, the sum of the covariances of the labels, each of which is 0 by chance."""
    return c.sum(_products(c, c.correct, c.true_negatives) - _products(c, c.missed, c.false_alarms))


@metric(
    range=(-1, 1),
    aliases=("kap", "kappa", "cohen_kappa_score"),
    source="Cohen 1960",
    interval=AgreementCoefficient(kappa),
    chance=0,
)
def cohen_kappa(c: ClassCounts) -> FloatArray:
    """Agreement beyond chance, as a share of the maximum: (p_o - p_e) / (1 - p_e).

    p_o is the accuracy. p_e is the accuracy expected of independent predictions with the same
    shares of labels. It is undefined where truth and prediction are the same single label.
    """
    missed = rescale(c.sum(c.missed), c.total, _HEADROOM) * rescale(c.total, c.total)
    return 1 - ratio(missed, _expected_disagreement(c, c.support, c.predicted))


def _sum_over_ordered_pairs(
    a: FloatArray, b: FloatArray, total: FloatArray, steps: FloatArray, *, squared: bool
) -> FloatArray:
    """Add up a_i b_j (j - i), or a_i b_j (j - i)^2, over labels i before j, for rows of labels.

    Sums of products that are not negative keep their digits, as mean squares less squared means
    would not.
    """
    below = np.cumsum(a, axis=1)[:, :-1] * steps
    if squared:
        below = (2 * np.cumsum(below, axis=1) - below) * steps
    above = np.cumsum(b[:, ::-1], axis=1)[:, -2::-1]
    return np.asarray(_scaled_products(below, above, total).sum(axis=1))


def _expected_distance(c: ClassCounts, *, squared: bool) -> FloatArray:
    """Return the mean distance of independent draws from the margins, or the mean square."""
    true, predicted, total = (
        rescale(weights, c.spread(c.total), _SUM_HEADROOM)
        for weights in (c.support, c.predicted, c.spread(c.total))
    )
    out = np.zeros(c.n_segments)
    everything = np.arange(len(c.segment))
    for segments, entries in group_by_label_count(c.segment, c.n_segments, everything):
        t, p, steps = true[entries], predicted[entries], np.diff(c.label[entries])
        whole = total[entries[:, :1]]
        before = _sum_over_ordered_pairs(t, p, whole, steps, squared=squared)
        out[segments] = before + _sum_over_ordered_pairs(p, t, whole, steps, squared=squared)
    return out


def _weighted_kappa(c: ClassCounts, power: int) -> FloatArray:
    """Return 1 minus the mean distance of truth and prediction over that by chance."""
    distance = rescale(c.distance(power), c.total, _HEADROOM) * rescale(c.total, c.total)
    value = 1 - ratio(distance, _expected_distance(c, squared=power == 2))
    return np.where(np.isfinite(value), np.clip(value, -1, 1), np.nan)


@metric(
    range=(-1, 1),
    needs=("label_order",),
    source="Cohen 1968; scikit-learn, cohen_kappa_score(weights='linear')",
    interval=Linearised(partial(linearise_weighted_kappa, 1), (-1, 1)),
    chance=0,
)
def cohen_kappa_linear(c: ClassCounts) -> FloatArray:
    """Kappa weighted by distance: 1 - mean |i - j| / mean |i - j| by chance.

    For ordered labels. i and j are the positions of the true and the predicted label in the label
    set. Its order is that of `labels=` or of ordered categories, or ascending for numbers and
    dates; three or more texts have no other order. "By chance" is the mean over independent
    predictions with the same shares of labels. With two labels it is `cohen_kappa`.
    """
    return _weighted_kappa(c, 1)


@metric(
    range=(-1, 1),
    aliases=("quadratic_weighted_kappa", "qwk"),
    needs=("label_order",),
    source="Cohen 1968; scikit-learn, cohen_kappa_score(weights='quadratic')",
    interval=Linearised(partial(linearise_weighted_kappa, 2), (-1, 1)),
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
    interval=AgreementCoefficient(matthews_correlation),
    chance=0,
)
def matthews_corrcoef(c: ClassCounts) -> FloatArray:
    """Correlation of true and predicted labels: (p_o - p_e) / sqrt((1 - sum t_k^2)(1 - sum p_k^2)).

    It is undefined where truth or prediction is a single label. There scikit-learn returns 0.
    """
    scale = np.sqrt(_expected_disagreement(c, c.support, c.support))
    scale = scale * np.sqrt(_expected_disagreement(c, c.predicted, c.predicted))
    return np.clip(ratio(_agreement_beyond_chance(c), scale), -1, 1)
