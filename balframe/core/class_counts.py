"""Class counts: what metrics read, for all segments at once."""

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
import numpy.typing as npt

from balframe.core.aggregate import Measures
from balframe.core.arrays import BoolArray, Counts, FloatArray, Int64Array, Regroup
from balframe.core.cells import LEFT_OUT, Cells, distinct_keys, ranges_of
from balframe.core.division import ratio
from balframe.core.one_versus_rest import OneVersusRest


@dataclass(frozen=True)
class ClassCounts:
    """Counts of each label in each segment, as flat arrays sorted by segment, then label.

    Only pairs of segment and label that occur have an entry. Where the rows have weights,
    `correct`, `missed`, `false_alarms` and what follows from them are sums of weights; the names
    that begin with `n_` always count rows.

    Parameters
    ----------
    n_segments : int
        Number of segments; a metric returns one float for each.
    n_labels : int
        Size of the label set of the whole frame.
    segment : int64 array, shape (entries,)
        Position of the segment of each entry.
    label : int64 array, shape (entries,)
        Position of the label of each entry in the label set.
    n_correct, n_missed, n_false_alarms : int64 arrays, shape (entries,)
        Rows with the label that were predicted to have it (true positives), that were not (false
        negatives), and rows of other labels that were (false positives).
    correct, missed, false_alarms : float arrays, shape (entries,)
        The same in weights.
    pos_label : int or None
        Position of the positive label, -1 where it does not occur, None where there is none.
    class_weight : float array of shape (n_labels,), "balanced", "prevalence" or None
        The weight of each label, for the metrics that need it.
    absent : {"skip", "null", "zero"}
        What the mean over labels does with a label whose value is undefined.
    squares : ClassCounts or None
        The same with sums of squared weights, where the rows have weights.
    compared : bool array of shape (entries,) or None
        The entries that averages over labels look at; None for all.

    Examples
    --------
    A metric is a function of these counts that gives one number for each segment:

    >>> import numpy as np
    >>> import balframe as bf
    >>> counts = bf.ClassCounts.from_matrix(np.array([[45, 5], [11, 39]]))
    >>> counts.recall
    array([0.9 , 0.78])
    >>> counts.mean_over_labels(counts.recall)
    array([0.84])
    """

    n_segments: int
    n_labels: int
    segment: Int64Array
    label: Int64Array
    n_correct: Int64Array
    n_missed: Int64Array
    n_false_alarms: Int64Array
    correct: FloatArray
    missed: FloatArray
    false_alarms: FloatArray
    pos_label: int | None = None
    class_weight: FloatArray | str | None = None
    absent: str = "skip"
    squares: "ClassCounts | None" = None
    compared: BoolArray | None = None

    @classmethod
    def of(
        cls,
        cells: Cells,
        n_labels: int,
        *,
        pos_label: int | None = None,
        class_weight: FloatArray | str | None = None,
        absent: str = "skip",
    ) -> "ClassCounts":
        """Add up cells: the diagonal, and what lies beside it in its row and in its column."""
        segment, first = cells.segments()
        counted = np.flatnonzero(cells.actual != LEFT_OUT)
        entry, on_truth, on_outcome = distinct_keys(
            segment[counted] * n_labels + cells.actual[counted],
            segment[counted] * n_labels + cells.outcome[counted],
            len(first) * n_labels,
        )
        hit = on_truth == on_outcome

        def add_up(values: Counts) -> tuple[Counts, Counts, Counts]:
            correct, missed, false_alarms = np.zeros((3, len(entry)), values.dtype)
            np.add.at(correct, on_truth[hit], values[hit])
            np.add.at(missed, on_truth[~hit], values[~hit])
            np.add.at(false_alarms, on_outcome[~hit], values[~hit])
            return correct, missed, false_alarms

        rows = add_up(cells.n[counted])
        if cells.weight is None:
            correct, missed, false_alarms = (counts.astype(np.float64) for counts in rows)
        else:
            correct, missed, false_alarms = add_up(cells.weight[counted])
        where, label = np.divmod(entry, max(n_labels, 1))
        counts = cls(
            len(first),
            n_labels,
            where,
            label,
            *rows,
            correct,
            missed,
            false_alarms,
            pos_label,
            class_weight,
            absent,
        )
        if cells.sums.weight_sq is None:
            return counts
        with np.errstate(over="ignore", under="ignore"):
            squares = np.ldexp(cells.sums.weight_sq[counted], -2 * cells.sums.exponent)
            correct, missed, false_alarms = add_up(squares)
        squared = replace(counts, correct=correct, missed=missed, false_alarms=false_alarms)
        return replace(counts, squares=squared)

    @classmethod
    def from_matrix(
        cls, matrix: npt.ArrayLike, *, pos_label: int | None = None, absent: str = "skip"
    ) -> "ClassCounts":
        """Read one confusion matrix, rows true and columns predicted, as a single segment."""
        counts = np.asarray(matrix, np.int64)
        actual, outcome = (index.ravel() for index in np.indices(counts.shape))
        cells = Cells((), actual, outcome, Measures(counts.ravel())).regrouped()
        return cls.of(cells, len(counts), pos_label=pos_label, absent=absent)

    @property
    def squared(self) -> "ClassCounts":
        """The same with sums of squared weights; the counts themselves where there are none."""
        return self if self.squares is None else self.squares

    @cached_property
    def in_rows(self) -> "ClassCounts":
        """The same without weights."""
        rows = (self.n_correct, self.n_missed, self.n_false_alarms)
        correct, missed, false_alarms = (counts.astype(np.float64) for counts in rows)
        return replace(
            self, correct=correct, missed=missed, false_alarms=false_alarms, squares=None
        )

    def at(self, segments: Int64Array) -> "ClassCounts":
        """Take the segments at these positions, in this order and as often as they are given."""
        entries, segment = ranges_of(self.segment, self.n_segments, segments)

        def taken(values: Counts) -> Counts:
            return values[entries]

        return self.regrouped(taken, len(segments), segment, self.label[entries])

    def comparing(self, entries: BoolArray) -> "ClassCounts":
        """Let averages over labels look at these entries only."""
        squares = self.squares
        return replace(self, compared=entries, squares=squares and squares.comparing(entries))

    def regrouped(
        self, sums: Regroup, n_segments: int, segment: Int64Array, label: Int64Array
    ) -> "ClassCounts":
        """Put other entries in the place of these; `sums` turns counts into theirs."""
        squares = self.squares
        return replace(
            self,
            n_segments=n_segments,
            segment=segment,
            label=label,
            n_correct=sums(self.n_correct),
            n_missed=sums(self.n_missed),
            n_false_alarms=sums(self.n_false_alarms),
            correct=sums(self.correct),
            missed=sums(self.missed),
            false_alarms=sums(self.false_alarms),
            squares=squares and squares.regrouped(sums, n_segments, segment, label),
            compared=None,
        )

    def sum(self, values: FloatArray | Int64Array) -> FloatArray:
        """Add up the values of the entries of each segment; shape (n_segments,)."""
        weights = np.asarray(values, np.float64)
        totals = np.bincount(self.segment, weights=weights, minlength=self.n_segments)
        return np.asarray(totals, np.float64)

    def count(self, rows: Int64Array) -> Int64Array:
        """Add up counts of rows as `sum` does, as integers."""
        counts = np.zeros(self.n_segments, np.int64)
        np.add.at(counts, self.segment, rows)
        return counts

    def spread(self, values: FloatArray) -> FloatArray:
        """Repeat the values of the segments for each of their entries."""
        return values[self.segment]

    @cached_property
    def support(self) -> FloatArray:
        """Weight of the rows that truly have the label, of each entry: P_k."""
        return self.correct + self.missed

    @cached_property
    def predicted(self) -> FloatArray:
        """Weight of the rows predicted to have the label, of each entry: TP_k + FP_k."""
        return self.correct + self.false_alarms

    @cached_property
    def n_support(self) -> Int64Array:
        """Rows that truly have the label, of each entry."""
        return self.n_correct + self.n_missed

    @cached_property
    def n_predicted(self) -> Int64Array:
        """Rows predicted to have the label, of each entry."""
        return self.n_correct + self.n_false_alarms

    @cached_property
    def total(self) -> FloatArray:
        """Total weight of each segment."""
        return self.sum(self.support)

    @cached_property
    def present(self) -> BoolArray:
        """Tell of each entry whether its label occurs in the truth and is compared."""
        return self.support > 0 if self.compared is None else (self.support > 0) & self.compared

    @cached_property
    def n_present(self) -> Int64Array:
        """Labels present in the truth of each segment."""
        return np.bincount(self.segment[self.present], minlength=self.n_segments)

    @cached_property
    def n(self) -> Int64Array:
        """Rows of each segment."""
        return self.count(self.n_support)

    @cached_property
    def min_support(self) -> Int64Array:
        """Rows of the rarest label present in each segment, 0 where no label is."""
        rows = np.full(self.n_segments, np.iinfo(np.int64).max)
        np.minimum.at(rows, self.segment[self.present], self.n_support[self.present])
        return np.where(self.n_present > 0, rows, 0)

    @cached_property
    def recall(self) -> FloatArray:
        """Recall of each entry: TP_k / P_k."""
        return ratio(self.correct, self.support)

    @cached_property
    def precision(self) -> FloatArray:
        """Precision of each entry: TP_k / (TP_k + FP_k)."""
        return ratio(self.correct, self.predicted)

    @cached_property
    def true_negatives(self) -> FloatArray:
        """Weight of the rows that neither have the label nor are predicted to, of each entry."""
        n_confused = self.count(self.n_missed)[self.segment] - self.n_missed - self.n_false_alarms
        confused = self.others(self.missed) - self.false_alarms
        return self.others(self.correct) + np.where(n_confused > 0, np.maximum(confused, 0), 0)

    @cached_property
    def positive(self) -> OneVersusRest:
        """Counts of the positive label against all others, for each segment."""
        at = self.label == self.pos_label
        tp, fn, fp = (
            self.sum(np.where(at, counts, 0))
            for counts in (self.correct, self.missed, self.false_alarms)
        )
        tn = np.where(self.sum(at) > 0, self.sum(np.where(at, self.true_negatives, 0)), self.total)
        return OneVersusRest(tp, fn, fp, tn)

    def others(self, values: FloatArray) -> FloatArray:
        """Add up the values of the other labels of the segment, for each entry, to full digits."""
        total = self.spread(self.sum(values))
        is_most = values > total / 2
        rest = self.spread(self.sum(np.where(is_most, 0, values)))
        return np.where(is_most, rest, total - values)

    def mean_over_labels(
        self,
        values: FloatArray,
        weights: FloatArray | Int64Array | None = None,
        whole: FloatArray | float | None = None,
    ) -> FloatArray:
        """Average over the labels of each segment, treating undefined values as `absent` says.

        Parameters
        ----------
        values : float array, shape (entries,)
            NaN where undefined.
        weights : array, shape (entries,), optional
            Weight of each entry; equal by default.
        whole : float or float array of shape (n_segments,), optional
            Weight of the whole label set, by which `absent="zero"` divides. Defaults to the
            number of labels, or to the sum of the weights given.
        """
        defined = ~np.isnan(values)
        if self.compared is not None:
            defined &= self.compared
        if whole is None:
            whole = self.n_labels if weights is None else self.sum(weights)
        weights = np.ones(len(values)) if weights is None else weights
        total = self.sum(np.where(defined, values, 0) * weights)
        if self.absent == "zero":
            return ratio(
                np.where(self.total > 0, total, np.nan), np.broadcast_to(whole, total.shape)
            )
        mean = ratio(total, self.sum(np.where(defined, weights, 0)))
        if self.absent == "null":
            mean[self.sum(defined) < self.n_labels] = np.nan
        return mean
