"""How well scores rank positives above negatives, from the ties of every segment."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from balframe.core.arrays import FloatArray
from balframe.core.division import ratio
from balframe.core.one_versus_rest import OneVersusRest
from balframe.core.operating_points import OperatingPoints
from balframe.core.ties import Ties


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

    def roc_auc(self) -> FloatArray:
        """Find the chance that a positive scores above a negative, ties counting half.

        References
        ----------
        J. A. Hanley and B. J. McNeil, "The meaning and use of the area under a receiver operating
        characteristic (ROC) curve", Radiology 1982.
        """
        return ratio(self.sum(_times(self.positive, self.placement_of_positives)), self.positives)

    def spreads(self, auc: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Find the mean squared distances of the placements of either side from the area."""
        expected = auc[self.ties.segment]
        of_positives = _times(self.positive, (self.placement_of_positives - expected) ** 2)
        of_negatives = _times(self.negative, (self.placement_of_negatives - expected) ** 2)
        return (
            ratio(self.sum(of_positives), self.positives),
            ratio(self.sum(of_negatives), self.negatives),
        )

    def average_precision(self) -> FloatArray:
        """Average the precisions at the thresholds, each weighted by the recall it adds.

        As scikit-learn's `average_precision_score`: sum_i (R_i - R_{i-1}) P_i.
        """
        precision = ratio(self.reaching.tp, self.reaching.tp + self.reaching.fp)
        return ratio(self.sum(_times(self.positive, precision)), self.positives)

    def ks_statistic(self) -> FloatArray:
        """Find the largest distance between the distributions of both sides: max_t |TPR - FPR|."""
        segment = self.ties.segment
        distance = np.abs(
            ratio(self.reaching.tp, self.positives[segment])
            - ratio(self.reaching.fp, self.negatives[segment])
        )
        largest = np.zeros(self.ties.n_segments)
        np.fmax.at(largest, segment, distance)
        return np.where((self.positives > 0) & (self.negatives > 0), largest, np.nan)

    def brier_score(self) -> FloatArray:
        """Average (score - y)^2; undefined where a score is not a probability.

        References
        ----------
        G. W. Brier, "Verification of forecasts expressed in terms of probability", Monthly Weather
        Review 1950.
        """
        score = self.ties.score
        share = np.where((score < 0) | (score > 1), np.nan, score)
        errors = self.positive * (1 - share) ** 2 + self.negative * share**2
        return ratio(self.sum(errors), self.positives + self.negatives)


def _weight(weight: FloatArray | None, n: object) -> FloatArray:
    return np.asarray(n if weight is None else weight, np.float64)


def _times(weight: FloatArray, value: FloatArray) -> FloatArray:
    """Weigh values; an undefined one without weight counts for nothing."""
    return np.where(weight > 0, weight * value, 0)
