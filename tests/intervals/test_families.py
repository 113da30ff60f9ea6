import math

import numpy as np
import pytest
from scipy import optimize, special, stats
from statsmodels.stats.multitest import multipletests

from balframe.intervals.families import (
    adjusted,
    extreme_difference,
    extreme_ratio,
    homogeneity,
)
from balframe.intervals.request import Request

METHODS = {"bh": "fdr_bh", "holm": "holm"}
NAN = math.nan
P_VALUES = [
    [0.01, 0.04, 0.03, 0.005, 0.2],
    [0.04, 0.04, 0.04, 0.5, 0.9, 1.0],
    [0.3],
    [0.0, 1.0, 0.0],
    np.random.default_rng(0).random(200) ** 3,
]


def column(*values):
    return np.array(values, dtype=float)


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("p", P_VALUES, ids=len)
class TestAdjusted:
    def test_equals_statsmodels(self, method, p):
        _, expected, _, _ = multipletests(p, method=METHODS[method])

        assert adjusted(column(*p), method) == pytest.approx(expected, abs=1e-15)

    def test_leaves_out_what_is_undefined(self, method, p):
        with_gaps = np.repeat(p, 2)
        with_gaps[::2] = NAN
        _, expected, _, _ = multipletests(p, method=METHODS[method])

        found = adjusted(with_gaps, method)

        assert np.isnan(found[::2]).all()
        assert found[1::2] == pytest.approx(expected, abs=1e-15)

    def test_leaves_what_it_is_given(self, method, p):
        given = column(*p)

        adjusted(given, method)

        assert given.tolist() == list(p)


def test_adjusted_by_hand():
    p = column(0.01, NAN, 0.03, 0.04)

    # of three: 3 * 0.01, then 0.03 * 3 / 2 and 0.04 * 3 / 3, of which the later is the smaller
    assert adjusted(p, "bh") == pytest.approx([0.03, NAN, 0.04, 0.04], nan_ok=True)
    # 3 * 0.01, 2 * 0.03, and 1 * 0.04, no smaller than the one before
    assert adjusted(p, "holm") == pytest.approx([0.03, NAN, 0.06, 0.06], nan_ok=True)
    assert adjusted(p, None) == pytest.approx(p, abs=0, nan_ok=True)


@pytest.mark.parametrize("method", ["bh", "holm", None])
def test_adjusted_of_nothing(method):
    assert adjusted(column(), method).shape == (0,)
    assert np.isnan(adjusted(column(NAN, NAN), method)).all()


@pytest.mark.parametrize(
    ("level", "comparisons", "expected"),
    [(0.95, 1, 0.95), (0.95, 5, 0.99), (0.9, 100, 0.999), (0.95, 0, 0.95)],
)
def test_limits_together_share_the_error_out(level, comparisons, expected):
    request = Request(None, level).together(comparisons)

    assert request.level == pytest.approx(expected, abs=1e-15)


@pytest.mark.parametrize(
    ("lower", "upper", "difference", "ratio"),
    [
        # apart: 0.6 is surely reached, and 0.3 is surely not passed by the lowest
        ([0.1, 0.6, 0.4], [0.3, 0.8, 0.7], (0.3, 0.7), (0.125, 0.5)),
        # overlapping: all may be the same
        ([0.1, 0.2], [0.5, 0.4], (0, 0.4), (0.2, 1)),
        ([0.25, 0.25], [0.5, 0.5], (0, 0.25), (0.5, 1)),
        # the lowest may be 0, and all may be
        ([0, 0.5], [0.25, 1], (0.25, 1), (0, 0.5)),
        ([0, 0], [0.25, 0.5], (0, 0.5), (0, 1)),
        ([0, 0.5], [0, 1], (0.5, 1), (0, 0)),
        # no ratio of what may be negative, or is nothing but 0
        ([-0.5, 0.5], [0.25, 1], (0.25, 1.5), (NAN, NAN)),
        ([-0.75, -0.5], [-0.25, 0], (0, 0.75), (NAN, NAN)),
        ([0, 0], [0, 0], (0, 0), (NAN, NAN)),
        # unknown limits of one segment leave nothing known of the extremes
        ([NAN, 0.2], [NAN, 0.4], (NAN, NAN), (NAN, NAN)),
        ([NAN, NAN], [NAN, NAN], (NAN, NAN), (NAN, NAN)),
    ],
)
def test_limits_of_extremes_by_hand(lower, upper, difference, ratio):
    limits = column(*lower), column(*upper)

    assert extreme_difference(*limits) == pytest.approx(difference, abs=1e-15, nan_ok=True)
    assert extreme_ratio(*limits) == pytest.approx(ratio, abs=1e-15, nan_ok=True)


@pytest.mark.parametrize(
    ("x", "n"),
    [
        ([7, 15, 40], [10, 20, 50]),
        ([30, 28, 12, 90], [40, 40, 40, 95]),
        ([0, 10], [10, 10]),
        ([700, 15], [1000, 20]),
    ],
)
@pytest.mark.parametrize("weight", [1, 0.25])
def test_one_label_has_the_chi_square_of_a_contingency_table(x, n, weight):
    expected = stats.chi2_contingency([x, np.subtract(n, x)], correction=False)
    x, n = column(*x)[:, None], column(*n)[:, None]

    found = homogeneity(x, n, np.full_like(x, weight))

    assert found == pytest.approx((expected.statistic, expected.pvalue), rel=1e-10)


def test_several_labels_by_hand():
    x = column([8, 30], [12, 20], [18, 50])
    n = column([10, 40], [20, 40], [30, 60])
    a = column([0.5, 0.5], [0.25, 0.75], [0.5, 0.5])
    pooled = 38 / 60, 100 / 140
    spread = [p * (1 - p) for p in pooled]
    theta = [(0.8 + 0.75) / 2, 0.25 * 0.6 + 0.75 * 0.5, (0.6 + 5 / 6) / 2]
    w = [
        1 / (0.25 * spread[0] / 10 + 0.25 * spread[1] / 40),
        1 / (0.0625 * spread[0] / 20 + 0.5625 * spread[1] / 40),
        1 / (0.25 * spread[0] / 30 + 0.25 * spread[1] / 60),
    ]
    mean = sum(v * t for v, t in zip(w, theta, strict=True)) / sum(w)
    q = sum(v * (t - mean) ** 2 for v, t in zip(w, theta, strict=True))

    # a chi-square of two degrees of freedom is exponential
    assert homogeneity(x, n, a) == pytest.approx((q, math.exp(-q / 2)), rel=1e-12)


def test_a_label_that_all_get_right_does_not_count():
    x, n = column([7, 12], [15, 11], [40, 20]), column([10, 12], [20, 11], [50, 20])
    half = np.full_like(x, 0.5)

    found = homogeneity(x, n, half)

    assert found == pytest.approx(homogeneity(x[:, :1], n[:, :1], half[:, :1]), rel=1e-12)


def test_the_order_of_segments_and_labels_does_not_matter():
    x, n = column([8, 30], [12, 20], [18, 50]), column([10, 40], [20, 40], [30, 60])
    a = np.full_like(x, 0.5)

    expected = homogeneity(x, n, a)

    assert expected[0] > 1
    assert homogeneity(x[::-1, ::-1], n[::-1, ::-1], a) == pytest.approx(expected, rel=1e-12)


def simulated_variance(pooled, n, a, draws=1_000_000):
    """Draw segments that are alike, and take the variance of Q with recalls pooled anew."""
    x = np.random.default_rng(0).binomial(n.astype(int), pooled, size=(draws, *n.shape))
    found = x.sum(axis=1) / n.sum(axis=0)
    varies = ((found > 0) & (found < 1)).all(axis=1)
    spread = (found * (1 - found))[varies, None]
    w = 1 / (a * a * spread / n).sum(axis=2)
    theta = (a * x[varies] / n).sum(axis=2)
    mean = (w * theta).sum(axis=1, keepdims=True) / w.sum(axis=1, keepdims=True)
    return (w * (theta - mean) ** 2).sum(axis=1).var()


ERRORS = column([2, 2], [1, 1], [11, 15], [17, 12])
ROWS = column([10, 30], [20, 15], [400, 500], [600, 300])
WEIGHTS = column([0.5, 0.5], [0.25, 0.75], [0.5, 0.5], [0.4, 0.6])


@pytest.mark.parametrize(
    ("x", "n", "a"),
    [
        (ERRORS[:, :1], ROWS[:, :1], np.ones((4, 1))),
        (ERRORS, ROWS, WEIGHTS),
    ],
    ids=["one label", "two labels"],
)
@pytest.mark.slow
def test_rare_errors_make_q_vary_as_its_scaled_chi_square_does(x, n, a):
    q, p = homogeneity(x, n, a)

    scale = optimize.brentq(lambda scale: special.chdtrc(3 / scale, q / scale) - p, 1.001, 9)

    assert scale > 1.3
    expected = simulated_variance(x.sum(axis=0) / n.sum(axis=0), n, a)
    assert 2 * 3 * scale == pytest.approx(expected, rel=0.01)


@pytest.mark.parametrize(("least", "holds"), [(9, False), (9.9, False), (10, True)])
def test_supports_under_10_have_a_statistic_without_a_p_value(least, holds):
    x, n = column([5, 40], [30, 20]), column([least, 50], [40, 30])

    statistic, p = homogeneity(x, n, np.full_like(x, 0.5))

    assert statistic > 0
    assert math.isnan(p) is not holds


@pytest.mark.parametrize("share", [0, 1])
def test_all_right_or_all_wrong_are_alike(share):
    n = column([10, 40], [20, 40], [37, 11])

    assert homogeneity(share * n, n, np.full_like(n, 0.5)) == (0, 1)


def test_one_segment_has_nothing_to_compare():
    found = homogeneity(column([8, 30]), column([10, 40]), column([0.5, 0.5]))

    assert np.isnan(found).all()
