import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from balframe.stats.effective_sample_size import effective_counts, kish_effective_size
from balframe.stats.proportions import wilson
from tests.support.cases import cases


def sums(right, wrong):
    """Sum the weights of right rows and of all, and their squares."""
    right, wrong = np.array(right, float), np.array(wrong, float)
    return tuple(
        np.array([one]) for power in (1, 2) for one in (
            (right**power).sum(), (right**power).sum() + (wrong**power).sum()
        )
    )  # fmt: skip


def test_kish_effective_size_of_three_weights_equals_a_fraction():
    # weights 1, 1, 2: (1 + 1 + 2)^2 / (1 + 1 + 4)
    assert kish_effective_size(np.array([4.0]), np.array([6.0])) == pytest.approx(
        [16 / 6], rel=1e-15
    )


def test_effective_counts_of_five_rows_equal_their_formula():
    """Four right rows weigh 1 each, the wrong one 2."""
    k = 8 / 6  # mean weight of a row, by weight
    p = (4 + k) / (6 + 2 * k)
    q = 1 - p
    design = (q**2 * (4 + k**2) + p**2 * (4 + k**2)) / (p * q * k * (6 + 2 * k))
    expected = 36 / 8 / design

    x, n = effective_counts(*sums([1] * 4, [2]))

    assert design > 1.03
    assert n == pytest.approx([expected], rel=1e-14)
    assert x == pytest.approx([expected * 4 / 6], rel=1e-14)


def test_a_design_effect_under_1_adds_no_rows():
    # the heavy row is right, as most are, so that it moves the proportion less
    x, n = effective_counts(*sums([4] + [1] * 40, [1] * 3))

    assert n == pytest.approx([47**2 / 59], rel=1e-14)
    assert x == pytest.approx([44 / 47 * 47**2 / 59], rel=1e-14)


@cases(("x", "n"), [(0, 1), (1, 1), (1, 49), (10**9 - 1, 10**9), (2**52 + 1, 2**53)])
def test_effective_counts_without_weights_equal_the_counts(x, n):
    x, n = np.array([float(x)]), np.array([float(n)])

    result = effective_counts(x, n, x, n)

    assert np.ravel(result).tolist() == [x[0], n[0]]


WEIGHTS = st.lists(st.floats(1e-3, 1e3), max_size=12)
ROWS = st.tuples(WEIGHTS, WEIGHTS).filter(any)  # right ones and wrong ones


@given(ROWS)
def test_effective_rows_are_no_more_than_kishs_nor_than_rows(rows):
    right, wrong = rows
    of = sums(right, wrong)

    x, n = effective_counts(*of)

    assert n[0] <= kish_effective_size(of[1], of[3])[0]
    assert n[0] <= len(right + wrong) * (1 + 1e-12)
    assert n[0] >= 1 - 1e-9
    assert x / n == pytest.approx(of[0] / of[1], rel=1e-12)
    assert (x[0] == 0) == (not right)
    if not wrong:
        assert x[0] == n[0]


@given(ROWS, st.sampled_from([1e140, 1e-140, 7.3, 2.0**-60]))
def test_the_unit_of_weights_makes_no_difference(rows, unit):
    right, wrong = rows
    expected = effective_counts(*sums(right, wrong))

    result = effective_counts(*sums(np.multiply(right, unit), np.multiply(wrong, unit)))

    assert np.ravel(result) == pytest.approx(np.ravel(expected), rel=1e-9)


@given(ROWS)
def test_swapping_correct_and_wrong_mirrors_effective_counts(rows):
    right, wrong = rows
    x, n = effective_counts(*sums(right, wrong))

    y, m = effective_counts(*sums(wrong, right))

    assert m == pytest.approx(n, rel=1e-9)
    assert y == pytest.approx(n - x, rel=1e-9, abs=1e-9)


@pytest.mark.parametrize("unit", [1e160, 1e-170, 0.0])
def test_squares_of_weights_out_of_range_give_nan(unit):
    with np.errstate(over="ignore"):
        of = sums([unit, unit], [unit])

    result = effective_counts(*of)

    assert np.isnan(result).all()


def coverage(n_rows, heavy, weight, recalls, draws=8_000):
    """Simulate rows, some heavy: how often Wilson's limits hold the weighted truth."""
    rng = np.random.default_rng(7)
    is_heavy = rng.random((draws, n_rows)) < heavy
    w = np.where(is_heavy, weight, 1.0)
    is_right = rng.random((draws, n_rows)) < np.where(is_heavy, *recalls)
    of = (w * is_right, w, w**2 * is_right, w**2)
    x, n = effective_counts(*(values.sum(axis=1) for values in of))
    low, high = wilson(x, n, 0.95)
    share = heavy * weight / (heavy * weight + 1 - heavy)
    truth = share * recalls[0] + (1 - share) * recalls[1]
    size = kish_effective_size(of[1].sum(axis=1), of[3].sum(axis=1))
    naive = wilson(size * x / n, size, 0.95)
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
