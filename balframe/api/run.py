"""From a frame to an answer: read its cells, compute columns, build a frame of the same library."""

from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any

import numpy as np

from balframe.api.columns import Kind, Shown, expanded
from balframe.api.method import Method
from balframe.errors import check_choice, warn
from balframe.frames.adapter import FrameT, Name
from balframe.frames.convert_result import BACKENDS, deliver
from balframe.frames.counted_frame import CountedFrame
from balframe.frames.engines.inputs import in_memory, opened, unwrapped, without_rows
from balframe.frames.engines.registry import POLARS_LAZY, engine_of
from balframe.frames.lazy import finish_later, finish_now
from balframe.frames.query import Query, Reads, query
from balframe.frames.scores import ScoredFrame
from balframe.frames.sources import Labels, Scores, Source
from balframe.frames.thresholds import Thresholds

Columns = Mapping[Name, Any]

_READS, _LABELS = Reads(), Labels()


def run_method(
    frame: FrameT,
    method: Method,
    given: Mapping[str, Any],
    compute: Callable[[Any], Columns],
    *,
    layout: str = "",
    metrics: Sequence[str] = (),
    shown: Collection[str] = (),
    reads: Reads = _READS,
    source: Source = _LABELS,
    check: Callable[[Query], None] = lambda query: None,
    suits: Callable[[Any], object] = lambda reading: None,
) -> FrameT:
    """Run a method: `compute` turns what was read into the columns declared.

    `given` are the names of columns and the shared options. `metrics` fill places in the names of
    columns, and `shown` are the options under which some are there. `check` looks at the query, and
    `suits` at what was read, before anything is computed.

    On a lazy frame the reduction is a query of the engine. A frame without rows is read first: that
    finds wrong names and types before any work, and the types of a LazyFrame's answer.
    """
    backend = given.get("backend")
    check_choice("backend", backend, (None, *BACKENDS))
    native, wrapped = unwrapped(frame)
    engine = engine_of(native)
    library = engine.library
    rows = opened(native, engine)
    head = without_rows(rows, engine)
    what = query(head, library, given, reads)
    check(what)
    named = what.with_clusters() if reads.keeps_clusters else what
    columns = expanded(method.blocks[layout], named, metrics, shown)

    def finish(reading: Any) -> Columns:  # noqa: ANN401 (of labels or of scores)
        suits(reading)
        for warning in reading.reading.label_warnings:
            warn(warning)
        found = compute(reading)
        assert len(found) == len(columns), "computed is what was declared"
        return {one.name: found[one.name] for one in columns}

    if not engine.is_lazy:
        built = library.build(finish(source.read(in_memory(rows, engine, what), library, what)))
    else:
        nothing = source.read(head, library, what)
        suits(nothing)
        if engine is POLARS_LAZY and backend is None:
            like = library.build(_without_rows(columns, nothing.reading))
            later: FrameT = wrapped(finish_later(rows, engine, what, source, finish, like))
            return later
        built = finish_now(rows, engine, what, source, finish)
    delivered: FrameT = wrapped(deliver(built, backend or engine.answer, rows, engine))
    return delivered


def _without_rows(columns: Sequence[Shown], reading: CountedFrame) -> Columns:
    """Make the columns of an answer without rows, each of its type."""
    none = np.zeros(0, np.int64)
    made = {
        Kind.LABEL: reading.label_column(none),
        Kind.INTEGER: none,
        Kind.INTEGER_OR_NULL: none,
        Kind.FLOAT: none.astype(np.float64),
        Kind.FLAG_OR_NULL: reading.flag_column(none),
        Kind.TEXT: reading.text_column([], none),
    }
    by = {
        name: reading.library.take(levels, none, nullable=False)
        for name, levels in reading.with_clusters().by.items()
    }
    return {one.name: by[one.of] if one.kind is Kind.BY else made[one.kind] for one in columns}


# From scores, rounded as a caller asks, to an answer.


_READS_SCORES = Reads(scores=True, coarser="resolution")


def run_score_method(
    frame: FrameT,
    method: Method,
    given: Mapping[str, Any],
    compute: Callable[[ScoredFrame], Columns],
    *,
    check: Callable[[Query], None] = lambda query: None,
) -> FrameT:
    """Run a method that takes the option `resolution`, as `answer` does."""
    source = Scores(Thresholds.rounding(given["resolution"]))
    return run_method(
        frame, method, given, compute, reads=_READS_SCORES, source=source, check=check
    )
