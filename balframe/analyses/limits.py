"""From the kind of interval that a metric names to limits that a caller can rely on."""

from collections.abc import Callable, Mapping

import numpy as np

from balframe.core.arrays import FloatArray
from balframe.core.cells import Cells
from balframe.core.class_counts import ClassCounts
from balframe.intervals.interval import Sample
from balframe.intervals.proportions import Limits
from balframe.intervals.request import GATE, Request
from balframe.metrics.registry import Metric


def deciding(metric: Metric, method: str | None, level: float) -> Request:
    """Ask for limits that decide: by the method named where the metric has it, else of gates."""
    return Request(method if method in metric.interval.methods else GATE, level)


def limits_of(
    metrics: Mapping[str, Metric],
    c: ClassCounts,
    cells: Callable[[], Cells],
    scores: Mapping[str, FloatArray],
    request: Request,
) -> dict[str, Limits]:
    """Compute the limits of metrics in every segment, NaN where one has none or is undefined."""
    sample = Sample(c, cells)
    return {name: _limits(one, sample, scores[name], request) for name, one in metrics.items()}


def _limits(metric: Metric, sample: Sample, estimate: FloatArray, request: Request) -> Limits:
    if not len(estimate):
        return estimate, estimate
    with np.errstate(invalid="ignore", divide="ignore", over="ignore"):
        low, high = metric.interval.limits(sample, estimate, request)
    method = metric.interval.method_of(request.method)
    return kept(low, high, estimate, metric.range, around=method != "posterior")


def kept(
    low: FloatArray,
    high: FloatArray,
    estimate: FloatArray,
    range_: tuple[float, float],
    *,
    around: bool,
) -> Limits:
    """Keep limits inside the range, and around the estimate; both or none, none without it."""
    is_unknown = np.isnan(estimate) | np.isnan(low) | np.isnan(high)
    low, high = (np.where(is_unknown, np.nan, limit) for limit in (low, high))
    if around:
        low, high = np.minimum(low, estimate), np.maximum(high, estimate)
    return np.clip(low, *range_), np.clip(high, *range_)
