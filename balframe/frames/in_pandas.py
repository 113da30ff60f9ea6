"""Pandas: a column to codes and levels, and columns to a frame."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd
from pandas.api import types

from balframe.core.arrays import Int64Array
from balframe.core.codes import Codes, extremes, most_levels
from balframe.core.labels import Label, no_dtype_for, not_labels
from balframe.core.parallel import are_many, on_all_cores, spans
from balframe.errors import UnsupportedTypeError
from balframe.frames.library import Column, Name, Numbers, nan_is_null

_INT64 = np.iinfo(np.int64)


def is_name(name: object) -> bool:
    """Tell whether this can name a column."""
    try:
        hash(name)
    except TypeError:
        return False
    return True


def names(frame: pd.DataFrame) -> list[Name]:
    """List the columns' names."""
    return list(frame.columns)


def dtype(frame: pd.DataFrame, name: Name) -> Any:  # noqa: ANN401
    """Look up the dtype of a column."""
    return frame[name].dtype


def height(frame: pd.DataFrame) -> int:
    """Count the rows."""
    return len(frame)


def label_kind(frame: pd.DataFrame, name: Name) -> str | None:
    """Tell the kind of the labels in a column; None where only the values can tell."""
    dtype: Any = frame[name].dtype
    if isinstance(dtype, pd.CategoricalDtype):
        dtype = dtype.categories.dtype
    if _is_object(dtype) or str(dtype) == "null[pyarrow]":
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
    raise not_labels(f"column {name!r} of type {dtype}")


def _is_number(dtype: Any) -> bool:  # noqa: ANN401
    if isinstance(dtype, pd.CategoricalDtype):
        return _is_number(dtype.categories.dtype)
    return (
        types.is_bool_dtype(dtype) or types.is_integer_dtype(dtype) or types.is_float_dtype(dtype)
    )


def _is_nullable(dtype: Any) -> bool:  # noqa: ANN401
    return not isinstance(dtype, np.dtype)


def _is_object(dtype: Any) -> bool:  # noqa: ANN401
    return isinstance(dtype, np.dtype) and dtype.kind == "O"


def has_codes(frame: pd.DataFrame, name: Name) -> bool:
    """Tell whether the type of a column is one whose values may be codes themselves."""
    dtype: Any = frame[name].dtype
    return (
        isinstance(dtype, pd.CategoricalDtype) or dtype == np.bool_ or types.is_integer_dtype(dtype)
    )


def encode_direct(frame: pd.DataFrame, name: Name, *, guess: bool) -> Column | None:
    """Take codes from the values themselves; None where that needs a hash table."""
    array = _array(frame, name)
    if isinstance(array, pd.Categorical):
        return _encode_categorical(array)
    if array.dtype == np.bool_:
        return Column(Codes(array.view(np.uint8), 0, 2), np.array([False, True]))
    if not len(array):
        return None
    if isinstance(array, np.ndarray):
        return _encode_integers(array, guess=guess)
    return _encode_nullable(array)


def _array(frame: pd.DataFrame, name: Name) -> Any:  # noqa: ANN401
    series: Any = frame[name]
    return series.to_numpy() if isinstance(series.dtype, np.dtype) else series.array


def _encode_integers(values: npt.NDArray[Any], *, guess: bool) -> Column | None:
    low, high = extremes(values, guess=guess)
    size = high - low + 1
    if size > most_levels(len(values)):
        return None
    return Column(Codes(values, low, size, guess), _range(low, size, values.dtype))


def _range(low: int, size: int, dtype: np.dtype[Any]) -> npt.NDArray[Any]:
    values: npt.NDArray[Any] = np.arange(size).astype(dtype)
    values += dtype.type(low)
    return values


def _encode_nullable(array: Any) -> Column | None:  # noqa: ANN401
    series: Any = pd.Series(array, copy=False)
    low, high = series.min(), series.max()
    if pd.isna(low):
        return None
    low, high = int(low), int(high)
    size = high - low + 1
    has_null = series.hasnans
    if size > most_levels(len(series)) or (has_null and high >= _INT64.max):
        return None
    if has_null:
        values = np.where(series.isna(), high + 1, series.fillna(low).to_numpy(np.int64))
    else:
        values = series.to_numpy(_numpy_dtype(array.dtype))
    levels = pd.array(_range(low, size, values.dtype), dtype=array.dtype)
    return Column(Codes(values, low, size + has_null), levels)


def _encode_categorical(array: pd.Categorical) -> Column:
    n_levels = len(array.categories)
    levels = pd.Categorical.from_codes(np.arange(n_levels), dtype=array.dtype)
    return _with_null_below(np.asarray(array.codes), levels, np.arange(n_levels))


def encode_hashed(frame: pd.DataFrame, name: Name) -> Column:
    """Look values up in a hash table of the distinct ones."""
    try:
        codes, levels = _factorized(_array(frame, name))
        if types.is_float_dtype(levels.dtype):
            levels = _with_one_zero(levels)
        order = _ascending(levels)
    except (TypeError, NotImplementedError) as error:
        raise UnsupportedTypeError(
            f"column {name!r} holds values that cannot be grouped ({error}); cast it first."
        ) from error
    rank = np.empty(len(levels), np.int64)
    rank[order] = np.arange(len(levels))
    return _with_null_below(codes, levels.take(order), rank)


def _factorized(array: Any) -> tuple[npt.NDArray[Any], Any]:  # noqa: ANN401
    """Give numbers to distinct values, -1 to null; to many texts of Arrow part by part."""
    is_arrow = isinstance(array, pd.arrays.ArrowExtensionArray)
    if not are_many(len(array)) or not (is_arrow and types.is_string_dtype(array.dtype)):
        return pd.factorize(array)
    import pyarrow as pa  # which the array is made of

    texts = array.__arrow_array__()
    parts = on_all_cores(
        lambda rows: texts.slice(rows.start, rows.stop - rows.start).dictionary_encode(),
        spans(len(array)),
    )
    found = pa.chunked_array([chunk for part in parts for chunk in part.chunks])
    chunks = found.unify_dictionaries().chunks
    codes = [chunk.indices.fill_null(-1).to_numpy() for chunk in chunks]
    return np.concatenate(codes), pd.array(chunks[0].dictionary, dtype=array.dtype)


def _with_one_zero(levels: Any) -> Any:  # noqa: ANN401
    """Show 0.0 for -0.0, which is equal to it."""
    values = levels.to_numpy(_numpy_dtype(levels.dtype)) if hasattr(levels, "to_numpy") else levels
    zeroed = values + values.dtype.type(0)
    return zeroed if values is levels else pd.array(zeroed, dtype=levels.dtype)


def _with_null_below(codes: npt.NDArray[Any], levels: Any, rank: Int64Array) -> Column:  # noqa: ANN401
    """Encode where -1 is null."""
    null_first = np.concatenate(([len(rank)], rank))
    return Column(Codes(codes, -1, len(rank) + 1), levels, null_first)


def _ascending(levels: Any) -> Int64Array:  # noqa: ANN401
    if not _is_object(levels.dtype):
        return np.asarray(levels.argsort(), np.int64)

    def mixed(position: int) -> tuple[str, Any]:
        return type(levels[position]).__name__, levels[position]

    def as_text(position: int) -> tuple[str, str]:
        return type(levels[position]).__name__, str(levels[position])

    positions = range(len(levels))
    try:
        return np.array(sorted(positions, key=mixed), np.int64)
    except TypeError:  # values of a type without an order
        return np.array(sorted(positions, key=as_text), np.int64)


def values(levels: Any) -> list[Any]:  # noqa: ANN401
    """Turn levels into Python values."""
    return pd.Series(levels, copy=False).tolist()


def numbers(frame: pd.DataFrame, name: Name) -> Numbers:
    """Read a numeric column as integers or floats, and which rows are null."""
    series: Any = frame[name]
    if not (types.is_integer_dtype(series.dtype) or types.is_float_dtype(series.dtype)):
        raise UnsupportedTypeError(
            f"column {name!r} is {series.dtype}; "
            "scores, counts and weights are numbers. Cast it first."
        )
    kind = "float64" if types.is_float_dtype(series.dtype) else "int64"
    if types.is_unsigned_integer_dtype(series.dtype):
        kind = "uint64"
    if not (_is_nullable(series.dtype) and series.hasnans):
        return nan_is_null(series.to_numpy(kind), None)
    return nan_is_null(series.to_numpy(kind, na_value=0), series.isna().to_numpy(bool))


def domain(dtypes: Sequence[Any]) -> list[Label] | None:
    """List the categories in their own order, where all columns agree on one."""
    first = dtypes[0]
    if isinstance(first, pd.CategoricalDtype) and all(dtype == first for dtype in dtypes):
        return first.categories.tolist()
    return None


def label_levels(labels: Sequence[Label], dtypes: Sequence[Any]) -> Any:  # noqa: ANN401
    """Make a column of labels, of the dtype that the dtypes of the inputs agree on."""
    candidates = [dtypes[0]] if all(dtype == dtypes[0] for dtype in dtypes) else []
    are_numbers = all(_is_number(dtype) for dtype in dtypes)
    if are_numbers:
        candidates += _number_dtypes([_numpy_dtype(dtype) for dtype in dtypes])
    for candidate in candidates:
        if _holds(candidate, labels):
            return pd.Series(_as_python(labels, candidate), dtype=candidate).array
    if are_numbers:
        raise no_dtype_for(labels)
    return labels_of(labels)


def labels_of(labels: Sequence[Label]) -> Any:  # noqa: ANN401
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
    return [np.result_type(*numeric), np.dtype(np.int64 if kinds == {"i"} else np.uint64)]


def _numpy_dtype(dtype: Any) -> np.dtype[Any]:  # noqa: ANN401
    if isinstance(dtype, pd.CategoricalDtype):
        return _numpy_dtype(dtype.categories.dtype)
    if isinstance(dtype, pd.SparseDtype):
        return np.dtype(dtype.subtype)
    plain: np.dtype[Any] = np.dtype(getattr(dtype, "numpy_dtype", dtype))
    return plain


def _holds(dtype: Any, labels: Sequence[Label]) -> bool:  # noqa: ANN401
    if isinstance(dtype, pd.CategoricalDtype):
        return set(labels) <= set(dtype.categories)
    if types.is_bool_dtype(dtype):
        return set(labels) <= {0, 1}
    if types.is_integer_dtype(dtype):
        limits = np.iinfo(_numpy_dtype(dtype))
        return all(limits.min <= label <= limits.max for label in labels)
    return True


def _as_python(labels: Sequence[Label], dtype: Any) -> list[Label]:  # noqa: ANN401
    if types.is_bool_dtype(dtype) and not isinstance(dtype, pd.CategoricalDtype):
        return [bool(label) for label in labels]
    if types.is_integer_dtype(dtype):
        return [int(label) for label in labels]
    if types.is_float_dtype(dtype):
        return [float(label) for label in labels]
    return list(labels)


def take(levels: Any, codes: Int64Array, *, nullable: bool) -> Any:  # noqa: ANN401
    """Look up levels by position, null past their end; `nullable` if that may be."""
    if nullable:
        levels = _nullable(levels)
    is_null = codes == len(levels)
    if not is_null.any():
        return levels.take(codes)
    if type(levels) is pd.arrays.NumpyExtensionArray:  # as text is before pandas 3
        levels = levels.to_numpy()
    return pd.api.extensions.take(levels, np.where(is_null, -1, codes), allow_fill=True)


def _nullable(levels: Any) -> Any:  # noqa: ANN401
    if isinstance(levels.dtype, np.dtype) and levels.dtype.kind == "b":
        return pd.array(levels, dtype="boolean")
    if isinstance(levels.dtype, np.dtype) and levels.dtype.kind in "iu":
        return pd.array(levels, dtype=levels.dtype.name.replace("i", "I").replace("u", "U"))
    return levels


def text(values: Sequence[str]) -> Any:  # noqa: ANN401
    """Make a column of strings."""
    return pd.Series(values, dtype=str).array


def _numpy_dtype_is_object(column: Any) -> bool:  # noqa: ANN401
    return _is_object(getattr(column.dtype, "numpy_dtype", column.dtype))


def build(columns: Mapping[Name, Any]) -> pd.DataFrame:
    """Make a frame of columns; NaN is null."""
    arrays = {
        position: pd.Series(column, dtype=object) if _numpy_dtype_is_object(column) else column
        for position, column in enumerate(columns.values())
    }
    frame = pd.DataFrame(arrays, copy=False)
    frame.columns = pd.Index(list(columns), tupleize_cols=False)
    return frame
