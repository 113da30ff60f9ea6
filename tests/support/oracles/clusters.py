"""Variances, limits and tests of rows in clusters, by loops over rows and dense matrices.

A mean of ratios is a list of labels (a, rows): the weight of the label, and (cluster, value) of
each row of its denominator. The value is 0 or 1, or the difference of two models.
"""

import math
from collections import Counter
from fractions import Fraction
from itertools import product
from types import SimpleNamespace

import numpy as np
from scipy import stats

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
    """Give the correlation, and the least variance of a mean; labels are (a, n, p, pq, shares)."""
    parts = []
    for c in u:
        own = [(a, n, square, share.get(c, 0)) for a, n, _, square, share in of_labels]
        e = sum(a**2 * square * h / n for a, n, square, h in own)
        parts.append((u[c], e, sum(a * math.sqrt(square) * h for a, _, square, h in own) ** 2 - e))
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


def mean(labels, at=None):
    """Give a mean of ratios with its variance; with `at`, as if the ratios were these.

    None where a label has all rows in one cluster.
    """
    whole, of_labels = sum(a for a, _ in labels), []
    for k, (a, rows) in enumerate(labels):
        n, total, held = len(rows), Counter(), Counter()
        for cluster, value in rows:
            total[cluster] += value
            held[cluster] += 1
        if len(held) == 1:
            return None
        p = Fraction(sum(total.values()), n)
        around = p if at is None else at[k]
        square = float(Fraction(sum(value**2 for _, value in rows), n) - p**2)
        u = {c: float(total[c] - around * held[c]) / (n * math.sqrt(1 - held[c] / n)) for c in held}
        m_star = 1 / sum((held[c] / n) ** 2 for c in held)
        v = sum(one**2 for one in u.values())
        deff = max(1, v * n / square) if square else n / m_star
        share = {c: held[c] / n for c in held}
        of_labels.append((float(a / whole), n, float(p), square, u, share, deff, m_star))
    varies = any(square for *_, square, _, _, _, _ in of_labels)
    of_rows = sum(a**2 * square / n for a, n, _, square, *_ in of_labels)
    enlarged = sum(a**2 * square * deff / n for a, n, _, square, _, _, deff, _ in of_labels)
    u, tau, size = Counter(), Counter(), Counter()
    for a, n, _, square, u_k, share, deff, _ in of_labels:
        for c in u_k:
            u[c] += a * u_k[c]
            tau[c] += a**2 / n * share[c] * (square * deff * of_rows / enlarged if varies else 0)
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
    """Give kappa or MCC of a matrix of shares, which need not sum to 1."""
    s = shares / shares.sum()
    true, predicted, right = s.sum(axis=1), s.sum(axis=0), np.trace(s)
    chance = (true * predicted).sum()
    if name == "cohen_kappa":
        return (right - chance) / (1 - chance)
    return (right - chance) / np.sqrt((1 - (true**2).sum()) * (1 - (predicted**2).sum()))


def agreement(name, rows):
    """Give kappa or MCC of rows (cluster, true, predicted), its variance and its limits.

    The derivatives are those of complex steps.
    """
    labels = sorted({label for _, *both in rows for label in both})
    counts = np.zeros((len(labels),) * 2)
    for _, true, predicted in rows:
        counts[labels.index(true), labels.index(predicted)] += 1
    n, gradient = len(rows), np.zeros_like(counts)
    for cell in product(range(len(labels)), repeat=2):
        moved = (counts / n).astype(complex)
        moved[cell] += 1e-30j
        gradient[cell] = coefficient(name, moved).imag / 1e-30
    total, held, squares = Counter(), Counter(), 0.0
    for cluster, true, predicted in rows:
        g = gradient[labels.index(true), labels.index(predicted)]  # the mean of which is 0
        total[cluster] += g
        held[cluster] += 1
        squares += g**2
    u = {c: total[c] / (n * math.sqrt(1 - held[c] / n)) for c in held}
    found = moments(u, {c: held[c] / n for c in held}, Counter())
    value, of_rows = coefficient(name, counts), squares / n**2
    e = {c: of_rows * held[c] / n for c in held}
    found.rho, floor = exchangeable([(u[c], e[c], e[c] * (held[c] - 1)) for c in held])
    found.safe_v = v = max(found.v, of_rows, floor)
    half = stats.t.isf((1 - LEVEL) / 2, found.df) * math.sqrt(v) / (1 - value**2)
    found.limits = tuple(math.tanh(math.atanh(value) + sign * half) for sign in (-1, 1))
    found.value, found.of_rows = value, of_rows
    return found


def area(rows):
    """Give the area under the ROC curve of rows (cluster, label 0 or 1, score), and its limits."""
    sides = {label: [(c, s) for c, y, s in rows if y == label] for label in (0, 1)}

    def wins(positive, negative):
        return 1.0 if positive > negative else 0.5 if positive == negative else 0.0

    n = {label: len(side) for label, side in sides.items()}
    placed = {
        1: [(c, sum(wins(s, t) for _, t in sides[0]) / n[0]) for c, s in sides[1]],
        0: [(c, sum(wins(t, s) for _, t in sides[1]) / n[1]) for c, s in sides[0]],
    }
    value = sum(x for _, x in placed[1]) / n[1]
    u, tau, held_of, delong = Counter(), Counter(), Counter(), 0.0
    for label, side in placed.items():
        total, held = Counter(), Counter()
        for c, x in side:
            total[c] += x - value
            held[c] += 1
        square = sum((x - value) ** 2 for _, x in side)
        delong += square / (n[label] - 1) / n[label]
        held_of.update(held)
        for c in held:
            u[c] += total[c] / (n[label] * math.sqrt(1 - held[c] / n[label]))
            tau[c] += square / n[label] ** 2 * held[c] / n[label]
    found = moments(u, tau, Counter())
    found.value, found.of_rows = value, delong
    found.rho, floor = exchangeable([(u[c], tau[c], tau[c] * (held_of[c] - 1)) for c in u])
    half = stats.t.isf((1 - LEVEL) / 2, found.df) * math.sqrt(max(found.v, delong, floor))
    centre, scale = math.log(value / (1 - value)), value * (1 - value)
    found.limits = tuple(1 / (1 + math.exp(-centre - sign * half / scale)) for sign in (-1, 1))
    return found


def right(rows):
    """Give the labels of accuracy, of rows (cluster, true, predicted)."""
    return [(1, [(c, int(y == p)) for c, y, p in rows])]


def recalls(rows, weights=None):
    """Give the labels of balanced accuracy."""
    present = sorted({y for _, y, _ in rows})
    weights = dict.fromkeys(present, 1) if weights is None else weights
    return [
        (Fraction(weights[k]), [(c, int(p == k)) for c, y, p in rows if y == k]) for k in present
    ]


def recall(rows):
    """Give the labels of recall: rows that are 1."""
    return [(1, [(c, int(p == 1)) for c, y, p in rows if y == 1])]


def precision(rows):
    """Give the labels of precision: rows predicted to be 1."""
    return [(1, [(c, int(y == 1)) for c, y, p in rows if p == 1])]


def jaccard(rows):
    """Give the labels of the Jaccard index: rows that are 1 in truth or prediction."""
    return [(1, [(c, int(y == p)) for c, y, p in rows if 1 in (y, p)])]


def doubled(limits):
    """Turn limits of the Jaccard index into those of f1."""
    return tuple(2 * one / (1 + one) for one in limits)
