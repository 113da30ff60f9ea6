"""Fetch the cells of an engine's query, at most one more than allowed."""

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, cast

import narwhals as nw
import polars as pl

from balframe.errors import OPTION, InvalidInputError, Message, first_line, listed, parameter
from balframe.frames.adapter import Frame, Name
from balframe.frames.engines.arrow import ArrowStream, lost_values_error
from balframe.frames.engines.column_names import Rows
from balframe.frames.engines.group_by import ACTUAL, add_cells, by_key, outcome_key
from balframe.frames.engines.inputs import polars_dtype
from balframe.frames.engines.registry import (
    DASK,
    DUCKDB,
    IBIS,
    POLARS_LAZY,
    Engine,
    unexported_type_error,
)
from balframe.frames.indicators import indicator
from balframe.frames.lazy_pandas import pandas
from balframe.frames.query import Query

if TYPE_CHECKING:
    import pandas as pd

_COARSENING_ADVICE = {  # advice for many distinct scores, by the option that reduces them
    "thresholds": Message("use a grid of thresholds such as {thresholds}, ", thresholds=101),
    "resolution": Message("round the scores as with {resolution}, ", resolution=1000),
}
_MAX_PENDING_CELLS = 1 << 20  # before they are added up
_VALUE_ERRORS = ("DataError", "ArrowInvalid", "ArrowTypeError")  # of psycopg, and below Ibis
_OF_LIMITS = (nw.Date, nw.Datetime, nw.Time, nw.Decimal)  # whose values Python may not have
_LOST_TYPES = (nw.Boolean, nw.Enum, nw.Int128)  # of DuckDB, which Arrow returns as others


def fetch_cells(rows: Rows, engine: Engine, query: Query) -> Frame:
    """Run the engine's query for cells, at most one more than allowed."""
    names = {by_key(position): name for position, name in enumerate(query.keys)}
    names |= _label_keys(query)
    cells = collect_values(rows.head(query.max_cells + 1), engine, names)
    if engine is DASK:
        _check_texts(cast("pd.DataFrame", cells), query)
    check_n_cells(len(cells), query)
    return cells


def collect_values(rows: Rows, engine: Engine, names: Mapping[str, Name]) -> Frame:
    """Run a query; raise where a value of some columns, given with the names of errors, is lost."""
    if engine is POLARS_LAZY:
        return cast(Frame, rows.collect(engine="streaming").to_native())
    if engine is DASK:
        return cast(Frame, rows.collect("pandas").to_native())
    schema, added = rows.collect_schema(), dict[str, nw.Expr]()
    if engine is DUCKDB:
        for key, name in names.items():
            if schema.get(key) in (nw.Duration, nw.UInt128):
                raise unexported_type_error("DuckDB", name, schema[key])
        added = {  # options of a connection may turn these values into bytes
            name: nw.col(name).cast(nw.Int8 if dtype == nw.Boolean else nw.String)
            for name, dtype in schema.items()
            if dtype in (nw.Boolean, nw.Int128)
        }
    kept = {f"null{i}": n for i, n in enumerate(names) if n in schema and not schema[n].is_float()}
    added |= {flag: indicator(nw.col(key).is_null()) for flag, key in kept.items()}
    rows = rows.with_columns(**added) if added else rows
    try:
        frame = cast(pl.DataFrame, rows.collect("polars").to_native())
    except Exception as error:
        if engine is not IBIS or type(error).__name__ not in _VALUE_ERRORS:
            raise
        may_fail = [names[key] for key in kept.values() if isinstance(schema[key], _OF_LIMITS)]
        raise InvalidInputError(
            f"a value of {listed(f'column {name!r}' for name in may_fail or names.values())} "
            f"cannot be read: {first_line(error)}. Cast the column to text, or replace the value."
        ) from error
    for flag, key in kept.items():
        if frame[key].null_count() > frame[flag].sum():
            raise lost_values_error(names[key], engine.name)
    frame = frame.drop(kept)
    if engine is DUCKDB:  # the rows come through Arrow, which loses the order of an ENUM
        frame = frame.cast(
            {
                n: polars_dtype(dtype)
                for n, dtype in schema.items()
                if isinstance(dtype, _LOST_TYPES)
            }
        )
    return frame


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
