"""From the kind of interval that a metric names to limits that a caller can rely on."""

from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from balframe.core.array_types import FloatArray, Int64Array
from balframe.core.sample import Clusters, Sample
from balframe.metrics.registry import Metric
from balframe.stats.base import GATE, IntervalRequest
from balframe.stats.clustered_means import means_of_clusters
from balframe.stats.differences import mover_difference
from balframe.stats.proportions import Limits

# What clusters mean for the estimates of segments: how many there are, and what they cost.


Design = tuple[FloatArray, FloatArray]


def n_clusters(sample: Sample) -> dict[str, Int64Array]:
    """Count the clusters of every segment, if rows are in clusters."""
    return {} if sample.clusters is None else {"n_clusters": sample.clusters.n}


def design(metric: Metric, sample: Sample) -> Design:
    """Give the effective clusters and the design effect of a metric, NaN where undefined."""
    nothing = np.full(sample.counts.n_segments, np.nan)
    if sample.clusters is None or not metric.interval.has_clusters:
        return nothing, nothing
    with np.errstate(invalid="ignore", divide="ignore"):
        means = means_of_clusters(metric.interval, sample)
        found = metric.interval.influence(sample)
        if found is None:
            return nothing, nothing
        effect = found.design_effect if means is None else means.design_effect
    known = np.isfinite(effect)
    return np.where(known, found.effective_clusters, np.nan), np.where(known, effect, np.nan)


def deciding(metric: Metric, method: str | None, level: float) -> IntervalRequest:
    """Ask for limits that decide: by the method named where the metric has it, else of gates."""
    return IntervalRequest(method if method in metric.interval.methods else GATE, level)


def limits_of(
    metrics: Mapping[str, Metric],
    sample: Sample,
    scores: Mapping[str, FloatArray],
    request: IntervalRequest,
) -> dict[str, Limits]:
    """Compute the limits of metrics in every segment, NaN where one has none or is undefined."""
    return {name: _limits(one, sample, scores[name], request) for name, one in metrics.items()}


def methods_of(
    metrics: Mapping[str, Metric],
    clusters: Clusters | None,
    n_segments: int,
    request: IntervalRequest,
) -> tuple[list[str], Int64Array]:
    """Name the methods, and give the position of that of each metric in every segment.

    The positions have the shape (segments, metrics); that behind the last name is of no method.
    """
    kinds = [metric.interval for metric in metrics.values()]
    of_rows = [kind.method_of(request.method) for kind in kinds]
    of_clusters = [kind.method_of_clusters(request.method) for kind in kinds]
    names = sorted({*of_rows, *of_clusters} - {""})
    code_of_rows, code_of_clusters = (
        np.array([(*names, "").index(one) for one in methods], np.int64)
        for methods in (of_rows, of_clusters)
    )
    is_row = np.ones(n_segments, np.bool_)
    if clusters is not None:
        is_row = clusters.are_single
    return names, np.where(is_row[:, None], code_of_rows, code_of_clusters)


def _limits(
    metric: Metric, sample: Sample, estimate: FloatArray, request: IntervalRequest
) -> Limits:
    if not len(estimate):
        return estimate, estimate
    with np.errstate(invalid="ignore", divide="ignore", over="ignore"):
        if sample.clusters is None:
            low, high = metric.interval.limits(sample, estimate, request)
        else:
            low, high = _of_clusters(metric, sample, estimate, request)
    method = metric.interval.method_of(request.method)
    return kept(low, high, estimate, metric.range, around=method != "posterior")


def _of_clusters(
    metric: Metric, sample: Sample, estimate: FloatArray, request: IntervalRequest
) -> Limits:
    """Compute the limits of rows in clusters; those of independent rows where each is its own."""
    assert sample.clusters is not None
    found = metric.interval.limits_of_clusters(sample, estimate, request)
    low, high = (limit.copy() for limit in found)
    single = np.flatnonzero(sample.clusters.are_single)
    if len(single):
        own = replace(sample.at(single), clusters=None)
        low[single], high[single] = metric.interval.limits(own, estimate[single], request)
    return low, high


def from_limits_of_both(
    name: str,
    metric: Metric,
    sides: tuple[Sample, Sample],
    scores: tuple[FloatArray, FloatArray],
    request: IntervalRequest,
    correlation: FloatArray | float = 0,
) -> Limits:
    """Find limits of a difference from those of either side."""
    (one, of_one), (other, of_other) = (
        (value, limits_of({name: metric}, side, {name: value}, request)[name])
        for side, value in zip(sides, scores, strict=True)
    )
    return mover_difference(one, of_one, other, of_other, correlation)


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
    if around:
        low, high = np.minimum(low, estimate), np.maximum(high, estimate)
    least, most = range_
    low, high = (np.minimum(np.maximum(limit, least), most) for limit in (low, high))
    return np.where(is_unknown, np.nan, low), np.where(is_unknown, np.nan, high)
