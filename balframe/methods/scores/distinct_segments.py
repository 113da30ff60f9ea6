"""Scores and limits of all segments; segments with equal counts are computed once."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from balframe.api.interval_estimates import metric_limits
from balframe.api.metric_selection import MetricSelection, metric_values, segment_counts
from balframe.core.array_types import FloatArray, Int64Array
from balframe.core.cells import Cells
from balframe.core.sample import Sample
from balframe.core.unique_rows import unique_segments
from balframe.frames.counted_frame import CountedFrame
from balframe.metrics.registry import Metric
from balframe.stats.base import IntervalRequest
from balframe.stats.proportions import Limits


@dataclass(frozen=True, slots=True)
class ScoredSegments:
    """Counts, scores and limits of every segment.

    Without an interval request there are no limits. `sample` is what they were computed from. If
    rows are not in clusters, it may hold only one of several segments with equal counts.
    """

    counts: Mapping[str, Int64Array]
    scores: Mapping[str, FloatArray]
    limits: Mapping[str, Limits]
    sample: Sample


def distinct_segments(
    counted_frame: CountedFrame, metrics: Mapping[str, Metric], cells: Callable[[], Cells]
) -> tuple[Int64Array, Int64Array] | None:
    """Return one segment of each set with equal counts, and the set of every segment.

    None if computing each set once does not pay, if rows are in clusters, and with metrics of
    users, which may read more than one segment.
    """
    if counted_frame.clusters is not None or not all(
        metric.is_shipped for metric in metrics.values()
    ):
        return None
    return unique_segments(cells(), len(counted_frame.labels))


def score_segments(
    counted_frame: CountedFrame, selection: MetricSelection, request: IntervalRequest | None
) -> ScoredSegments:
    """Score every segment."""
    distinct = distinct_segments(counted_frame, selection.metrics, lambda: counted_frame.cells)
    if distinct is None:
        return _score_sample(selection.sample(counted_frame), selection, request)
    first, copies = distinct
    cells = counted_frame.cells.at(first)
    once = _score_sample(
        Sample(selection.class_counts(counted_frame, cells), lambda: cells), selection, request
    )
    return ScoredSegments(
        {name: values[copies] for name, values in once.counts.items()},
        {name: values[copies] for name, values in once.scores.items()},
        {name: (low[copies], high[copies]) for name, (low, high) in once.limits.items()},
        once.sample,
    )


def _score_sample(
    sample: Sample, selection: MetricSelection, request: IntervalRequest | None
) -> ScoredSegments:
    c, metrics = sample.counts, selection.metrics
    scores = {name: metric_values(metric, c) for name, metric in metrics.items()}
    limits = {} if request is None else metric_limits(metrics, sample, scores, request)
    return ScoredSegments(segment_counts(c), scores, limits, sample)
