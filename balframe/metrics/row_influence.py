"""The influence of rows on metrics of scores: how much one more row like it changes the metric.

The variance of a metric is the sum of the squared influences of its rows, each times its weight. It
equals the variance of the delete-one jackknife up to terms of order 1/n.

References
----------
F. R. Hampel, "The influence curve and its role in robust estimation", JASA 1974; E. R. DeLong, D.
M. DeLong and D. L. Clarke-Pearson, "Comparing the areas under two or more correlated receiver
operating characteristic curves: a nonparametric approach", Biometrics 1988, whose variance of an
area is the sum of these squares.
"""

from dataclasses import dataclass

import numpy as np

from balframe.core.array_types import FloatArray
from balframe.core.ranking import Ranking, weigh
from balframe.core.safe_divide import ratio
from balframe.stats.effective_sample_size import kish_effective_size

_ONE_ROW = 1 + 1e-9  # effective rows up to which a class has one row and no spread


@dataclass(frozen=True, slots=True)
class RowInfluence:
    """The influence of a positive and of a negative row of each tie, per unit of weight.

    If it `is_by_class`, the metric does not depend on the share of positives, and the influences of
    each class add up to 0. Otherwise those of all rows do.
    """

    positive: FloatArray
    negative: FloatArray
    is_by_class: bool


@dataclass(frozen=True, slots=True)
class ClassSizes:
    """Effective numbers of positives, of negatives and of all rows of each segment."""

    n_positive: FloatArray
    n_negative: FloatArray
    n: FloatArray

    @classmethod
    def of(cls, r: Ranking) -> "ClassSizes":
        """Return those of a ranking."""
        (positive, squares), (negative, other_squares) = r.points.class_weight_sums()
        return cls(
            kish_effective_size(positive, squares),
            kish_effective_size(negative, other_squares),
            kish_effective_size(positive + negative, squares + other_squares),
        )


def influence_variance(r: Ranking, influence: RowInfluence, sizes: ClassSizes) -> FloatArray:
    """Return the variance of a metric in each segment, for independent rows."""
    positive, negative = class_variances(
        r.sum(lambda ties: weigh(ties.positive_squares, influence.positive[ties.rows] ** 2)),
        r.sum(lambda ties: weigh(ties.negative_squares, influence.negative[ties.rows] ** 2)),
        sizes,
        is_by_class=influence.is_by_class,
    )
    return positive + negative


def class_variances(
    positive: FloatArray, negative: FloatArray, sizes: ClassSizes, *, is_by_class: bool
) -> tuple[FloatArray, FloatArray]:
    """Scale sums of squared influences to sample variances, with n - 1 rows in place of n.

    A class with one row has no spread of its own, and adds nothing.
    """
    if not is_by_class:
        factor = ratio(sizes.n, sizes.n - 1)
        return positive * factor, negative * factor
    scaled_positive, scaled_negative = (
        np.where(n <= _ONE_ROW, 0, ratio(n, n - 1) * squares)
        for squares, n in ((positive, sizes.n_positive), (negative, sizes.n_negative))
    )
    return scaled_positive, scaled_negative


def auc_influence(r: Ranking, auc: FloatArray) -> RowInfluence:
    """Return the influences on the area under the ROC curve: placements less the area."""
    at = r.segment
    return RowInfluence(
        ratio(r.positive_placements - auc[at], r.n_positive[at]),
        ratio(r.negative_placements - auc[at], r.n_negative[at]),
        is_by_class=True,
    )


def average_precision_influence(r: Ranking, score: FloatArray) -> RowInfluence:
    """Return the influences on the average precision.

    A row counts in the precision of its score and of all lower ones, and a positive row has a
    precision of its own. With precision p_t and weight M_t of the rows that reach t, the derivative
    of P times the average is, for a positive row, p_t - AP + sum_{u <= t} P_u (1 - p_u) / M_u; for
    a negative row, - sum_{u <= t} P_u p_u / M_u.
    """
    precision, gained, lost = _precision_changes(r)
    at = r.segment
    return RowInfluence(
        ratio(precision - score[at] + gained, r.n_positive[at]),
        ratio(-lost, r.n_positive[at]),
        is_by_class=False,
    )


def average_precision_bias(r: Ranking, score: FloatArray) -> FloatArray:
    """Return the bias of the average precision of independent rows, to the order 1/n.

    It is half the sum of the second derivatives by the weights of rows, times squared weights.
    """
    precision, gained, _ = _precision_changes(r)
    reaching = r.reaching.tp + r.reaching.fp
    at, total = r.segment, r.n_positive[r.segment]
    wrong = r.sums_from_lowest(_per_reaching(r.positive * (1 - precision), reaching**2))
    right = r.sums_from_lowest(_per_reaching(r.positive * precision, reaching**2))
    first = precision + gained
    of_positive = 2 * _per_reaching(1 - precision, reaching) - 2 * wrong
    positive = ratio(of_positive, total) - 2 * ratio(first - score[at], total**2)
    negative = ratio(2 * right, total)
    half = r.sum(
        lambda ties: (
            weigh(ties.positive_squares, positive[ties.rows])
            + weigh(ties.negative_squares, negative[ties.rows])
        )
    )
    return half / 2


def _precision_changes(r: Ranking) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return the precision of each tie, and what a row there adds to or takes from P times AP."""
    reaching = r.reaching.tp + r.reaching.fp
    precision = _per_reaching(r.reaching.tp, reaching)
    gained = r.sums_from_lowest(_per_reaching(r.positive * (1 - precision), reaching))
    lost = r.sums_from_lowest(_per_reaching(r.positive * precision, reaching))
    return precision, gained, lost


def _per_reaching(values: FloatArray, reaching: FloatArray) -> FloatArray:
    """Divide by the weight that reaches a score; 0 where only rows of weight 0 do."""
    return np.where(reaching > 0, ratio(values, reaching), 0)


def mean_influence(r: Ranking, of_positive: FloatArray, of_negative: FloatArray) -> RowInfluence:
    """Return the influences on a mean over rows, given the values of the rows of each tie.

    A value that no row has may be undefined.
    """
    at, total = r.segment, r.n_positive + r.n_negative
    mean = mean_of_rows(r, of_positive, of_negative)[at]
    return RowInfluence(
        np.where(r.positive > 0, ratio(of_positive - mean, total[at]), 0),
        np.where(r.negative > 0, ratio(of_negative - mean, total[at]), 0),
        is_by_class=False,
    )


def mean_of_rows(r: Ranking, of_positive: FloatArray, of_negative: FloatArray) -> FloatArray:
    """Return the mean over rows of the values of each tie."""

    def sums(ties: Ranking) -> FloatArray:
        positive = weigh(ties.positive, of_positive[ties.rows])
        return positive + weigh(ties.negative, of_negative[ties.rows])

    return ratio(r.sum(sums), r.n_positive + r.n_negative)
