"""What a method computes from, predicted labels or scores, and how an input is counted."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Protocol, cast, runtime_checkable

import polars as pl

from balframe._traceback import short_traceback
from balframe.core.array_types import Int64Array
from balframe.frames import scores
from balframe.frames.adapter import Adapter, Frame, Name
from balframe.frames.by_entries import Bins
from balframe.frames.count_frame import (
    count_frame,
    count_reduced,
    with_computed,
    with_computed_cells,
)
from balframe.frames.counted_frame import CountedFrame
from balframe.frames.engines import group_by
from balframe.frames.engines.arrow import ArrowStream
from balframe.frames.engines.collect import check_n_cells, fetch_cells, fetch_stream_cells
from balframe.frames.engines.column_names import Rows, with_plain_names
from balframe.frames.engines.error_translation import translate_errors
from balframe.frames.engines.inputs import InputFrame, materialize
from balframe.frames.engines.locks import engine_lock
from balframe.frames.engines.registry import Engine
from balframe.frames.engines.weighted_sums import read_sums
from balframe.frames.query import MAX_CELLS, InputSpec, N, Query, are_cells, build_query, name_list
from balframe.frames.row_weights import read_row_sums
from balframe.frames.thresholds import Thresholds, ThresholdsOption

if TYPE_CHECKING:  # which loading a program would take time for
    from balframe.frames.earlier_cells import CountedPair
    from balframe.frames.matched_rows import MatchedCounts
    from balframe.frames.median_selection import MedianSelections
    from balframe.frames.run_features import RunFeatures
    from balframe.frames.score_pairs import ScoredPairs
    from balframe.frames.slice_features import SliceFeatures

    SourceCounts = (
        CountedFrame
        | scores.ScoredFrame
        | ScoredPairs
        | SliceFeatures
        | MedianSelections
        | CountedPair
        | MatchedCounts
        | RunFeatures
    )


class Source(Protocol):
    """How rows in memory become cells."""

    def count(self, frame: Frame, adapter: Adapter, query: Query) -> "SourceCounts":
        """Count an eager frame."""


class QuerySource(Source, Protocol):
    """How a frame becomes cells, eagerly or through an engine's group-by."""

    def reduce(self, rows: Rows, query: Query) -> Rows:
        """Reduce rows to cells, as a query of the engine."""

    def count_reduced(self, cells: Frame, adapter: Adapter, query: Query) -> "SourceCounts":
        """Count the cells that an engine has summed."""


@runtime_checkable
class TwoPassSource(Source, Protocol):
    """How a frame becomes cells if all rows are read once before they are counted."""

    def prepare(self, rows: Rows, engine: Engine, query: Query) -> QuerySource:
        """Return a source with what the group-by needs, computed in a first pass."""


@dataclass(frozen=True, slots=True)
class LabelSource:
    """Predicted labels."""

    def count(self, frame: Frame, adapter: Adapter, query: Query) -> CountedFrame:
        """Count the cells of an eager frame."""
        return count_frame(frame, adapter, query)

    def reduce(self, rows: Rows, query: Query) -> Rows:
        """Group by segment, true label and prediction."""
        return group_by.reduce(rows, query)

    def count_reduced(self, cells: Frame, adapter: Adapter, query: Query) -> CountedFrame:
        """Read the cells that an engine has summed."""
        return count_reduced(cells, adapter, query)


@dataclass(frozen=True, slots=True)
class ScoreSource:
    """Scores, and the thresholds to compare them with."""

    thresholds: Thresholds

    def count(self, frame: Frame, adapter: Adapter, query: Query) -> scores.ScoredFrame:
        """Tie the scores of an eager frame."""
        return scores.tie_scores(frame, adapter, query, self.thresholds)

    def reduce(self, rows: Rows, query: Query) -> Rows:
        """Group by segment, true label and score, or thresholds that it reaches."""
        return group_by.reduce_scores(rows, query, self.thresholds)

    def count_reduced(self, cells: Frame, adapter: Adapter, query: Query) -> scores.ScoredFrame:
        """Tie the scores that an engine has summed."""
        return scores.tie_reduced_scores(cells, adapter, query, self.thresholds)


@dataclass(frozen=True, slots=True)
class ScoreQuantileSource:
    """Scores, and thresholds at their quantiles, which are computed in a first pass."""

    thresholds: Thresholds

    def prepare(self, rows: Rows, engine: Engine, query: Query) -> ScoreSource:
        """Find the quantiles of the scores: a first pass over the data."""
        query = _all_rows(query)
        cells = fetch_cells(_EXACT.reduce(rows, query), engine, query)
        return self._at_quantiles(_EXACT.count_reduced(cells, engine.adapter, query))

    def count(self, frame: Frame, adapter: Adapter, query: Query) -> scores.ScoredFrame:
        """Tie the scores of an eager frame."""
        exact = _EXACT.count(frame, adapter, _all_rows(query))
        return self._at_quantiles(exact).count(frame, adapter, query)

    def _at_quantiles(self, scored: scores.ScoredFrame) -> ScoreSource:
        return ScoreSource(self.thresholds.at_quantiles(scored.ties.score, scored.ties.n))


_EXACT = ScoreSource(Thresholds())


def score_source(thresholds: ThresholdsOption) -> ScoreSource | ScoreQuantileSource:
    """Return how scores become cells, with the value of the option `thresholds`."""
    parsed = Thresholds.from_option(thresholds)
    return ScoreSource(parsed) if parsed.quantiles is None else ScoreQuantileSource(parsed)


def _all_rows(query: Query) -> Query:
    return replace(query, by=(), cluster=None, margins=False)


def count_input(frame: InputFrame, query: Query, source: Source) -> "SourceCounts":
    """Count the cells of a frame, by a query of its engine if it is lazy."""
    adapter = frame.adapter
    if not frame.engine.is_lazy:
        eager = frame.eager_rows(query.columns)
        return source.count(with_computed(eager, adapter, query), adapter, query)
    if isinstance(frame.native, ArrowStream):
        return _count_stream(frame.native, frame, query, source)
    with engine_lock(frame.native), translate_errors(frame.native):
        rows = frame.lazy_rows
        ready = _prepared(source, rows, frame.engine, query)
        cells = fetch_cells(ready.reduce(rows, query), frame.engine, query)
    return ready.count_reduced(with_computed_cells(cells, adapter, query), adapter, query)


def _prepared(source: Source, rows: Rows, engine: Engine, query: Query) -> QuerySource:
    """Return a source after its first pass, if it has one."""
    if isinstance(source, TwoPassSource):
        return source.prepare(rows, engine, query)
    return cast(QuerySource, source)  # others read rows in memory alone


def _count_stream(
    stream: ArrowStream, frame: InputFrame, query: Query, source: Source
) -> "SourceCounts":
    """Count the cells of a stream; hold its rows if they are needed twice."""
    if isinstance(source, TwoPassSource):
        rows = with_computed(frame.eager_rows(query.columns), frame.adapter, query)
        return source.count(rows, frame.adapter, query)
    by_query = cast(QuerySource, source)
    cells = fetch_stream_cells(stream, query, by_query.reduce)
    cells = with_computed_cells(cells, frame.adapter, query)
    return by_query.count_reduced(cells, frame.adapter, query)


def with_edges(frame: Any, by: Any, options: Mapping[str, Any]) -> tuple[Any, Any]:  # noqa: ANN401
    """Return a frame, and `by` with the edges of bins of about equally many of its rows.

    A stream is read into a table, as it can be read only once.
    """
    entries = name_list(by)
    if not any(isinstance(entry, Bins) and entry.edges is None for entry in entries):
        return frame, by
    frame = materialize(frame)
    data = InputFrame.open(frame)
    counts = _counts_of(data, options)
    return frame, [
        _at_quantiles(data, entry, counts)
        if isinstance(entry, Bins) and entry.edges is None
        else entry
        for entry in entries
    ]


def _counts_of(data: InputFrame, options: Mapping[str, Any]) -> Name | None:
    """Return the column of the numbers of rows, which cells have too."""
    counts: Name | None = options.get("counts")
    cells = options.get("cells", False)
    if cells is None and counts is None:
        roles = (options.get("y_true"), *name_list(options.get("y_pred")))
        cells = are_cells(data.column_names, [name for name in roles if name is not None])
    return N if cells else counts


def _at_quantiles(data: InputFrame, bins: Bins, counts: Name | None) -> Bins:
    """Return bins at quantiles of their column, by a query of the engine if it is lazy."""
    request = {
        "by": None,
        "y_pred": bins.column,
        "counts": counts,
        "labels": None,
        "pos_label": None,
        "missing": "drop",
        "max_cells": MAX_CELLS,
    }
    query = build_query(data.schema, data.adapter, request, InputSpec(has_truth=False))
    bins.check_type(data.schema, data.adapter)
    if data.engine.is_lazy and not isinstance(data.native, ArrowStream):
        with engine_lock(data.native), translate_errors(data.native):
            rows, plain = with_plain_names(data.lazy_rows, query)
            reduced = group_by.reduce_values(rows, plain, plain.y_pred[0])
            cells = fetch_cells(reduced, data.engine, query)
        values, is_null = data.adapter.numbers(cells, group_by.by_key(0))
        n: Int64Array | None = read_sums(cells, data.adapter, query).row_counts
    else:
        eager = data.eager_rows(query.columns)
        values, is_null = data.adapter.numbers(eager, bins.column)
        n = read_row_sums(eager, data.adapter, query).n
    if is_null is not None:
        values, n = values[~is_null], None if n is None else n[~is_null]
    return bins.at_quantiles(values, n)


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
        ready = _prepared(source, rows, frame.engine, query)

    @short_traceback
    def finish(cells: pl.DataFrame) -> pl.DataFrame:
        check_n_cells(cells.height, query)
        cells_of_values = with_computed_cells(cells, adapter, query)
        counts = ready.count_reduced(cells_of_values, adapter, query)
        return cast(pl.DataFrame, adapter.build_frame(compute(counts)))

    cells: pl.LazyFrame = ready.reduce(rows, query).head(query.max_cells + 1).to_native()
    return cells.map_batches(
        finish,
        schema=cast(pl.DataFrame, template).schema,
        predicate_pushdown=False,
        projection_pushdown=False,
        slice_pushdown=False,
    )
