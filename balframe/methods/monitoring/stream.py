"""Streams: the counts of segments period by period, beside those of a reference."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from balframe.api.metric_selection import Scoring
from balframe.core.array_types import BoolArray, Int64Array
from balframe.core.cells import LEFT_OUT, Cells, beginnings
from balframe.core.class_counts import ClassCounts, segments_at
from balframe.core.row_sums import Measures
from balframe.frames.counted_frame import CountedFrame

# Sums of cells over periods: each alone, the last few, and all so far.


@dataclass(frozen=True)
class Windows:
    """Cells by segment and period, of which sums over periods are taken.

    `totals` has a row for each kind of cell, of a segment, label and outcome, and a column for each
    period, before which a column of zeros stands: the sums over all periods up to there.
    """

    segment: Int64Array
    actual: Int64Array
    outcome: Int64Array
    totals: Int64Array
    n_segments: int
    like: Measures

    @classmethod
    def of(cls, cells: Cells, n_segments: int, n_periods: int) -> "Windows":
        """Take cells whose by-columns are the positions of the segment and of the period."""
        counted = np.flatnonzero(cells.actual != LEFT_OUT)
        segment, period = (codes[counted] for codes in cells.by)
        actual, outcome = cells.actual[counted], cells.outcome[counted]
        order = np.lexsort((outcome, actual, segment))
        keys = [codes[order] for codes in (segment, actual, outcome)]
        begins = beginnings(keys, len(order))
        totals = np.zeros((int(begins.sum()), n_periods + 1), np.int64)
        kind = np.cumsum(begins) - 1
        np.add.at(totals, (kind, period[order] + 1), cells.n[counted][order])
        segment, actual, outcome = (codes[begins] for codes in keys)
        none = cells.sums.at(slice(0))
        return cls(segment, actual, outcome, np.cumsum(totals, axis=1), n_segments, none)

    @property
    def n_periods(self) -> int:
        """Number of periods."""
        return int(self.totals.shape[1]) - 1

    def last(self, width: int | None) -> Cells:
        """Add up the last periods at each period, or all up to it.

        The by-columns are the positions of the segment and of the period; every combination has
        cells, of which one is that of a row left out.
        """
        ends = np.arange(1, self.n_periods + 1)
        starts = np.zeros_like(ends) if width is None else np.maximum(ends - width, 0)
        sums = self.totals[:, ends] - self.totals[:, starts]
        kind, period = np.nonzero(sums)
        segment, every = np.divmod(np.arange(self.n_segments * self.n_periods), self.n_periods)
        nothing = np.full(len(every), LEFT_OUT)
        n = np.concatenate([sums[kind, period], np.zeros(len(every), np.int64)])
        return Cells(
            (
                np.concatenate([self.segment[kind], segment]),
                np.concatenate([period, every]),
            ),
            np.concatenate([self.actual[kind], nothing]),
            np.concatenate([self.outcome[kind], nothing]),
            replace(self.like, n=n, missing=(n == 0).astype(np.int64)),  # so that none is lost
        ).regrouped()


@dataclass(frozen=True)
class Stream:
    """Segments in every period, and their reference.

    `keys` are the codes of the by-columns of each segment, other than that of periods, and
    `periods` the positions of the periods of the reference's own, empty where it has none.
    """

    reading: CountedFrame
    keys: Sequence[Int64Array]
    windows: Windows
    before: Cells
    scoring: Scoring

    @property
    def n_segments(self) -> int:
        """Number of segments."""
        return self.windows.n_segments

    @property
    def n_periods(self) -> int:
        """Number of periods."""
        return self.windows.n_periods

    def counts(self, width: int | None) -> ClassCounts:
        """Count the last periods at each period, or all up to it: segments times periods."""
        return self._counted(self.windows.last(width))

    def cells(self, width: int | None) -> Callable[[], Cells]:
        """Give the cells of these counts once they are asked for."""
        return lambda: self.windows.last(width)

    @cached_property
    def reference(self) -> ClassCounts:
        """Count the reference of each segment."""
        return self._counted(_complete(self.before.sorted_by([0]), self.n_segments))

    @cached_property
    def reference_periods(self) -> tuple[ClassCounts, Int64Array]:
        """Count each period of the reference, and tell the segment of each."""
        held = self.before.actual != LEFT_OUT
        cells = Cells(
            tuple(codes[held] for codes in self.before.by),
            self.before.actual[held],
            self.before.outcome[held],
            self.before.sums.at(held),
        )
        _, first = cells.segments
        return self._counted(cells), cells.by[0][first]

    def reference_at_periods(self) -> ClassCounts:
        """Repeat the reference of each segment for each period."""
        return segments_at(self.reference, np.repeat(np.arange(self.n_segments), self.n_periods))

    def periods_with_rows(self, width: int | None) -> Int64Array:
        """Count the periods of each window that have rows, at least 1."""
        has_rows = (self.counts(1).n > 0).reshape(self.n_segments, self.n_periods)
        total = np.cumsum(has_rows, axis=1)
        if width is not None:
            before = np.pad(total, ((0, 0), (width, 0)))[:, : self.n_periods]
            total = total - before
        return np.maximum(total.ravel(), 1)

    @cached_property
    def has_reference(self) -> BoolArray:
        """Tell which segments have rows in the reference."""
        return np.asarray(self.reference.n > 0)

    def _counted(self, cells: Cells) -> ClassCounts:
        return self.scoring.class_counts(self.reading, cells)


def _complete(cells: Cells, n_segments: int) -> Cells:
    """Let every segment have a cell, if only that of a row left out."""
    every = np.arange(n_segments)
    nothing = np.full(n_segments, LEFT_OUT)
    none = cells.sums.at(np.zeros(n_segments, np.int64)) if len(cells.n) else cells.sums
    sums = none.leaving_out(nothing == LEFT_OUT, np.ones(n_segments, np.int64))
    return Cells.concat([cells, Cells((every,), nothing, nothing, sums)]).regrouped()


def stream_of(
    reading: CountedFrame,
    now: Cells,
    before: Cells,
    n_periods: int,
    scoring: Scoring,
) -> Stream:
    """Give the segments of either side numbers.

    The last by-column of the cells is the position of the period; the others are the segment's.
    """
    n_keys = len(now.by) - 1
    both = [np.concatenate([now.by[i], before.by[i]]) for i in range(n_keys)]
    length = len(now.n) + len(before.n)
    order = np.lexsort(both[::-1]) if n_keys else np.arange(length)
    begins = beginnings([codes[order] for codes in both], length)
    number = np.empty(length, np.int64)
    number[order] = np.cumsum(begins) - 1
    n_segments = int(begins.sum())
    own, earlier = (
        Cells((number[part], cells.by[-1]), cells.actual, cells.outcome, cells.sums).regrouped()
        for cells, part in ((now, slice(0, len(now.n))), (before, slice(len(now.n), None)))
    )
    keys = [codes[order][begins] for codes in both]
    return Stream(reading, keys, Windows.of(own, n_segments, n_periods), earlier, scoring)
