"""Operating points: every threshold of every segment, and how many rows it calls positive."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from balframe.core.array_types import Counts, FloatArray, Int64Array, IntegerArray
from balframe.core.binary_counts import OneVersusRest
from balframe.core.cells import Cells
from balframe.core.class_counts import ClassCounts
from balframe.core.maxima import RunningMaxima
from balframe.core.prefix_sums import Positions, PrefixSums
from balframe.core.row_sums import RowSums
from balframe.core.score_ties import Ties
from balframe.core.two_labels import NEGATIVE, POSITIVE, two_label_counts


@dataclass(frozen=True, slots=True)
class OperatingPoints:
    """The points `score >= threshold` of each segment, ascending by threshold.

    The ties of segment s stand from `first[s]` to `last[s]`, and those below the threshold of point
    i before `position[i]`, or without positions, before `i + shift[s]`.
    """

    segment: IntegerArray
    threshold: FloatArray
    shift: Int64Array
    first: Int64Array
    last: Int64Array
    sums: tuple[tuple[PrefixSums, PrefixSums], ...]
    maxima: tuple[RunningMaxima, RunningMaxima] | None
    position: Int64Array | None = None

    @classmethod
    def exact(cls, ties: Ties) -> "OperatingPoints":
        """Take every score as a threshold, and infinity, which nothing reaches."""
        everything = np.arange(ties.n_segments)
        last = np.searchsorted(ties.segment, everything, side="right")
        n_ties = np.diff(last, prepend=0)
        segment = np.repeat(everything.astype(ties.segment.dtype), n_ties + 1)
        threshold = np.insert(ties.score, last, np.inf)
        sums, maxima = _running(ties), _running_maxima(ties, ties.segment)
        return cls(segment, threshold, -everything, last - n_ties, last, sums, maxima)

    @classmethod
    def on_grid(cls, ties: Ties, thresholds: FloatArray) -> "OperatingPoints":
        """Take the same thresholds everywhere; scores are how many thresholds they reach."""
        n_points, n_segments = len(thresholds), ties.n_segments
        slot = ties.segment.astype(np.int64) * (n_points + 1) + ties.score.astype(np.int64)
        size = n_segments * (n_points + 1)

        def spread(values: Counts) -> Counts:
            out = np.zeros(size, values.dtype)
            out[slot] = values
            return out

        segment = np.repeat(np.arange(n_segments), n_points)
        first = np.arange(n_segments) * (n_points + 1)
        return cls(
            segment,
            np.tile(thresholds, n_segments),
            np.arange(n_segments) + 1,
            first,
            first + n_points + 1,
            _running(ties, spread),
            _running_maxima(ties, np.repeat(np.arange(n_segments), n_points + 1), spread),
        )

    def __len__(self) -> int:
        """Count the points of all segments."""
        return len(self.segment)

    def counts(self, measure: int, block: slice) -> OneVersusRest:
        """Count rows (measure 0), weights (1) or their squares (2) of a part of the points."""
        return self._between(measure, *self._positions(block))

    def largest_weights(self, block: slice) -> OneVersusRest:
        """Return the largest weights of a part of the points."""
        assert self.maxima is not None
        positive, negative = self.maxima
        first, at, last = self._positions(block)
        return OneVersusRest(
            positive.above(at, last),
            positive.below(first, at),
            negative.above(at, last),
            negative.below(first, at),
        )

    def _positions(self, block: slice) -> tuple[Int64Array, Int64Array, Int64Array]:
        """Return where the ties of segments begin, reach the threshold and end, of each point."""
        segment = self.segment[block]
        if self.position is None:
            at = np.arange(*block.indices(len(self))) + self.shift[segment]
        else:
            at = self.position[block]
        return self.first.take(segment), at, self.last.take(segment)

    def counts_at_ties(self, measure: int, segment: Int64Array, ties: slice) -> OneVersusRest:
        """Count the same where the scores of some ties, of these segments, are the thresholds."""
        return self._between(measure, self.first.take(segment), ties, self.last.take(segment))

    def _between(
        self, measure: int, first: Int64Array, at: Positions, last: Int64Array
    ) -> OneVersusRest:
        """Count what is above and below positions among the ties, in each segment."""
        positive, negative = self.sums[min(measure, len(self.sums) - 1)]
        return OneVersusRest(
            positive.between(at, last),
            positive.between(first, at),
            negative.between(at, last),
            negative.between(first, at),
        )

    def class_counts(self, block: slice, class_weight: FloatArray | str | None) -> ClassCounts:
        """Count a part of the points as segments of two labels, the negative one first."""
        rows, weights, squares, largest = self.counts(0, block), None, None, None
        if len(self.sums) > 1:
            weights, squares = (self.counts(measure, block) for measure in (1, 2))
            largest = self.largest_weights(block)
        return two_label_counts(rows, weights, squares, largest, class_weight)

    def totals(self) -> ClassCounts:
        """Count each segment as if a point called all of its rows positive."""
        return self.one_each(self.first).class_counts(slice(0, len(self.first)), None)

    def class_weight_sums(self) -> list[tuple[FloatArray, FloatArray]]:
        """Return the sums of weights and of squared weights, of positives and of negatives."""
        totals = self.totals()
        n, n_sq = totals.support, totals.squared.support
        is_class = [totals.label == label for label in (POSITIVE, NEGATIVE)]
        return [(n[entries], n_sq[entries]) for entries in is_class]

    def one_each(self, at: Int64Array) -> "OperatingPoints":
        """Take one point of each segment: the ties before the position given are below it."""
        segment = np.arange(len(at))
        nowhere = np.full(len(at), np.nan)
        return replace(self, segment=segment, threshold=nowhere, shift=at - segment, position=None)

    def select(self, points: Int64Array) -> "OperatingPoints":
        """Keep some points, ascending."""
        segment = self.segment[points]
        at = points + self.shift[segment] if self.position is None else self.position[points]
        return replace(self, segment=segment, threshold=self.threshold[points], position=at)

    def cells(self, block: slice) -> Cells:
        """Return the cells of a part of the points, the points the only by-column."""
        rows = self.counts(0, block)
        n = len(rows.tp)

        def each(c: OneVersusRest) -> npt.NDArray[Any]:
            return np.column_stack([c.tn, c.fp, c.fn, c.tp]).ravel()

        sums = RowSums(each(rows))
        if len(self.sums) > 1:
            weight, square = (each(self.counts(measure, block)) for measure in (1, 2))
            sums = RowSums(sums.n, None, weight, square, each(self.largest_weights(block)))
        actual = np.tile([NEGATIVE, NEGATIVE, POSITIVE, POSITIVE], n)
        outcome = np.tile([NEGATIVE, POSITIVE], 2 * n)
        return Cells((np.repeat(np.arange(n), 4),), actual, outcome, sums)


def _running(
    ties: Ties, spread: Callable[[Any], Any] = lambda values: values
) -> tuple[tuple[PrefixSums, PrefixSums], ...]:
    both = (ties.positive, ties.negative)
    measures: list[list[Any]] = [[side.n for side in both]]
    if ties.positive.weight is not None:
        measures += [[side.weight for side in both], [side.weight_sq for side in both]]
    return tuple(
        (PrefixSums.of(spread(positive)), PrefixSums.of(spread(negative)))
        for positive, negative in measures
    )


def _running_maxima(
    ties: Ties, segment: IntegerArray, spread: Callable[[Any], Any] = lambda values: values
) -> tuple[RunningMaxima, RunningMaxima] | None:
    """Return the largest weights of positives and of negatives; None without weights."""
    largest = (ties.positive.weight_max, ties.negative.weight_max)
    if largest[0] is None or largest[1] is None:
        return None
    positive, negative = (RunningMaxima.of(spread(values), segment) for values in largest)
    return positive, negative
