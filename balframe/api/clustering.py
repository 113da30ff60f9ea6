"""What clusters mean for the estimates of segments: how many there are, and what they cost."""

import numpy as np

from balframe.core.array_types import FloatArray, Int64Array
from balframe.core.sample import Sample
from balframe.metrics.registry import Metric
from balframe.stats.clustered_means import means_of_clusters

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
