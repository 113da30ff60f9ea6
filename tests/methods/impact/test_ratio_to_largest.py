"""Limits of the ratio to the largest proportion, beside a loop over all pairs."""

import numpy as np
import pytest
from scipy import stats

from balframe.methods.impact.risk_ratio import ratio_limit, ratio_to_largest_limits
from tests.support.cases import cases

TABLES = {
    "two": ([30, 45], [100, 100]),
    "five": ([30, 45, 0, 12, 12], [100, 120, 30, 12, 40]),
    "ties": ([10, 10, 20, 20], [40, 40, 80, 80]),
    "one has all": ([3, 0, 0], [10, 10, 5]),
    "all selected": ([5, 5, 9], [5, 5, 9]),
    "one row each": ([1, 0, 1], [1, 1, 1]),
    "a small one is on top": ([2, 300, 250], [2, 1000, 1000]),
    "very many": ([10**8, 10**8 + 10**5, 4], [10**9, 10**9, 10]),
}


def ratio_limits(x, n, y, m, level):
    z = stats.norm.isf((1 - level) / 2)
    return ratio_limit(x, n, y, m, z), ratio_limit(x, n, y, m, -z)


def limits(x, n, level=0.95):
    return ratio_to_largest_limits(np.array(x, float), np.array(n, float), level)


def by_loop(x, n, level=0.95):
    """Compare each pair, and take the smallest limits."""
    k, ends = len(n), ([], [])
    for one in range(k):
        found = {0: [1.0], 1: [1.0]}
        for other in range(k):
            if other == one:
                continue
            pair = [np.array([float(v)]) for v in (x[one], n[one], x[other], n[other])]
            found[0] += list(ratio_limits(*pair, level)[0])
            found[1] += list(ratio_limits(*pair, 1 - (1 - level) / (k - 1))[1])
        for side, values in found.items():
            ends[side].append(min(values))
    return ends


@cases("level", [0.5, 0.95])
@cases("table", TABLES.values())
def test_limits_are_the_smallest_of_all_pairs(table, level):
    np.testing.assert_allclose(limits(*table, level), by_loop(*table, level), rtol=1e-11)


@pytest.mark.parametrize("k", [2, 3, 12])
def test_limits_of_random_tables_are_the_smallest_of_all_pairs(k):
    random = np.random.default_rng(k)
    for _ in range(3):
        n = random.integers(1, 500, k)
        x = random.binomial(n, random.uniform(0, 1, k) ** 2)

        np.testing.assert_allclose(limits(x, n), by_loop(x, n), rtol=1e-11)


def test_limits_of_600_categories_equal_those_of_single_pairs():
    random = np.random.default_rng(25)
    n = random.integers(1, 2000, 600)
    x = random.binomial(n, random.uniform(0.1, 0.4, 600))
    lower, upper = limits(x, n)

    x, n = x.astype(float), n.astype(float)
    for one in random.choice(600, 20, replace=False):
        rivals = np.delete(np.arange(600), one)
        own = np.full((2, 599), [[x[one]], [n[one]]])
        low = ratio_limits(*own, x[rivals], n[rivals], 0.95)[0].min()
        high = ratio_limits(*own, x[rivals], n[rivals], 1 - 0.05 / 599)[1].min()
        assert [lower[one], upper[one]] == pytest.approx([min(low, 1), min(high, 1)], rel=1e-11)


def test_two_segments_are_compared_at_the_unadjusted_level():
    lower, upper = limits([30, 45], [100, 100])
    low, high = (
        float(end[0]) for end in ratio_limits(*np.array([[30.0], [100], [45], [100]]), 0.95)
    )

    assert (lower[0], upper[0]) == pytest.approx((low, high))
    assert high < 1
    assert (lower[1], upper[1]) == (1, 1)  # 1 / high > 1


@cases(("x", "n"), [([5], [10]), ([0], [10]), ([0, 0, 0], [5, 10, 15]), ([], [])])
def test_limits_are_nan_if_no_ratio_is_defined(x, n):
    assert [np.isnan(end).all() and len(end) == len(n) for end in limits(x, n)] == [True, True]


def test_the_ratio_is_between_its_limits():
    random = np.random.default_rng(1)
    for _ in range(50):
        n = random.integers(1, 60, 5)
        x = random.binomial(n, 0.3)
        x[0] = max(x[0], 1)
        lower, upper = limits(x, n)
        ratio = x / n / (x / n).max()

        assert (lower >= 0).all()
        assert (upper <= 1).all()
        assert (lower <= ratio + 1e-12).all()
        assert (ratio <= upper + 1e-12).all()


def test_the_order_of_categories_does_not_matter():
    x, n = np.array([30, 45, 0, 12, 13]), np.array([100, 120, 30, 12, 40])
    order = np.array([3, 0, 4, 2, 1])

    np.testing.assert_allclose(
        limits(x[order], n[order]), np.array(limits(x, n))[:, order], rtol=1e-12
    )


def test_unselected_rows_of_a_rival_do_not_lower_the_limits():
    x, n = np.array([30, 45, 20, 12]), np.array([100, 120, 60, 40])
    more = n + np.array([0, 30, 0, 0])

    for before, after in zip(limits(x, n), limits(x, more), strict=True):
        assert (np.delete(after, 1) >= np.delete(before, 1)).all()
