"""Ratios to the largest proportion, beside reference values and a loop over all pairs."""

import numpy as np
import pytest
from scipy import stats

from balframe.methods.impact.ratios import ratios_to_largest
from balframe.stats.pairwise_ratios import ratio_limit, ratio_statistic
from tests.support.cases import cases
from tests.support.reference_values import reference

TABLES = {
    "two": ([30, 45], [100, 100]),
    "five": ([30, 45, 0, 12, 12], [100, 120, 30, 12, 40]),
    "ties": ([10, 10, 20, 20], [40, 40, 80, 80]),
    "one has all": ([3, 0, 0], [10, 10, 5]),
    "all selected": ([5, 5, 9], [5, 5, 9]),
    "one row each": ([1, 0, 1], [1, 1, 1]),
    "a small one is on top": ([2, 300, 250], [2, 1000, 1000]),
    "very many": ([10**8, 10**8 + 10**5, 4], [10**9, 10**9, 10]),
    "low rates": ([15, 70, 25, 15, 4, 3, 3], [600, 1400, 500, 300, 80, 60, 60]),
}


def ratio_limits(x, n, y, m, level):
    z = stats.norm.isf((1 - level) / 2)
    return ratio_limit(x, n, y, m, z), ratio_limit(x, n, y, m, -z)


def inference(x, n, level=0.95):
    return ratios_to_largest(np.array(x, float), np.array(n, float), level)


def limits(x, n, level=0.95):
    result = inference(x, n, level)
    return result.lower, result.upper


@cases("table", reference("impact")["tables"])
def test_limits_and_p_values_equal_reference_values(table):
    result = inference(table["x"], table["n"], table["level"])

    for name in ("lower", "upper", "p_value"):
        assert getattr(result, name) == pytest.approx(table[name], rel=1e-9, abs=1e-12)


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


@cases("level", [0.7, 0.95, 0.999])
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
    swapped = ratio_limits(*np.array([[45.0], [100], [30], [100]]), 0.95)

    assert [float(end[0]) for end in swapped] == [1, 1]
    assert (lower[0], upper[0]) == pytest.approx((low, high))
    assert high < 1
    assert (lower[1], upper[1]) == (1, 1)  # 1 / high > 1


def test_the_p_value_is_the_smallest_of_all_pairs_times_their_number():
    x, n = np.array([30.0, 45, 20, 12]), np.array([100.0, 120, 30, 60])
    z = [
        min(ratio_statistic(x[g], n[g], x[j], n[j], np.ones(1))[0] for j in range(4) if j != g)
        for g in range(4)
    ]

    expected = np.minimum(2 * 3 * stats.norm.cdf(z), 1)
    assert inference(x, n).p_value == pytest.approx(expected, rel=1e-12)


@pytest.mark.thorough
@pytest.mark.parametrize("level", [0.5, 0.9, 0.95, 0.99])
@pytest.mark.parametrize("rate", [0.01, 0.05, 0.3, 0.9])
def test_p_is_at_most_1_less_the_level_exactly_where_the_upper_limit_is_below_1(level, rate):
    random = np.random.default_rng([25, round(rate * 100)])
    n_below = 0
    for k in (2, 3, 7, 20):
        for _ in range(25):
            n = random.choice([15, 60, 300, 5000], k)
            x = random.binomial(n, rate * random.choice([0.3, 1], k))
            if not x.any():
                continue
            result = inference(x, n, level)
            is_below = result.upper < 1
            assert ((result.p_value <= 1 - level) == is_below).all()
            n_below += is_below.sum()
    assert n_below > 10


@cases(("x", "n"), [([5], [10]), ([0], [10]), ([0, 0, 0], [5, 10, 15]), ([], [])])
def test_limits_are_nan_if_no_ratio_is_defined(x, n):
    result = inference(x, n)
    values = (result.lower, result.upper, result.p_value)

    assert [np.isnan(end).all() and len(end) == len(n) for end in values] == [True] * 3


@pytest.mark.parametrize("level", [0.01, 0.5, 0.95])
def test_the_ratio_is_between_its_limits(level):
    random = np.random.default_rng(1)
    for _ in range(50):
        n = random.integers(1, 60, 5)
        x = random.binomial(n, 0.3)
        x[0] = max(x[0], 1)
        lower, upper = limits(x, n, level)
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
