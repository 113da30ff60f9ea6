"""The adapter of pandas: what a column holds, and columns to a frame."""

from collections.abc import Mapping, Sequence
from datetime import date
from typing import Any, cast

import numpy as np
import pandas as pd
from pandas.api import types

from balframe.core.array_types import Int64Array
from balframe.core.label_set import (
    Categories,
    Label,
    as_numbers,
    mixed_labels_error,
    unusable_labels_error,
)
from balframe.errors import UnsupportedTypeError
from balframe.frames.adapter import MaskedDays, MaskedNumbers, Name, mask_nan, not_time_error
from balframe.frames.pandas_encoding import DType, Values, is_object, numpy_dtype
from balframe.frames.pandas_encoding import encode_direct as encode_direct
from balframe.frames.pandas_encoding import encode_hashed as encode_hashed
from balframe.frames.pandas_encoding import has_direct_codes as has_direct_codes

_DATES = ("date", "datetime")
_EPOCH = date(1970, 1, 1).toordinal()


def is_name(name: object) -> bool:
    """Return whether this can name a column."""
    try:
        hash(name)
    except TypeError:
        return False
    return True


def column_names(frame: pd.DataFrame) -> list[Name]:
    """List the columns' names."""
    return list(frame.columns)


def expand_selector(frame: pd.DataFrame, columns: Any) -> Any:  # noqa: ANN401 (names)
    """Return names as they are: pandas has no selectors of columns."""
    return columns


def dtype(frame: pd.DataFrame, name: Name) -> DType:
    """Return the dtype of a column."""
    return frame[name].dtype


def n_rows(frame: pd.DataFrame) -> int:
    """Count the rows."""
    return len(frame)


def gather_every(frame: pd.DataFrame, step: int) -> pd.DataFrame:
    """Take every n-th row, from the first."""
    return frame.iloc[::step]


def label_kind(frame: pd.DataFrame, name: Name) -> str | None:
    """Return the kind of the labels in a column; None where it depends on the values."""
    dtype: Any = frame[name].dtype
    if isinstance(dtype, pd.CategoricalDtype):
        dtype = dtype.categories.dtype
    if is_object(dtype) or str(dtype) == "null[pyarrow]":
        return None
    if _is_number(dtype):
        return "number"
    if types.is_string_dtype(dtype):
        return "string"
    if isinstance(dtype, pd.ArrowDtype) and str(dtype).startswith("date"):
        return "date"
    if types.is_datetime64_any_dtype(dtype):
        zone = getattr(getattr(dtype, "pyarrow_dtype", dtype), "tz", None)
        return "datetime" if zone is None else "datetime with zone"
    raise unusable_labels_error(f"column {name!r} of type {dtype}")


def _is_number(dtype: DType) -> bool:
    if isinstance(dtype, pd.CategoricalDtype):
        return _is_number(dtype.categories.dtype)
    return types.is_bool_dtype(dtype) or _is_plain_number(dtype) or _is_decimal(dtype)


def _is_plain_number(dtype: DType) -> bool:
    return types.is_integer_dtype(dtype) or types.is_float_dtype(dtype)


def _is_decimal(dtype: DType) -> bool:
    return isinstance(dtype, pd.ArrowDtype) and str(dtype).startswith("decimal")


def _holds_decimals(values: pd.Series) -> bool:
    is_decimal = is_object(values.dtype) and types.infer_dtype(values, skipna=True) == "decimal"
    return is_decimal or _is_decimal(values.dtype)


def is_numeric(frame: pd.DataFrame, name: Name) -> bool:
    """Return whether a column holds integers, floats or decimals."""
    dtype = frame[name].dtype
    is_container = isinstance(dtype, (pd.CategoricalDtype, pd.SparseDtype))
    return not is_container and (_is_plain_number(dtype) or _holds_decimals(frame[name]))


def is_searched(frame: pd.DataFrame, name: Name) -> bool:
    """Return whether `slices` searches a column by default: no times, lists or structs."""
    dtype = frame[name].dtype
    if is_object(dtype):
        kind = types.infer_dtype(frame[name], skipna=True)
        return kind not in _DATES and ("mixed" not in kind or _are_hashable(frame[name]))
    is_date = isinstance(dtype, pd.ArrowDtype) and str(dtype).startswith("date")
    is_nested = isinstance(dtype, pd.ArrowDtype) and _is_nested(dtype)
    return not (is_date or is_nested or types.is_datetime64_any_dtype(dtype))


def _is_nested(dtype: pd.ArrowDtype) -> bool:
    import pyarrow as pa  # which the column is made of

    return bool(pa.types.is_nested(dtype.pyarrow_dtype))


def _are_hashable(values: pd.Series) -> bool:
    try:
        set(values)
    except TypeError:
        return False
    return True


def has_odd_days(frame: pd.DataFrame, name: Name) -> bool:
    """Return whether dates or datetimes of Arrow are outside the years 1 to 9999."""
    column: Any = frame[name]
    if not isinstance(column.dtype, pd.ArrowDtype):
        return False
    if not str(column.dtype).startswith(("date", "timestamp")):
        return False
    try:
        _ = column.min(), column.max()
    except (OverflowError, ValueError):
        return True
    return False


def python_values(levels: Values) -> list[Any]:
    """Convert levels to Python values."""
    return pd.Series(levels, copy=False).tolist()


def numbers(frame: pd.DataFrame, name: Name) -> MaskedNumbers:
    """Read a numeric column as integers or floats, and which rows are null."""
    series: Any = frame[name]
    if _holds_decimals(series):  # Arrow's own cast of decimals is a bit off
        series = pd.Series(series.to_numpy(np.float64, na_value=np.nan))
    if not _is_plain_number(series.dtype):
        raise UnsupportedTypeError(
            f"column {name!r} has the type {series.dtype}; scores, counts and weights must be "
            "numbers. Cast it first."
        )
    kind = "float64" if types.is_float_dtype(series.dtype) else "int64"
    if types.is_unsigned_integer_dtype(series.dtype):
        kind = "uint64"
    if isinstance(series.dtype, np.dtype) or not series.hasnans:
        return mask_nan(series.to_numpy(kind), None)
    return mask_nan(series.to_numpy(kind, na_value=0), series.isna().to_numpy(bool))


def days(frame: pd.DataFrame, name: Name) -> MaskedDays:
    """Read a column of dates or datetimes as days since 1970-01-01, and which rows are null."""
    series: Any = frame[name]
    if series.isna().all():  # pandas does not know the type of these
        return np.zeros(len(series), np.int64), np.ones(len(series), np.bool_)
    kind = types.infer_dtype(series, skipna=True) if is_object(series.dtype) else ""
    if kind in _DATES:
        return _days_of_objects(series)
    if kind == "datetime64":
        series = pd.to_datetime(series)
    if not str(series.dtype).startswith(("datetime64[", "timestamp[", "date32[", "date64[")):
        raise not_time_error(name, series.dtype)
    zone = getattr(getattr(series.dtype, "pyarrow_dtype", series.dtype), "tz", None)
    if zone is not None:
        is_arrow = isinstance(series.dtype, pd.ArrowDtype)
        series = _local_times(series) if is_arrow else series.dt.tz_localize(None)
    dates = series.astype("datetime64[s]").to_numpy().astype("datetime64[D]")
    is_null = np.isnat(dates)
    days = np.where(is_null, 0, dates.astype(np.int64))
    return days, is_null if is_null.any() else None


def _local_times(series: pd.Series) -> pd.Series:
    """Convert to local times with Arrow; older versions of pandas convert wrongly."""
    import pyarrow.compute as pc

    local = pc.local_timestamp(cast(Any, series.array).__arrow_array__())
    return pd.Series(pd.arrays.ArrowExtensionArray(local))


def _days_of_objects(series: pd.Series) -> MaskedDays:
    """Read dates and datetimes of Python, which may be of any year and of several time zones."""
    is_null = series.isna().to_numpy(bool)
    ordinals = np.array([day.toordinal() for day in series[~is_null]], np.int64)
    days = np.zeros(len(series), np.int64)
    days[~is_null] = ordinals - _EPOCH
    return days, is_null if is_null.any() else None


def date_series(days: Int64Array) -> Values:
    """Make a column of dates, which pandas holds as datetimes, from days since 1970-01-01."""
    return days.astype("datetime64[D]").astype("datetime64[s]")


def categories(dtype: DType) -> Categories | None:
    """Return the categories that a dtype declares, if it does."""
    if isinstance(dtype, pd.CategoricalDtype):
        return Categories(tuple(dtype.categories.tolist()), is_ordered=bool(dtype.ordered))
    return None


def label_levels(labels: Sequence[Label], dtypes: Sequence[DType]) -> Values:
    """Make a column of labels, of the dtype that the dtypes of the inputs agree on."""
    dtypes = [np.dtype(np.int64) if _is_decimal(dtype) else dtype for dtype in dtypes]
    candidates = [dtypes[0]] if all(dtype == dtypes[0] for dtype in dtypes) else []
    are_numbers = all(_is_number(dtype) for dtype in dtypes)
    if are_numbers:
        candidates += _number_dtypes([numpy_dtype(dtype) for dtype in dtypes])
    for candidate in candidates:
        if _holds(candidate, labels):
            return pd.Series(_as_python(labels, candidate), dtype=candidate).array
    if are_numbers:
        raise mixed_labels_error(labels)
    return label_series(labels)


def label_series(labels: Sequence[Label]) -> Values:
    """Make a column of labels, of the dtype that suits them."""
    return pd.Series(list(labels), dtype=None if labels else object).array


def _number_dtypes(dtypes: Sequence[np.dtype[Any]]) -> list[np.dtype[Any]]:
    """List the dtypes that might hold numbers of all these, the most fitting first."""
    numeric = [dtype for dtype in dtypes if dtype.kind != "b"]
    kinds = {dtype.kind for dtype in numeric}
    if not kinds:
        return [np.dtype(bool), np.dtype(np.int64)]
    if "f" in kinds:
        return [np.result_type(*numeric) if kinds == {"f"} else np.dtype(np.float64)]
    if len(kinds) > 1:
        return [np.dtype(np.int64)]
    wider = [np.dtype(np.int64)] if kinds == {"i"} else [np.dtype(np.uint64), np.dtype(np.int64)]
    return [np.result_type(*numeric), *wider]


def _holds(dtype: DType, labels: Sequence[Label]) -> bool:
    if isinstance(dtype, pd.CategoricalDtype):
        return set(labels) <= set(dtype.categories)
    if types.is_bool_dtype(dtype):
        return set(labels) <= {0, 1}
    if types.is_integer_dtype(dtype):
        limits = np.iinfo(numpy_dtype(dtype))
        numbers = as_numbers(labels)
        return all(limits.min <= label <= limits.max and label % 1 == 0 for label in numbers)
    return True


def _as_python(labels: Sequence[Label], dtype: DType) -> list[Label]:
    if types.is_bool_dtype(dtype) and not isinstance(dtype, pd.CategoricalDtype):
        return [bool(label) for label in labels]
    if types.is_integer_dtype(dtype):
        return [int(label) for label in as_numbers(labels)]
    if types.is_float_dtype(dtype):
        return [float(label) for label in as_numbers(labels)]
    return list(labels)


def take(levels: Values, codes: Int64Array, *, nullable: bool) -> Values:
    """Look up levels by position, null past their end; `nullable` if that may be."""
    if type(levels) is pd.arrays.NumpyExtensionArray:  # as text is before pandas 3
        levels = levels.to_numpy()
    if nullable:
        levels = _nullable(levels)
    is_null = codes == len(levels)
    if not is_null.any():
        return levels.take(codes)
    return pd.api.extensions.take(levels, np.where(is_null, -1, codes), allow_fill=True)


def _nullable(levels: Values) -> Values:
    """Give levels a type that has null: of integers, pandas would make floats."""
    array: Any = levels
    if isinstance(levels.dtype, pd.SparseDtype) and array.dtype.subtype.kind in "biu":
        levels = np.asarray(levels)
    if isinstance(levels.dtype, pd.IntervalDtype) and array.left.dtype.kind in "iu":
        return pd.Categorical(array, ordered=True)
    if isinstance(levels.dtype, np.dtype) and levels.dtype.kind == "b":
        return pd.array(levels, dtype="boolean")
    if isinstance(levels.dtype, np.dtype) and levels.dtype.kind in "iu":
        dtype: Any = levels.dtype.name.replace("i", "I").replace("u", "U")
        integers: Values = pd.array(levels, dtype=dtype)
        return integers
    return levels


def count_series(values: Int64Array) -> Values:
    """Make a column of integers."""
    return values


def text_series(values: Sequence[str]) -> Values:
    """Make a column of strings."""
    return pd.Series(values, dtype=str).array


def ordered_texts(values: Sequence[str]) -> Values:
    """Make a column of texts that are ordered as they are given, each once."""
    texts: Any = list(values)
    return pd.Categorical(texts, categories=texts, ordered=True)


def with_columns(frame: pd.DataFrame, columns: Mapping[str, Values]) -> pd.DataFrame:
    """Return a frame with further columns, in the order of its rows."""
    frame = frame.copy(deep=False)
    for name, column in columns.items():
        frame[name] = column
    return frame


def _holds_objects(column: Values) -> bool:
    return is_object(getattr(column.dtype, "numpy_dtype", column.dtype))


def build_frame(columns: Mapping[Name, Values]) -> pd.DataFrame:
    """Make a frame of columns; NaN is null."""
    arrays = {
        position: pd.Series(column, dtype=object) if _holds_objects(column) else column
        for position, column in enumerate(columns.values())
    }
    frame = pd.DataFrame(arrays, copy=False)
    frame.columns = pd.Index(list(columns), tupleize_cols=False)
    return frame
