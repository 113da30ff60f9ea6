"""Lazy frames: the engine counts the cells, and the result is computed from them."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, cast

import polars as pl

from balframe.frames.adapter import Frame, Name
from balframe.frames.engines.arrow import ArrowStream
from balframe.frames.engines.collect import check_n_cells, fetch_cells, fetch_stream_cells
from balframe.frames.engines.error_translation import translate_errors
from balframe.frames.engines.inputs import narwhals_rows
from balframe.frames.engines.locks import engine_lock
from balframe.frames.engines.registry import Engine
from balframe.frames.query import Query
from balframe.frames.sources import Source

Compute = Callable[[Any], Mapping[Name, Any]]


def compute_now(
    frame: object, engine: Engine, query: Query, source: Source, compute: Compute
) -> Frame:
    """Fetch the cells, and compute the result from them in the library of the engine."""
    adapter = engine.adapter
    if isinstance(frame, ArrowStream):
        if source.reads_twice:  # a stream may be read only once, so hold its rows
            table = frame.table(cast(Sequence[str], query.columns))
            return adapter.build_frame(compute(source.count(table, adapter, query)))
        cells = fetch_stream_cells(frame, query, source.reduce)
    else:
        with engine_lock(frame), translate_errors(frame):
            rows = narwhals_rows(frame)
            source = source.prepare(rows, engine, query)
            cells = fetch_cells(source.reduce(rows, query), engine, query)
    return adapter.build_frame(compute(source.count_reduced(cells, adapter, query)))


def compute_on_collect(
    frame: object,
    engine: Engine,
    query: Query,
    source: Source,
    compute: Compute,
    like: Frame,
) -> Any:  # noqa: ANN401 (a frame of the caller's kind)
    """Return a lazy frame that computes the result from the cells at `collect`.

    Its columns have the types of `like`.
    """
    rows = narwhals_rows(frame)
    with translate_errors(frame):
        source = source.prepare(rows, engine, query)

    def finish(cells: pl.DataFrame) -> pl.DataFrame:
        check_n_cells(cells.height, query)
        built = engine.adapter.build_frame(
            compute(source.count_reduced(cells, engine.adapter, query))
        )
        return cast(pl.DataFrame, built)

    cells = source.reduce(rows, query).head(query.max_cells + 1)
    return cells.to_native().map_batches(
        finish,
        schema=cast(pl.DataFrame, like).schema,
        predicate_pushdown=False,
        projection_pushdown=False,
        slice_pushdown=False,
    )
