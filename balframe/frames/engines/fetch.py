"""The cells that an engine's query sends, or one more than allowed."""

from typing import cast

import narwhals as nw

from balframe.errors import InvalidInputError, UnsupportedTypeError, parameter
from balframe.frames.engines.reduce import ACTUAL, Rows, by_key, outcome_key
from balframe.frames.engines.supported import DASK, DUCKDB, POLARS_LAZY, Engine, polars_dtype
from balframe.frames.library import Frame
from balframe.frames.query import Query

_LOST = (nw.Enum, nw.Int128, nw.UInt128)  # which Arrow has as dictionaries and decimals


def fetch(rows: Rows, engine: Engine, query: Query) -> Frame:
    """Run the engine's query for cells, at most one more than allowed."""
    rows = rows.head(query.max_cells + 1)
    if engine is DUCKDB:
        _check_keys(rows, query)
    if engine is POLARS_LAZY:
        cells = rows.collect(engine="streaming").to_native()
    else:
        cells = rows.collect("pandas" if engine is DASK else "polars").to_native()
    if engine is DUCKDB:  # Arrow, which brings the cells, loses the order of an ENUM
        schema = rows.collect_schema().items()
        cells = cells.cast(
            {n: polars_dtype(dtype) for n, dtype in schema if isinstance(dtype, _LOST)}
        )
    check_size(len(cells), query)
    return cast(Frame, cells)


def _check_keys(rows: Rows, query: Query) -> None:
    """Refuse what DuckDB cannot hand over: time intervals and the largest integers."""
    names = {by_key(position): name for position, name in enumerate(query.by)}
    names |= {outcome_key(position): name for position, name in enumerate(query.y_pred)}
    names[ACTUAL] = query.y_true
    for key, dtype in rows.collect_schema().items():
        if key in names and dtype in (nw.Duration, nw.UInt128):
            raise UnsupportedTypeError(
                f"column {names[key]!r} is {dtype}, which DuckDB cannot hand over; cast it, as to "
                "seconds or to text."
            )


def check_size(n_cells: int, query: Query) -> None:
    """Refuse more cells than the caller wants to fetch."""
    if n_cells > query.max_cells:
        kind = "distinct scores" if query.scores else "cells"
        raise InvalidInputError(
            f"the rows make more than {query.max_cells:,} {kind}, the most that "
            f"{parameter('max_cells')} allows to fetch. Name fewer columns in {parameter('by')}, "
            "compare fewer models at once, give scores a grid of thresholds such as "
            f"{parameter('thresholds', 101)}, or raise {parameter('max_cells')} if memory allows."
        )
