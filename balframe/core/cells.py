"""Cells: counts per segment, actual label and outcome, the only thing ever counted."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from balframe.core.array_types import BoolArray, FloatArray, Int64Array, IntegerArray
from balframe.core.counting_strategy import most_levels
from balframe.core.group_sum import is_grouped, sum_by_group
from balframe.core.integer_codes import Codes
from balframe.core.row_sums import RowSums

LEFT_OUT = -1


@dataclass(frozen=True)
class Cells:
    """Sparse counts, one entry per cell, sorted by the codes of `by`, then actual, then outcome.

    A segment is a distinct combination of the codes of `by`, of which there is one array for
    each by-column. Rows that were left out, because something in them was null, are cells of
    their own: `LEFT_OUT` as actual and outcome, n 0, and `missing` is the number of these rows.
    """

    by: tuple[Int64Array, ...]
    actual: Int64Array
    outcome: Int64Array
    sums: RowSums

    @property
    def n(self) -> Int64Array:
        """Rows of each cell."""
        return self.sums.row_counts

    @property
    def missing(self) -> Int64Array:
        """Rows left out, of each cell."""
        return np.zeros_like(self.n) if self.sums.missing is None else self.sums.missing

    @property
    def weight(self) -> FloatArray | None:
        """Sum of the weights of each cell, in units of 2**exponent."""
        return self.sums.weight

    @property
    def squares(self) -> FloatArray:
        """Sum of the squared weights of each cell, in those units squared; its rows without any."""
        if self.sums.weight_sq is None:
            return np.asarray(self.n if self.weight is None else self.weight, np.float64)
        with np.errstate(over="ignore", under="ignore"):
            return np.asarray(np.ldexp(self.sums.weight_sq, -2 * self.sums.exponent))

    @property
    def largest(self) -> FloatArray:
        """Largest weight of each cell, in units of 2**exponent; 1 without weights."""
        if self.sums.weight_max is not None:
            return self.sums.weight_max
        return np.asarray(self.n > 0 if self.weight is None else self.weight, np.float64)

    def __add__(self, other: "Cells") -> "Cells":
        """Add the counts of two parts with the same encoding: parts sum to the whole."""
        return Cells.concat([self, other]).regrouped()

    @classmethod
    def concat(cls, parts: Sequence["Cells"]) -> "Cells":
        """Put the cells of several parts one behind the other, as they are."""
        if len(parts) == 1:
            return parts[0]
        return cls(
            tuple(
                np.concatenate(codes) for codes in zip(*(part.by for part in parts), strict=True)
            ),
            np.concatenate([part.actual for part in parts]),
            np.concatenate([part.outcome for part in parts]),
            RowSums.concat([part.sums for part in parts]),
        )

    def regrouped(self) -> "Cells":
        """Sort the cells and add up those with equal codes."""
        columns = [Codes.spanning(codes) for codes in (*self.by, self.actual, self.outcome)]
        if is_grouped(columns, self.sums):
            return self
        grouped, sums = sum_by_group(columns, self.sums)
        *by, actual, outcome = (
            codes + column.low for codes, column in zip(grouped, columns, strict=True)
        )
        return Cells(tuple(by), actual, outcome, sums)

    def rolled_up(self, kept: Sequence[int], codes: Sequence[int | None]) -> "Cells":
        """Add up over by-columns: all but those `kept` get the one code given for them.

        A column whose code is None is never rolled up.
        """
        by = tuple(
            column if code is None or i in kept else np.full_like(column, code)
            for i, (column, code) in enumerate(zip(self.by, codes, strict=True))
        )
        return Cells(by, self.actual, self.outcome, self.sums).regrouped()

    def sorted_by(self, columns: Sequence[int]) -> "Cells":
        """Keep these by-columns only, in this order, and add up over the others."""
        by = tuple(self.by[column] for column in columns)
        return Cells(by, self.actual, self.outcome, self.sums).regrouped()

    def with_constant_column(self, code: int, *, first: bool) -> "Cells":
        """Add a by-column that holds the same code in all cells."""
        column = np.full_like(self.actual, code)
        by = (column, *self.by) if first else (*self.by, column)
        return Cells(by, self.actual, self.outcome, self.sums)

    def segment_markers(self, *, is_counted: bool) -> "Cells":
        """Make a cell of each segment that stands for a single row, counted or left out."""
        _, first = self.segments
        ones, zeros = np.ones(len(first), np.int64), np.zeros(len(first), np.int64)
        label = np.full(len(first), LEFT_OUT)
        sums = self.sums.at(first).leaving_out(label == LEFT_OUT, zeros if is_counted else ones)
        by = tuple(codes[first] for codes in self.by)
        return Cells(by, label, label, replace(sums, n=ones if is_counted else zeros))

    def missing_of_segments(self) -> Int64Array:
        """Count the rows left out of each segment."""
        segment, first = self.segments
        missing = np.zeros(len(first), np.int64)
        np.add.at(missing, segment, self.missing)
        return missing

    def at(self, segments: Int64Array) -> "Cells":
        """Take the segments at these positions, which become the only by-column."""
        segment, first = self.segments
        cells, position = segment_ranges(segment, len(first), segments)
        return Cells((position,), self.actual[cells], self.outcome[cells], self.sums.at(cells))

    @cached_property
    def segments(self) -> tuple[Int64Array, Int64Array]:
        """The segment of each cell, numbered from 0, and the first cell of each segment."""
        begins = is_segment_start(self.by, len(self.n))
        return np.cumsum(begins) - 1, np.flatnonzero(begins)


def segment_positions(by: Sequence[IntegerArray], length: int) -> Int64Array:
    """Return the segment of each entry, sorted by these columns, numbered from 0."""
    return np.cumsum(is_segment_start(by, length)) - 1


def is_segment_start(by: Sequence[IntegerArray], length: int) -> BoolArray:
    """Return which entries, sorted by these columns, are the first of their segment."""
    begins = np.zeros(length, np.bool_)
    begins[:1] = True
    for codes in by:
        begins[1:] |= codes[1:] != codes[:-1]
    return begins


def unique_keys(
    left: Int64Array, right: Int64Array, size: int
) -> tuple[Int64Array, Int64Array, Int64Array]:
    """List the distinct keys of two arrays, and the position of each key in that list."""
    if size <= most_levels(len(left)):
        occurs = np.zeros(size, np.bool_)
        occurs[left] = occurs[right] = True
        position = np.cumsum(occurs) - 1
        return np.flatnonzero(occurs), position[left], position[right]
    keys = np.sort(np.concatenate((left, right)))
    keys = keys[np.flatnonzero(np.diff(keys, prepend=-1))]
    return keys, np.searchsorted(keys, left), np.searchsorted(keys, right)


def segment_ranges(
    segment: IntegerArray, n_segments: int, wanted: Int64Array
) -> tuple[Int64Array, Int64Array]:
    """Find the entries of the segments wanted, one segment after the other.

    `segment` is ascending. Returns the positions of entries, and of each the position of its
    segment among those wanted.
    """
    length = np.bincount(segment, minlength=n_segments)
    first = np.cumsum(length) - length
    position = np.repeat(np.arange(len(wanted)), length[wanted])
    shift = first[wanted] - (np.cumsum(length[wanted]) - length[wanted])
    return np.arange(len(position)) + shift[position], position
