"""The columns that an engine sums for weights and counts, and how their sums are read."""

import math
from typing import Any, cast

import narwhals as nw
import numpy as np

from balframe.core.array_types import Int64Array
from balframe.core.row_sums import SPARE_EXPONENT, RowSums
from balframe.errors import InvalidInputError
from balframe.frames.adapter import Adapter, Frame, Name
from balframe.frames.engines.column_names import Rows, ibis_backend
from balframe.frames.indicators import indicator
from balframe.frames.query import WEIGHT_MAX, WEIGHT_SQ, Query
from balframe.frames.row_weights import (
    COUNTS_SPARE_EXPONENT,
    raise_invalid_counts,
    raise_invalid_weights,
    raise_null,
)

_HALF = 2**31
_BEYOND_INT64 = (nw.UInt64, nw.Int128, nw.UInt128)


def column_expr(name: Name) -> nw.Expr:
    """Return the expression of a column, whose name is text once columns are renamed."""
    return nw.col(_text(name))


def _text(name: Name) -> str:
    return cast(str, name)


def summed_columns(rows: Rows, query: Query) -> dict[str, nw.Expr]:
    """Write the columns to sum, for each row; sums skip nulls, so nulls are counted too."""
    if query.counts is None and query.sample_weight is None:
        return {}
    schema, unit = rows.collect_schema(), nw.lit(1, nw.Int64)
    columns: dict[str, nw.Expr] = {}
    n, has_count = unit, None
    if query.counts is not None:
        count = column_expr(query.counts)
        has_count = has_value(query.counts, schema, rows)
        is_valid = has_count & (count >= 0)
        dtype = schema[_text(query.counts)]
        if dtype.is_decimal() or dtype.is_float():
            number = count.cast(nw.Float64)
            is_valid = is_valid & (number < float(2**63))
            fits = nw.when(is_valid).then(number).otherwise(0.0)
            # % may round to 15 digits, and // of DuckDB 1.2 divides
            is_valid = is_valid & (fits.cast(nw.Int64).cast(nw.Float64) == number)
        elif dtype in _BEYOND_INT64:
            is_valid = is_valid & (count <= 2**63 - 1)
        n = nw.when(is_valid).then(count).otherwise(0).cast(nw.Int64)
        columns["null_counts"] = indicator(~has_count)
        columns["bad_counts"] = indicator(has_count & ~is_valid)
    has_both = has_count
    if query.sample_weight is not None:
        raw_weight = column_expr(query.sample_weight).cast(nw.Float64)
        has_weight = has_value(query.sample_weight, schema, rows)
        has_both = has_weight if has_count is None else has_count & has_weight
        is_valid = has_weight & (raw_weight >= 0) & (raw_weight < float("inf"))
        weight = nw.when(has_both & is_valid).then(raw_weight).otherwise(0.0)
        if query.counts is not None:  # rows that stand for none; and 0 times infinity is NaN
            weight = nw.when(n > 0).then(weight).otherwise(0.0)
        square, spare, largest = weight * weight, _spare_exponent(query), weight
        scaled = weight * 2.0**-spare
        if rows.implementation.is_ibis():  # databases may fail at an overflow or underflow
            square = _within_range(weight, square, 2.0**-537, 2.0**450)
            scaled = _within_range(weight, scaled, 2.0 ** (spare - 1022), math.inf)
            weight = _within_range(weight, weight, 0.0, 2.0 ** (1023 - spare))
        if query.cells:
            square = nw.when(has_both).then(nw.col(WEIGHT_SQ).cast(nw.Float64)).otherwise(0.0)
            square = square.fill_null(float("inf"))
            columns["bad_weight_sq"] = indicator(square < 0)
            largest = _stored_largest(query, has_both, n, weight, square)
            columns["bad_weight_max"] = indicator(largest < 0)
        times = unit if query.cells else n
        columns |= {
            "null_weight": indicator(~has_weight & (n > 0)),
            "bad_weight": indicator(has_weight & ~is_valid),
            "weight": weight * times,
            "weight_scaled": scaled * times,
        }
        if query.squares:
            columns["weight_sq"] = square * times
            columns[WEIGHT_MAX] = largest
    assert has_both is not None
    n_present = nw.when(has_both).then(n).otherwise(0)
    n_rows = unit if has_count is None else nw.when(has_count).then(n).otherwise(1)
    return columns | {
        **({"n_low": n_present} if query.counts is None else _split_count(n_present)),
        "missing": nw.when(has_both).then(0).otherwise(n_rows),
    }


def _stored_largest(
    query: Query, has_both: nw.Expr, n: nw.Expr, weight: nw.Expr, square: nw.Expr
) -> nw.Expr:
    """Write the largest weight of stored cells, or the largest possible one.

    See `largest_possible_weight` of `frames.row_weights`.
    """
    if query.largest_weight is not None:
        column = column_expr(query.largest_weight).cast(nw.Float64)
        return nw.when(has_both).then(column).otherwise(0.0).fill_null(float("inf"))
    n_rows = nw.when(n > 1).then(n).otherwise(1).cast(nw.Float64)
    mean = weight / n_rows
    excess = square / n_rows - mean * mean
    spread = nw.when(excess > 0).then(excess).otherwise(0.0)
    possible = mean + ((n_rows - 1) * spread).sqrt()
    return nw.when(possible < weight).then(possible).otherwise(weight)


def _split_count(count: nw.Expr) -> dict[str, nw.Expr]:
    """Split a count into halves; engines that divide as floats may make the upper one too large."""
    high = (count // _HALF).cast(nw.Int64)
    high = nw.when(high < 2 * _HALF).then(high).otherwise(2 * _HALF - 1)
    return {"n_high": high, "n_low": count - high * _HALF}


def _within_range(weight: nw.Expr, product: nw.Expr, least: float, most: float) -> nw.Expr:
    """Write a product of weights, without products outside the range of a float."""
    lower = nw.when(weight >= least).then(product).otherwise(0.0)
    return nw.when(weight <= most).then(lower).otherwise(math.inf)


def _spare_exponent(query: Query) -> int:
    return SPARE_EXPONENT if query.counts is None or query.cells else COUNTS_SPARE_EXPONENT


def has_value(name: Name, schema: nw.Schema, rows: Rows) -> nw.Expr:
    """Write whether a column is neither null nor NaN."""
    column = column_expr(name)
    is_not_null = ~column.is_null()
    return is_not_null & ~is_nan(column, rows) if schema[_text(name)].is_float() else is_not_null


def is_nan(column: nw.Expr, rows: Rows) -> nw.Expr:
    """Write whether a float is NaN.

    DuckDB relies on the statistics of Parquet, which leave NaN out. So `isnan` of a column, and of
    most expressions of it, is false without a look at the values. For an exponential, DuckDB has no
    statistics.
    """
    implementation, backend = rows.implementation, ibis_backend(rows)
    if backend == "sqlite":  # SQLite has neither NaN nor a function for it
        return column.is_null() & ~column.is_null()
    if implementation.is_duckdb() or implementation.is_sqlframe() or backend == "duckdb":
        column = column.exp()
    return column.is_nan().fill_null(False)


def read_sums(cells: Frame, adapter: Adapter, query: Query) -> RowSums:
    """Read the sums of a reduced frame; raise if counts or weights are invalid."""
    names = adapter.column_names(cells)

    def array(name: str) -> Any:  # noqa: ANN401 (None if the query has no such column)
        return adapter.numbers(cells, name)[0] if name in names else None

    def total(name: str) -> int:
        return int(array(name).sum()) if name in names else 0

    raise_invalid_counts(query, total("bad_counts"))
    raise_invalid_weights(query.sample_weight, total("bad_weight"))
    raise_invalid_weights(WEIGHT_SQ, total("bad_weight_sq"))
    raise_invalid_weights(WEIGHT_MAX, total("bad_weight_max"))
    if not query.drops_missing:
        raise_null(query.counts, total("null_counts"))
        raise_null(query.sample_weight, total("null_weight"))
    weight, largest, exponent = array("weight"), array(WEIGHT_MAX), 0
    if weight is not None and not np.isfinite(weight).all():
        weight, exponent = array("weight_scaled"), _spare_exponent(query)
        largest = None if largest is None else np.ldexp(largest, -exponent)
    n = _join_halves(array("n_high"), array("n_low"))
    squares = array("weight_sq")
    return RowSums(n, array("missing"), weight, squares, largest, exponent, query.squares)


def _join_halves(high: Int64Array | None, low: Int64Array) -> Int64Array:
    """Join the halves of sums, which cannot overflow apart."""
    if high is None:
        return low
    high, low = high + (low >> 31), low & (_HALF - 1)
    if len(high) and int(high.max()) >= 2**32:
        raise InvalidInputError(
            f"the counts of a cell add up to more than {2**63 - 1}, the largest 64-bit integer; "
            "process the data in parts, or scale the counts down."
        )
    return (high << 31) | low
