"""Sums of cells over periods: each alone, the last few, and all so far."""

from dataclasses import dataclass, replace

import numpy as np

from balframe.core.array_types import Int64Array
from balframe.core.cells import LEFT_OUT, Cells, beginnings
from balframe.core.row_sums import Measures


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
