"""Limits of metrics of scores, by hand arithmetic and in their special cases."""

import math

import numpy as np
import pytest
from scipy import stats
from statsmodels.stats.proportion import proportion_confint

from balframe.stats.score_limits import (
    effective_size_beside_one_row,
    exact_limits,
    expected_spread,
    ks_limits,
    shrunken_effective_size,
    skewed_difference_limits,
    skewed_mean_limits,
    skewed_quantile,
    wilson_around_bias,
)


def array(*numbers):
    return np.array(numbers, float)


def test_the_effective_size_of_a_proportion_is_its_number_of_rows():
    # the variance is p q / n: r = 1, whatever the weight of either
    variance = array(0.25 * 0.75 / 40)
    assert shrunken_effective_size(array(0.25), variance, array(40)) == pytest.approx([40])


def test_a_small_variance_of_few_rows_is_drawn_to_that_of_a_proportion():
    # r = 1/4 of .24 / 11, m = 10: s = (10/4 + 20) / 30 = 3/4, n = 11 / s
    n = shrunken_effective_size(array(0.6), array(0.06 / 11), array(11))
    assert n == pytest.approx([11 / 0.75])


def test_a_large_variance_is_taken_as_it_is():
    # r = 4: s = (10 * 4 + 20 * 4) / 30 = 4
    assert shrunken_effective_size(array(0.6), array(0.96 / 11), array(11)) == pytest.approx(
        [11 / 4]
    )


def test_an_estimate_of_1_has_the_rows_of_the_fewest():
    assert shrunken_effective_size(array(1), array(0), array(7)) == pytest.approx([7])


def test_a_bias_moves_the_limit_on_its_side_outwards():
    lower, upper = proportion_confint(12, 40, method="wilson")
    z = stats.norm.ppf(0.975)
    for bias, expected in ((0.02, (lower - 0.02, upper)), (-0.02, (lower, upper + 0.02))):
        limits = wilson_around_bias(array(0.3), array(40), z, array(bias))
        assert np.ravel(limits) == pytest.approx(expected)


def test_exact_limits_equal_those_of_statsmodels():
    limits = exact_limits(array(0.3), array(40), array(40), 0.025)
    assert np.ravel(limits) == pytest.approx(proportion_confint(12, 40, method="beta"))


def test_one_more_row_takes_one_off_the_effective_rows():
    # 4 rows with one wrong: 3/16 / 4 is the variance of 4 rows, of which one was added
    assert effective_size_beside_one_row(array(0.75), array(3 / 64)) == pytest.approx([3])
    assert np.isnan(effective_size_beside_one_row(array(1), array(0)))


def test_limits_of_ks_are_a_band_of_the_kolmogorov_distribution():
    half = 1.3581015 * math.sqrt(1 / 50 + 1 / 200)
    limits = np.ravel(ks_limits(array(0.5), array(50), array(200), 0.95))
    assert limits == pytest.approx([0.5 - half, 0.5 + half], abs=1e-6)
    assert np.ravel(ks_limits(array(0.1), array(50), array(200), 0.95))[0] == 0


def test_limits_of_a_symmetric_mean_are_those_of_t():
    limits = skewed_mean_limits(array(2), array(9), array(0), array(16), array(2.1))
    assert np.ravel(limits) == pytest.approx([2 - 2.1 * 3 / 4, 2 + 2.1 * 3 / 4])


def test_skewness_moves_both_limits_of_a_mean_to_its_side():
    plain = np.ravel(skewed_mean_limits(array(2), array(9), array(0), array(16), array(2)))
    skewed = np.ravel(skewed_mean_limits(array(2), array(9), array(2), array(16), array(2)))
    # g = 2 / 4: 3 / g ((1 + g (x - g / 6))^(1/3) - 1) at x = 2 and -2
    g = 0.5
    q = [3 / g * (np.cbrt(1 + g * (x - g / 6)) - 1) for x in (2, -2)]
    assert skewed == pytest.approx([2 - 0.75 * q[0], 2 - 0.75 * q[1]])
    assert (skewed > plain).all()


def test_a_skewed_quantile_without_skewness_is_the_quantile():
    assert skewed_quantile(1.96, array(0, 1e-9)) == pytest.approx([1.96, 1.96])


@pytest.mark.parametrize("third", [-0.001, 0, 0.001])
def test_limits_of_a_skewed_difference_are_no_closer_than_without_skewness(third):
    variances = (array(0.01), array(0.04))
    low, high = skewed_difference_limits(array(0.1), variances, array(third), 2)
    assert (low <= 0.1 - 2 * 0.1 + 1e-12).all()
    assert (high >= 0.1 + 2 * 0.2 - 1e-12).all()
    assert (low.item() < 0.1 - 0.2 - 1e-6) == (third < 0)
    assert (high.item() > 0.1 + 0.4 + 1e-6) == (third > 0)


def test_the_spread_of_losses_is_drawn_to_that_of_the_scores():
    # 100 rows weigh as much as the scores; an observed variance above is kept
    variance, skewness = expected_spread(
        array(1, 4), array(2, 2), array(3, 3), array(4, 4), array(100, 100)
    )
    assert variance == pytest.approx([2, 4])
    assert skewness == pytest.approx([3, 3])
