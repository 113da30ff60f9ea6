"""The rows of a result of monitoring, and its warnings."""

from collections.abc import Mapping, Sequence
from dataclasses import fields
from typing import Any

import numpy as np

from balframe.errors import Message
from balframe.frames.adapter import Name
from balframe.frames.query import MODEL, PERIOD
from balframe.methods.monitoring.decide import (
    ALARM,
    ALL_PERIODS,
    INCONCLUSIVE,
    OK,
    MonitorRequest,
    PeriodResults,
)
from balframe.methods.monitoring.stream import Stream

_TEXTS = {"window": (), "status": (ALARM, INCONCLUSIVE, OK)}


def period_columns(
    stream: Stream, results: Mapping[str, PeriodResults], windows: Sequence[int]
) -> dict[Name, Any]:
    """Return the columns of the results of metrics, by segment, period, model and metric."""
    counted_frame, n_metrics = stream.counted_frame, len(results)
    segment, period = np.divmod(np.arange(stream.n_segments * stream.n_periods), stream.n_periods)
    names = [name for name in counted_frame.by if name != PERIOD]
    keys = dict(zip(names, stream.keys, strict=True))
    model = [keys[MODEL][segment]] if counted_frame.query.has_several_models else []
    segment_keys = [keys[name][segment] for name in names if name != MODEL or not model]
    order = np.lexsort((*model, period, *segment_keys[::-1]))
    rows = np.repeat(order, n_metrics)
    metric = np.tile(np.arange(n_metrics), len(order))
    adapter = counted_frame.adapter
    columns: dict[Name, Any] = {
        name: adapter.take(counted_frame.by[name], keys[name][segment[rows]], nullable=True)
        for name in names
    }
    columns[PERIOD] = adapter.take(
        adapter.date_series(stream.period_starts), period[rows], nullable=False
    )
    columns["metric"] = counted_frame.text_column(list(results), metric)
    for name in (field.name for field in fields(PeriodResults)):
        stacked = np.stack([getattr(result, name) for result in results.values()])[metric, rows]
        if name in _TEXTS:
            texts = sorted(_TEXTS[name] or (*map(str, windows), ALL_PERIODS))
            columns[name] = counted_frame.text_column(texts, np.searchsorted(texts, stacked))
        else:
            columns[name] = stacked
    return columns


def monitor_warnings(stream: Stream, request: MonitorRequest, is_dispersed: bool) -> list[Message]:
    """Return the warnings about too many looks and about scores that vary more than by chance."""
    messages = []
    has_rows = (stream.counts(1).n > 0).reshape(stream.n_segments, stream.n_periods)
    n_looks = int(has_rows.sum(axis=1).max(initial=0))
    if n_looks > request.looks:
        messages.append(
            Message(
                "{} periods have rows, more than {looks}. After these, only the window of all "
                "periods keeps its share of false alarms. Give a larger number from the start, or "
                "begin again with a new reference.",
                n_looks,
                looks=request.looks,
            )
        )
    if is_dispersed:
        messages.append(
            Message(
                "scores vary between the periods of the reference by more than chance explains, so "
                "that false alarms are more frequent than alpha says. Give {dispersion} to allow "
                "for it.",
                dispersion="estimate",
            )
        )
    return messages
