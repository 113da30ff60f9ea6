"""The adapter of polars: what a column holds, and columns to a frame."""

from collections.abc import Mapping, Sequence
from typing import Any, cast

import numpy as np
import numpy.typing as npt
import polars as pl
import polars.selectors as cs

from balframe.core.array_types import Int64Array
from balframe.core.label_set import (
    Categories,
    Label,
    as_numbers,
    mixed_labels_error,
    unusable_labels_error,
)
from balframe.errors import UnsupportedTypeError
from balframe.frames.adapter import MaskedDays, MaskedNumbers, mask_nan, not_time_error
from balframe.frames.polars_encoding import can_sort, unnamed, width
from balframe.frames.polars_encoding import encode_direct as encode_direct
from balframe.frames.polars_encoding import encode_hashed as encode_hashed
from balframe.frames.polars_encoding import has_direct_codes as has_direct_codes

BEYOND_NUMPY = (pl.Int128, getattr(pl, "UInt128", pl.Int128))
_DAYS_OF_PYTHON = "0001-01-01", "10000-01-01"
_TEXT = (pl.String, pl.Categorical, pl.Enum)


def is_name(name: object) -> bool:
    """Return whether this can name a column."""
    return isinstance(name, str)


def column_names(frame: pl.DataFrame) -> list[str]:
    """List the columns' names."""
    return list(frame.columns)


def expand_selector(frame: pl.DataFrame, columns: Any) -> Any:  # noqa: ANN401
    """Convert a selector of columns to their names; anything else stays as it is."""
    return list(cs.expand_selector(frame, columns)) if cs.is_selector(columns) else columns


def dtype(frame: pl.DataFrame, name: str) -> pl.DataType:
    """Return the dtype of a column."""
    return frame.get_column(name).dtype


def n_rows(frame: pl.DataFrame) -> int:
    """Count the rows."""
    return frame.height


def gather_every(frame: pl.DataFrame, step: int) -> pl.DataFrame:
    """Take every n-th row, from the first."""
    return frame.gather_every(step)


def label_kind(frame: pl.DataFrame, name: str) -> str | None:
    """Return the kind of the labels in a column; None where it depends on the values."""
    dtype = frame.get_column(name).dtype
    if dtype == pl.Boolean or dtype.is_numeric():
        return "number"
    if isinstance(dtype, pl.Datetime):
        return "datetime" if dtype.time_zone is None else "datetime with zone"
    if dtype == pl.Date or isinstance(dtype, _TEXT):
        return "date" if dtype == pl.Date else "string"
    if dtype == pl.Null:
        return None
    raise unusable_labels_error(f"column {name!r} of type {dtype}")


def is_numeric(frame: pl.DataFrame, name: str) -> bool:
    """Return whether a column holds integers, floats or decimals."""
    return frame.get_column(name).dtype.is_numeric()


def is_searched(frame: pl.DataFrame, name: str) -> bool:
    """Return whether `slices` searches a column by default: no times, lists or structs."""
    dtype = frame.get_column(name).dtype
    return can_sort(dtype) and not isinstance(dtype, (pl.Date, pl.Datetime))


def has_odd_days(frame: pl.DataFrame, name: str) -> bool:
    """Return whether dates or datetimes are outside the years 1 to 9999."""
    series = frame.get_column(name)
    unit: Any = getattr(series.dtype, "time_unit", "D")
    if not isinstance(series.dtype, (pl.Date, pl.Datetime)) or not len(series) or unit == "ns":
        return False
    first, last = (int(np.datetime64(day, unit).astype(np.int64)) for day in _DAYS_OF_PYTHON)
    physical = series.to_physical()
    low, high = physical.min(), physical.max()
    return low is not None and not first <= cast(int, low) <= cast(int, high) < last


def python_values(levels: pl.Series) -> list[Any]:
    """Convert levels to Python values; raise if they are datetimes that Python cannot hold."""
    values: list[Any] = levels.to_list()
    is_finer = isinstance(levels.dtype, pl.Datetime) and levels.dtype.time_unit == "ns"
    if is_finer and len({*values}) < levels.n_unique():
        raise UnsupportedTypeError(
            f"{values[0]} stands for several values that differ by nanoseconds, which Python's "
            "datetimes lack. Cast their column to microseconds, or to text."
        )
    return values


def numbers(frame: pl.DataFrame, name: str) -> MaskedNumbers:
    """Read a numeric column as integers or floats, and which rows are null."""
    series = unnamed(frame, name)
    if not series.dtype.is_numeric():
        raise UnsupportedTypeError(
            f"column {name!r} has the type {series.dtype}; scores, counts and weights must be "
            "numbers. Cast it first."
        )
    if series.dtype in BEYOND_NUMPY or series.dtype.is_decimal():
        series = _in_64_bits(series)
    elif series.dtype.is_float() and width(series.dtype) < 32:
        series = series.cast(pl.Float32)  # of which sums do not overflow
    if series.null_count() == 0:
        return mask_nan(series.to_numpy(), None)
    return mask_nan(series.fill_null(0).to_numpy(), series.is_null().to_numpy())


def _in_64_bits(series: pl.Series) -> pl.Series:
    """Cast integers to 64 bits, or to floats if one is too large, or decimals have fractions."""
    if isinstance(series.dtype, pl.Decimal) and series.dtype.scale:
        return series.cast(pl.Float64)
    short = series.cast(pl.Int64, strict=False)
    return short if short.null_count() == series.null_count() else series.cast(pl.Float64)


def days(frame: pl.DataFrame, name: str) -> MaskedDays:
    """Read a column of dates or datetimes as days since 1970-01-01, and which rows are null."""
    series = unnamed(frame, name)
    if isinstance(series.dtype, pl.Datetime):
        series = series.dt.date()
    elif series.dtype not in (pl.Date, pl.Null):
        raise not_time_error(name, series.dtype)
    days = series.cast(pl.Date).to_physical().cast(pl.Int64)
    if not days.null_count():
        return days.to_numpy(), None
    return days.fill_null(0).to_numpy(), days.is_null().to_numpy()


def date_series(days: Int64Array) -> pl.Series:
    """Make a column of dates from days since 1970-01-01."""
    return pl.Series(days.astype(np.int32)).cast(pl.Date)


def categories(dtype: pl.DataType) -> Categories | None:
    """Return the categories that a dtype declares, if it does."""
    if isinstance(dtype, pl.Enum):
        return Categories(tuple(dtype.categories), is_ordered=True)
    return None


def label_levels(labels: Sequence[Label], dtypes: Sequence[pl.DataType]) -> pl.Series:
    """Make a column of labels, of the dtype that the dtypes of the inputs agree on."""
    for candidate in _label_dtypes([dtype for dtype in dtypes if dtype != pl.Null], labels):
        try:
            return pl.Series(_as_python(labels, candidate), dtype=candidate, strict=True)
        except (TypeError, OverflowError, pl.exceptions.PolarsError):
            continue
    raise mixed_labels_error(labels)


def label_series(labels: Sequence[Label]) -> pl.Series:
    """Make a column of labels, of the dtype that suits them."""
    return pl.Series(labels)


def _label_dtypes(
    dtypes: Sequence[pl.DataType], labels: Sequence[Label]
) -> list[pl.DataType | None]:
    """List the dtypes that might hold the labels, the most fitting first.

    Decimals are labels if they are whole, and so are integers.
    """
    dtypes = [pl.Int64() if dtype.is_decimal() else dtype for dtype in dtypes]
    if not dtypes:
        return [pl.String(), None]
    if len(set(dtypes)) == 1:
        is_number = dtypes[0].is_numeric() or dtypes[0] == pl.Boolean
        if is_number and _are_numbers(labels):
            return [dtypes[0], *([] if dtypes[0].is_float() else [pl.Int64(), pl.UInt64()])]
        return [dtypes[0], *([pl.String()] if isinstance(dtypes[0], _TEXT) else []), None]
    if all(isinstance(dtype, _TEXT) for dtype in dtypes):
        return [pl.String()]
    numeric = [dtype for dtype in dtypes if dtype != pl.Boolean]
    floats = [dtype for dtype in numeric if dtype.is_float()]
    if floats:
        return [max(floats, key=width) if len(floats) == len(numeric) else pl.Float64()]
    signs = {dtype.is_signed_integer() for dtype in numeric}
    if len(signs) > 1:
        return [pl.Int64()]
    return [max(numeric, key=width), pl.Int64() if signs == {True} else pl.UInt64()]


def _are_numbers(labels: Sequence[Label]) -> bool:
    return all(isinstance(label, (bool, int, float)) for label in labels)


def _as_python(labels: Sequence[Label], dtype: pl.DataType | None) -> list[Any]:
    """Return labels as values of a dtype; raise OverflowError for numbers that it lacks."""
    if dtype is None or not _are_numbers(labels):
        return list(labels)
    numbers = as_numbers(labels)
    if dtype.is_float():
        return [float(n) for n in numbers]
    if any(n % 1 != 0 for n in numbers) or (dtype == pl.Boolean and not {*numbers} <= {0, 1}):
        raise OverflowError
    return [bool(n) if dtype == pl.Boolean else int(n) for n in numbers]


def take(levels: pl.Series, codes: Int64Array, *, nullable: bool) -> pl.Series:
    """Look up levels by position, null past their end."""
    if codes.max(initial=-1) == len(levels):
        levels = levels.clone().append(levels.clear(1))
    return levels[codes]


def count_series(values: Int64Array) -> pl.Series:
    """Make a column of integers."""
    return pl.Series(values, dtype=pl.Int64)


def text_series(values: Sequence[str]) -> pl.Series:
    """Make a column of strings."""
    return pl.Series(values, dtype=pl.String)


def ordered_texts(values: Sequence[str]) -> pl.Series:
    """Make a column of texts that are ordered as they are given, each once."""
    return pl.Series(values, dtype=pl.Enum(values))


def with_columns(frame: pl.DataFrame, columns: Mapping[str, pl.Series]) -> pl.DataFrame:
    """Return a frame with further columns, in the order of its rows."""
    return frame.with_columns(column.alias(name) for name, column in columns.items())


def build_frame(columns: Mapping[str, pl.Series | npt.NDArray[Any]]) -> pl.DataFrame:
    """Make a frame of columns; NaN becomes null."""
    return pl.DataFrame(
        {
            name: pl.Series(column, nan_to_null=True) if isinstance(column, np.ndarray) else column
            for name, column in columns.items()
        }
    )
