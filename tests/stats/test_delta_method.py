"""Exact limits whose tail allows for skewness and kurtosis beyond those of a proportion."""

import numpy as np
import pytest

from balframe.stats.delta_method import shifted_exact_limits, skewness_excess
from balframe.stats.proportions import clopper_pearson
from tests.support.cases import cases


def test_a_share_that_is_no_more_skewed_than_a_proportion_has_exact_limits():
    share, n = np.array([0.2, 0.9, 1.0]), np.array([40.0, 30.0, 25.0])

    result = shifted_exact_limits(share, n, np.zeros(3), 0.95)

    assert np.array(result) == pytest.approx(np.array(clopper_pearson(share * n, n, 0.95)))


def test_limits_widen_with_the_excess_until_they_are_null():
    excess = np.array([0, 0.1, 0.2, 0.2499, 0.25, np.nan])
    share, n = np.full(6, 0.7), np.full(6, 50.0)

    low, high = shifted_exact_limits(share, n, excess, 0.95)

    assert (np.diff(low[:4]) < 0).all()
    assert (np.diff(high[:4]) > 0).all()
    assert np.isnan([low[4:], high[4:]]).all()


@cases("x", [1, 7, 15])
def test_a_proportion_itself_has_no_excess_of_skewness(x):
    share, n = np.array([x / 20]), np.array([20.0])
    skewness = (1 - 2 * share) / np.sqrt(n * share * (1 - share))

    assert skewness_excess(skewness, share, n) == pytest.approx([0], abs=1e-15)
