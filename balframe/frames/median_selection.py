"""Scores as selections: a row is selected if its score exceeds the median of all rows."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

import narwhals as nw
import numpy as np

from balframe.core.array_types import BoolArray, Int64Array
from balframe.core.binning import Median, Values, weighted_median
from balframe.core.integer_codes import Codes
from balframe.frames.adapter import Adapter, EncodedColumn, Frame, Name
from balframe.frames.count_frame import count_encoded, count_reduced, encode_columns
from balframe.frames.counted_frame import CountedFrame
from balframe.frames.engines import group_by
from balframe.frames.engines.collect import fetch_cells
from balframe.frames.engines.column_names import Rows, with_plain_names
from balframe.frames.engines.registry import Engine
from balframe.frames.engines.weighted_sums import column_expr, has_value, read_sums
from balframe.frames.indicators import indicator
from balframe.frames.query import Query
from balframe.frames.row_weights import read_row_sums
from balframe.frames.scores import raise_infinite


@dataclass(frozen=True, slots=True)
class MedianSelections:
    """The cells of selections, and the median score of each model."""

    counted_frame: CountedFrame
    medians: Sequence[float]


@dataclass(frozen=True)
class MedianSelectionSource:
    """Scores, whose medians are computed in a first pass over the data."""

    medians: Mapping[Name, Median] = field(default_factory=dict)

    reads_twice = True

    def prepare(self, rows: Rows, engine: Engine, query: Query) -> "MedianSelectionSource":
        """Compute the median of each column of scores, each in its own query."""
        rows, plain = with_plain_names(rows, query)
        medians = {}
        for name, key in zip(query.y_pred, plain.y_pred, strict=True):
            reduced = group_by.reduce_values(rows, plain, key)
            cells = fetch_cells(reduced, engine, replace(query, by=(name,)))
            values, is_null = engine.adapter.numbers(cells, group_by.by_key(0))
            n = read_sums(cells, engine.adapter, query).row_counts
            medians[name] = _median_score(name, values, is_null, n)
        return replace(self, medians=medians)

    def count(self, frame: Frame, adapter: Adapter, query: Query) -> MedianSelections:
        """Count the cells of an eager frame."""
        row_sums = read_row_sums(frame, adapter, query)
        scores = {name: adapter.numbers(frame, name) for name in query.y_pred}
        medians = {
            name: _median_score(name, values, is_null, row_sums.n)
            for name, (values, is_null) in scores.items()
        }
        levels = adapter.count_series(np.arange(2))
        selections = {}
        for name, (values, is_null) in scores.items():
            selected = (values > medians[name].low).astype(np.uint8)
            if is_null is not None:
                selected[is_null] = len(levels)
            selections[name] = EncodedColumn(Codes(selected, 0, len(levels) + 1), levels)
        columns = encode_columns(frame, query.key_columns, adapter) | selections
        return _selections(count_encoded(columns, row_sums, frame, adapter, query), medians)

    def reduce(self, rows: Rows, query: Query) -> Rows:
        """Group by segment and selection."""
        rows, plain = with_plain_names(rows, query)
        selections = {
            str(key): _selection_expr(self.medians[name], key, rows)
            for name, key in zip(query.y_pred, plain.y_pred, strict=True)
        }
        return group_by.reduce(rows.with_columns(**selections), plain)

    def count_reduced(self, cells: Frame, adapter: Adapter, query: Query) -> MedianSelections:
        """Count the cells that an engine has summed."""
        return _selections(count_reduced(cells, adapter, query), self.medians)


def _median_score(
    name: Name, values: Values, is_null: BoolArray | None, n: Int64Array | None
) -> Median:
    """Return the median of the scores of rows; infinite scores raise."""
    has_rows = None if n is None else n > 0
    if is_null is not None:
        has_rows = ~is_null if has_rows is None else has_rows & ~is_null
    if has_rows is not None:
        values, n = values[has_rows], None if n is None else n[has_rows]
    is_infinite = np.isinf(values)
    raise_infinite(name, int(is_infinite.sum() if n is None else n[is_infinite].sum()))
    return weighted_median(values, n)


def _selections(counted_frame: CountedFrame, medians: Mapping[Name, Median]) -> MedianSelections:
    return MedianSelections(
        counted_frame, [medians[name].median for name in counted_frame.query.y_pred]
    )


def _selection_expr(median: Median, name: Name, rows: Rows) -> nw.Expr:
    """Write 1 for a score above the median and 0 for another; null stays null."""
    is_selected = indicator(column_expr(name) > median.low)
    return nw.when(has_value(name, rows.collect_schema(), rows)).then(is_selected)
