import itertools

import numpy as np
import pytest
from scipy import stats

from balframe.stats.mean_recall_posterior import PRIORS, Posterior
from tests.support.cases import cases
from tests.support.reference_values import reference

REFERENCE = reference("intervals")["posterior"]


def posterior(correct, support, prior="uniform", weights=None):
    x, n = np.array([correct], dtype=float), np.array([support], dtype=float)
    a = np.full_like(x, 1 / x.shape[1]) if weights is None else np.array([weights])
    return Posterior.of(x, n, a, prior)


@cases("case", REFERENCE)
def test_bound_equals_reference_values(case):
    result = posterior(case["correct"], case["support"], case["prior"])

    assert result.mean[0] == pytest.approx(case["mean"], abs=1e-9)
    quantiles = np.ravel(result.quantiles((0.025, 0.5, 0.975)))
    assert quantiles == pytest.approx([case[q] for q in ("q025", "median", "q975")], abs=2e-6)
    if "sd" in case:
        assert result.sd[0] == pytest.approx(case["sd"], abs=1e-9)
    if "p_le_half" in case:
        assert 1 - result.probability_above(np.array([0.5]))[0] == pytest.approx(
            case["p_le_half"], abs=2e-6
        )


def test_quantiles_equal_the_published_table_of_carrillo():
    low, high = posterior([30, 8, 3], [32, 10, 4]).quantiles((0.025, 0.975))

    assert (round(low[0], 2), round(high[0], 2)) == (0.62, 0.90)


def test_posterior_of_one_label_is_a_beta_distribution():
    result = posterior([7], [9], "jeffreys")

    assert result.quantiles((0.1,))[0] == pytest.approx(stats.beta.ppf(0.1, 7.5, 2.5), abs=1e-12)
    assert result.probability_above(np.array([0.6])) == pytest.approx(
        stats.beta.sf(0.6, 7.5, 2.5), abs=1e-12
    )


@pytest.mark.parametrize("scale", [1e6, 1e10])
def test_posterior_of_many_rows_is_normal(scale):
    result = posterior([0.9 * scale, 0.6 * scale], [scale, scale])
    sd = np.sqrt((0.09 + 0.24) / scale) / 2

    low, high = result.quantiles((0.025, 0.975))
    assert (low[0] - 0.75) / sd == pytest.approx(-1.959964, abs=5e-3)
    assert (high[0] - 0.75) / sd == pytest.approx(1.959964, abs=5e-3)


NEAR_ONE = [  # errors of each label, rows of each, accuracy of the distribution function
    ((5, 5), 10**7, 1e-6),
    ((0, 0, 0), 10**7, 1e-6),
    ((2, 0, 7), 10**8, 4e-6),
    ((0,) * 20, 10**6, 1e-5),
    ((0, 0), 10**10, 2e-6),
    ((0, 3, 1), 10**10, 2e-6),
    ((3, 5), 10**12, 5e-5),
    ((0,) * 20, 10**12, 1e-3),
]


@pytest.mark.thorough
@cases("prior", PRIORS)
@cases("mirrored", [False, True])
@cases(("errors", "rows", "accuracy"), NEAR_ONE)
def test_posterior_of_few_errors_in_many_rows_is_a_gamma_distribution(
    errors, rows, accuracy, mirrored, prior
):
    """Near 1, 1 - recall is Gamma(errors + prior) / rows, up to a share of errors / rows."""
    k, probabilities = len(errors), (0.025, 0.5, 0.975)
    errors = np.array(errors, float)
    limit = stats.gamma(errors.sum() + k * PRIORS[prior], scale=1 / (k * rows))
    result = posterior(errors if mirrored else rows - errors, np.full(k, float(rows)), prior)

    quantiles = np.ravel(result.quantiles(probabilities))
    below = limit.cdf(quantiles) if mirrored else limit.sf(1 - quantiles)
    assert below == pytest.approx(probabilities, abs=accuracy)
    exact = limit.ppf(probabilities) if mirrored else 1 - limit.isf(probabilities)
    above = [result.probability_above(np.array([value]))[0] for value in exact]
    assert above == pytest.approx(probabilities[::-1], abs=accuracy)
    assert quantiles[0] < result.mean[0] < quantiles[-1]


@cases("case", reference("posterior_near_one")["cases"])
def test_errors_in_ten_million_rows_equal_reference_values(case):
    errors, rows = np.array(case["errors"], float), case["rows"]

    result = posterior(rows - errors, np.full(len(errors), rows))

    quantiles = np.ravel(result.quantiles((0.025, 0.5, 0.975)))
    in_errors = len(errors) * rows * (1 - quantiles)
    assert in_errors == pytest.approx(case["in_errors"], rel=1e-5)
    assert quantiles[0] < result.mean[0] < quantiles[-1]


def test_posterior_of_mirrored_counts_is_mirrored():
    rng = np.random.default_rng(5)
    n = rng.integers(1, 5000, (200, 3)).astype(float)
    x = np.floor(n * rng.choice([0, 0.01, 0.3, 0.5, 0.9, 1], n.shape))
    a, ends = rng.dirichlet(np.ones(3), len(n)), (0.025, 0.5, 0.975)
    result, mirrored = (Posterior.of(right, n, a, "uniform") for right in (x, n - x))

    np.testing.assert_allclose(
        np.array(mirrored.quantiles(ends)), 1 - np.array(result.quantiles(ends))[::-1], atol=4e-6
    )
    value = result.quantiles(ends)[1]
    np.testing.assert_allclose(
        mirrored.probability_above(1 - value), 1 - result.probability_above(value), atol=2e-5
    )


def test_probability_of_two_recalls_of_more_rows_than_have_quantiles_is_that_of_the_lattice():
    result = posterior([3e12 - 5, 3e12 - 5], [3e12, 3e12])
    value = 1 - stats.gamma(12).isf(0.3) / 6e12

    assert result.probability_above(np.array([value])) == pytest.approx(0.7, abs=2e-3)


def test_posterior_with_a_nearly_constant_label_is_that_of_the_other():
    low, high = posterior([7, 0.5e9], [9, 1e9]).quantiles((0.025, 0.975))

    expected = (stats.beta.ppf([0.025, 0.975], 8, 3) + 0.5) / 2
    assert [low[0], high[0]] == pytest.approx(expected, abs=2e-6)


def test_posterior_of_weighted_labels_equals_simulation():
    rng = np.random.default_rng(3)
    support = np.array([3.0, 8, 40, 200, 5, 17])
    correct = np.array([3.0, 6, 31, 150, 0, 9])
    weights = np.array([0.3, 0.1, 0.2, 0.1, 0.1, 0.2])
    draws = (rng.beta(correct + 1, support - correct + 1, (1_000_000, 6)) * weights).sum(axis=1)
    result = posterior(correct, support, weights=weights)

    # standard errors of simulated quantiles here are below 2e-4
    expected = np.quantile(draws, [0.025, 0.5, 0.975])
    assert np.ravel(result.quantiles((0.025, 0.5, 0.975))) == pytest.approx(expected, abs=1e-3)
    assert result.probability_above(np.array([0.7]))[0] == pytest.approx(
        (draws > 0.7).mean(), abs=2e-3
    )


def test_quantiles_rise_with_the_probability_for_any_counts():
    rng = np.random.default_rng(4)
    n = rng.integers(1, 60, (400, 3)).astype(float)
    x = np.floor(n * rng.uniform(0, 1.2, n.shape)).clip(max=n)
    result = Posterior.of(x, n, np.full_like(n, 1 / 3), "jeffreys")

    quantiles = np.array(result.quantiles((0.005, 0.05, 0.5, 0.95, 0.995)))

    assert (np.diff(quantiles, axis=0) > 0).all()
    assert ((quantiles >= 0) & (quantiles <= 1)).all()
    assert result.probability_above(quantiles[1]) == pytest.approx(0.95, abs=1e-6)


@pytest.mark.thorough
@pytest.mark.any_version
@pytest.mark.parametrize("prior", ["uniform", "jeffreys"])
@pytest.mark.parametrize("rounded", [1 - 1e-15, 1 + 1e-15])
def test_rounding_errors_in_counts_do_not_change_the_posterior(prior, rounded):
    n = np.array([*itertools.product([0.25, 1, 2, 3, 5, 8, 30], repeat=2)])
    a = np.full(n.shape, 0.5)
    for correct in (0 * n, np.minimum(n, 1), np.floor(n / 2), n):
        result, expected = (
            Posterior.of(correct * factor, n * factor, a, prior) for factor in (rounded, 1)
        )
        ends = (0.025, 0.5, 0.975)
        np.testing.assert_allclose(result.quantiles(ends), expected.quantiles(ends), atol=1e-9)
        half = np.full(len(n), 0.5)
        np.testing.assert_allclose(
            result.probability_above(half), expected.probability_above(half), atol=1e-9
        )
