"""Limits of observed over expected rows: their equation, Wilson's limits, and where undefined."""

import mpmath
import numpy as np
import pytest
from scipy import stats

from balframe.methods.calibration.observed_expected import oe_ratio_limits
from balframe.stats.proportions import wilson
from tests.support.cases import cases
from tests.support.oracles.calibration import one, several


def drawn(seed=2, n_segments=50):
    rng = np.random.default_rng(seed)
    return [
        [(s, rng.random() < s) for s in rng.beta(2, 5, rng.integers(5, 60)).round(3)]
        for _ in range(n_segments)
    ]


@pytest.mark.parametrize("level", [0.5, 0.95, 0.9999])
def test_limits_solve_their_equation(level):
    segments, z = drawn(), mpmath.mpf(stats.norm.ppf((1 + level) / 2))

    lower, upper = oe_ratio_limits(several(*segments), level)

    with mpmath.workdps(40):
        for g, rows in enumerate(segments):
            scores = [mpmath.mpf(s) for s, _ in rows]
            o, e = sum(bool(y) for _, y in rows), mpmath.fsum(scores)
            s2 = mpmath.fsum(s * s for s in scores)
            # (O - r E)^2 = z^2 (r E - r^2 S2)
            a, b = e * e + z * z * s2, o * e + z * z * e / 2
            root = mpmath.sqrt(b * b - a * o * o)
            expected = [float((b - root) / a), float((b + root) / a)]
            assert [lower[g], upper[g]] == pytest.approx(expected, rel=1e-12)


@cases("score", [0.03, 0.5, 0.97, 1.0])
@cases("positive", [0, 1, 13, 19, 20])
def test_equal_scores_have_the_limits_of_wilson(score, positive):
    rows = [(score, i < positive) for i in range(20)]

    limits = oe_ratio_limits(one(*rows), 0.95)

    expected = wilson(np.array([float(positive)]), np.array([20.0]), 0.95)
    assert [limit[0] * score for limit in limits] == pytest.approx(
        [limit[0] for limit in expected], rel=1e-12, abs=1e-14
    )


def test_the_lower_limit_is_0_without_positive_rows():
    lower, upper = oe_ratio_limits(one((0.2, 0), (0.4, 0)), 0.95)

    z2 = stats.norm.ppf(0.975) ** 2
    assert lower[0] == 0
    assert upper[0] == pytest.approx(z2 * 0.6 / (0.36 + z2 * 0.2), rel=1e-12)


def test_limits_are_nan_if_no_positive_rows_are_expected():
    lower, upper = oe_ratio_limits(several([(0.0, 0)], [], [(0.5, 1)]), 0.95)

    assert np.isnan([lower, upper]).tolist() == [[True, True, False]] * 2


def test_the_upper_limit_equals_a_ratio_beyond_every_valid_factor():
    """All rows are positive: twice the scores would be above 1 for some."""
    rows = [(0.5, 1), (0.9, 1), (0.95, 1)]

    lower, upper = oe_ratio_limits(one(*rows), 0.95)

    assert 0 < lower[0] < 3 / 2.35 == upper[0]


def test_limits_are_nan_if_no_factor_fits():
    """A thousand rows of .1 and of .9 that are all positive: 2 * .9 is far above 1."""
    lower, upper = oe_ratio_limits(one((0.1, 1), (0.9, 1), n=[1000, 1000]), 0.95)

    assert np.isnan([lower, upper]).all()


def test_limits_of_scores_whose_squares_underflow_are_exact():
    tiny = 1e-200
    small, usual = oe_ratio_limits(several([(tiny, 1), (3 * tiny, 0)], [(0.1, 1), (0.3, 0)]), 0.95)[
        1
    ]

    assert small == pytest.approx(usual * 0.1 / tiny, rel=1e-12)


def test_limits_are_nan_for_a_ratio_beyond_the_range_of_floats():
    lower, upper = oe_ratio_limits(one((5e-324, 1)), 0.95)

    assert np.isnan([lower, upper]).all()
