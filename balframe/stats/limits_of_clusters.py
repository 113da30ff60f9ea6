"""Confidence limits of means of ratios whose rows come in clusters.

They are the limits of independent rows with effective counts and a t quantile of each segment.
"""

from collections.abc import Callable

import numpy as np

from balframe.core.array_types import FloatArray
from balframe.core.safe_divide import ratio
from balframe.stats.batching import by_number_of_labels
from balframe.stats.clustered_means import MeansOfClusters
from balframe.stats.constrained_mle import Segments, corrected, lower_limit, standardised
from balframe.stats.mean_recall import not_rejected
from balframe.stats.proportions import Limits, exact, normal_quantile, wilson_at
from balframe.stats.request import GATE

_DOUBT = 4  # over the quantile, squared: clusters with errors at which half of the doubt is gone

Rows = Callable[[FloatArray, FloatArray, FloatArray, FloatArray], Limits]


def limits_of_means(of: MeansOfClusters, method: str, level: float) -> Limits:
    """Compute the limits of every segment, NaN where a label has all rows in one cluster."""
    if method == GATE:
        return _gate(of, level)
    low, high = np.full((2, of.clusters.n_segments), np.nan)
    quantile, n, every = of.influence.quantile(level), of.effective_rows, np.arange(len(of.n))
    for segments, entries in by_number_of_labels(of.segment, len(low), every):
        known = np.isfinite(n[entries]).all(axis=1) & np.isfinite(quantile[segments])
        segments, entries = segments[known], entries[known]
        rows, mean, share = (values[entries] for values in (n, of.mean, of.share))
        low[segments], high[segments] = _METHODS[method](
            rows * mean, rows, share, quantile[segments]
        )
    return low, high


def _wilson(x: FloatArray, n: FloatArray, a: FloatArray, t: FloatArray) -> Limits:
    return wilson_at(x[:, 0], n[:, 0], t)


def _score(x: FloatArray, n: FloatArray, a: FloatArray, t: FloatArray) -> Limits:
    return not_rejected(x, n, a, t, standardised)


def _scas(x: FloatArray, n: FloatArray, a: FloatArray, t: FloatArray) -> Limits:
    return not_rejected(x, n, a, t, corrected)


_METHODS: dict[str, Rows] = {"wilson": _wilson, "score": _score, "scas": _scas}


def _gate(of: MeansOfClusters, level: float) -> Limits:
    """Compute the limits that decide; the lower one doubts a lack of errors, the upper one hits."""
    lower = _lower(of, of.mean, of.rows - of.total, level)
    return lower, 1 - _lower(of, 1 - of.mean, of.total, level)


def _lower(of: MeansOfClusters, mean: FloatArray, errors: FloatArray, level: float) -> FloatArray:
    """Compute lower limits that decide, from the errors in each part."""
    z, t = normal_quantile(level), of.influence.quantile(level)
    clusters = of.effective_clusters_of_labels
    n = doubted(of.effective_rows, clusters, of.effective_clusters_with(errors), z)
    least = np.minimum(of.effective_rows, clusters)
    found = np.full(of.clusters.n_segments, np.nan)
    for segments, entries in by_number_of_labels(of.segment, len(found), np.arange(len(n))):
        known = np.isfinite(n[entries]).all(axis=1) & np.isfinite(t[segments])
        segments, entries = segments[known], entries[known]
        rows, floor, p, a = (values[entries] for values in (n, least, mean, of.share))
        if entries.shape[1] == 1:
            fewer = np.maximum(rows[:, 0] * (z / t[segments]) ** 2, np.minimum(rows, floor)[:, 0])
            found[segments], _ = exact(fewer * p[:, 0], fewer, level)
        else:
            found[segments] = np.maximum(
                _wider(rows, p, a, t[segments]), _wider(floor, p, a, np.full(len(p), z))
            )
    return found


def _wider(n: FloatArray, p: FloatArray, a: FloatArray, quantile: FloatArray) -> FloatArray:
    """Find the lower limits that score or skewness-corrected score does not reject."""
    return lower_limit(Segments.of(n * p, n, a), quantile, standardised, corrected)


def doubted(
    n: FloatArray, clusters: FloatArray, with_errors: FloatArray, quantile: float
) -> FloatArray:
    """Take rows away where few clusters have errors, down to the number of clusters.

    The design effect is estimated from the errors. Where few clusters have some, it and the error
    rate are low together by luck. 1/n' = w/n + (1 - w)/m with w = e / (e + (z/4)^2), where e
    clusters of equal size have errors. The constant is set by simulation.
    """
    known = with_errors / (with_errors + (quantile / _DOUBT) ** 2)
    fewer = ratio(np.ones(len(n)), known / n + (1 - known) / clusters)
    return np.where(n > clusters, fewer, n)
