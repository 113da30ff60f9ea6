"""From cells to entries: what is right and wrong of each label in each segment."""

from dataclasses import dataclass

import numpy as np

from balframe.core.array_types import Counts, FloatArray, Int64Array
from balframe.core.cells import LEFT_OUT, Cells, segment_ranges, unique_keys
from balframe.core.maxima import Maxima

_CANCELS = 2.0**-10  # a difference below this share of what it is taken from is summed anew

Correctness = tuple[Counts, Counts, Counts]  # correct, missed, false alarms


@dataclass(frozen=True, slots=True)
class LabelCounts:
    """Counts of pairs of segment and label that occur, sorted by segment, then label.

    `weights`, `squares` and `largest`, the largest weights, are None where the rows have no
    weights; squares are in units of 1, weights in any. `confused`, `squares_confused` and
    `largest_confused` belong to rows of other labels that were predicted to have yet another one,
    and are None where they follow from the counts. `cells` are those that were added up, None where
    there were none.
    """

    n_segments: int
    n_labels: int
    segment: Int64Array
    label: Int64Array
    rows: Correctness[Int64Array]
    weights: Correctness[FloatArray] | None
    squares: Correctness[FloatArray] | None
    largest: Correctness[FloatArray] | None = None
    confused: FloatArray | None = None
    squares_confused: FloatArray | None = None
    largest_confused: FloatArray | None = None
    cells: Cells | None = None

    @classmethod
    def of(cls, cells: Cells, n_labels: int) -> "LabelCounts":
        """Add up cells: the diagonal, and what lies beside it in its row and in its column."""
        segment, first = cells.segments
        left_out = cells.actual == LEFT_OUT
        kept = np.flatnonzero(~left_out) if left_out.any() else slice(None)
        begin = segment[kept] * n_labels
        entry, on_truth, on_outcome = unique_keys(
            begin + cells.actual[kept], begin + cells.outcome[kept], len(first) * n_labels
        )
        is_hit = on_truth == on_outcome
        hit, miss = np.flatnonzero(is_hit), np.flatnonzero(~is_hit)

        def add_up(values: Counts, combine: np.ufunc = np.add) -> Correctness[Counts]:
            correct, missed, false_alarms = np.zeros((3, len(entry)), values.dtype)
            combine.at(correct, on_truth[hit], values[hit])
            combine.at(missed, on_truth[miss], values[miss])
            combine.at(false_alarms, on_outcome[miss], values[miss])
            return correct, missed, false_alarms

        where, label = np.divmod(entry, max(n_labels, 1))
        beside = _OffDiagonal(
            len(first), where, segment[kept][miss], on_truth[miss], on_outcome[miss]
        )
        weights: Correctness[FloatArray] | None = None
        squares: Correctness[FloatArray] | None = None
        largest: Correctness[FloatArray] | None = None
        confused = squares_confused = largest_confused = None
        if cells.weight is not None:
            weight = cells.weight[kept]
            weights = add_up(weight)
            confused = _among_others(beside, weights, weight[miss]) if n_labels > 2 else None
        if cells.sums.weight_sq is not None:
            with np.errstate(over="ignore", under="ignore"):
                square = cells.squares[kept]
                squares = add_up(square)
            squares_confused = (
                _among_others(beside, squares, square[miss]) if n_labels > 2 else None
            )
        if cells.sums.weight_max is not None:
            weight_max = cells.largest[kept]
            largest = add_up(weight_max, np.maximum)
            largest_confused = (
                _largest_among_others(beside, weight_max[miss]) if n_labels > 2 else None
            )
        rows = add_up(cells.n[kept])
        beyond = (confused, squares_confused, largest_confused)
        sums = (rows, weights, squares, largest)
        return cls(len(first), n_labels, where, label, *sums, *beyond, cells)

    def distances(self, power: int) -> FloatArray:
        """Add up |i - j|**power over the rows that truly have the label, for each entry.

        i and j are the positions of the true and the predicted label in the label set.
        """
        assert self.cells is not None
        kept = np.flatnonzero(self.cells.actual != LEFT_OUT)
        actual, outcome = self.cells.actual[kept], self.cells.outcome[kept]
        values = self.cells.n if self.cells.weight is None else self.cells.weight
        with np.errstate(over="ignore"):
            far = values[kept] * np.abs(actual - outcome).astype(np.float64) ** power
        at = self._entries_of_truth(kept)
        return np.asarray(np.bincount(at, weights=far, minlength=len(self.label)), np.float64)

    def predicted_as(self, label: int) -> Int64Array:
        """Count the rows that truly have the label of each entry and are predicted as `label`."""
        assert self.cells is not None
        kept = np.flatnonzero((self.cells.actual != LEFT_OUT) & (self.cells.outcome == label))
        rows = np.zeros(len(self.label), np.int64)
        np.add.at(rows, self._entries_of_truth(kept), self.cells.n[kept])
        return rows

    def _entries_of_truth(self, kept: Int64Array) -> Int64Array:
        """Return the entries of the true labels of these cells."""
        assert self.cells is not None
        begin = self.cells.segments[0][kept] * self.n_labels
        entries = self.segment * self.n_labels + self.label
        return np.searchsorted(entries, begin + self.cells.actual[kept])


@dataclass(frozen=True, slots=True)
class _OffDiagonal:
    """The cells beside the diagonal, sorted by segment, and the segment `of_entry`."""

    n_segments: int
    of_entry: Int64Array
    segment: Int64Array
    on_truth: Int64Array
    on_outcome: Int64Array

    def cells_of_others(
        self, entries: Int64Array, values: FloatArray
    ) -> tuple[Int64Array, FloatArray]:
        """Return the cells of the segments of entries, with 0 in the entry's row and column.

        Of each cell this is the position of the entry among `entries`, and its value.
        """
        cells, position = segment_ranges(self.segment, self.n_segments, self.of_entry[entries])
        entry = entries[position]
        is_other = (self.on_truth[cells] != entry) & (self.on_outcome[cells] != entry)
        return position, np.where(is_other, values[cells], 0)


def _among_others(
    beside: _OffDiagonal, sums: Correctness[FloatArray], values: FloatArray
) -> FloatArray:
    """Add up, for each entry, the cells of neither its row nor its column.

    That is the sum of all cells without the two; where nearly all of them are in the row or
    the column, as can be of two labels of a segment, it is summed to keep its digits.
    """
    _, missed, false_alarms = sums
    with np.errstate(over="ignore", invalid="ignore"):
        total = np.bincount(beside.segment, weights=values, minlength=beside.n_segments)
        whole = total[beside.of_entry]
        out: FloatArray = whole - missed - false_alarms
    few = np.flatnonzero(out < whole * _CANCELS)
    position, amounts = beside.cells_of_others(few, values)
    out[few] = np.bincount(position, weights=amounts, minlength=len(few))
    return out


def _largest_among_others(beside: _OffDiagonal, values: FloatArray) -> FloatArray:
    """Return, for each entry, the largest value of the cells of neither its row nor its column.

    That is the largest of the segment, except in the row and the column that it is in.
    """
    largest, owner, _ = Maxima.of(values).two_largest(beside.segment, beside.n_segments)
    out = largest[beside.of_entry]
    owner = owner[owner >= 0]
    few = np.concatenate([beside.on_truth[owner], beside.on_outcome[owner]])
    position, amounts = beside.cells_of_others(few, values)
    out[few] = Maxima.of(amounts).in_groups(position, len(few))
    return out


def as_floats(rows: Correctness[Int64Array]) -> Correctness[FloatArray]:
    """Take counts of rows as weights."""
    correct, missed, false_alarms = (counts.astype(np.float64) for counts in rows)
    return correct, missed, false_alarms
