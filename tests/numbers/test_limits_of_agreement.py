"""Limits of kappa and of the correlation in many digits, for rare labels and very many rows."""

from itertools import product

import polars as pl
import pytest
from mpmath import mp, mpf, sqrt

import balframe as bf
from tests.support.cases import cases
from tests.support.oracles import delta_method

pytestmark = pytest.mark.any_version
mp.dps = 50
Z = mpf("1.95996398454005423552")
METRICS = ["cohen_kappa", "matthews_corrcoef"]


def coefficients(share):
    """Give kappa and the correlation of shares, each with its derivative by a share."""
    labels = range(len(share))
    true = [sum(row) for row in share]
    predicted = [sum(column) for column in zip(*share, strict=True)]
    right = sum(share[k][k] for k in labels)
    chance = sum(t * p for t, p in zip(true, predicted, strict=True))
    b, d = (1 - sum(v * v for v in margin) for margin in (predicted, true))
    kappa, correlation = (right - chance) / (1 - chance), (right - chance) / sqrt(b * d)
    return [
        (
            kappa,
            lambda i, j: ((i == j) - (predicted[i] + true[j]) * (1 - kappa)) / (1 - chance),
        ),
        (
            correlation,
            lambda i, j: (
                ((i == j) - predicted[i] - true[j]) / sqrt(b * d)
                + correlation * (predicted[j] / b + true[i] / d)
            ),
        ),
    ]


def expected_limits(weights, squares):
    """Give value, lower and upper limit of each coefficient of a matrix of sums of weights."""
    k, total = len(weights), mpf(sum(map(sum, weights)))
    size = total**2 / sum(map(sum, squares))
    row = total / size
    values = [value for value, _ in coefficients([[w / total for w in of] for of in weights])]
    smoothed = [[w + 2 * row / k**2 for w in of] for of in weights]
    smoothed_squares = [[s + 2 * row**2 / k**2 for s in of] for of in squares]
    whole = total + 2 * row
    share = [[w / whole for w in of] for of in smoothed]
    for estimate, (value, derivative) in zip(values, coefficients(share), strict=True):
        cells = list(product(range(k), range(k)))
        mean = sum(share[i][j] * derivative(i, j) for i, j in cells)
        terms = (smoothed_squares[i][j] * (derivative(i, j) - mean) ** 2 for i, j in cells)
        n = (1 - value**2) / (sum(terms) / whole**2) * size / (size + 2)
        u = (1 + estimate) / 2
        half = Z * sqrt(u * (1 - u) / n + Z**2 / (4 * n * n))
        ends = [(u + Z**2 / (2 * n) + sign * half) / (1 + Z**2 / n) for sign in (-1, 1)]
        yield [float(one) for one in (estimate, *(2 * end - 1 for end in ends))]


def assert_limits(matrix, result, weight=1):
    exact = [[mpf(n) * weight for n in row] for row in matrix]
    squares = [[mpf(n) * weight**2 for n in row] for row in matrix]
    for name, expected in zip(METRICS, expected_limits(exact, squares), strict=True):
        values = [result[name + end].item() for end in ("", "_lower", "_upper")]
        assert values == pytest.approx(expected, rel=1e-12, abs=1e-12)


def report(matrix, **options):
    cells = [(y, p, n) for y, row in enumerate(matrix) for p, n in enumerate(row)]
    frame = pl.DataFrame(cells, schema=["y", "p", "k"], orient="row")
    return bf.report(frame, "y", "p", metrics=METRICS, counts="k", interval=True, **options)


@cases("majority", [10**3, 10**9, 10**12, 10**15])
@cases(
    "rare",
    [
        [[2], [0, 1]],
        [[1], [2, 1]],
        [[5], [5, 5]],
        [[0], [0, 1]],
        [[0], [0, 3]],
        [[0, 3], [1, 4, 0], [2, 0, 7]],
        [[0, 0], [0, 4, 0], [0, 0, 7]],
        [[9, 8], [7, 0, 6], [5, 4, 0]],
    ],
)
def test_limits_with_rare_labels_equal_50_digit_arithmetic(majority, rare):
    first, *others = rare
    matrix = [[majority, *first], *others]

    assert_limits(matrix, report(matrix))


@cases("majority", [10**6, 10**9, 10**12])
@cases("matrix", [[[0, None], [6, 0]], [[5, None], [0, 4]], [[3, None, 0], [0, 3, 1], [2, 0, 9]]])
def test_limits_with_one_dominant_error_equal_50_digit_arithmetic(majority, matrix):
    matrix = [[majority if value is None else value for value in row] for row in matrix]

    assert_limits(matrix, report(matrix))


@cases("n", [1, 10**5, 10**9])
@cases(
    "matrix",
    [
        [[1, 0], [0, 1]],
        [[0, 1], [1, 0]],
        [[1, 1], [1, 1]],
        [[7, 0, 0], [0, 2, 0], [0, 0, 1]],
        [[0, 1, 1], [1, 0, 1], [1, 1, 0]],
        [[5, 1, 0, 0], [0, 5, 1, 0], [0, 0, 5, 1], [1, 0, 0, 5]],
    ],
)
def test_limits_of_very_many_rows_equal_50_digit_arithmetic(matrix, n):
    matrix = [[value * n for value in row] for row in matrix]

    assert_limits(matrix, report(matrix))


@pytest.mark.parametrize("wrong", [0, 1, 3])
def test_limits_with_few_errors_equal_50_digit_arithmetic(wrong):
    matrix = [[10**9, wrong, 0], [0, 10**9 + 7, 0], [wrong, 0, 3 * 10**8]]

    assert_limits(matrix, report(matrix))


@pytest.mark.parametrize("unit", [2.0**-300, 0.75, 2.0**300])
def test_limits_of_scaled_weights_equal_50_digit_arithmetic(unit):
    matrix = [[400, 3, 1], [2, 50, 0], [0, 1, 6]]
    cells = [(y, p, n, unit) for y, row in enumerate(matrix) for p, n in enumerate(row)]
    frame = pl.DataFrame(cells, schema=["y", "p", "k", "w"], orient="row")
    options = {"metrics": METRICS, "counts": "k", "sample_weight": "w", "interval": True}

    assert_limits(matrix, bf.report(frame, "y", "p", **options), mpf(unit))


def assert_gate_limits(matrix):
    cells = [(y, p, n) for y, row in enumerate(matrix) for p, n in enumerate(row)]
    frame = pl.DataFrame(cells, schema=["y", "p", "k"], orient="row")
    rules = [f"{name} >= 0" for name in METRICS]
    out = bf.check(frame, "y", "p", counts="k", rules=rules)
    for name, result in zip(METRICS, out.to_dicts(), strict=True):
        expected = delta_method.gate(getattr(delta_method, name), matrix)
        limits = [expected.gate_lower, expected.gate_upper]
        assert [result["lower"], result["upper"]] == pytest.approx(limits, rel=1e-9, abs=1e-9)


@cases("majority", [10**3, 10**6, 10**9, 10**12, 10**15])
@cases(
    "rare",
    [
        [[20], [10, 50]],
        [[1], [0, 40]],
        [[200], [100, 40]],
        [[0], [0, 1]],
        [[0, 3], [1, 40, 0], [2, 0, 70]],
        [[90, 80], [70, 0, 60], [50, 40, 0]],
    ],
)
def test_gate_limits_with_rare_labels_equal_120_digit_arithmetic(majority, rare):
    first, *others = rare

    assert_gate_limits([[majority, *first], *others])


@cases("n", [10**2, 10**5, 10**9])
@cases("matrix", [[[1, 0], [0, 1]], [[1, 1], [1, 1]], [[9, 1, 0], [0, 9, 1], [1, 0, 3]]])
def test_gate_limits_of_very_many_rows_equal_120_digit_arithmetic(matrix, n):
    assert_gate_limits([[value * n for value in row] for row in matrix])
