"""Arrow: tables, and record batches that come one after the other."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, cast
from weakref import WeakSet

import polars as pl

from balframe.errors import InvalidInputError
from balframe.frames.engines.supported import not_read

if TYPE_CHECKING:
    import pyarrow as pa

_ROWS = 1 << 20  # of a piece; batches may be of a few thousand
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
            raise _unreadable(source, error) from error
        return cls(source, reader.schema, lambda names: reader)

    def tables(self, columns: Sequence[str]) -> Iterator[pl.DataFrame]:
        """Read some columns, many rows at a time and at least one table without rows."""
        import pyarrow as pa

        names = list(columns)
        held, n_rows = [self.schema.empty_table().select(names)], 0
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
        raise OSError("it has been read")
    reader = pa.RecordBatchReader.from_stream(source)
    if is_reader:
        _read.add(source)
    return reader


def _unreadable(source: object, reason: object) -> InvalidInputError:
    kind = f"{type(source).__module__}.{type(source).__qualname__}"
    first_line = str(reason).strip().partition("\n")[0].rstrip(".")
    return InvalidInputError(
        f"the rows of the {kind} cannot be read: {first_line}. A stream or reader gives its rows "
        "once: make a new one for every call, or hold the rows in a table."
    )


def from_arrow(table: "pa.Table") -> pl.DataFrame:
    """Read a table of Arrow under its own names; polars makes up one for an empty name."""
    numbered = table.rename_columns([str(i) for i in range(table.num_columns)])
    return cast(pl.DataFrame, pl.from_arrow(numbered)).rename(
        dict(zip(numbered.column_names, table.column_names, strict=True))
    )
