"""Filter rows of a frame by conditions, in the frame's own library or engine."""

from collections.abc import Mapping
from decimal import Decimal
from functools import reduce
from operator import and_
from typing import Any

import narwhals as nw
import numpy as np
from narwhals.dependencies import is_pandas_series

from balframe.core.binning import parse_bin
from balframe.errors import InvalidInputError, UnsupportedTypeError
from balframe.frames.adapter import Name
from balframe.frames.engines.inputs import InputFrame, read_streams, unwrap
from balframe.frames.engines.registry import PANDAS
from balframe.frames.engines.weighted_sums import column_expr, is_nan
from balframe.frames.query import check_are_columns
from balframe.frames.thresholds import as_stored


def python_row(row: Any) -> dict[Name, Any]:  # noqa: ANN401 (a mapping, series or frame)
    """Return the values of a row as Python values, None for null."""
    if is_pandas_series(row):
        row = row.to_dict()
    if not isinstance(row, Mapping):
        rows = _row_dicts(row)
        if len(rows) != 1:
            raise InvalidInputError(
                f"the frame given as a row has {len(rows)} rows; give one of them."
            )
        row = rows[0]
    return {name: _as_python(value) for name, value in row.items()}


def _row_dicts(frame: Any) -> list[dict[str, Any]]:  # noqa: ANN401 (maybe a frame)
    native, _ = unwrap(frame)
    rows = nw.from_native(native, pass_through=True)
    if not isinstance(rows, (nw.DataFrame, nw.LazyFrame)):
        raise UnsupportedTypeError(
            f"got {type(frame).__qualname__} as a row; give a mapping, a pandas Series or a frame "
            "of one row."
        )
    return list(rows.lazy().collect("polars").rows(named=True))


def _as_python(value: Any) -> Any:  # noqa: ANN401
    if value is None or (not isinstance(value, str) and str(value) in ("nan", "NaT", "<NA>")):
        return None
    return value.item() if isinstance(value, np.generic) else value


def filter_rows(frame: Any, levels: Mapping[Name, object]) -> Any:  # noqa: ANN401 (a frame)
    """Return the rows that have these levels: None is null, and numeric columns have texts."""
    native, wrap = unwrap(read_streams(frame))
    data = InputFrame.open(native)
    rows: Any = nw.from_native(native)
    schema = rows.collect_schema()
    check_are_columns(levels, schema)
    conditions = [_condition(rows, name, level, data) for name, level in levels.items()]
    return wrap(rows.filter(reduce(and_, conditions)).to_native())


def _condition(rows: Any, name: Any, level: object, data: InputFrame) -> nw.Expr:  # noqa: ANN401
    """Return the condition that a column has a level."""
    column, dtype = column_expr(name), rows.collect_schema()[name]
    if level is None:
        return column.is_null() | is_nan(column, rows) if dtype.is_float() else column.is_null()
    if not data.adapter.is_numeric(data.schema, name) or not isinstance(level, str):
        return column == level
    bounds = parse_bin(level)
    if bounds is None:
        raise InvalidInputError(
            f"column {name!r} is numeric, but the slice has {level!r} there, which is neither a "
            "number nor a bin; give a row of a result of slices of this frame."
        )
    low: float | Decimal | None
    high: float | Decimal | None
    low, high, is_value = bounds
    if dtype.is_float():  # engines may compare in 32 bits or in 64
        low, high = (
            None if end is None else float(as_stored(np.array(end), dtype)) for end in bounds[:2]
        )
        column = column.cast(nw.Float64)
    elif not dtype.is_integer():  # decimals, which pandas would cast inexactly
        if data.engine is not PANDAS:
            column = column.cast(nw.Float64)
        else:
            low, high = (None if end is None else Decimal(repr(end)) for end in bounds[:2])
    if is_value:
        return column == low
    is_inside = ~is_nan(column, rows) if dtype.is_float() else ~column.is_null()
    if low is not None:
        is_inside = is_inside & (column >= low)
    return is_inside if high is None else is_inside & (column < high)
