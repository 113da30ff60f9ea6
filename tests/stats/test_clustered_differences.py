"""The normal quantiles at which limits of clustered differences reach 0."""

import numpy as np
import pytest
from scipy import optimize, stats

from balframe.stats.clustered_differences import LowerGates, _GatePairs


def gates(mean, n):
    """Return the gates of independent rows with one label."""
    mean, n = np.array(mean, float)[:, None], np.array(n, float)[:, None]
    df, are_rows = np.full(len(n), np.inf), np.ones(len(n), np.bool_)
    return LowerGates(mean, n, n, n * (1 - mean), np.ones_like(n), df, are_rows)


def pairs_of(first, second, n, correlation):
    """Pair shares, of which the first ones are larger."""
    second = 1 - np.array(second, float)
    return _GatePairs(gates(first, n), gates(second, n), np.array(correlation, float))


def z_at_zero(first, second, n, r):
    """Return the z at which the lower MOVER limit on Clopper-Pearson limits is 0, at most 37."""

    def lower(z):
        tail = stats.norm.sf(z)
        left = first - stats.beta.ppf(tail, n * first, n * (1 - first) + 1)
        right = (1 - second) - stats.beta.ppf(tail, n * (1 - second), n * second + 1)
        return first - second - np.sqrt(left**2 - 2 * r * left * right + right**2)

    return optimize.brentq(lower, 1e-3, 37, xtol=1e-12) if lower(37) < 0 else 37.0


FIRST, SECOND = [0.9, 0.95, 0.99, 0.8, 0.999], [0.1, 0.2, 0.01, 0.5, 0.001]
N, CORRELATION = [300, 200, 500, 400, 3000], [0.0, 0.3, -0.2, 0.6, 0.0]


@pytest.mark.parametrize("guess", [1.0, 5.0, 30.0, 37.0, 200.0])
def test_the_quantile_does_not_depend_on_the_first_guess(guess):
    expected = [z_at_zero(*pair) for pair in zip(FIRST, SECOND, N, CORRELATION, strict=True)]

    found = pairs_of(FIRST, SECOND, N, CORRELATION).z_at_zero(np.full(5, guess))

    assert sum(z < 37 for z in expected) == 4
    assert found == pytest.approx(expected, rel=1e-8)


def test_the_search_begins_at_the_guess(monkeypatch):
    """The quantile of a good guess is found in few steps, whatever its size."""
    pairs, n_steps = pairs_of([0.9] * 2, [0.5] * 2, [100, 1000], [0.0, 0.3]), []
    solved = pairs.z_at_zero(np.full(2, 5.0))
    excess = _GatePairs.excess
    monkeypatch.setattr(
        _GatePairs, "excess", lambda *arguments: n_steps.append(1) or excess(*arguments)
    )

    again = pairs.z_at_zero(solved)

    assert again == pytest.approx(solved, rel=1e-10)
    assert len(n_steps) <= 10
