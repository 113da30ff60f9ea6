"""Limits and tests of means of recalls, from their formulas, one segment and one root at a time.

A segment is given by x, n and a: for each of its labels the rows that are right, all its rows, and
the weight of its recall. The weights sum to 1; a proportion has one label.
"""

import math

import numpy as np
from scipy import optimize, stats
from statsmodels.stats.proportion import proportion_confint

ENDS = (-60, 60)  # of the logarithm of a multiplier


def crossing(function, low, high):
    """Find where a function changes its sign, and the end without a change where it has none."""
    if function(low) * function(high) > 0:
        return high if function(low) < 0 else low
    return optimize.brentq(function, low, high, xtol=1e-15, rtol=1e-14, maxiter=500)


def score(x, n, a):
    return math.fsum(w * k / m for k, m, w in zip(x, n, a, strict=True))


def wrong(x, n):
    return [m - k for k, m in zip(x, n, strict=True)]


def recalls(x, n, a, multiplier):
    """Solve x / p - (n - x) / (1 - p) = multiplier * a for the p of each label."""
    if multiplier < 0:
        return [1 - q for q in recalls(wrong(x, n), n, a, -multiplier)]
    fitted = []
    for k, m, w in zip(x, n, a, strict=True):
        la = multiplier * w
        fitted.append(2 * k / (m + la + math.sqrt((m - la) ** 2 + 4 * la * (m - k))))
    return [min(max(p, 0), 1) for p in fitted]


def variances(n, a, p):
    """Give V, and V with the recalls having been fitted to the rows."""
    part = [w * w / m for w, m in zip(a, n, strict=True)]
    share = [one / sum(part) for one in part]
    spread = [one * q * (1 - q) for one, q in zip(part, p, strict=True)]
    fitted = [v * m / (m - 1 + s) for v, m, s in zip(spread, n, share, strict=True)]
    return math.fsum(spread), math.fsum(fitted)


def third_moment(n, a, p):
    return math.fsum(
        w**3 * q * (1 - q) * (1 - 2 * q) / m**2 for w, m, q in zip(a, n, p, strict=True)
    )


def distance(x, n, a, multiplier, *, skewed):
    """Standardise how far the score lies above the one held; corrected for skewness if asked."""
    p = recalls(x, n, a, multiplier)
    v, v_f = variances(n, a, p)
    if v == 0:
        return 0.0
    t, skew = multiplier * v / math.sqrt(v_f), third_moment(n, a, p) / (6 * v_f**1.5)
    if not skewed:
        return t
    if abs(skew) < 1e-8:
        return t - skew * (t * t - 1)
    square = 1 + 4 * skew * (skew + t)
    return -1 / (2 * skew) if square < 0 else (math.sqrt(square) - 1) / (2 * skew)


def lower_limit(x, n, a, level, *, skewed):
    z = stats.norm.ppf((1 + level) / 2)
    at = crossing(lambda t: distance(x, n, a, math.exp(t), skewed=skewed) - z, *ENDS)
    if at == ENDS[1]:  # no score is too low
        return 0.0
    return min(score(recalls(x, n, a, math.exp(at)), [1] * len(n), a), score(x, n, a))


def searched_limits(x, n, a, level, *, skewed):
    """Find the score limits, or the skewness-corrected ones."""
    upper = 1 - lower_limit(wrong(x, n), n, a, level, skewed=skewed)
    return lower_limit(x, n, a, level, skewed=skewed), upper


def scas(x, n, a, level):
    return searched_limits(x, n, a, level, skewed=True)


def clopper_pearson(x, n, level):
    return proportion_confint(x, n, alpha=1 - level, method="beta")


def gate(x, n, a, level):
    """Find the limits that decide."""
    if len(n) == 1:
        return clopper_pearson(x[0], n[0], level)
    found = [searched_limits(x, n, a, level, skewed=skewed) for skewed in (False, True)]
    if min(n) < 5:
        below = above = 0
        for k, m, w in zip(x, n, a, strict=True):
            low, high = clopper_pearson(k, m, level)
            below, above = below + (w * (k / m - low)) ** 2, above + (w * (high - k / m)) ** 2
        middle = score(x, n, a)
        found.append((max(middle - math.sqrt(below), 0), min(middle + math.sqrt(above), 1)))
    return min(low for low, _ in found), max(high for _, high in found)


def multiplier_at(x, n, a, theta):
    """Find the multiplier at which the score is theta."""
    if abs(theta - score(x, n, a)) <= 1e-15:
        return 0.0
    if theta > score(x, n, a):
        return -multiplier_at(wrong(x, n), n, a, 1 - theta)
    ones = [1] * len(n)
    t = crossing(lambda t: theta - score(recalls(x, n, a, math.exp(t)), ones, a), *ENDS)
    return math.exp(t)


def difference(one, other, a, level):
    """Compare two segments of x and n: limits of the difference, and the p-value that it is 0."""
    (x, n), (y, m) = one, other
    both = ([*x, *wrong(y, m)], [*n, *m], [w / 2 for w in (*a, *a)])
    low, high = scas(*both, level)
    z = distance(*both, multiplier_at(*both, 0.5), skewed=True)
    return 2 * low - 1, 2 * high - 1, 2 * stats.norm.sf(abs(z))


def equal_scores(segments):
    """Test that segments of x, n and a have the same score: Q, and its p-value from 3 on."""
    scores = [score(*one) for one in segments]
    theta = optimize.brentq(
        lambda theta: sum(multiplier_at(*one, theta) for one in segments),
        min(scores),
        max(scores),
        xtol=1e-15,
        rtol=1e-14,
    )
    inverse = [1 / sum(w * w / m for w, m in zip(a, n, strict=True)) for _, n, a in segments]
    q, v, third, kurtosis = 0, [], [], []
    for (x, n, a), mine in zip(segments, inverse, strict=True):
        p = recalls(x, n, a, multiplier_at(x, n, a, theta))
        s = [w * w / m * mine for w, m in zip(a, n, strict=True)]
        own = variances(n, a, p)[0]
        fitted = math.fsum(
            w * w * r * (1 - r) / (m - 1 + k * (1 - mine / sum(inverse)))
            for m, w, r, k in zip(n, a, p, s, strict=True)
        )
        between = 1 + 0.6 * sum(k * (1 - k) / m for k, m in zip(s, n, strict=True))
        q += (score(x, n, a) - theta) ** 2 / fitted / between
        fourth = (
            w**4 * r * (1 - r) * (1 - 6 * r * (1 - r)) / m**3
            for m, w, r in zip(n, a, p, strict=True)
        )
        v, third = [*v, own], [*third, third_moment(n, a, p) / own**2]
        kurtosis.append(math.fsum(fourth) / own**2)
    left = [1 - 1 / one / sum(1 / each for each in v) for one in v]
    df = len(segments) - 1
    variance = 2 * df + np.dot(kurtosis, np.square(left))
    variance -= np.dot(left, third) ** 2 / sum(1 / one for one in v)
    scale = max(variance / (2 * df), 1)
    return q, stats.chi2.sf(q / scale, df / scale)


def effective(right, mistaken):
    """Count the rows that weights are worth, for the lower and for the upper limit.

    Takes the weights of the right and of the wrong rows. Each side has the right rows, and all.
    """
    right, mistaken = (np.asarray(weights, float) for weights in (right, mistaken))
    total, k = right.sum() + mistaken.sum(), max(*right, *mistaken, 0)
    kish = total**2 / ((right**2).sum() + (mistaken**2).sum())
    return [
        (n * right.sum() / total, n)
        for n in (
            _rows_for_lower(right, mistaken, k, kish),
            _rows_for_lower(mistaken, right, k, kish),
        )
    ]


def _rows_for_lower(right, mistaken, k, kish):
    """Add one more mistaken row of the largest weight k, and take the variance of the share q."""
    if not right.sum():
        return kish
    mistaken = np.append(mistaken, k)
    whole = right.sum() + mistaken.sum()
    q = mistaken.sum() / whole
    variance = ((1 - q) ** 2 * (mistaken**2).sum() + q**2 * (right**2).sum()) / whole**2
    return min(q * (1 - q) / variance - 1, kish)


def by_side(limits, lower, upper):
    """Take the lower limit of the former rows, and the upper limit of the latter."""
    return limits(*lower)[0], limits(*upper)[1]


def weighted_difference(first, second, a, level):
    """Compare two segments of [x, n] for the lower and for the upper limits of their scores."""
    (low_x, low_n), (up_x, up_n) = first
    (low_y, low_m), (up_y, up_m) = second
    below = difference((low_x, low_n), (up_y, up_m), a, level)
    above = difference((up_x, up_n), (low_y, low_m), a, level)
    d = score(low_x, low_n, a) - score(low_y, low_m, a)
    p = 1.0 if abs(d) < 1e-13 else (below if d > 0 else above)[2]
    return below[0], above[1], p
