"""Kuiper's test of scores: beside loops in fractions, and the density of the range."""

import numpy as np
import pytest
from scipy import integrate, stats

from balframe.methods.calibration.calibration import kuiper, range_tail
from tests.support.cases import cases
from tests.support.oracles.calibration import kuiper as by_loops
from tests.support.oracles.calibration import one, probabilities, several


def density_of_range(r):
    """The density of the range of a Wiener process on [0, 1], by Feller 1951."""
    j = np.arange(1, 60)
    return 8 * ((-1.0) ** (j - 1) * j**2 * stats.norm.pdf(j * r)).sum()


@cases("x", [0.4, 0.9, 1.3, 1.5, 1.500001, 1.9, 2.6, 4.0])
def test_the_p_value_is_the_integral_of_the_density(x):
    expected, _ = integrate.quad(density_of_range, x, x + 8, epsabs=0, epsrel=1e-12, limit=200)

    assert range_tail(np.array([x]))[0] == pytest.approx(expected, rel=1e-10)


def test_p_values_fall_from_1_to_0_as_the_statistic_grows():
    x = np.concatenate([[0, 1e-200, 1e-3, 0.1], np.linspace(0.3, 8, 2000), [40, np.inf]])

    p = range_tail(x)

    assert (np.diff(p) <= 0).all()
    assert (p[0], p[3], p[-1]) == (1, 1, 0)
    assert np.isnan(range_tail(np.array([np.nan])))[0]


def test_statistic_of_three_rows_is_the_range_of_their_running_sums():
    """.2 and .6 - .4, then .9 - .9 + .1: sums 0, -.2, .2, .3."""
    statistic, p_value = kuiper(one((0.2, 0), (0.6, 1), (0.9, 1)))

    assert statistic[0] == pytest.approx(0.5 / 3)
    spread = (0.16 + 0.24 + 0.09) ** 0.5
    assert p_value[0] == pytest.approx(range_tail(np.array([0.5 / spread]))[0])


def test_the_statistic_equals_a_loop_over_rows():
    rng = np.random.default_rng(5)
    segments = [
        [
            (float(s), int(y))
            for s, y in zip(rng.integers(0, 33, n) / 32, rng.integers(0, 2, n), strict=True)
        ]
        for n in rng.integers(1, 40, 60)
    ]

    statistic, _ = kuiper(several(*segments))

    assert statistic == pytest.approx([float(by_loops(rows)) for rows in segments], rel=1e-12)


def test_a_segment_after_many_rows_of_others_keeps_its_precision():
    """Running sums of others do not add their rounding errors."""
    n = 200_000
    segment = np.append(np.zeros(n), [1, 1, 1])
    score = np.append(np.linspace(0.001, 0.999, n), [0.2, 0.6, 0.9])
    y = np.append(np.arange(n) % 7 == 0, [0, 1, 1])

    statistic, _ = kuiper(probabilities(segment, score, y))

    assert statistic[1] == pytest.approx(0.5 / 3, rel=1e-15)


@pytest.mark.parametrize(
    ("rows", "statistic", "p_value"),
    [
        ([(0.0, 0), (1.0, 1)], 0, np.nan),  # sure, and right
        ([(0.0, 0), (1.0, 0)], 0.5, 0),  # sure, and wrong
        ([], np.nan, np.nan),
    ],
)
def test_scores_without_variance_have_a_p_value_of_nan_or_0(rows, statistic, p_value):
    found = kuiper(several(rows, [(0.5, 1)]))

    assert [values[0] for values in found] == pytest.approx([statistic, p_value], nan_ok=True)


def test_correct_scores_of_0_and_1_change_only_the_number_of_rows():
    rows = [(0.2, 1), (0.7, 0), (0.8, 1)]

    (few, more), (p_few, p_more) = kuiper(several(rows, [(0.0, 0), *rows, (1.0, 1), (1.0, 1)]))

    assert more == pytest.approx(few / 2)
    assert p_more == pytest.approx(p_few)


def test_p_value_of_a_single_distinct_score_is_above_the_normal_p_value():
    """One tie: the sum moves once, and the range is its absolute value."""
    statistic, p_value = kuiper(one((0.5, 1), (0.5, 0), n=[560, 440]))

    assert statistic[0] == pytest.approx(0.06)
    z = 60 / 250**0.5
    assert p_value[0] > 2 * stats.norm.sf(z)  # the test allows for sums that move more often


def test_large_ranges_have_the_tails_of_the_skewed_total():
    """Of one distinct score, 4 P(X > E + R) + 4 P(X < E - R) less smaller terms: binomial."""
    statistic, p_value = kuiper(one((0.02, 1), (0.02, 0), n=[16, 384]))

    r = statistic[0] * 400
    assert r == pytest.approx(8)
    x = r / (400 * 0.02 * 0.98) ** 0.5
    above, below = stats.binom.sf(16, 400, 0.02), stats.binom.cdf(0, 400, 0.02)
    mid = above + stats.binom.pmf(16, 400, 0.02) / 2 + below / 2
    expected = 4 * mid - 16 * stats.norm.sf(2 * x) + 24 * stats.norm.sf(3 * x)
    assert p_value[0] == pytest.approx(expected, rel=0.1)
    assert p_value[0] > range_tail(np.array([x]))[0]
