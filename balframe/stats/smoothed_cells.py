"""The cells of confusion matrices, with two more rows that are spread evenly over all of them.

In a segment, K labels occur in the truth or the predictions, and each of the K^2 cells gains
2 / K^2 rows. Most of them may be empty otherwise, so that sums over all cells are computed from the
labels.
"""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from balframe.core.array_types import BoolArray, FloatArray, Int64Array
from balframe.core.cells import LEFT_OUT, Cells
from balframe.core.class_counts import ClassCounts
from balframe.core.counting_strategy import most_levels
from balframe.core.safe_divide import ratio
from balframe.core.sample import Sample
from balframe.stats.delta_method import ROWS_ADDED, CellWeights
from balframe.stats.effective_sample_size import kish_effective_size


@dataclass(frozen=True, slots=True)
class Margins:
    """The smoothed margins of the confusion matrices of all segments.

    `correct` is the share of the rows predicted right as each entry's label. `true` and `predicted`
    are the shares of the label in truth and prediction, with their complements. `wrong` is
    the share of wrong rows, `covariance` the sum of the covariances of the labels in truth and
    prediction, p_o - p_e. Each is summed separately: differences lose digits where one cell has
    nearly all rows.
    """

    counts: ClassCounts
    occurs: BoolArray
    n_labels: FloatArray
    correct: FloatArray
    true: FloatArray
    predicted: FloatArray
    not_true: FloatArray
    not_predicted: FloatArray
    wrong: FloatArray
    covariance: FloatArray

    @classmethod
    def of(cls, c: ClassCounts, added_row: FloatArray) -> "Margins":
        """Smooth the margins of class counts by two rows of this share of the weight each."""
        occurs = c.support + c.predicted > 0
        n_labels = np.bincount(c.segment[occurs], minlength=c.n_segments).astype(np.float64)
        added, k = ROWS_ADDED * added_row, n_labels
        added_to_cell = ratio(added, k * k)

        def smooth(weight: FloatArray, n_cells: FloatArray) -> FloatArray:
            share = ratio(weight, c.spread(c.total)) + c.spread(added_to_cell * n_cells)
            return np.where(occurs, share / c.spread(1 + added), 0)

        tp, tn = smooth(c.correct, np.ones_like(k)), smooth(c.true_negatives, (k - 1) ** 2)
        fn, fp = (smooth(weight, k - 1) for weight in (c.missed, c.false_alarms))
        return cls(
            c,
            occurs,
            n_labels,
            tp,
            tp + fn,
            tp + fp,
            smooth(c.others(c.support), k * (k - 1)),
            smooth(c.others(c.predicted), k * (k - 1)),
            c.sum(fn),
            c.sum(tp * tn - fn * fp),
        )

    def disagreement(self, p: FloatArray, not_q: FloatArray) -> FloatArray:
        """Return how often independent draws from margins p and q differ: 1 - sum_k p_k q_k."""
        return self.counts.sum(p * not_q)

    def mean(self, values: FloatArray) -> FloatArray:
        """Average over the labels of each segment."""
        return ratio(self.counts.sum(np.where(self.occurs, values, 0)), self.n_labels)

    def centred(self, values: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return the mean over the labels of each segment, and the distances from it."""
        mean = self.mean(values)
        return mean, values - self.counts.spread(mean)


@dataclass(frozen=True)
class CellEntries:
    """The segment of cells, and the positions of the entries of their true and predicted labels."""

    segment: Int64Array
    true: Int64Array
    predicted: Int64Array

    @classmethod
    def of(cls, c: ClassCounts, segment: Int64Array, cells: Cells) -> "CellEntries":
        """Find the entries of cells of these segments."""
        entries, begin = c.segment * c.n_labels + c.label, segment * c.n_labels
        true, predicted = begin + cells.actual, begin + cells.outcome
        size = c.n_segments * c.n_labels
        if size > most_levels(len(begin)):
            return cls(segment, *(np.searchsorted(entries, key) for key in (true, predicted)))
        position = np.zeros(size, np.int64)
        position[entries] = np.arange(len(entries))
        return cls(segment, position[true], position[predicted])

    @cached_property
    def is_wrong(self) -> BoolArray:
        """Whether the rows of each cell are predicted wrongly."""
        return np.asarray(self.true != self.predicted)


@dataclass(frozen=True)
class ObservedCells:
    """The cells of all segments that have rows, in the order of their segments.

    Parameters
    ----------
    counts : ClassCounts
        The counts of the segments.
    entries : CellEntries
        The entries of the labels of each cell.
    share : float array, shape (cells,)
        Share of each cell in the weight of its segment.
    weights : CellWeights
        The weights of the rows of the cells; NaN where squares leave the range of a float.
    """

    counts: ClassCounts
    entries: CellEntries
    share: FloatArray
    weights: CellWeights

    @classmethod
    def of(cls, sample: Sample) -> "ObservedCells":
        """Take the cells of a sample, once for all metrics."""
        return sample.once("observed cells", lambda: cls._of(sample))

    @classmethod
    def _of(cls, sample: Sample) -> "ObservedCells":
        c, cells = sample.counts, _with_rows(sample.cells())
        mean = ratio(np.ones(c.n_segments), kish_effective_size(c.total, c.squared.total))
        (segment,) = cells.by
        total = c.total[segment]
        square = ratio(ratio(cells.squares, total), total)
        weights = CellWeights(segment, square, ratio(cells.largest, total), mean)
        share = ratio(cells.n if cells.weight is None else cells.weight, total)
        return cls(c, CellEntries.of(c, segment, cells), share, weights)


def _with_rows(cells: Cells) -> Cells:
    """Leave out the cells without rows; the position of the segment becomes the only by-column."""
    used = np.flatnonzero(cells.actual != LEFT_OUT)
    segment = cells.segments[0][used]
    return Cells((segment,), cells.actual[used], cells.outcome[used], cells.sums.at(used))


@dataclass(frozen=True)
class SmoothedCells:
    """Cells with two more rows in each segment.

    `added` is the weight of each of these rows, as a share of the weight of the segment.
    """

    observed: ObservedCells
    added: FloatArray

    @cached_property
    def margins(self) -> Margins:
        """The smoothed margins."""
        return Margins.of(self.observed.counts, self.added)

    @cached_property
    def added_to_cell(self) -> FloatArray:
        """Weight that each of the K^2 cells of a segment gains."""
        k = self.margins.n_labels
        return ratio(ROWS_ADDED * self.added, k * k)
