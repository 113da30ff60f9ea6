"""The worst slices once more: loops, fractions and scipy.stats, without balframe.

Rows are dicts with `y`, `yhat`, `n` and the columns searched, whose levels are texts or None.
"""

import math
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations, product
from typing import Any

from scipy import stats


@dataclass
class Metric:
    """In which stratum a row counts, whether it is wrong, and the weight of each stratum."""

    stratum: Any  # of y and yhat; None where the row does not count
    is_wrong: Any
    weights: dict
    higher: bool = True


def metric_of(name, labels, pos=1, class_weight=None):
    """Define the metrics once more."""
    one = {0: Fraction(1)}
    if name == "recall":
        return Metric(lambda y, p: 0 if y == pos else None, lambda y, p: p != y, one)
    if name == "precision":
        return Metric(lambda y, p: 0 if p == pos else None, lambda y, p: p != y, one)
    if name == "false_positive_rate":
        return Metric(lambda y, p: 0 if y != pos else None, lambda y, p: p == pos, one, False)
    if name == "accuracy":
        return Metric(lambda y, p: 0, lambda y, p: p != y, one)
    weights = class_weight or dict.fromkeys(labels, 1)
    total = sum(map(Fraction, weights.values()))
    shares = {label: Fraction(weight) / total for label, weight in weights.items()}
    return Metric(lambda y, p: y, lambda y, p: p != y, shares)


def counted(rows, metric):
    """Count the rows and the wrong rows of each stratum."""
    found = {k: [0, 0] for k in metric.weights}
    for row in rows:
        k = metric.stratum(row["y"], row["yhat"])
        if k is not None:
            found[k][0] += row["n"]
            found[k][1] += row["n"] * metric.is_wrong(row["y"], row["yhat"])
    return found


def gap(inside, whole, metric):
    """Subtract the rate of wrong rows outside from that inside."""
    return sum(
        a * (Fraction(e, n) - Fraction(whole[k][1] - e, whole[k][0] - n))
        for k, a in metric.weights.items()
        for n, e in [inside[k]]
    )


def p_value(factors, parts):
    """Compute the tail of sum b (e - mu) over parts (key, n, e, N, M), by Pearson's third type."""
    excess, variance, third = 0.0, 0.0, 0.0
    for key, n, e, n_all, e_all in parts:
        if n_all < 2:
            continue
        b, q = float(factors[key]), Fraction(e_all, n_all)
        excess += b * float(e - n * q)
        v = n * q * (1 - q) * Fraction(n_all - n, n_all - 1)
        variance += b**2 * float(v)
        if n_all > 2:
            third += b**3 * float(v * (1 - 2 * q) * Fraction(n_all - 2 * n, n_all - 2))
    if variance == 0:
        return 1.0
    z, skewness = excess / math.sqrt(variance), third / variance**1.5
    if skewness <= 1e-3:
        return stats.norm.sf(z)
    return stats.pearson3.sf(z, skewness)


def clopper_pearson(wrong, n, alpha):
    """Give the exact limits of a proportion."""
    low = stats.beta.ppf(alpha / 2, wrong, n - wrong + 1) if wrong else 0.0
    high = stats.beta.ppf(1 - alpha / 2, wrong + 1, n - wrong) if wrong < n else 1.0
    return low, high


def limits(inside, whole, metric, alpha):
    """Combine the limits of all rates to those of the gap."""
    below = above = 0.0
    for k, a in metric.weights.items():
        n, e = inside[k]
        m, f = whole[k][0] - n, whole[k][1] - e
        (low, high), (low_rest, high_rest) = (
            clopper_pearson(e, n, alpha),
            clopper_pearson(f, m, alpha),
        )
        below += float(a) ** 2 * ((e / n - low) ** 2 + (high_rest - f / m) ** 2)
        above += float(a) ** 2 * ((high - e / n) ** 2 + (f / m - low_rest) ** 2)
    center = float(gap(inside, whole, metric))
    return center - math.sqrt(below), center + math.sqrt(above)


def all_slices(rows, over, metric, depth, least):
    """List every slice with its rows and its gap, by depth, columns and levels, nulls last."""
    whole, found = counted(rows, metric), []
    levels = {
        name: sorted({row[name] for row in rows}, key=lambda one: (one is None, one or ""))
        for name in over
    }
    for size in range(1, depth + 1):
        for names in combinations(over, size):
            for values in product(*(levels[name] for name in names)):
                conditions = dict(zip(names, values, strict=True))
                members = [
                    i
                    for i, row in enumerate(rows)
                    if all(row[k] == v for k, v in conditions.items())
                ]
                inside = counted([rows[i] for i in members], metric)
                if all(
                    inside[k][0] >= least and whole[k][0] - inside[k][0] >= least
                    for k in metric.weights
                ):
                    found.append(described(conditions, members, inside, whole, metric))
    tests = {size: sum(one["depth"] == size for one in found) for size in range(1, depth + 1)}
    n_depths = sum(n > 0 for n in tests.values())
    for one in found:
        one["factor"] = tests[one["depth"]] * n_depths
        one["p_adjusted"] = min(1.0, one["p"] * one["factor"])
    return found, whole


def described(conditions, members, inside, whole, metric):
    """Compute the figures of a slice."""
    factors = {
        k: a * Fraction(whole[k][0], n * (whole[k][0] - n))
        for k, a in metric.weights.items()
        for n in [inside[k][0]]
    }
    parts = [(k, *inside[k], *whole[k]) for k in metric.weights]
    rate = sum(a * Fraction(inside[k][1], inside[k][0]) for k, a in metric.weights.items())
    return {
        "conditions": conditions,
        "members": members,
        "depth": len(conditions),
        "inside": inside,
        "gap": gap(inside, whole, metric),
        "rate": rate,
        "factors": factors,
        "p": p_value(factors, parts),
    }


def worst(rows, over, metric, *, depth=3, least=30, alpha=0.05, top=10, order="p_value", most=0):
    """List the slices kept, each with how many it explains."""
    found, whole = all_slices(rows, over, metric, depth, least)
    passed = [one for one in found if one["p_adjusted"] <= alpha and one["gap"] >= most]
    for one in found:
        one["limits"] = limits(one["inside"], whole, metric, alpha / one["factor"])

    def by(one):
        if order == "p_value":
            return math.log(one["p"]) + math.log(one["factor"]), one["depth"]
        if order == "lower":
            return -one["limits"][0], one["depth"]
        return -float(sum(n for n, _ in one["inside"].values()) * one["gap"]), one["depth"]

    kept = []
    for one in sorted(passed, key=by):
        if len(kept) == top:
            break
        pattern = [tuple(i in k["set"] for k in kept) for i in range(len(rows))]
        members, parts = set(one["members"]), []
        for each in set(pattern):
            of_all = counted([r for r, p in zip(rows, pattern, strict=True) if p == each], metric)
            own = counted([rows[i] for i in members if pattern[i] == each], metric)
            parts += [(k, *own[k], *of_all[k]) for k in metric.weights]
        if p_value(one["factors"], parts) * one["factor"] <= alpha:
            kept.append({**one, "set": members, "n_explained": 0})
        else:
            shared = [
                sum(n for n, _ in counted([rows[i] for i in members & k["set"]], metric).values())
                for k in kept
            ]
            kept[shared.index(max(shared))]["n_explained"] += 1
    return kept, found, whole
