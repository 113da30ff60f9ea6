"""Differences of two segments whose rows come in clusters, which both may share."""

from dataclasses import dataclass

import numpy as np

from balframe.api.interval_estimates import from_limits_of_both
from balframe.core.array_types import BoolArray, FloatArray
from balframe.core.sample import Sample
from balframe.metrics.registry import Metric
from balframe.stats.cluster_influence import Influence, correlation
from balframe.stats.clustered_means import MeansOfClusters, means_of_clusters
from balframe.stats.request import Request


@dataclass(frozen=True, slots=True)
class OfClusters:
    """Limits and p-values of differences, and whether the rows of both sides are independent."""

    lower: FloatArray
    upper: FloatArray
    p_value: FloatArray
    are_independent: BoolArray


def difference_of_clusters(
    name: str,
    metric: Metric,
    sides: tuple[Sample, Sample],
    scores: tuple[FloatArray, FloatArray],
    request: Request,
) -> OfClusters:
    """Find limits from those of both sides and their correlation, and test that it is 0.

    The p-value is undefined for a metric that is not linear in ratios.
    """
    one, other = (metric.interval.influence(side) for side in sides)
    n = len(scores[0])
    if one is None or other is None:
        low, high, p = np.full((3, n), np.nan)
        return OfClusters(low, high, p, np.zeros(n, np.bool_))
    r = correlation(one, other)
    lower, upper = from_limits_of_both(name, metric, sides, scores, request, r)
    p = np.full(n, np.nan)
    if metric.interval.is_linear:
        p = _p_value(metric, sides, one.minus(other))
    clusters = [side.clusters for side in sides]
    assert clusters[0] is not None
    assert clusters[1] is not None
    at, _ = one.shared_with(other)
    are_shared = np.bincount(one.segment[at], minlength=n) > 0
    single = clusters[0].are_single & clusters[1].are_single
    return OfClusters(lower, upper, p, single & ~are_shared)


def _p_value(metric: Metric, sides: tuple[Sample, Sample], found: Influence) -> FloatArray:
    """Test by t; where no cluster moves the difference, with ratios pooled over both sides."""
    one, other = (means_of_clusters(metric.interval, side) for side in sides)
    if one is None or other is None:
        return np.full(len(found.variance), np.nan)
    difference = one.value - other.value
    p = found.p_value(difference)
    still = (found.variance == 0) & (difference != 0)
    if still.any():
        p[still] = _pooled(one, other).p_value(difference)[still]
    return p


def _pooled(one: MeansOfClusters, other: MeansOfClusters) -> Influence:
    """Find the influence of the clusters if both sides had the same ratios."""
    mean = (one.mean * one.n + other.mean * other.n) / (one.n + other.n)
    return one.influence_around(mean).minus(other.influence_around(mean))
