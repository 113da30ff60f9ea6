"""The posterior of two labels, by an integral of our own."""

from itertools import pairwise

import numpy as np
import pytest
from scipy import optimize, special

from balframe.stats.mean_recall_posterior import PRIORS, Posterior
from tests.support.cases import cases

pytestmark = pytest.mark.any_version
T = np.linspace(-3.6, 3.6, 1501)
NODES = np.tanh(np.pi / 2 * np.sinh(T))  # crowded at the ends, where densities may have none
WEIGHTS = np.pi / 2 * np.cosh(T) / np.cosh(np.pi / 2 * np.sinh(T)) ** 2 * (T[1] - T[0])
ACCURACY = {"uniform": 2e-6, "jeffreys": 1e-4}  # as the module says
CASES = [
    ((0, 0), (1, 1), 0.5),
    ((1, 2), (1, 2), 0.9),
    ((10, 0), (20, 5000), 0.1),
    ((1, 34), (1, 50), 0.1),
    ((0, 674), (2, 5000), 0.99),
    ((3, 0), (3, 5000), 0.9),
    ((1, 1000), (1, 1000), 0.9),
    ((0, 0), (5, 10**5), 0.5),
    ((1, 219), (1, 300), 0.5),  # the second spreads over little more than the largest cells
    ((1, 438), (1, 600), 0.5),
    ((2, 116), (2, 160), 0.5),
]


def below(theta, one, other, a):
    """Find P(a X + (1 - a) Y <= theta), over the distribution function of X, in smooth parts."""
    corners = special.betainc(*one, np.clip([theta / a, (theta - 1 + a) / a], 0, 1))
    ends = np.unique([0.0, *corners, 1.0])
    total = 0.0
    for low, high in pairwise(ends):
        x = special.betaincinv(*one, low + (high - low) * (1 + NODES) / 2)
        rest = np.clip((theta - a * x) / (1 - a), 0, 1)
        total += (high - low) / 2 * (WEIGHTS * special.betainc(*other, rest)).sum()
    return total


@pytest.mark.thorough
@cases("prior", PRIORS)
@cases(("right", "support", "a"), CASES)
def test_posterior_quantiles_have_the_stated_accuracy(right, support, a, prior):
    x, n, share = (np.array([v], float) for v in (right, support, (a, 1 - a)))
    one, other = (
        (hits + PRIORS[prior], size - hits + PRIORS[prior])
        for hits, size in zip(right, support, strict=True)
    )
    probabilities = (0.005, 0.025, 0.5, 0.975, 0.995)
    result = Posterior.of(x, n, share, prior).quantiles(probabilities)

    for probability, (quantile,) in zip(probabilities, result, strict=True):
        exact = optimize.brentq(
            lambda t, p: below(t, one, other, a) - p, 0, 1, (probability,), 1e-9
        )
        assert quantile == pytest.approx(exact, abs=ACCURACY[prior])


@cases("prior", PRIORS)
@cases(("right", "support", "a"), CASES)
def test_probabilities_above_a_value_have_the_stated_accuracy(right, support, a, prior):
    x, n, share = (np.array([v], float) for v in (right, support, (a, 1 - a)))
    one, other = (
        (hits + PRIORS[prior], size - hits + PRIORS[prior])
        for hits, size in zip(right, support, strict=True)
    )
    values = np.array([0, 0.01, 1 - a, 0.3, 0.5, a, 0.95, 0.99, 1])
    result = Posterior.of(x, n, share, prior)

    found = [result.probability_above(values[[i]])[0] for i in range(len(values))]
    exact = [1 - below(value, one, other, a) for value in values]
    assert found == pytest.approx(exact, abs=1e-6)


def test_a_probability_at_a_corner_of_two_jeffreys_recalls_equals_its_40_digits():
    counts = np.array([[0.0, 10**4]]), np.array([[1.0, 10**4]]), np.full((1, 2), 0.5)
    result = Posterior.of(*counts, "jeffreys").probability_above(np.array([0.5]))

    assert result == pytest.approx(0.9928169, abs=1e-6)


@pytest.mark.parametrize("theta", [0.1, 0.3, 0.5])
def test_the_integral_of_two_uniform_recalls_equals_its_closed_form(theta):
    assert below(theta, (1, 1), (1, 1), 0.5) == pytest.approx(2 * theta**2, abs=1e-12)
