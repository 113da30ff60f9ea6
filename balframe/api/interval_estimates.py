"""Limits of metrics in segments, by the interval kind that each metric names."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from balframe.core.array_types import FloatArray, Int64Array
from balframe.core.sample import Clusters, Sample
from balframe.metrics.base import BaseMetric
from balframe.metrics.partly_labelled import corrected_limits
from balframe.metrics.registry import Metric
from balframe.stats.base import COMPARED, IntervalRequest
from balframe.stats.cluster_influence import Influence
from balframe.stats.clustered_means import clustered_means
from balframe.stats.differences import mover_difference
from balframe.stats.proportions import Limits

DesignEffects = tuple[FloatArray, FloatArray]  # effective clusters and design effects, by segment


def cluster_counts(sample: Sample) -> dict[str, Int64Array]:
    """Count the clusters of every segment, if rows are in clusters."""
    return {} if sample.clusters is None else {"n_clusters": sample.clusters.n}


def design_effects(metric: Metric, sample: Sample) -> DesignEffects:
    """Return the effective clusters and the design effects of a metric, NaN where undefined."""
    undefined = np.full(sample.counts.n_segments, np.nan)
    if sample.clusters is None or not metric.interval.has_clusters:
        return undefined, undefined
    with np.errstate(invalid="ignore", divide="ignore"):
        means = clustered_means(metric.interval, sample)
        influence = metric.interval.influence(sample)
        if influence is None:
            return undefined, undefined
        effect = influence.design_effect if means is None else means.design_effect
    return where_finite(effect, influence)


def where_finite(effect: FloatArray, influence: Influence) -> DesignEffects:
    """Return effective clusters and design effects, both NaN where the effect is not finite."""
    is_defined = np.isfinite(effect)
    n_effective = np.where(is_defined, influence.effective_clusters, np.nan)
    return n_effective, np.where(is_defined, effect, np.nan)


def interval_request(options: Mapping[str, Any]) -> IntervalRequest | None:
    """Return the intervals that a caller requests.

    Doubt and bounds are about limits, so they request them by default.
    """
    interval = options["interval"]
    if interval is None and (options["missing"] == "bounds" or options["doubt"] is not None):
        interval = True
    return IntervalRequest.of(interval, options["level"], options["cluster"])


def metric_limits(
    metric: Metric, sample: Sample, estimate: FloatArray, request: IntervalRequest
) -> Limits:
    """Compute the limits of a metric in every segment, NaN where they are undefined."""
    if not len(estimate):
        return estimate, estimate
    if sample.strata is not None:
        return _limits_of_partly_labelled(metric, sample, estimate, request)
    with np.errstate(invalid="ignore", divide="ignore", over="ignore"):
        if sample.clusters is None:
            lower, upper = metric.interval.limits(sample, estimate, request)
        else:
            lower, upper = _cluster_limits(metric, sample, estimate, request)
    method = metric.interval.method_of(request.method)
    return clip_limits(
        lower, upper, estimate, metric.range, around_estimate=not method.endswith("posterior")
    )


def _limits_of_partly_labelled(
    metric: Metric, sample: Sample, estimate: FloatArray, request: IntervalRequest
) -> Limits:
    """Compute the limits of all rows; where all have a true label, those of `metric_limits`."""
    strata = sample.strata
    assert strata is not None
    lower, upper = np.full((2, len(estimate)), np.nan)
    for at in strata.segments_by_size():  # a margin may have many more strata than its segments
        part = sample.at(at)
        assert part.strata is not None
        with np.errstate(invalid="ignore", divide="ignore", over="ignore"):
            lower[at], upper[at] = corrected_limits(
                metric, part.counts, part.strata, request.method, request.level
            )
    if request.method == COMPARED:  # with others that lack true labels
        return lower, upper
    whole = np.flatnonzero(strata.n_labelled == strata.n)
    if len(whole):
        rows = replace(sample.at(whole), strata=None)
        lower[whole], upper[whole] = metric_limits(metric, rows, estimate[whole], request)
    return lower, upper


def interval_methods(
    metrics: Mapping[str, Metric],
    clusters: Clusters | None,
    n_segments: int,
    request: IntervalRequest,
) -> tuple[list[str], Int64Array]:
    """Return names of interval methods, and the position of that of each metric in each segment.

    The positions have the shape (segments, metrics). A metric without a method has the position
    after the last name.
    """
    kinds = [metric.interval for metric in metrics.values()]
    row_methods = [kind.method_of(request.method) for kind in kinds]
    cluster_methods = [kind.method_of_clusters(request.method) for kind in kinds]
    names = sorted({*row_methods, *cluster_methods} - {""})
    row_codes, cluster_codes = (
        np.array([(*names, "").index(method) for method in methods], np.int64)
        for methods in (row_methods, cluster_methods)
    )
    has_rows = np.ones(n_segments, np.bool_)  # rather than clusters of several rows
    if clusters is not None:
        has_rows = clusters.are_single
    return names, np.where(has_rows[:, None], row_codes, cluster_codes)


def _cluster_limits(
    metric: Metric, sample: Sample, estimate: FloatArray, request: IntervalRequest
) -> Limits:
    """Compute the limits for clusters, and those for rows where every cluster is a single row."""
    assert sample.clusters is not None
    limits = metric.interval.limits_of_clusters(sample, estimate, request)
    lower, upper = (limit.copy() for limit in limits)
    single = np.flatnonzero(sample.clusters.are_single)
    if len(single):
        rows = replace(sample.at(single), clusters=None)
        lower[single], upper[single] = metric.interval.limits(rows, estimate[single], request)
    return lower, upper


def mover_difference_limits(
    metric: Metric,
    sides: tuple[Sample, Sample],
    scores: tuple[FloatArray, FloatArray],
    request: IntervalRequest,
    correlation: FloatArray | float = 0,
) -> Limits:
    """Compute the limits of a difference from those of both sides."""
    first, second = (
        metric_limits(metric, sample, score, request)
        for sample, score in zip(sides, scores, strict=True)
    )
    return mover_difference(scores[0], first, scores[1], second, correlation)


def clip_limits(
    lower: FloatArray,
    upper: FloatArray,
    estimate: FloatArray,
    range_: tuple[float, float],
    *,
    around_estimate: bool,
) -> Limits:
    """Clip limits to the range of the metric; NaN both if either or the estimate is undefined.

    With `around_estimate`, they are widened to include the estimate.
    """
    is_undefined = np.isnan(estimate) | np.isnan(lower) | np.isnan(upper)
    if around_estimate:
        lower, upper = np.minimum(lower, estimate), np.maximum(upper, estimate)
    least, most = range_
    lower, upper = (np.minimum(np.maximum(limit, least), most) for limit in (lower, upper))
    return np.where(is_undefined, np.nan, lower), np.where(is_undefined, np.nan, upper)


def clip_difference_limits(limits: Limits, difference: FloatArray, metric: BaseMetric) -> Limits:
    """Clip limits of a difference of two values of a metric to its range, as `clip_limits` does."""
    width = metric.range[1] - metric.range[0]
    return clip_limits(*limits, difference, (-width, width), around_estimate=True)
