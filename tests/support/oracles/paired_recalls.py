"""Limits and p-values of two models on the same rows, by nothing but bisection.

Each label is (a, b, c, n): its weight, the rows that only the first and only the second model gets
right, and all rows. With a multiplier l, m is the largest root of b/(m + t) + c/(m - t) + r/m = 1,
where t = l a and r = n - b - c; p_b = b/(m + t), p_c = c/(m - t); where c is 0 and m would be below
t, m = t and p_c is what p_b and r/m leave of 1.
"""

import math

import numpy as np

Z = 1.959963984540054
_HALVINGS = 50


def shares(t, b, c, r):
    """Halve the interval of m - t, from 0 to n."""
    low, high = np.zeros_like(t), b + c + r
    with np.errstate(divide="ignore", invalid="ignore"):
        for _ in range(_HALVINGS):
            z = (low + high) / 2
            is_low = b / (z + 2 * t) + c / z + r / (z + t) > 1
            low, high = np.where(is_low, z, low), np.where(is_low, high, z)
        z = np.where((c == 0) & (b / (2 * t) + r / t <= 1), 0, high)
        p_b = b / (z + 2 * t)
        p_c = np.where(c > 0, c / z, 1 - p_b - r / (z + t))
    return p_b, np.clip(p_c, 0, 1)


def at(multiplier, labels):
    """Give the difference, and the statistic l V / sqrt(V_f), where the multiplier is this."""
    a, b, c, n = labels
    p_b, p_c = shares(multiplier[:, None] * a, b, c, n - b - c)
    v = np.maximum(p_b + p_c - (p_b - p_c) ** 2, 0)
    part = a * a / n
    f = n / (n - 1 + part / part.sum(axis=1, keepdims=True))
    with np.errstate(invalid="ignore"):
        statistic = multiplier * (part * v).sum(axis=1) / np.sqrt((f * part * v).sum(axis=1))
    return (a * (p_b - p_c)).sum(axis=1), np.nan_to_num(statistic)


def lower(labels, is_beyond):
    """Halve the logarithm of the multiplier until it is where the limit is passed."""
    rows = len(labels[0])
    low, high = np.full(rows, -30.0), np.full(rows, 30.0)
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
    low, high = (lower(way, lambda _, statistic: statistic > z)[0] for way in ways)
    difference = (a * (b - c) / n).sum(axis=1)
    is_less = (difference < 0)[:, None]
    larger = a, np.where(is_less, c, b), np.where(is_less, b, c), n
    statistic = lower(larger, lambda left, _: left < 0)[1] * (np.abs(difference) > 1e-14)
    p = np.array([math.erfc(one / math.sqrt(2)) for one in statistic])
    return low, -high, p


def limits_of(parts, z=Z):
    """Give the limits and p of one segment, from (a, b, c, n) of each label."""
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
    labels = ([[of] for of in zip(*parts, strict=True)] for parts in (lower_parts, upper_parts))
    low, high, p = limits_and_p_by_side(*labels, z)
    return low[0], high[0], p[0]
