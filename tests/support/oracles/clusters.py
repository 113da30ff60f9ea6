"""Variances, limits and tests of rows in clusters, by loops over rows and dense matrices.

A mean of ratios is a list of labels (a, rows): the weight of the label, and (cluster, value) of
each row of its denominator. The value is 0 or 1, or the difference of two models. Rows may have a
weight as their last element; those without have the weight 1.
"""

import math
from collections import Counter
from fractions import Fraction
from itertools import product
from types import SimpleNamespace

import numpy as np
from scipy import special, stats

LEVEL = 0.95
Z = stats.norm.isf((1 - LEVEL) / 2)
_HALVINGS = 70


def moments(u, tau, size):
    """Give V, m, m* and df from influences and variances expected of clusters.

    `size` stands for these where all are 0.
    """
    v = sum(one**2 for one in u.values())
    share = tau if any(tau.values()) else size
    m, m_star = len(tau), sum(share.values()) ** 2 / sum(one**2 for one in share.values())
    kurtosis = m * sum(one**4 for one in u.values()) / v**2 if v > 0 else 1
    df = min(m_star - 1, 2 * m / (kurtosis - 1)) if kurtosis > 1 else m_star - 1
    return SimpleNamespace(
        u=u, tau=tau, size=size, v=v, m=m, m_star=m_star, kurtosis=kurtosis, df=df
    )


def exchangeable(clusters):
    """Give the common correlation of rows, and the variance, from (u, e, g) of each cluster.

    A cluster has the variance e if rows are independent, and e + g if they are all equal.
    """
    varying = [(u, e, g) for u, e, g in clusters if e > 0]
    more = sum(g / e for _, e, g in varying)
    rho = (sum(u**2 / e for u, e, _ in varying) - len(varying)) / more if more > 0 else 0
    rho = min(1, max(0, rho))
    return rho, sum(e + rho * g for _, e, g in clusters)


def floor_of_mean(of_labels, u):
    """Give the correlation, and the least variance of a mean.

    Labels are (a, n, p, pq, shares), with the shares of weights and of squared weights.
    """
    parts = []
    for c in u:
        own = [
            (a, n, square, *(share.get(c, 0) for share in shares))
            for a, n, _, square, shares in of_labels
        ]
        e = sum(a**2 * square * s / n for a, n, square, _, s in own)
        sd = sum(a * math.sqrt(square) * h for a, _, square, h, _ in own)
        parts.append((u[c], e, sd**2 - e))
    rho, f = exchangeable(parts)
    if not f:
        return rho, 0
    d = max(1, f / sum(e for _, e, _ in parts))

    def smoothed(divisor):
        total = 0
        for a, n, p, square, _ in of_labels:
            rows = n / divisor
            q = (p * rows + 0.5) / (rows + 1)
            total += a**2 * q * (1 - q) / n if square else 0
        return total

    return rho, max(1, smoothed(d) / smoothed(1)) * f


def weight_of(row):
    """Give the weight of a row (cluster, value) or (cluster, value, weight)."""
    return Fraction(row[2]) if len(row) > 2 else 1


def effective_rows(rows):
    """Give the effective rows of a proportion, the fewer of those for the two limits."""
    sides = [[weight_of(row) for row in rows if (row[1] > 0) == is_right] for is_right in (1, 0)]
    every = sides[0] + sides[1]
    most, whole = max(every), sum(every)
    kish = whole**2 / sum(w**2 for w in every)
    if min(every) == most:
        return float(kish)
    sizes = [kish]
    for right, wrong in (sides, sides[::-1]):
        total = whole + most
        q = (sum(wrong) + most) / total
        own, other = (sum(w**2 for w in side) for side in (right, wrong))
        v = ((1 - q) ** 2 * (other + most**2) + q**2 * own) / total**2
        sizes += [q * (1 - q) / v - 1] if right else []
    return float(min(sizes))


def mean(labels, at=None):
    """Give a mean of ratios with its variance; with `at`, as if the ratios were these.

    None where a label has all rows in one cluster.
    """
    whole, of_labels = sum(a for a, _ in labels), []
    for k, (a, rows) in enumerate(labels):
        total, held, squares = Counter(), Counter(), Counter()
        for row in rows:
            cluster, w = row[0], weight_of(row)
            total[cluster] += w * row[1]
            held[cluster] += w
            squares[cluster] += w**2
        if len(held) == 1:
            return None
        size, n = sum(held.values()), effective_rows(rows)
        p = Fraction(sum(total.values())) / size
        around = p if at is None else at[k]
        square = float(Fraction(sum(weight_of(row) * row[1] ** 2 for row in rows)) / size - p**2)
        share = {c: float(held[c] / size) for c in held}
        u = {c: float((total[c] - around * held[c]) / size) / math.sqrt(1 - share[c]) for c in held}
        m_star = 1 / sum(one**2 for one in share.values())
        v = sum(one**2 for one in u.values())
        deff = max(1, v * n / square if square else n / m_star)
        spread = {c: float(squares[c] / sum(squares.values())) for c in held}
        of_labels.append((float(a / whole), n, float(p), square, u, (share, spread), deff, m_star))
    varies = any(square for *_, square, _, _, _, _ in of_labels)
    of_rows = sum(a**2 * square / n for a, n, _, square, *_ in of_labels)
    enlarged = sum(a**2 * square * deff / n for a, n, _, square, _, _, deff, _ in of_labels)
    u, tau, size = Counter(), Counter(), Counter()
    for a, n, _, square, u_k, (share, spread), deff, _ in of_labels:
        for c in u_k:
            u[c] += a * u_k[c]
            tau[c] += a**2 / n * spread[c] * (square * deff * of_rows / enlarged if varies else 0)
            size[c] += a**2 / n * share[c]
    found = moments(u, tau, size)
    r = max(found.v, of_rows) / enlarged if varies else 1
    found.n_eff = [max(1, n / deff / (r if s else 1)) for _, n, _, s, _, _, deff, _ in of_labels]
    found.rho, found.floor = floor_of_mean([(*label[:4], label[5]) for label in of_labels], u)
    r = max(found.v, of_rows, found.floor) / enlarged if varies else 1
    found.n_safe = [max(1, n / deff / (r if s else 1)) for _, n, _, s, _, _, deff, _ in of_labels]
    found.quantile = stats.t.isf((1 - LEVEL) / 2, found.df)
    if not varies:
        found.quantile = stats.norm.isf((1 - LEVEL) / 2)
    found.value = sum(a * p for a, _, p, *_ in of_labels)
    found.a, found.p = ([one[i] for one in of_labels] for i in (0, 2))
    found.of_rows = of_rows
    parts = [(a**2 / n, deff) for a, n, _, _, _, _, deff, _ in of_labels]
    by_size = sum(w * deff for w, deff in parts) / sum(w for w, _ in parts)
    found.design_effect = found.v / of_rows if varies else by_size
    return found


def wilson(labels):
    """Solve (p - t)^2 = q^2 t (1 - t) / n."""
    found = mean(labels)
    n, p, q = found.n_safe[0], found.p[0], found.quantile
    centre, half = p + q * q / n / 2, q * math.sqrt(p * (1 - p) / n + (q / n / 2) ** 2)
    return (centre - half) / (1 + q * q / n), (centre + half) / (1 + q * q / n)


def score(labels):
    """Halve the range of the multiplier at which the score statistic is the quantile."""
    found = mean(labels)
    a, n, q = np.array(found.a), np.array(found.n_safe), found.quantile
    right = np.array(found.p) * n
    return lower(right, n, a, q), 1 - lower(n - right, n, a, q)


def lower(x, n, a, q, *, has_skewness=False):
    """Give the lower limit of the score test of a mean of recalls, corrected for its skewness."""
    if not x.any():
        return 0.0
    part = a**2 / n
    enlarged = part * n / (n - 1 + part / part.sum())

    def recalls(multiplier):
        pull = multiplier * a
        p = 2 * x / (n + pull + np.sqrt(np.maximum((n + pull) ** 2 - 4 * pull * x, 0)))
        return np.where(x == n, n / np.maximum(n, pull), p)

    low, high = -30.0, 30.0
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        p = recalls(math.exp(middle))
        v, v_f = (part * p * (1 - p)).sum(), (enlarged * p * (1 - p)).sum()
        k3 = (part * a / n * p * (1 - p) * (1 - 2 * p)).sum() if has_skewness else 0
        is_inside = v_f == 0 or _without_skewness(math.exp(middle) * v, v_f, k3) <= q
        low, high = (middle, high) if is_inside else (low, middle)
    return min((a * recalls(math.exp(low))).sum(), (a * x / n).sum())


def _without_skewness(distance, variance, third):
    """Give z, where distance / sd = z + A (z^2 - 1) and A = k3 / (6 sd^3)."""
    t, skew = distance / math.sqrt(variance), third / (6 * variance**1.5)
    root = 1 + 4 * skew * (skew + t)
    return 2 * (skew + t) / (1 + math.sqrt(root)) if root >= 0 else -1 / (2 * skew)


def minus(one, other):
    """Give the influence on a difference, and the correlation of both sides."""
    u, tau, size = Counter(one.u), Counter(one.tau), Counter(one.size)
    for c in other.u:
        u[c] -= other.u[c]
        tau[c] += other.tau[c]
        size[c] += other.size[c]
    shared = sum(one.u[c] * other.u[c] for c in one.u.keys() & other.u.keys())
    both = one.v * other.v
    return moments(u, tau, size), shared / math.sqrt(both) if both > 0 else 0


def mover(one, of_one, other, of_other, r):
    """Recover the limits of a difference of correlated scores from those of each."""
    below, above = (one - of_one[0], of_other[1] - other), (of_one[1] - one, other - of_other[0])
    half = [math.sqrt(max(x * x + y * y - 2 * r * x * y, 0)) for x, y in (below, above)]
    return one - other - half[0], one - other + half[1]


def p_by_t(difference, found):
    """Test that it is 0."""
    if not difference:
        return 1.0
    return 2 * stats.t.sf(abs(difference) / math.sqrt(found.v), found.df)


def p_of_segments(one, other):
    """Test that two segments have the same mean."""
    a, b = mean(one), mean(other)
    return p_by_t(a.value - b.value, minus(a, b)[0])


def p_of_models(labels):
    """Test that two models have the same score, from the differences of their rows."""
    found = mean(labels)
    if found.v == 0 and found.value:
        return p_by_t(found.value, mean(labels, [0] * len(labels)))
    return p_by_t(found.value, found)


def equality(segments):
    """Give Q and its p-value by dense matrices: weights of pooled ratios, Rao and Scott, Welch."""
    means = [mean(labels) for labels in segments]
    size = len(means)
    theta = np.array([one.value for one in means])
    w = np.array([1 / _pooled(segments, one) for one in means])
    share = w / w.sum()
    q = (w * (theta - share @ theta) ** 2).sum()
    r, chance = np.eye(size), 0
    for g, h in product(range(size), repeat=2):
        shared = means[g].u.keys() & means[h].u.keys()
        if g != h and shared:
            both = math.sqrt(means[g].v * means[h].v)
            r[g, h] = sum(means[g].u[c] * means[h].u[c] for c in shared) / (both or 1)
            chance += (1 - r[g, h] ** 2) / max(len(shared) - 1, 1)
    ar = (np.eye(size) - np.outer(np.sqrt(share), np.sqrt(share))) @ r
    trace, squared = np.trace(ar), np.trace(ar @ ar) - chance
    nu = size - 1 if squared <= trace**2 / (size - 1) else trace**2 / squared
    left = sum((1 - s) ** 2 / one.df for s, one in zip(share, means, strict=True))
    of_welch = 1 + 2 * (size - 2) * left / (size**2 - 1)
    return q, stats.f.sf(q / trace / of_welch, nu, (size**2 - 1) / (3 * left))


def _pooled(segments, one):
    """Give the variance of a score if all segments had the same ratios."""
    v = 0
    for k, (a, n) in enumerate(zip(one.a, one.n_safe, strict=True)):
        rows = [value for labels in segments for _, value in labels[k][1]]
        p = sum(rows) / len(rows)
        v += a**2 * p * (1 - p) / n
    return v


def coefficient(name, shares):
    """Give kappa, MCC or 2 f1_macro - 1 of a matrix of shares, which need not sum to 1."""
    s = shares / shares.sum()
    true, predicted, right = s.sum(axis=1), s.sum(axis=0), np.trace(s)
    if name == "f1_macro":
        return 2 * (2 * np.diagonal(s) / (true + predicted)).mean() - 1
    if name == "cohen_kappa_quadratic":
        distance = (np.arange(len(s))[:, None] - np.arange(len(s))) ** 2
        return 1 - (distance * s).sum() / (distance * np.outer(true, predicted)).sum()
    chance = (true * predicted).sum()
    if name == "cohen_kappa":
        return (right - chance) / (1 - chance)
    return (right - chance) / np.sqrt((1 - (true**2).sum()) * (1 - (predicted**2).sum()))


def agreement(name, rows):
    """Give kappa or MCC of rows (cluster, true, predicted), its variance and its limits.

    The derivatives are those of complex steps.
    """
    labels = sorted({label for _, *both in rows for label in both[:2]})
    counts = np.zeros((len(labels),) * 2)
    for _, true, predicted, *w in rows:
        counts[labels.index(true), labels.index(predicted)] += w[0] if w else 1
    n, gradient = counts.sum(), np.zeros_like(counts)
    for cell in product(range(len(labels)), repeat=2):
        moved = (counts / n).astype(complex)
        moved[cell] += 1e-30j
        gradient[cell] = coefficient(name, moved).imag / 1e-30
    total, held, squares, square = Counter(), Counter(), Counter(), 0.0
    for cluster, true, predicted, *w in rows:
        g = gradient[labels.index(true), labels.index(predicted)]  # the mean of which is 0
        weight = w[0] if w else 1
        total[cluster] += weight * g
        held[cluster] += weight
        squares[cluster] += weight**2
        square += weight**2 * g**2
    u = {c: total[c] / (n * math.sqrt(1 - held[c] / n)) for c in held}
    spread = {c: squares[c] / sum(squares.values()) for c in held}
    found = moments(u, spread, Counter())
    value, of_rows = coefficient(name, counts), square / n**2
    e = {c: of_rows * spread[c] for c in held}
    parts = [(u[c], e[c], e[c] * (held[c] ** 2 / squares[c] - 1)) for c in held]
    found.rho, floor = exchangeable(parts)
    found.safe_v = v = max(found.v, of_rows, floor)
    half = stats.t.isf((1 - LEVEL) / 2, found.df) * math.sqrt(v) / (1 - value**2)
    found.limits = tuple(math.tanh(math.atanh(value) + sign * half) for sign in (-1, 1))
    found.value, found.of_rows = value, of_rows
    return found


def area(rows):
    """Give the area under the ROC curve of rows (cluster, label 0 or 1, score), and its limits."""
    sides = {
        label: [(c, s, w[0] if w else 1) for c, y, s, *w in rows if y == label] for label in (0, 1)
    }

    def wins(positive, negative):
        return 1.0 if positive > negative else 0.5 if positive == negative else 0.0

    n = {label: sum(w for *_, w in side) for label, side in sides.items()}
    placed = {
        1: [(c, sum(v * wins(s, t) for _, t, v in sides[0]) / n[0], w) for c, s, w in sides[1]],
        0: [(c, sum(v * wins(t, s) for _, t, v in sides[1]) / n[1], w) for c, s, w in sides[0]],
    }
    value = sum(w * x for _, x, w in placed[1]) / n[1]
    u, tau, rows_of, delong = Counter(), Counter(), Counter(), 0.0
    for label, side in placed.items():
        total, held, squares = Counter(), Counter(), Counter()
        for c, x, w in side:
            total[c] += w * (x - value)
            held[c] += w
            squares[c] += w**2
        spread = sum(w * (x - value) ** 2 for _, x, w in side) / n[label]
        effective = n[label] ** 2 / sum(squares.values())
        delong += spread / (effective - 1)
        for c in held:
            u[c] += total[c] / (n[label] * math.sqrt(1 - held[c] / n[label]))
            tau[c] += spread / effective * squares[c] / sum(squares.values())
            rows_of[c] += held[c] ** 2 / squares[c]
    found = moments(u, tau, Counter())
    found.value, found.of_rows = value, delong
    found.rho, floor = exchangeable([(u[c], tau[c], tau[c] * (rows_of[c] - 1)) for c in u])
    half = stats.t.isf((1 - LEVEL) / 2, found.df) * math.sqrt(max(found.v, delong, floor))
    centre, scale = math.log(value / (1 - value)), value * (1 - value)
    found.limits = tuple(special.expit(centre + sign * half / scale) for sign in (-1, 1))
    return found


def right(rows):
    """Give the labels of accuracy, of rows (cluster, true, predicted)."""
    return [(1, [(c, int(y == p), *w) for c, y, p, *w in rows])]


def recalls(rows, weights=None):
    """Give the labels of balanced accuracy."""
    present = sorted({y for _, y, *_ in rows})
    weights = dict.fromkeys(present, 1) if weights is None else weights
    return [
        (Fraction(weights[k]), [(c, int(p == k), *w) for c, y, p, *w in rows if y == k])
        for k in present
    ]


def recall(rows):
    """Give the labels of recall: rows that are 1."""
    return [(1, [(c, int(p == 1), *w) for c, y, p, *w in rows if y == 1])]


def precision(rows):
    """Give the labels of precision: rows predicted to be 1."""
    return [(1, [(c, int(y == 1), *w) for c, y, p, *w in rows if p == 1])]


def jaccard(rows):
    """Give the labels of the Jaccard index: rows that are 1 in truth or prediction."""
    return [(1, [(c, int(y == p), *w) for c, y, p, *w in rows if 1 in (y, p)])]


def doubled(limits):
    """Turn limits of the Jaccard index into those of f1."""
    return tuple(2 * one / (1 + one) for one in limits)
