"""Arrow: tables, and record batches that come one after the other."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, cast
from weakref import WeakSet

import polars as pl

from balframe.errors import InvalidInputError, UnsupportedTypeError, first_line, listed
from balframe.frames.engines.registry import not_read

if TYPE_CHECKING:
    import pyarrow as pa

_ROWS = 1 << 20  # of a piece; batches may be of a few thousand
_ONCE = (
    "a stream or reader can be read only once: make a new one for every call, or read the rows "
    "into a table"
)
_read: WeakSet[Any] = WeakSet()  # readers, which do not say that they have none left


@dataclass(frozen=True, slots=True)
class Pieces:
    """Record batches of Arrow: `reader` gives them, of these columns only if it can choose.

    `source` is what the caller gave.
    """

    source: object
    schema: "pa.Schema"
    reader: "Callable[[list[str]], pa.RecordBatchReader]"

    @classmethod
    def of(cls, source: Any) -> "Pieces":  # noqa: ANN401
        """Ask for the schema, and begin a stream only where that is the way to it."""
        import pyarrow as pa

        if not hasattr(source, "__arrow_c_stream__"):  # a dataset of pyarrow
            return cls(source, source.schema, lambda names: source.scanner(names).to_reader())
        try:
            for known in (source, getattr(source, "schema", None)):
                if hasattr(known, "__arrow_c_schema__"):
                    return cls(source, pa.schema(known), lambda names: _begun(source))
            reader = _begun(source)
        except pa.ArrowInvalid as error:  # it is a column
            raise not_read(type(source)) from error
        except (OSError, RuntimeError) as error:
            raise _unreadable(source, _once(error)) from error
        return cls(source, reader.schema, lambda names: reader)

    def tables(self, columns: Sequence[str]) -> Iterator[pl.DataFrame]:
        """Read some columns, many rows at a time and at least one table without rows."""
        import pyarrow as pa

        names = list(columns)
        schema = pa.schema([self.schema.field(name) for name in names])
        held, n_rows = [pa.Table.from_batches([], schema)], 0
        try:
            for batch in self.reader(names):
                held.append(pa.Table.from_batches([batch]).select(names))
                n_rows += batch.num_rows
                if n_rows >= _ROWS:
                    yield from_arrow(pa.concat_tables(held))
                    held, n_rows = held[:1], 0
        except (OSError, RuntimeError, pa.ArrowException) as error:
            raise _unreadable(self.source, error) from error
        yield from_arrow(pa.concat_tables(held))

    def table(self, columns: Sequence[str]) -> pl.DataFrame:
        """Hold some columns of all rows in memory."""
        return pl.concat(self.tables(columns))


def _begun(source: Any) -> "pa.RecordBatchReader":  # noqa: ANN401
    """Begin a stream, which gives its rows once."""
    import pyarrow as pa

    is_reader = isinstance(source, pa.RecordBatchReader)
    if is_reader and source in _read:
        raise _once(OSError("it has been read already"))
    try:
        reader = pa.RecordBatchReader.from_stream(source)
    except (OSError, RuntimeError) as error:
        raise _once(error) from error
    if is_reader:
        _read.add(source)
    return reader


def _once(error: Exception) -> Exception:
    """Say beside the reason what a stream is like."""
    return error if _ONCE in str(error) else OSError(f"{_reason(error)}; {_ONCE}")


def _unreadable(source: object, reason: Exception) -> InvalidInputError:
    kind = f"{type(source).__module__}.{type(source).__qualname__}"
    files: list[str] = getattr(source, "files", [])
    among = f" Its files are {listed(map(repr, files), 3)}; read each alone." if files else ""
    return InvalidInputError(f"the rows of the {kind} cannot be read: {_reason(reason)}.{among}")


def _reason(error: Exception) -> str:
    return first_line(first_line(error).partition(" Detail:")[0])


def polars_schema(schema: "pa.Schema") -> pl.Schema:
    """Find the types of polars; Null where there is none, for only columns in use matter."""
    import pyarrow as pa

    try:
        return from_arrow(pa.Table.from_batches([], schema)).schema
    except UnsupportedTypeError:
        if len(schema) == 1:
            return pl.Schema({schema.names[0]: pl.Null()})
    each = (polars_schema(pa.schema([field])) for field in schema)
    return pl.Schema({name: dtype for one in each for name, dtype in one.items()})


def from_arrow(table: "pa.Table") -> pl.DataFrame:
    """Read a table of Arrow under its own names; polars makes up one for an empty name."""
    import pyarrow as pa

    for field in table.schema:
        if pa.types.is_interval(field.type) or pa.types.is_union(field.type):  # a panic of polars
            raise _lacks([field], "it does not have this type")
    numbered = table.rename_columns([str(i) for i in range(table.num_columns)])
    try:
        read = cast(pl.DataFrame, pl.from_arrow(numbered))
    except (pa.ArrowException, pl.exceptions.PolarsError) as error:
        raise _lacks(list(table.schema), _reason(error)) from error
    return read.rename(dict(zip(numbered.column_names, table.column_names, strict=True)))


def _lacks(fields: "Sequence[pa.Field]", reason: str) -> UnsupportedTypeError:
    named = listed(f"column {field.name!r} of type {field.type}" for field in fields)
    return UnsupportedTypeError(f"polars cannot read {named}: {reason}. Cast it first.")
