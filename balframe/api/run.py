"""From a frame to a result: count its cells, compute columns, build a frame of the same library."""

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import replace
from typing import Any

import numpy as np

from balframe._validate import check_choice
from balframe.api.columns import CORRECTED, TABLES, Kind, ResultColumn, expand_columns
from balframe.api.method import Method
from balframe.core.strata import KEEP, is_correction
from balframe.errors import warn
from balframe.frames.adapter import FrameT, Name
from balframe.frames.convert_result import check_backend, convert_result
from balframe.frames.count_frame import with_computed
from balframe.frames.counted_frame import CountedFrame
from balframe.frames.engines.inputs import InputFrame
from balframe.frames.engines.registry import POLARS_LAZY
from balframe.frames.label_warnings import label_warnings
from balframe.frames.outcomes import check_outcomes
from balframe.frames.partly_labelled import check_can_correct, check_correction, partly_labelled
from balframe.frames.query import GROUPED_BY, InputSpec, Query, build_query
from balframe.frames.query_checks import (
    check_distinct_labels,
    check_not_cells,
    check_number_of_roll_ups,
    has_repeated_cells,
    holds_cells,
    warn_of_numbers,
)
from balframe.frames.scores import ScoredFrame
from balframe.frames.sources import (
    LabelSource,
    ScoreSource,
    Source,
    compute_on_collect,
    count_input,
    with_edges,
)
from balframe.frames.thresholds import Thresholds

Columns = Mapping[Name, Any]

_INPUT, _LABELS = InputSpec(), LabelSource()
_warns_of_labels = ContextVar("warns_of_labels", default=True)
_SCORE_INPUT = InputSpec(scores=True, coarsening_option="resolution")


@contextmanager
def without_label_warnings() -> Iterator[None]:
    """Count without warnings about labels, for a method that counts the same rows again."""
    token = _warns_of_labels.set(False)
    try:
        yield
    finally:
        _warns_of_labels.reset(token)


def run_method(
    frame: FrameT,
    method: Method,
    request: Mapping[str, Any],
    compute: Callable[[Any], Columns],
    *,
    layout: str = "",
    metrics: Sequence[str] = (),
    optional_columns: Collection[str] = (),
    input_spec: InputSpec = _INPUT,
    source: Source = _LABELS,
    check_query: Callable[[Query], None] = lambda query: None,
    check_labels: Callable[[Any], object] = lambda counted_input: None,
    result_segments: Callable[[CountedFrame], CountedFrame] = lambda counted_frame: counted_frame,
) -> FrameT:
    """Run a method: `compute` turns the counts into the declared columns.

    `request` has the names of columns and the shared options. `metrics` fill placeholders in the
    names of columns, and `optional_columns` are the options of this call that add some.
    `check_query` and `check_labels`, of the counts, raise before anything is computed.
    `result_segments` adds the segments of the result that may have no rows, for their types.

    On a lazy frame the reduction is a query of the engine. A frame without rows is counted first:
    that finds wrong names and types before any work, and the types of a LazyFrame's result.
    """
    backend = request.get("backend")
    check_backend(backend)
    check_choice("detail", request.get("detail", False), (False, True))
    missing, unlabelled = request.get("missing"), None
    if "verdict" in request:
        check_correction(request)
        if is_correction(missing) or (missing == KEEP and input_spec.keeps_unlabelled):
            by_label = input_spec.each_label
            frame, replaced, unlabelled = partly_labelled(frame, request, by_label=by_label)
            request, source = {**request, **replaced}, unlabelled
            input_spec = replace(input_spec, squares=missing != KEEP)
        if is_correction(missing):
            optional_columns = [*optional_columns, CORRECTED]
    frame, by = with_edges(frame, request["by"], request)
    request = {**request, "by": by}
    data = InputFrame.open(frame)
    query: Query = build_query(data.schema, data.adapter, request, input_spec)
    check_distinct_labels(query, input_spec.role)
    may_be_cells = request.get("cells", False) is None and query.sample_weight is None
    may_be_cells = may_be_cells and holds_cells(query, data.schema, data.adapter)
    if may_be_cells and not has_repeated_cells(data, query.key_and_label_columns):
        query = build_query(data.schema, data.adapter, {**request, "cells": True}, input_spec)
    check_not_cells(query, data.schema, data.adapter)
    check_number_of_roll_ups(query)
    check_query(query)
    data.check_types(query.columns)
    query = replace(query, declared_labels=data.dictionary_texts(query.label_columns))
    named = query.with_clusters() if input_spec.keeps_clusters else query
    if unlabelled is not None:
        named = unlabelled.named(named)
    has_details: bool = request.get("detail", False)
    if has_details:
        optional_columns = [*optional_columns, TABLES]
    declared = expand_columns(method.blocks[layout], named, metrics, optional_columns)
    if unlabelled is not None:
        names = {column.name for column in declared}
        check_can_correct(query, str(missing), has_margins=GROUPED_BY in names)
    columns = [column for column in declared if has_details or not column.declared.detail]

    warns_of_labels = _warns_of_labels.get()  # as a LazyFrame is collected later

    def finish(counted_input: Any) -> Columns:  # noqa: ANN401 (of labels or of scores)
        check_outcomes(counted_input.counted_frame)
        check_labels(counted_input)
        for warning in label_warnings(counted_input.counted_frame) if warns_of_labels else ():
            warn(warning)
        if input_spec.by_parameter == "by" and not input_spec.keeps_clusters:
            warn_of_numbers(counted_input.counted_frame)
        computed = compute(counted_input)
        return {column.name: computed[column.name] for column in columns}

    if data.engine.is_lazy:
        schema = with_computed(data.schema, data.adapter, query)
        empty = source.count(schema, data.adapter, query)
        check_labels(empty)
        if data.engine is POLARS_LAZY and backend is None:
            segments = result_segments(empty.counted_frame)
            template = data.adapter.build_frame(_empty_columns(columns, segments))
            lazy: FrameT = data.rewrap(compute_on_collect(data, query, source, finish, template))
            return lazy
    built = data.adapter.build_frame(finish(count_input(data, query, source)))
    result = convert_result(built, backend or data.engine.result, data.arrow_schema)
    rewrapped: FrameT = data.rewrap(result)
    return rewrapped


def _empty_columns(columns: Sequence[ResultColumn], counted_frame: CountedFrame) -> Columns:
    """Return the columns of a result without rows, each of its type."""
    no_rows = np.zeros(0, np.int64)
    by_kind = {
        Kind.LABEL: counted_frame.label_column(no_rows),
        Kind.INTEGER: no_rows,
        Kind.INTEGER_OR_NULL: no_rows,
        Kind.FLOAT: no_rows.astype(np.float64),
        Kind.DATE_OR_NULL: counted_frame.adapter.date_series(no_rows),
        Kind.FLAG_OR_NULL: counted_frame.flag_column(no_rows),
        Kind.TEXT: counted_frame.text_column([], no_rows),
    }
    by = {
        name: counted_frame.adapter.take(levels, no_rows, nullable=False)
        for name, levels in counted_frame.with_clusters().by.items()
    }
    return {
        column.name: by[column.placeholder_value]
        if column.declared.kind is Kind.BY
        else by_kind[column.declared.kind]
        for column in columns
    }


def run_score_method(
    frame: FrameT,
    method: Method,
    request: Mapping[str, Any],
    compute: Callable[[ScoredFrame], Columns],
    *,
    check_query: Callable[[Query], None] = lambda query: None,
) -> FrameT:
    """Run a method that takes the option `resolution`, as `run_method` does."""
    source = ScoreSource(Thresholds.from_resolution(request["resolution"]))
    return run_method(
        frame,
        method,
        request,
        compute,
        input_spec=_SCORE_INPUT,
        source=source,
        check_query=check_query,
    )
