"""Tests of homogeneity: many segments have the same score, or the same recalls.

The arrays have one row for each segment and one column for each label. The tests compare a sum of
squares with the chi-square distribution that has one degree of freedom less than there are
segments. Where the variance of the sum is larger than that of this distribution, as with rare
errors in segments of very different size, a scaled chi-square distribution of the same variance
takes its place (Satterthwaite).
"""

import numpy as np

from balframe.core.array_types import FloatArray, Int64Array
from balframe.core.counting_strategy import blocks
from balframe.stats.cluster_influence import Influence
from balframe.stats.clustered_means import ClusteredMeans
from balframe.stats.constrained_mle import WeightedBinomials
from balframe.stats.differences import scas_difference
from balframe.stats.lazy_scipy import sparse, special

MIN_ROWS_FOR_CHI_SQUARE = 10  # rows of every label in every segment
_BETWEEN_LABELS = 0.6  # set by simulation: without it a thousand segments of (10, 10) err in .12
_SCORE_TOLERANCE = 1e-11  # scores closer than this are equal
_MIN_STEP = 1e-14  # of the common score, so that Q has 12 digits
_TIE = 1e-9  # times a jump: an end of the jump closer to 0 than this is 0 up to rounding
_MAX_STEPS = 100


def score_homogeneity_test(x: FloatArray, n: FloatArray, a: FloatArray) -> tuple[float, float]:
    """Return Q and the p-value of Rao's score test that all segments have the same score.

    Each segment has its own recalls: at the common score they are the constrained maximum
    likelihood estimates. For two segments the p-value is that of their difference. With one label,
    segments that expect less than one error, or less than one correct row, would be significant too
    often: the p-value is the larger one of Q and of Q with these segments pooled.

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
    statistic, p_value = _score_test(x, n, a)
    pools = _pools(x[:, 0], n[:, 0]) if n.shape[1] == 1 < len(n) - 1 else None
    if pools is not None:
        x, n = (np.bincount(pools, column[:, 0]).astype(np.float64)[:, None] for column in (x, n))
        p_value = max(p_value, _score_test(x, n, a[: len(n)])[1] if len(n) > 1 else 1.0)
    return statistic, p_value


def _score_test(x: FloatArray, n: FloatArray, a: FloatArray) -> tuple[float, float]:
    c = WeightedBinomials.of(x, n, a)
    if np.ptp(c.score) <= _SCORE_TOLERANCE:
        return 0.0, 1.0
    if len(n) == 2:
        first, second = ((x[[i]], n[[i]]) for i in range(2))
        return _statistic(c)[0], float(scas_difference(*first, *second, a[[0]], 0.95)[2][0])
    statistic, excess_variance = _statistic(c)
    df = len(n) - 1
    return statistic, scaled_chi_square_tail(statistic, df, variance_scale(excess_variance, df))


def _pools(x: FloatArray, n: FloatArray) -> Int64Array | None:
    """Return the pool of every segment, of which those with few rows share one; None if none does.

    From the smallest on, segments that expect less than one error or less than one correct row at
    the common score are merged until they expect one. The last ones join the pool before them, or
    the smallest other segment.
    """
    theta = x.sum() / n.sum()
    expected = n * min(theta, 1 - theta)
    order = np.argsort(n, kind="stable")
    tiny, others = (order[chosen] for chosen in (expected[order] < 1, expected[order] >= 1))
    if not len(tiny):
        return None
    pools, n_pools, in_pool = np.zeros(len(n), np.int64), 0, 0.0
    for segment in tiny:
        pools[segment] = n_pools
        in_pool += expected[segment]
        if in_pool >= 1:
            n_pools, in_pool = n_pools + 1, 0.0
    if in_pool > 0 and n_pools:
        pools[pools == n_pools] = n_pools - 1
    pools[others] = n_pools + np.arange(len(others))
    return pools


def _statistic(c: WeightedBinomials) -> tuple[float, float]:
    """Return Q, and the excess of its variance over that of chi-square.

    A segment contributes to neither if its score is the common score and no row varies.
    """
    theta, p = _common_score(c)
    varies = (c.start == 0) | (np.abs(c.score - theta) > _SCORE_TOLERANCE)
    precision = 1 / c.variance_factor.sum(axis=0)
    others = (1 - precision / precision.sum())[varies]
    c, p = c.at(np.flatnonzero(varies)), p[:, varies]
    pq = p * (1 - p)
    variance = (c.variance_factor * pq).sum(axis=0)
    corrected = (c.corrected_factor(c.share * others) * pq).sum(axis=0)
    between = 1 + _BETWEEN_LABELS * (c.share * (1 - c.share) / c.n).sum(axis=0)
    statistic = ((c.score - theta) ** 2 / corrected / between).sum()
    kurtosis = (c.a**4 * pq * (1 - 6 * pq) / c.n**3).sum(axis=0) / variance**2
    skewness = (c.third_moment_factor * pq * (1 - 2 * p)).sum(axis=0) / variance**2
    others = 1 - (1 / variance) / (1 / variance).sum()
    common_excess = (others * skewness).sum() ** 2 / (1 / variance).sum()
    return float(statistic), float((kurtosis * others**2).sum() - common_excess)


def _common_score(c: WeightedBinomials) -> tuple[float, FloatArray]:
    """Return the score at which the multipliers of all segments sum to 0, and the recalls there.

    Their sum falls as the score grows. Each step uses the slope between the last two scores (secant
    method), the first an approximation.
    """
    low, high = _between_jumps(c)
    precision = 1 / c.variance_factor.sum(axis=0)
    theta = float((c.score * precision).sum() / precision.sum())
    theta = theta if low < theta < high else (low + high) / 2
    previous = None
    for _ in range(_MAX_STEPS):
        multiplier, p = c.constrained_mle(np.full(len(c.score), theta))
        excess = float(multiplier.sum())
        low, high = (theta, high) if excess > 0 else (low, theta)
        if high - low <= _MIN_STEP:
            break
        slope = float((1 / (c.variance_factor * p * (1 - p)).sum(axis=0)).sum())
        if previous is not None and (previous[1] - excess) * (theta - previous[0]) > 0:
            slope = (previous[1] - excess) / (theta - previous[0])
        step = excess / slope
        if abs(step) <= _MIN_STEP:
            break
        previous = theta, excess
        theta = theta + step if low <= theta + step <= high else (low + high) / 2
    return theta, p


def _between_jumps(c: WeightedBinomials) -> tuple[float, float]:
    """Return bounds of the common score between which the sum of multipliers has no jump.

    The sum jumps at the score of a segment in which no row varies, as where one label is always
    right and another always wrong. If the sum changes its sign there, both bounds are that score.
    """
    low, high = float(c.score.min()), float(c.score.max())
    below, above = c.start, c.mirror().start
    jumps = np.unique(c.score[(below > 0) & np.isfinite(below) & np.isfinite(above)])
    while len(jumps):
        middle = float(jumps[len(jumps) // 2])
        is_here = np.abs(c.score - middle) <= _SCORE_TOLERANCE
        others = float(c.constrained_mle(np.full(len(c.score), middle))[0][~is_here].sum())
        left, right = others + below[is_here].sum(), others - above[is_here].sum()
        if left < -_TIE * (left - right):
            high = middle
        elif right > _TIE * (left - right):
            low = middle
        else:
            return middle, middle
        jumps = jumps[(low < jumps) & (jumps < high)]
    return low, high


def recall_homogeneity_test(x: FloatArray, n: FloatArray, a: FloatArray) -> float:
    """Return the p-value of a test that all segments have the same recalls, based on their scores.

    Q = sum_g w_g (theta_g - mean)^2 with 1/w_g = sum_k a_k^2 P_k (1 - P_k) / n_gk from pooled
    recalls P_k, similar to Cochran's statistic. Undefined for fewer than two segments, and where a
    support is under 10.
    """
    if len(n) < 2 or n.min() < MIN_ROWS_FOR_CHI_SQUARE:
        return np.nan
    total = n.sum(axis=0)
    pooled = x.sum(axis=0) / total
    pq = pooled * (1 - pooled)
    variance = (a * a * pq / n).sum(axis=1)
    if not (variance > 0).all():  # all right or all wrong, everywhere
        return 1.0
    weight = 1 / variance
    share = weight / weight.sum()
    theta = (a * x / n).sum(axis=1)
    statistic = float((weight * (theta - (share * theta).sum()) ** 2).sum())
    kurtosis = weight**2 * (a**4 * pq * (1 - 6 * pq) / n**3).sum(axis=1)
    slope = ((weight * (1 - share))[:, None] * a * a / n).sum(axis=0)
    pooled_excess = (slope**2 * (1 - 2 * pooled) ** 2 * pq / total).sum()
    df, excess_variance = len(n) - 1, float((kurtosis * (1 - share) ** 2).sum() - pooled_excess)
    return scaled_chi_square_tail(statistic, df, variance_scale(excess_variance, df))


def variance_scale(excess_variance: float, df: int) -> float:
    """Return c, by which the variance of Q exceeds that of chi-square: at least 1.

    c times chi-square of df / c degrees of freedom has the mean df and the variance 2 df c.
    """
    return max(1 + excess_variance / (2 * df), 1.0)


def scaled_chi_square_tail(statistic: float, df: int, scale: float) -> float:
    """Return the probability that c times chi-square of df / c degrees of freedom exceeds Q."""
    p = float(special.chdtrc(df / scale, statistic / scale))
    # below one degree of freedom the distribution is so close to 0 that any Q would be significant
    return p if scale <= df else max(p, float(special.chdtrc(df, statistic)))


# Rows in clusters


_MAX_SEGMENT_PAIRS = 2**21  # computed at once
_CLUSTERED_TOLERANCE = 1e-11  # scores closer than this are equal


def clustered_homogeneity_test(means: ClusteredMeans) -> tuple[float, float]:
    """Return Q and the p-value of the test that all segments have the same mean.

    The segments have the same labels. Q = sum_g w_g (theta_g - mean)^2, and 1 / w_g is the variance
    of segment g with pooled ratios and its own effective sample sizes. Both are undefined where one
    of the segments has all rows of a label in one cluster.
    """
    score, influence = means.value, means.influence
    n = len(score)
    if n < 2 or not np.isfinite(influence.variance).all():
        return np.nan, np.nan
    if np.ptp(score) <= _CLUSTERED_TOLERANCE:
        return 0.0, 1.0
    weight = 1 / _pooled_variance(means)
    share = weight / weight.sum()
    statistic = float((weight * (score - (share * score).sum()) ** 2).sum())
    root_share = np.sqrt(share)
    products, squares = _correlations(influence, root_share)
    trace = n - float((root_share * products).sum())
    trace_of_square = (
        squares - 2 * float((products**2).sum()) + float((root_share * products).sum()) ** 2
    )
    nu = n - 1 if trace_of_square <= trace**2 / (n - 1) else trace**2 / trace_of_square
    # Welch's F test: the variance of each segment is estimated with its degrees of freedom
    with np.errstate(divide="ignore"):
        welch_sum = float(((1 - share) ** 2 / np.maximum(influence.df, 0)).sum())
    scale = 1 + 2 * (n - 2) * welch_sum / (n**2 - 1)
    df = (n**2 - 1) / (3 * welch_sum)
    return statistic, float(special.fdtrc(nu, df, statistic / trace / scale))


def _pooled_variance(means: ClusteredMeans) -> FloatArray:
    """Return the variance of each score if all segments had the same ratios."""
    n_segments = means.clusters.n_segments
    columns = (means.n, means.mean * means.n, means.share, means.conservative_sizes)
    rows, correct, share, effective = (values.reshape(n_segments, -1) for values in columns)
    pooled = correct.sum(axis=0) / rows.sum(axis=0)
    return np.asarray((share**2 * pooled * (1 - pooled) / effective).sum(axis=1))


def _correlations(influence: Influence, root_share: FloatArray) -> tuple[FloatArray, float]:
    """Correlate the segments that share clusters, a block of segments at a time.

    Returns for each segment g the sum over h of r_gh `root_share`_h, itself included, and the sum
    of all r_gh^2 less its expected value by chance. The fewer clusters two segments share, the
    larger is a correlation by chance.
    """
    n = len(influence.variance)
    sd = np.sqrt(np.where(influence.variance > 0, influence.variance, 1))
    codes, cluster = np.unique(influence.cluster, return_inverse=True)
    if len(codes) == len(cluster):  # no cluster is in two segments
        return root_share, float(n)
    shape = (len(codes), n)
    positions = (cluster, influence.segment)
    is_in_cluster, value = (
        sparse.csc_array((values, positions), shape=shape)
        for values in (np.ones(len(cluster)), influence.value / sd[influence.segment])
    )
    products, squares = np.zeros(n), 0.0
    for block in blocks(slice(0, n), max(1, _MAX_SEGMENT_PAIRS // n)):
        shared = (is_in_cluster[:, block].T @ is_in_cluster).tocoo()
        g, h = (np.asarray(segments, np.int64) for segments in (shared.row, shared.col))
        is_diagonal = g + block.start == h
        r = np.where(is_diagonal, 1, (value[:, block].T @ value).toarray()[g, h])
        noise = np.where(is_diagonal, 0, (1 - r**2) / np.maximum(shared.data - 1, 1))
        size = block.stop - block.start
        products[block] = np.bincount(g, weights=r * root_share[h], minlength=size)
        squares += float((r**2 - noise).sum())
    return products, squares
