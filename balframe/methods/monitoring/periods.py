"""What was read of a stream and its reference, as rows of periods."""

from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from typing import Any

import numpy as np

from balframe.api.metric_selection import Scoring
from balframe.core.array_types import Int64Array
from balframe.core.cells import LEFT_OUT, Cells
from balframe.core.periods import Every
from balframe.errors import InvalidInputError, parameter
from balframe.frames.adapter import Name
from balframe.frames.counted_frame import CountedFrame
from balframe.frames.earlier_cells import Sides
from balframe.frames.query import MODEL, PERIOD
from balframe.frames.row_weights import raise_null
from balframe.methods.monitoring.decide import ALARM, ALL, INCONCLUSIVE, OK, Watch, Watched, watched
from balframe.methods.monitoring.stream import Stream, stream_of

_COUNTS = ("n", "n_labels", "min_support")
_TEXTS = {"window": (), "status": (ALARM, INCONCLUSIVE, OK)}


@dataclass(frozen=True, slots=True)
class Grid:
    """A stream, and the first day of each of its periods."""

    stream: Stream
    starts: Int64Array


def grid_of(found: CountedFrame | Sides, every: Every, until: int | None, scoring: Scoring) -> Grid:
    """Put days into periods; rows up to `until` are the reference, unless cells are given."""
    reading = found.reading
    now = _days(reading, reading.cells)
    if isinstance(found, Sides):
        before = _days(found.before, found.before.cells)
    else:
        assert until is not None, "the reference is either cells or the rows up to a day"
        is_before = now.by[-1] <= until
        now, before = _part(now, ~is_before), _part(now, is_before)
    if not len(now.n):
        if len(before.n) and until is not None:
            raise InvalidInputError(
                f"there are no rows after {parameter('reference')} to monitor; give an earlier "
                "date."
            )
        return Grid(stream_of(reading, now, _part(before, slice(0)), 0, scoring), now.n)
    if not len(before.n):
        raise InvalidInputError(
            f"{parameter('reference')} has no rows. Give the cells of a run, or a later date."
        )
    starts = every.starts(now.by[-1])
    grid = every.between(int(starts.min()), int(starts.max()))
    own = replace(now, by=(*now.by[:-1], np.searchsorted(grid, starts)))
    earlier = replace(before, by=(*before.by[:-1], every.starts(before.by[-1])))
    return Grid(stream_of(reading, own, earlier, len(grid), scoring), grid)


def _part(cells: Cells, which: Any) -> Cells:  # noqa: ANN401 (an array of booleans)
    by = tuple(codes[which] for codes in cells.by)
    return Cells(by, cells.actual[which], cells.outcome[which], cells.sums.at(which))


def _days(reading: CountedFrame, cells: Cells) -> Cells:
    """Put the day of each cell behind its other by-columns; rows without a day raise."""
    names = list(reading.by)
    at = names.index(PERIOD)
    levels = reading.by[PERIOD]
    library = reading.library
    days, _ = library.days(library.build({PERIOD: levels}), PERIOD)
    codes = cells.by[at]
    is_null = codes == len(days)
    if not reading.query.drops_missing:
        raise_null(reading.query.time, int(cells.n[is_null].sum()))
    kept = ~is_null & (cells.actual != LEFT_OUT)
    others = [i for i in range(len(names)) if i != at]
    some = _part(replace(cells, by=tuple(cells.by[i] for i in (*others, at))), kept)
    return replace(some, by=(*some.by[:-1], days[some.by[-1]]))


def rows_of_periods(grid: Grid, scoring: Scoring, watch: Watch) -> Mapping[Name, Any]:
    """Make the columns of an answer: rows by segment, period, model and metric."""
    stream, reading = grid.stream, grid.stream.reading
    n_metrics = len(scoring.metrics)
    tables = [
        watched(stream, name, metric, watch, n_metrics) for name, metric in scoring.metrics.items()
    ]
    segment, period = np.divmod(np.arange(stream.n_segments * stream.n_periods), stream.n_periods)
    names = [name for name in reading.by if name != PERIOD]
    keys = dict(zip(names, stream.keys, strict=True))
    model = [keys[MODEL][segment]] if reading.query.several else []
    before = [keys[name][segment] for name in names if name != MODEL or not model]
    order = np.lexsort((*model, period, *before[::-1]))
    rows = np.repeat(order, n_metrics)
    metric = np.tile(np.arange(n_metrics), len(order))
    library = reading.library
    columns: dict[Name, Any] = {
        name: library.take(reading.by[name], keys[name][segment[rows]], nullable=True)
        for name in names
    }
    columns[PERIOD] = library.take(library.dates(grid.starts), period[rows], nullable=False)
    columns["metric"] = reading.text_column(list(scoring.metrics), metric)
    for one in (one.name for one in fields(Watched)):
        stacked = np.stack([getattr(table, one) for table in tables])[metric, rows]
        if one in _TEXTS:
            known = _TEXTS[one] or (*map(str, watch.windows), ALL)
            texts = sorted(known)
            columns[one] = reading.text_column(texts, np.searchsorted(texts, stacked))
        else:
            columns[one] = stacked
    return columns


def warnings_of(grid: Grid, watch: Watch, dispersed: bool) -> list[str]:
    """Say what is no longer promised, and that scores vary more than by chance."""
    said = []
    stream = grid.stream
    has_rows = (stream.counts(1).n > 0).reshape(stream.n_segments, stream.n_periods)
    most = int(has_rows.sum(axis=1).max(initial=0))
    if most > watch.looks:
        said.append(
            f"{most} periods have rows, more than {parameter('looks', watch.looks)}. After these, "
            "only the window of all periods keeps its share of false alarms. Give a larger number "
            "from the start, or begin again with a new reference."
        )
    if dispersed:
        said.append(
            "scores vary between the periods of the reference by more than chance explains, so "
            "that false alarms are more frequent than alpha says. Give "
            f"{parameter('dispersion', 'estimate')} to allow for it."
        )
    return said
