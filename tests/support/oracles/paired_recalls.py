"""Limits and p-values of two models on the same rows, by nothing but bisection.

Each label is (a, b, c, n): its weight, the rows that only the first and only the second model gets
right, and all rows. With a multiplier l, m is the largest root of b/(m + t) + c/(m - t) + r/m = 1,
where t = l a and r = n - b - c; p_b = b/(m + t), p_c = c/(m - t); where c is 0 and m would be below
t, m = t and p_c is what p_b and r/m leave of 1.
"""

import math
from functools import cache

import numpy as np

Z = 1.959963984540054
_HALVINGS = 50


def shares(t, b, c, r):
    """Give p_b and p_c."""
    return all_shares(t, b, c, r)[:2]


def all_shares(t, b, c, r):
    """Halve the interval of m - t, from 0 to n; give p_b, p_c and p_r."""
    low, high = np.zeros_like(t), b + c + r
    with np.errstate(divide="ignore", invalid="ignore"):
        for _ in range(_HALVINGS):
            z = (low + high) / 2
            is_low = b / (z + 2 * t) + c / z + r / (z + t) > 1
            low, high = np.where(is_low, z, low), np.where(is_low, high, z)
        z = np.where((c == 0) & (b / (2 * t) + r / t <= 1), 0, high)
        p_b = b / (z + 2 * t)
        p_r = r / (z + t)
        p_c = np.where(c > 0, c / z, 1 - p_b - p_r)
    return p_b, np.clip(p_c, 0, 1), p_r


def at(multiplier, labels):
    """Give the difference, the statistic l V / sqrt(V_f), and it corrected for skewness."""
    a, b, c, n = labels
    p_b, p_c, p_r = all_shares(multiplier[:, None] * a, b, c, n - b - c)
    v, third = (central_moment(power, p_b, p_c, p_r) for power in (2, 3))
    part = a * a / n
    f = n / (n - 1 + part / part.sum(axis=1, keepdims=True))
    v_f = (f * part * v).sum(axis=1)
    with np.errstate(invalid="ignore"):
        statistic = np.nan_to_num(multiplier * (part * v).sum(axis=1) / np.sqrt(v_f))
    corrected = correct(statistic, (a**3 / n**2 * third).sum(axis=1), v_f)
    return (a * (p_b - p_c)).sum(axis=1), statistic, corrected


def central_moment(power, p_b, p_c, p_r):
    """Give the moment of a row that is 1, -1 or 0, around its mean p_b - p_c."""
    above, below = 2 * p_c + p_r, 2 * p_b + p_r  # how far 1 and -1 are from the mean
    return p_b * above**power + p_c * (-below) ** power + p_r * (p_c - p_b) ** power


def correct(statistic, third, v_f):
    """Solve statistic = z + A (z^2 - 1) for z; without a root, take the vertex."""
    with np.errstate(all="ignore"):
        skew = np.nan_to_num(third / (6 * v_f**1.5))
        under = 1 + 4 * skew * (skew + statistic)
        root = (np.sqrt(np.maximum(under, 0)) - 1) / (2 * skew)
        vertex = -1 / (2 * skew)
    near_zero = statistic - skew * (statistic**2 - 1)
    return np.where(np.abs(skew) < 1e-8, near_zero, np.where(under < 0, vertex, root))


def lower(labels, is_beyond, top=30.0):
    """Halve the logarithm of the multiplier until it is where the limit is passed."""
    rows = len(labels[0])
    low, high = np.full(rows, -30.0), np.full(rows, top)
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        beyond = is_beyond(*at(np.exp(middle), labels))
        low, high = np.where(beyond, low, middle), np.where(beyond, middle, high)
    return at(np.exp(high), labels)


def limits_and_p(labels, z=Z):
    """Take a, b, c, n of the shape (segments, labels); a label that is not there has a = 0."""
    a, b, c, n = (np.asarray(values, float) for values in labels)
    n = np.where(a > 0, n, 2)
    ways = (a, b, c, n), (a, c, b, n)
    low, high = (lower(way, lambda _, statistic, __: statistic > z)[0] for way in ways)
    difference = (a * (b - c) / n).sum(axis=1)
    is_less = (difference < 0)[:, None]
    larger = a, np.where(is_less, c, b), np.where(is_less, b, c), n
    statistic = lower(larger, lambda left, *_: left < 0)[1] * (np.abs(difference) > 1e-14)
    p = np.array([math.erfc(one / math.sqrt(2)) for one in statistic])
    return low, -high, p


def gate_limits(labels, z=Z):
    """Take labels as `limits_and_p` does; give the wider of the limits with and without A."""
    a, b, c, n = (np.asarray(values, float) for values in labels)
    n = np.where(a > 0, n, 2)
    low, high = (
        lower(way, lambda _, *statistics: np.minimum(*statistics) > z, 60.0)[0]
        for way in ((a, b, c, n), (a, c, b, n))
    )
    return low, -high


def gate_limits_of(parts, z=Z):
    """Give the limits of `gate_limits` of one segment, from (a, b, c, n) of each label."""
    low, high = gate_limits([[of] for of in zip(*parts, strict=True)], z)
    return low[0], high[0]


def limits_of(parts, z=Z):
    """Give the limits and p of one segment, from (a, b, c, n) of each label."""
    return _limits_of(tuple(map(tuple, parts)), z)


@cache  # because many metrics and kinds of frames have the same
def _limits_of(parts, z):
    low, high, p = limits_and_p([[of] for of in zip(*parts, strict=True)], z)
    return low[0], high[0], p[0]


def effective(sums, squares, k):
    """Turn sums of weights (B, C, E), of their squares, and the largest weight k into rows.

    These are b, c and n for the lower limit, and for the upper one.
    """
    (b, c, e), (s_b, s_c, s_e) = sums, squares
    total = b + c + e
    sides = (
        _rows_for_lower((b, c, e), (s_b, s_c, s_e), k),
        _rows_for_lower((c, b, e), (s_c, s_b, s_e), k),
    )
    return [(b / total * n, c / total * n, n) for n in sides]


def _rows_for_lower(sums, squares, k):
    """Add a row of weight k that only the second model gets right."""
    (b, c, e), (s_b, s_c, s_e) = sums, squares
    kish = (b + c + e) ** 2 / (s_b + s_c + s_e)
    t = b + c + e + k
    b, c = b / t, (c + k) / t
    d = b - c
    v = ((1 - d) ** 2 * s_b + (1 + d) ** 2 * (s_c + k * k) + d * d * s_e) / t**2
    return min((b + c - d * d) / v - 1, kish) if v > 0 else kish


def limits_and_p_by_side(lower_labels, upper_labels, z=Z):
    """Take the lower limits of the former rows, the upper ones of the latter, and p by the sign."""
    low, _, p_low = limits_and_p(lower_labels, z)
    _, high, p_high = limits_and_p(upper_labels, z)
    a, b, c, n = (np.asarray(values, float) for values in lower_labels)
    difference = (a * (b - c) / np.where(a > 0, n, 2)).sum(axis=1)
    return low, high, np.where(difference > 0, p_low, p_high)


def limits_by_side(lower_parts, upper_parts, z=Z):
    """Give the limits and p of one segment, as `limits_of` does."""
    return _limits_by_side(tuple(map(tuple, lower_parts)), tuple(map(tuple, upper_parts)), z)


@cache
def _limits_by_side(lower_parts, upper_parts, z):
    labels = ([[of] for of in zip(*parts, strict=True)] for parts in (lower_parts, upper_parts))
    low, high, p = limits_and_p_by_side(*labels, z)
    return low[0], high[0], p[0]
