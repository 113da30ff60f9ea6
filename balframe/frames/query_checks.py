"""Checks of a query that is valid, but whose result would be misleading."""

from collections.abc import Sequence
from functools import partial
from shlex import quote
from typing import Any

import narwhals as nw
import numpy as np

from balframe.core.array_types import Int64Array
from balframe.core.binning import Values, quantiles, with_few_decimals
from balframe.errors import (
    NAME,
    Advice,
    InvalidInputError,
    Message,
    Spelled,
    UnsupportedTypeError,
    listed,
    parameter,
    warn,
)
from balframe.frames.adapter import Adapter, Frame, Name
from balframe.frames.by_entries import MAX_NUMBERS
from balframe.frames.counted_frame import CountedFrame
from balframe.frames.engines.error_translation import translate_errors
from balframe.frames.engines.inputs import InputFrame
from balframe.frames.engines.locks import engine_lock
from balframe.frames.engines.registry import STREAMS
from balframe.frames.query import ADDED, WEIGHT, N, Query, are_cells, columns_of_caller


def check_distinct_labels(query: Query, role: str) -> None:
    """Raise if the predictions, in the parameter `role`, are the column of true labels."""
    if not query.has_truth or query.y_true not in query.y_pred:
        return
    is_baseline = query.baseline is not None and query.y_true not in query.y_pred[:-1]
    raise InvalidInputError(
        "column {!r} is given as {y_true} and as {}, so every row would be right; give the "
        "column of {} as {}.",
        query.y_true,
        parameter("baseline" if is_baseline else role, NAME),
        "scores" if query.scores else "predictions",
        parameter("baseline" if is_baseline else role, NAME),
        y_true=NAME,
    )


_EXAMPLE_BINS, _LEVELS = 4, "levels"
_N_ROWS = f"{ADDED}rows"
MAX_ROLL_UP_COLUMNS = 12  # of margins="all", whose 4,096 roll-ups take seconds


def check_number_of_roll_ups(query: Query) -> None:
    """Raise if `margins="all"` would add up too many subsets of the by-columns."""
    n = len(query.by)
    if query.margins != "all" or n <= MAX_ROLL_UP_COLUMNS:
        return
    raise InvalidInputError(
        "{margins} of {} by-columns has {:,} roll-ups; it takes up to {} columns, which have "
        "{:,}. Give {} for the one over all rows, or fewer columns per call. To find the "
        "combinations that score worst, call slices.",
        n,
        2**n,
        MAX_ROLL_UP_COLUMNS,
        2**MAX_ROLL_UP_COLUMNS,
        parameter("margins", Advice("overall")),
        margins=Advice("all"),
    )


def holds_cells(query: Query, frame: Frame, adapter: Adapter) -> bool:
    """Return whether a frame that is counted row by row is a result of `confusion`."""
    if query.cells or query.counts is not None or query.scores:
        return False
    columns = adapter.column_names(frame)
    named = {*query.columns} - {*(query.by if query.by_parameter == "over" else ())}
    is_result = N not in named and are_cells(columns, _label_columns(query))
    return is_result and may_be_counts(frame, adapter)


def has_repeated_cells(data: InputFrame, of_query: Sequence[Name] = ()) -> bool:
    """Return whether rows repeat what stands before their number, and the columns of a query.

    Cells do not, but for those with weights and for results that follow each other.
    """
    before = data.column_names[: data.column_names.index(N)]
    some = [keys for keys in (before, [*dict.fromkeys(of_query)]) if keys]
    are_names = all(isinstance(name, str) for keys in some for name in keys)
    if WEIGHT in data.column_names or not are_names or data.engine in STREAMS:
        return False
    return all(map(partial(_repeats, data), some))


def _repeats(data: InputFrame, keys: Sequence[str]) -> bool:
    with engine_lock(data.native), translate_errors(data.native):
        n_rows = data.lazy_rows.group_by(keys).agg(nw.len().alias(_N_ROWS))
        repeated = n_rows.filter(nw.col(_N_ROWS) > 1).head(1)
        eager = repeated.collect("polars") if isinstance(repeated, nw.LazyFrame) else repeated
    return len(eager) > 0


def check_not_cells(query: Query, frame: Frame, adapter: Adapter) -> None:
    """Raise if each row of a result of `confusion` would count once."""
    if not holds_cells(query, frame, adapter):
        return
    raise InvalidInputError(
        "the columns {} and {!r} are those of a result of `confusion`, whose rows are cells, but "
        "each row would count once. Give {counts}; if each is a row of the data, rename column "
        "{!r} or move it.",
        listed(map(repr, columns_of_caller(_label_columns(query)))),
        N,
        N,
        counts=Advice(N),
    )


def _label_columns(query: Query) -> Sequence[Name]:
    return (query.y_true, *query.y_pred) if query.has_truth else query.y_pred


def many_numbers_message(name: Name, n: int, edges: Sequence[float]) -> Message:
    """Return what to do about a by-column with very many different numbers."""
    edges = [int(edge) if float(edge).is_integer() else edge for edge in edges]
    joined = f"{','.join(map(str, edges))}{',' * (len(edges) == 1)}"

    def call(bins: object, text: str) -> Spelled:
        return Spelled(f"bf.bins({name!r}, {bins!r})", quote(f"{name}={text}"), parameter="bins")

    return Message(
        "column {!r} in {by} has {} different numbers, each of which is a group. Cut it into bins "
        "of about equally many rows with {}, or at edges of yours with {}.",
        name,
        f"{n:,}",
        call(_EXAMPLE_BINS, str(_EXAMPLE_BINS)),
        call(edges, joined),
        by=NAME,
    )


def example_edges(values: Values, n: Int64Array | None) -> list[float]:
    """Return edges of a few bins of about equally many rows."""
    edges: list[float] = with_few_decimals(quantiles(values, n, _EXAMPLE_BINS), values).tolist()
    return edges


def warn_of_numbers(counted_frame: CountedFrame) -> None:
    """Warn of by-columns with very many different numbers."""
    adapter = counted_frame.adapter
    for name in counted_frame.query.by:
        levels: Any = counted_frame.by[name]
        if len(levels) <= MAX_NUMBERS:
            continue
        occurring = np.unique(counted_frame.codes[name])  # levels may have others
        occurring = occurring[occurring < len(levels)]
        frame = adapter.build_frame({_LEVELS: adapter.take(levels, occurring, nullable=False)})
        if len(occurring) > MAX_NUMBERS and adapter.is_numeric(frame, _LEVELS):
            edges = example_edges(adapter.numbers(frame, _LEVELS)[0], None)
            warn(many_numbers_message(name, len(occurring), edges))


def may_be_counts(frame: Frame, adapter: Adapter) -> bool:
    """Return whether the column `n` of a frame holds numbers, be they Decimals."""
    try:
        return adapter.label_kind(frame, N) == "number"
    except UnsupportedTypeError:
        return True
