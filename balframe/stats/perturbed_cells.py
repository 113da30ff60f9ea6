"""Confusion matrices one cell of which is changed, as class counts of many segments.

The shares of the cells are whole numbers of 2^52 rows, so that sums of them are exact, and counts
of rows and sums of weights are the same.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from balframe.core.array_types import FloatArray, Int64Array
from balframe.core.class_counts import ClassCounts, comparing
from balframe.stats.batching import group_by_label_count
from balframe.stats.delta_method import ROWS_ADDED
from balframe.stats.smoothed_cells import SmoothedCells

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
