"""Bounds over rows of unknown category, beside all their assignments."""

from itertools import pairwise

import numpy as np
import pytest

from balframe.methods.impact.ratios import unknown_category_bounds
from tests.support.cases import cases
from tests.support.oracles import impact as loops


def bounds(selected, n, n_selected, n_unknown):
    return unknown_category_bounds(np.array(selected), np.array(n), n_selected, n_unknown)


@cases(
    "table",
    [
        ([3, 5], [10, 10], 2, 5),
        ([3, 5, 4], [10, 10, 8], 2, 6),
        ([5, 5, 5], [10, 10, 10], 3, 6),  # ties
        ([1, 1, 100], [1, 1, 100], 0, 11),  # a large category takes what the small ones leave
        ([0, 0], [4, 4], 2, 3),  # only unknown rows are selected
        ([0, 3], [4, 4], 0, 3),
        ([4, 4], [4, 4], 2, 2),
        ([1, 0, 0], [1, 1, 1], 0, 0),
        ([0, 0, 0], [2, 1, 4], 0, 3),  # nobody is selected
        ([2, 3, 1, 4], [5, 6, 2, 9], 2, 5),
    ],
)
def test_bounds_are_those_of_all_assignments(table):
    np.testing.assert_allclose(bounds(*table), loops.bounds(*table), rtol=1e-14, atol=0)


def test_bounds_of_random_tables_are_those_of_all_assignments():
    random = np.random.default_rng(25)
    for _ in range(300):
        n = random.integers(1, 9, random.integers(2, 5))
        selected = random.binomial(n, random.choice([0, 0.2, 0.5, 1]))
        n_unknown = int(random.integers(0, 6))
        table = (selected.tolist(), n.tolist(), int(random.integers(0, n_unknown + 1)), n_unknown)

        np.testing.assert_allclose(bounds(*table), loops.bounds(*table), rtol=1e-14, atol=0)


def test_bounds_equal_a_worked_example():
    lower, upper = bounds([30, 20], [100, 100], 10, 30)

    # 20 unselected to b and 10 selected to a, and the other way round
    assert lower[1] == pytest.approx((20 / 120) / (40 / 110))
    assert upper[1] == 1  # 30 of 110 against 30 of 120
    assert lower[0] == pytest.approx((30 / 120) / (30 / 110))
    assert upper[0] == 1


def test_without_unknown_rows_both_bounds_are_the_ratio():
    lower, upper = bounds([30, 20, 0], [100, 80, 7], 0, 0)

    assert lower.tolist() == upper.tolist() == [1, (20 / 80) / (30 / 100), 0]


def test_more_unknown_rows_do_not_make_bounds_narrower():
    table = ([30, 45, 3], [100, 120, 8])
    steps = [(0, 0), (0, 1), (1, 3), (5, 9), (50, 90), (5000, 9000)]  # no fewer of either kind
    found = [bounds(*table, *unknown) for unknown in steps]

    for (lower, upper), (next_lower, next_upper) in pairwise(found):
        assert (next_lower <= lower).all()
        assert (next_upper >= upper).all()
    assert found[-1][0][1] == pytest.approx((45 / 4120) / (5003 / 5008))
    assert found[-1][1].tolist() == [1, 1, 1]


def test_bounds_of_very_many_rows_do_not_overflow():
    # int64 as they are; the rivals of the last fill up from the top: 2e9 rows bring both to 1/2
    lower, upper = bounds([10**9, 10**9, 10**8], [10**9, 10**9, 10**9], 0, 2 * 10**9)

    assert upper[2] == pytest.approx(0.1 / 0.5)
    assert lower[0] == pytest.approx(1 / 3)
    lower, upper = bounds([2**61, 2**60], [2**61, 2**61], 2**61, 2**61 + 5)
    assert lower.tolist() == pytest.approx([1, 0.5])
    assert upper.tolist() == pytest.approx([1, 0.75])


def test_bounds_of_a_single_category_are_nan():
    assert np.isnan(bounds([3], [5], 1, 2)).all()
