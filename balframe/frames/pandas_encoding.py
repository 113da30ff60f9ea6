"""Columns of pandas encoded as codes and levels."""

from collections.abc import Iterable, Mapping, Sequence
from decimal import Decimal
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd
from pandas.api import types
from pandas.api.extensions import ExtensionArray, ExtensionDtype

from balframe.core.array_types import Int64Array
from balframe.core.counting_strategy import most_levels, sample, should_share
from balframe.core.integer_codes import Codes, min_max
from balframe.core.threads import row_spans, run_on_all_cores
from balframe.errors import UnsupportedTypeError
from balframe.frames.adapter import EncodedColumn, Name

Values = npt.NDArray[Any] | ExtensionArray
DType = np.dtype[Any] | ExtensionDtype

_INT64 = np.iinfo(np.int64)


def is_object(dtype: DType) -> bool:
    """Return whether values are Python objects."""
    return isinstance(dtype, np.dtype) and dtype.kind == "O"


def numpy_dtype(dtype: DType) -> np.dtype[Any]:
    """Return the numpy dtype of the values that a pandas dtype holds."""
    if isinstance(dtype, pd.CategoricalDtype):
        return numpy_dtype(dtype.categories.dtype)
    if isinstance(dtype, pd.SparseDtype):
        return np.dtype(dtype.subtype)
    value_dtype: Any = getattr(dtype, "numpy_dtype", dtype)
    plain: np.dtype[Any] = np.dtype(value_dtype)
    return plain


def has_direct_codes(frame: pd.DataFrame, name: Name) -> bool:
    """Return whether the type of a column allows values to be codes themselves."""
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
    low, high = min_max(sample(values) if guess else values)
    size = high - low + 1
    if size > most_levels(len(values)):
        return None
    return EncodedColumn(Codes(values, low, size, guess), _integer_levels(low, size, values.dtype))


def _integer_levels(low: int, size: int, dtype: np.dtype[Any]) -> npt.NDArray[Any]:
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
    levels = pd.array(_integer_levels(low, size, values.dtype), dtype=dtype)
    return EncodedColumn(Codes(values, low, size + has_null), levels)


def _encode_categorical(array: pd.Categorical) -> EncodedColumn:
    if types.is_float_dtype(array.categories.dtype):
        array = array.rename_categories(lambda category: category + 0.0)  # no -0.0
    n_levels = len(array.categories)
    levels = pd.Categorical.from_codes(np.arange(n_levels), dtype=array.dtype)
    return _encode_null_first(np.asarray(array.codes), levels, np.arange(n_levels))


def encode_hashed(frame: pd.DataFrame, name: Name) -> EncodedColumn:
    """Look values up in a hash table of the distinct ones."""
    try:
        codes, levels = _factorize(_array(frame, name))
        order = _ascending_order(levels)
    except (TypeError, NotImplementedError) as error:
        raise UnsupportedTypeError(
            f"column {name!r} has values that cannot be grouped ({error}); cast it first."
        ) from error
    rank = np.empty(len(levels), np.int64)
    rank[order] = np.arange(len(levels))
    return _encode_null_first(codes, levels.take(order), rank)


def _factorize(values: Values) -> tuple[npt.NDArray[Any], Values]:
    """Factorize values, with -1 for null; many texts of Arrow are divided among the cores."""
    array: Any = values  # of any class that pandas has
    if types.is_float_dtype(array.dtype):
        return _factorize_floats(array)
    is_arrow = isinstance(array, pd.arrays.ArrowExtensionArray)
    if not should_share(len(array)) or not (is_arrow and types.is_string_dtype(array.dtype)):
        codes, levels = pd.factorize(array)
        if is_object(levels.dtype):  # of -0.0 and 0.0 it has the first
            for position, level in enumerate(levels):
                if isinstance(level, (float, Decimal)) and level == 0:
                    levels[position] = level + 0
        return codes, levels
    import pyarrow as pa  # which the array is made of

    texts = array.__arrow_array__()
    parts = run_on_all_cores(
        lambda rows: texts.slice(rows.start, rows.stop - rows.start).dictionary_encode(),
        row_spans(len(array)),
    )
    encoded = pa.chunked_array([chunk for part in parts for chunk in part.chunks])
    chunks = encoded.unify_dictionaries().chunks
    codes = [chunk.indices.fill_null(-1).to_numpy() for chunk in chunks]
    return np.concatenate(codes), pd.array(chunks[0].dictionary, dtype=array.dtype)


def _factorize_floats(array: Any) -> tuple[npt.NDArray[Any], Values]:  # noqa: ANN401
    """Factorize floats, with NaN as null and -0.0 as 0.0; Arrow keeps these apart."""
    dtype = array.dtype
    if not isinstance(dtype, np.dtype):
        array = array.to_numpy(numpy_dtype(dtype), na_value=np.nan)
    codes, levels = pd.factorize(array)
    levels = levels + levels.dtype.type(0)
    return codes, levels if isinstance(dtype, np.dtype) else pd.array(levels, dtype=dtype)


def _encode_null_first(codes: npt.NDArray[Any], levels: Values, rank: Int64Array) -> EncodedColumn:
    """Encode codes from -1, which is null."""
    null_first = np.concatenate(([len(rank)], rank))
    return EncodedColumn(Codes(codes, -1, len(rank) + 1), levels, null_first)


def _ascending_order(levels: Values) -> Int64Array:
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


def check_arrow_types(
    frame: pd.DataFrame | Mapping[Name, pd.Series], names: Iterable[Name]
) -> None:
    """Raise for columns of types of Arrow that pandas can hold, but not compute with."""
    for name in names:
        dtype = frame[name].dtype
        if isinstance(dtype, pd.ArrowDtype):
            try:
                is_known = dtype.type is not None and "extension<" not in str(dtype)
            except NotImplementedError:
                is_known = False
            if not is_known:
                raise UnsupportedTypeError(
                    f"column {name!r} has the type {dtype}, which pandas cannot compute with. "
                    "Cast it first."
                )


def decode_dictionaries(frame: pd.DataFrame, names: Iterable[Name]) -> pd.DataFrame:
    """Decode the dictionaries of Arrow among these columns: texts to categories, others to values.

    The frame itself is not modified.
    """
    decoded = dictionary_columns(frame[list(names)])
    if decoded:
        frame = frame.copy(deep=False)
    for name in decoded:
        frame[name] = _decode(frame[name].array)
    return frame


def dictionary_columns(frame: pd.DataFrame) -> list[Name]:
    """List the columns that are dictionaries of Arrow."""
    return [
        name
        for name, dtype in frame.dtypes.items()
        if isinstance(dtype, pd.ArrowDtype) and str(dtype).startswith("dictionary")
    ]


def _decode(array: Any) -> Any:  # noqa: ANN401 (of Arrow, which need not be there)
    kind = array.dtype.pyarrow_dtype
    if "string" not in str(kind.value_type):
        return array.astype(pd.ArrowDtype(kind.value_type))
    rows = _unify_dictionaries(array.__arrow_array__().chunks, kind.value_type)
    # without an order, the dictionary has its values in order of first use: sort them
    position, levels = pd.factorize(rows.dictionary.to_pandas(), sort=not kind.ordered)
    codes = np.append(position, -1)[rows.indices.fill_null(-1).to_numpy()]
    return pd.Categorical.from_codes(codes, categories=levels, ordered=kind.ordered)


def _unify_dictionaries(chunks: Sequence[Any], values: Any) -> Any:  # noqa: ANN401
    """Join chunks; each may have a dictionary of its own, and codes of few bits."""
    import pyarrow as pa

    wide = [
        pa.DictionaryArray.from_arrays(chunk.indices.cast(pa.int64()), chunk.dictionary)
        for chunk in chunks
    ]
    joined = pa.chunked_array(wide, pa.dictionary(pa.int64(), values))
    return joined.unify_dictionaries().combine_chunks()
