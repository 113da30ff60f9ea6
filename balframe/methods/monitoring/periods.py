"""The rows of a result of monitoring, and its warnings."""

from collections.abc import Mapping, Sequence
from dataclasses import fields
from typing import Any

import numpy as np

from balframe.core.array_types import FloatArray
from balframe.errors import Message, Spelled
from balframe.frames.adapter import Name
from balframe.frames.query import MODEL, PERIOD
from balframe.methods.monitoring.decide import (
    ALARM,
    INCONCLUSIVE,
    OK,
    MonitorRequest,
    PeriodResults,
)
from balframe.methods.monitoring.dispersion import MIN_PERIODS, BaselineDispersion
from balframe.methods.monitoring.stream import Stream

_STATUSES = sorted((ALARM, INCONCLUSIVE, OK))
_WARNING_ALPHA = 0.05  # of p-values of dispersion or autocorrelation, shared by all of a kind
_NO_DISPERSION = Spelled("dispersion=None", "none", parameter="dispersion")
_UNKNOWN_DISPERSION = Message(
    "the baseline has fewer than {} periods, so it is not known whether scores vary from period "
    "to period by more than chance. If they do, false alarms are more frequent than level "
    "promises. Give a baseline that keeps its days, of about 26 periods or more, or give "
    "{dispersion} if you know that scores of periods differ by chance alone.",
    MIN_PERIODS,
    dispersion=_NO_DISPERSION,
)
_DISPERSED = Message(
    "scores vary between the periods of the baseline by more than chance explains, so false "
    "alarms are more frequent than level promises. Give {dispersion} to allow for it.",
    dispersion="estimate",
)
_AUTOCORRELATED = Message(
    "scores of neighbouring periods of the baseline are more similar than chance explains. The "
    "longer such a memory lasts, the more frequent are false alarms. Give a longer baseline."
)


def period_columns(stream: Stream, results: Mapping[str, PeriodResults]) -> dict[Name, Any]:
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
    period_starts = adapter.date_series(stream.period_starts)
    columns[PERIOD] = adapter.take(period_starts, period[rows], nullable=False)
    columns["metric"] = counted_frame.text_column(list(results), metric)
    for name in (field.name for field in fields(PeriodResults)):
        stacked = np.stack([getattr(result, name) for result in results.values()])[metric, rows]
        if name == "status":
            columns[name] = counted_frame.text_column(
                _STATUSES, np.searchsorted(_STATUSES, stacked)
            )
        elif name == "since":
            columns[name] = adapter.take(period_starts, stacked, nullable=True)
        else:
            columns[name] = stacked
    return columns


def monitor_warnings(
    stream: Stream, dispersions: Sequence[BaselineDispersion], request: MonitorRequest
) -> list[Message]:
    """Return the warnings about too many looks, and about scores that vary between periods."""
    messages = []
    has_rows = (stream.counts(1).n > 0).reshape(stream.n_segments, stream.n_periods)
    n_looks = int(has_rows.sum(axis=1).max(initial=0))
    if n_looks > request.looks:
        messages.append(
            Message(
                "{} periods have rows, more than {looks}, for which level is promised. Give a "
                "larger number from the start, or begin again with a new baseline.",
                n_looks,
                looks=request.looks,
            )
        )
    is_unknown = [stream.has_baseline & ~dispersion.is_estimated for dispersion in dispersions]
    if request.estimates_dispersion and any(segments.any() for segments in is_unknown):
        messages.append(_UNKNOWN_DISPERSION)
    if not request.estimates_dispersion and _is_any_significant([d.p_value for d in dispersions]):
        messages.append(_DISPERSED)
    if _is_any_significant([d.autocorrelation_p_value for d in dispersions]):
        messages.append(_AUTOCORRELATED)
    return messages


def _is_any_significant(p_values: Sequence[FloatArray]) -> bool:
    """Return whether the smallest p-value is significant, adjusted for the number of them."""
    defined = np.concatenate(p_values)
    defined = defined[np.isfinite(defined)]
    return bool((defined < _WARNING_ALPHA / max(len(defined), 1)).any())
