"""The frames that callers give: unwrapped, opened, and read in the library of an adapter."""

import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, cast

import narwhals as nw
import polars as pl
from narwhals.dependencies import is_pandas_dataframe, is_pandas_index, is_pandas_series

from balframe.errors import UnsupportedTypeError
from balframe.frames.adapter import Adapter, Frame, Name, unsortable_type_error
from balframe.frames.by_entries import entry_column, entry_name
from balframe.frames.engines.arrow import (
    ArrowStream,
    can_hold,
    check_polars_types,
    from_arrow,
    polars_schema,
)
from balframe.frames.engines.column_names import Rows, check_columns, quoted
from balframe.frames.engines.error_translation import translate_errors
from balframe.frames.engines.locks import engine_lock
from balframe.frames.engines.registry import (
    DASK,
    DUCKDB,
    IBIS,
    PANDAS,
    PYARROW,
    PYARROW_STREAM,
    PYSPARK,
    SQLFRAME,
    STREAMS,
    Engine,
    advice_for,
    check_distinct,
    find_engine,
    unexported_type_error,
    unsupported_frame_error,
)
from balframe.frames.lazy_pandas import pandas, pandas_encoding
from balframe.frames.query import check_names, name_list

if TYPE_CHECKING:
    import pandas as pd
    import pyarrow as pa
    from narwhals.dtypes import DType as NarwhalsDType


# Types of DuckDB that Arrow gets as bytes, or out of range, and what they are cast to instead.
_CASTS = {"JSON": "VARCHAR", "UUID": "VARCHAR", "TIMESTAMP_S": "TIMESTAMP"}
_COUNTED = (  # types that narwhals does not know
    *("NULL", '"NULL"', "null", "NullType", "DayTimeInterval", "TIME_NS", "TimeType"),
    "TIMESTAMPTZ_NS",
)


@dataclass(frozen=True, slots=True)
class InputFrame:
    """A frame that a caller gives, out of its wrapper and ready to be read.

    `schema` has the same columns in the library of the adapter, without rows; a frame of pandas or
    polars is its own schema. `rewrap` puts a result into the wrapper of the frame.
    """

    native: Any
    engine: Engine
    schema: Frame
    rewrap: Callable[[Any], Any]

    @classmethod
    def open(cls, frame: object) -> "InputFrame":
        """Unwrap a frame and read its schema; raise if it is not a frame."""
        native, rewrap = unwrap(frame)
        engine = find_engine(native)
        native = _open(native, engine)
        return cls(native, engine, _schema_frame(native, engine), rewrap)

    @property
    def adapter(self) -> Adapter:
        """The adapter that counts the cells of the frame."""
        return self.engine.adapter

    @property
    def column_names(self) -> list[Name]:
        """The names of the columns."""
        return self.adapter.column_names(self.schema)

    def dictionary_texts(self, columns: Iterable[Name]) -> frozenset[str]:
        """Return the texts of dictionaries of Arrow, of which polars keeps those that occur."""
        if self.engine is not PYARROW:
            return frozenset()
        chunks = (chunk for name in columns for chunk in self.native.column(name).chunks)
        dictionaries = (chunk.dictionary for chunk in chunks if hasattr(chunk, "dictionary"))
        texts = (text for values in dictionaries for text in values.to_pylist())
        return frozenset(text for text in texts if isinstance(text, str))

    def names(self, columns: Any) -> list[Any]:  # noqa: ANN401 (names, or a selector)
        """Return one name, several or those of a selector as a list; None as an empty one.

        Computed by-columns have the names of their columns in the result.
        """
        return list(map(entry_name, self.entries(columns)))

    def entries(self, columns: Any) -> list[Any]:  # noqa: ANN401 (names, or a selector)
        """Return names as a list, and with them by-columns that are computed."""
        entries = name_list(self.adapter.expand_selector(self.schema, columns))
        check_names(self.adapter, list(map(entry_column, entries)))
        return entries

    @property
    def lazy_rows(self) -> Rows:
        """The rows of a lazy frame, as a frame of narwhals, without columns that have no type."""
        native = self.native
        if isinstance(native, pl.LazyFrame):
            schema = native.collect_schema()
            unknown = [name for name, dtype in schema.items() if not can_hold(dtype)]
            native = native.drop(unknown) if unknown else native
        if self.engine is IBIS and _interval_columns(native):
            native = native.drop(*_interval_columns(native))
        rows: Rows = nw.from_native(native)
        return rows

    @property
    def arrow_schema(self) -> "pa.Schema | None":
        """The schema of an Arrow table or stream; None for other frames."""
        is_arrow = self.engine is PYARROW or isinstance(self.native, ArrowStream)
        return self.native.schema if is_arrow else None

    def check_types(self, columns: Sequence[Name]) -> None:
        """Raise if the library of the frame can hold or name the type of a column, but no more."""
        if self.engine in (PANDAS, DASK):
            pandas_encoding.check_arrow_types(cast("pd.DataFrame", self.schema), columns)
        if self.arrow_schema is not None:
            check_polars_types(map(self.arrow_schema.field, cast(Sequence[str], columns)))
        if self.engine is IBIS:
            with engine_lock(self.native), translate_errors(self.native):
                intervals = _interval_columns(self.native)
            for name in columns:
                if name in intervals:
                    raise unexported_type_error("Ibis", name, intervals[name])
        if self.engine in (DUCKDB, IBIS, PYSPARK, SQLFRAME):
            self._check_known(columns)
        if isinstance(self.native, pl.LazyFrame):
            schema = self.native.collect_schema()
            for name in columns:
                dtype = schema[cast(str, name)]
                if not can_hold(dtype):
                    raise UnsupportedTypeError(
                        f"column {name!r} has the type {dtype}, which polars cannot compute with. "
                        "Cast it where the data are written."
                    )

    def _check_known(self, columns: Sequence[Name]) -> None:
        """Raise for types of databases that have no counterpart, whose storage would be counted."""
        with engine_lock(self.native), translate_errors(self.native):
            schema = self.lazy_rows.collect_schema()
            for name in columns:
                dtype = schema.get(str(name))
                own_type = _own_type(self.native, name) if dtype == nw.Unknown else ""
                if own_type and not own_type.startswith(_COUNTED):
                    raise unsortable_type_error(name, own_type)

    def eager_rows(self, columns: Iterable[Name]) -> Frame:
        """Return the rows of an eager frame or a stream in the adapter's library, of columns."""
        if isinstance(self.native, ArrowStream):
            return self.native.table(cast(Sequence[str], columns))
        if self.engine is PYARROW:
            return from_arrow(self.native.select(list(columns)))
        if self.engine is PANDAS:
            return pandas_encoding.decode_dictionaries(self.native, columns)
        return cast(Frame, self.native)


def unwrap(frame: Any) -> tuple[Any, Callable[[Any], Any]]:  # noqa: ANN401
    """Return the frame that narwhals wraps, and a function that wraps a result likewise."""
    native = nw.to_native(frame, pass_through=True)
    if native is frame:
        return frame, lambda result: result
    namespace = sys.modules[type(frame).__module__]  # it may be of a stable version of narwhals
    return native, getattr(namespace, "from_native", nw.from_native)


def materialize(frame: Any) -> Any:  # noqa: ANN401
    """Read the rows of a stream, which can be read only once, into a table."""
    native, _ = unwrap(frame)
    engine = find_engine(native)
    if engine not in STREAMS or hasattr(native, "scanner") or hasattr(native, "features"):
        return frame
    stream = ArrowStream.open(native)
    table = stream.table(stream.schema.names)
    return table.to_arrow() if engine is PYARROW_STREAM else table


def read_streams(frame: Any) -> Any:  # noqa: ANN401
    """Read the rows of streams and datasets, which narwhals does not take, into an Arrow table."""
    native, _ = unwrap(frame)
    if find_engine(native) not in STREAMS:
        return frame
    stream = ArrowStream.open(native)
    return stream.table(stream.schema.names).to_arrow()


def check_not_arrays(function: str, arguments: Mapping[str, Any], roles: Sequence[str]) -> None:
    """Raise if a caller gives arrays, as to scikit-learn, in place of a frame.

    `roles` are the parameter of the frame and those of its columns.
    """
    frame, *columns = roles
    first_column = next((arguments[role] for role in columns if role in arguments), None)
    if not _is_array(arguments.get(frame, first_column)):
        return
    if frame in arguments and advice_for(arguments[frame]) is not None:
        raise unsupported_frame_error(arguments[frame])
    values = [nw.to_native(arguments.get(role), pass_through=True) for role in roles]
    is_pandas = any(is_pandas_series(value) or is_pandas_index(value) for value in values)
    data = ", ".join(f'"{role}": {role}' for role in columns)
    names = ", ".join(f'"{role}"' for role in columns)
    raise UnsupportedTypeError(
        f"{function} takes a frame and the names of its columns, not arrays. Make a frame from the "
        "arrays: "
        f"{function}({'pd' if is_pandas else 'pl'}.DataFrame({{{data}}}), {names})."
    )


def _is_array(value: object) -> bool:
    """Return whether values have no columns with names."""
    kind = type(value)  # attributes of a lazy frame itself might compute it
    has_columns = hasattr(kind, "columns") or hasattr(kind, "schema")
    is_column = hasattr(kind, "dtype") or hasattr(kind, "to_pylist")
    return isinstance(value, list) or (is_column and not has_columns)


def _open(native: Any, engine: Engine) -> Any:  # noqa: ANN401
    """Begin to read a stream; have engines decode or cast what they would export as its storage."""
    if engine in STREAMS:
        return ArrowStream.open(native)
    if engine is DUCKDB:
        with translate_errors(native):
            dtypes = [*zip(native.columns, map(str, native.types), strict=True)]
        if len(dict(dtypes)) < len(dtypes):
            return native
        casts = [
            f"CAST({quoted(name)} AS {_CASTS[dtype]}) AS {quoted(name)}"
            for name, dtype in dtypes
            if dtype in _CASTS
        ]
        return native.project(f"* REPLACE ({', '.join(casts)})") if casts else native
    if engine is IBIS:
        kinds = {
            name: "string" if dtype.is_uuid() else "timestamp"
            for name, dtype in native.schema().items()
            if dtype.is_uuid()
            or (dtype.is_timestamp() and dtype.timezone is None and dtype.scale == 0)
        }
        return (
            native.mutate(**{n: native[n].cast(k) for n, k in kinds.items()}) if kinds else native
        )
    if engine is not DASK:
        return native
    with engine_lock(native):
        names = pandas_encoding.dictionary_columns(native._meta)
        decode = pandas_encoding.decode_dictionaries
        return native.map_partitions(decode, names) if names else native


def _schema_frame(native: Any, engine: Engine) -> Frame:  # noqa: ANN401
    """Return a frame of the same columns in the library of the adapter, without reading rows."""
    if isinstance(native, pl.DataFrame) or is_pandas_dataframe(native):
        return native
    if isinstance(native, pl.LazyFrame):
        with translate_errors(native):
            return _without_rows(native.collect_schema())
    if engine is DASK:
        with engine_lock(native):
            check_distinct(list(native._meta.columns))
            return _with_unknown_types(native._meta)
    if engine is PYARROW or engine in STREAMS:
        check_distinct(native.schema.names)
        return polars_schema(native.schema).to_frame()
    with engine_lock(native), translate_errors(native):
        names = native.columns
        if engine is SQLFRAME:
            check_columns(native)
        check_distinct(names)
        intervals = _interval_columns(native) if engine is IBIS else {}
        read = native.drop(*intervals) if intervals else native
        dtypes = nw.from_native(read).collect_schema().dtypes()  # SQLFrame quotes some names
    read_names = [name for name in names if name not in intervals]
    types = dict(zip(read_names, map(polars_dtype, dtypes), strict=True))
    return pl.DataFrame(schema={name: types.get(name, pl.Null) for name in names})


def _own_type(native: Any, name: Name) -> str:  # noqa: ANN401
    """Return the type of a column as its database names it."""
    if hasattr(native, "types"):
        return str(native.types[native.columns.index(name)])
    schema = native.schema() if callable(native.schema) else native.schema
    return str(getattr(schema[name], "dataType", schema[name]))


def _interval_columns(native: Any) -> "dict[Name, object]":  # noqa: ANN401
    """Return the columns of durations of Ibis, whose values it cannot export, with their types."""
    return {name: dtype for name, dtype in native.schema().items() if dtype.is_interval()}


def _without_rows(schema: pl.Schema) -> pl.DataFrame:
    """Return a frame without rows; Null for types that polars reads of files, but cannot hold."""
    return pl.DataFrame(
        schema={name: dtype if can_hold(dtype) else pl.Null for name, dtype in schema.items()}
    )


def polars_dtype(dtype: "NarwhalsDType") -> pl.DataType | type[pl.DataType]:
    """Return the type of polars; Null if there is none, so that the type depends on the values."""
    if dtype == nw.Decimal:  # of whose digits narwhals 2.0 knows nothing
        return pl.Decimal(38, 9)
    try:
        polars_type = nw.Schema({"column": dtype}).to_polars()["column"]
    except (NotImplementedError, TypeError, ValueError):
        return pl.Null
    is_known = polars_type not in (pl.Unknown, pl.Object) and can_hold(polars_type)
    return polars_type if is_known else pl.Null


def _with_unknown_types(frame: "pd.DataFrame") -> "pd.DataFrame":
    """Return objects in place of texts, and of categories that Dask does not know yet.

    Dask converts all objects to texts, so a column of texts may hold anything.
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
