"""The scores and limits of all segments, computed once for segments with equal counts."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from balframe.api.interval_estimates import limits_of
from balframe.api.metric_selection import Scoring, counted, value_of
from balframe.core.array_types import FloatArray, Int64Array
from balframe.core.cells import Cells
from balframe.core.sample import Sample
from balframe.core.unique_rows import equal_counts
from balframe.frames.counted_frame import CountedFrame
from balframe.metrics.registry import Metric
from balframe.stats.base import IntervalRequest
from balframe.stats.proportions import Limits


@dataclass(frozen=True, slots=True)
class ScoredSegments:
    """Counts of every segment, and the scores and limits of every metric there.

    There are no limits without a request. `sample` is what they were computed from: where rows are
    not in clusters, it may hold only one of several segments with equal counts.
    """

    counts: Mapping[str, Int64Array]
    scores: Mapping[str, FloatArray]
    limits: Mapping[str, Limits]
    sample: Sample


def distinct_segments(
    reading: CountedFrame, metrics: Mapping[str, Metric], cells: Callable[[], Cells]
) -> tuple[Int64Array, Int64Array] | None:
    """Find the different segments, as `equal_counts` does, where each can be computed alone.

    None also where rows are in clusters, and for metrics of users, which may look at more than one
    segment.
    """
    if reading.clusters is not None or not all(one.is_shipped for one in metrics.values()):
        return None
    return equal_counts(cells(), len(reading.labels))


def score_segments(
    reading: CountedFrame, scoring: Scoring, request: IntervalRequest | None
) -> ScoredSegments:
    """Score every segment of what was read."""
    equal = distinct_segments(reading, scoring.metrics, lambda: reading.cells)
    if equal is None:
        return _score_sample(scoring.sample(reading), scoring, request)
    first, copies = equal
    cells = reading.cells.at(first)
    once = _score_sample(
        Sample(scoring.class_counts(reading, cells), lambda: cells), scoring, request
    )
    return ScoredSegments(
        {name: values[copies] for name, values in once.counts.items()},
        {name: values[copies] for name, values in once.scores.items()},
        {name: (low[copies], high[copies]) for name, (low, high) in once.limits.items()},
        once.sample,
    )


def _score_sample(
    sample: Sample, scoring: Scoring, request: IntervalRequest | None
) -> ScoredSegments:
    c, metrics = sample.counts, scoring.metrics
    scores = {name: value_of(metric, c) for name, metric in metrics.items()}
    limits = {} if request is None else limits_of(metrics, sample, scores, request)
    return ScoredSegments(counted(c), scores, limits, sample)
