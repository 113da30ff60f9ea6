"""Limits of the ratio of two proportions, beside a search in 40 digits and another formula."""

from itertools import product

import mpmath
import numpy as np
import pytest
from scipy import stats

from balframe.stats.differences import scas_difference
from balframe.stats.pairwise_ratios import ratio_limit, ratio_statistic
from tests.support.cases import cases
from tests.support.oracles import extremes

BILLION = 10**9
ALL_OR_NONE = [(0, 20), (20, 20), (0, 1), (1, 1), (0, 3), (3, 3)]
OTHERS = [(1, 2), (5, 30), (29, 30), (3, 1000)]
COUNTS = [(30, 100), (1, 20), (19, 20), (7, 31), (500, 100_000)]


def arrays(*counts):
    return (np.array([float(v)]) for v in counts)


def limits(x, n, y, m, level=0.95):
    z = stats.norm.isf((1 - level) / 2)
    return tuple(float(ratio_limit(*arrays(x, n, y, m), end)[0]) for end in (z, -z))


def moments(x, n, y, m, ratio):
    """Give T and A of Gart and Nam: the variance has the factor of Miettinen and Nurminen."""
    x, n, y, m = map(mpmath.mpf, (x, n, y, m))
    a, b, c = (n + m) * ratio, -(n * ratio + x + m + y * ratio), x + y
    p_two = (-b - mpmath.sqrt(max(b * b - 4 * a * c, 0))) / (2 * a)
    p_one = ratio * p_two
    one, other = p_one * (1 - p_one), p_two * (1 - p_two)
    deviation = mpmath.sqrt((one / n + ratio**2 * other / m) * (n + m) / (n + m - 1))
    third = one * (1 - 2 * p_one) / n**2 - ratio**3 * other * (1 - 2 * p_two) / m**2
    return (x / n - ratio * y / m) / deviation, third / (6 * deviation**3)


def textbook(x, n, y, m, ratio):
    """Give the root z of T = z + A (z^2 - 1), or its vertex."""
    t, skew = moments(x, n, y, m, ratio)
    square = 1 + 4 * skew * (skew + t)
    if square < 0:
        return -1 / (2 * skew)
    return 2 * (skew + t) / (1 + mpmath.sqrt(square))


def searched(x, n, y, m, level=0.95):
    """Find both limits by bisection of the logarithm, from outside, up to a ratio of 1."""
    z = mpmath.mpf(stats.norm.isf((1 - level) / 2))
    with mpmath.workdps(40):
        ends = []
        for target in (z, -z):
            # neither end is a ratio at which nothing varies
            low, high = mpmath.mpf("-50.1"), mpmath.mpf(10) ** -25 * -1
            if textbook(x, n, y, m, mpmath.exp(low)) < target:
                ends.append(0.0)
                continue
            while high - low > mpmath.mpf(10) ** -17:
                middle = (low + high) / 2
                is_below = textbook(x, n, y, m, mpmath.exp(middle)) > target
                low, high = (middle, high) if is_below else (low, middle)
            ends.append(float(mpmath.exp(low)))
        return tuple(ends)


@pytest.mark.thorough
@cases("level", [0.8, 0.95, 0.999])
@cases(("one", "other"), [*product(COUNTS, repeat=2)])
def test_limits_equal_a_search_in_40_digits(one, other, level):
    assert limits(*one, *other, level) == pytest.approx(searched(*one, *other, level), rel=1e-11)


@pytest.mark.thorough
@cases(
    ("one", "other"),
    [*product(ALL_OR_NONE, OTHERS), *product(OTHERS, ALL_OR_NONE), *product(ALL_OR_NONE, repeat=2)],
)
def test_limits_equal_a_search_where_all_or_no_rows_are_selected(one, other):
    nobody = one[0] == other[0] == 0  # nothing varies, so no ratio is excluded
    expected = (0, 1) if nobody else searched(*one, *other)

    assert limits(*one, *other) == pytest.approx(expected, rel=1e-12)


@cases(
    "counts",
    [
        (BILLION, BILLION, BILLION, BILLION),
        (BILLION - 1, BILLION, BILLION, BILLION),
        (1, BILLION, 1, BILLION),
        (1, BILLION, 999_999_999, BILLION),
        (300_000_000, BILLION, 300_000_005, BILLION),
        (300_000_000, BILLION, 300_100_000, BILLION),
        (7, 10, 600_000_000, BILLION),
    ],
)
def test_limits_of_a_billion_rows_equal_a_search(counts):
    found, expected = limits(*counts), searched(*counts)

    assert found == pytest.approx(expected, rel=1e-12)
    # so near 1 that the distance from 1 says more
    assert [1 - v for v in found] == pytest.approx([1 - v for v in expected], rel=1e-4)


@cases("z", [1.96, -1.96, -2.6, 3.5])
@cases(("one", "other"), [*product([*COUNTS[:4], (3, 3), (0, 20)], repeat=2)])
def test_limits_equal_those_of_ratios_of_means_of_recalls(one, other, z):
    pair = [([x], [n]) for x, n in (one, other)]

    found = float(ratio_limit(*arrays(*one, *other), z)[0])
    # the other searches from a ratio of exp(-14) on
    assert found == pytest.approx(min(extremes.ratio_limit(*pair, [1], z), 1), rel=1e-7, abs=1e-6)


@cases(("x", "n"), [(1, 20), (2, 600), (3, 5), (20, 21)])
@cases("other", [(5, 30), (40, 1000), (0, 10), (7, 7)])
def test_lower_limits_are_0_beyond_the_bound_of_the_statistic(x, n, other):
    m = other[1]
    bound = np.sqrt(1 + 6 * x * (n + m) / (n + m - 1))

    within, beyond = (
        ratio_limit(*arrays(x, n, *other), z * bound)[0] for z in (1 - 1e-6, 1 + 1e-6)
    )
    assert 0 < within < 1e-6
    assert beyond == 0


class TestProperties:
    @pytest.fixture
    def pairs(self):
        random = np.random.default_rng(25)
        n, m = random.integers(1, 300, (2, 400))
        x, y = (random.binomial(rows, random.choice([0, 0.1, 0.5, 1], 400)) for rows in (n, m))
        return tuple(values.astype(float) for values in (x, n, y, m))

    def test_limits_solve_the_equation_of_gart_and_nam(self, pairs):
        z = stats.norm.isf(0.025)
        for end in (z, -z):
            limit = ratio_limit(*pairs, end)
            inside = np.flatnonzero((limit > 1e-3) & (limit < 1))[:60]
            assert len(inside) == 60
            for at in inside:
                t, skew = moments(*(values[at] for values in pairs), mpmath.mpf(limit[at]))
                assert float(t - skew * (end**2 - 1)) == pytest.approx(end, rel=1e-9)

    def test_the_observed_ratio_is_between_its_limits(self, pairs):
        x, n, y, m = pairs
        for level in (0.7, 0.95):
            z = stats.norm.isf((1 - level) / 2)
            lower, upper = (ratio_limit(*pairs, end) for end in (z, -z))
            with np.errstate(divide="ignore", invalid="ignore"):
                observed = np.minimum((x / n) / (y / m), 1)
            known = np.isfinite(observed)
            assert known.sum() > 200
            assert (lower[known] <= observed[known] * (1 + 1e-12)).all()
            assert (observed[known] <= upper[known] * (1 + 1e-12)).all()

    def test_swapped_sides_have_the_opposite_statistic(self, pairs):
        x, n, y, m = pairs
        for ratio in (0.03, 0.5, 0.97):
            np.testing.assert_allclose(
                ratio_statistic(*pairs, np.array([ratio])),
                -ratio_statistic(y, m, x, n, np.array([1 / ratio])),
                rtol=1e-9,
                atol=1e-12,
            )

    def test_the_statistic_at_1_is_that_of_gaps(self, pairs):
        z = ratio_statistic(*pairs, np.ones(1))
        sides = [values[:, None] for values in pairs]
        p = scas_difference(*sides, np.ones_like(sides[0]), 0.95)[2]

        np.testing.assert_allclose(2 * stats.norm.sf(abs(z)), p, rtol=1e-9)

    def test_the_statistic_falls_up_to_1_wherever_it_is_beyond_1(self):
        random = np.random.default_rng(3)
        n, m = np.exp(random.uniform(0, 9, (2, 1000, 1))).round()
        shares = [0, 0.003, 0.02, 0.1, 0.5, 0.9, 0.98, 1]
        x, y = (random.binomial(v.astype(int), random.choice(shares, v.shape)) for v in (n, m))
        ratio = np.exp(-np.geomspace(12, 1e-9, 500))
        z = ratio_statistic(x, n, y, m, ratio)

        rises = np.diff(z, axis=1) > 1e-9 * (1 + abs(z[:, 1:]))
        assert (abs(z[:, 1:][rises]) < 1).all()
        assert (abs(z[:, :-1][rises]) < 1).all()
        assert not rises[(y < m)[:, 0]].any()

    def test_a_higher_level_has_wider_limits(self, pairs):
        narrow, wide = (
            [ratio_limit(*pairs, end) for end in (z, -z)] for z in stats.norm.isf([0.05, 0.005])
        )

        assert ((wide[0] < narrow[0]) | (narrow[0] == 0) | (wide[0] == 1)).all()
        assert ((wide[1] > narrow[1]) | (wide[1] == 1)).all()

    @pytest.mark.parametrize("sign", [1, -1], ids=["lower", "upper"])
    def test_an_unselected_row_in_the_denominator_raises_both_limits(self, pairs, sign):
        x, n, y, m = pairs
        z = sign * stats.norm.isf(0.025)
        limit = ratio_limit(*pairs, z)
        of_other = ratio_limit(x, n, y, m + 1, z)

        assert (of_other >= limit * (1 - 1e-12)).all()
        inside = (limit > 0) & (limit < 1)
        assert (of_other[inside] > limit[inside]).sum() > 50
