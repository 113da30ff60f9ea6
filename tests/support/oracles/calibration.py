"""Calibration by loops over rows and dense matrices, in fractions where counts allow it."""

import math
from collections import Counter
from fractions import Fraction

import numpy as np
from scipy import optimize, special, stats

from balframe.core.integer_codes import Codes
from balframe.core.probability_scores import ProbabilityScores
from balframe.core.row_sums import RowSums
from balframe.core.score_ties import group_ties, split_by_label


def probabilities(segment, score, y, n=None, n_segments=None):
    """Tie rows given by lists; segments are 0, 1, ..."""
    ties = group_ties(
        [Codes.spanning(np.asarray(segment, np.int64))],
        np.asarray(score, float),
        *split_by_label(RowSums(None if n is None else np.asarray(n)), np.asarray(y, bool)),
        None,
        None,
    )
    p = ProbabilityScores.of(ties)
    if n_segments is None:
        return p
    own = np.unique(segment)
    return ProbabilityScores(own[p.segment], p.score, p.n, p.k, n_segments)


def one(*rows, n=None):
    """Tie (score, y) of one segment."""
    return probabilities([0] * len(rows), *zip(*rows, strict=True), n=n)


def several(*segments):
    """Tie lists of (score, y), one for each segment."""
    rows = [(g, score, y) for g, one in enumerate(segments) for score, y in one]
    return probabilities(*zip(*rows, strict=True), n_segments=len(segments))


def isotonic(rows):
    """Fit each score by the highest, over the scores up to it, of the lowest mean from there on."""
    ties = sorted({score for score, _ in rows})
    n, k = Counter(s for s, _ in rows), Counter(s for s, y in rows if y)

    def mean(low, high):
        return Fraction(sum(k[s] for s in ties[low:high]), sum(n[s] for s in ties[low:high]))

    size = len(ties)
    return {
        ties[i]: max(min(mean(a, b) for b in range(i + 1, size + 1)) for a in range(i + 1))
        for i in range(size)
    }


def kuiper(rows):
    """Give the range of the running sums over the distinct scores, divided by n."""
    total, reached = Fraction(0), [Fraction(0)]
    for score in sorted({score for score, _ in rows}):
        total += sum(Fraction(y) - Fraction(score) for s, y in rows if s == score)
        reached.append(total)
    return (max(reached) - min(reached)) / len(rows)


def tables(rows):
    """Count [n, k] of each segment in each stratum; rows are (segment, stratum, y)."""
    out = {}
    for segment, stratum, y in rows:
        cell = out.setdefault(stratum, {}).setdefault(segment, [0, 0])
        cell[0] += 1
        cell[1] += y
    return out


def moments(rows, n_segments, scores=None):
    """Give T and V over all segments, with sums of excess times score behind if these are given."""
    each = [lambda _: 1.0]
    if scores is not None:
        each.append(lambda stratum: scores[stratum])
    size = n_segments * len(each)
    t, v = np.zeros(size), np.zeros((size, size))
    for stratum, cells in tables(rows).items():
        n = np.zeros(n_segments)
        k = np.zeros(n_segments)
        for segment, (all_rows, positive) in cells.items():
            n[segment], k[segment] = all_rows, positive
        total, positive = n.sum(), k.sum()
        factors = np.array([factor(stratum) for factor in each])
        t += np.kron(factors, k - n * positive / total)
        if total > 1:
            spread = positive * (total - positive) / (total**2 * (total - 1))
            of_stratum = spread * (total * np.diag(n) - np.outer(n, n))
            v += np.kron(np.outer(factors, factors), of_stratum)
    return t, v


def chi_square(t, v):
    """Give T' V^+ T and the rank of V."""
    scale = np.sqrt(np.where(np.diag(v) > 0, np.diag(v), 1))
    t, v = t / scale, v / np.outer(scale, scale)
    return t @ np.linalg.pinv(v, rcond=1e-8) @ t, np.linalg.matrix_rank(v, tol=1e-8)


def equality_p_value(rows, n_segments, scores=None):
    """Give the p-value of a test of all segments, with those of a variance below 1 merged too."""
    p_value = scaled_p_value(rows, n_segments, scores)
    variance = np.diag(moments(rows, n_segments)[1])
    sparse = [g for g in range(n_segments) if variance[g] < 1]
    if len(sparse) < 2 or len(sparse) == n_segments:
        return p_value
    merged = [(sparse[0] if g in sparse else g, stratum, y) for g, stratum, y in rows]
    return max(p_value, scaled_p_value(merged, n_segments, scores))


def scaled_p_value(rows, n_segments, scores):
    """Compare the statistic with c times chi-square, from what each outcome adds to it."""
    t, v = moments(rows, n_segments, scores)
    statistic, df = chi_square(t, v)
    scale = np.sqrt(np.where(np.diag(v) > 0, np.diag(v), 1))
    inverse = np.linalg.pinv(v / np.outer(scale, scale), rcond=1e-8) / np.outer(scale, scale)
    extra = 0.0
    for stratum, cells in tables(rows).items():
        total = sum(n for n, _ in cells.values())
        share = sum(k for _, k in cells.values()) / total
        variance = share * (1 - share)
        for g, (n, _) in cells.items():
            d = np.zeros(n_segments)
            for other, (n_other, _) in cells.items():
                d[other] -= n_other / total
            d[g] += 1
            if scores is not None:
                d = np.append(d, d * scores[stratum])
            extra += n * variance * (1 - 6 * variance) * (d @ inverse @ d) ** 2
    c = max(1 + extra / (2 * df), 1)
    p_value = stats.chi2.sf(statistic / c, df / c)
    return p_value if c <= df else max(p_value, stats.chi2.sf(statistic, df))


def mantel_haenszel(rows, segment, z):
    """Give the difference to the rest, and the roots of its quadratic in Sato's variance."""
    weight = above = of_p = of_q = 0.0
    for cells in tables(rows).values():
        n, k = cells.get(segment, (0, 0))
        m = sum(cell[0] for cell in cells.values()) - n
        y = sum(cell[1] for cell in cells.values()) - k
        if n and m:
            w = n * m / (n + m)
            weight += w
            above += w * (k / n - y / m)
            of_p += (n**2 * y - m**2 * k + n * m * (m - n) / 2) / (n + m) ** 2
            of_q += (k * (m - y) + y * (n - k)) / (2 * (n + m))
    d = above / weight
    # (D - d)^2 = z^2 (D P + Q) / w^2
    c = (z / weight) ** 2
    low, high = sorted(np.roots([1, -2 * d - c * of_p, d * d - c * of_q]).real)
    return d, max(low, -1), min(high, 1)


def agreeing(difference, lower, upper, is_significant):
    """Move the limit nearer to 0 to the side of 0 that a test is on."""
    if difference < 0:
        moved = agreeing(-difference, -upper, -lower, is_significant)
        return -moved[0], -moved[2], -moved[1]
    if is_significant and lower <= 0:
        lower = difference * 1e-6
    if not is_significant and lower > 0:
        lower = 0
    return difference, lower, upper


def corrected_for_skewness(t, a):
    """Give the root z of T = z + A (z^2 - 1), or its vertex."""
    inside = 1 + 4 * a * (a + t)
    if abs(a) < 1e-12:
        return t
    return (inside**0.5 - 1) / (2 * a) if inside >= 0 else -1 / (2 * a)


def intercept_statistic(a, logit, y):
    """Give the statistic of an intercept, with the variance that allows for another slope."""

    def chances(a):
        return special.expit(a + logit)

    def least_squares_factor():
        observed, n = y.sum(), len(y)
        if observed in (0, n):
            return 1
        fitted = chances(optimize.brentq(lambda a: chances(a).sum() - observed, -900, 900))
        variance = (fitted * (1 - fitted)).sum()
        share = ((y - fitted) ** 2).sum() / variance
        return max(1, min(share, observed * (n - observed) / (n * variance)))

    p = chances(a)
    variance = least_squares_factor() * (p * (1 - p)).sum()
    third = (p * (1 - p) * (1 - 2 * p)).sum()
    return corrected_for_skewness(
        (y.sum() - p.sum()) / math.sqrt(variance), third / (6 * variance**1.5)
    )


def r_star(b, logit, y):
    """Give w + log(u / w) / w of a slope, with the likelihood maximised over the intercept."""

    def fitted(b):
        def gap(a):
            return (special.expit(a + b * logit) - y).sum()

        a = optimize.brentq(gap, -300, 300, xtol=1e-14)
        return a + b * logit, special.expit(a + b * logit)

    def likelihood(log_odds):
        return (y * log_odds - np.logaddexp(0, log_odds)).sum()

    def information(p):
        design = np.stack([np.ones(len(y)), logit])
        return (design * p * (1 - p)) @ design.T

    def gradient(b):
        return ((y - fitted(b)[1]) * logit).sum()

    best = optimize.brentq(gradient, -60, 60, xtol=1e-14)
    (odds_best, p_best), (odds, p) = fitted(best), fitted(b)
    w = math.copysign(math.sqrt(2 * (likelihood(odds_best) - likelihood(odds))), best - b)
    u = (best - b) * math.sqrt(np.linalg.det(information(p_best)) / information(p)[0, 0])
    return w + math.log(u / w) / w


def slope_mid_p(score, y):
    """Give the exact two-sided mid-p-value of the sum of logits of positive rows, given them."""
    logit = special.logit(score)
    sums = {0: {0.0: 1.0}}
    for s, x in zip(score, logit, strict=True):
        grown = {}
        for k, law in sums.items():
            for total, p in law.items():
                for up in (0, 1):
                    key = round(total + up * x, 9)
                    cell = grown.setdefault(k + up, {})
                    cell[key] = cell.get(key, 0) + p * (s if up else 1 - s)
        sums = grown
    law, own = sums[int(sum(y))], (logit * y).sum()
    above = sum(p for total, p in law.items() if total > own + 1e-6)
    equal = sum(p for total, p in law.items() if abs(total - own) <= 1e-6)
    share = (above + equal / 2) / sum(law.values())
    return 2 * min(share, 1 - share)


def excess_mid_p(rows, segment):
    """Give the exact two-sided mid-p-value of a segment's positive rows, by convolution."""
    law, low, own = np.array([1.0]), 0, 0
    for cells in tables(rows).values():
        n, k = cells.get(segment, (0, 0))
        total = sum(cell[0] for cell in cells.values())
        positive = sum(cell[1] for cell in cells.values())
        least = max(0, n + positive - total)
        support = np.arange(least, min(n, positive) + 1)
        law = np.convolve(law, stats.hypergeom.pmf(support, total, positive, n))
        low, own = low + least, own + k
    above = law[own - low + 1 :].sum() + law[own - low] / 2
    return 2 * min(above, 1 - above)
