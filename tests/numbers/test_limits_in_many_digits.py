"""Limits of few rows and of very many, against 50 digits."""

from itertools import product

import numpy as np
import pytest
from mpmath import betainc, mp, mpf, sqrt

from balframe.intervals.proportions import exact, jeffreys, normal_quantile, wilson
from balframe.intervals.recalls import geometric, mover, score
from balframe.intervals.sums_of_betas import Posterior

pytestmark = pytest.mark.slow
mp.dps = 50
PROPORTIONS = [wilson, jeffreys, exact]
MEANS = [score, mover, lambda x, n, a, level: geometric(x, n, level)]
FEW = [(0, 1), (1, 1), (0, 5), (5, 5), (0, 10**9), (10**9, 10**9), (1, 10**9), (10**9 - 1, 10**9)]


def beyond(theta, x, n, a, side):
    """Compare l V with z sqrt(V_f) where the constrained mean is theta, in many digits.

    `side` is 1 for the lower limit. The multiplier l is found by bisection, as theta falls in it.
    """
    x = [mpf(v) if side > 0 else mpf(m) - mpf(v) for v, m in zip(x, n, strict=True)]
    n, a = [mpf(v) for v in n], [mpf(v) for v in a]
    wanted = mpf(theta) if side > 0 else sum(a) - mpf(theta)

    def recalls(multiplier):
        parts = zip(x, n, a, strict=True)
        terms = [(right, size + multiplier * w, size, multiplier * w) for right, size, w in parts]
        return [2 * r / (s + sqrt((m - lw) ** 2 + 4 * lw * (m - r))) for r, s, m, lw in terms]

    low, high = mpf(-60), mpf(100)
    for _ in range(170):
        middle = (low + high) / 2
        mean = sum(w * p for w, p in zip(a, recalls(mp.exp(middle)), strict=True))
        low, high = (middle, high) if mean > wanted else (low, middle)
    multiplier = mp.exp(high)
    spread = [p * (1 - p) for p in recalls(multiplier)]
    part = [w * w / m for w, m in zip(a, n, strict=True)]
    factor = [m / (m - 1 + q / sum(part)) for q, m in zip(part, n, strict=True)]
    v = sum(q * s for q, s in zip(part, spread, strict=True))
    v_f = sum(q * s * f for q, s, f in zip(part, spread, factor, strict=True))
    return multiplier * v / sqrt(v_f) - mpf(normal_quantile(0.95))


@pytest.mark.parametrize(
    ("x", "n", "a"),
    [
        ((10**9 // 3, 10**9 // 2), (10**9, 10**9), (0.5, 0.5)),
        ((7, 999_000_000), (10, 10**9), (1e-12, 1 - 1e-12)),
        ((7, 999_000_000), (10, 10**9), (1 - 1e-12, 1e-12)),
        ((1, 3, 10**9 - 7), (2, 4, 10**9), (0.2, 0.3, 0.5)),
    ],
)
def test_score_limits_solve_their_equation(x, n, a):
    low, high = score(*(np.array([v], float) for v in (x, n, a)), 0.95)

    assert abs(beyond(low[0], x, n, a, 1)) < 1e-6
    assert abs(beyond(high[0], x, n, a, -1)) < 1e-6


@pytest.mark.parametrize("method", PROPORTIONS)
@pytest.mark.parametrize(("x", "n"), FEW)
def test_proportions_at_their_ends(method, x, n):
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


@pytest.mark.parametrize("method", MEANS)
@pytest.mark.parametrize("supports", [(1, 1), (1, 10**9), (1, 1, 1), (10**9, 10**12)])
@pytest.mark.parametrize("lightest", [1.0, 1e-12, 1e-300])
def test_means_at_their_ends(method, supports, lightest):
    n = np.array(list(supports), float)
    few = () if method is mover else (5e-324,)  # Jeffreys' limits are exact at 0 alone
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
    if method in MEANS[:2]:
        flipped = method(n - x, n, a, 0.9)
        assert 1 - flipped[1] == pytest.approx(narrow[0], abs=1e-9)


@pytest.mark.parametrize(("x", "n"), [(999_999_000, 10**9), (1000, 10**9), (3, 10**12), (1, 1)])
def test_beta_tails_hold_what_they_should(x, n):
    """The first is one where the inverse of SciPy fails."""
    counts = np.array([float(x)]), np.array([float(n)])
    if x < n:
        (high,) = exact(*counts, 0.95)[1]
        # P(X <= x) at the upper limit, summed where it is short
        few = min(x, n - x)
        if few == x:
            tail = betainc(x + 1, n - x, mpf(high), 1, regularized=True)
        else:
            tail = 1 - betainc(n - x, x + 1, 1 - mpf(high), 1, regularized=True)
        assert float(tail) == pytest.approx(0.025, rel=1e-5)
    (low, high) = (np.ravel(limit)[0] for limit in exact(*counts, 0.95))
    assert low < x / n <= high


def test_posteriors_of_one_row():
    one, half = np.ones((1, 2)), np.full((1, 2), 0.5)
    low, high = Posterior.of(np.array([[0.0, 1.0]]), one, half, "uniform").quantiles((0.025, 0.975))

    # (X + 1 - Y) / 2 with Y as X is symmetric about a half
    assert low[0] + high[0] == pytest.approx(1, abs=1e-6)
    assert 0 < low[0] < 0.5
