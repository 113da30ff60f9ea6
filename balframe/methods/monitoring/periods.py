"""From days to periods, and from periods to the rows of a result."""

from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from typing import Any

import numpy as np

from balframe.api.metric_selection import MetricSelection
from balframe.core.array_types import Int64Array
from balframe.core.cells import LEFT_OUT, Cells
from balframe.core.periods import PeriodLength
from balframe.errors import InvalidInputError, parameter
from balframe.frames.adapter import Name
from balframe.frames.counted_frame import CountedFrame
from balframe.frames.earlier_cells import CountedPair
from balframe.frames.query import MODEL, PERIOD
from balframe.frames.row_weights import raise_null
from balframe.methods.monitoring.decide import (
    ALARM,
    ALL_PERIODS,
    INCONCLUSIVE,
    OK,
    MonitorRequest,
    PeriodResults,
    monitor_metric,
)
from balframe.methods.monitoring.stream import Stream, build_stream

_COUNTS = ("n", "n_labels", "min_support")
_TEXTS = {"window": (), "status": (ALARM, INCONCLUSIVE, OK)}


@dataclass(frozen=True, slots=True)
class PeriodGrid:
    """A stream, and the first day of each of its periods."""

    stream: Stream
    starts: Int64Array


def period_grid(
    counts: CountedFrame | CountedPair,
    every: PeriodLength,
    until: int | None,
    selection: MetricSelection,
) -> PeriodGrid:
    """Put days into periods; rows up to `until` are the reference, unless there are cells of it."""
    counted_frame = counts.counted_frame
    now = _cells_by_day(counted_frame, counted_frame.cells)
    if isinstance(counts, CountedPair):
        before = _cells_by_day(counts.aligned_earlier, counts.aligned_earlier.cells)
    else:
        assert until is not None, "the reference is either cells or the rows up to a day"
        is_before = now.by[-1] <= until
        now, before = _select_cells(now, ~is_before), _select_cells(now, is_before)
    if not len(now.n):
        if len(before.n) and until is not None:
            raise InvalidInputError(
                f"there are no rows after {parameter('reference')} to monitor; give an earlier "
                "date."
            )
        return PeriodGrid(
            build_stream(counted_frame, now, _select_cells(before, slice(0)), 0, selection), now.n
        )
    if not len(before.n):
        raise InvalidInputError(
            f"{parameter('reference')} has no rows. Give the cells of a run, or a later date."
        )
    starts = every.starts(now.by[-1])
    grid = every.between(int(starts.min()), int(starts.max()))
    current = replace(now, by=(*now.by[:-1], np.searchsorted(grid, starts)))
    earlier = replace(before, by=(*before.by[:-1], every.starts(before.by[-1])))
    return PeriodGrid(build_stream(counted_frame, current, earlier, len(grid), selection), grid)


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
        raise_null(counted_frame.query.time, int(cells.n[is_null].sum()))
    is_kept = ~is_null & (cells.actual != LEFT_OUT)
    others = [i for i in range(len(names)) if i != at]
    selected = _select_cells(replace(cells, by=tuple(cells.by[i] for i in (*others, at))), is_kept)
    return replace(selected, by=(*selected.by[:-1], days[selected.by[-1]]))


def period_columns(
    grid: PeriodGrid, selection: MetricSelection, request: MonitorRequest
) -> Mapping[Name, Any]:
    """Return the columns of the result, with rows by segment, period, model and metric."""
    stream, counted_frame = grid.stream, grid.stream.counted_frame
    n_metrics = len(selection.metrics)
    results = [
        monitor_metric(stream, name, metric, request, n_metrics)
        for name, metric in selection.metrics.items()
    ]
    segment, period = np.divmod(np.arange(stream.n_segments * stream.n_periods), stream.n_periods)
    names = [name for name in counted_frame.by if name != PERIOD]
    keys = dict(zip(names, stream.keys, strict=True))
    model = [keys[MODEL][segment]] if counted_frame.query.has_several_models else []
    segment_keys = [keys[name][segment] for name in names if name != MODEL or not model]
    order = np.lexsort((*model, period, *segment_keys[::-1]))
    rows = np.repeat(order, n_metrics)
    metric = np.tile(np.arange(n_metrics), len(order))
    adapter = counted_frame.adapter
    columns: dict[Name, Any] = {
        name: adapter.take(counted_frame.by[name], keys[name][segment[rows]], nullable=True)
        for name in names
    }
    columns[PERIOD] = adapter.take(adapter.date_series(grid.starts), period[rows], nullable=False)
    columns["metric"] = counted_frame.text_column(list(selection.metrics), metric)
    for name in (field.name for field in fields(PeriodResults)):
        stacked = np.stack([getattr(result, name) for result in results])[metric, rows]
        if name in _TEXTS:
            texts = sorted(_TEXTS[name] or (*map(str, request.windows), ALL_PERIODS))
            columns[name] = counted_frame.text_column(texts, np.searchsorted(texts, stacked))
        else:
            columns[name] = stacked
    return columns


def monitor_warnings(grid: PeriodGrid, request: MonitorRequest, is_dispersed: bool) -> list[str]:
    """Return the warnings about too many looks and about scores that vary more than by chance."""
    messages = []
    stream = grid.stream
    has_rows = (stream.counts(1).n > 0).reshape(stream.n_segments, stream.n_periods)
    n_looks = int(has_rows.sum(axis=1).max(initial=0))
    if n_looks > request.looks:
        messages.append(
            f"{n_looks} periods have rows, more than {parameter('looks', request.looks)}. After "
            "these, only the window of all periods keeps its share of false alarms. Give a larger "
            "number from the start, or begin again with a new reference."
        )
    if is_dispersed:
        messages.append(
            "scores vary between the periods of the reference by more than chance explains, so "
            "that false alarms are more frequent than alpha says. Give "
            f"{parameter('dispersion', 'estimate')} to allow for it."
        )
    return messages
