"""The derivatives of a metric by the cells, by differences, for confidence limits.

A metric is evaluated at confusion matrices one cell of which is changed. Derivatives are five-point
formulas, with steps of 0.1% of the cell for the first and of 0.4% for the second one. There are
none where the metric is not a function of the shares of the cells.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from balframe.core.array_types import FloatArray, Int64Array
from balframe.core.class_counts import ClassCounts, comparing
from balframe.stats.batching import group_by_label_count
from balframe.stats.delta_method import ROWS_ADDED, Linearisation
from balframe.stats.label_function import LabelFunction, LabelPairs, without_warnings
from balframe.stats.smoothed_cells import ObservedCells, SmoothedCells

# Confusion matrices one cell of which is changed, as class counts of many segments.
#
# The shares of the cells are whole numbers of 2^52 rows, so that sums of them are exact, and counts
# of rows and sums of weights are the same.


AnyArray = npt.NDArray[Any]

_ROWS = 2.0**52
_BLOCK_SIZE = 2**18  # entries of class counts at once


@dataclass(frozen=True)
class PerturbedCells:
    """Segments with equally many labels K, and how much every cell is changed at how many points.

    Parameters
    ----------
    counts : ClassCounts
        The counts of all segments.
    segments : int64 array, shape (segments,)
        The positions of those whose cells are changed.
    entries : int64 array, shape (segments, K)
        The entries of their labels.
    cells : int64 array, shape (segments, K, K)
        Rows of each cell.
    changes : int64 array, shape (segments, K, K, points)
        What is added to the cell, at each point.
    """

    counts: ClassCounts
    segments: Int64Array
    entries: Int64Array
    cells: Int64Array
    changes: Int64Array

    @classmethod
    def blocks(
        cls, smoothed: SmoothedCells, steps: FloatArray, most_labels: int
    ) -> Iterator["PerturbedCells"]:
        """Yield blocks of the segments that have at most so many labels.

        `steps` are the changes relative to the cell, one for each point.
        """
        m, entries = smoothed.margins, smoothed.observed.entries
        c, order = m.counts, np.flatnonzero(m.occurs)
        position = np.zeros(len(c.segment), np.int64)  # of an entry among those of its segment
        first = np.searchsorted(c.segment[order], c.segment[order])
        position[order] = np.arange(len(order)) - first
        is_used = m.occurs[entries.true] & m.occurs[entries.predicted]
        used = np.flatnonzero(is_used)
        segment, share = entries.segment[used], smoothed.observed.share[used]
        true, predicted = position[entries.true[used]], position[entries.predicted[used]]
        in_block = np.full(c.n_segments, -1)
        for segments, at in group_by_label_count(c.segment[order], c.n_segments, order):
            k = at.shape[1]
            if k > most_labels:
                continue
            size = max(_BLOCK_SIZE // (k**3 * max(len(steps), 1)), 1)
            for begin in range(0, len(segments), size):
                block, labels = segments[begin : begin + size], at[begin : begin + size]
                in_block[:] = -1
                in_block[block] = np.arange(len(block))
                own = np.flatnonzero(in_block[segment] >= 0)
                shares = np.zeros((len(block), k, k))
                shares[in_block[segment[own]], true[own], predicted[own]] = share[own]
                shares += smoothed.added_to_cell[block, None, None]
                shares /= 1 + ROWS_ADDED * smoothed.added[block, None, None]
                is_defined = np.isfinite(shares).all(axis=(1, 2))
                cells = np.rint(_ROWS * shares[is_defined]).astype(np.int64)
                yield cls.of(c, block[is_defined], labels[is_defined], cells, steps)

    @classmethod
    def of(
        cls,
        counts: ClassCounts,
        segments: Int64Array,
        entries: Int64Array,
        cells: Int64Array,
        steps: FloatArray,
    ) -> "PerturbedCells":
        """Change the cells by these multiples of themselves, rounded to rows; 2 steps are twice 1.

        The steps are -2, -1, 1 and 2 times one or more lengths.
        """
        unit = np.abs(steps).reshape(-1, 4)[:, 1]
        sizes = np.rint(cells[..., None] * unit).astype(np.int64)
        changes = (sizes[..., None] * np.array([-2, -1, 1, 2])).reshape(*cells.shape, len(steps))
        return cls(counts, segments, entries, cells, changes)

    @property
    def n_labels(self) -> int:
        """K."""
        return int(self.cells.shape[1])

    @property
    def label(self) -> Int64Array:
        """Positions of the labels in the label set, of the shape (segments, K)."""
        return self.counts.label[self.entries]

    @property
    def rows_of_share(self) -> float:
        """Rows of the share 1."""
        return _ROWS

    @property
    def n_matrices(self) -> int:
        """Matrices of each segment: the unchanged one, then one for each cell and point."""
        return 1 + int(np.prod(self.changes.shape[1:]))

    @cached_property
    def class_counts(self) -> ClassCounts:
        """The counts of each segment unchanged, then with each cell changed at each point."""
        c, k, n_segments = self.counts, self.n_labels, len(self.segments) * self.n_matrices
        diagonal, is_right = np.diagonal(self.cells, axis1=1, axis2=2), np.eye(k, dtype=np.int64)
        i, j = (index.ravel() for index in np.indices((k, k)))
        correct, missed, false_alarms = (
            self._change(values, entry, factor).ravel()
            for values, entry, factor in (
                (diagonal, i, is_right),
                (self.cells.sum(axis=2) - diagonal, i, 1 - is_right),
                (self.cells.sum(axis=1) - diagonal, j, 1 - is_right),
            )
        )
        counts = ClassCounts(
            n_segments,
            c.n_labels,
            np.repeat(np.arange(n_segments), k),
            self._of_matrices(self.label),
            correct,
            missed,
            false_alarms,
            correct.astype(np.float64),
            missed.astype(np.float64),
            false_alarms.astype(np.float64),
            pos_label=c.pos_label,
            class_weight=c.class_weight,
            absent=c.absent,
            distances=self._distances if c.n_labels > 2 else None,
            predicted_as=self._predicted_as if c.n_labels > 2 else None,
            labels=c.labels,
        )
        if c.compared is None:
            return counts
        return comparing(counts, self._of_matrices(c.compared[self.entries]))

    def _of_matrices(self, values: AnyArray) -> AnyArray:
        """Return the values of labels for every matrix, flat."""
        return np.repeat(values[:, None], self.n_matrices, axis=1).ravel()

    def _change(self, values: AnyArray, entry: Int64Array, factor: AnyArray) -> AnyArray:
        """Return values of labels for every matrix, which change with a cell.

        A change of a cell, times its factor, is added to the value of the label at the position
        that `entry` has for the cell.
        """
        out = np.repeat(values[:, None], self.n_matrices, axis=1)
        changes = (self.changes * factor[..., None]).reshape(len(self.segments), -1)
        matrix = np.arange(1, self.n_matrices)
        out[:, matrix, np.repeat(entry, self.changes.shape[-1])] += changes
        return out

    def _distances(self, power: int) -> FloatArray:
        """Return the sum of |i - j|**power over the rows of each entry."""
        steps = np.abs(self.label[:, :, None] - self.label[:, None, :])
        distance = steps.astype(np.float64) ** power
        values = (self.cells * distance).sum(axis=2)
        return self._change(values, self._rows_of_cells, distance).ravel()

    def _predicted_as(self, label: int) -> Int64Array:
        """Count the rows of each entry's label that are predicted as `label`."""
        is_label = (self.label == label).astype(np.int64)[:, None, :]
        values = (self.cells * is_label).sum(axis=2)
        return self._change(values, self._rows_of_cells, is_label).ravel()

    @property
    def _rows_of_cells(self) -> Int64Array:
        return np.repeat(np.arange(self.n_labels), self.n_labels)


MOST_LABELS = 32  # of a segment; it is evaluated 8 K^2 times

# Returns a metric at every matrix, flat.
Evaluate = Callable[[PerturbedCells], FloatArray]

_STEPS = np.outer([1e-3, 4e-3], [-2, -1, 1, 2]).ravel()
_FIRST = np.array([1, -8, 8, -1]) / 12
_SECOND = np.array([-1, 16, 16, -1]) / 12
_SECOND_AT_CELL = -30 / 12
_TOLERANCE = 1e-6


def evaluate_counts(function: Callable[[ClassCounts], FloatArray]) -> Evaluate:
    """Return the evaluation of a function of class counts."""
    return lambda cells: np.asarray(function(cells.class_counts), np.float64)


def evaluate_labels(function: LabelFunction) -> Evaluate:
    """Return the evaluation of a function of labels, which takes the rows of each pair of them."""

    def evaluate(cells: PerturbedCells) -> FloatArray:
        c = cells.counts
        function.check(c)
        values = []
        for segment, positions, matrix, changes in zip(
            cells.segments.tolist(), cells.label, cells.cells, cells.changes, strict=True
        ):
            pairs = LabelPairs.all_of(c, segment, positions, matrix.ravel())
            scale = (c.n[segment] + ROWS_ADDED) / cells.rows_of_share
            for n in _changed(pairs.n, changes.reshape(matrix.size, -1)):
                values.append(function.evaluate(pairs, n * scale, "for rows that are not whole, "))
        return np.array(values)

    def evaluate_quietly(cells: PerturbedCells) -> FloatArray:
        with without_warnings():
            return evaluate(cells)

    return evaluate_quietly


def _changed(rows: Int64Array, changes: Int64Array) -> Iterator[Int64Array]:
    """Yield the rows of all cells, then those with each cell changed at each point."""
    yield rows
    for cell, of_cell in enumerate(changes):
        for change in of_cell:
            changed = rows.copy()
            changed[cell] += change
            yield changed


def value_of_shares(evaluate: Evaluate, observed: ObservedCells) -> FloatArray:
    """Return a metric of the shares of the observed cells; NaN where labels are too many."""
    nothing = np.zeros(observed.counts.n_segments)
    value = np.full(len(nothing), np.nan)
    for block in PerturbedCells.blocks(SmoothedCells(observed, nothing), np.zeros(0), MOST_LABELS):
        value[block.segments] = evaluate(block)
    return value


def linearise_numerically(
    evaluate: Evaluate, range_: tuple[float, float], cells: SmoothedCells
) -> Linearisation:
    """Linearise u = (metric - low) / (high - low); NaN where a metric is undefined near by."""
    m, entries = cells.margins, cells.observed.entries
    n_cells = (m.n_labels**2).astype(np.int64)
    begin = np.cumsum(n_cells) - n_cells
    first, second = np.full((2, int(n_cells.sum())), np.nan)
    value = np.full(len(n_cells), np.nan)
    means = np.full((4, len(n_cells)), np.nan)
    position = np.zeros(len(m.occurs), np.int64)
    for block in PerturbedCells.blocks(cells, _STEPS, MOST_LABELS):
        position[block.entries] = np.arange(block.n_labels)
        of_block = _differentiate(block, evaluate, range_)
        at = begin[block.segments, None] + np.arange(block.n_labels**2)
        value[block.segments], (first[at], second[at]) = of_block[0], of_block[1]
        d = first[at]
        means[:, block.segments] = [v.mean(axis=1) for v in (d**2, d**3, d**4, second[at])]
    # of cells without weight, whose labels may not occur, nothing is used
    has_weight = cells.observed.share > 0
    k = m.n_labels[entries.segment].astype(np.int64)
    at = begin[entries.segment] + position[entries.true] * k + position[entries.predicted]
    observed = np.where(has_weight, at, 0)
    return Linearisation(
        cells.observed.weights,
        cells.added,
        value,
        np.where(has_weight, first[observed], 0),
        means[0],
        lambda: (means[1], means[2]),
        lambda: np.where(has_weight, second[observed], 0),
        lambda: means[3],
    )


def _differentiate(
    cells: PerturbedCells, evaluate: Evaluate, range_: tuple[float, float]
) -> tuple[FloatArray, tuple[FloatArray, FloatArray]]:
    """Return u and its derivatives by the share of each cell, the first less its mean."""
    size, low, high = len(cells.segments), *range_
    u = (evaluate(cells).reshape(size, cells.n_matrices) - low) / (high - low)
    value, changed = u[:, 0], u[:, 1:].reshape(size, -1, 2, 4)
    # the step of each formula, as a share; 0 of a cell without weight
    step = cells.changes.reshape(changed.shape)[..., 2] / cells.rows_of_share
    at_cell = np.where(step > 0, step, 1)
    first = changed[:, :, 0] @ _FIRST / at_cell[:, :, 0]
    curve = changed[:, :, 1] @ _SECOND + _SECOND_AT_CELL * value[:, None]
    second = curve / at_cell[:, :, 1] ** 2
    first, second = (np.where(step[:, :, 0] > 0, v, 0) for v in (first, second))
    share = cells.cells.reshape(size, -1) / cells.rows_of_share
    mean, spread = (share * first).sum(axis=1), np.sqrt((share * first**2).sum(axis=1))
    # the mean of a function of shares is 0
    is_of_shares = np.abs(mean) <= _TOLERANCE * spread + _TOLERANCE**2
    first = np.where(is_of_shares[:, None], first - mean[:, None], np.nan)
    return value, (first, second)
