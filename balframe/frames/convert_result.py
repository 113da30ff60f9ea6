"""Results, returned in the library of the frame or in the one that the caller names."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, cast

import narwhals as nw
import numpy as np
import polars as pl
from narwhals.dependencies import is_pandas_dataframe

from balframe.core.array_types import FloatArray, Int64Array
from balframe.errors import UnsupportedTypeError, check_choice, not_found, parameter
from balframe.frames.adapter import Adapter, Frame, Name
from balframe.frames.engines.arrow import Pieces, polars_schema
from balframe.frames.engines.inputs import unwrapped
from balframe.frames.engines.registry import (
    PYARROW,
    Engine,
    check_installed,
    engine_of,
    in_pandas,
    in_polars,
)
from balframe.frames.lazy_pandas import pandas

if TYPE_CHECKING:
    import pandas as pd
    import pyarrow as pa
    from pandas.api.extensions import ExtensionArray

BACKENDS = ("pandas", "polars", "pyarrow")


def library_named(backend: object) -> Adapter:
    """Find the room for a library named by the caller."""
    check_choice("backend", backend, ("polars", "pandas"))
    return in_polars if backend == "polars" else in_pandas


def deliver(answer: Frame, backend: str, frame: object, engine: Engine) -> Any:  # noqa: ANN401 (of the caller's kind)
    """Convert an answer of pandas or polars; columns of a table of Arrow keep their type."""
    if backend == ("polars" if isinstance(answer, pl.DataFrame) else "pandas"):
        return answer
    check_installed("pyarrow", "arrow", f"results converted to {backend}")
    try:
        if backend == "pandas":
            return _to_pandas(cast(pl.DataFrame, answer))
        if backend == "polars":
            return pl.from_pandas(cast("pd.DataFrame", answer))
        is_arrow = engine is PYARROW or isinstance(frame, Pieces)
        return _to_arrow(answer, cast(Any, frame).schema if is_arrow else None)
    except (TypeError, ValueError) as error:  # those of Arrow are ValueErrors too
        raise UnsupportedTypeError(
            f"{backend} cannot hold the result: {error}. Omit {parameter('backend')}, or cast the "
            "column first."
        ) from error


def _to_pandas(answer: pl.DataFrame) -> "pd.DataFrame":
    """Keep integers and booleans beside nulls, which numpy would turn into floats and objects."""
    columns = {name: _to_array(column) for name, column in answer.to_dict().items()}
    return pandas.DataFrame(columns, copy=False)


def _to_array(column: pl.Series) -> "ExtensionArray":
    if not column.null_count() or not (column.dtype.is_integer() or column.dtype == pl.Boolean):
        array: ExtensionArray = column.to_pandas().array
        return array
    is_null = column.is_null().to_numpy()
    if column.dtype == pl.Boolean:
        return pandas.arrays.BooleanArray(column.fill_null(False).to_numpy(), is_null)
    return pandas.arrays.IntegerArray(column.fill_null(0).to_numpy(), is_null)


def _to_arrow(answer: Frame, schema: "pa.Schema | None") -> "pa.Table":
    """Make a table of Arrow, its text as Arrow's plain strings."""
    import pyarrow as pa

    if isinstance(answer, pl.DataFrame):
        table = answer.to_arrow()
        own = {} if schema is None else _types_kept(answer, schema)
    else:
        table = pa.Table.from_pandas(answer, preserve_index=False)
        own = {}
    plain = {pa.large_string(): pa.string()}
    return pa.table(
        {
            field.name: _cast(column, [own.get(field.name), plain.get(field.type)])
            for field, column in zip(table.schema, table.columns, strict=True)
        }
    )


def _cast(column: "pa.ChunkedArray", kinds: "Sequence[pa.DataType | None]") -> "pa.ChunkedArray":
    """Cast to the first type that holds the values; dictionaries may have too few codes."""
    for kind in kinds:
        try:
            if kind is not None:
                return column.cast(kind)
        except (TypeError, ValueError, NotImplementedError):
            continue
    return column


def _types_kept(answer: pl.DataFrame, schema: "pa.Schema") -> "dict[Name, pa.DataType]":
    """Look up the types of the columns that the answer has as the frame had them."""
    kept = set(polars_schema(schema).items()) & set(answer.schema.items())
    return {name: schema.field(name).type for name, _ in kept}


def collected(answer: object) -> object:
    """Take an answer out of narwhals, and run one that is still a query."""
    native, _ = unwrapped(answer)
    return native.collect(engine="streaming") if isinstance(native, pl.LazyFrame) else native


def values_of(answer: object, name: str) -> list[Any]:
    """List the values of a column of an answer."""
    engine_of(answer)  # which refuses what is no frame
    frame: nw.DataFrame[Any] = nw.from_native(cast(Any, answer)).lazy().collect()
    if name not in frame.columns:
        raise not_found("column", name, frame.columns)
    return frame.get_column(name).to_list()


def numbers_of(answer: object, name: str) -> FloatArray:
    """Take a column of numbers from an answer, with NaN for null."""
    return np.asarray(cast("Frame | pa.Table", answer)[name], np.float64)


def rows_at(answer: object, positions: Int64Array) -> list[dict[Name, Any]]:
    """Turn some rows of an answer into dicts."""
    if is_pandas_dataframe(answer):
        return rows_of(answer.iloc[positions])
    if isinstance(answer, pl.DataFrame):
        return rows_of(answer[positions])
    return rows_of(cast("pa.Table", answer).take(positions))


def rows_of(answer: object) -> list[dict[Name, Any]]:
    """Turn an answer into a dict for each row, with None for null."""
    if isinstance(answer, pl.DataFrame):
        return cast("list[dict[Name, Any]]", answer.to_dicts())
    if is_pandas_dataframe(answer):
        known = answer.astype(object).where(answer.notna(), None)
        return known.to_dict("records")
    rows: list[dict[Name, Any]] = cast("pa.Table", answer).to_pylist()
    return rows


def of_lists(
    texts: Mapping[str, Sequence[str]], others: Mapping[str, Sequence[Any]]
) -> pl.DataFrame:
    """Build a polars frame of columns of text and columns of anything."""
    columns = {name: pl.Series(values, dtype=pl.String) for name, values in texts.items()}
    return pl.DataFrame(
        columns | {name: pl.Series(values, strict=False) for name, values in others.items()}
    )
