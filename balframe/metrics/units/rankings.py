"""How well scores rank positive rows above negative ones."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from balframe.core.arrays import FloatArray
from balframe.core.division import ratio
from balframe.core.one_versus_rest import OneVersusRest
from balframe.core.operating_points import OperatingPoints
from balframe.core.ties import Ties
from balframe.metrics.of_scores import score_metric


@dataclass(frozen=True)
class Ranking:
    """Ties of all segments, with the weight of the rows that reach their scores."""

    ties: Ties
    points: OperatingPoints

    @classmethod
    def of(cls, ties: Ties) -> "Ranking":
        """Count what lies above and below every tie."""
        ties = ties.in_own_units()
        return cls(ties, OperatingPoints.exact(ties))

    @cached_property
    def reaching(self) -> OneVersusRest:
        """The point that takes the score of each tie as its threshold."""
        every = self.points.counts(1, slice(None))
        is_tie = np.isfinite(self.points.threshold)
        counts = (every.tp, every.fn, every.fp, every.tn)
        return OneVersusRest(*(np.asarray(values[is_tie], np.float64) for values in counts))

    @cached_property
    def positive(self) -> FloatArray:
        """Weight of the positives of each tie."""
        return _weight(self.ties.positive.weight, self.ties.positive.n)

    @cached_property
    def negative(self) -> FloatArray:
        """Weight of the negatives of each tie."""
        return _weight(self.ties.negative.weight, self.ties.negative.n)

    def sum(self, values: FloatArray) -> FloatArray:
        """Add up over the ties of each segment."""
        sums = np.bincount(self.ties.segment, weights=values, minlength=self.ties.n_segments)
        return np.asarray(sums, np.float64)

    @cached_property
    def positives(self) -> FloatArray:
        """Weight of the positives of each segment."""
        return self.sum(self.positive)

    @cached_property
    def negatives(self) -> FloatArray:
        """Weight of the negatives of each segment."""
        return self.sum(self.negative)

    @cached_property
    def placement_of_positives(self) -> FloatArray:
        """Share of the segment's negatives that lie below a positive of each tie, half of ties.

        The negatives are added up from both sides of the tie: a perfect ranking has shares of 1.
        """
        below, others = self.reaching.tn, self.reaching.fp
        return ratio(below + self.negative / 2, below + others)

    @cached_property
    def placement_of_negatives(self) -> FloatArray:
        """Share of the segment's positives that lie above a negative of each tie, half of ties."""
        above, others = self.reaching.tp, self.reaching.fn
        return ratio(above - self.positive / 2, above + others)

    def spreads(self, auc: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Find the mean squared distances of the placements of either side from the area."""
        expected = auc[self.ties.segment]
        of_positives = _times(self.positive, (self.placement_of_positives - expected) ** 2)
        of_negatives = _times(self.negative, (self.placement_of_negatives - expected) ** 2)
        return (
            ratio(self.sum(of_positives), self.positives),
            ratio(self.sum(of_negatives), self.negatives),
        )


@score_metric(range=(0, 1), aliases=("auc", "auroc", "roc_auc_score"), source="Hanley, McNeil 1982")
def roc_auc(r: Ranking) -> FloatArray:
    """Probability that a positive row scores above a negative one: P(S+ > S-) + P(S+ = S-) / 2.

    It is the area under the ROC curve. Ties count half.
    """
    return ratio(r.sum(_times(r.positive, r.placement_of_positives)), r.positives)


@score_metric(range=(0, 1), aliases=("average_precision_score",))
def average_precision(r: Ranking) -> FloatArray:
    """Mean of the precisions P at all thresholds t: sum_t P_t (R_t - R_{t-1}).

    The weight of a threshold is the increase in recall R that it adds.
    """
    precision = ratio(r.reaching.tp, r.reaching.tp + r.reaching.fp)
    return ratio(r.sum(_times(r.positive, precision)), r.positives)


@score_metric(range=(0, 1), aliases=("ks",))
def ks_statistic(r: Ranking) -> FloatArray:
    """Largest difference between recall and false positive rate: max_t abs(TPR_t - FPR_t).

    It is the statistic of the Kolmogorov-Smirnov test that positive and negative rows have the same
    distribution of scores.
    """
    segment = r.ties.segment
    of_positives = ratio(r.reaching.tp, r.positives[segment])
    of_negatives = ratio(r.reaching.fp, r.negatives[segment])
    largest = np.zeros(r.ties.n_segments)
    np.fmax.at(largest, segment, np.abs(of_positives - of_negatives))
    return np.where((r.positives > 0) & (r.negatives > 0), largest, np.nan)


@score_metric(
    range=(0, 1), better="lower", aliases=("brier", "brier_score_loss"), source="Brier 1950"
)
def brier_score(r: Ranking) -> FloatArray:
    """Mean squared difference between score and label: sum_i (s_i - y_i)^2 / n.

    y is 1 for positive and 0 for negative rows. It is undefined where a score is outside [0, 1].
    """
    score = r.ties.score
    share = np.where((score < 0) | (score > 1), np.nan, score)
    errors = r.positive * (1 - share) ** 2 + r.negative * share**2
    return ratio(r.sum(errors), r.positives + r.negatives)


def _weight(weight: FloatArray | None, n: object) -> FloatArray:
    return np.asarray(n if weight is None else weight, np.float64)


def _times(weight: FloatArray, value: FloatArray) -> FloatArray:
    """Weigh values; an undefined one without weight counts for nothing."""
    return np.where(weight > 0, weight * value, 0)
