"""How well scores rank positive rows above negative ones."""

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np

from balframe.core.array_types import FloatArray, Int64Array
from balframe.core.binary_counts import OneVersusRest
from balframe.core.cells import is_segment_start
from balframe.core.counting_strategy import TIES, blocks
from balframe.core.operating_points import OperatingPoints
from balframe.core.row_sums import RowSums
from balframe.core.safe_divide import ratio
from balframe.core.score_ties import Ties
from balframe.core.threads import run_on_all_cores
from balframe.metrics.score_metrics import score_metric

TieValues = Callable[["Ranking"], FloatArray]  # a value of each tie


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

    def sum(self, values: TieValues) -> FloatArray:
        """Add up what is computed of every tie, over the ties of each segment."""
        return self._reduce(values, np.add)

    def largest(self, values: TieValues) -> FloatArray:
        """Return the largest value of the ties of each segment; undefined ones count as 0."""
        return self._reduce(values, np.fmax)

    def _reduce(self, values: TieValues, combine: np.ufunc) -> FloatArray:
        def part(rows: slice) -> tuple[Int64Array, FloatArray]:
            ties = replace(self, rows=rows)
            starts = np.flatnonzero(is_segment_start((ties.segment,), len(ties.segment)))
            return ties.segment[starts], combine.reduceat(values(ties), starts)

        out = np.zeros(self.ties.n_segments)
        parts = blocks(slice(0, len(self.ties.segment)), TIES)
        for segments, reduced in run_on_all_cores(part, parts):
            out[segments] = combine(out[segments], reduced)
        return out

    @cached_property
    def n_positive(self) -> FloatArray:
        """Weight of the positives of each segment."""
        return self.sum(lambda ties: ties.positive)

    @cached_property
    def n_negative(self) -> FloatArray:
        """Weight of the negatives of each segment."""
        return self.sum(lambda ties: ties.negative)

    @cached_property
    def positive_placements(self) -> FloatArray:
        """Share of the segment's negatives that lie below a positive of each tie, half of ties.

        The negatives are added up from both sides of the tie: a perfect ranking has shares of 1.
        """
        below, others = self.reaching.tn, self.reaching.fp
        return ratio(below + self.negative / 2, below + others)

    @cached_property
    def negative_placements(self) -> FloatArray:
        """Share of the segment's positives that lie above a negative of each tie, half of ties."""
        above, others = self.reaching.tp, self.reaching.fn
        return ratio(above - self.positive / 2, above + others)

    def placement_variances(self, auc: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return the mean squared distances of positive and negative placements from the area."""

        def of_positives(ties: "Ranking") -> FloatArray:
            return _weigh(ties.positive, (ties.positive_placements - auc.take(ties.segment)) ** 2)

        def of_negatives(ties: "Ranking") -> FloatArray:
            return _weigh(ties.negative, (ties.negative_placements - auc.take(ties.segment)) ** 2)

        return (
            ratio(self.sum(of_positives), self.n_positive),
            ratio(self.sum(of_negatives), self.n_negative),
        )


@score_metric(range=(0, 1), aliases=("auc", "auroc", "roc_auc_score"), source="Hanley, McNeil 1982")
def roc_auc(r: Ranking) -> FloatArray:
    """Probability that a positive row scores above a negative one: P(S+ > S-) + P(S+ = S-) / 2.

    It is the area under the ROC curve. Ties count half.
    """
    placed = r.sum(lambda ties: _weigh(ties.positive, ties.positive_placements))
    return ratio(placed, r.n_positive)


@score_metric(range=(0, 1), aliases=("average_precision_score",))
def average_precision(r: Ranking) -> FloatArray:
    """Mean of the precisions P at all thresholds t: sum_t P_t (R_t - R_{t-1}).

    The weight of a threshold is the increase in recall R that it adds.
    """

    def weighted_precision(ties: Ranking) -> FloatArray:
        precision = ratio(ties.reaching.tp, ties.reaching.tp + ties.reaching.fp)
        return _weigh(ties.positive, precision)

    return ratio(r.sum(weighted_precision), r.n_positive)


@score_metric(range=(0, 1), aliases=("ks",))
def ks_statistic(r: Ranking) -> FloatArray:
    """Largest difference between recall and false positive rate: max_t abs(TPR_t - FPR_t).

    It is the statistic of the Kolmogorov-Smirnov test that positive and negative rows have the same
    distribution of scores.
    """

    def distance(ties: Ranking) -> FloatArray:
        of_positives = ratio(ties.reaching.tp, r.n_positive.take(ties.segment))
        of_negatives = ratio(ties.reaching.fp, r.n_negative.take(ties.segment))
        return np.abs(of_positives - of_negatives)

    return np.where((r.n_positive > 0) & (r.n_negative > 0), r.largest(distance), np.nan)


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

    return ratio(r.sum(errors), r.n_positive + r.n_negative)


def _weight(side: RowSums, rows: slice) -> FloatArray:
    return np.asarray((side.row_counts if side.weight is None else side.weight)[rows], np.float64)


def _weigh(weight: FloatArray, value: FloatArray) -> FloatArray:
    """Multiply values by their weights; 0 without weight, even if the value is undefined."""
    return np.where(weight > 0, weight * value, 0)
