"""Pandas: a column to codes and levels."""

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd
from pandas.api import types
from pandas.api.extensions import ExtensionArray, ExtensionDtype

from balframe.core.array_types import Int64Array
from balframe.core.counting_strategy import are_many_to_share, most_levels, sample
from balframe.core.integer_codes import Codes, extremes
from balframe.core.threads import on_all_cores, spans
from balframe.errors import UnsupportedTypeError
from balframe.frames.adapter import EncodedColumn, Name

Values = npt.NDArray[Any] | ExtensionArray
DType = np.dtype[Any] | ExtensionDtype

_INT64 = np.iinfo(np.int64)


def is_object(dtype: DType) -> bool:
    """Tell whether values are objects of Python."""
    return isinstance(dtype, np.dtype) and dtype.kind == "O"


def numpy_dtype(dtype: DType) -> np.dtype[Any]:
    """Find numpy's dtype of the values that a dtype of pandas holds."""
    if isinstance(dtype, pd.CategoricalDtype):
        return numpy_dtype(dtype.categories.dtype)
    if isinstance(dtype, pd.SparseDtype):
        return np.dtype(dtype.subtype)
    held: Any = getattr(dtype, "numpy_dtype", dtype)
    plain: np.dtype[Any] = np.dtype(held)
    return plain


def has_codes(frame: pd.DataFrame, name: Name) -> bool:
    """Tell whether the type of a column is one whose values may be codes themselves."""
    dtype: Any = frame[name].dtype
    return (
        isinstance(dtype, pd.CategoricalDtype) or dtype == np.bool_ or types.is_integer_dtype(dtype)
    )


def encode_direct(frame: pd.DataFrame, name: Name, *, guess: bool) -> EncodedColumn | None:
    """Take codes from the values themselves; None where that needs a hash table."""
    array = _array(frame, name)
    if isinstance(array, pd.Categorical):
        return _encode_categorical(array)
    if array.dtype == np.bool_:
        return EncodedColumn(Codes(array.view(np.uint8), 0, 2), np.array([False, True]))
    if not len(array):
        return None
    if isinstance(array, np.ndarray):
        return _encode_integers(array, guess=guess)
    return _encode_nullable(array)


def _array(frame: pd.DataFrame, name: Name) -> Values:
    series: Any = frame[name]
    values: Values = series.to_numpy() if isinstance(series.dtype, np.dtype) else series.array
    return values


def _encode_integers(values: npt.NDArray[Any], *, guess: bool) -> EncodedColumn | None:
    low, high = extremes(sample(values) if guess else values)
    size = high - low + 1
    if size > most_levels(len(values)):
        return None
    return EncodedColumn(Codes(values, low, size, guess), _range(low, size, values.dtype))


def _range(low: int, size: int, dtype: np.dtype[Any]) -> npt.NDArray[Any]:
    values: npt.NDArray[Any] = np.arange(size).astype(dtype)
    values += dtype.type(low)
    return values


def _encode_nullable(array: ExtensionArray) -> EncodedColumn | None:
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
        values = series.to_numpy(numpy_dtype(array.dtype))
    dtype: Any = array.dtype
    levels = pd.array(_range(low, size, values.dtype), dtype=dtype)
    return EncodedColumn(Codes(values, low, size + has_null), levels)


def _encode_categorical(array: pd.Categorical) -> EncodedColumn:
    n_levels = len(array.categories)
    levels = pd.Categorical.from_codes(np.arange(n_levels), dtype=array.dtype)
    return _with_null_below(np.asarray(array.codes), levels, np.arange(n_levels))


def encode_hashed(frame: pd.DataFrame, name: Name) -> EncodedColumn:
    """Look values up in a hash table of the distinct ones."""
    try:
        codes, levels = _factorized(_array(frame, name))
        order = _ascending(levels)
    except (TypeError, NotImplementedError) as error:
        raise UnsupportedTypeError(
            f"column {name!r} has values that cannot be grouped ({error}); cast it first."
        ) from error
    rank = np.empty(len(levels), np.int64)
    rank[order] = np.arange(len(levels))
    return _with_null_below(codes, levels.take(order), rank)


def _factorized(values: Values) -> tuple[npt.NDArray[Any], Values]:
    """Give numbers to distinct values, -1 to null; to many texts of Arrow part by part."""
    array: Any = values  # of any class that pandas has
    if types.is_float_dtype(array.dtype):
        return _factorized_floats(array)
    is_arrow = isinstance(array, pd.arrays.ArrowExtensionArray)
    if not are_many_to_share(len(array)) or not (is_arrow and types.is_string_dtype(array.dtype)):
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


def _factorized_floats(array: Any) -> tuple[npt.NDArray[Any], Values]:  # noqa: ANN401
    """Take NaN for null, and 0.0 for -0.0 which is equal to it; Arrow keeps them apart."""
    dtype = array.dtype
    if not isinstance(dtype, np.dtype):
        array = array.to_numpy(numpy_dtype(dtype), na_value=np.nan)
    codes, levels = pd.factorize(array)
    levels = levels + levels.dtype.type(0)
    return codes, levels if isinstance(dtype, np.dtype) else pd.array(levels, dtype=dtype)


def _with_null_below(codes: npt.NDArray[Any], levels: Values, rank: Int64Array) -> EncodedColumn:
    """Encode where -1 is null."""
    null_first = np.concatenate(([len(rank)], rank))
    return EncodedColumn(Codes(codes, -1, len(rank) + 1), levels, null_first)


def _ascending(levels: Values) -> Int64Array:
    if types.is_float_dtype(levels.dtype):
        return np.argsort(np.asarray(levels, np.float64))  # Arrow cannot sort its shortest floats
    if not is_object(levels.dtype):
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


def with_categories(frame: pd.DataFrame, names: Iterable[Name]) -> pd.DataFrame:
    """Read dictionaries of Arrow among these columns: texts as categories, others as they are.

    The frame itself stays as it is.
    """
    held = dictionaries(frame[list(names)])
    if held:
        frame = frame.copy(deep=False)
    for name in held:
        frame[name] = _decoded(frame[name].array)
    return frame


def dictionaries(frame: pd.DataFrame) -> list[Name]:
    """List the columns that are dictionaries of Arrow."""
    return [name for name, dtype in frame.dtypes.items() if _is_dictionary(dtype)]


def _is_dictionary(dtype: object) -> bool:
    return isinstance(dtype, pd.ArrowDtype) and str(dtype).startswith("dictionary")


def _decoded(array: Any) -> Any:  # noqa: ANN401 (of Arrow, which need not be there)
    kind = array.dtype.pyarrow_dtype
    if "string" not in str(kind.value_type):
        return array.astype(pd.ArrowDtype(kind.value_type))
    rows = _with_one_dictionary(array.__arrow_array__().chunks, kind.value_type)
    # that of a dictionary without an order is the order in which its values came
    position, levels = pd.factorize(rows.dictionary.to_pandas(), sort=not kind.ordered)
    codes = np.append(position, -1)[rows.indices.fill_null(-1).to_numpy()]
    return pd.Categorical.from_codes(codes, categories=levels, ordered=kind.ordered)


def _with_one_dictionary(chunks: Sequence[Any], values: Any) -> Any:  # noqa: ANN401
    """Put chunks together, of which each may have a dictionary of its own, and small codes."""
    import pyarrow as pa

    wide = [
        pa.DictionaryArray.from_arrays(one.indices.cast(pa.int64()), one.dictionary)
        for one in chunks
    ]
    together = pa.chunked_array(wide, pa.dictionary(pa.int64(), values))
    return together.unify_dictionaries().combine_chunks()
