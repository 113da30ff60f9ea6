"""Results, returned in the library of the frame or in the one that the caller names."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, cast

import narwhals as nw
import numpy as np
import polars as pl
from narwhals.dependencies import is_pandas_dataframe

from balframe._validate import check_choice
from balframe.core.array_types import FloatArray, Int64Array
from balframe.errors import OPTION, UnsupportedTypeError, not_found
from balframe.frames.adapter import Adapter, Frame, Name
from balframe.frames.engines.arrow import polars_schema
from balframe.frames.engines.inputs import unwrap
from balframe.frames.engines.registry import (
    PANDAS_ADAPTER,
    POLARS_ADAPTER,
    check_installed,
    find_engine,
)
from balframe.frames.pandas_polars import (
    are_values_of,
    pandas_frame,
    polars_column,
    polars_frame,
    python_values,
)
from balframe.frames.polars_adapter import BEYOND_NUMPY

if TYPE_CHECKING:
    import pandas as pd
    import pyarrow as pa

BACKENDS = ("pandas", "polars", "pyarrow")


def check_backend(backend: object, choices: tuple[str | None, ...] = (None, *BACKENDS)) -> None:
    """Raise if this is not a value of the option `backend`, or pandas is missing for it."""
    check_choice("backend", backend, choices)
    if backend == "pandas":
        check_installed("pandas", "pandas", "pandas frames")


def backend_adapter(backend: object) -> Adapter:
    """Return the adapter for the option `backend`."""
    check_backend(backend, ("polars", "pandas"))
    return POLARS_ADAPTER if backend == "polars" else PANDAS_ADAPTER


def convert_result(result: Frame, backend: str, schema: "pa.Schema | None" = None) -> Any:  # noqa: ANN401
    """Convert a result of pandas or polars; in Arrow, columns of the schema keep their types."""
    if backend == ("polars" if isinstance(result, pl.DataFrame) else "pandas"):
        return result
    try:
        if backend == "pandas":
            return pandas_frame(cast(pl.DataFrame, result))
        if backend == "polars":
            return polars_frame(cast("pd.DataFrame", result))
        check_installed("pyarrow", "arrow", "results converted to pyarrow")
        return _to_arrow(result, schema)
    except (TypeError, ValueError, pl.exceptions.InvalidOperationError) as error:
        raise UnsupportedTypeError(
            "{} cannot hold the result: {}. Omit {backend}, or cast the column first.",
            backend,
            error,
            backend=OPTION,
        ) from error


def _to_arrow(result: Frame, schema: "pa.Schema | None") -> "pa.Table":
    """Convert to an Arrow table with plain strings."""
    import pyarrow as pa

    if isinstance(result, pl.DataFrame):
        named = {column.name: _as_arrow_has(column) for column in result.get_columns()}
        table = pl.DataFrame(named).to_arrow()
        types = {} if schema is None else _unchanged_types(result, schema)
        columns = dict(zip(table.column_names, table.columns, strict=True))
    else:
        columns = {str(name): _arrow_column(result[name]) for name in result.columns}
        types = {}
    plain_types = {pa.large_string(): pa.string()}
    return pa.table(
        {
            name: _cast(column, [types.get(name), plain_types.get(column.type)])
            for name, column in columns.items()
        }
    )


def _arrow_column(column: "pd.Series") -> Any:  # noqa: ANN401 (an array, in chunks or not)
    """Convert a column of pandas, to texts where Arrow would hold only how pandas stores it."""
    import pyarrow as pa

    try:
        array = pa.array(column, from_pandas=True)
        is_known = "pandas." not in str(array.type) and not pa.types.is_nested(array.type)
        if is_known and are_values_of(column, array.to_pylist):
            return array
    except (TypeError, ValueError, NotImplementedError, OverflowError):
        pass
    return _as_arrow_has(polars_column(column)).to_arrow()


def _as_arrow_has(column: pl.Series) -> pl.Series:
    """Cast integers of 128 bits, which Arrow lacks, to shorter ones or to decimals."""
    for dtype in (pl.Int64, pl.UInt64) if column.dtype in BEYOND_NUMPY else ():
        if column.cast(dtype, strict=False).null_count() == column.null_count():
            return column.cast(dtype)
    return column.cast(pl.Decimal(38, 0)) if column.dtype in BEYOND_NUMPY else column


def _cast(column: "pa.ChunkedArray", kinds: "Sequence[pa.DataType | None]") -> "pa.ChunkedArray":
    """Cast to the first type that holds the values; dictionaries may have too few codes."""
    for kind in kinds:
        try:
            if kind is not None:
                return column.cast(kind)
        except (TypeError, ValueError, NotImplementedError):
            continue
    return column


def _unchanged_types(result: pl.DataFrame, schema: "pa.Schema") -> "dict[Name, pa.DataType]":
    """Return the types of the columns that the result and the frame have in common."""
    shared = set(polars_schema(schema).items()) & set(result.schema.items())
    return {name: schema.field(name).type for name, _ in shared}


def collect_result(result: object) -> object:
    """Unwrap a result of narwhals, and collect a lazy one."""
    native, _ = unwrap(result)
    return native.collect(engine="streaming") if isinstance(native, pl.LazyFrame) else native


def column_values(result: object, name: str) -> list[Any]:
    """Return the values of a column of a result."""
    find_engine(result)  # raises if it is not a frame
    frame: nw.DataFrame[Any] = nw.from_native(cast(Any, result)).lazy().collect()
    if name not in frame.columns:
        raise not_found("column", name, frame.columns)
    return frame.get_column(name).to_list()


def ordered_columns(result: object, names: Sequence[Name]) -> list[Name]:
    """Return the columns of a result whose values have an order: all but texts and booleans.

    Texts have one in an Enum or an ordered categorical.
    """
    native = collect_result(result)
    schema, rows = nw.from_native(cast(Any, native)).schema, row_dicts(native)
    return [
        name
        for name in names
        if schema[cast(str, name)] == nw.Enum
        or not any(isinstance(row[name], (str, bool)) for row in rows)
    ]


def column_numbers(result: object, name: str) -> FloatArray:
    """Return a column of numbers of a result, with NaN for null."""
    return np.asarray(cast("Frame | pa.Table", result)[name], np.float64)


def rows_at_positions(result: object, positions: Int64Array) -> list[dict[Name, Any]]:
    """Convert some rows of a result to dicts."""
    if is_pandas_dataframe(result):
        return row_dicts(result.iloc[positions])
    if isinstance(result, pl.DataFrame):
        return row_dicts(result[positions])
    return row_dicts(cast("pa.Table", result).take(positions))


def row_dicts(result: object) -> list[dict[Name, Any]]:
    """Convert a result to a dict for each row, with None for null."""
    if isinstance(result, pl.DataFrame):
        return cast("list[dict[Name, Any]]", result.to_dicts())
    if is_pandas_dataframe(result):
        values = [python_values(result.iloc[:, i]) for i in range(result.shape[1])]
        return [dict(zip(result.columns, row, strict=True)) for row in zip(*values, strict=True)]
    rows: list[dict[Name, Any]] = cast("pa.Table", result).to_pylist()
    return rows


def frame_from_lists(
    texts: Mapping[str, Sequence[str]], others: Mapping[str, Sequence[Any]]
) -> pl.DataFrame:
    """Build a polars frame of columns of text and columns of anything."""
    columns = {name: pl.Series(values, dtype=pl.String) for name, values in texts.items()}
    return pl.DataFrame(
        columns | {name: pl.Series(values, strict=False) for name, values in others.items()}
    )
