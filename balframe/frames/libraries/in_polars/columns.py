"""Polars: a column to codes and levels, and columns to a frame."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import polars as pl

from balframe.core.arrays import Int64Array
from balframe.core.codes import Codes, extremes, most_levels
from balframe.core.labels import Label, no_dtype_for, not_labels
from balframe.errors import UnsupportedTypeError
from balframe.frames.library import Column, Name, Numbers, nan_is_null

_BEYOND_NUMPY = (pl.Int128, getattr(pl, "UInt128", pl.Int128))
_TEXT = (pl.String, pl.Categorical, pl.Enum)


def is_name(name: object) -> bool:
    """Tell whether this can name a column."""
    return isinstance(name, str)


def names(frame: pl.DataFrame) -> list[Name]:
    """List the columns' names."""
    return list(frame.columns)


def dtype(frame: pl.DataFrame, name: Name) -> pl.DataType:
    """Look up the dtype of a column."""
    return frame.schema[name]


def height(frame: pl.DataFrame) -> int:
    """Count the rows."""
    return frame.height


def label_kind(frame: pl.DataFrame, name: Name) -> str | None:
    """Tell the kind of the labels in a column; None where only the values can tell."""
    dtype = frame.schema[name]
    if dtype == pl.Boolean or dtype.is_integer() or dtype.is_float():
        return "number"
    if isinstance(dtype, pl.Datetime):
        return "datetime" if dtype.time_zone is None else "datetime with zone"
    if dtype == pl.Date or isinstance(dtype, _TEXT):
        return "date" if dtype == pl.Date else "string"
    if dtype == pl.Null:
        return None
    raise not_labels(f"column {name!r} of type {dtype}")


def has_codes(frame: pl.DataFrame, name: Name) -> bool:
    """Tell whether the type of a column is one whose values may be codes themselves."""
    dtype = frame.schema[name]
    if dtype.is_integer():
        return _width(dtype) <= 64
    return dtype in (pl.Boolean, pl.Date, pl.Categorical, pl.Enum)


def encode_direct(frame: pl.DataFrame, name: Name, *, guess: bool) -> Column | None:
    """Take codes from the values themselves; None where that needs a hash table."""
    series = _unnamed(frame, name)
    if series.dtype == pl.Boolean:
        return _encode_integers(series.cast(pl.UInt8), 0, 1, series.dtype)
    if isinstance(series.dtype, pl.Enum):
        last = len(series.dtype.categories) - 1
        physical = series.to_physical()
        return _encode_integers(physical, 0, last, series.dtype) if last >= 0 else None
    physical = (series if series.dtype.is_integer() else series.to_physical()).rechunk()
    low: Any
    high: Any
    if len(physical) and not physical.null_count():
        low, high = extremes(physical.to_numpy(), guess=guess)
    else:
        guess, low, high = False, physical.min(), physical.max()
    if low is None:
        return None
    encode = _encode_categorical if series.dtype == pl.Categorical else _encode_integers
    column = encode(physical, low, high, series.dtype)
    if column is None or not guess:
        return column
    return replace(column, codes=replace(column.codes, is_guess=True))


def _unnamed(frame: pl.DataFrame, name: Name) -> pl.Series:
    """Take a column; polars would read a name such as "^y.*$" as a pattern."""
    return frame.get_column(name).alias("column")


def _encode_integers(physical: pl.Series, low: int, high: int, dtype: pl.DataType) -> Column | None:
    size = high - low + 1
    if size > most_levels(len(physical)):
        return None
    has_null = physical.null_count() > 0
    if has_null and high >= 2**63 - 1:
        return None
    if has_null and high == physical.upper_bound()[0]:
        physical = physical.cast(pl.Int64)
    values = (physical.fill_null(high + 1) if has_null else physical).to_numpy()
    if isinstance(dtype, pl.Enum):
        levels = dtype.categories
    else:
        levels = pl.Series(np.arange(size).astype(values.dtype) + values.dtype.type(low))
    return Column(Codes(values, low, size + has_null), levels.cast(dtype))


def _encode_categorical(
    physical: pl.Series, low: int, high: int, dtype: pl.DataType
) -> Column | None:
    """Take the physical codes, whose order is that of first use, and rank their categories."""
    if high - low + 1 > len(physical):
        return None
    column = _encode_integers(physical, low, high, physical.dtype)
    if column is None:
        return None
    codes = pl.Series(np.arange(low, high + 1), dtype=physical.dtype)
    levels = codes.cat.to(dtype) if hasattr(codes.cat, "to") else codes.cast(dtype)
    order = levels.cast(pl.String).arg_sort().to_numpy()
    rank = np.full(column.codes.size, len(levels))
    rank[order] = np.arange(len(levels))
    return Column(column.codes, levels[order], rank)


def encode_hashed(frame: pl.DataFrame, name: Name) -> Column:
    """Look values up in a hash table of the distinct ones."""
    series = _unnamed(frame, name)
    if series.dtype.is_nested() or series.dtype == pl.Object:
        raise UnsupportedTypeError(
            f"column {name!r} is {series.dtype}, which has no order that segments could "
            "have; cast it, or take a part of it."
        )
    if not len(series):
        return Column(Codes(np.zeros(0, np.int64), 0, 1), series)
    if series.dtype.is_float():
        series = series.fill_nan(None) + 0.0
    levels = series.drop_nulls().unique()
    order = levels.cast(pl.String) if isinstance(series.dtype, pl.Categorical) else levels
    levels = levels.gather(order.arg_sort())
    table = pl.DataFrame({"level": levels, "code": np.arange(len(levels))})
    found = pl.DataFrame({"level": series}).join(
        table, on="level", how="left", maintain_order="left"
    )
    codes = found.get_column("code").fill_null(len(levels)).to_numpy()
    return Column(Codes(codes, 0, len(levels) + 1), levels)


def values(levels: pl.Series) -> list[Any]:
    """Turn levels into Python values."""
    return levels.to_list()


def numbers(frame: pl.DataFrame, name: Name) -> Numbers:
    """Read a numeric column as integers or floats, and which rows are null."""
    series = _unnamed(frame, name)
    if not (series.dtype.is_integer() or series.dtype.is_float()):
        raise UnsupportedTypeError(
            f"column {name!r} is {series.dtype}; "
            "scores, counts and weights are numbers. Cast it first."
        )
    if series.dtype in _BEYOND_NUMPY:
        series = _in_64_bits(series)
    if series.null_count() == 0:
        return nan_is_null(series.to_numpy(), None)
    return nan_is_null(series.fill_null(0).to_numpy(), series.is_null().to_numpy())


def _in_64_bits(series: pl.Series) -> pl.Series:
    """Take integers as shorter ones, or as floats where one of them is too large."""
    short = series.cast(pl.Int64, strict=False)
    return short if short.null_count() == series.null_count() else series.cast(pl.Float64)


def domain(dtypes: Sequence[pl.DataType]) -> list[Label] | None:
    """List the categories in their own order, where all columns agree on one."""
    first = dtypes[0]
    if isinstance(first, pl.Enum) and all(dtype == first for dtype in dtypes):
        return first.categories.to_list()
    return None


def label_levels(labels: Sequence[Label], dtypes: Sequence[pl.DataType]) -> pl.Series:
    """Make a column of labels, of the dtype that the dtypes of the inputs agree on."""
    for candidate in _label_dtypes([dtype for dtype in dtypes if dtype != pl.Null]):
        try:
            return pl.Series(_as_python(labels, candidate), dtype=candidate, strict=True)
        except (TypeError, OverflowError, pl.exceptions.PolarsError):
            continue
    raise no_dtype_for(labels)


def labels_of(labels: Sequence[Label]) -> pl.Series:
    """Make a column of labels, of the dtype that suits them."""
    return pl.Series(labels)


def _label_dtypes(dtypes: Sequence[pl.DataType]) -> list[pl.DataType | None]:
    """List the dtypes that might hold the labels, the most fitting first."""
    if len(set(dtypes)) == 1:
        return [dtypes[0], None]
    if all(isinstance(dtype, _TEXT) for dtype in dtypes):
        return [pl.String()]
    numeric = [dtype for dtype in dtypes if dtype != pl.Boolean]
    floats = [dtype for dtype in numeric if dtype.is_float()]
    if floats:
        return [max(floats, key=_width) if len(floats) == len(numeric) else pl.Float64()]
    signs = {dtype.is_signed_integer() for dtype in numeric}
    if len(signs) > 1:
        return [pl.Int64()]
    return [max(numeric, key=_width), pl.Int64() if signs == {True} else pl.UInt64()]


def _width(dtype: pl.DataType) -> int:
    return int(str(dtype).lstrip("UIntFloa"))


def _as_python(labels: Sequence[Label], dtype: pl.DataType | None) -> list[Label]:
    if dtype is None or not labels or not isinstance(labels[0], (bool, int)):
        return list(labels)
    if dtype == pl.Boolean and any(label not in (0, 1) for label in labels):
        raise OverflowError
    return [bool(label) if dtype == pl.Boolean else int(label) for label in labels]


def take(levels: pl.Series, codes: Int64Array, *, nullable: bool) -> pl.Series:
    """Look up levels by position, null past their end."""
    if codes.max(initial=-1) == len(levels):
        levels = levels.clone().append(levels.clear(1))
    return levels[codes]


def text(values: Sequence[str]) -> pl.Series:
    """Make a column of strings."""
    return pl.Series(values, dtype=pl.String)


def build(columns: Mapping[Name, Any]) -> pl.DataFrame:
    """Make a frame of columns; NaN becomes null."""
    return pl.DataFrame(
        {
            name: pl.Series(column, nan_to_null=True) if isinstance(column, np.ndarray) else column
            for name, column in columns.items()
        }
    )
