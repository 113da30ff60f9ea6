"""Lazy frames: the engine's query first, and the rest on the cells that it sends."""

from collections.abc import Callable, Mapping
from typing import Any

import narwhals as nw
import polars as pl

from balframe.frames.engines.supported import Engine, check_size, fetch
from balframe.frames.library import Name
from balframe.frames.query import Query
from balframe.frames.source import Source

Compute = Callable[[Any], Mapping[Name, Any]]


def finish_now(frame: Any, engine: Engine, query: Query, source: Source, compute: Compute) -> Any:  # noqa: ANN401
    """Fetch the cells, and compute from them in the engine's library."""
    rows = nw.from_native(frame)
    source = source.prepared(rows, engine, query)
    cells = fetch(source.reduce(rows, query), engine, query)
    return engine.library.build(compute(source.read_reduced(cells, engine.library, query)))


def finish_later(
    frame: Any,  # noqa: ANN401
    engine: Engine,
    query: Query,
    source: Source,
    compute: Compute,
    like: pl.DataFrame,
) -> Any:  # noqa: ANN401
    """Ask for the cells, and compute from them at `collect` columns like those given."""
    rows = nw.from_native(frame)
    source = source.prepared(rows, engine, query)

    def finish(cells: pl.DataFrame) -> pl.DataFrame:
        check_size(cells.height, query)
        built: pl.DataFrame = engine.library.build(
            compute(source.read_reduced(cells, engine.library, query))
        )
        return built

    cells = source.reduce(rows, query).head(query.max_cells + 1)
    return cells.to_native().map_batches(
        finish,
        schema=like.schema,
        predicate_pushdown=False,
        projection_pushdown=False,
        slice_pushdown=False,
    )
