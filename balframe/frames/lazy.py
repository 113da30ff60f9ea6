"""Lazy frames: the engine counts the cells, and the rest is computed from them."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, cast

import polars as pl

from balframe.frames.adapter import Frame, Name
from balframe.frames.engines.arrow import Pieces
from balframe.frames.engines.collect import check_size, fetch, fetch_pieces
from balframe.frames.engines.error_translation import failures_explained
from balframe.frames.engines.inputs import as_rows
from balframe.frames.engines.locks import in_turn
from balframe.frames.engines.registry import Engine
from balframe.frames.query import Query
from balframe.frames.sources import Source

Compute = Callable[[Any], Mapping[Name, Any]]


def finish_now(
    frame: object, engine: Engine, query: Query, source: Source, compute: Compute
) -> Frame:
    """Fetch the cells, and compute from them in the engine's library."""
    library = engine.library
    if isinstance(frame, Pieces):
        if source.reads_twice:  # and what comes in pieces may come once
            table = frame.table(cast(Sequence[str], query.columns))
            return library.build(compute(source.read(table, library, query)))
        cells = fetch_pieces(frame, query, source.reduce)
    else:
        with in_turn(frame), failures_explained(frame):
            rows = as_rows(frame)
            source = source.prepared(rows, engine, query)
            cells = fetch(source.reduce(rows, query), engine, query)
    return library.build(compute(source.read_reduced(cells, library, query)))


def finish_later(
    frame: object,
    engine: Engine,
    query: Query,
    source: Source,
    compute: Compute,
    like: Frame,
) -> Any:  # noqa: ANN401 (a frame of the caller's kind)
    """Ask for the cells, and compute from them at `collect` columns like those given."""
    rows = as_rows(frame)
    with failures_explained(frame):
        source = source.prepared(rows, engine, query)

    def finish(cells: pl.DataFrame) -> pl.DataFrame:
        check_size(cells.height, query)
        built = engine.library.build(compute(source.read_reduced(cells, engine.library, query)))
        return cast(pl.DataFrame, built)

    cells = source.reduce(rows, query).head(query.max_cells + 1)
    return cells.to_native().map_batches(
        finish,
        schema=cast(pl.DataFrame, like).schema,
        predicate_pushdown=False,
        projection_pushdown=False,
        slice_pushdown=False,
    )
