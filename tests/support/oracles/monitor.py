"""`monitor` by loops over segments and periods, in plain floats, and every search by bisection.

Cells are {(segment, day): {(actual, predicted): n}}; a day is a number of days since 1970-01-01.
Weights of recalls are equal over the labels that are present on both sides, or those given.
"""

import math
from functools import cache
from statistics import NormalDist

from scipy import stats

NORMAL = NormalDist()
Z_95 = NORMAL.inv_cdf(0.975)
_HALVINGS = 80
ALL = "all"


def recalls_under(x, n, a, multiplier):
    """Return p_k with x_k / p_k - (n_k - x_k) / (1 - p_k) = l a_k."""
    if multiplier < 0:
        wrong = [rows - right for right, rows in zip(x, n, strict=True)]
        return [1 - p for p in recalls_under(wrong, n, a, -multiplier)]
    found = []
    for right, rows, weight in zip(x, n, a, strict=True):
        pull = multiplier * weight
        root = math.sqrt((rows - pull) ** 2 + 4 * pull * (rows - right))
        found.append(min(1.0, 2 * right / (rows + pull + root)))
    return found


def statistic_at(x, n, a, multiplier):
    """Correct l V / sqrt(V_f) for skewness; 0 where nothing varies."""
    p = recalls_under(x, n, a, multiplier)
    whole = sum(w * w / rows for w, rows in zip(a, n, strict=True))
    v = v_f = third = 0.0
    for w, rows, one in zip(a, n, p, strict=True):
        own, spread = w * w / rows, one * (1 - one)
        v += own * spread
        v_f += own * spread * rows / (rows - 1 + own / whole)
        third += own * w / rows * spread * (1 - 2 * one)
    if v_f == 0:
        return 0.0
    t, by = multiplier * v / math.sqrt(v_f), third / (6 * v_f**1.5)
    under = 1 + 4 * by * (by + t)
    if under < 0:
        return -1 / (2 * by)
    return 2 * (by + t) / (1 + math.sqrt(under))


def mean(p, a):
    return sum(w * one for w, one in zip(a, p, strict=True))


def bisected(is_low):
    """Find where something that holds at 0 no longer does, on a logarithmic scale."""
    low, high = math.log(1e-9), math.log(1e15)
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        low, high = (middle, high) if is_low(math.exp(middle)) else (low, middle)
    return math.exp(low)


def lower_limit(x, n, a, z):
    """Return the lowest score that the test does not reject at z."""
    if statistic_at(x, n, a, 1e15) <= z:
        return 0.0
    found = bisected(lambda multiplier: statistic_at(x, n, a, multiplier) <= z)
    observed = mean([right / rows for right, rows in zip(x, n, strict=True)], a)
    return min(observed, mean(recalls_under(x, n, a, found), a))


def both(x, n, y, m, a):
    """Lay out (1 + the difference) / 2 as a mean of recalls."""
    wrong = [rows - right for right, rows in zip(y, m, strict=True)]
    return [*x, *wrong], [*n, *m], [w / 2 for w in a] * 2


def limits_of_difference(x, n, y, m, a, z):
    """Return the limits of the difference of two means of recalls."""
    x, n, a = both(x, n, y, m, a)
    wrong = [rows - right for right, rows in zip(x, n, strict=True)]
    return 2 * lower_limit(x, n, a, z) - 1, 1 - 2 * lower_limit(wrong, n, a, z)


@cache
def limits(x, n, y, m, a, z):
    return limits_of_difference(x, n, y, m, a, z)


def always_valid(x, n, y, m, a, margin, share):
    """Return the quantile of all periods so far."""
    variance = 0.0
    for right, rows, w in (*zip(x, n, a, strict=True), *zip(y, m, a, strict=True)):
        p = (right + 0.5) / (rows + 1)
        variance += w * w * p * (1 - p) / rows
    information, rho = 1 / variance, 1.5 / margin**2
    grown = math.log(1 + information / rho) + 2 * math.log(1 / (2 * share))
    return math.sqrt((1 + rho / information) * grown)


def added(parts):
    total = {}
    for cells in parts:
        for key, n in cells.items():
            total[key] = total.get(key, 0) + n
    return {key: n for key, n in total.items() if n}


def parts_of(cells, metric, positive, shared, weights):
    """Give correct rows, rows and weight of each part of a metric; lower-is-better is flipped."""

    def rows(is_in):
        return sum(n for key, n in cells.items() if is_in(*key))

    if metric == "balanced_accuracy":
        given = {label: 1.0 if weights is None else weights[label] for label in shared}
        whole = sum(given.values())
        return [
            (
                rows(lambda y, p, label=label: y == p == label),
                rows(lambda y, p, label=label: y == label),
                given[label] / whole,
            )
            for label in shared
            if given[label] > 0
        ]
    one = {
        "accuracy": (lambda y, p: y == p, lambda y, p: True),
        "recall": (lambda y, p: y == p == positive, lambda y, p: y == positive),
        "false_positive_rate": (
            lambda y, p: y != positive and p != positive,
            lambda y, p: y != positive,
        ),
    }[metric]
    return [(rows(one[0]), rows(one[1]), 1.0)]


def compared(now, before, metric, positive, weights):
    """Give x, n, y, m and the weights; None where a side has no rows that count."""
    shared = sorted({y for y, _ in now} & {y for y, _ in before})
    sides = [parts_of(cells, metric, positive, shared, weights) for cells in (now, before)]
    if not sides[0] or not all(n for side in sides for _, n, _ in side):
        return None
    (x, n, a), (y, m, _) = (zip(*side, strict=True) for side in sides)
    return x, n, y, m, a


def between(periods, metric, positive, weights):
    """Give tau^2 of DerSimonian and Laird, and the number of periods with most labels."""
    tables = []
    for cells in periods:
        labels = sorted({y for y, _ in cells})
        parts = parts_of(cells, metric, positive, labels, weights)
        if parts and all(n for _, n, _ in parts):
            tables.append(parts)
    most = max(map(len, tables), default=0)
    tables = [one for one in tables if len(one) == most]
    if len(tables) < 2:
        return 0.0, len(tables)
    scores, weight = [], []
    for parts in tables:
        scores.append(sum(w * x / n for x, n, w in parts))
        p = [(x + 0.5) / (n + 1) for x, n, _ in parts]
        spread = zip(parts, p, strict=True)
        weight.append(1 / sum(w * w * one * (1 - one) / n for (_, n, w), one in spread))
    middle = sum(w * one for w, one in zip(weight, scores, strict=True)) / sum(weight)
    q = sum(w * (one - middle) ** 2 for w, one in zip(weight, scores, strict=True))
    scale = sum(weight) - sum(w * w for w in weight) / sum(weight)
    return max(0.0, (q - (len(scores) - 1)) / scale), len(tables)


def asked(
    now,
    reference,
    starts,
    *,
    metric="balanced_accuracy",
    positive=1,
    weights=None,
    margin=0.05,
    alpha=0.05,
    looks=104,
    windows=(1, 4, 13),
    requests=1,
    dispersion=None,
):
    """Answer for one segment: `now` has cells by period, `reference` by period of its own.

    `questions` is the number of segments with a reference times that of metrics.
    """
    sign = -1 if metric == "false_positive_rate" else 1
    before = added(reference.values())
    share = alpha / ((len(windows) + 1) * requests)
    tau2, m_periods = between(reference.values(), metric, positive, weights)
    rows = []
    for t in range(len(starts)):
        own = now.get(starts[t], {})
        found = {}
        for width in (*windows, ALL):
            first = 0 if width == ALL else max(0, t - width + 1)
            seen = [now.get(one, {}) for one in starts[first : t + 1]]
            window = added(seen)
            pair = compared(window, before, metric, positive, weights)
            if pair is None:
                continue
            x, n, y, m, a = pair
            if width == ALL:
                z = always_valid(x, n, y, m, a, margin, share)
            else:
                z = -NORMAL.inv_cdf(share / looks)
            score = sum(w * (p / q - r / s) for p, q, r, s, w in zip(x, n, y, m, a, strict=True))
            ends = {q: limits(x, n, y, m, a, q) for q in (z, Z_95)}
            if dispersion == "estimate":
                extra = tau2 * (1 / max(1, sum(map(bool, seen))) + 1 / m_periods)
                ends = {q: wider(ends[q], score, q, extra, m_periods) for q in (z, Z_95)}
            found[width] = {
                "n": sum(window.values()),
                "difference": score,
                "limits": ends[z],
                "lower_95": ends[Z_95][0],
                "is_repeated": any(t + 1 <= other for other in shorter(windows, width)),
            }
        pair = compared(own, before, metric, positive, weights)
        rows.append(row_of(own, before, pair, found, sign, margin, windows, metric, positive))
    return rows


def wider(ends, score, z, extra, m_periods):
    """Add the variance between periods to that of both limits, with a quantile of t."""
    quantile = float(stats.t.isf(stats.norm.sf(z), m_periods - 1))
    low, high = (quantile * math.sqrt(((end - score) / z) ** 2 + extra) for end in ends)
    return max(score - low, -1.0), min(score + high, 1.0)


def shorter(windows, width):
    return [one for one in sorted(windows) if width == ALL or one < width]


def row_of(own, before, pair, found, sign, margin, windows, metric, positive):
    """Put what was found together as a row of `monitor` has it; None where it has null."""
    looked = {w: one for w, one in found.items() if not one["is_repeated"]}
    uppers = {w: one["limits"][1] for w, one in looked.items()}
    known = {w: upper for w, upper in uppers.items() if not math.isnan(upper)}
    worst = min(known, key=lambda w: known[w], default=None)
    longest, second = sorted(windows)[-1], sorted(windows)[-2:][0]
    status = "inconclusive"
    if own and worst is not None and looked[worst]["limits"][1] < 0:
        status = "alarm"
    elif (
        own
        and longest in found
        and found[longest]["lower_95"] > -margin
        and found[second]["difference"] > -margin
    ):
        status = "ok"

    def signed(one):
        if one is None:
            return None, None, None
        low, high = (None if math.isnan(end) else end for end in one["limits"])
        if sign < 0 and low is not None:
            low, high = -high, -low
        return sign * one["difference"], low, high

    shared = {y for y, _ in own} & {y for y, _ in before}
    estimate, reference = None, None
    if metric != "balanced_accuracy":  # which averages over labels of both sides
        ((y, m, _),) = parts_of(before, metric, positive, shared, None) if before else ((0, 0, 1),)
        reference = None if m == 0 else y / m if sign > 0 else 1 - y / m
    if pair is not None:
        x, n, y, m, a = pair
        scores = (
            sum(w * one / rows for one, rows, w in zip(*side, a, strict=True))
            for side in ((x, n), (y, m))
        )
        estimate, reference = (one if sign > 0 else 1 - one for one in scores)
    window = signed(found.get(worst))
    everything = signed(found.get(ALL))
    return {
        "n": sum(own.values()),
        "n_labels": len(shared),
        "min_support": min((sum(own[k] for k in own if k[0] == y) for y in shared), default=0),
        "estimate": estimate,
        "reference_estimate": reference,
        "difference": None if pair is None else estimate - reference,
        "window": None if worst is None else str(worst),
        "window_n": None if worst is None else found[worst]["n"],
        "window_difference": window[0],
        "window_lower": window[1],
        "window_upper": window[2],
        "cumulative_difference": everything[0],
        "cumulative_lower": everything[1],
        "cumulative_upper": everything[2],
        "status": status,
    }
