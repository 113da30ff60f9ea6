"""Ties of every segment, with the weight of the rows that reach and that miss their scores."""

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np

from balframe.core.array_types import FloatArray, Int64Array
from balframe.core.binary_counts import OneVersusRest
from balframe.core.cells import is_segment_start
from balframe.core.counting_strategy import TIES, blocks
from balframe.core.operating_points import OperatingPoints
from balframe.core.prefix_sums import PrefixSums
from balframe.core.row_sums import RowSums
from balframe.core.safe_divide import ratio
from balframe.core.score_ties import Ties
from balframe.core.threads import run_on_all_cores

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
        return cls.in_given_units(ties.in_own_units())

    @classmethod
    def in_given_units(cls, ties: Ties) -> "Ranking":
        """Count the same, of ties whose weights are in units of about their sum already."""
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
    def positive_squares(self) -> FloatArray:
        """Sum of the squared weights of the positives of each tie."""
        return _squares(self.ties.positive, self.rows)

    @cached_property
    def negative_squares(self) -> FloatArray:
        """Sum of the squared weights of the negatives of each tie."""
        return _squares(self.ties.negative, self.rows)

    @cached_property
    def n_positive_squares(self) -> FloatArray:
        """Sum of the squared weights of the positives of each segment."""
        return self.sum(lambda ties: ties.positive_squares)

    @cached_property
    def n_negative_squares(self) -> FloatArray:
        """Sum of the squared weights of the negatives of each segment."""
        return self.sum(lambda ties: ties.negative_squares)

    def sums_from_lowest(self, values: FloatArray) -> FloatArray:
        """Add up the values of the ties of a segment from its lowest score up to each tie.

        All ties have to be in `rows`.
        """
        at = np.arange(len(values))
        sums = PrefixSums.of(values).between(self.points.first.take(self.segment), at + 1)
        return np.asarray(sums, np.float64)

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
            return weigh(ties.positive, (ties.positive_placements - auc.take(ties.segment)) ** 2)

        def of_negatives(ties: "Ranking") -> FloatArray:
            return weigh(ties.negative, (ties.negative_placements - auc.take(ties.segment)) ** 2)

        return (
            ratio(self.sum(of_positives), self.n_positive),
            ratio(self.sum(of_negatives), self.n_negative),
        )


def _weight(side: RowSums, rows: slice) -> FloatArray:
    return np.asarray((side.row_counts if side.weight is None else side.weight)[rows], np.float64)


def _squares(side: RowSums, rows: slice) -> FloatArray:
    sums = side.with_squares()
    return np.asarray(
        (sums.row_counts if sums.weight_sq is None else sums.weight_sq)[rows], np.float64
    )


def weigh(weight: FloatArray, value: FloatArray) -> FloatArray:
    """Multiply values by their weights; 0 without weight, even if the value is undefined."""
    return np.multiply(weight, value, out=np.zeros(len(weight)), where=weight > 0)
