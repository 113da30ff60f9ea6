"""Limits of how much worse a slice is, and its excess of wrong rows."""

import numpy as np
import pytest
from mpmath import mpf
from scipy import stats

from balframe.methods.slices.significance import StratifiedCounts
from tests.support.cases import cases
from tests.support.oracles.constrained_likelihood import limits_of_difference
from tests.support.reference_values import reference

REFERENCE = reference("slice_tails")["limits"]


def counts(n, wrong, n_all, wrong_of_all, weights):
    """Count the rows of one slice."""
    arrays = (np.array([values], float) for values in (n, wrong, n_all, wrong_of_all))
    return StratifiedCounts(*arrays, np.array(weights))


def test_difference_limits_and_excess_equal_a_worked_example():
    """8 of 10 are wrong, and 5 of 50 in the rest; each limit has 2.5%."""
    slice_ = counts([10], [8], [60], [13], [1.0])
    own = stats.binomtest(8, 10).proportion_ci(0.95, "exact")
    rest = stats.binomtest(5, 50).proportion_ci(0.95, "exact")

    (lower,), (upper,) = slice_.limits(0.025)

    assert slice_.gap == pytest.approx([0.7])
    assert lower == pytest.approx(0.7 - np.hypot(0.8 - own.low, rest.high - 0.1), abs=1e-9)
    assert upper == pytest.approx(0.7 + np.hypot(own.high - 0.8, 0.1 - rest.low), abs=1e-9)
    assert slice_.excess == pytest.approx([8 - 10 * 0.1])


@cases("case", REFERENCE)
def test_limits_and_excess_equal_the_reference(case):
    slice_ = counts(case["n"], case["e"], case["N"], case["M"], case["weights"])

    (lower,), (upper,) = slice_.limits(case["tail"])
    (log_p,) = slice_.test.exact_log_p(slice_.test.log_p())

    assert slice_.gap == pytest.approx([case["worse"]], rel=1e-12)
    assert lower == pytest.approx(case["worse_lower"], rel=1e-9)
    assert upper == pytest.approx(case["worse_upper"], rel=1e-9)
    assert slice_.excess == pytest.approx([case["excess_errors"]], rel=1e-12)
    assert np.exp(log_p) * case["tests"] == pytest.approx(case["p_adjusted"], rel=1e-9)


def test_limits_of_several_strata_are_the_wider_of_two_score_limits():
    slice_ = counts([40, 30], [9, 1], [200, 90], [20, 2], [0.75, 0.25])
    both = [
        limits_of_difference([9, 1], [40, 30], [11, 1], [160, 60], [0.75, 0.25], 0.98, skewness=s)
        for s in (False, True)
    ]

    (lower,), (upper,) = slice_.limits(0.01)

    assert lower == pytest.approx(float(min(low for low, _ in both)), rel=1e-9)
    assert upper == pytest.approx(float(max(high for _, high in both)), rel=1e-9)


@cases("tail", [1e-10, 1e-14, 1e-18])
def test_limits_of_tiny_tails_keep_their_digits(tail):
    one = counts([40], [9], [200], [20], [1.0])
    two = counts([40, 30], [9, 1], [200, 90], [20, 2], [0.75, 0.25])
    (own_low, own_high), (rest_low, rest_high) = (
        (stats.beta.ppf(tail, x, n - x + 1), stats.beta.isf(tail, x + 1, n - x))
        for x, n in ((9, 40), (11, 160))
    )
    level = 1 - 2 * mpf(tail)
    both = [
        limits_of_difference([9, 1], [40, 30], [11, 1], [160, 60], [0.75, 0.25], level, skewness=s)
        for s in (False, True)
    ]

    (lower,), (upper,) = one.limits(tail)
    (lower_of_two,), (upper_of_two,) = two.limits(tail)

    gap = 9 / 40 - 11 / 160
    assert lower == pytest.approx(gap - np.hypot(9 / 40 - own_low, rest_high - 11 / 160), rel=1e-9)
    assert upper == pytest.approx(gap + np.hypot(own_high - 9 / 40, 11 / 160 - rest_low), rel=1e-9)
    assert lower_of_two == pytest.approx(float(min(low for low, _ in both)), rel=1e-9)
    assert upper_of_two == pytest.approx(float(max(high for _, high in both)), rel=1e-9)


def test_excess_leaves_out_strata_in_which_the_slice_is_better():
    """15 of 30 are wrong where 1 in 6 of the rest is, and 3 of 60 where 1 in 10 is."""
    slice_ = counts([30, 60], [15, 3], [210, 260], [45, 23], [0.5, 0.5])

    assert slice_.excess == pytest.approx([15 - 30 / 6])


@cases("tail", [0.5, 0.8, 1.0])
def test_limits_of_a_level_below_one_half_are_not_on_the_wrong_side(tail):
    for strata in (1, 2):
        slice_ = counts(
            [40] * strata, [9] * strata, [200] * strata, [20] * strata, [1 / strata] * strata
        )
        (lower,), (upper,) = slice_.limits(tail)
        assert lower <= slice_.gap[0] + 1e-12
        assert upper >= slice_.gap[0] - 1e-12
