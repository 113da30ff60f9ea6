"""The worst slices once more: loops, fractions and scipy.stats, without balframe.

Rows are dicts with `y`, `yhat`, `n` and the columns searched, whose levels are texts or None.
"""

import math
from collections import defaultdict
from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from itertools import combinations, product
from typing import Any

from scipy import stats

from tests.support.oracles.constrained_likelihood import limits_of_difference


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


def moments(factors, parts):
    """Return D, the largest step, z and the skewness; parts are (key, n, e, N, M), D's with b."""
    excess, variance, third, step = Fraction(0), Fraction(0), Fraction(0), Fraction(0)
    for key, n, e, n_all, e_all in parts:
        if n_all < 2:
            continue
        b, q = Fraction(factors[key]), Fraction(e_all, n_all)
        excess += b * (e - n * q)
        v = n * q * (1 - q) * Fraction(n_all - n, n_all - 1)
        variance += b**2 * v
        step = max(step, b) if v else step
        if n_all > 2:
            third += b**3 * v * (1 - 2 * q) * Fraction(n_all - 2 * n, n_all - 2)
    return excess, step, float(variance), float(third)


def pearson_tail(factors, parts, *, is_corrected=True):
    """Return the tail of sum b (e - mu), less half of the largest step if it is corrected."""
    excess, step, variance, third = moments(factors, parts)
    if variance == 0:
        return 1.0
    z = float(excess - step / 2 * is_corrected) / math.sqrt(variance)
    skewness = third / variance**1.5
    if skewness <= 1e-3:
        return stats.norm.sf(z)
    return stats.pearson3.sf(z, skewness)


def varying(parts):
    """Select the parts in which the number of wrong rows varies."""
    return [part for part in parts if 0 < part[1] < part[3] and 0 < part[4] < part[3]]


def exact_tail(factors, parts):
    """Add up all outcomes of one or two strata in which D is as large; None for more strata."""
    parts = varying(parts)
    if len(parts) not in (1, 2):
        return None
    steps = [Fraction(factors[key]) for key, *_ in parts]
    observed = sum(b * e for b, (_, _, e, _, _) in zip(steps, parts, strict=True))
    masses = []
    for _, n, _, n_all, e_all in parts:
        outcomes = range(max(0, n + e_all - n_all), min(n, e_all) + 1)
        pmf = stats.hypergeom.pmf(outcomes, n_all, e_all, n)
        masses.append(dict(zip(outcomes, pmf.tolist(), strict=True)))
    if len(parts) == 1:
        return math.fsum(p for e, p in masses[0].items() if steps[0] * e >= observed)
    first, second = masses
    (b, c), ends = steps, list(second)
    tails = {ends[-1] + 1: 0.0}
    for e in reversed(ends):
        tails[e] = tails[e + 1] + second[e]
    least = (math.ceil((observed - b * e) / c) for e in first)
    return math.fsum(
        p * tails[min(max(needed, ends[0]), ends[-1] + 1)]
        for p, needed in zip(first.values(), least, strict=True)
    )


def p_value(factors, parts, level):
    """Return the p-value that decides at a level: exact near it, otherwise the corrected one."""
    corrected, n_varying = pearson_tail(factors, parts), len(varying(parts))
    if n_varying not in (1, 2) or corrected <= 0.75 * level or moments(factors, parts)[0] <= 0:
        return corrected
    most = {1: 100, 2: 10}[n_varying]
    is_near = pearson_tail(factors, parts, is_corrected=False) <= most * level
    return exact_tail(factors, parts) if is_near else corrected


def clopper_pearson(wrong, n, alpha):
    """Give the exact limits of a proportion, each wrong with the probability alpha."""
    low = stats.beta.ppf(alpha, wrong, n - wrong + 1) if wrong else 0.0
    high = stats.beta.ppf(1 - alpha, wrong + 1, n - wrong) if wrong < n else 1.0
    return low, high


def limits(inside, whole, metric, alpha):
    """Give limits of the gap, each wrong with the probability alpha."""
    counts = [(*inside[k], whole[k][0] - n, whole[k][1] - e) for k, (n, e) in inside.items()]
    if len(counts) > 1:
        n, e, m, f = (list(column) for column in zip(*counts, strict=True))
        weights = [metric.weights[k] for k in inside]
        both = [
            limits_of_difference(e, n, f, m, weights, 1 - 2 * alpha, skewness=skewness)
            for skewness in (False, True)
        ]
        return float(min(low for low, _ in both)), float(max(high for _, high in both))
    ((n, e, m, f),) = counts
    (low, high), (low_rest, high_rest) = clopper_pearson(e, n, alpha), clopper_pearson(f, m, alpha)
    center = e / n - f / m
    return (
        center - math.hypot(e / n - low, high_rest - f / m),
        center + math.hypot(high - e / n, f / m - low_rest),
    )


def all_slices(rows, over, metric, depth, least, alpha):
    """List every slice with its rows and its gap, by depth, columns and levels, nulls last."""
    whole, found = counted(rows, metric), []
    levels = {
        name: sorted({row[name] for row in rows}, key=lambda one: (one is None, one or ""))
        for name in over
    }
    for size in range(1, depth + 1):
        for names in combinations(over, size):
            members_of = defaultdict(list)
            for i, row in enumerate(rows):
                members_of[tuple(row[name] for name in names)].append(i)
            for values in product(*(levels[name] for name in names)):
                conditions = dict(zip(names, values, strict=True))
                members = members_of[values]
                inside = counted([rows[i] for i in members], metric)
                if all(
                    inside[k][0] >= least and whole[k][0] - inside[k][0] >= least
                    for k in metric.weights
                ):
                    found.append(described(conditions, members, inside, whole, metric))
    tests = {size: sum(one["depth"] == size for one in found) for size in range(1, depth + 1)}
    n_depths = sum(n > 0 for n in tests.values())
    for place, one in enumerate(found):
        one["place"] = place
        one["factor"] = tests[one["depth"]] * n_depths
        one["p"] = p_value(one["factors"], one["parts"], alpha / one["factor"])
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
        "parts": parts,
    }


def worst(rows, over, metric, *, depth=3, least=30, alpha=0.05, top=10, order="p_value", most=0):
    """List the slices kept, each with how many it explains."""
    found, whole = all_slices(rows, over, metric, depth, least, alpha)
    passed = [one for one in found if one["p_adjusted"] <= alpha and one["gap"] >= most]

    @cache
    def limits_at(place):
        return limits(found[place]["inside"], whole, metric, alpha / found[place]["factor"])

    def limits_of(one):
        return limits_at(one["place"])

    def by(one):
        if order == "p_value":
            return math.log(one["p"]) + math.log(one["factor"]), one["depth"]
        if order == "lower":
            return -limits_of(one)[0], one["depth"]
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
        if p_value(one["factors"], parts, alpha / one["factor"]) * one["factor"] <= alpha:
            kept.append({**one, "set": members, "n_explained": 0})
        else:
            shared = [
                sum(n for n, _ in counted([rows[i] for i in members & k["set"]], metric).values())
                for k in kept
            ]
            kept[shared.index(max(shared))]["n_explained"] += 1
    for one in kept:
        one["p"] = exact_tail(one["factors"], one["parts"]) or one["p"]
        one["p_adjusted"] = min(1.0, one["p"] * one["factor"])
        one["limits"] = limits_of(one)
    return sorted(kept, key=by) if order == "p_value" else kept, found, whole
