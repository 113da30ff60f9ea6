"""Cells in the types that a Delta table holds, and whether two runs have the same cells."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import polars as pl

from balframe.errors import InvalidInputError, UnsupportedTypeError
from balframe.frames.history.run_table import CellColumns
from balframe.frames.query import WEIGHT, WEIGHT_MAX, WEIGHT_SQ

if TYPE_CHECKING:
    from deltalake import Schema

_DELTA_TYPES: Mapping[Any, str] = {
    pl.String(): "string",
    pl.Boolean(): "boolean",
    pl.Int64(): "long",
    pl.Float64(): "double",
    pl.Date(): "date",
    pl.Binary(): "binary",
    pl.Datetime("us"): "timestamp_ntz",
    pl.Datetime("us", "UTC"): "timestamp",
}
_EXACT_CASTS = (pl.Boolean, pl.Int64, pl.Float64)  # types whose values may be equal
_MOST_DIGITS = 38  # of a decimal, which older versions of polars do not specify
_TOLERANCE = 1e-9  # of sums of weights, which engines add up in different orders


def as_storable(cells: pl.DataFrame) -> pl.DataFrame:
    """Return cells in types that the table holds, with equal values; raise where there is none."""
    return pl.DataFrame([_storable_column(cells.get_column(name)) for name in cells.columns])


def _storable_column(column: pl.Series) -> pl.Series:
    dtype = column.dtype
    if dtype in (pl.Null, pl.Categorical, pl.Enum):
        target: pl.DataType = pl.String()
    elif dtype.is_integer():
        target = pl.Int64()
    elif dtype.is_float():
        target = pl.Float64()
    elif isinstance(dtype, pl.Datetime):
        target = pl.Datetime("us", None if dtype.time_zone is None else "UTC")
    elif isinstance(dtype, pl.Decimal):
        target = pl.Decimal(dtype.precision or _MOST_DIGITS, dtype.scale)
    else:
        target = dtype
    if target not in _DELTA_TYPES and not dtype.is_decimal():
        raise UnsupportedTypeError(
            f"column {column.name!r} has the type {dtype}, which a Delta table cannot hold. Cast "
            "it, for example to text."
        )
    return _exact(column, target)


def _exact(column: pl.Series, target: pl.DataType) -> pl.Series:
    """Cast a column, and raise if a value becomes another."""
    cast = column.cast(target, strict=False)
    if not cast.cast(column.dtype, strict=False).equals(column):
        raise InvalidInputError(
            f"column {column.name!r} has values of the type {column.dtype} that {target} cannot "
            "hold, the type in which they are stored. Round or cast them first."
        )
    return cast


def delta_schema(schema: pl.Schema) -> "Schema":
    """Return the schema of a table for columns of storable types."""
    from deltalake import Field, Schema
    from deltalake.schema import PrimitiveType

    return Schema(
        [Field(name, PrimitiveType(_delta_type(dtype))) for name, dtype in schema.items()]
    )


def _delta_type(dtype: pl.DataType) -> str:
    if isinstance(dtype, pl.Decimal):
        return f"decimal({dtype.precision},{dtype.scale})"
    return _DELTA_TYPES[dtype]


def as_table(cells: pl.DataFrame, schema: pl.Schema) -> pl.DataFrame:
    """Return cells with the columns of a table that has the same ones, in its order and types."""
    columns = []
    for name, target in schema.items():
        column = cells.get_column(name)
        if column.dtype != target:
            has_values = column.null_count() < len(column)
            if has_values and not (column.dtype in _EXACT_CASTS and target in _EXACT_CASTS):
                raise InvalidInputError(
                    f"column {name!r} holds values of the type {column.dtype}, but those of the "
                    f"table are of the type {target}. Cast it, or give another table."
                )
            column = _exact(column, target)
        columns.append(column)
    return pl.DataFrame(columns)


def have_same_cells(first: pl.DataFrame, second: pl.DataFrame, columns: CellColumns) -> bool:
    """Return whether two runs have the same cells; sums of weights may differ by rounding."""
    if first.height != second.height:
        return False
    weights = [name for name in columns.sums if name in (WEIGHT, WEIGHT_SQ, WEIGHT_MAX)]
    names = [name for name in (*columns.keys, *columns.sums) if name not in weights]
    ordered = [frame.sort(columns.keys, nulls_last=True) for frame in (first, second)]
    if not ordered[0].select(names).equals(ordered[1].select(names)):
        return False
    return _are_close(ordered[0], ordered[1], weights)


def _are_close(first: pl.DataFrame, second: pl.DataFrame, names: Sequence[str]) -> bool:
    for name in names:
        a, b = first.get_column(name), second.get_column(name)
        is_close = (a - b).abs() <= _TOLERANCE * a.abs()
        if not (a.eq_missing(b) | is_close.fill_null(False)).all():
            return False
    return True
