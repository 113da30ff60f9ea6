"""Fetch the cells of an engine's query, at most one more than allowed."""

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, cast

import narwhals as nw
import polars as pl

from balframe.errors import OPTION, InvalidInputError, Message, parameter
from balframe.frames.adapter import Frame, Name
from balframe.frames.engines.arrow import ArrowStream
from balframe.frames.engines.column_names import Rows
from balframe.frames.engines.group_by import ACTUAL, add_cells, by_key, outcome_key
from balframe.frames.engines.inputs import polars_dtype
from balframe.frames.engines.registry import (
    DASK,
    DUCKDB,
    POLARS_LAZY,
    Engine,
    unexported_type_error,
)
from balframe.frames.lazy_pandas import pandas
from balframe.frames.query import Query

if TYPE_CHECKING:
    import pandas as pd

_COARSENING_ADVICE = {  # advice for many distinct scores, by the option that reduces them
    "thresholds": Message("use a grid of thresholds such as {thresholds}, ", thresholds=101),
    "resolution": Message("round the scores as with {resolution}, ", resolution=1000),
}
_MAX_PENDING_CELLS = 1 << 20  # before they are added up
_LOST_TYPES = (nw.Enum, nw.Int128, nw.UInt128)  # Arrow returns these as dictionaries and decimals


def fetch_cells(rows: Rows, engine: Engine, query: Query) -> Frame:
    """Run the engine's query for cells, at most one more than allowed."""
    rows = rows.head(query.max_cells + 1)
    if engine is DUCKDB:
        _check_keys(rows, query)
    if engine is POLARS_LAZY:
        cells = rows.collect(engine="streaming").to_native()
    else:
        cells = rows.collect("pandas" if engine is DASK else "polars").to_native()
    if engine is DUCKDB:  # the cells come through Arrow, which loses the order of an ENUM
        schema = rows.collect_schema().items()
        cells = cells.cast(
            {n: polars_dtype(dtype) for n, dtype in schema if isinstance(dtype, _LOST_TYPES)}
        )
    if engine is DASK:
        _check_texts(cast("pd.DataFrame", cells), query)
    check_n_cells(len(cells), query)
    return cast(Frame, cells)


def _check_texts(cells: "pd.DataFrame", query: Query) -> None:
    """Raise for texts that Dask has made of booleans with nulls."""
    if query.labels is not None or isinstance(query.pos_label, str):
        return  # texts are intended
    sums = [name for name in ("n_low", "n_high", "missing") if name in cells]
    cells = cells[cells[sums].ne(0).any(axis=1)]  # only those with rows
    for key, name in _label_keys(query).items():
        if key not in cells or not pandas.api.types.is_string_dtype(cells[key].dtype):
            continue
        if {*cells[key].dropna()} in ({"True"}, {"False"}, {"True", "False"}):
            raise InvalidInputError(
                "column {!r} has the strings 'True' and 'False', to which Dask converts booleans "
                "with nulls. Cast it, as in frame.astype({{{!r}: 'bool[pyarrow]'}}); if strings "
                "are intended, give {labels}.",
                name,
                name,
                labels=OPTION,
            )


def fetch_stream_cells(
    stream: ArrowStream, query: Query, reduce: Callable[[Rows, Query], Rows]
) -> Frame:
    """Count each table of a stream, and add up the cells whenever there are many."""
    cells, max_pending = [], _MAX_PENDING_CELLS
    for table in stream.tables(cast(Sequence[str], query.columns)):
        cells.append(_collect(reduce(nw.from_native(table.lazy()), query)))
        if sum(part.height for part in cells) > max_pending:
            cells = [_add_up(cells, query)]
            max_pending = max(max_pending, 2 * cells[0].height)
    return cast(Frame, _add_up(cells, query))


def _add_up(cells: Sequence[pl.DataFrame], query: Query) -> pl.DataFrame:
    all_cells = nw.from_native(pl.concat(cells).lazy())
    summed = _collect(add_cells(all_cells)) if len(cells) > 1 else cells[0]
    check_n_cells(summed.height, query)
    return summed


def _collect(rows: Rows) -> pl.DataFrame:
    return cast(pl.DataFrame, rows.collect(engine="streaming").to_native())


def _check_keys(rows: Rows, query: Query) -> None:
    """Raise for types that DuckDB cannot export: time intervals and the largest integers."""
    names = {by_key(position): name for position, name in enumerate(query.keys)}
    names |= _label_keys(query)
    for key, dtype in rows.collect_schema().items():
        if key in names and dtype in (nw.Duration, nw.UInt128):
            raise unexported_type_error("DuckDB", names[key], dtype)


def _label_keys(query: Query) -> dict[str, Name]:
    """Return the columns of labels, or of scores, by their keys in the cells."""
    actual = {ACTUAL: query.y_true} if query.has_truth else {}
    return actual | {outcome_key(i): name for i, name in enumerate(query.y_pred)}


def check_n_cells(n_cells: int, query: Query) -> None:
    """Raise if there are more cells than the caller allows."""
    if n_cells > query.max_cells:
        kind = "distinct scores" if query.scores else "cells"
        raise InvalidInputError(
            "the data have more than {:,} {}, the maximum that {max_cells} allows. Name fewer "
            "columns in {}, compare fewer models at once, {}or increase {max_cells} if memory "
            "allows.",
            query.max_cells,
            kind,
            parameter(query.by_parameter),
            _COARSENING_ADVICE.get(query.coarsening_option, ""),
            max_cells=OPTION,
        )
