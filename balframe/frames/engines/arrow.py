"""Arrow: tables, and streams of record batches."""

import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Any, cast
from weakref import WeakSet

import polars as pl

from balframe.errors import InvalidInputError, UnsupportedTypeError, first_line, listed
from balframe.frames.engines.registry import check_installed, unsupported_frame_error
from balframe.frames.lazy_pandas import pandas

if TYPE_CHECKING:
    import pyarrow as pa

_POLARS_ERRORS = (pl.exceptions.PolarsError, pl.exceptions.PanicException)
_HEX = pl.col("storage").bin.encode("hex")
_EXTENSIONS: dict[
    str, pl.Expr
] = {  # types whose values are read, as an expression of their storage
    "arrow.bool8": pl.col("storage") != 0,
    "arrow.json": pl.col("storage"),
    "arrow.uuid": pl.concat_str(
        [
            _HEX.str.slice(start, length)
            for start, length in ((0, 8), (8, 4), (12, 4), (16, 4), (20, 12))
        ],
        separator="-",
    ),
    "pandas.interval": pl.col("storage"),  # these become texts in the order of the values
    "pandas.period": pl.col("storage"),
}
_ROWS_PER_TABLE = 1 << 20  # at least; batches may have only a few thousand
_ONCE_ADVICE = (
    "a stream or reader can be read only once: make a new one for every call, or read the rows "
    "into a table"
)
_started_readers: WeakSet[Any] = WeakSet()  # readers do not report that they are exhausted


@dataclass(frozen=True, slots=True)
class ArrowStream:
    """Record batches of Arrow from the frame `source`.

    `reader` begins to read them, with only the named columns if the source can select columns.
    """

    source: object
    schema: "pa.Schema"
    reader: "Callable[[list[str]], pa.RecordBatchReader]"

    @classmethod
    def open(cls, source: Any) -> "ArrowStream":  # noqa: ANN401
        """Read the schema, and begin the stream only if the schema needs it."""
        import pyarrow as pa

        if not hasattr(source, "__arrow_c_stream__"):
            return cls(source, *_open_dataset(source))
        try:
            for schema in (source, getattr(source, "schema", None)):
                if hasattr(schema, "__arrow_c_schema__"):
                    return cls(source, pa.schema(schema), lambda names: _begin_stream(source))
            reader = _begin_stream(source)
        except pa.ArrowInvalid as error:  # it is a column
            raise unsupported_frame_error(source) from error
        except (OSError, RuntimeError) as error:
            raise _unreadable_error(source, _with_once_advice(error)) from error
        return cls(source, reader.schema, lambda names: reader)

    def tables(self, columns: Sequence[str]) -> Iterator[pl.DataFrame]:
        """Read some columns, many rows at a time; yield at least one table, maybe without rows."""
        import pyarrow as pa

        names = list(columns)
        schema = pa.schema([self.schema.field(name) for name in names])
        has_texts = any(is_of_pandas(f) or _is_ordered(f) for f in schema)  # the order of all
        batches, n_rows = [pa.Table.from_batches([], schema)], 0
        try:
            for batch in self.reader(names):
                batches.append(pa.Table.from_batches([batch]).select(names))
                n_rows += batch.num_rows
                if n_rows >= _ROWS_PER_TABLE and not has_texts:
                    yield from_arrow(pa.concat_tables(batches))
                    batches, n_rows = batches[:1], 0
        except (OSError, RuntimeError, pa.ArrowException) as error:
            is_used_up = "already scanned" in str(error)  # the scanner of a reader
            reason = _with_once_advice(error) if is_used_up else error
            raise _unreadable_error(self.source, reason) from error
        yield from_arrow(pa.concat_tables(batches))

    def table(self, columns: Sequence[str]) -> pl.DataFrame:
        """Read some columns of all rows into memory."""
        return pl.concat(self.tables(columns))


def _open_dataset(
    source: Any,  # noqa: ANN401
) -> "tuple[pa.Schema, Callable[[list[str]], pa.RecordBatchReader]]":
    """Return the schema and the reader of a dataset or a scanner of pyarrow, or of Hugging Face."""
    import pyarrow as pa

    if hasattr(source, "projected_schema"):
        return source.projected_schema, lambda names: source.to_reader()
    if hasattr(source, "scanner"):
        return source.schema, lambda names: source.scanner(columns=names).to_reader()
    schema = source.features.arrow_schema

    def select(names: list[str]) -> pa.RecordBatchReader:
        tables = source.select_columns(names).with_format("arrow").iter(_ROWS_PER_TABLE)
        batches = (batch for table in tables for batch in table.to_batches())
        return pa.RecordBatchReader.from_batches(pa.schema(map(schema.field, names)), batches)

    return schema, select


def _begin_stream(source: Any) -> "pa.RecordBatchReader":  # noqa: ANN401
    """Begin to read a stream; raise if it has been read already."""
    import pyarrow as pa

    is_reader = isinstance(source, pa.RecordBatchReader)
    if is_reader and source in _started_readers:
        raise _with_once_advice(OSError("it has been read already"))
    try:
        reader = pa.RecordBatchReader.from_stream(source)
    except (OSError, RuntimeError) as error:
        raise _with_once_advice(error) from error
    if is_reader:
        _started_readers.add(source)
    return reader


def _with_once_advice(error: Exception) -> Exception:
    """Return the error with the advice that a stream can be read only once."""
    return error if _ONCE_ADVICE in str(error) else OSError(f"{_reason(error)}; {_ONCE_ADVICE}")


def _unreadable_error(source: object, reason: Exception) -> InvalidInputError:
    kind = f"{type(source).__module__}.{type(source).__qualname__}"
    files: list[str] = getattr(source, "files", [])
    advice = f" Its files are {listed(map(repr, files), 3)}; read each alone." if files else ""
    return InvalidInputError(f"the rows of the {kind} cannot be read: {_reason(reason)}.{advice}")


def _reason(error: Exception) -> str:
    return first_line(first_line(error).partition(" Detail:")[0])


def polars_schema(schema: "pa.Schema") -> pl.Schema:
    """Return the types of polars; Null if there is none, because only columns in use matter."""
    import pyarrow as pa

    try:
        return from_arrow(pa.Table.from_batches([], schema)).schema
    except UnsupportedTypeError:
        if len(schema) == 1:
            return pl.Schema({schema.names[0]: pl.Null()})
    schemas = (polars_schema(pa.schema([field])) for field in schema)
    return pl.Schema({name: dtype for part in schemas for name, dtype in part.items()})


def from_arrow(table: "pa.Table") -> pl.DataFrame:
    """Convert a table of Arrow and keep its names; polars would replace an empty name."""
    import pyarrow as pa

    check_polars_types(table.schema)
    numbered = table.rename_columns([str(i) for i in range(table.num_columns)])
    converted = [i for i, f in enumerate(table.schema) if is_extension(f) or _is_ordered(f)]
    if any(map(is_of_pandas, table.schema)):
        check_installed("pandas", "pandas", "periods and intervals of pandas")
    try:
        columns = {str(i): _from_extension(numbered.select([i])) for i in converted}
        for i, field in enumerate(table.schema):
            if i in converted:
                numbered = numbered.set_column(i, str(i), pa.nulls(table.num_rows))
            elif getattr(field.type, "unit", None) == "s" and not pa.types.is_time(field.type):
                finer = table.column(i).cast(_in_milliseconds(field.type))  # polars may overflow
                numbered = numbered.set_column(i, str(i), finer)
        frame = cast(pl.DataFrame, pl.from_arrow(numbered)).with_columns(**columns)
    except (pa.ArrowException, *_POLARS_ERRORS) as error:
        if table.num_columns > 1:
            for i in range(table.num_columns):
                from_arrow(table.select([i]))  # raises for the column that polars cannot read
        raise _unreadable_columns_error(list(table.schema), _reason(error)) from error
    for values, field, column in zip(frame, table.schema, table.columns, strict=True):
        may_have_more = pa.types.is_dictionary(field.type)  # whose values may be null too
        if not may_have_more and values.null_count() > column.null_count:
            raise lost_values_error(field.name, "Arrow")
    return frame.rename(dict(zip(numbered.column_names, table.column_names, strict=True)))


def check_polars_types(schema: "Iterable[pa.Field]") -> None:
    """Raise for a column of a type that polars lacks."""
    for field in schema:
        if not has_polars_type(field):
            raise _unreadable_columns_error([field], "it does not have this type")


def lost_values_error(name: object, source: str) -> InvalidInputError:
    """Return the error for values of a column that are null once polars has them."""
    return InvalidInputError(
        f"column {name!r} has values that become null on the way from {source} to polars, such as "
        "the time of day 24:00:00. Cast it to text, or replace these values."
    )


def _in_milliseconds(dtype: Any) -> "pa.DataType":  # noqa: ANN401 (of times or durations)
    import pyarrow as pa

    is_timestamp = pa.types.is_timestamp(dtype)
    return pa.timestamp("ms", dtype.tz) if is_timestamp else pa.duration("ms")


def extension_name(field: "pa.Field") -> str:
    """Return the name of the extension type of a column; empty for a type of Arrow itself.

    Where the type is not registered, the column has that of its storage, and the name beside it.
    """
    import pyarrow as pa

    dtype = field.type.value_type if pa.types.is_dictionary(field.type) else field.type
    metadata = field.metadata or {}
    is_registered = isinstance(dtype, pa.BaseExtensionType)
    name = b"" if is_registered else metadata.get(b"ARROW:extension:name", b"")
    return str(dtype.extension_name) if is_registered else name.decode(errors="replace")


def type_text(field: "pa.Field") -> str:
    """Return the type of a column, with the name of an extension that is not registered."""
    name = extension_name(field)
    return str(field.type) if name in str(field.type) else f"extension<{name}>"


def is_extension(field: "pa.Field") -> bool:
    """Return whether a column is stored in another way than its values are shown."""
    return extension_name(field) != ""


def is_of_pandas(field: "pa.Field") -> bool:
    """Return whether a column holds periods or intervals of pandas, stored as numbers."""
    return extension_name(field).startswith("pandas.")


def _from_extension(table: "pa.Table") -> pl.Series:
    """Return the values of an extension type, or of an ordered dictionary, in a table of one."""
    if is_of_pandas(table.schema.field(0)):
        return _texts_of_pandas(table)
    if _is_ordered(table.schema.field(0)):
        return _ordered_texts(table.column(0))
    import pyarrow as pa

    (column,) = table.columns
    chunks: list[Any] = column.chunks or [pa.array([], column.type)]
    if pa.types.is_dictionary(column.type):
        chunks = [chunk.dictionary.take(chunk.indices) for chunk in chunks]
    storage = pa.chunked_array([getattr(chunk, "storage", chunk) for chunk in chunks])
    rows = cast(pl.DataFrame, pl.from_arrow(pa.table({"storage": storage})))
    return rows.select(_EXTENSIONS[extension_name(table.schema.field(0))]).to_series()


def _is_ordered(field: "pa.Field") -> bool:
    """Return whether a column is a dictionary of texts whose order has a meaning."""
    import pyarrow as pa

    kind = field.type
    is_ordered = pa.types.is_dictionary(kind) and kind.ordered
    is_of_polars = any(key.startswith(b"_PL_ENUM") for key in field.metadata or {})
    return is_ordered and not is_of_polars and "string" in str(kind.value_type)


def _ordered_texts(column: "pa.ChunkedArray") -> pl.Series:
    """Return the texts of an ordered dictionary as an Enum; parts may begin with the same texts."""
    import pyarrow as pa

    chunks = column.unify_dictionaries().chunks
    texts: list[str] = chunks[0].dictionary.to_pylist() if chunks else []
    values = cast(pl.Series, pl.from_arrow(column.cast(pa.string())))
    return values.cast(pl.Enum(texts))


def _texts_of_pandas(table: "pa.Table") -> pl.Series:
    """Return the texts of periods or intervals in a table of one column, in their order.

    Their types are not registered with Arrow, as pandas 3.1 could then not open files of bands.
    """
    import pyarrow as pa

    column, field = table.column(0), table.schema.field(0)
    indices = None
    if pa.types.is_dictionary(column.type):
        chunk = column.combine_chunks() if column.num_chunks != 1 else column.chunk(0)
        column, indices = chunk.dictionary, chunk.indices
    kind: Any = column.type
    if isinstance(kind, pa.BaseExtensionType):
        dtype = kind.to_pandas_dtype()
    else:
        options = json.loads((field.metadata or {})[b"ARROW:extension:metadata"])
        dtype = (
            pandas.PeriodDtype(options["freq"])
            if "freq" in options
            else pandas.IntervalDtype(kind.field("left").type.to_pandas_dtype(), options["closed"])
        )
    values: Any = dtype.__from_arrow__(column)
    if indices is not None:
        codes = indices.fill_null(-1).to_numpy(zero_copy_only=False)
        values = pandas.Categorical.from_codes(codes, values)
    codes, levels = pandas.factorize(values, sort=True)
    texts = [str(level) for level in pandas.Series(levels).tolist()]
    is_null = pl.Series(codes < 0)
    positions = pl.Series(codes).set(is_null, None)
    return pl.Series(texts, dtype=pl.Enum(texts)).gather(positions)


def has_polars_type(field: "pa.Field") -> bool:
    """Return whether polars has the values of a column; of most that it lacks, it would panic."""
    name = extension_name(field)
    return name in _EXTENSIONS if name else _has_storage(field.type)


def _has_storage(dtype: "pa.DataType") -> bool:
    import pyarrow as pa

    types = pa.types
    if isinstance(dtype, pa.BaseExtensionType):
        return _has_storage(dtype.storage_type)
    if types.is_dictionary(dtype):
        return _has_storage(dtype.value_type)
    if types.is_timestamp(dtype) and dtype.tz is not None:
        return can_hold(pl.Datetime("us", dtype.tz))
    lacks = (types.is_interval, types.is_union, types.is_run_end_encoded, types.is_decimal256)
    if any(is_lacking(dtype) for is_lacking in lacks) or "list_view" in str(dtype):
        return False
    parts = [dtype.field(i).type for i in range(dtype.num_fields)]
    return all(map(_has_storage, parts))


@lru_cache(4096)
def can_hold(dtype: pl.DataType | type[pl.DataType]) -> bool:
    """Return whether polars has columns of a type, with its precision or time zone."""
    try:
        values = pl.Series([], dtype=dtype)
        if isinstance(dtype, pl.Datetime):
            values.dt.replace_time_zone(None)  # which an option of polars does not validate before
    except (TypeError, ValueError, *_POLARS_ERRORS):
        return False
    return True


def _unreadable_columns_error(fields: "Sequence[pa.Field]", reason: str) -> UnsupportedTypeError:
    named = listed(f"column {field.name!r} of type {type_text(field)}" for field in fields)
    return UnsupportedTypeError(f"polars cannot read {named}: {reason}. Cast it first.")
