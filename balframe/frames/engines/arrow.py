"""Arrow: tables, and streams of record batches."""

from collections.abc import Callable, Iterator, Sequence
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
        has_texts = any(map(is_of_pandas, schema))  # in the order of all values
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

    for field in table.schema:
        if not has_polars_type(field.type):
            raise _unreadable_columns_error([field], "it does not have this type")
    numbered = table.rename_columns([str(i) for i in range(table.num_columns)])
    of_pandas = [i for i, field in enumerate(table.schema) if is_of_pandas(field)]
    if of_pandas:
        check_installed("pandas", "pandas", "periods and intervals of pandas")
    try:
        texts = {str(i): _texts_of_pandas(numbered.select([i])) for i in of_pandas}
        for i in of_pandas:
            numbered = numbered.set_column(i, str(i), pa.nulls(table.num_rows))
        frame = cast(pl.DataFrame, pl.from_arrow(numbered)).with_columns(**texts)
    except (pa.ArrowException, *_POLARS_ERRORS) as error:
        if table.num_columns > 1:
            for i in range(table.num_columns):
                from_arrow(table.select([i]))  # raises for the column that polars cannot read
        raise _unreadable_columns_error(list(table.schema), _reason(error)) from error
    return frame.rename(dict(zip(numbered.column_names, table.column_names, strict=True)))


def is_of_pandas(field: "pa.Field") -> bool:
    """Return whether a column holds periods or intervals of pandas, stored as numbers."""
    name = (field.metadata or {}).get(b"ARROW:extension:name", b"")
    return name.startswith(b"pandas.") or "extension<pandas." in str(field.type)


def _texts_of_pandas(table: "pa.Table") -> pl.Series:
    """Return the texts of periods or intervals in a table of one column, in their order."""
    import pyarrow as pa

    pa.array(pandas.PeriodIndex([], freq="M"))  # registers the types of pandas with Arrow
    (column,) = pa.RecordBatchReader.from_stream(table).read_all().columns
    if pa.types.is_dictionary(column.type):
        chunk = column.combine_chunks() if column.num_chunks != 1 else column.chunk(0)
        codes = chunk.indices.fill_null(-1).to_numpy(zero_copy_only=False)
        values: Any = pandas.Categorical.from_codes(codes, chunk.dictionary.to_pandas())
    else:
        values = column.to_pandas()
    codes, levels = pandas.factorize(values, sort=True)
    texts = [str(level) for level in pandas.Series(levels).tolist()]
    is_null = pl.Series(codes < 0)
    positions = pl.Series(codes).set(is_null, None)
    return pl.Series(texts, dtype=pl.Enum(texts)).gather(positions)


def has_polars_type(dtype: "pa.DataType") -> bool:
    """Return whether polars has a type; of most that it lacks, it would panic, or fail later."""
    import pyarrow as pa

    types = pa.types
    if isinstance(dtype, pa.BaseExtensionType):
        return has_polars_type(dtype.storage_type)
    if types.is_dictionary(dtype):
        return has_polars_type(dtype.value_type)
    if types.is_timestamp(dtype) and dtype.tz is not None:
        return can_hold(pl.Datetime("us", dtype.tz))
    lacks = (types.is_interval, types.is_union, types.is_run_end_encoded, types.is_decimal256)
    if any(is_lacking(dtype) for is_lacking in lacks) or "list_view" in str(dtype):
        return False
    parts = [dtype.field(i).type for i in range(dtype.num_fields)]
    return all(map(has_polars_type, parts))


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
    named = listed(f"column {field.name!r} of type {field.type}" for field in fields)
    return UnsupportedTypeError(f"polars cannot read {named}: {reason}. Cast it first.")
