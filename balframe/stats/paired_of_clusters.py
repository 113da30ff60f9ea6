"""Two models on the same rows, which come in clusters: limits of the difference, and its p-value.

Each label has the ratio D_k = (b_k - c_k) / n_k, where the first model alone gets b_k of its n_k
rows right and the second alone c_k.
"""

import numpy as np

from balframe.core.array_types import FloatArray
from balframe.stats.batching import by_number_of_labels
from balframe.stats.clustered_means import MeansOfClusters
from balframe.stats.paired_differences import paired_limits_at
from balframe.stats.proportions import Limits


def paired_limits_of_clusters(
    means: MeansOfClusters, only_one: FloatArray, only_other: FloatArray, level: float
) -> Limits:
    """Invert the score test with effective counts and a t quantile of each segment.

    Parameters
    ----------
    means : MeansOfClusters
        Of the differences of the labels.
    only_one, only_other : float arrays, shape (entries,)
        Rows of each label that only the first, and only the second, of two models gets right.
    level : float
        Confidence level, between 0 and 1.

    Returns
    -------
    lower, upper : float arrays, shape (segments,)
        NaN where all rows of a label are in one cluster.
    """
    low, high = np.full((2, means.clusters.n_segments), np.nan)
    quantile, n = means.influence.quantile(level), means.effective_rows
    columns = (*(rows / means.n * n for rows in (only_one, only_other)), n, means.share)
    for segments, entries in by_number_of_labels(means.segment, len(low), np.arange(len(n))):
        known = np.isfinite(n[entries]).all(axis=1) & np.isfinite(quantile[segments])
        segments = segments[known]
        b, c, rows, share = (column[entries[known]] for column in columns)
        low[segments], high[segments] = paired_limits_at(b, c, rows, share, quantile[segments])
    return low, high


def paired_p_value_of_clusters(means: MeansOfClusters) -> FloatArray:
    """Test by t that two models have the same score.

    Where no cluster moves the difference, its clusters are compared with a difference of 0.
    """
    p, difference = means.influence.p_value(means.value), means.value
    still = np.flatnonzero((means.influence.variance == 0) & (difference != 0))
    if len(still):
        p[still] = means.influence_around(np.zeros_like(means.mean)).p_value(difference)[still]
    return p
