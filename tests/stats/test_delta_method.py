"""Gate limits of smooth functions of the matrix, of which kappa and the correlation are two."""

import numpy as np
import pytest

from balframe.stats.delta_method import (
    CellWeights,
    Linearisation,
    gate_limits,
    shifted_exact_limits,
    skewness_excess,
)
from balframe.stats.proportions import clopper_pearson
from tests.support.cases import cases
from tests.support.reference_values import reference

CASES = [
    case for case in reference("delta_method")["cases"] if case["input"]["metric"] == "f1_macro"
]
FIRST = np.array([1, -8, 0, 8, -1]) / 12  # of a function at -2, ..., 2
SECOND = np.array([-1, 16, -30, 16, -1]) / 12


def f1_macro(matrix):
    return np.mean(2 * np.diag(matrix) / (matrix.sum(axis=0) + matrix.sum(axis=1)))


def weights_of(case):
    """Return sums of weights, sums of squares and largest weights of the cells."""
    if "matrix" in case:
        matrix = np.array(case["matrix"], float)
        return matrix, matrix, np.ones_like(matrix)
    return (
        np.array([[of(cell) for cell in row] for row in case["cells"]])
        for of in (np.sum, lambda cell: np.sum(np.square(cell)), np.max)
    )


def differences(matrix, coefficients, step, power):
    out = np.empty_like(matrix)
    for cell in np.ndindex(matrix.shape):
        values = []
        for times in range(-2, 3):
            moved = matrix.copy()
            moved[cell] *= 1 + times * step
            values.append(f1_macro(moved))
        out[cell] = np.dot(coefficients, values) / (matrix[cell] * step) ** power
    return out


def linearise(case, weight):
    """Differentiate f1_macro by five points, smoothed by rows of the mean or the largest weight."""
    sums, squares, largest = weights_of(case)
    total = sums.sum()
    mean = squares.sum() / total
    row = (mean if weight == "mean" else largest.max()) / total
    smoothed = sums / total + 2 * row / sums.size
    share = smoothed / smoothed.sum()
    first = differences(share, FIRST, 1e-3, 1)
    first -= (share * first).sum()
    second = differences(share, SECOND, 4e-3, 2)
    observed = CellWeights(
        np.zeros(sums.size, np.int64),
        squares.ravel() / total**2,
        largest.ravel() / total,
        np.array([mean / total]),
    )
    return Linearisation(
        observed,
        np.array([row]),
        np.array([f1_macro(share)]),
        first.ravel(),
        np.array([(first**2).mean()]),
        lambda: (np.array([(first**3).mean()]), np.array([(first**4).mean()])),
        second.ravel,
        lambda: np.array([second.mean()]),
    )


@pytest.mark.parametrize("case", CASES, ids=lambda case: str(case["expected"]["estimate"]))
def test_limits_of_an_average_of_f1_equal_reference_values(case):
    given, expected = case["input"], case["expected"]
    by_mean, by_largest = (linearise(given, weight) for weight in ("mean", "largest"))
    level = 1 - (1 - given["level"]) / given["together"]

    limits = gate_limits(np.array([expected["estimate"]]), by_mean, by_largest, level)

    parts = [by_mean.effective_size, by_largest.effective_size, by_mean.bias, by_largest.bias]
    keys = ["n_eff", "n_eff_gate", "bias", "bias_gate"]
    assert np.ravel(parts) == pytest.approx([expected[key] for key in keys], rel=1e-8, abs=1e-8)
    excess = max(expected["skew_excess"], expected["tail_excess"])
    assert by_mean.excess == pytest.approx([excess], abs=1e-8)
    ends = [expected[key] for key in ("gate_lower", "gate_upper")]
    assert np.ravel(limits) == pytest.approx(ends, abs=1e-8)


def test_a_share_that_is_no_more_skewed_than_a_proportion_has_exact_limits():
    share, n = np.array([0.2, 0.9, 1.0]), np.array([40.0, 30.0, 25.0])

    result = shifted_exact_limits(share, n, np.zeros(3), 0.95)

    assert np.array(result) == pytest.approx(np.array(clopper_pearson(share * n, n, 0.95)))


def test_limits_widen_with_the_excess_until_they_are_null():
    excess = np.array([0, 0.1, 0.2, 0.2499, 0.25, np.nan])
    share, n = np.full(6, 0.7), np.full(6, 50.0)

    low, high = shifted_exact_limits(share, n, excess, 0.95)

    assert (np.diff(low[:4]) < 0).all()
    assert (np.diff(high[:4]) > 0).all()
    assert np.isnan([low[4:], high[4:]]).all()


@cases("x", [1, 7, 15])
def test_a_proportion_itself_has_no_excess_of_skewness(x):
    share, n = np.array([x / 20]), np.array([20.0])
    skewness = (1 - 2 * share) / np.sqrt(n * share * (1 - share))

    assert skewness_excess(skewness, share, n) == pytest.approx([0], abs=1e-15)
