"""Exact tails of hypergeometric numbers, beside scipy and sums of fractions."""

from fractions import Fraction
from math import comb, log

import numpy as np
import pytest
from scipy import stats

from balframe.methods.slices.excess_test import log_hypergeometric_tail, log_tail_of_two
from tests.support.cases import cases


def mass(e, n, n_all, wrong_all):
    """Return P(E = e)."""
    return Fraction(comb(wrong_all, e) * comb(n_all - wrong_all, n - e), comb(n_all, n))


def support(n, n_all, wrong_all):
    return range(max(0, n + wrong_all - n_all), min(n, wrong_all) + 1)


def arrays(*values):
    return (np.array(value, float) for value in values)


@cases(
    "design", [(10, 40, 9), (30, 60, 50), (1, 30, 1), (29, 30, 29), (500, 2000, 3), (60, 90, 45)]
)
def test_tails_of_every_number_equal_sums_of_fractions(design):
    numbers = support(*design)
    masses = [mass(e, *design) for e in numbers]
    expected = [log(sum(masses[i:])) for i in range(len(masses))]

    found = log_hypergeometric_tail(*arrays(list(numbers), *([v] * len(numbers) for v in design)))

    assert found == pytest.approx(expected, rel=1e-11, abs=1e-11)
    assert found[0] == 0


def test_tails_of_many_rows_equal_scipy():
    random = np.random.default_rng(0)
    n_all = random.integers(1000, 100_000, 300)
    wrong_all = random.integers(1, 400, 300)
    n = random.integers(1, n_all)
    wrong = np.minimum(random.hypergeometric(wrong_all, n_all - wrong_all, n) + 3, wrong_all)
    wrong = np.minimum(wrong, n)
    expected = stats.hypergeom.logsf(wrong - 1, n_all, wrong_all, n)

    found = log_hypergeometric_tail(*arrays(wrong, n, n_all, wrong_all))

    assert found == pytest.approx(expected, rel=1e-8, abs=1e-9)


@cases("wrong", [(0, 0), (2, 5), (6, 9), (9, 12), (9, 20)])
@cases("factors", [(3, 1), (Fraction(7, 3), Fraction(2, 9)), (1, 1)])
def test_tails_of_two_numbers_equal_sums_of_fractions(wrong, factors):
    designs = (10, 40, 9), (60, 150, 20)
    observed = sum(b * e for b, e in zip(factors, wrong, strict=True))
    masses = [{e: mass(e, *design) for e in support(*design)} for design in designs]
    expected = sum(
        p * q
        for x, p in masses[0].items()
        for y, q in masses[1].items()
        if factors[0] * x + factors[1] * y >= observed
    )
    n, n_all, wrong_all = zip(*designs, strict=True)
    for log_p in (log(expected), -50.0):  # both windows
        found = log_tail_of_two(*arrays(factors, wrong, n, n_all, wrong_all), log_p=log_p)
        assert found == pytest.approx(log(expected), rel=1e-10, abs=1e-12)
