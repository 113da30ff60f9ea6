"""Gate limits of smooth functions of a confusion matrix, cell by cell in 120 digits.

Every derivative is a difference quotient of the function itself, so that no formula of one is used.
"""

from itertools import product
from types import SimpleNamespace

from mpmath import mp, mpf, ncdf, sqrt
from scipy import stats

_DIGITS = 120
_STEP = mpf(10) ** -18  # of the share of a cell: differences are right to 36 digits


def margins(matrix):
    """Give the sum of the cells, and the margins of truth and prediction."""
    true = [sum(row) for row in matrix]
    return sum(true), true, [sum(column) for column in zip(*matrix, strict=True)]


def cohen_kappa(matrix):
    """Give Cohen's kappa."""
    total, true, predicted = margins(matrix)
    chance = sum(t * p for t, p in zip(true, predicted, strict=True)) / total**2
    right = sum(matrix[k][k] for k in range(len(matrix))) / total
    return (right - chance) / (1 - chance)


def matthews_corrcoef(matrix):
    """Give Gorodkin's correlation."""
    total, true, predicted = margins(matrix)
    beyond = sum(matrix[k][k] * total - true[k] * predicted[k] for k in range(len(matrix)))
    spread = [total**2 - sum(n * n for n in margin) for margin in (true, predicted)]
    return beyond / sqrt(spread[0] * spread[1])


def gate(function, weights, squares=None, largest=None, *, level=0.95, value_range=(-1, 1)):
    """Give limits for decisions, and what they are computed from, of one matrix.

    `weights`, `squares` and `largest` are the sums of weights and of squared weights, and the
    largest weight, of every cell; without the last two, the rows weigh 1.
    """
    with mp.workdps(_DIGITS):
        return _gate(function, weights, squares, largest, level, value_range)


def _gate(function, weights, squares, largest, level, value_range):
    low, high = map(mpf, value_range)
    weights, squares = _exact(weights), _exact(weights if squares is None else squares)
    largest = [[mpf(1)] * len(weights)] * len(weights) if largest is None else _exact(largest)

    def u(matrix):
        return (function(matrix) - low) / (high - low)

    total, total_sq = (sum(map(sum, of)) for of in (weights, squares))
    mean = total_sq / total
    by_mean = _moments(u, weights, squares, largest, mean)
    heaviest = max(map(max, largest))
    by_largest = by_mean if heaviest == mean else _moments(u, weights, squares, largest, heaviest)
    variance = by_mean.u * (1 - by_mean.u)
    n = by_mean.n_eff
    skewness = abs(by_mean.skewness - (1 - 2 * by_mean.u) / sqrt(n * variance))
    tails = sqrt(max(by_mean.kurtosis - (1 - 3 * variance) / (n * variance), mpf(0)))
    share, rows = float(u(weights)), float(by_largest.n_eff)
    excess = max(skewness, tails)
    limits = (None, None)
    if excess < 0.25:
        z = mpf(stats.norm.isf((1 - level) / 2))
        tail = float(ncdf(-(z + excess * (2 * z * z + 1) / 6)))
        hits = share * rows
        ends = [
            stats.beta.ppf(tail, hits, rows - hits + 1) if hits > 0 else 0,
            stats.beta.isf(tail, hits + 1, rows - hits) if hits < rows else 1,
        ]
        bias = float(by_largest.bias)
        ends = [max(ends[0] - max(bias, 0), 0), min(ends[1] - min(bias, 0), 1)]
        limits = [float(low + (high - low) * end) for end in ends]
    return SimpleNamespace(
        n_eff=float(n),
        n_eff_gate=rows,
        bias=float(by_mean.bias * (high - low)),
        bias_gate=float(by_largest.bias * (high - low)),
        skew_excess=float(skewness),
        tail_excess=float(tails),
        gate_lower=limits[0],
        gate_upper=limits[1],
    )


def _exact(matrix):
    return [[mpf(value) for value in row] for row in matrix]


def _moments(u, weights, squares, largest, row):
    """Give u at cells smoothed by two rows of this weight, its n_eff, bias and moments."""
    k, total = len(weights), sum(map(sum, weights))
    total_sq, mean = sum(map(sum, squares)), sum(map(sum, squares)) / total
    cells = list(product(range(k), range(k)))
    smoothed = [[w + 2 * row / k**2 for w in of] for of in weights]
    whole = sum(map(sum, smoothed))
    share = [[w / whole for w in of] for of in smoothed]
    at = u(share)
    first, second = {}, {}
    for i, j in cells:
        sides, step = [], _STEP * share[i][j]
        for sign in (-1, 1):
            moved = [list(of) for of in share]
            moved[i][j] += sign * step
            sides.append(u(moved))
        first[i, j] = (sides[1] - sides[0]) / (2 * step)
        second[i, j] = (sides[0] - 2 * at + sides[1]) / step**2
    centre = sum(share[i][j] * first[i, j] for i, j in cells)
    d = {cell: value - centre for cell, value in first.items()}
    s2 = {(i, j): squares[i][j] + 2 * row**2 / k**2 for i, j in cells}
    s3 = {(i, j): squares[i][j] * largest[i][j] + 2 * row**3 / k**2 for i, j in cells}
    sum_2 = sum(s2[cell] * d[cell] ** 2 for cell in cells)
    sum_3, sum_4 = (sum(s3[cell] * d[cell] ** p for cell in cells) for p in (3, 4))
    size = total**2 / total_sq
    return SimpleNamespace(
        u=at,
        n_eff=at * (1 - at) / (sum_2 / whole**2) * size / (size + 2),
        bias=sum(s2[cell] * second[cell] for cell in cells) / (2 * whole**2),
        skewness=sum_3 / sum_2 ** mpf("1.5"),
        kurtosis=sum_4 * mean / sum_2**2,
    )
