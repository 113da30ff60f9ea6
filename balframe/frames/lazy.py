"""Lazy frames: the engine's query first, and the rest when it is collected."""

from collections.abc import Callable, Mapping
from typing import Any, TypeGuard

import polars as pl

from balframe.frames import in_polars
from balframe.frames.library import Name
from balframe.frames.query import Query
from balframe.frames.source import Source


def is_lazy(frame: object) -> TypeGuard[pl.LazyFrame]:
    """Tell whether a frame is a query that has not run."""
    return isinstance(frame, pl.LazyFrame)


def without_rows(frame: pl.LazyFrame) -> pl.DataFrame:
    """Make an eager frame of the same columns; only the schema is read."""
    return frame.collect_schema().to_frame()


def finish_later(
    frame: pl.LazyFrame,
    query: Query,
    source: Source,
    compute: Callable[[Any], Mapping[Name, Any]],
    like: pl.DataFrame,
) -> Any:  # noqa: ANN401 (a lazy frame of the engine)
    """Ask the engine for cells, and compute from them at `collect` columns like those given."""
    schema = frame.collect_schema()
    dtypes = {name: schema[name] for name in query.label_columns}
    source = source.settled(frame, query)

    def finish(cells: pl.DataFrame) -> pl.DataFrame:
        return in_polars.build(compute(source.read_reduced(cells, dtypes, query)))

    return source.reduce(frame, query).map_batches(
        finish,
        schema=like.schema,
        predicate_pushdown=False,
        projection_pushdown=False,
        slice_pushdown=False,
    )
