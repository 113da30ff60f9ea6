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


def mean_factor(n, rho):
    """Sum the correlations of n periods in a row, over n."""
    return sum(rho ** abs(i - j) for i in range(n) for j in range(n)) / n


def dispersion_of(scores, variances):
    """Give the variance between periods and their autocorrelation; the periods are in order."""
    weight, m = [1 / v for v in variances], len(scores)
    middle = sum(w * s for w, s in zip(weight, scores, strict=True)) / sum(weight)
    q = sum(w * (s - middle) ** 2 for w, s in zip(weight, scores, strict=True))
    scale = sum(weight) - sum(w * w for w in weight) / sum(weight)
    tau2 = max(0.0, (q - (m - 1)) / scale)
    plain = sum(scores) / m
    covariance = sum((scores[i] - plain) * (scores[i + 1] - plain) for i in range(m - 1)) / (m - 1)
    if tau2 == 0 or covariance <= 0:
        return tau2, 0.0
    rho = min(0.95, covariance / tau2)
    for _ in range(500):
        g = mean_factor(m, rho)
        rho = min(0.95, max(0.0, covariance / tau2 * (m - g) / (m - 1) + g / m))
    return tau2 / max((m - mean_factor(m, rho)) / (m - 1), 0.2), rho


def neighbours(scores, variances):
    """Give the p-value of the autocorrelation of standardised residuals."""
    weight, m = [1 / v for v in variances], len(scores)
    middle = sum(w * s for w, s in zip(weight, scores, strict=True)) / sum(weight)
    e = [(s - middle) / math.sqrt(v) for s, v in zip(scores, variances, strict=True)]
    r = sum(e[i] * e[i + 1] for i in range(m - 1)) / sum(one * one for one in e)
    return 1 - NORMAL.cdf((r + 1 / m) * math.sqrt(m / (1 - 1 / m)))


def scores_of(periods, metric, positive, weights):
    """Give the scores and variances of the periods that have most labels, in order."""
    tables = []
    for cells in periods:
        labels = sorted({y for y, _ in cells})
        parts = parts_of(cells, metric, positive, labels, weights)
        if parts and all(n for _, n, _ in parts):
            tables.append(parts)
    most = max(map(len, tables), default=0)
    scores, variances = [], []
    for parts in (one for one in tables if len(one) == most):
        scores.append(sum(w * x / n for x, n, w in parts))
        p = [(x + 0.5) / (n + 1) for x, n, _ in parts]
        spread = zip(parts, p, strict=True)
        variances.append(sum(w * w * one * (1 - one) / n for (_, n, w), one in spread))
    return scores, variances


def pooled_variance(x, n, y, m, a):
    total = 0.0
    for right, rows, before, rows_before, w in zip(x, n, y, m, a, strict=True):
        p = (right + before + 0.5) / (rows + rows_before + 1)
        total += w * w * p * (1 - p) * (1 / rows + 1 / rows_before)
    return total


@cache
def test_statistic(x, n, y, m, a):
    """Give the statistic of the test of equal scores, corrected for skewness where it is worse."""
    score = sum(w * (p / q - r / s) for p, q, r, s, w in zip(x, n, y, m, a, strict=True))
    if score >= 0:
        return score / math.sqrt(pooled_variance(x, n, y, m, a))
    right, rows, weight = both(x, n, y, m, a)
    wrong = [size - one for one, size in zip(right, rows, strict=True)]
    if max(statistic_at(wrong, rows, weight, size) for size in (1e-9, 1e15)) == 0:
        return 0.0
    multiplier = bisected(lambda size: mean(recalls_under(wrong, rows, weight, size), weight) > 0.5)
    return -statistic_at(wrong, rows, weight, multiplier)


test_statistic.__test__ = False


def log_evidence(z, variance, tolerance):
    """Give the logarithm of the mean likelihood ratio of drops of 1/2, 1, 2 and 4 tolerances."""
    drops = [tolerance * size for size in (0.5, 1, 2, 4)]
    ratios = [math.exp(-d * z / math.sqrt(variance) - d * d / (2 * variance)) for d in drops]
    return math.log(sum(ratios) / len(ratios))


class Dispersion:
    """What the periods of a baseline say about the variance of differences."""

    def __init__(self, baseline, metric, positive, weights, tail, dispersion, level):
        self.scores, self.variances = scores_of(baseline, metric, positive, weights)
        self.m = len(self.scores)
        self.is_used = dispersion == "estimate" and self.m >= 13
        self.z = NORMAL.inv_cdf((1 + level) / 2)
        self.tau2, self.rho, self.kappa, self.quantile = 0.0, 0.0, 1.0, self.z
        if self.is_used:
            self.tau2, self.rho = dispersion_of(self.scores, self.variances)
            t = stats.t.isf(tail, self.m - 1)
            self.kappa = (t / NORMAL.inv_cdf(1 - tail)) ** 2
            self.quantile = float(stats.t.isf((1 - level) / 2, self.m - 1))

    def between(self, now, before):
        if not self.is_used:
            return 0.0
        return self.tau2 * sum(mean_factor(n, self.rho) / n for n in (now, before))

    def widened(self, ends, score, between):
        """Add the variance between periods to that of both limits, with a quantile of t."""
        low, high = (
            self.quantile * math.sqrt(((end - score) / self.z) ** 2 + between) for end in ends
        )
        return max(score - low, -1.0), min(score + high, 1.0)


def sides_of(window, before, labels, metric, positive, weights):
    """Give x, n, y, m and the weights of these labels; None if the window lacks one."""
    parts = [parts_of(cells, metric, positive, labels, weights) for cells in (window, before)]
    if not parts[0] or not all(n for side in parts for _, n, _ in side):
        return None
    (x, n, a), (y, m, _) = (zip(*side, strict=True) for side in parts)
    return x, n, y, m, a


OF_ALARM = ("status", "since", "window_n", "window_difference", "window_lower", "window_upper")


def row_of_period(
    now,
    baseline,
    starts,
    t,
    spread,
    *,
    metric,
    positive,
    weights,
    tolerance,
    threshold,
    excluded,
):
    """Answer for one period, and whether it is tested; None where there is null."""
    sign = -1 if metric == "false_positive_rate" else 1
    before = added(baseline)
    kept = [{} if start in excluded else now.get(start, {}) for start in starts[: t + 1]]
    so_far = added(kept)
    labels = sorted({y for y, _ in so_far} & {y for y, _ in before})

    def has_rows(cells):
        parts = parts_of(cells, metric, positive, labels, weights)
        return any(n for _, n, _ in parts)

    asked = [s for s in range(t + 1) if has_rows(kept[s])]
    terms = {}
    if asked and asked[-1] == t and compared(so_far, before, metric, positive, weights):
        for i, s in enumerate(asked):
            earlier = added([before, *kept[:s]])
            sides = sides_of(added(kept[s:]), earlier, labels, metric, positive, weights)
            if sides is None:
                continue
            v = pooled_variance(*sides)
            between = spread.between(len(asked) - i, spread.m + i)
            total = spread.kappa * (v + between)
            z = test_statistic(*sides) * math.sqrt(v / total)
            terms[s] = log_evidence(z, total, tolerance), sides, between
    own = now.get(starts[t], {})
    since = max(terms, key=lambda s: (terms[s][0], s), default=None)
    row = {
        "n": sum(own.values()),
        "since": None if since is None else starts[since],
        "window_n": 0 if since is None else sum(added(kept[since:]).values()),
        **own_scores(own, before, metric, positive, weights, sign),
    }
    window = [None] * 3
    if since is not None:
        _, sides, between = terms[since]
        score = sum(w * (p / q - r / s) for p, q, r, s, w in zip(*sides, strict=True))
        low, high = spread.widened(limits(*sides, spread.z), score, between)
        window = [score, low, high] if sign > 0 else [-score, -high, -low]
    row |= dict(zip(("window_difference", "window_lower", "window_upper"), window, strict=True))
    row["status"] = "inconclusive"
    is_tested = bool(asked) and asked[-1] == t
    if is_tested:
        total = math.log(sum(math.exp(one) for one, *_ in terms.values())) if terms else -math.inf
        if total >= threshold:
            row["status"] = "alarm"
        elif is_ok(kept, before, metric, positive, weights, tolerance, spread):
            row["status"] = "ok"
    return row, is_tested


def is_ok(kept, before, metric, positive, weights, tolerance, spread):
    """Ask whether the last 13 and the last 4 periods are not worse by the tolerance."""
    pairs = [compared(added(kept[-width:]), before, metric, positive, weights) for width in (13, 4)]
    if None in pairs:
        return False
    long, short = (
        sum(w * (p / q - r / s) for p, q, r, s, w in zip(*sides, strict=True)) for sides in pairs
    )
    between = spread.between(max(1, sum(map(bool, kept[-13:]))), max(1, spread.m))
    low, _ = spread.widened(limits(*pairs[0], spread.z), long, between)
    return low > -tolerance and short > -tolerance


def own_scores(own, before, metric, positive, weights, sign):
    """Give the scores of a period and of the baseline, on the labels that both have."""
    shared = {y for y, _ in own} & {y for y, _ in before}
    pair = compared(own, before, metric, positive, weights)
    estimate, baseline = None, None
    if metric != "balanced_accuracy":  # which averages over labels of both sides
        ((y, m, _),) = parts_of(before, metric, positive, shared, None) if before else ((0, 0, 1),)
        baseline = None if m == 0 else y / m if sign > 0 else 1 - y / m
    if pair is not None:
        x, n, y, m, a = pair
        scores = (
            sum(w * one / rows for one, rows, w in zip(*side, a, strict=True))
            for side in ((x, n), (y, m))
        )
        estimate, baseline = (one if sign > 0 else 1 - one for one in scores)
    return {
        "n_labels": len(shared),
        "min_support": min((sum(own[k] for k in own if k[0] == y) for y in shared), default=0),
        "estimate": estimate,
        "baseline_estimate": baseline,
        "difference": None if pair is None else estimate - baseline,
    }


def asked(
    now,
    baseline,
    starts,
    *,
    metric="balanced_accuracy",
    positive=1,
    weights=None,
    tolerance=0.05,
    level=0.95,
    looks=104,
    questions=1,
    dispersion="estimate",
    excluded=(),
):
    """Answer for one segment: `now` has cells by period, `baseline` by period of its own.

    `questions` is the number of segments with a baseline times that of metrics.
    """
    tail = (1 - level) / looks / questions
    periods = [cells for start, cells in sorted(baseline.items()) if start not in excluded]
    spread = Dispersion(periods, metric, positive, weights, tail, dispersion, level)
    options = {"metric": metric, "positive": positive, "weights": weights, "tolerance": tolerance}
    rows, kept = [], None
    for t in range(len(starts)):
        row, is_tested = row_of_period(
            now,
            periods,
            starts,
            t,
            spread,
            threshold=-math.log(tail),
            excluded=excluded,
            **options,
        )
        if is_tested:
            kept = {name: row[name] for name in OF_ALARM}
        elif not row["n"] and kept is not None and kept["status"] == "alarm":
            row |= kept
        rows.append(row)
    return rows
