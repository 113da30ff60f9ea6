"""Metrics of tables at the edge of what floats hold, against exact fractions."""

import math
from fractions import Fraction

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import balframe as bf
from tests.support.cases import cases
from tests.support.oracles.metrics_in_fractions import real, scores
from tests.support.shipped_metrics import SHIPPED

pytestmark = pytest.mark.any_version

CENTRED = {
    *("informedness", "cohen_kappa", "matthews_corrcoef"),
    *("cohen_kappa_linear", "cohen_kappa_quadratic"),
    *("adjusted_balanced_accuracy", "normalized_accuracy"),
    *("net_benefit(0.5)", "net_benefit(0.2)"),
}
COUNT = st.one_of(
    st.integers(0, 3), st.integers(10**6, 10**12), st.integers(2**53 - 2, 2**53 + 2), st.just(2**59)
)
EXPONENT = st.one_of(st.integers(-300, 300), st.integers(-3, 3), st.just(-323), st.none())


def square(entries, size):
    return st.lists(st.lists(entries, min_size=size, max_size=size), min_size=size, max_size=size)


def report(matrix, column, class_weight):
    cells = [(y, p, n) for y, row in enumerate(matrix) for p, n in enumerate(row)]
    frame = pl.DataFrame(cells, schema=["y", "p", "k"], orient="row")
    out = bf.report(
        frame, "y", "p", metrics=SHIPPED, interval=True, pos_label=1, labels=range(len(matrix)),
        class_weight=dict(enumerate(class_weight)), **{column: "k"},
    )  # fmt: skip
    return out.row(0, named=True)


def check(matrix, column, class_weight=(1e-12, 1.0, 1e9)):
    result = report(matrix, column, class_weight[: len(matrix)])
    for name, exact in scores(matrix, 1, class_weight[: len(matrix)]).items():
        value, low, high = (result[name + end] for end in ("", "_lower", "_upper"))
        assert (low is None) == (high is None), name
        exact = real(exact) if isinstance(exact, Fraction) else exact
        if exact is None or abs(exact) > 1.7e308:
            assert value is None, name
            continue
        assert value is not None, name
        room = 1e-14 if name in CENTRED else 1e-300
        assert abs(value - exact) <= 1e-11 * abs(exact) + room, (name, value, exact)
        if low is not None:
            assert low <= value <= high, name


def test_every_built_in_metric_is_compared_with_fractions():
    assert scores([[3, 1], [2, 4]], 1, [1, 2]).keys() == {*SHIPPED}


@settings(max_examples=40, deadline=None)
@given(st.one_of(square(COUNT, 2), square(COUNT, 3)))
def test_metrics_of_counts_equal_fractions(matrix):
    matrix[0][0] += 1

    check(matrix, "counts")


@settings(max_examples=20, deadline=None)
@given(st.one_of(square(EXPONENT, 2), square(EXPONENT, 3)), st.floats(1, 9))
def test_metrics_of_very_different_weights_equal_fractions(exponents, digits):
    matrix = [[0.0 if e is None else digits * 10.0**e for e in row] for row in exponents]
    if any(map(any, matrix)):
        check(matrix, "sample_weight")


@settings(max_examples=30, deadline=None)
@given(st.integers(10**6, 10**12), st.integers(1, 10**6), st.integers(-1, 1))
def test_metrics_close_to_chance_equal_fractions(n, m, more):
    check([[n, 3 * n], [m, 3 * m + more]], "counts")


@cases(
    "matrix",
    [
        [[1e136, 1e-323], [1e-323, 0.0]],  # a product of margins as small as a float can be
        [[0.0, 0.08], [0.0, 5e-290]],  # the label that is left out has nearly all the weight
        [[5e307, 1e290, 0.0], [1e290, 5e307, 1e290], [0.0, 1e290, 5e307]],  # of nearly the most
    ],
)
def test_metrics_of_weights_at_both_ends_of_a_float_equal_fractions(matrix):
    check(matrix, "sample_weight")


@cases(
    "matrix",
    [
        [[2**62, 1], [1, 2**61]],
        [[2, 3279381083371180], [1, 0]],  # a correlation of -1 / sqrt(3)
        [[1, 0, 0], [2**62, 1, 0], [0, 0, 1]],
        [[1, 2**60, 1], [0, 1, 0], [3, 0, 2]],  # four true negatives beside false alarms
    ],
)
def test_metrics_of_counts_above_2_to_the_53_equal_fractions(matrix):
    check(matrix, "counts")


@pytest.mark.parametrize("right", [(3, 5, 7, 11), (1, 9, 3, 27), (700, 49, 300, 21)])
def test_informedness_and_correlation_at_chance_are_exactly_0(right):
    tn, fp, fn, tp = right[0] * right[1], right[0] * right[2], right[3] * right[2], 0
    tp = right[3] * right[1]
    result = report([[tn, fp], [tp, fn]], "counts", (1, 1))

    assert [result[name] for name in ("informedness", "matthews_corrcoef")] == [0, 0]


@cases("heavy", [1.0, 1e9, 1e20, 1e150])
def test_npv_and_limits_do_not_depend_on_heavy_false_positives(heavy):
    result = report([[0.0, heavy, 1.0], [1.0, 1.0, 0.0], [0.0] * 3], "sample_weight", (1, 1, 1))

    half = 1.959964 / (1 + 1.959964**2 / 2) * math.sqrt(1 / 8 + 1.959964**2 / 16)  # Wilson, 1 of 2
    assert result["npv"] == 0.5
    assert result["specificity"] == pytest.approx(1 / (1 + heavy), rel=1e-14)
    assert result["npv_lower"] == pytest.approx(0.5 - half, rel=1e-6)
    assert result["npv_upper"] == pytest.approx(0.5 + half, rel=1e-6)


def test_a_ratio_out_of_range_is_null():
    result = report([[1.0, 1e-300], [1e300, 1.0]], "sample_weight", (1, 1))

    assert result["treatment_ratio"] is None
    assert result["diagnostic_odds_ratio"] == pytest.approx(1.0)
    assert math.isfinite(result["positive_likelihood_ratio"])
