"""The frames that callers give: taken out of wrappers, without rows, or with their rows at hand."""

import sys
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, cast

import narwhals as nw
import polars as pl
from narwhals.dependencies import is_pandas_dataframe, is_pandas_index, is_pandas_series

from balframe.errors import UnsupportedTypeError
from balframe.frames.adapter import Frame, Name
from balframe.frames.engines.arrow import ArrowStream, from_arrow, polars_schema
from balframe.frames.engines.column_names import Rows, check_columns
from balframe.frames.engines.error_translation import translate_errors
from balframe.frames.engines.locks import engine_lock
from balframe.frames.engines.registry import (
    DASK,
    PANDAS,
    PYARROW,
    SQLFRAME,
    STREAMS,
    Engine,
    find_engine,
)
from balframe.frames.lazy_pandas import pandas, pandas_encoding
from balframe.frames.query import Query, duplicate_name_error

if TYPE_CHECKING:
    import pandas as pd
    import pyarrow as pa
    from narwhals.dtypes import DType as NarwhalsDType


def unwrap(frame: Any) -> tuple[Any, Callable[[Any], Any]]:  # noqa: ANN401
    """Take a frame out of narwhals, and tell how to put an answer there again."""
    native = nw.to_native(frame, pass_through=True)
    if native is frame:
        return frame, lambda answer: answer
    namespace = sys.modules[type(frame).__module__]  # of one of the stable versions it may be
    return native, getattr(namespace, "from_native", nw.from_native)


def check_not_arrays(function: str, given: Mapping[str, Any], roles: Sequence[str]) -> None:
    """Raise where a caller gives arrays, as to scikit-learn, in the place of a frame.

    `roles` are the frame's parameter and those of its columns.
    """
    frame, *columns = roles
    if not _is_array(given.get(frame, next((given[one] for one in columns if one in given), None))):
        return
    values = [nw.to_native(given.get(one), pass_through=True) for one in roles]
    is_pandas = any(is_pandas_series(one) or is_pandas_index(one) for one in values)
    data = ", ".join(f'"{one}": {one}' for one in columns)
    names = ", ".join(f'"{one}"' for one in columns)
    raise UnsupportedTypeError(
        f"{function} takes a frame and the names of its columns, not arrays. Make a frame from the "
        "arrays: "
        f"{function}({'pd' if is_pandas else 'pl'}.DataFrame({{{data}}}), {names})."
    )


def _is_array(given: object) -> bool:
    """Tell whether values come without columns that have names."""
    of = type(given)  # a frame that is not computed yet would be asked for what it has
    has_columns = hasattr(of, "columns") or hasattr(of, "schema")
    is_column = hasattr(of, "dtype") or hasattr(of, "to_pylist")
    return isinstance(given, list) or (is_column and not has_columns)


def open_frame(frame: Any, engine: Engine) -> Any:  # noqa: ANN401
    """Begin to read a stream; have Dask read dictionaries of Arrow as categories."""
    if engine in STREAMS:
        return ArrowStream.open(frame)
    if engine is not DASK:
        return frame
    with engine_lock(frame):
        names = pandas_encoding.dictionary_columns(frame._meta)
        with_categories = pandas_encoding.decode_dictionaries
        return frame.map_partitions(with_categories, names) if names else frame


def materialize(frame: Any) -> Any:  # noqa: ANN401
    """Hold the rows of what gives them once."""
    native, _ = unwrap(frame)
    if find_engine(native) in STREAMS and hasattr(native, "__arrow_c_stream__"):
        pieces = ArrowStream.open(native)
        return pieces.table(pieces.schema.names)
    return frame


def narwhals_rows(frame: object) -> Rows:
    """Take the rows of a lazy frame as narwhals has them."""
    native: Any = frame
    rows: Rows = nw.from_native(native)
    return rows


def schema_frame(frame: object, engine: Engine) -> Frame:
    """Make a frame of the same columns in the engine's library; no row is read.

    A frame of pandas or polars is given as it is.
    """
    if isinstance(frame, pl.DataFrame) or is_pandas_dataframe(frame):
        return frame
    if isinstance(frame, pl.LazyFrame):
        with translate_errors(frame):
            return frame.collect_schema().to_frame()
    native: Any = frame  # of a library that need not be installed
    if engine is DASK:
        with engine_lock(frame):
            return _with_unknown_types(native._meta)
    if engine is PYARROW or engine in STREAMS:
        _check_distinct(native.schema.names)
        return polars_schema(native.schema).to_frame()
    with engine_lock(frame), translate_errors(frame):
        names = native.columns
        if engine is SQLFRAME:
            check_columns(native)
        _check_distinct(names)
        dtypes = narwhals_rows(frame).collect_schema().dtypes()
    return pl.DataFrame(schema={n: polars_dtype(one) for n, one in zip(names, dtypes, strict=True)})


def polars_dtype(dtype: "NarwhalsDType") -> pl.DataType | type[pl.DataType]:
    """Find the type of polars; where there is none, only the values can tell."""
    try:
        known = nw.Schema({"column": dtype}).to_polars()["column"]
    except (NotImplementedError, TypeError, ValueError):
        return pl.Null
    return pl.Null if known in (pl.Unknown, pl.Object) else known


def _with_unknown_types(frame: "pd.DataFrame") -> "pd.DataFrame":
    """Leave open what a column holds whose categories Dask may not know yet, or that is text.

    Dask makes text of all objects.
    """
    unknown = {
        name: object
        for name, dtype in frame.dtypes.items()
        if isinstance(dtype, pandas.StringDtype)
        or (
            isinstance(dtype, pandas.CategoricalDtype)
            and "__UNKNOWN_CATEGORIES__" in dtype.categories
        )
    }
    return frame.astype(unknown)


def _check_distinct(names: Sequence[Name]) -> None:
    for name, number in Counter(names).items():
        if number > 1:
            raise duplicate_name_error(name, number)


def eager_frame(frame: object, engine: Engine, query: Query) -> Frame:
    """Take the rows of an eager frame in the engine's library: only the columns that are read."""
    if engine is PYARROW:
        return from_arrow(cast("pa.Table", frame).select(list(query.columns)))
    if engine is PANDAS:
        return pandas_encoding.decode_dictionaries(cast("pd.DataFrame", frame), query.columns)
    return cast(Frame, frame)
