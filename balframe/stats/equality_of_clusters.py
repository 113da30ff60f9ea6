"""The test that many segments whose rows come in clusters have the same score.

The scores are compared with their mean in a sum of squares, whose weights are from ratios pooled
over the segments: a variance estimated within a segment is small where its score is high by luck.
Segments that share clusters have correlated scores, so that the mean and the variance of the sum
are those of the second-order correction of Rao and Scott.

References
----------
B. L. Welch, "On the comparison of several mean values: an alternative approach", Biometrika 1951.
J. N. K. Rao and A. J. Scott, "The analysis of categorical data from complex sample surveys:
chi-squared tests for goodness of fit and independence in two-way tables", JASA 1981.
"""

import numpy as np

from balframe.core.array_types import FloatArray
from balframe.core.counting_strategy import blocks
from balframe.later import sparse, special
from balframe.stats.cluster_influence import Influence
from balframe.stats.clustered_means import MeansOfClusters

_PAIRS = 2**21  # of segments, at work at once
_ROUNDING = 1e-11  # between scores that are the same one


def equal_scores_of_clusters(means: MeansOfClusters) -> tuple[float, float]:
    """Return Q and the p-value of the test that all segments have the same mean.

    The segments have the same labels. Q = sum_g w_g (theta_g - mean)^2, and 1 / w_g is the variance
    of segment g with pooled ratios and its own effective rows. Of two segments the p-value is that
    of their difference. Both are undefined where one of the segments has all rows of a label in one
    cluster.
    """
    score, found = means.value, means.influence
    n = len(score)
    if n < 2 or not np.isfinite(found.variance).all():
        return np.nan, np.nan
    if np.ptp(score) <= _ROUNDING:
        return 0.0, 1.0
    weight = 1 / _variance(means)
    share = weight / weight.sum()
    statistic = float((weight * (score - (share * score).sum()) ** 2).sum())
    if n == 2 and (found.variance > 0).any():
        return statistic, _of_two(found, score)
    root = np.sqrt(share)
    products, squares = _correlations(found, root)
    trace = n - float((root * products).sum())
    squared = squares - 2 * float((products**2).sum()) + float((root * products).sum()) ** 2
    nu = n - 1 if squared <= trace**2 / (n - 1) else trace**2 / squared
    with np.errstate(divide="ignore"):
        unknown = float(((1 - share) ** 2 / np.maximum(found.df, 0)).sum())
    more = 1 + 2 * (n - 2) * unknown / (n**2 - 1)
    df = (n**2 - 1) / (3 * unknown)
    return statistic, float(special.fdtrc(nu, df, statistic / trace / more))


def _variance(means: MeansOfClusters) -> FloatArray:
    """Find the variance of each score if all segments had the same ratios."""
    n_segments = means.clusters.n_segments
    columns = (means.n, means.mean * means.n, means.share, means.effective_rows)
    rows, correct, share, effective = (values.reshape(n_segments, -1) for values in columns)
    pooled = correct.sum(axis=0) / rows.sum(axis=0)
    return np.asarray((share**2 * pooled * (1 - pooled) / effective).sum(axis=1))


def _of_two(found: Influence, score: FloatArray) -> float:
    one, other = (found.at(np.array([segment])) for segment in range(2))
    return float(one.minus(other).p_value(score[[0]] - score[[1]])[0])


def _correlations(found: Influence, root: FloatArray) -> tuple[FloatArray, float]:
    """Correlate the segments that share clusters, a part of them at a time.

    Returns for each segment the sum of its correlations r times `root`, itself included, and the
    sum of all r^2 less what chance adds to it: the fewer clusters two segments share, the larger is
    the correlation that seems to be there.
    """
    n = len(found.variance)
    sd = np.sqrt(np.where(found.variance > 0, found.variance, 1))
    codes, cluster = np.unique(found.cluster, return_inverse=True)
    if len(codes) == len(cluster):  # no cluster is in two segments
        return root, float(n)
    shape = (len(codes), n)
    at = (cluster, found.segment)
    held, value = (
        sparse.csc_array((values, at), shape=shape)
        for values in (np.ones(len(cluster)), found.value / sd[found.segment])
    )
    products, squares = np.zeros(n), 0.0
    for block in blocks(slice(0, n), max(1, _PAIRS // n)):
        shared = (held[:, block].T @ held).tocoo()
        first, other = (np.asarray(at, np.int64) for at in (shared.row, shared.col))
        is_own = first + block.start == other
        r = np.where(is_own, 1, (value[:, block].T @ value).toarray()[first, other])
        noise = np.where(is_own, 0, (1 - r**2) / np.maximum(shared.data - 1, 1))
        size = block.stop - block.start
        products[block] = np.bincount(first, weights=r * root[other], minlength=size)
        squares += float((r**2 - noise).sum())
    return products, squares
