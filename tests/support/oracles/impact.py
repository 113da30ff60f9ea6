"""Impact ratios once more: loops over rows, fractions and SciPy, without balframe.

Rows are dicts with the by-columns, whose values are texts or None, `n`, and a column for each
model, of selections 0 and 1 or of scores.
"""

import math
import statistics
from fractions import Fraction

from scipy import optimize, stats
from statsmodels.stats.multitest import multipletests
from statsmodels.stats.proportion import proportion_confint

METHODS = {"bh": "fdr_bh", "holm": "holm"}
NO_RATIO = {
    **dict.fromkeys(["impact_ratio", "lower", "upper", "p_value", "p_adjusted"]),
    **dict.fromkeys(["short_of_parity", "short_of_bound", "one_more_reverses"]),
    **dict.fromkeys(["unknown_lower", "unknown_upper"]),
}


def assignments(rows, k):
    """List all ways to put so many rows into k categories."""
    if k == 1:
        return [(rows,)]
    return [
        (first, *rest) for first in range(rows + 1) for rest in assignments(rows - first, k - 1)
    ]


def bounds(selected, n, n_selected, n_unknown):
    """Find the lowest and the highest ratio of each category over all assignments, or NaN."""
    k = len(n)
    ratios = [set() for _ in range(k)]
    for hits in assignments(n_selected, k):
        for misses in assignments(n_unknown - n_selected, k):
            rates = [
                Fraction(x + hit, rows + hit + miss)
                for x, rows, hit, miss in zip(selected, n, hits, misses, strict=True)
            ]
            for one, rate in enumerate(rates):
                if max(rates) > 0:
                    ratios[one].add(rate / max(rates))
    return [[float(end(one)) if one else math.nan for one in ratios] for end in (min, max)]


def score_of_ratio(x, n, y, m, ratio):
    """Give the statistic of Gart and Nam that p_1 / p_2 is this, as they write it."""
    a, b, c = (n + m) * ratio, n * ratio + x + m + y * ratio, x + y
    p_two = min((b - math.sqrt(max(b * b - 4 * a * c, 0))) / (2 * a), 1)
    p_one = min(ratio * p_two, 1)
    one, other = p_one * (1 - p_one) / n, ratio**2 * p_two * (1 - p_two) / m
    deviation = math.sqrt((one + other) * (n + m) / (n + m - 1))
    if not deviation:
        return 0.0
    third = one * (1 - 2 * p_one) / n - ratio * other * (1 - 2 * p_two) / m
    t, skew = (x / n - ratio * y / m) / deviation, third / (6 * deviation**3)
    if abs(skew) < 1e-8:
        return t - skew * (t * t - 1)
    square = 1 + 4 * skew * (skew + t)
    return -1 / (2 * skew) if square < 0 else (math.sqrt(square) - 1) / (2 * skew)


def ratio_at(x, n, y, m, z):
    """Find the ratio with this statistic, at most 1."""
    low, high = -30.1, -1e-9  # of the logarithm; at a ratio of 1 perhaps nothing varies

    def excess(log):
        return z - score_of_ratio(x, n, y, m, math.exp(log))

    if z - score_of_ratio(x, n, y, m, 1) <= 0 or excess(high) < 0:
        return 1.0
    if excess(low) > 0:
        return 0.0
    return math.exp(optimize.brentq(excess, low, high, xtol=1e-14, rtol=1e-14))


def limits(one, others, level):
    """Compare (x, n) with each other: the smallest limits, the upper ones by Bonferroni."""
    z = stats.norm.isf((1 - level) / 2)
    together = stats.norm.isf((1 - level) / 2 / len(others))
    return [min(ratio_at(*one, *other, at) for other in others) for at in (z, -together)]


def p_value(one, others):
    """Test that (x, n) has the largest rate: the smallest p of all pairs, by Bonferroni."""
    least = min(score_of_ratio(*one, *other, 1) for other in others)
    return min(2 * len(others) * stats.norm.cdf(least), 1)


def lacking(x, n, rate):
    """Count the selections that a category lacks for a rate."""
    return next(more for more in range(n + 1) if Fraction(x + more, n) >= rate)


def place(values):
    """Put values in order, None last."""
    return [(value is None, value or "") for value in values]


def categories(rows, names, model):
    """Count (x, n) of each category of a table."""
    found = {}
    for row in rows:
        key = tuple(row[name] for name in names)
        x, n = found.get(key, (0, 0))
        found[key] = x + row["n"] * row[model], n + row["n"]
    return dict(sorted(found.items(), key=lambda item: place(item[0])))


def table_of(rows, names, model, by, *, min_share, bound, level):
    """Give the rows of a table, without what depends on the family of tests."""
    counted = categories(rows, names, model)
    known = {key: one for key, one in counted.items() if None not in key}
    unknown = [one for key, one in counted.items() if None in key]
    n_known = sum(n for _, n in known.values())
    compared = {
        key: (x, n)
        for key, (x, n) in known.items()
        if Fraction(n, n_known) >= Fraction(str(min_share))
    }
    top = max(compared, key=lambda key: (Fraction(*compared[key]), compared[key][1]))
    highest = Fraction(*compared[top])
    n_selected_unknown, n_unknown = (sum(counts) for counts in zip(*unknown, (0, 0), strict=True))
    of_unknown = bounds(*zip(*compared.values(), strict=True), n_selected_unknown, n_unknown)
    of_unknown = dict(zip(compared, zip(*of_unknown, strict=True), strict=True))
    out = []
    for key, (x, n) in counted.items():
        row = dict.fromkeys(by) | dict(zip(names, key, strict=True))
        row |= {f"highest_{name}": None for name in by}
        row |= {f"highest_{name}": value for name, value in zip(names, top, strict=True)}
        rate_limits = proportion_confint(x, n, 1 - level, "wilson")
        row |= {
            "grouped_by": ", ".join(names),
            "model": model,
            "role": "unknown" if None in key else "compared" if key in compared else "small",
            "n": n,
            "share": None if None in key else n / n_known,
            "n_favourable": x,
            "rate": x / n,
            **dict(zip(["rate_lower", "rate_upper"], map(float, rate_limits), strict=True)),
            "highest": float(highest),
            "bound": float(bound),
            "n_unknown": n_unknown,
            **NO_RATIO,
        }
        if key in compared:
            others = [one for name, one in compared.items() if name != key]
            lower, upper = limits((x, n), others, level)
            row |= {
                "impact_ratio": float(Fraction(x, n) / highest),
                "lower": lower,
                "upper": upper,
                "short_of_parity": lacking(x, n, highest),
                "short_of_bound": lacking(x, n, Fraction(str(bound)) * highest),
                "unknown_lower": of_unknown[key][0],
                "unknown_upper": of_unknown[key][1],
            }
        if key in compared and key != top:
            most, of = compared[top]
            swapped = x < n and Fraction(x + 1, n) > Fraction(most - 1, of)
            row |= {"p_value": float(p_value((x, n), others)), "one_more_reverses": swapped}
        out.append(row)
    return out


def adjusted(table, method):
    """Fill in the family of tests."""
    tested = [row for row in table if row["p_value"] is not None]
    p = [row["p_value"] for row in tested]
    found = multipletests(p, method=METHODS[method])[1] if method else p
    for row, one in zip(tested, found, strict=True):
        row["p_adjusted"] = float(one)
    for row in table:
        row["n_tests"] = len(tested)


def selections(rows, models):
    """Turn scores into selections: above the median of all rows. Give the medians too."""
    medians = {
        model: statistics.median([row[model] for row in rows for _ in range(row["n"])])
        for model in models
    }
    above = [row | {m: int(row[m] > medians[m]) for m in models} for row in rows]
    return above, medians


def impact(
    rows,
    models,
    by,
    *,
    is_score=False,
    min_share=0.02,
    bound=0.8,
    level=0.95,
    adjust="bh",
):
    """List the rows of all tables, in the order of the result."""
    medians = {}
    if is_score:
        rows, medians = selections(rows, models)
    rows = [row for row in rows if row["n"]]
    terms = {"min_share": min_share, "bound": bound, "level": level}
    out = []
    for names in [*([name] for name in by if len(by) > 1), by]:
        of_models = [table_of(rows, names, model, by, **terms) for model in models]
        # the categories are the same for all models
        table = [row for same in zip(*of_models, strict=True) for row in same]
        adjusted(table, adjust)
        out += [row | {"threshold": medians.get(row["model"])} for row in table]
    return out
