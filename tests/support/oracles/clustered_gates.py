"""Limits that decide about rows in clusters, and tests from them, by loops over rows and halving.

Where few clusters have errors, rows are taken away: 1 / n' = w / n + (1 - w) / m* with
w = e / (e + (z / 4)^2), where e = (sum x_c)^2 / sum x_c^2 counts the clusters with errors. The
lower limit looks at errors, the upper one at correct rows.
"""

import math
from collections import Counter

import numpy as np
from scipy import optimize, stats

from tests.support.oracles import clusters as loops


def kish(rows):
    """Give the effective number of clusters that have these rows."""
    held = Counter()
    for row in rows:
        held[row[0]] += loops.weight_of(row)
    squares = sum(one**2 for one in held.values())
    return float(sum(held.values()) ** 2 / squares) if held else 0


def doubted(n, m_star, with_errors, z):
    """Take rows away, from n."""
    w = with_errors / (with_errors + (z / 4) ** 2)
    return 1 / (w / n + (1 - w) / m_star) if n > m_star else n


def clopper_pearson(p, n, z):
    """Give the lower limit whose test has the tail of z."""
    return stats.beta.ppf(stats.norm.sf(z), p * n, n - p * n + 1) if p > 0 else 0


def lower(labels):
    """Give the lower limit of a mean of ratios, as a function of z."""
    found = loops.mean(labels)
    p, a = np.array(found.p), np.array(found.a)
    counts = [
        (n, kish(values), kish(row for row in values if row[1] == 0))
        for n, (_, values) in zip(found.n_safe, labels, strict=True)
    ]
    floor = np.array([min(n, m_star) for n, m_star, _ in counts])

    def at(z):
        t = stats.t.isf(stats.norm.sf(z), found.df) if found.of_rows else z
        left = np.array([doubted(*one, z) for one in counts])
        if len(labels) == 1:
            n = max(left[0] * (z / t) ** 2, min(left[0], floor[0]))
            return clopper_pearson(found.p[0], n, z)
        return max(_lowest(p, n, a, q) for n, q in ((left, t), (floor, z)))

    return at


def _lowest(p, n, a, quantile):
    """Give the lower limit that the score test rejects neither with nor without its skewness."""
    return min(
        loops.lower(p * n, n, a, quantile, has_skewness=has_skewness)
        for has_skewness in (False, True)
    )


def mirrored(labels):
    """Exchange correct and wrong rows."""
    return [(a, [(c, 1 - v, *w) for c, v, *w in values]) for a, values in labels]


def limits(labels, z=loops.Z):
    """Give both limits."""
    return lower(labels)(z), 1 - lower(mirrored(labels))(z)


def reduced_correlation(one, other):
    """Give the correlation of two means, less half a standard error of its z transform."""
    _, r = loops.minus(loops.mean(one), loops.mean(other))
    return reduced(r, fewest(one, other))


def fewest(*sides):
    """Count the clusters with errors and with correct rows, of the label that has fewest."""
    return min(
        kish(row for row in values if row[1] == outcome)
        for labels in sides
        for _, values in labels
        for outcome in (0, 1)
    )


def reduced(r, fewest_clusters):
    if r <= 0:
        return r
    return max(0, math.tanh(math.atanh(r) - 0.5 / math.sqrt(max(fewest_clusters - 3, 1))))


def difference(one, other):
    """Give limits and p-value of the difference of two means of the same labels."""
    p, q, r = loops.mean(one).value, loops.mean(other).value, reduced_correlation(one, other)

    ends = loops.mover(p, limits(one), q, limits(other), r)
    larger, smaller = (one, other) if p > q else (other, one)
    distances = [(lower(side), loops.mean(side).value) for side in (larger, mirrored(smaller))]

    def nearest(z):
        above, below = (value - limit(z) for limit, value in distances)
        return abs(p - q) - math.sqrt(max(above**2 + below**2 - 2 * r * above * below, 0))

    if p == q or nearest(1e-3) <= 0:
        return (*ends, 1.0)
    return (*ends, 2 * stats.norm.sf(optimize.brentq(nearest, 1e-3, 8, xtol=1e-12)))
