"""Streams: the counts of segments in every period, and those of their baseline."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from balframe.api.metric_selection import MetricSelection
from balframe.core.array_types import BoolArray, Int64Array
from balframe.core.cells import LEFT_OUT, Cells, is_segment_start
from balframe.core.class_counts import ClassCounts, segments_at
from balframe.core.periods import PeriodLength
from balframe.core.row_sums import RowSums
from balframe.errors import OPTION, InvalidInputError, warn
from balframe.frames.counted_frame import CountedFrame
from balframe.frames.earlier_cells import CountedPair
from balframe.frames.query import PERIOD
from balframe.frames.row_weights import raise_null
from balframe.methods.monitoring.baseline_data import numbered_day


@dataclass(frozen=True)
class Windows:
    """Cells by segment and period, of which sums over periods are taken.

    `totals` are cumulative sums over the periods: one row for each segment, label and outcome, and
    one column for each period, after a column of zeros.
    """

    segment: Int64Array
    actual: Int64Array
    outcome: Int64Array
    totals: Int64Array
    n_segments: int
    empty_sums: RowSums

    @classmethod
    def of(cls, cells: Cells, n_segments: int, n_periods: int) -> "Windows":
        """Sum cells whose by-columns are the positions of the segment and of the period."""
        positions = np.flatnonzero(cells.actual != LEFT_OUT)
        segment, period = (codes[positions] for codes in cells.by)
        actual, outcome = cells.actual[positions], cells.outcome[positions]
        order = np.lexsort((outcome, actual, segment))
        keys = [codes[order] for codes in (segment, actual, outcome)]
        begins = is_segment_start(keys, len(order))
        totals = np.zeros((int(begins.sum()), n_periods + 1), np.int64)
        row = np.cumsum(begins) - 1
        np.add.at(totals, (row, period[order] + 1), cells.n[positions][order])
        segment, actual, outcome = (codes[begins] for codes in keys)
        empty_sums = cells.sums.at(slice(0))
        return cls(segment, actual, outcome, np.cumsum(totals, axis=1), n_segments, empty_sums)

    @property
    def n_periods(self) -> int:
        """Number of periods."""
        return int(self.totals.shape[1]) - 1

    def without(self, is_excluded: BoolArray) -> "Windows":
        """Leave out the rows of some periods."""
        if not is_excluded.any():
            return self
        in_period = np.where(is_excluded, 0, np.diff(self.totals, axis=1))
        return replace(self, totals=np.pad(np.cumsum(in_period, axis=1), ((0, 0), (1, 0))))

    def window_cells(self, width: int | None) -> Cells:
        """Return the cells of the last periods at each period, or of all up to it.

        The by-columns are the positions of the segment and of the period. Every combination has a
        cell of a row left out, so that none is lost.
        """
        ends = np.arange(1, self.n_periods + 1)
        starts = np.zeros_like(ends) if width is None else np.maximum(ends - width, 0)
        sums = self.totals[:, ends] - self.totals[:, starts]
        row, period = np.nonzero(sums)
        all_segments, all_periods = np.divmod(
            np.arange(self.n_segments * self.n_periods), self.n_periods
        )
        left_out = np.full(len(all_periods), LEFT_OUT)
        n = np.concatenate([sums[row, period], np.zeros(len(all_periods), np.int64)])
        return Cells(
            (
                np.concatenate([self.segment[row], all_segments]),
                np.concatenate([period, all_periods]),
            ),
            np.concatenate([self.actual[row], left_out]),
            np.concatenate([self.outcome[row], left_out]),
            replace(self.empty_sums, n=n, missing=(n == 0).astype(np.int64)),
        ).regrouped()


@dataclass(frozen=True)
class Stream:
    """Segments in every period, and their baseline.

    `keys` are the codes of the by-columns of each segment, except that of periods. `period_starts`
    are the first days of the periods. `all_rows` has the rows of all periods. `windows` and the
    baseline lack those of excluded periods.
    """

    counted_frame: CountedFrame
    keys: Sequence[Int64Array]
    period_starts: Int64Array
    all_rows: Windows
    windows: Windows
    baseline_cells: Cells
    selection: MetricSelection

    @property
    def n_segments(self) -> int:
        """Number of segments."""
        return self.windows.n_segments

    @property
    def n_periods(self) -> int:
        """Number of periods."""
        return self.windows.n_periods

    def counts(self, width: int | None) -> ClassCounts:
        """Return the class counts of the last periods at each period, or of all up to it.

        There is one for each segment and period.
        """
        if width not in self._counts:
            self._counts[width] = self._class_counts(self.windows.window_cells(width))
        return self._counts[width]

    @cached_property
    def _counts(self) -> dict[int | None, ClassCounts]:
        return {}

    def period_cells(self) -> Cells:
        """Return the cells of every period, also of those that are excluded."""
        return self.all_rows.window_cells(1)

    @cached_property
    def period_counts(self) -> ClassCounts:
        """The class counts of every period, also of those that are excluded."""
        return self._class_counts(self.period_cells())

    @cached_property
    def baseline(self) -> ClassCounts:
        """The class counts of the baseline of each segment."""
        return self._class_counts(
            _with_all_segments(self.baseline_cells.sorted_by([0]), self.n_segments)
        )

    @cached_property
    def baseline_periods(self) -> tuple[ClassCounts, Int64Array]:
        """The class counts of each period of the baseline, and the segment of each."""
        is_counted = self.baseline_cells.actual != LEFT_OUT
        cells = Cells(
            tuple(codes[is_counted] for codes in self.baseline_cells.by),
            self.baseline_cells.actual[is_counted],
            self.baseline_cells.outcome[is_counted],
            self.baseline_cells.sums.at(is_counted),
        )
        _, first = cells.segments
        return self._class_counts(cells), cells.by[0][first]

    @cached_property
    def baseline_at_periods(self) -> ClassCounts:
        """The class counts of the baseline, repeated for each period."""
        return segments_at(self.baseline, np.repeat(np.arange(self.n_segments), self.n_periods))

    def periods_with_rows(self, width: int) -> Int64Array:
        """Return the number of periods with rows among the last periods, at least 1."""
        has_rows = (self.counts(1).n > 0).reshape(self.n_segments, self.n_periods)
        total = np.cumsum(has_rows, axis=1)
        total_before = np.pad(total, ((0, 0), (width, 0)))[:, : self.n_periods]
        return np.asarray(np.maximum((total - total_before).ravel(), 1), np.int64)

    @cached_property
    def has_baseline(self) -> BoolArray:
        """Whether each segment has rows in the baseline."""
        return np.asarray(self.baseline.n > 0)

    def _class_counts(self, cells: Cells) -> ClassCounts:
        return self.selection.class_counts(self.counted_frame, cells)


def build_stream(
    counts: CountedFrame | CountedPair,
    every: PeriodLength,
    until: int | None,
    selection: MetricSelection,
    excluded_days: Int64Array,
) -> Stream:
    """Put days into periods, and return the stream.

    Rows up to `until` are the baseline, unless there are cells of it; if that is within a period,
    rows before this period. Periods that contain an excluded day are left out of the windows and of
    the baseline.
    """
    counted_frame = counts.counted_frame
    now = _cells_by_day(counted_frame, counted_frame.cells)
    if isinstance(counts, CountedPair):
        before = _cells_by_day(counts.aligned_earlier, counts.aligned_earlier.cells)
    else:
        assert until is not None, "the baseline is either cells or the rows up to a day"
        is_before = now.by[-1] <= _last_baseline_day(now.by[-1], every, until)
        now, before = _select_cells(now, ~is_before), _select_cells(now, is_before)
    if not len(now.n):
        if len(before.n) and until is not None:
            raise InvalidInputError(
                "there are no rows after {baseline} to monitor; give an earlier date.",
                baseline=OPTION,
            )
        return _number_segments(
            counted_frame, now, _select_cells(before, slice(0)), now.n, selection
        )
    if not len(before.n):
        raise InvalidInputError(
            "{baseline} has no rows. Give the cells of a run, or a later date.", baseline=OPTION
        )
    starts = every.starts(now.by[-1])
    period_starts = every.between(int(starts.min()), int(starts.max()))
    current = replace(now, by=(*now.by[:-1], np.searchsorted(period_starts, starts)))
    earlier = replace(before, by=(*before.by[:-1], every.starts(before.by[-1])))
    stream = _number_segments(counted_frame, current, earlier, period_starts, selection)
    return _without_periods(stream, every.starts(excluded_days)) if len(excluded_days) else stream


def _last_baseline_day(days: Int64Array, every: PeriodLength, until: int) -> int:
    """Return `until`, or the day before its period if that has rows on both sides of it.

    Otherwise, the first period would be a part of one: a single day, perhaps. It is one, with a
    warning, if there are no earlier rows.
    """
    start = int(every.starts(np.array([until]))[0])
    in_period = days[every.starts(days) == start]
    if not ((in_period <= until).any() and (in_period > until).any()):
        return until
    first = numbered_day(start)
    if not (days < start).any():
        warn(
            "{baseline} ends within the period that begins on {}, and there are no earlier rows. "
            "So the first period has only the rows after {}. Give a shorter period, or the last "
            "day of a period.",
            first,
            numbered_day(until),
            baseline=OPTION,
        )
        return until
    warn(
        "{baseline} ends within the period that begins on {}, which is monitored as a whole: the "
        "rows before it are the baseline. Give the last day of a period to choose another one.",
        first,
        baseline=OPTION,
    )
    return start - 1


def _without_periods(stream: Stream, starts: Int64Array) -> Stream:
    """Leave periods out of the windows and of the baseline, but not out of the result."""
    cells = stream.baseline_cells
    kept = _select_cells(cells, ~np.isin(cells.by[-1], starts))
    if not len(kept.n):
        raise InvalidInputError(
            "{exclude} leaves no rows of {baseline}; exclude fewer periods.",
            exclude=OPTION,
            baseline=OPTION,
        )
    windows = stream.all_rows.without(np.isin(stream.period_starts, starts))
    return replace(stream, windows=windows, baseline_cells=kept)


def _select_cells(cells: Cells, is_selected: Any) -> Cells:  # noqa: ANN401 (booleans or a slice)
    by = tuple(codes[is_selected] for codes in cells.by)
    return Cells(
        by, cells.actual[is_selected], cells.outcome[is_selected], cells.sums.at(is_selected)
    )


def _cells_by_day(counted_frame: CountedFrame, cells: Cells) -> Cells:
    """Make the day of each cell its last by-column; raise for rows without a day."""
    names = list(counted_frame.by)
    at = names.index(PERIOD)
    levels = counted_frame.by[PERIOD]
    adapter = counted_frame.adapter
    days, _ = adapter.days(adapter.build_frame({PERIOD: levels}), PERIOD)
    codes = cells.by[at]
    is_null = codes == len(days)
    if not counted_frame.query.drops_missing:
        raise_null(counted_frame.query.source_column(PERIOD), int(cells.n[is_null].sum()))
    is_kept = ~is_null & (cells.actual != LEFT_OUT)
    others = [i for i in range(len(names)) if i != at]
    selected = _select_cells(replace(cells, by=tuple(cells.by[i] for i in (*others, at))), is_kept)
    return replace(selected, by=(*selected.by[:-1], days[selected.by[-1]]))


def _number_segments(
    counted_frame: CountedFrame,
    now: Cells,
    baseline_cells: Cells,
    period_starts: Int64Array,
    selection: MetricSelection,
) -> Stream:
    """Return the stream of the data and the baseline, with their segments numbered.

    The last by-column of the cells is the position of the period. The others define the segment.
    """
    n_keys = len(now.by) - 1
    keys = [np.concatenate([now.by[i], baseline_cells.by[i]]) for i in range(n_keys)]
    length = len(now.n) + len(baseline_cells.n)
    order = np.lexsort(keys[::-1]) if n_keys else np.arange(length)
    begins = is_segment_start([codes[order] for codes in keys], length)
    number = np.empty(length, np.int64)
    number[order] = np.cumsum(begins) - 1
    n_segments = int(begins.sum())
    current, baseline = (
        Cells((number[part], cells.by[-1]), cells.actual, cells.outcome, cells.sums).regrouped()
        for cells, part in ((now, slice(0, len(now.n))), (baseline_cells, slice(len(now.n), None)))
    )
    segment_keys = [codes[order][begins] for codes in keys]
    windows = Windows.of(current, n_segments, len(period_starts))
    return Stream(counted_frame, segment_keys, period_starts, windows, windows, baseline, selection)


def _with_all_segments(cells: Cells, n_segments: int) -> Cells:
    """Add a cell of a row left out to every segment, so that none is lost."""
    all_segments = np.arange(n_segments)
    left_out = np.full(n_segments, LEFT_OUT)
    empty_sums = cells.sums.at(np.zeros(n_segments, np.int64)) if len(cells.n) else cells.sums
    sums = empty_sums.leaving_out(left_out == LEFT_OUT, np.ones(n_segments, np.int64))
    return Cells.concat([cells, Cells((all_segments,), left_out, left_out, sums)]).regrouped()
