"""Class counts: what metrics read, for all segments at once."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, cast

import numpy as np
import numpy.typing as npt

from balframe.core.array_types import BoolArray, Counts, FloatArray, Int64Array, Regroup
from balframe.core.binary_counts import OneVersusRest
from balframe.core.cells import Cells, segment_ranges
from balframe.core.label_counts import Correctness, LabelCounts, as_floats
from balframe.core.label_set import Label
from balframe.core.maxima import Maxima
from balframe.core.row_sums import RowSums
from balframe.core.safe_divide import ratio, rescale
from balframe.errors import OPTION, InvalidInputError

_FEW_LABELS = 16
_ROOM = 500  # of small weights, as a power of two


@dataclass(frozen=True)
class ClassCounts:
    """Counts of each label in each segment, in flat arrays sorted by segment, then by label.

    Only pairs of segment and label that occur have an entry. If the rows have weights, `correct`,
    `missed`, `false_alarms` and everything derived from them are sums of weights. Names that begin
    with `n_` always count rows.

    Parameters
    ----------
    n_segments : int
        Number of segments. A metric returns one float for each segment.
    n_labels : int
        Size of the label set of the whole frame.
    segment : int64 array, shape (entries,)
        Position of the segment of each entry.
    label : int64 array, shape (entries,)
        Position of the label of each entry in the label set.
    n_correct, n_missed, n_false_alarms : int64 arrays, shape (entries,)
        True positives of the label: rows that have it and are predicted to have it. False
        negatives: rows that have it and are predicted to have another. False positives: rows that
        have another label and are predicted to have it.
    correct, missed, false_alarms : float arrays, shape (entries,)
        The same as sums of weights.
    pos_label : int or None
        Position of the positive label; -1 if it does not occur, None if there is none.
    class_weight : float array of shape (n_labels,), "balanced", "prevalence" or None
        Weight of each label, for the metrics that need it.
    absent : {"skip", "null", "zero"}
        How the mean over labels treats a label whose value is undefined.
    squares : ClassCounts or None
        The same counts as sums of squared weights, if the rows have weights.
    largest : ClassCounts or None
        The same counts as largest weights, if the rows have weights: each is the largest weight of
        the rows that it counts, and so is each sum of them.
    compared : bool array of shape (entries,) or None
        The entries that averages over labels use; None for all.
    confused : float array of shape (entries,) or None
        Weight of the rows that have another label and are predicted to have a third one, in full
        precision if the rows have weights. None if it is computed from the other arrays.
    distances : function of a power or None
        Returns the sum of |i - j|**power over the rows of each entry, where i and j are the
        positions of the true and the predicted label. None with two labels, or without cells.
    predicted_as : function of the position of a label or None
        Returns the rows of each entry that truly have its label and are predicted to have the label
        at this position. None with two labels, or without cells.
    labels : tuple of labels or None
        The label set; None if it is unknown.
    is_ordered : bool
        Whether the order of the labels has a meaning, so that there are distances between them.
    describe : function of the position of a segment or None
        Returns the values of the by-columns in the segment, for a message; None if it has none.
    clusters : Clusters or None
        The rows of each cluster in each segment, for metrics of clusters; None without clusters.

    Examples
    --------
    A metric is a function of these counts that returns one number for each segment:

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
    largest: "ClassCounts | None" = None
    compared: BoolArray | None = None
    confused: FloatArray | None = None
    distances: Callable[[int], FloatArray] | None = None
    predicted_as: Callable[[int], Int64Array] | None = None
    labels: tuple[Label, ...] | None = None
    is_ordered: bool = True
    describe: Callable[[int], str] | None = None
    clusters: Any = None  # whose module imports this one

    @classmethod
    def of(
        cls,
        entries: LabelCounts,
        *,
        pos_label: int | None = None,
        class_weight: FloatArray | str | None = None,
        absent: str = "skip",
        labels: tuple[Label, ...] | None = None,
        is_ordered: bool = True,
        describe: Callable[[int], str] | None = None,
    ) -> "ClassCounts":
        """Return the class counts of entries, with the options of metrics."""
        rows, weights, squares = entries.rows, entries.weights, entries.squares
        has_matrix = entries.cells is not None and entries.n_labels > 2
        counts = cls(
            entries.n_segments,
            entries.n_labels,
            entries.segment,
            entries.label,
            *rows,
            *(as_floats(rows) if weights is None else weights),
            pos_label,
            class_weight,
            absent,
            confused=entries.confused,
            distances=entries.distances if has_matrix else None,
            predicted_as=entries.predicted_as if has_matrix else None,
            labels=labels,
            is_ordered=is_ordered,
            describe=describe,
        )
        if squares is not None:
            counts = replace(counts, squares=counts._with(squares, entries.squares_confused))
        if entries.largest is not None:
            largest, confused = map(Maxima.of, entries.largest), entries.largest_confused
            counts = replace(
                counts,
                largest=counts._with(
                    cast(Correctness[FloatArray], tuple(largest)),
                    None if confused is None else Maxima.of(confused),
                ),
            )
        return counts

    def _with(
        self, weights: Correctness[FloatArray], confused: FloatArray | None = None
    ) -> "ClassCounts":
        """Return the same counts with other weights."""
        correct, missed, false_alarms = weights
        return replace(
            self,
            correct=correct,
            missed=missed,
            false_alarms=false_alarms,
            squares=None,
            largest=None,
            confused=confused,
            distances=None,
        )

    @classmethod
    def from_matrix(
        cls, matrix: npt.ArrayLike, *, pos_label: int | None = None, absent: str = "skip"
    ) -> "ClassCounts":
        """Return the counts of one confusion matrix, with true labels as rows, as one segment.

        The labels are the positions of rows: 0, 1, and so on.
        """
        counts = np.asarray(matrix, np.int64)
        actual, outcome = (index.ravel() for index in np.indices(counts.shape))
        cells = Cells((), actual, outcome, RowSums(counts.ravel())).regrouped()
        return cls.of(
            LabelCounts.of(cells, len(counts)),
            pos_label=pos_label,
            absent=absent,
            labels=tuple(range(len(counts))),
        )

    @property
    def squared(self) -> "ClassCounts":
        """The same counts as sums of squared weights; the counts themselves without weights."""
        return self if self.squares is None else self.squares

    @cached_property
    def in_rows(self) -> "ClassCounts":
        """The same counts without weights."""
        rows = (self.n_correct, self.n_missed, self.n_false_alarms)
        return self._with(as_floats(rows))

    def sum(self, values: FloatArray | Int64Array) -> FloatArray:
        """Return the sum of the values over the entries of each segment, shape (n_segments,).

        The sum of largest weights is the largest.
        """
        weights = self._summable(values)
        if not self._is_complete:
            if isinstance(weights, Maxima):
                return weights.in_groups(self.segment, self.n_segments)
            totals = np.bincount(self.segment, weights=weights, minlength=self.n_segments)
            return np.asarray(totals, np.float64)
        first, *others = weights.reshape(self.n_segments, self.n_labels).T
        total = first.copy()
        for column in others:
            total += column
        return total

    def _summable(self, values: FloatArray | Int64Array) -> FloatArray:
        """Return values as floats, or as largest weights if these counts are largest weights."""
        weights = np.asarray(values, np.float64)
        return Maxima.of(weights) if isinstance(self.correct, Maxima) else weights

    @cached_property
    def _is_complete(self) -> bool:
        """Return whether every segment has an entry for every label, and these are few."""
        size = self.n_segments * self.n_labels
        return 0 < size == len(self.segment) and self.n_labels <= _FEW_LABELS

    def count(self, rows: Int64Array) -> Int64Array:
        """Return the same sum as `sum`, for counts of rows, as integers."""
        counts = np.zeros(self.n_segments, np.int64)
        np.add.at(counts, self.segment, rows)
        return counts

    def spread(self, values: FloatArray) -> FloatArray:
        """Return the values of the segments, repeated for each of their entries."""
        return np.repeat(values, self.n_labels) if self._is_complete else values[self.segment]

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
    def total_correct(self) -> FloatArray:
        """Weight of the rows predicted right, of each segment."""
        return self.sum(self.correct)

    @cached_property
    def present(self) -> BoolArray:
        """Whether the label of each entry occurs in the truth and is compared."""
        return self.support > 0 if self.compared is None else (self.support > 0) & self.compared

    @cached_property
    def n_present(self) -> Int64Array:
        """Labels present in the truth of each segment."""
        return np.bincount(self.segment[self.present], minlength=self.n_segments)

    @cached_property
    def n(self) -> Int64Array:
        """Rows of each segment."""
        return self.count(self.n_support)

    def distance(self, power: int) -> FloatArray:
        """Return the sum of |i - j|**power over the rows of each segment, shape (n_segments,).

        i and j are the positions of the true and the predicted label in the label set, whose order
        has to have a meaning.
        """
        if not self.is_ordered:
            raise InvalidInputError(
                "distances between labels need their order, which texts do not have; give {labels} "
                "in order. A metric of distances declares that it needs 'label_order'.",
                labels=OPTION,
            )
        if self.distances is not None:
            return self.sum(self.distances(power))
        if self.n_labels > 2:
            raise InvalidInputError(
                f"these class counts of {self.n_labels} labels have no confusion cells, which "
                "distances between labels need; use the class counts of a frame, or of "
                "`ClassCounts.from_matrix`."
            )
        return self.sum(self.missed)

    def confusion_cells(self) -> Cells:
        """Return the counts of rows of each pair of true and predicted label that occurs.

        The position of the segment is the only by-column.
        """
        if self.predicted_as is None and self.n_labels > 2:
            raise InvalidInputError(
                f"these class counts of {self.n_labels} labels have no confusion cells, which a "
                "function of labels needs; use the class counts of a frame, or of "
                "`ClassCounts.from_matrix`."
            )
        columns = [self._predicted_as(label) for label in range(self.n_labels)]
        entries = [np.flatnonzero(rows) for rows in columns]
        entry = np.concatenate([np.zeros(0, np.int64), *entries])
        outcome = np.repeat(np.arange(self.n_labels), [len(each) for each in entries])
        rows = [column[each] for column, each in zip(columns, entries, strict=True)]
        order = np.lexsort((outcome, entry))
        n = np.concatenate([np.zeros(0, np.int64), *rows])[order]
        entry, outcome = entry[order], outcome[order]
        return Cells((self.segment[entry],), self.label[entry], outcome, RowSums(n))

    def _predicted_as(self, label: int) -> Int64Array:
        """Count the rows of each entry's true label that are predicted as this label."""
        if self.predicted_as is not None:
            return self.predicted_as(label)
        return np.where(self.label == label, self.n_correct, self.n_missed)

    @cached_property
    def min_support(self) -> Int64Array:
        """Number of rows of the rarest label present in each segment, 0 if none is."""
        rows = np.full(self.n_segments, np.iinfo(np.int64).max)
        np.minimum.at(rows, self.segment[self.present], self.n_support[self.present])
        return np.where(self.n_present > 0, rows, 0)

    @cached_property
    def recall(self) -> FloatArray:
        """Recall of each entry: TP_k / P_k."""
        return ratio(self.correct, self.support)

    @cached_property
    def mean_recall(self) -> FloatArray:
        """Mean over the labels of the recall, of each segment."""
        return self.mean_over_labels(self.recall)

    @cached_property
    def precision(self) -> FloatArray:
        """Precision of each entry: TP_k / (TP_k + FP_k)."""
        return ratio(self.correct, self.predicted)

    @cached_property
    def true_negatives(self) -> FloatArray:
        """Weight of the rows that neither have the label nor are predicted to, of each entry."""
        n_confused = self.count(self.n_missed)[self.segment] - self.n_missed - self.n_false_alarms
        if self.counts_rows:
            n_correct = self.count(self.n_correct)[self.segment] - self.n_correct
            return (n_correct + n_confused).astype(np.float64)
        if self.confused is not None:
            return self.others(self.correct) + self.confused
        confused = self.others(self.missed) - self.false_alarms
        return self.others(self.correct) + np.where(n_confused > 0, np.maximum(confused, 0), 0)

    @cached_property
    def counts_rows(self) -> bool:
        """Return whether the weights are the counts of rows."""
        if isinstance(self.correct, Maxima):
            return False
        weights = (self.correct, self.missed, self.false_alarms)
        rows = (self.n_correct, self.n_missed, self.n_false_alarms)
        return all(map(np.array_equal, weights, rows))

    @cached_property
    def positive(self) -> OneVersusRest:
        """Counts of the positive label against all others, for each segment."""
        at = np.flatnonzero(self.label == self.pos_label)
        segment = self.segment[at]
        tp, fn, fp = np.zeros_like(self.correct, shape=(3, self.n_segments))
        for total, counts in ((tp, self.correct), (fn, self.missed), (fp, self.false_alarms)):
            total[segment] = counts[at]
        tn = self.total.copy()
        tn[segment] = self.true_negatives[at]
        return OneVersusRest(tp, fn, fp, tn)

    def others(self, values: FloatArray) -> FloatArray:
        """Return, for each entry, the sum over the other labels of its segment, precisely."""
        values = self._summable(values)
        if isinstance(values, Maxima):
            if self._is_complete and self.n_labels == 2:
                return Maxima.of(np.asarray(values).reshape(-1, 2)[:, ::-1].ravel())
            return values.others_in_group(self.segment, self.n_segments)
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
        """Return the mean over the labels of each segment; `absent` handles undefined values.

        The labels are those that occur in the segment, as true labels or as predictions. To
        average over those present in the truth, make `values` NaN elsewhere, as recall is.

        Parameters
        ----------
        values : float array, shape (entries,)
            NaN where undefined.
        weights : array, shape (entries,), optional
            Weight of each entry; equal by default.
        whole : float or float array of shape (n_segments,), optional
            Weight of the whole label set, by which `absent="zero"` divides; by default the number
            of labels, or the sum of the weights given.
        """
        defined = ~np.isnan(values)
        if self.compared is not None:
            defined &= self.compared
        if weights is not None:
            # a label that is left out may be so large that the others vanish beside it
            weights = weights if self.absent == "zero" else np.where(defined, weights, 0)
            size = self.sum(weights)
            weights = rescale(weights, self.spread(size), _ROOM)
            whole = None if whole is None else rescale(whole, size, _ROOM)
        if whole is None:
            whole = self.n_labels if weights is None else self.sum(weights)
        defined_values = np.where(defined, values, 0)
        total = self.sum(defined_values if weights is None else defined_values * weights)
        if self.absent == "zero":
            return ratio(
                np.where(self.total > 0, total, np.nan), np.broadcast_to(whole, total.shape)
            )
        mean = ratio(total, self.sum(defined if weights is None else weights))
        if self.absent == "null":
            mean[self.sum(defined) < self.n_labels] = np.nan
        return mean


# Class counts of a choice of segments or labels.


def segments_at(c: ClassCounts, segments: Int64Array) -> ClassCounts:
    """Take the segments at these positions, in this order and as often as they are given."""
    entries, segment = segment_ranges(c.segment, c.n_segments, segments)

    def taken(values: Counts) -> Counts:
        return values[entries]

    chosen = regrouped(c, taken, len(segments), segment, c.label[entries])
    compared = None if c.compared is None else c.compared[entries]
    describe, chosen = c.describe, _confused_at(c, entries, chosen)
    return replace(
        chosen,
        compared=compared,
        describe=None if describe is None else lambda position: describe(int(segments[position])),
    )


def _confused_at(c: ClassCounts, entries: Int64Array, taken: ClassCounts) -> ClassCounts:
    """Complete entries that were taken: only of whole segments is `confused` known."""
    squares, largest = taken.squares, taken.largest
    if squares is not None and c.squares is not None:
        squares = _confused_at(c.squares, entries, squares)
    if largest is not None and c.largest is not None:
        largest = _confused_at(c.largest, entries, largest)
    confused = None if c.confused is None else c.confused[entries]
    return replace(taken, squares=squares, largest=largest, confused=confused)


def comparing(c: ClassCounts, entries: BoolArray) -> ClassCounts:
    """Let averages over labels look at these entries only."""
    squares, largest = (
        None if weights is None else comparing(weights, entries)
        for weights in (c.squares, c.largest)
    )
    return replace(c, compared=entries, squares=squares, largest=largest)


def regrouped(
    c: ClassCounts, sums: Regroup, n_segments: int, segment: Int64Array, label: Int64Array
) -> ClassCounts:
    """Put other entries in the place of these; `sums` turns counts into theirs."""
    squares, largest = (
        None if weights is None else regrouped(weights, sums, n_segments, segment, label)
        for weights in (c.squares, c.largest)
    )
    distances, predicted_as = c.distances, c.predicted_as
    return replace(
        c,
        n_segments=n_segments,
        segment=segment,
        label=label,
        n_correct=sums(c.n_correct),
        n_missed=sums(c.n_missed),
        n_false_alarms=sums(c.n_false_alarms),
        correct=sums(c.correct),
        missed=sums(c.missed),
        false_alarms=sums(c.false_alarms),
        squares=squares,
        largest=largest,
        compared=None,
        confused=None,
        distances=None if distances is None else lambda power: sums(distances(power)),
        predicted_as=None if predicted_as is None else lambda label: sums(predicted_as(label)),
        describe=None,
    )
