"""Limits of the largest difference and ratio of segments, by loops over all pairs.

Critical values and p-values are SciPy's, of the studentized range. Segments are given by x and n,
as in `mean_recalls`, and share the weights of their labels.
"""

import math
from itertools import permutations

from scipy import stats

from tests.support.oracles.mean_recalls import (
    crossing,
    difference,
    multiplier_at,
    recalls,
    score,
    wrong,
)

ENDS = (-14, 14)  # of the logarithm of a ratio


def critical_value(level, k):
    return stats.studentized_range.ppf(level, k, math.inf) / math.sqrt(2)


def p_value(z, k):
    return stats.studentized_range.sf(z * math.sqrt(2), k, math.inf)


def extreme_limits(segments, a, level, upper=None):
    """Return limits of the largest difference and of lowest / highest, and the p-value.

    With weights, `upper` are the rows for upper limits of scores.
    """
    k, ends = len(segments), upper or segments
    z = critical_value(level, k)
    each = 1 - 2 * stats.norm.sf(z)
    pairs = [*permutations(range(k), 2)]
    below = [difference(segments[i], ends[j], a, each) for i, j in pairs]
    above = [difference(ends[i], segments[j], a, each) for i, j in pairs]
    scores = [score(*rows, a) for rows in segments]
    tests = [
        p
        for (i, j), (*_, p) in zip(pairs, below, strict=True)
        if not upper or scores[i] > scores[j]
    ]
    largest = max(stats.norm.isf(p / 2) for p in tests)
    ratios = [
        [ratio_limit(first[i], second[j], a, sign * z) for i, j in pairs]
        for sign, first, second in ((1, segments, ends), (-1, ends, segments))
    ]
    return (
        (max(0, *(low for low, _, _ in below)), max(high for _, high, _ in above)),
        (min(ratios[0]), min(1, *ratios[1])),
        p_value(largest, k),
    )


def ratio_limit(one, other, a, z):
    """Return the ratio at which the statistic of theta_1 - rho theta_2 is z."""
    (x, n), (y, m) = one, other
    correct, rows = [*x, *wrong(y, m)], [*n, *m]
    at_1 = [w * w / k for w, k in zip([*a, *a], rows, strict=True)]
    shares = [part / sum(at_1) for part in at_1]

    def statistic(log_ratio):
        rho = math.exp(log_ratio)
        weights = [w / (1 + rho) for w in (*a, *(rho * w for w in a))]
        multiplier = multiplier_at(correct, rows, weights, rho / (1 + rho))
        p = recalls(correct, rows, weights, multiplier)
        parts = [w * w * q * (1 - q) / k for w, q, k in zip(weights, p, rows, strict=True)]
        fitted = sum(v * k / (k - 1 + s) for v, k, s in zip(parts, rows, shares, strict=True))
        if not fitted > 0:
            return 0.0
        third = sum(
            w**3 * q * (1 - q) * (1 - 2 * q) / k**2
            for w, q, k in zip(weights, p, rows, strict=True)
        )
        t, skew = multiplier * sum(parts) / math.sqrt(fitted), third / (6 * fitted**1.5)
        if abs(skew) < 1e-8:
            return t - skew * (t * t - 1)
        square = 1 + 4 * skew * (skew + t)
        return -1 / (2 * skew) if square < 0 else (math.sqrt(square) - 1) / (2 * skew)

    low, high = ENDS
    if z > 0 and statistic(low) < z:
        return 0.0
    if z < 0 and statistic(high) > z:
        return math.inf
    return math.exp(crossing(lambda t: z - statistic(t), low, high))


def mover_extremes(values, limits):
    """Return MOVER limits of the largest difference from limits of each segment."""
    low, high = limits
    pairs = list(permutations(range(len(values)), 2))
    lower = max(
        values[i] - values[j] - math.hypot(values[i] - low[i], high[j] - values[j])
        for i, j in pairs
    )
    upper = max(
        values[i] - values[j] + math.hypot(high[i] - values[i], values[j] - low[j])
        for i, j in pairs
    )
    return max(lower, 0), upper


def level_of_each(level, k):
    """Return the level of limits of each segment from which those of pairs are combined."""
    return 1 - 2 * stats.norm.sf(critical_value(level, k))
