"""The rows of a frame that satisfy conditions, in the frame's own library or engine."""

from collections.abc import Mapping
from functools import reduce
from operator import and_
from typing import Any

import narwhals as nw
import numpy as np
from narwhals.dependencies import is_pandas_series

from balframe.core.binning import bin_of_text
from balframe.errors import InvalidInputError, UnsupportedTypeError, not_found
from balframe.frames.adapter import Name
from balframe.frames.engines.inputs import unwrapped
from balframe.frames.engines.registry import engine_of
from balframe.frames.engines.weighted_sums import column_of, is_nan


def one_row(given: Any) -> dict[Name, Any]:  # noqa: ANN401 (a mapping, series or frame)
    """Read the values of a row as Python has them, None for null."""
    if is_pandas_series(given):
        given = given.to_dict()
    if not isinstance(given, Mapping):
        rows = _rows_of(given)
        if len(rows) != 1:
            raise InvalidInputError(
                f"the frame given as a row has {len(rows)} rows; give one of them."
            )
        given = rows[0]
    return {name: _as_python(value) for name, value in given.items()}


def _rows_of(given: Any) -> list[dict[str, Any]]:  # noqa: ANN401 (maybe a frame)
    native, _ = unwrapped(given)
    frame = nw.from_native(native, pass_through=True)
    if not isinstance(frame, (nw.DataFrame, nw.LazyFrame)):
        raise UnsupportedTypeError(
            f"got {type(given).__qualname__} as a row; give a mapping, a pandas Series or a frame "
            "of one row."
        )
    return list(frame.lazy().collect("polars").rows(named=True))


def _as_python(value: Any) -> Any:  # noqa: ANN401
    if value is None or (not isinstance(value, str) and str(value) in ("nan", "NaT", "<NA>")):
        return None
    return value.item() if isinstance(value, np.generic) else value


def rows_where(frame: Any, levels: Mapping[Name, object]) -> Any:  # noqa: ANN401 (a frame)
    """Select the rows that have these levels, None for null, in the texts of numeric columns."""
    native, wrapped = unwrapped(frame)
    engine_of(native)  # raises where it is no frame
    rows: Any = nw.from_native(native)
    schema = rows.collect_schema()
    for name in levels:
        if name not in schema:
            raise not_found("column", name, list(schema))
    conditions = [_condition(rows, name, level, schema[name]) for name, level in levels.items()]
    return wrapped(rows.filter(reduce(and_, conditions)).to_native())


def _condition(rows: Any, name: Any, level: object, dtype: Any) -> nw.Expr:  # noqa: ANN401
    column = column_of(name)
    is_number = dtype.is_integer() or dtype.is_float()
    if level is None:
        return column.is_null() | _is_nan(column, rows) if dtype.is_float() else column.is_null()
    if not is_number or not isinstance(level, str):
        return column == level
    bounds = bin_of_text(level)
    if bounds is None:
        raise InvalidInputError(
            f"column {name!r} is numeric, but the slice has {level!r} there, which is neither a "
            "number nor a bin; give a row of a result of slices of this frame."
        )
    low, high, is_value = bounds
    if is_value:
        return column == low
    is_inside = ~_is_nan(column, rows) if dtype.is_float() else ~column.is_null()
    if low is not None:
        is_inside = is_inside & (column >= low)
    return is_inside if high is None else is_inside & (column < high)


def _is_nan(column: nw.Expr, rows: Any) -> nw.Expr:  # noqa: ANN401
    """Tell where a float is NaN; Arrow types of pandas have no remainders, as engines need."""
    is_eager = isinstance(rows, nw.DataFrame)
    return column.is_nan().fill_null(False) if is_eager else is_nan(column, rows)
