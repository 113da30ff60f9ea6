"""Limits of kappa and of the correlation by the delta method, in 50 digits, for rare labels."""

from itertools import product

import polars as pl
import pytest
from mpmath import mp, mpf, sqrt

import balframe as bf

pytestmark = pytest.mark.slow
mp.dps = 50
Z = mpf("1.95996398454005423552")
METRICS = ["cohen_kappa", "matthews_corrcoef"]


def delta(matrix):
    """Give value, lower and upper limit of each coefficient of a matrix of counts."""
    n, labels = mpf(sum(map(sum, matrix))), range(len(matrix))
    share = [[value / n for value in row] for row in matrix]
    true = [sum(row) for row in share]
    called = [sum(column) for column in zip(*share, strict=True)]
    right = sum(share[k][k] for k in labels)
    chance = sum(t * p for t, p in zip(true, called, strict=True))
    b, d = (1 - sum(v * v for v in margin) for margin in (called, true))
    kappa, correlation = (right - chance) / (1 - chance), (right - chance) / sqrt(b * d)
    slopes = {
        kappa: lambda i, j: ((i == j) - (called[i] + true[j]) * (1 - kappa)) / (1 - chance),
        correlation: lambda i, j: (
            ((i == j) - called[i] - true[j]) / sqrt(b * d)
            + correlation * (called[j] / b + true[i] / d)
        ),
    }
    for value, slope in ((kappa, slopes[kappa]), (correlation, slopes[correlation])):
        terms = [(share[i][j], slope(i, j)) for i, j in product(labels, labels)]
        mean = sum(p * g for p, g in terms)
        half = Z * sqrt(sum(p * (g - mean) ** 2 for p, g in terms) / n)
        yield [float(one) for one in (value, max(value - half, -1), min(value + half, 1))]


def report(matrix):
    cells = [(y, p, n) for y, row in enumerate(matrix) for p, n in enumerate(row)]
    frame = pl.DataFrame(cells, schema=["y", "p", "k"], orient="row")
    return bf.report(frame, "y", "p", metrics=METRICS, counts="k", interval=True)


@pytest.mark.parametrize("majority", [10**3, 10**9, 10**12, 10**15])
@pytest.mark.parametrize(
    "rare",
    [[[2], [0, 1]], [[1], [2, 1]], [[5], [5, 5]], [[0, 3], [1, 4, 0], [2, 0, 7]]],
    ids=str,
)
def test_labels_of_few_rows_beside_one_of_many(majority, rare):
    first, *others = rare
    matrix = [[majority, *first], *others]
    found = report(matrix).row(0, named=True)

    for name, expected in zip(METRICS, delta(matrix), strict=True):
        values = [found[name + end] for end in ("", "_lower", "_upper")]
        assert values == pytest.approx(expected, rel=1e-12, abs=1e-12)


@pytest.mark.parametrize("rare", [1, 3])
@pytest.mark.parametrize("majority", [3, 10**9 + 7, 10**12, 10**15])
def test_a_perfect_score_has_no_limits(majority, rare):
    found = report([[majority, 0], [0, rare]])

    for name in METRICS:
        assert found[name].item() == pytest.approx(1, abs=1e-15)
        assert found[f"{name}_lower"].item() is found[f"{name}_upper"].item() is None
