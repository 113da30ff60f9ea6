"""Scores as selections: a row is selected if its score exceeds the median of all rows."""

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

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
from balframe.frames.engines.inputs import unwrap
from balframe.frames.engines.registry import Engine, find_engine
from balframe.frames.engines.weighted_sums import column_expr, has_value, read_sums
from balframe.frames.indicators import indicator
from balframe.frames.query import Query
from balframe.frames.row_weights import read_row_sums
from balframe.frames.scores import raise_infinite
from balframe.frames.thresholds import float_type


@dataclass(frozen=True, slots=True)
class MedianSelections:
    """The cells of selections, and the median score of each model."""

    counted_frame: CountedFrame
    medians: Sequence[float]


@dataclass(frozen=True)
class MedianSelectionSource:
    """Scores, whose medians are computed in a first pass over the data."""

    medians: Mapping[Name, Median] = field(default_factory=dict)

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


_MANY_SCORES = 1_000  # distinct scores
_DIGITS = 3  # so that 100 to 1,000 are left
_ALL_WHOLE = 2.0**52  # floats from there on
_LARGEST_POWER = 300  # of ten, that is a float as its inverse is
_PLAIN = re.compile(r"\w[\w ()%/\-]*")  # names that every engine reads as they are


def round_down_scores(frame: Any, name: Name) -> tuple[Any, float | None]:  # noqa: ANN401
    """Round very many distinct scores down to multiples of a power of ten, which is returned.

    A score that is a multiple stays as it is, so that predictions at such a threshold do not
    change. Missing scores stay missing; infinite scores raise later, where they are counted.
    """
    native, wrap = unwrap(frame)
    find_engine(native)  # raises if it is not a frame
    rows = nw.from_native(native)
    schema = rows.collect_schema()
    if not isinstance(name, str) or _PLAIN.fullmatch(name) is None or name not in schema:
        return frame, None
    dtype = schema[name]
    is_long = dtype.is_float() and float_type(dtype).itemsize > 2  # Arrow cannot compare others
    rounding = _rounding_exponent(rows, name) if is_long else None
    if rounding is None:
        return frame, None
    exponent, highest = rounding
    score = nw.col(name)
    has_score = score <= highest  # false for NaN
    number = nw.when(has_score).then(score).otherwise(nw.lit(0.0))
    down = nw.when(has_score).then(_round_down(number, exponent, dtype)).otherwise(score)
    return wrap(rows.with_columns(down.alias(name)).to_native()), 10.0**-exponent


def select_scores(frame: Any, name: Name, lowest: float, end: float) -> Any:  # noqa: ANN401
    """Return the rows whose scores are at least `lowest` and below `end`."""
    native, wrap = unwrap(frame)
    score = column_expr(name)
    return wrap(nw.from_native(native).filter((score >= lowest) & (score < end)).to_native())


def _rounding_exponent(rows: Any, name: str) -> tuple[int, float] | None:  # noqa: ANN401
    """Return the exponent of ten to round with, and the highest score; None to keep all."""
    column = nw.col(name)
    statistics = (
        column.n_unique().alias("n"),
        column.min().alias("low"),
        column.max().alias("high"),
    )
    n, low, high = rows.lazy().select(*statistics).collect("polars").to_native().row(0)
    if n is None or n <= _MANY_SCORES or not math.isfinite(high - low):
        return None
    exponent = _DIGITS - math.ceil(math.log10(high - low))
    if abs(exponent) > _LARGEST_POWER or max(abs(low), abs(high)) * 10.0**exponent >= _ALL_WHOLE:
        return None
    return exponent, high


def _round_down(score: nw.Expr, exponent: int, dtype: Any) -> nw.Expr:  # noqa: ANN401
    """Round down: to the nearest whole number of steps, corrected by comparison."""
    size = 10.0 ** abs(exponent)
    exact = score.cast(nw.Float64)
    sizes = exact * 0.0 + size  # a column: polars multiplies by the inverse of a constant

    def value(whole: nw.Expr) -> nw.Expr:
        """Convert steps to the type of the column: 0.7 in 32 bits differs from 0.7 in 64."""
        return (whole / sizes if exponent >= 0 else whole * sizes).cast(dtype)

    whole = (exact * sizes if exponent >= 0 else exact / sizes).round(0)
    for _ in range(2):  # one off by the rounding, and one by the product
        whole = whole - indicator(value(whole) > score)
    return value(whole + indicator(value(whole + 1.0) <= score))
