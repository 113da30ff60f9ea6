"""Tests that many segments have the same score, or the same recalls.

The arrays have one row for each segment and one column for each label. Both tests compare a sum of
squares with the chi-square distribution of one degree of freedom less than there are segments.
Where the variance of the sum is larger than that distribution's, as with rare errors in segments
of very different size, a scaled chi-square of that variance takes its place (Satterthwaite's way).
"""

import numpy as np

from balframe.core.array_types import FloatArray
from balframe.core.counting_strategy import blocks
from balframe.stats.cluster_influence import Influence
from balframe.stats.clustered_means import MeansOfClusters
from balframe.stats.constrained_mle import Segments
from balframe.stats.differences import scas_difference
from balframe.stats.lazy_scipy import sparse, special

# The test that many segments whose rows come in clusters have the same score.


_PAIRS = 2**21  # of segments, at work at once
_ROUNDING_OF_CLUSTERS = 1e-11  # between scores that are the same one


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
    if np.ptp(score) <= _ROUNDING_OF_CLUSTERS:
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


LEAST_FOR_CHI_SQUARE = 10  # rows of every label in every segment
_BETWEEN_LABELS = 0.6  # set by simulation: without it a thousand segments of (10, 10) err in .12
_ROUNDING = 1e-11  # between scores that are the same one
_SMALL_STEP = 1e-14  # of the common score, so that Q has 12 digits
_TIE = 1e-9  # of a jump that ends at 0, up to rounding
_MOST_STEPS = 100


def equal_scores(x: FloatArray, n: FloatArray, a: FloatArray) -> tuple[float, float]:
    """Return Q and the p-value of Rao's test that all segments have the same score.

    Each segment keeps recalls of its own: at the common score they are those that constrained
    maximum likelihood gives. Of two segments the p-value is that of their difference.

    Parameters
    ----------
    x, n, a : float arrays, shape (segments, labels)
        Correct rows, rows and weights of the labels.

    Returns
    -------
    statistic, p_value : float
        Undefined for fewer than two segments; 0 and 1 where all scores are the same.
    """
    if len(n) < 2:
        return np.nan, np.nan
    c = Segments.of(x, n, a)
    if np.ptp(c.score) <= _ROUNDING:
        return 0.0, 1.0
    if len(n) == 2:
        one, other = ((x[[i]], n[[i]]) for i in range(2))
        return _statistic(c)[0], float(scas_difference(*one, *other, a[[0]], 0.95)[2][0])
    statistic, more = _statistic(c)
    return statistic, _scaled_chi_square(statistic, len(n) - 1, more)


def _statistic(c: Segments) -> tuple[float, float]:
    """Return Q, and by how much its variance exceeds that of chi-square.

    A segment whose score is the common one without any row that varies adds nothing to either.
    """
    theta, p = _common_score(c)
    varies = (c.start == 0) | (np.abs(c.score - theta) > _ROUNDING)
    precision = 1 / c.part.sum(axis=0)
    left = (1 - precision / precision.sum())[varies]
    c, p = c.at(np.flatnonzero(varies)), p[:, varies]
    spread = p * (1 - p)
    variance = (c.part * spread).sum(axis=0)
    corrected = (c.corrected(c.share * left) * spread).sum(axis=0)
    between = 1 + _BETWEEN_LABELS * (c.share * (1 - c.share) / c.n).sum(axis=0)
    statistic = ((c.score - theta) ** 2 / corrected / between).sum()
    kurtosis = (c.a**4 * spread * (1 - 6 * spread) / c.n**3).sum(axis=0) / variance**2
    third = (c.third * spread * (1 - 2 * p)).sum(axis=0) / variance**2
    others = 1 - (1 / variance) / (1 / variance).sum()
    of_common = (others * third).sum() ** 2 / (1 / variance).sum()
    return float(statistic), float((kurtosis * others**2).sum() - of_common)


def _common_score(c: Segments) -> tuple[float, FloatArray]:
    """Find the score at which the multipliers of all segments sum to 0, and the recalls there.

    Their sum falls as the score grows: its slope is guessed first, and then that between the last
    two scores.
    """
    low, high = _between_jumps(c)
    precision = 1 / c.part.sum(axis=0)
    theta = float((c.score * precision).sum() / precision.sum())
    theta = theta if low < theta < high else (low + high) / 2
    before = None
    for _ in range(_MOST_STEPS):
        multiplier, p = c.held_at(np.full(len(c.score), theta))
        excess = float(multiplier.sum())
        low, high = (theta, high) if excess > 0 else (low, theta)
        if high - low <= _SMALL_STEP:
            break
        slope = float((1 / (c.part * p * (1 - p)).sum(axis=0)).sum())
        if before is not None and (before[1] - excess) * (theta - before[0]) > 0:
            slope = (before[1] - excess) / (theta - before[0])
        step = excess / slope
        if abs(step) <= _SMALL_STEP:
            break
        before = theta, excess
        theta = theta + step if low <= theta + step <= high else (low + high) / 2
    return theta, p


def _between_jumps(c: Segments) -> tuple[float, float]:
    """Find scores between which the common one lies, and the sum of multipliers has no jump.

    It has one at the score of a segment in which no row varies, as where one label is always right
    and another always wrong. Where the sum changes its sign there, both ends are that score.
    """
    low, high = float(c.score.min()), float(c.score.max())
    below, above = c.start, c.mirrored().start
    jumps = np.unique(c.score[(below > 0) & np.isfinite(below) & np.isfinite(above)])
    while len(jumps):
        middle = float(jumps[len(jumps) // 2])
        here = np.abs(c.score - middle) <= _ROUNDING
        others = float(c.held_at(np.full(len(c.score), middle))[0][~here].sum())
        left, right = others + below[here].sum(), others - above[here].sum()
        if left < -_TIE * (left - right):
            high = middle
        elif right > _TIE * (left - right):
            low = middle
        else:
            return middle, middle
        jumps = jumps[(low < jumps) & (jumps < high)]
    return low, high


def equal_recalls(x: FloatArray, n: FloatArray, a: FloatArray) -> float:
    """Return the p-value of the test that all segments have the same recalls, by their scores.

    Q = sum_g w_g (theta_g - mean)^2 with 1/w_g = sum_k a_k^2 P_k (1 - P_k) / n_gk from pooled
    recalls P_k, in the manner of Cochran's statistic. Undefined for fewer than two segments, and
    where a support is under 10.
    """
    if len(n) < 2 or n.min() < LEAST_FOR_CHI_SQUARE:
        return np.nan
    total = n.sum(axis=0)
    pooled = x.sum(axis=0) / total
    spread = pooled * (1 - pooled)
    variance = (a * a * spread / n).sum(axis=1)
    if not (variance > 0).all():  # all right or all wrong, everywhere
        return 1.0
    weight = 1 / variance
    share = weight / weight.sum()
    theta = (a * x / n).sum(axis=1)
    statistic = float((weight * (theta - (share * theta).sum()) ** 2).sum())
    kurtosis = weight**2 * (a**4 * spread * (1 - 6 * spread) / n**3).sum(axis=1)
    slope = ((weight * (1 - share))[:, None] * a * a / n).sum(axis=0)
    of_pooled = (slope**2 * (1 - 2 * pooled) ** 2 * spread / total).sum()
    return _scaled_chi_square(
        statistic, len(n) - 1, float((kurtosis * (1 - share) ** 2).sum() - of_pooled)
    )


def _scaled_chi_square(statistic: float, df: int, more: float) -> float:
    """Find how likely Q is exceeded, if its variance is that of chi-square and so much more."""
    scale = max(1 + more / (2 * df), 1.0)
    p = float(special.chdtrc(df / scale, statistic / scale))
    # with less than one degree of freedom it lies so close to 0 that any Q would be too large
    return p if scale <= df else max(p, float(special.chdtrc(df, statistic)))
