"""Calibration by loops over rows and dense matrices, in fractions where counts allow it."""

from collections import Counter
from fractions import Fraction

import numpy as np

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
