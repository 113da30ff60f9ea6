"""Count the cells of an input: rows in memory, or cells that an engine or a stream returns."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, cast

import polars as pl

from balframe.frames.adapter import Frame, Name
from balframe.frames.engines.arrow import ArrowStream
from balframe.frames.engines.collect import check_n_cells, fetch_cells, fetch_stream_cells
from balframe.frames.engines.error_translation import translate_errors
from balframe.frames.engines.inputs import InputFrame
from balframe.frames.engines.locks import engine_lock
from balframe.frames.query import Query
from balframe.frames.sources import Source, SourceCounts


def count_input(frame: InputFrame, query: Query, source: Source) -> SourceCounts:
    """Count the cells of a frame, by a query of its engine if it is lazy."""
    if not frame.engine.is_lazy:
        return source.count(frame.eager_rows(query), frame.adapter, query)
    if isinstance(frame.native, ArrowStream):
        return _count_stream(frame.native, frame, query, source)
    with engine_lock(frame.native), translate_errors(frame.native):
        rows = frame.lazy_rows
        source = source.prepare(rows, frame.engine, query)
        cells = fetch_cells(source.reduce(rows, query), frame.engine, query)
    return source.count_reduced(cells, frame.adapter, query)


def _count_stream(
    stream: ArrowStream, frame: InputFrame, query: Query, source: Source
) -> SourceCounts:
    """Count the cells of a stream; hold its rows if they are needed twice."""
    if source.reads_twice:
        table = stream.table(cast(Sequence[str], query.columns))
        return source.count(table, frame.adapter, query)
    cells = fetch_stream_cells(stream, query, source.reduce)
    return source.count_reduced(cells, frame.adapter, query)


def compute_on_collect(
    frame: InputFrame,
    query: Query,
    source: Source,
    compute: Callable[[Any], Mapping[Name, Any]],
    template: Frame,
) -> pl.LazyFrame:
    """Return a lazy frame that counts the cells and computes the result at `collect`.

    Its columns have the types of `template`.
    """
    rows, adapter = frame.lazy_rows, frame.adapter
    with translate_errors(frame.native):
        source = source.prepare(rows, frame.engine, query)

    def finish(cells: pl.DataFrame) -> pl.DataFrame:
        check_n_cells(cells.height, query)
        counts = source.count_reduced(cells, adapter, query)
        return cast(pl.DataFrame, adapter.build_frame(compute(counts)))

    cells: pl.LazyFrame = source.reduce(rows, query).head(query.max_cells + 1).to_native()
    return cells.map_batches(
        finish,
        schema=cast(pl.DataFrame, template).schema,
        predicate_pushdown=False,
        projection_pushdown=False,
        slice_pushdown=False,
    )
