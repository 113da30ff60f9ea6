"""Sums over several segments: all of them, and all but one."""

from dataclasses import dataclass

import numpy as np

from balframe.core.array_types import Counts, Int64Array
from balframe.core.cells import LEFT_OUT, Cells, ranges_of
from balframe.core.class_counts import ClassCounts
from balframe.core.row_sums import Measures
from balframe.core.selection import regrouped


def whole(c: ClassCounts) -> ClassCounts:
    """Add up all segments into one."""
    keys = _Keys.of(c.segment, c.label, c.n_segments, np.zeros(0, np.int64))
    return regrouped(c, keys.total, 1, np.zeros_like(keys.distinct), keys.distinct)


def rest(c: ClassCounts, segments: Int64Array) -> ClassCounts:
    """Add up all segments but one, for each one at these positions.

    Memory goes with the number of positions times the labels of all segments.
    """
    keys = _Keys.of(c.segment, c.label, c.n_segments, segments)
    return regrouped(c, keys.but_one, len(segments), *keys.spread())


def rest_of_cells(cells: Cells, segments: Int64Array) -> Cells:
    """Add up the cells of all segments but one, for each one given, which is the only by-column."""
    counted = np.flatnonzero(cells.actual != LEFT_OUT)
    segment, outcome = cells.segments[0][counted], cells.outcome[counted]
    size = int(outcome.max(initial=0)) + 1
    of_labels = cells.actual[counted] * size + outcome
    keys = _Keys.of(segment, of_labels, len(cells.segments[1]), segments)
    sums = cells.sums.at(counted)
    position, key = keys.spread()
    rows = Measures(
        keys.but_one(cells.n[counted]),
        weight=None if sums.weight is None else keys.but_one(sums.weight),
        weight_sq=None if sums.weight_sq is None else keys.but_one(sums.weight_sq),
        exponent=sums.exponent,
    )
    return Cells((position,), key // size, key % size, rows)


@dataclass(frozen=True, slots=True)
class _Keys:
    """The distinct keys of all segments, and where the entries stand among them.

    `of_entry` is the key of each entry; `inside` are the entries of the segments left out and `own`
    their places in a table of these segments by keys.
    """

    distinct: Int64Array
    of_entry: Int64Array
    inside: Int64Array
    own: Int64Array
    n_segments: int

    @classmethod
    def of(
        cls, segment: Int64Array, key: Int64Array, n_segments: int, left_out: Int64Array
    ) -> "_Keys":
        distinct, of_entry = np.unique(key, return_inverse=True)
        inside, position = ranges_of(segment, n_segments, left_out)
        own = position * len(distinct) + of_entry[inside]
        return cls(distinct, of_entry, inside, own, len(left_out))

    def spread(self) -> tuple[Int64Array, Int64Array]:
        """Give every segment left out every key."""
        segment = np.repeat(np.arange(self.n_segments), len(self.distinct))
        return segment, np.tile(self.distinct, self.n_segments)

    def total(self, values: Counts) -> Counts:
        """Add up over all segments."""
        out = np.zeros(len(self.distinct), values.dtype)
        with np.errstate(over="ignore"):
            np.add.at(out, self.of_entry, values)
        return out

    def but_one(self, values: Counts) -> Counts:
        """Add up over all segments but one, to full digits: none that is most is subtracted."""
        total = self.total(values)
        own = np.zeros(self.n_segments * len(self.distinct), values.dtype)
        own[self.own] = values[self.inside]
        with np.errstate(invalid="ignore"):  # where squares of weights left the range of a float
            is_most = values > total[self.of_entry] - values
            others = np.tile(total, self.n_segments) - own
        without_most = self.total(np.where(is_most, 0, values))
        return np.where(own > others, np.tile(without_most, self.n_segments), others)
