"""Limits of the ratio of two proportions, beside statsmodels and a search in 40 digits."""

from itertools import product

import mpmath
import numpy as np
import pytest
from scipy import stats
from statsmodels.stats.proportion import confint_proportions_2indep

from balframe.methods.impact.risk_ratio import ratio_limit
from tests.support.cases import cases

BILLION = 10**9
ALL_OR_NONE = [(0, 20), (20, 20), (0, 1), (1, 1), (0, 3), (3, 3)]
OTHERS = [(1, 2), (5, 30), (29, 30), (3, 1000)]


def ratio_limits(x, n, y, m, level):
    z = stats.norm.isf((1 - level) / 2)
    return ratio_limit(x, n, y, m, z), ratio_limit(x, n, y, m, -z)


def limits(x, n, y, m, level=0.95):
    (low,), (high,) = ratio_limits(*(np.array([float(v)]) for v in (x, n, y, m)), level)
    return low, high


def textbook(x, n, y, m, ratio):
    """Give the statistic of Miettinen and Nurminen: formula 10, with the variance of formula 12."""
    x, n, y, m = map(mpmath.mpf, (x, n, y, m))
    a, b, c = (n + m) * ratio, -(n * ratio + x + m + y * ratio), x + y
    p_two = (-b - mpmath.sqrt(b * b - 4 * a * c)) / (2 * a)
    p_one = ratio * p_two
    variance = p_one * (1 - p_one) / n + ratio**2 * p_two * (1 - p_two) / m
    return (x / n - ratio * y / m) / mpmath.sqrt(variance * (n + m) / (n + m - 1))


def searched(x, n, y, m, level=0.95):
    """Find both limits by bisection of the logarithm."""
    z = mpmath.mpf(stats.norm.isf((1 - level) / 2))
    with mpmath.workdps(40):
        ends = []
        for target, missing, end in ((z, x == 0, 0.0), (-z, y == 0, np.inf)):
            if missing:
                ends.append(end)
                continue
            # neither end is a ratio at which nothing varies
            low, high = mpmath.mpf("-50.1"), mpmath.mpf("50.2")
            while high - low > mpmath.mpf(10) ** -20:
                middle = (low + high) / 2
                is_below = textbook(x, n, y, m, mpmath.exp(middle)) > target
                low, high = (middle, high) if is_below else (low, middle)
            ends.append(float(mpmath.exp(low)))
        return tuple(ends)


COUNTS = [(30, 100), (1, 20), (19, 20), (300, 1000), (20, 50), (7, 31), (500, 100_000)]


@cases("level", [0.8, 0.95, 0.999])
@cases(("one", "other"), [*product(COUNTS, repeat=2)])
def test_limits_are_those_of_statsmodels(one, other, level):
    theirs = confint_proportions_2indep(
        *one, *other, compare="ratio", method="score", alpha=1 - level
    )

    assert limits(*one, *other, level) == pytest.approx(theirs, rel=1e-9)


# where statsmodels gives complex numbers or wrong limits: all or none selected
@cases(
    ("one", "other"),
    [*product(ALL_OR_NONE, OTHERS), *product(OTHERS, ALL_OR_NONE), *product(ALL_OR_NONE, repeat=2)],
)
def test_limits_equal_a_search_where_all_or_no_rows_are_selected(one, other):
    assert limits(*one, *other) == pytest.approx(searched(*one, *other), rel=1e-12)


@cases(
    "counts",
    [
        (BILLION, BILLION, BILLION, BILLION),
        (BILLION - 1, BILLION, BILLION, BILLION),
        (1, BILLION, 1, BILLION),
        (1, BILLION, 999_999_999, BILLION),
        (300_000_000, BILLION, 300_000_005, BILLION),
        (7, 10, 600_000_000, BILLION),
    ],
)
def test_limits_of_a_billion_rows_equal_a_search(counts):
    found, expected = limits(*counts), searched(*counts)

    assert found == pytest.approx(expected, rel=1e-12)
    # so near 1 that the distance from 1 says more
    assert [1 - v for v in found] == pytest.approx([1 - v for v in expected], rel=1e-4)


@pytest.mark.parametrize("level", [0.5, 0.95])
def test_limits_of_two_single_selected_rows_equal_their_formula(level):
    # below a ratio of 1, p_2 = 1 and p_1 = ratio: z^2 = (1 - ratio)^2 / (2 ratio (1 - ratio))
    z = stats.norm.isf((1 - level) / 2)

    assert limits(1, 1, 1, 1, level) == pytest.approx((1 / (1 + 2 * z**2), 1 + 2 * z**2))


class TestProperties:
    @pytest.fixture
    def pairs(self):
        random = np.random.default_rng(25)
        n, m = random.integers(1, 300, (2, 400))
        x, y = (random.binomial(rows, random.choice([0, 0.1, 0.5, 1], 400)) for rows in (n, m))
        return tuple(values.astype(float) for values in (x, n, y, m))

    def test_the_observed_ratio_is_between_its_limits(self, pairs):
        x, n, y, m = pairs
        lower, upper = ratio_limits(*pairs, 0.95)

        with np.errstate(divide="ignore", invalid="ignore"):
            observed = (x / n) / (y / m)
        known = np.isfinite(observed)
        assert known.sum() > 200
        assert (lower[known] <= observed[known]).all()
        assert (observed[known] <= upper[known]).all()

    def test_swapped_sides_have_the_inverse_limits(self, pairs):
        x, n, y, m = pairs
        lower, upper = ratio_limits(*pairs, 0.95)
        swapped_lower, swapped_upper = ratio_limits(y, m, x, n, 0.95)

        with np.errstate(divide="ignore"):
            np.testing.assert_allclose(lower, 1 / swapped_upper, rtol=1e-12)
            np.testing.assert_allclose(upper, 1 / swapped_lower, rtol=1e-12)

    def test_a_higher_level_has_wider_limits(self, pairs):
        narrow, wide = (ratio_limits(*pairs, level) for level in (0.9, 0.99))

        assert ((wide[0] < narrow[0]) | (narrow[0] == 0)).all()
        assert ((wide[1] > narrow[1]) | (narrow[1] == np.inf)).all()

    @pytest.mark.parametrize("side", [0, 1], ids=["lower", "upper"])
    def test_an_unselected_row_in_the_denominator_raises_both_limits(self, pairs, side):
        x, n, y, m = pairs
        limit = ratio_limits(*pairs, 0.95)[side]
        of_other = ratio_limits(x, n, y, m + 1, 0.95)[side]

        assert (of_other >= limit * (1 - 1e-12)).all()
        assert (of_other[limit > 0] > limit[limit > 0]).sum() > 100
