"""Columns of pandas in polars and the other way round, without Arrow; what polars lacks, as text.

Polars has no intervals, periods, tuples or objects of several types. These leave pandas as the
texts of their values, in an Enum in the order of the values.
"""

from collections import Counter
from collections.abc import Callable, Hashable, Mapping, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, Any, cast

import numpy as np
import polars as pl
from narwhals.dependencies import is_pandas_dataframe

from balframe._text import midnights_as_dates
from balframe.core.array_types import Int64Array
from balframe.core.integer_codes import codes_from_zero
from balframe.frames.adapter import Name
from balframe.frames.count_frame import encode_columns
from balframe.frames.engines.arrow import from_arrow, has_polars_type
from balframe.frames.engines.registry import PANDAS_ADAPTER, POLARS_ADAPTER
from balframe.frames.lazy_pandas import pandas, pandas_encoding

if TYPE_CHECKING:
    import pandas as pd

_LACKING = (TypeError, ValueError, OverflowError, pl.exceptions.PolarsError)
_PLAIN_OBJECTS = ("string", "empty", "boolean", "integer", "floating", "decimal", "date")
_INTEGERS = (pl.Int8, pl.Int16, pl.Int32, pl.Int64, pl.UInt8, pl.UInt16, pl.UInt32, pl.UInt64)


def polars_frame(frame: "pd.DataFrame") -> pl.DataFrame:
    """Convert a frame of pandas; names become texts."""
    return pl.DataFrame({str(name): polars_column(frame[name]) for name in frame.columns})


def polars_column(column: "pd.Series") -> pl.Series:
    """Convert a column to a type of polars, or to the texts of its values."""
    try:
        values = _polars_values(column)
        if values.dtype != pl.Object and are_values_of(column, values.to_list):
            return values
    except _LACKING:
        pass
    codes, levels = _encode([column], column.name)
    return _from_codes(_enum(value_texts(levels)), codes)


def are_values_of(column: "pd.Series", values: Callable[[], list[Any]]) -> bool:
    """Return whether these are the values of a column; libraries cast objects of several types."""
    is_object = isinstance(column.dtype, np.dtype) and column.dtype.kind == "O"
    return not is_object or column.where(column.notna(), None).tolist() == values()


def _polars_values(column: Any) -> pl.Series:  # noqa: ANN401 (of any type)
    """Convert a column; raise one of `_LACKING`, or return objects, where polars has no type."""
    dtype, is_null = column.dtype, column.isna().to_numpy(bool)
    if isinstance(dtype, pandas.CategoricalDtype):
        levels = polars_column(pandas.Series(dtype.categories))
        is_text = levels.dtype in (pl.String, pl.Enum)
        codes = np.asarray(column.cat.codes, np.int64)
        return _from_codes(_enum(levels.to_list()) if is_text else levels, codes)
    if isinstance(dtype, pandas.ArrowDtype):
        import pyarrow as pa

        array = column.array.__arrow_array__()
        if not has_polars_type(pa.field("", array.type)):
            raise TypeError
        return from_arrow(pa.table({"": array})).to_series()
    if isinstance(dtype, pandas.DatetimeTZDtype):
        naive = _polars_values(column.dt.tz_convert("UTC").dt.tz_localize(None))
        return naive.dt.replace_time_zone("UTC").dt.convert_time_zone(str(dtype.tz))
    if isinstance(dtype, np.dtype) and dtype.kind in "mM":
        is_known = np.datetime_data(dtype)[0] in ("ms", "us", "ns")
        return pl.Series(column.to_numpy() if is_known else column.to_numpy(f"{dtype.kind}8[ms]"))
    if isinstance(dtype, pandas.StringDtype):
        return pl.Series(column.to_numpy(object, na_value=None).tolist(), dtype=pl.String)
    if isinstance(dtype, np.dtype) and dtype.kind == "O":
        kind = pandas.api.types.infer_dtype(column, skipna=True)
        if kind == "mixed-integer-float":
            return _polars_values(column.astype(float))
        if kind.startswith("mixed"):
            raise TypeError
        return pl.Series(column.where(~is_null, None).tolist(), strict=True)
    if isinstance(dtype, pandas.SparseDtype):
        return _polars_values(pandas.Series(np.asarray(column.array)))
    plain = getattr(dtype, "numpy_dtype", dtype)
    if not isinstance(plain, np.dtype):  # of intervals and periods
        raise TypeError
    if isinstance(dtype, np.dtype) or not is_null.any():
        return pl.Series(column.to_numpy(plain), nan_to_null=True)
    codes = np.where(is_null, -1, np.arange(len(column)))
    return _from_codes(pl.Series(column.to_numpy(plain, na_value=0)), codes)


def _from_codes(levels: pl.Series, codes: Int64Array) -> pl.Series:
    """Look up levels by position, null at -1."""
    positions = np.where(codes < 0, len(levels), codes)
    return cast(pl.Series, POLARS_ADAPTER.take(levels, positions, nullable=True))


def _enum(texts: Sequence[str]) -> pl.Series:
    return pl.Series(texts, dtype=pl.Enum(texts))


def _encode(columns: "Sequence[pd.Series]", name: Name) -> tuple[Int64Array, list[Any]]:
    """Return the codes of all rows, -1 for null, and the values in their order."""
    for column in columns:
        pandas_encoding.check_arrow_types({name: column}, [name])
    rows = pandas.concat(columns, ignore_index=True).array
    frame = cast("pd.DataFrame", PANDAS_ADAPTER.build_frame({name: rows}))
    frame = pandas_encoding.decode_dictionaries(frame, [name])
    encoded = encode_columns(frame, [name], PANDAS_ADAPTER)[name]
    positions = encoded.level_positions(codes_from_zero(encoded.codes, slice(None)))
    levels = PANDAS_ADAPTER.python_values(encoded.levels)
    return np.where(positions == len(levels), -1, positions), levels


def value_texts(values: Sequence[Any]) -> list[str]:
    """Return values as texts, and those that would look the same as Python code."""
    texts = [*map(str, midnights_as_dates(values))]
    counts = Counter(texts)
    return [
        text if counts[text] == 1 else repr(value)
        for text, value in zip(texts, values, strict=True)
    ]


def write_values(
    frames: Sequence[Any], names: Sequence[Name]
) -> tuple[list[Any], Mapping[Name, Mapping[Hashable, str]]]:
    """Replace values of pandas but numbers, texts and dates by ordered categories of texts.

    Return the frames, with the same categories in all, and the texts of the values by column.
    Other frames, and columns that one of them lacks, stay as they are.
    """
    written = [*frames]
    texts_of: dict[Name, Mapping[Hashable, str]] = {}
    places = [i for i, frame in enumerate(frames) if is_pandas_dataframe(frame)]
    for name in names:
        having = [i for i in places if [*frames[i].columns].count(name) == 1]
        columns = [frames[i][name] for i in having]
        if all(_is_plain(column) for column in columns):
            continue
        codes, levels = _encode(columns, name)
        texts = value_texts(levels)
        dtype = pandas.CategoricalDtype(texts, ordered=True)
        texts_of[name] = dict(zip(levels, texts, strict=True))
        ends = np.cumsum([0, *map(len, columns)])
        for i, (start, end) in zip(having, pairwise(ends), strict=True):
            category = pandas.Categorical.from_codes(codes[start:end], dtype=dtype)
            if written[i] is frames[i]:
                written[i] = frames[i].copy(deep=False)
            written[i][name] = category
    return written, texts_of


def _is_plain(column: "pd.Series") -> bool:
    """Return whether values are numbers, texts or dates, in the order that polars has."""
    dtype: Any = column.dtype
    if isinstance(dtype, pandas.CategoricalDtype):
        categories = pandas.Series(dtype.categories)
        is_text = pandas.api.types.is_string_dtype(categories.dtype)
        return is_text or (_is_plain(categories) and bool(categories.is_monotonic_increasing))
    if isinstance(dtype, np.dtype) and dtype.kind == "O":
        return pandas.api.types.infer_dtype(column, skipna=True) in _PLAIN_OBJECTS
    kinds = pandas.api.types
    is_number = kinds.is_bool_dtype(dtype) or kinds.is_integer_dtype(dtype)
    is_number = is_number or kinds.is_float_dtype(dtype) or str(dtype).startswith("decimal")
    is_dense = not isinstance(dtype, pandas.SparseDtype)
    return is_dense and (is_number or kinds.is_string_dtype(dtype))


def python_values(column: "pd.Series") -> list[Any]:
    """Return the values of a column as Python values, with None for null."""
    array: Any = column.array
    if isinstance(array, pandas.Categorical):  # whose own list may have other types beside nulls
        levels = [*pandas.Series(array.categories).tolist(), None]
        return [levels[code] for code in array.codes]
    values = np.asarray(array) if isinstance(array, pandas.arrays.SparseArray) else column
    is_null = column.isna()
    return [None if null else value for value, null in zip(values.tolist(), is_null, strict=True)]


def pandas_frame(frame: pl.DataFrame) -> "pd.DataFrame":
    """Convert a frame of polars; integers and booleans beside nulls get a type that has nulls."""
    # polars 2.1 reads the name of a Series such as "^y.*$" as a pattern of columns
    columns = {name: _pandas_column(column.alias("")) for name, column in frame.to_dict().items()}
    return pandas.DataFrame(columns, copy=False)


def _pandas_column(column: pl.Series) -> Any:  # noqa: ANN401 (of any type)
    dtype, is_null = column.dtype, column.is_null().to_numpy()
    if dtype == pl.Boolean and column.null_count():
        return pandas.arrays.BooleanArray(column.fill_null(False).to_numpy(), is_null)
    is_number = dtype.is_float() or dtype in _INTEGERS
    if dtype.is_integer() and column.null_count() and is_number:
        return pandas.arrays.IntegerArray(column.fill_null(0).to_numpy(), is_null)
    if isinstance(dtype, (pl.Categorical, pl.Enum)):
        texts = column.cast(pl.String)
        used = texts.drop_nulls().unique().sort()
        levels = dtype.categories if isinstance(dtype, pl.Enum) else used
        is_ordered = isinstance(dtype, pl.Enum)
        return pandas.Categorical(texts.to_list(), categories=levels.to_list(), ordered=is_ordered)
    if dtype == pl.String:
        return pandas.Series(column.to_list(), dtype=pandas.Series([""]).dtype)
    if isinstance(dtype, pl.Datetime) and dtype.time_zone is not None:
        moments = pandas.Series(column.dt.convert_time_zone("UTC").dt.replace_time_zone(None))
        return moments.dt.tz_localize("UTC").dt.tz_convert(dtype.time_zone)
    if dtype == pl.Date:
        return column.to_numpy().astype("datetime64[ms]")
    if is_number or isinstance(dtype, (pl.Boolean, pl.Datetime, pl.Duration)):
        return column.to_numpy()
    return pandas.Series(column.to_list(), dtype=object)
