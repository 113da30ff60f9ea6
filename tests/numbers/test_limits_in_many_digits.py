"""Limits of few rows and of very many, against 50 digits."""

from itertools import product

import numpy as np
import pytest
from mpmath import betainc, mp, mpf

from balframe.stats.base import IntervalRequest
from balframe.stats.mean_recall import (
    gate_limits,
    mover_limits,
    scas_limits,
    scas_proportion_limits,
    score_limits,
)
from balframe.stats.mean_recall_posterior import Posterior
from balframe.stats.proportions import clopper_pearson, jeffreys, wilson
from tests.support.cases import cases
from tests.support.oracles.constrained_likelihood import limits

pytestmark = pytest.mark.any_version
mp.dps = 50
PROPORTIONS = [wilson, jeffreys, clopper_pearson, scas_proportion_limits]
MEANS = [score_limits, scas_limits, gate_limits, mover_limits]
ONE = np.ones((1, 1))
FEW = [(0, 1), (1, 1), (0, 5), (5, 5), (0, 10**9), (10**9, 10**9), (1, 10**9), (10**9 - 1, 10**9)]


SEGMENTS = [
    ((10**9 // 3, 10**9 // 2), (10**9, 10**9), (0.5, 0.5)),
    ((7, 999_000_000), (10, 10**9), (1e-12, 1 - 1e-12)),
    ((7, 999_000_000), (10, 10**9), (1 - 1e-12, 1e-12)),
    ((1, 3, 10**9 - 7), (2, 4, 10**9), (0.2, 0.3, 0.5)),
    ((1,), (1,), (1,)),
    ((10**9 - 1,), (10**9,), (1,)),
    ((0, 5), (3, 5), (0.5, 0.5)),
    ((4, 9), (4, 9), (0.75, 0.25)),
    ((0.25, 1.5), (1.125, 1.5), (0.5, 0.5)),
    ((1, 0, 1, 1, 2), (1, 1, 1, 2, 3), (0.2,) * 5),
]


@pytest.mark.thorough
@cases("skewness", [False, True])
@cases("level", [0.95, 0.9995])
@cases(("x", "n", "a"), SEGMENTS)
def test_limits_of_means_of_recalls_equal_50_digit_arithmetic(x, n, a, level, skewness):
    method = scas_limits if skewness else score_limits
    result = np.ravel(method(*(np.array([v], float) for v in (x, n, a)), level))

    for limit, expected in zip(result, limits(x, n, a, level, skewness=skewness), strict=True):
        assert limit == pytest.approx(float(expected), abs=1e-12)


@cases(("x", "n"), [(0, 10**9), (1, 10**9), (9, 10**9), (1e-6, 1), (0.01, 1), (1e-9, 3)])
@cases("skewness", [False, True])
def test_limits_near_0_are_precise(x, n, skewness):
    method = scas_limits if skewness else score_limits
    low, _ = method(*(np.array([[float(v)]]) for v in (x, n, 1)), 0.95)

    expected, _ = limits((x,), (n,), (1,), 0.95, skewness=skewness)
    assert low[0] == pytest.approx(float(expected), rel=1e-9, abs=1e-300)


@cases("segments", [1, 60, 500])
@cases(("x", "n"), [(10, 10), (7, 8), (1, 1), (990, 1000), (10**6 - 3, 10**6)])
def test_gate_limits_of_a_proportion_have_exact_tail_probabilities(x, n, segments):
    level = IntervalRequest(None, 0.95).bonferroni(segments).level
    low, high = (
        v[0] for v in gate_limits(np.array([[float(x)]]), np.array([[float(n)]]), ONE, level)
    )

    tail = (1 - mpf(level)) / 2
    # P(X >= x) at the lower limit, and P(X <= x) at the upper
    assert float(betainc(x, n - x + 1, 0, mpf(low), regularized=True) / tail) == pytest.approx(
        1, rel=1e-9
    )
    if x == n:
        assert high == 1
    else:
        below = betainc(n - x, x + 1, 0, 1 - mpf(high), regularized=True)
        assert float(below / tail) == pytest.approx(1, rel=1e-6)


@cases("method", PROPORTIONS)
@cases(("x", "n"), FEW)
def test_limits_of_extreme_proportions_are_ordered_and_symmetric(method, x, n):
    x, n = np.array([float(x)]), np.array([float(n)])
    levels = [0.5, 0.95, 0.9999]
    lows, highs = (
        np.array([np.ravel(method(x, n, level))[i] for level in levels]) for i in range(2)
    )

    assert (lows <= x / n).all()
    assert (highs >= x / n).all()
    assert (np.diff(lows) <= 0).all()
    assert (np.diff(highs) >= 0).all()
    mirrored = np.ravel(method(n - x, n, 0.95))
    assert 1 - mirrored[::-1] == pytest.approx(np.ravel(method(x, n, 0.95)), abs=1e-15)


@cases("method", MEANS)
@cases("supports", [(1, 1), (1, 10**9), (1, 1, 1), (10**9, 10**12)])
@cases("lightest", [1.0, 1e-12, 1e-300])
def test_limits_of_extreme_means_of_recalls_are_ordered_and_symmetric(method, supports, lightest):
    n = np.array(list(supports), float)
    is_proportion = method in (
        mover_limits,
        gate_limits,
    )  # limits of each recall are exact at 0 alone
    few = () if is_proportion else (5e-324,)
    x = np.array(list(product(*((0.0, *few, m) for m in supports))))
    n, weight = np.tile(n, (len(x), 1)), np.ones_like(x)
    weight[:, 0] = lightest
    a = weight / weight.sum(axis=1, keepdims=True)
    with np.errstate(all="ignore"):
        narrow, wide = method(x, n, a, 0.9), method(x, n, a, 0.99)

    assert np.isfinite(wide).all()
    assert (np.array(wide) >= 0).all()
    assert (np.array(wide) <= 1).all()
    assert (wide[0] <= narrow[0] + 1e-12).all()
    assert (narrow[0] <= narrow[1]).all()
    assert (narrow[1] <= wide[1] + 1e-12).all()
    flipped = method(n - x, n, a, 0.9)
    assert 1 - flipped[1] == pytest.approx(narrow[0], abs=1e-9)


@cases(("x", "n"), [(999_999_000, 10**9), (1000, 10**9), (3, 10**12), (1, 1)])
def test_clopper_pearson_limits_have_exact_tail_probabilities(x, n):
    """The first is one where the inverse of SciPy fails."""
    counts = np.array([float(x)]), np.array([float(n)])
    if x < n:
        (high,) = clopper_pearson(*counts, 0.95)[1]
        # P(X <= x) at the upper limit, summed where it is short
        few = min(x, n - x)
        if few == x:
            tail = betainc(x + 1, n - x, mpf(high), 1, regularized=True)
        else:
            tail = 1 - betainc(n - x, x + 1, 1 - mpf(high), 1, regularized=True)
        assert float(tail) == pytest.approx(0.025, rel=1e-5)
    (low, high) = (np.ravel(limit)[0] for limit in clopper_pearson(*counts, 0.95))
    assert low < x / n <= high


def test_posterior_of_one_row_per_label_is_symmetric():
    one, half = np.ones((1, 2)), np.full((1, 2), 0.5)
    low, high = Posterior.of(np.array([[0.0, 1.0]]), one, half, "uniform").quantiles((0.025, 0.975))

    # (X + 1 - Y) / 2 with Y as X is symmetric about a half
    assert low[0] + high[0] == pytest.approx(1, abs=1e-6)
    assert 0 < low[0] < 0.5
