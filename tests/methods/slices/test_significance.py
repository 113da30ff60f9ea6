"""The test that a part is served worse than the rest, beside scipy, mpmath and exact counts."""

from fractions import Fraction
from math import comb

import mpmath
import numpy as np
import pytest
from scipy import stats

from balframe.methods.slices.significance import (
    StratifiedCounts,
    log_p_value,
    log_tail,
    standardized_excess,
)
from tests.support.cases import cases


def one(n, wrong, n_all, wrong_of_all, weight=1.0):
    """Make a part of a single stratum."""
    arrays = (np.array([[float(value)]]) for value in (n, wrong, n_all, wrong_of_all))
    return StratifiedCounts(*arrays, np.array([weight]))


@cases("skewness", [-1.0, -0.01, 0.0, 5e-4, 1e-3])
def test_the_tail_without_positive_skewness_is_normal(skewness):
    z = np.array([-3.0, 0.0, 1.5, 8.0, 30.0])

    assert log_tail(z, np.full(5, skewness)) == pytest.approx(stats.norm.logsf(z), rel=1e-12)


@cases("skewness", [0.0011, 0.05, 0.4, 1.0, 3.0])
def test_the_tail_is_that_of_pearson_iii(skewness):
    z = np.array([-0.5, 0.0, 1.0, 3.0, 6.0, 10.0])

    found = np.exp(log_tail(z, np.full(6, skewness)))

    assert found == pytest.approx(stats.pearson3.sf(z, skewness), rel=1e-8)


@cases("skewness", [0.02, 0.1, 0.5, 1.5])
@cases("z", [60.0, 200.0, 3000.0])
def test_a_tail_that_is_too_small_for_floats_keeps_its_logarithm(z, skewness):
    shape = mpmath.mpf(4) / mpmath.mpf(skewness) ** 2
    at = shape + z * mpmath.sqrt(shape)
    with mpmath.workdps(60):
        expected = float(mpmath.log(mpmath.gammainc(shape, at, regularized=True)))

    (found,) = log_tail(np.array([z]), np.array([skewness]))

    assert found == pytest.approx(expected, rel=1e-4)


def test_tails_decrease_strictly_with_the_statistic():
    z = np.linspace(0, 400, 4001)

    for skewness in (0.05, 0.3, 1.0):
        log_p = log_tail(z, np.full(len(z), skewness))
        assert np.isfinite(log_p).all()
        assert (np.diff(log_p) < 0).all()


@cases(("n", "n_all", "wrong_of_all"), [(10, 40, 9), (30, 100, 5), (5, 1000, 300), (999, 1000, 7)])
def test_moments_are_those_of_the_hypergeometric_distribution(n, n_all, wrong_of_all):
    support = range(max(0, n - (n_all - wrong_of_all)), min(n, wrong_of_all) + 1)
    mass = [
        Fraction(comb(wrong_of_all, e) * comb(n_all - wrong_of_all, n - e), comb(n_all, n))
        for e in support
    ]
    mean = sum(p * e for p, e in zip(mass, support, strict=True))
    variance = sum(p * (e - mean) ** 2 for p, e in zip(mass, support, strict=True))
    third = sum(p * (e - mean) ** 3 for p, e in zip(mass, support, strict=True))

    for e in support:
        part = one(n, e, n_all, wrong_of_all)
        z, skewness = standardized_excess(
            part.factors, part.n, part.wrong, part.n_all, part.wrong_all
        )
        assert z[0] == pytest.approx(float(e - mean) / float(variance) ** 0.5, abs=1e-12)
        assert skewness[0] == pytest.approx(float(third) / float(variance) ** 1.5, abs=1e-12)


@pytest.mark.parametrize("place", [0, 1, 2])
def test_a_stratum_without_rows_does_not_change_the_p_value(place):
    """In the walk, a pattern may have no row of a label."""
    values = [[30.0, 10.0], [25.0, 5.0], [100.0, 50.0], [30.0, 10.0]]
    factors = np.array([0.02, 0.05])
    expected = log_p_value(factors, *(np.array([value]) for value in values))
    empty = [np.insert(np.array([value]), place, 0.0, axis=1) for value in values]

    assert expected[0] < -5
    assert log_p_value(np.insert(factors, place, 0.03), *empty) == pytest.approx(expected)


@pytest.mark.parametrize(
    "part", [one(5, 0, 20, 0), one(5, 5, 20, 20), one(20, 3, 20, 3)], ids=["none", "all", "whole"]
)
def test_the_p_value_is_1_without_variance(part):
    factors = np.array([[1.0]])

    assert log_p_value(factors, part.n, part.wrong, part.n_all, part.wrong_all) == [0.0]


def test_difference_limits_and_excess_equal_a_worked_example():
    """8 of 10 are wrong, and 5 of 50 in the rest."""
    part = one(10, 8, 60, 13)
    own = stats.binomtest(8, 10).proportion_ci(0.95, "exact")
    rest = stats.binomtest(5, 50).proportion_ci(0.95, "exact")

    (lower,), (upper,) = part.limits(0.95)

    assert part.gap == pytest.approx([0.7])
    assert lower == pytest.approx(0.7 - np.hypot(0.8 - own.low, rest.high - 0.1), abs=1e-9)
    assert upper == pytest.approx(0.7 + np.hypot(own.high - 0.8, 0.1 - rest.low), abs=1e-9)
    assert part.excess == pytest.approx([8 - 10 * 0.1])
