"""Scores as selections: a row is selected if its score is above the median of all rows."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

import narwhals as nw
import numpy as np

from balframe.core.array_types import BoolArray, Int64Array
from balframe.core.binning import Middle, Values, middle
from balframe.core.integer_codes import Codes
from balframe.frames.adapter import Adapter, EncodedColumn, Frame, Name
from balframe.frames.count_frame import encode, read_encoded, read_reduced
from balframe.frames.counted_frame import CountedFrame
from balframe.frames.engines import group_by
from balframe.frames.engines.collect import fetch
from balframe.frames.engines.column_names import Rows, with_plain_names
from balframe.frames.engines.registry import Engine
from balframe.frames.engines.weighted_sums import column_of, is_nan, measures_of
from balframe.frames.indicators import indicator
from balframe.frames.query import Query
from balframe.frames.row_weights import measures
from balframe.frames.scores import raise_infinite


@dataclass(frozen=True, slots=True)
class Selections:
    """The cells of selections, and the median score of each model."""

    reading: CountedFrame
    medians: Sequence[float]


@dataclass(frozen=True)
class AboveMedian:
    """Scores, whose medians are found in a first pass over the data."""

    middles: Mapping[Name, Middle] = field(default_factory=dict)

    reads_twice = True

    def prepared(self, rows: Rows, engine: Engine, query: Query) -> "AboveMedian":
        """Find the median of each column of scores, in a query of its own."""
        rows, plain = with_plain_names(rows, query)
        middles = {}
        for name, key in zip(query.y_pred, plain.y_pred, strict=True):
            cells = fetch(group_by.reduce_values(rows, plain, key), engine, query)
            values, is_null = engine.library.numbers(cells, group_by.by_key(0))
            counted = measures_of(cells, engine.library, query).counted
            middles[name] = _middle(name, values, is_null, counted)
        return replace(self, middles=middles)

    def read(self, frame: Frame, library: Adapter, query: Query) -> Selections:
        """Count the cells of an eager frame."""
        carried = measures(frame, library, query)
        found = {name: library.numbers(frame, name) for name in query.y_pred}
        middles = {name: _middle(name, *one, carried.n) for name, one in found.items()}
        levels = library.counts(np.arange(2))
        selections = {}
        for name, (values, is_null) in found.items():
            selected = (values > middles[name].low).astype(np.uint8)
            if is_null is not None:
                selected[is_null] = len(levels)
            selections[name] = EncodedColumn(Codes(selected, 0, len(levels) + 1), levels)
        columns = encode(frame, query.keys, library) | selections
        return _selections(read_encoded(columns, carried, frame, library, query), middles)

    def reduce(self, rows: Rows, query: Query) -> Rows:
        """Group by segment and selection."""
        rows, plain = with_plain_names(rows, query)
        selections = {
            str(key): _is_above(self.middles[name], key, rows)
            for name, key in zip(query.y_pred, plain.y_pred, strict=True)
        }
        return group_by.reduce(rows.with_columns(**selections), plain)

    def read_reduced(self, cells: Frame, library: Adapter, query: Query) -> Selections:
        """Read the cells that an engine has summed."""
        return _selections(read_reduced(cells, library, query), self.middles)


def _middle(name: Name, values: Values, is_null: BoolArray | None, n: Int64Array | None) -> Middle:
    """Find the median of the scores that stand for rows; infinite ones raise."""
    counted = None if n is None else n > 0
    if is_null is not None:
        counted = ~is_null if counted is None else counted & ~is_null
    if counted is not None:
        values, n = values[counted], None if n is None else n[counted]
    is_infinite = np.isinf(values)
    raise_infinite(name, int(is_infinite.sum() if n is None else n[is_infinite].sum()))
    return middle(values, n)


def _selections(reading: CountedFrame, middles: Mapping[Name, Middle]) -> Selections:
    return Selections(reading, [middles[name].median for name in reading.query.y_pred])


def _is_above(one: Middle, name: Name, rows: Rows) -> nw.Expr:
    """Write 1 of a score above the middle and 0 of another one; null where that is null."""
    column = column_of(name)
    is_known = ~column.is_null()
    if rows.collect_schema()[str(name)].is_float():
        is_known = is_known & ~is_nan(column, rows)
    return nw.when(is_known).then(indicator(column > one.low))
