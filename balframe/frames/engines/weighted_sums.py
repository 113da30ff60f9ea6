"""What each row carries to be summed by an engine, and its sums."""

import math
from typing import Any, cast

import narwhals as nw
import numpy as np

from balframe.core.array_types import Int64Array
from balframe.core.row_sums import SPARE_EXPONENT, Measures
from balframe.errors import InvalidInputError
from balframe.frames.adapter import Adapter, Frame, Name
from balframe.frames.engines.column_names import Rows
from balframe.frames.indicators import indicator
from balframe.frames.query import WEIGHT_SQ, Query
from balframe.frames.row_weights import (
    COUNTED_EXPONENT,
    raise_invalid_counts,
    raise_invalid_weights,
    raise_null,
)

_HALF = 2**31
_BEYOND_INT64 = (nw.UInt64, nw.Int128, nw.UInt128)


def column_of(name: Name) -> nw.Expr:
    """Take a column by its name, which is text once columns are renamed."""
    return nw.col(_text(name))


def _text(name: Name) -> str:
    return cast(str, name)


def carried_by(rows: Rows, query: Query) -> dict[str, nw.Expr]:
    """Write what each row carries as columns to be summed; sums skip nulls, so count them."""
    if query.counts is None and query.sample_weight is None:
        return {}
    schema, one = rows.collect_schema(), nw.lit(1, nw.Int64)
    carried: dict[str, nw.Expr] = {}
    n, has_count = one, None
    if query.counts is not None:
        count = column_of(query.counts)
        has_count = _is_known(query.counts, schema, rows)
        is_valid = has_count & (count >= 0)
        if schema[_text(query.counts)].is_float():
            is_valid = is_valid & (count < float(2**63))
            fits = nw.when(is_valid).then(count).otherwise(0.0)
            is_valid = is_valid & (fits // 1 == count)  # % may round to 15 digits
        elif schema[_text(query.counts)] in _BEYOND_INT64:
            is_valid = is_valid & (count <= 2**63 - 1)
        n = nw.when(is_valid).then(count).otherwise(0).cast(nw.Int64)
        carried["null_counts"] = indicator(~has_count)
        carried["bad_counts"] = indicator(has_count & ~is_valid)
    has_both = has_count
    if query.sample_weight is not None:
        given = column_of(query.sample_weight).cast(nw.Float64)
        has_weight = _is_known(query.sample_weight, schema, rows)
        has_both = has_weight if has_count is None else has_count & has_weight
        is_valid = has_weight & (given >= 0) & (given < float("inf"))
        weight = nw.when(has_both & is_valid).then(given).otherwise(0.0)
        square, spare = weight * weight, _spare_exponent(query)
        scaled = weight * 2.0**-spare
        if rows.implementation.is_ibis():  # databases may refuse to give infinity, or 0
            if query.counts is not None:  # 0 times infinity is NaN
                weight = nw.when(n > 0).then(weight).otherwise(0.0)
            square = _within(weight, square, 2.0**-537, 2.0**450)
            scaled = _within(weight, scaled, 2.0 ** (spare - 1022), math.inf)
            weight = _within(weight, weight, 0.0, 2.0 ** (1023 - spare))
        if query.cells:
            square = nw.when(has_both).then(nw.col(WEIGHT_SQ).cast(nw.Float64)).otherwise(0.0)
            square = square.fill_null(float("inf"))
            carried["bad_weight_sq"] = indicator(square < 0)
        times = one if query.cells else n
        carried |= {
            "null_weight": indicator(~has_weight & (n > 0)),
            "bad_weight": indicator(has_weight & ~is_valid),
            "weight": weight * times,
            "weight_scaled": scaled * times,
        }
        if query.squares:
            carried["weight_sq"] = square * times
    assert has_both is not None
    counted = nw.when(has_both).then(n).otherwise(0)
    stands_for = one if has_count is None else nw.when(has_count).then(n).otherwise(1)
    return carried | {
        **({"n_low": counted} if query.counts is None else _halves(counted)),
        "missing": nw.when(has_both).then(0).otherwise(stands_for),
    }


def _halves(counted: nw.Expr) -> dict[str, nw.Expr]:
    """Take a count apart; engines that divide as floats make the upper half one too large."""
    high = (counted // _HALF).cast(nw.Int64)
    high = nw.when(high < 2 * _HALF).then(high).otherwise(2 * _HALF - 1)
    return {"n_high": high, "n_low": counted - high * _HALF}


def _within(weight: nw.Expr, product: nw.Expr, least: float, most: float) -> nw.Expr:
    """Write a product of weights without any that leaves the range of a float."""
    lower = nw.when(weight >= least).then(product).otherwise(0.0)
    return nw.when(weight <= most).then(lower).otherwise(math.inf)


def _spare_exponent(query: Query) -> int:
    return SPARE_EXPONENT if query.counts is None or query.cells else COUNTED_EXPONENT


def _is_known(name: Name, schema: nw.Schema, rows: Rows) -> nw.Expr:
    column = column_of(name)
    known = ~column.is_null()
    return known & ~is_nan(column, rows) if schema[_text(name)].is_float() else known


def is_nan(column: nw.Expr, rows: Rows) -> nw.Expr:
    """Tell where a float is NaN.

    DuckDB takes Parquet's statistics for true, which leave NaN out: of the column itself, and of
    most of what is computed from it, `isnan` is false there without a look at the values. Of an
    exponential it knows nothing.
    """
    holder, backend = rows.implementation, backend_of_ibis(rows)
    if backend == "sqlite":  # which has no NaN, and no name for it
        return column.is_null() & ~column.is_null()
    if holder.is_duckdb() or holder.is_sqlframe() or backend == "duckdb":
        column = column.exp()
    return column.is_nan().fill_null(False)


def backend_of_ibis(rows: Rows) -> str:
    """Name the database behind a table of Ibis; empty for other engines."""
    if not rows.implementation.is_ibis():
        return ""
    native: Any = rows.to_native()
    name: str = native.get_backend().name
    return name


def measures_of(cells: Frame, library: Adapter, query: Query) -> Measures:
    """Read the sums of a reduced frame, and raise what only the values could tell."""
    known = library.names(cells)

    def array(name: str) -> Any:  # noqa: ANN401 (None only where no such column was asked for)
        return library.numbers(cells, name)[0] if name in known else None

    def total(name: str) -> int:
        return int(array(name).sum()) if name in known else 0

    raise_invalid_counts(query.counts, total("bad_counts"))
    raise_invalid_weights(query.sample_weight, total("bad_weight"))
    raise_invalid_weights(WEIGHT_SQ, total("bad_weight_sq"))
    if not query.drops_missing:
        raise_null(query.counts, total("null_counts"))
        raise_null(query.sample_weight, total("null_weight"))
    weight, exponent = array("weight"), 0
    if weight is not None and not np.isfinite(weight).all():
        weight, exponent = array("weight_scaled"), _spare_exponent(query)
    n = _joined(array("n_high"), array("n_low"))
    return Measures(n, array("missing"), weight, array("weight_sq"), exponent, query.squares)


def _joined(high: Int64Array | None, low: Int64Array) -> Int64Array:
    """Put the halves of sums together, which apart cannot overflow."""
    if high is None:
        return low
    high, low = high + (low >> 31), low & (_HALF - 1)
    if len(high) and int(high.max()) >= 2**32:
        raise InvalidInputError(
            f"the counts of a cell add up to more than {2**63 - 1}, the largest 64-bit integer; "
            "process the data in parts, or scale the counts down."
        )
    return (high << 31) | low
