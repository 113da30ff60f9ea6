import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from balframe.stats.effective_sample_size import effective_rows, kish_effective_size
from balframe.stats.proportions import clopper_pearson, wilson
from tests.support.cases import cases
from tests.support.oracles.mean_recalls import effective
from tests.support.reference_values import reference


def sums(right, wrong):
    """Sum the weights of right rows and of all, and their squares; and take the largest."""
    right, wrong = np.array(right, float), np.array(wrong, float)
    return (
        *(
            np.array([one])
            for power in (1, 2)
            for one in ((right**power).sum(), (right**power).sum() + (wrong**power).sum())
        ),
        np.array([np.concatenate([right, wrong]).max()]),
    )


def both_sides(right, wrong):
    """Return x and n for the lower and for the upper limit."""
    result = effective_rows(*sums(right, wrong))
    return np.ravel(result.lower), np.ravel(result.for_upper)


def test_kish_effective_size_of_three_weights_equals_a_fraction():
    # weights 1, 1, 2: (1 + 1 + 2)^2 / (1 + 1 + 4)
    assert kish_effective_size(np.array([4.0]), np.array([6.0])) == pytest.approx(
        [16 / 6], rel=1e-15
    )


@cases("case", reference("weights")["gate"])
def test_rows_of_both_limits_equal_reference_values(case):
    weights, right = np.array(case["weights"], float), np.array(case["right"])

    sides = both_sides(weights[right == 1], weights[right == 0])

    assert [n for _, n in sides] == pytest.approx([case["n_lower"], case["n_upper"]], rel=1e-12)
    (x, n), (y, m) = (np.split(side, 2) for side in sides)
    limits = np.ravel(clopper_pearson(x, n, case["level"], (y, m)))
    assert limits == pytest.approx([case["lower"], case["upper"]], abs=1e-11)


def test_rows_of_five_rows_equal_their_formula():
    """Four right rows weigh 1 each, the wrong one 2; one more of weight 2 is wrong, then right."""
    q = 4 / 8
    n_lower = q * (1 - q) / ((q**2 * (4 + 4) + q**2 * 4) / 8**2) - 1
    p = 6 / 8
    n_upper = p * (1 - p) / (((1 - p) ** 2 * (4 + 4) + p**2 * 4) / 8**2) - 1

    (x, n), (y, m) = both_sides([1] * 4, [2])

    assert (n, m) == pytest.approx((n_lower, n_upper), rel=1e-14)
    assert (x, y) == pytest.approx((n_lower * 4 / 6, n_upper * 4 / 6), rel=1e-14)


def test_kishs_size_is_the_most():
    # the heavy row is right, as most are, so that one more moves the proportion less
    (_, lower), (_, upper) = both_sides([4] + [1] * 40, [1] * 3)

    assert lower < upper == pytest.approx(47**2 / 59, rel=1e-14)


@cases(("x", "n"), [(0, 1), (1, 1), (1, 49), (10**9 - 1, 10**9), (2**52 + 1, 2**53)])
@cases("is_weighted", [True, False])
def test_rows_without_weights_are_the_counts(is_weighted, x, n):
    x, n = np.array([float(x)]), np.array([float(n)])

    result = effective_rows(x, n, x, n, np.ones(1) if is_weighted else None)

    assert result.upper is None
    assert np.ravel(result.lower).tolist() == [x[0], n[0]]


@cases("weight", [3.0, 0.1, 1e100, 7e-90])
def test_equal_weights_give_the_numbers_of_rows(weight):
    sides = both_sides([weight] * 7, [weight] * 5)
    assert np.ravel(sides) == pytest.approx([7, 12, 7, 12], rel=1e-14)


WEIGHTS = st.lists(st.floats(1e-3, 1e3), max_size=12)
ROWS = st.tuples(WEIGHTS, WEIGHTS).filter(any)  # right ones and wrong ones


@given(ROWS)
def test_rows_lie_between_those_of_the_largest_weight_and_kishs(rows):
    right, wrong = rows
    x, n, _, n_sq, largest = sums(right, wrong)

    for side, expected in zip(both_sides(right, wrong), effective(right, wrong), strict=True):
        assert (n / largest).item() * (1 - 1e-9) <= side[1]
        assert side[1] <= kish_effective_size(n, n_sq).item() * (1 + 1e-12)
        assert side == pytest.approx(expected, rel=1e-9)
        assert side[0] / side[1] == pytest.approx((x / n).item(), rel=1e-12)
        assert (side[0] == 0) == (not right)
        assert wrong or side[0] == side[1]


@given(ROWS, st.sampled_from([1e140, 1e-140, 7.3, 2.0**-60]))
def test_the_unit_of_weights_makes_no_difference(rows, unit):
    expected = both_sides(*rows)

    result = both_sides(*(np.multiply(some, unit) for some in rows))

    assert np.ravel(result) == pytest.approx(np.ravel(expected), rel=1e-9)


@given(ROWS)
def test_swapping_correct_and_wrong_exchanges_the_limits(rows):
    right, wrong = rows
    (x_low, n_low), (x_up, n_up) = both_sides(right, wrong)

    (y_low, m_low), (y_up, m_up) = both_sides(wrong, right)

    assert (m_up, m_low) == pytest.approx((n_low, n_up), rel=1e-9)
    assert (y_up, y_low) == pytest.approx((n_low - x_low, n_up - x_up), rel=1e-9, abs=1e-9)


@pytest.mark.parametrize("unit", [1e160, 1e-170, 0.0])
def test_squares_of_weights_out_of_range_give_nan(unit):
    with np.errstate(over="ignore"):
        of = sums([unit, unit], [unit])

    result = effective_rows(*of)

    assert np.isnan(result.lower).all()


def sided_counts(weight, is_right):
    sums_of = [(weight**power * which).sum(axis=1) for power in (1, 2) for which in (is_right, 1)]
    return effective_rows(*sums_of, weight.max(axis=1))


def coverage(n_rows, heavy, weight, recalls, draws=8_000):
    """Simulate rows, some heavy: how often Wilson's limits hold the weighted truth."""
    rng = np.random.default_rng(7)
    is_heavy = rng.random((draws, n_rows)) < heavy
    w = np.where(is_heavy, weight, 1.0)
    is_right = rng.random((draws, n_rows)) < np.where(is_heavy, *recalls)
    lower, upper = sided_counts(w, is_right)
    low, high = wilson(*lower, 0.95, upper)
    share = heavy * weight / (heavy * weight + 1 - heavy)
    truth = share * recalls[0] + (1 - share) * recalls[1]
    size = kish_effective_size(w.sum(axis=1), (w**2).sum(axis=1))
    naive = wilson(size * lower[0] / lower[1], size, 0.95)
    return tuple(np.mean((a <= truth) & (truth <= b)) for a, b in ((low, high), naive))


@pytest.mark.simulation
@pytest.mark.parametrize("n_rows", [100, 400])
def test_coverage_is_near_nominal_where_heavy_rows_are_often_wrong(n_rows):
    result, with_kish = coverage(n_rows, 0.05, 10, (0.2, 0.97))

    assert result >= 0.93
    assert with_kish <= 0.87


@pytest.mark.simulation
@pytest.mark.parametrize("n_rows", [100, 400])
def test_coverage_is_near_nominal_where_weights_ignore_the_outcome(n_rows):
    result, _ = coverage(n_rows, 0.1, 20, (0.98, 0.98))

    # an estimate of the variance from the rows at hand alone covers .54 at 400 rows
    assert result >= 0.9
