"""How well scores rank positive rows above negative ones."""

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np

from balframe.core.array_types import FloatArray, Int64Array
from balframe.core.binary_counts import OneVersusRest
from balframe.core.cells import beginnings
from balframe.core.counting_strategy import TIES, blocks
from balframe.core.operating_points import OperatingPoints
from balframe.core.row_sums import Measures
from balframe.core.safe_divide import ratio
from balframe.core.score_ties import Ties
from balframe.core.threads import on_all_cores
from balframe.metrics.score_metrics import score_metric

OfTies = Callable[["Ranking"], FloatArray]  # a value of each tie


@dataclass(frozen=True)
class Ranking:
    """Ties of all segments, with the weight of the rows that reach their scores.

    The arrays have an entry for each of the ties in `rows`. Sums over all of them are taken from
    such parts, one after the other, so that what is computed for each stays in cache.
    """

    ties: Ties
    points: OperatingPoints
    rows: slice = field(default_factory=lambda: slice(None))

    @classmethod
    def of(cls, ties: Ties) -> "Ranking":
        """Count what lies above and below every tie."""
        ties = ties.in_own_units()
        return cls(ties, OperatingPoints.exact(ties))

    @cached_property
    def segment(self) -> Int64Array:
        """The segment of each tie."""
        return self.ties.segment[self.rows].astype(np.int64)

    @cached_property
    def reaching(self) -> OneVersusRest:
        """The point that takes the score of each tie as its threshold."""
        rows = slice(*self.rows.indices(len(self.ties.segment)))
        every = self.points.counts_at_ties(1, self.segment, rows)
        counts = (every.tp, every.fn, every.fp, every.tn)
        return OneVersusRest(*(np.asarray(values, np.float64) for values in counts))

    @cached_property
    def positive(self) -> FloatArray:
        """Weight of the positives of each tie."""
        return _weight(self.ties.positive, self.rows)

    @cached_property
    def negative(self) -> FloatArray:
        """Weight of the negatives of each tie."""
        return _weight(self.ties.negative, self.rows)

    def sum(self, values: OfTies) -> FloatArray:
        """Add up what is computed of every tie, over the ties of each segment."""
        return self._reduced(values, np.add)

    def largest(self, values: OfTies) -> FloatArray:
        """Find the largest value of the ties of each segment; undefined ones count as 0."""
        return self._reduced(values, np.fmax)

    def _reduced(self, values: OfTies, combine: np.ufunc) -> FloatArray:
        def part(rows: slice) -> tuple[Int64Array, FloatArray]:
            of_part = replace(self, rows=rows)
            begins = np.flatnonzero(beginnings((of_part.segment,), len(of_part.segment)))
            return of_part.segment[begins], combine.reduceat(values(of_part), begins)

        out = np.zeros(self.ties.n_segments)
        parts = blocks(slice(0, len(self.ties.segment)), TIES)
        for segments, found in on_all_cores(part, parts):
            out[segments] = combine(out[segments], found)
        return out

    @cached_property
    def positives(self) -> FloatArray:
        """Weight of the positives of each segment."""
        return self.sum(lambda ties: ties.positive)

    @cached_property
    def negatives(self) -> FloatArray:
        """Weight of the negatives of each segment."""
        return self.sum(lambda ties: ties.negative)

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

        def of_positives(ties: "Ranking") -> FloatArray:
            return _times(
                ties.positive, (ties.placement_of_positives - auc.take(ties.segment)) ** 2
            )

        def of_negatives(ties: "Ranking") -> FloatArray:
            return _times(
                ties.negative, (ties.placement_of_negatives - auc.take(ties.segment)) ** 2
            )

        return (
            ratio(self.sum(of_positives), self.positives),
            ratio(self.sum(of_negatives), self.negatives),
        )


@score_metric(range=(0, 1), aliases=("auc", "auroc", "roc_auc_score"), source="Hanley, McNeil 1982")
def roc_auc(r: Ranking) -> FloatArray:
    """Probability that a positive row scores above a negative one: P(S+ > S-) + P(S+ = S-) / 2.

    It is the area under the ROC curve. Ties count half.
    """
    placed = r.sum(lambda ties: _times(ties.positive, ties.placement_of_positives))
    return ratio(placed, r.positives)


@score_metric(range=(0, 1), aliases=("average_precision_score",))
def average_precision(r: Ranking) -> FloatArray:
    """Mean of the precisions P at all thresholds t: sum_t P_t (R_t - R_{t-1}).

    The weight of a threshold is the increase in recall R that it adds.
    """

    def weighed(ties: Ranking) -> FloatArray:
        precision = ratio(ties.reaching.tp, ties.reaching.tp + ties.reaching.fp)
        return _times(ties.positive, precision)

    return ratio(r.sum(weighed), r.positives)


@score_metric(range=(0, 1), aliases=("ks",))
def ks_statistic(r: Ranking) -> FloatArray:
    """Largest difference between recall and false positive rate: max_t abs(TPR_t - FPR_t).

    It is the statistic of the Kolmogorov-Smirnov test that positive and negative rows have the same
    distribution of scores.
    """

    def distance(ties: Ranking) -> FloatArray:
        of_positives = ratio(ties.reaching.tp, r.positives.take(ties.segment))
        of_negatives = ratio(ties.reaching.fp, r.negatives.take(ties.segment))
        return np.abs(of_positives - of_negatives)

    return np.where((r.positives > 0) & (r.negatives > 0), r.largest(distance), np.nan)


@score_metric(
    range=(0, 1), better="lower", aliases=("brier", "brier_score_loss"), source="Brier 1950"
)
def brier_score(r: Ranking) -> FloatArray:
    """Mean squared difference between score and label: sum_i (s_i - y_i)^2 / n.

    y is 1 for positive and 0 for negative rows. It is undefined where a score is outside [0, 1].
    """

    def errors(ties: Ranking) -> FloatArray:
        score = ties.ties.score[ties.rows]
        share = np.where((score < 0) | (score > 1), np.nan, score)
        lost: FloatArray = ties.positive * (1 - share) ** 2 + ties.negative * share**2
        return lost

    return ratio(r.sum(errors), r.positives + r.negatives)


def _weight(side: Measures, rows: slice) -> FloatArray:
    return np.asarray((side.counted if side.weight is None else side.weight)[rows], np.float64)


def _times(weight: FloatArray, value: FloatArray) -> FloatArray:
    """Weigh values; an undefined one without weight counts for nothing."""
    return np.where(weight > 0, weight * value, 0)
