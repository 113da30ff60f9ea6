"""How often does the paired test err, and do its limits hold the truth? By enumeration, mostly.

A simulated share near 0.05 of 20,000 draws has a standard error of 0.0016.
"""

from itertools import product

import numpy as np
import pytest
from scipy import stats

from balframe.stats.paired_differences import paired_limits, paired_p_value
from tests.support.cases import cases

SAME = 1e-12
DRAWS = 20_000
# shares of the rows that only one and only the other of two models gets right
DISCORDANT = [(0.02, 0.02), (0.1, 0.1), (0.2, 0.2), (0.02, 0.1), (0.05, 0.2), (0.1, 0.3), (0, 0.2)]


def outcomes(n):
    """List how many of n rows only the one and only the other model can get right."""
    both = np.stack(np.meshgrid(*[np.arange(n + 1.0)] * 2, indexing="ij"), axis=-1).reshape(-1, 2)
    return both[both.sum(axis=1) <= n]


def likely(x, n, one, other):
    counts = np.column_stack([x, n - x.sum(axis=1)])
    return stats.multinomial.pmf(counts, n, [one, other, max(1 - one - other, 0)])


def combine_labels(supports):
    """Cross the outcomes of labels: b, c, n and equal weights, and the shape to fold rows into."""
    outcomes_by_label = [outcomes(n) for n in supports]
    shape = [len(x) for x in outcomes_by_label]
    at = np.indices(shape).reshape(len(supports), -1)
    x = np.stack([x[i] for x, i in zip(outcomes_by_label, at, strict=True)], axis=1)
    n = np.tile(np.array(supports, float), (len(x), 1))
    return outcomes_by_label, shape, (x[:, :, 0], x[:, :, 1], n, np.full_like(n, 1 / len(supports)))


def covers(limits, truth):
    return (limits[0] <= truth + SAME) & (truth - SAME <= limits[1])


@pytest.mark.simulation
@cases("n", [10, 30, 100])
@cases(("alpha", "most"), [(0.05, 1.07), (0.05 / 60, 0.93)])
def test_size_of_the_paired_test_with_one_label_is_near_nominal(n, alpha, most):
    (x,), _, rows = combine_labels([n])
    rejected = paired_p_value(*rows) < alpha

    sizes = [likely(x, n, half, half)[rejected].sum() for half in np.arange(0.0025, 0.2501, 0.0025)]

    assert max(sizes) <= most * alpha
    # where hardly any row is discordant, no test of so few rows can reach 0.05
    assert alpha < 0.05 or max(sizes) >= 0.95 * alpha


@pytest.mark.simulation
def test_size_of_the_paired_test_with_two_labels_is_near_nominal():
    (x, y), shape, rows = combine_labels([10, 10])
    rejected = (paired_p_value(*rows) < 0.05).reshape(shape).astype(float)

    sizes = []
    for one, other, apart in product(np.arange(0.02, 1, 0.02), np.arange(0.02, 1, 0.02), (0, 0.6)):
        d = apart * min(one, other)  # better on one label and as much worse on the other
        mass = likely(x, 10, (one + d) / 2, (one - d) / 2)
        mass_other = likely(y, 10, (other - d) / 2, (other + d) / 2)
        sizes.append(mass @ rejected @ mass_other)

    assert max(sizes) <= 1.18 * 0.05
    assert np.median(sizes) <= 0.05


@pytest.mark.simulation
@pytest.mark.parametrize(("labels", "n"), [(5, 30), (30, 5)])
def test_size_of_the_paired_test_with_many_labels_is_near_nominal(labels, n):
    rng, sizes = np.random.default_rng(1), []
    for share in (0.02, 0.05, 0.1, 0.2, 0.4):
        x = rng.multinomial(n, [share / 2, share / 2, 1 - share], (DRAWS, labels)).astype(float)
        support = np.full((DRAWS, labels), float(n))
        p = paired_p_value(x[:, :, 0], x[:, :, 1], support, np.full_like(support, 1 / labels))
        sizes.append((p < 0.05).mean())

    most = {5: 1.25, 30: 1.1}[n]
    assert max(sizes) <= most * 0.05 + 2 * 0.0016


@pytest.mark.simulation
@cases("shares", DISCORDANT)
@cases("supports", [(10,), (30,), (100,), (10, 10)])
def test_coverage_of_paired_limits_by_enumeration_is_near_nominal(supports, shares):
    outcomes_by_label, _, rows = combine_labels(supports)
    mass = np.ones(1)
    for x, n in zip(outcomes_by_label, supports, strict=True):
        mass = np.outer(mass, likely(x, n, *shares)).ravel()

    limits = paired_limits(*rows, 0.95)

    assert mass.sum() == pytest.approx(1)
    assert mass[covers(limits, shares[0] - shares[1])].sum() >= 0.93


@pytest.mark.simulation
@pytest.mark.parametrize("n", [10, 30, 100])
def test_coverage_of_one_label_for_all_shares_is_near_nominal(n):
    (x,), _, rows = combine_labels([n])
    limits = paired_limits(*rows, 0.95)
    grid = np.arange(0, 1.01, 0.05)

    shares = [(one, other) for one, other in product(grid, grid) if one + other <= 1 + SAME]
    covered = [
        likely(x, n, one, min(other, 1 - one))[covers(limits, one - other)].sum()
        for one, other in shares
    ]

    assert min(covered) >= 0.91
    assert np.mean(covered) >= 0.95


PAIRED = [(30, 30), (100, 100), (10, 100), (10,) * 5, (30,) * 5, (10, 10, 100, 100, 100)]


@pytest.mark.thorough
@pytest.mark.parametrize("supports", PAIRED, ids=str)
@pytest.mark.parametrize("differing", ["one", "all"])
def test_coverage_of_paired_limits_by_simulation_is_near_nominal(supports, differing):
    rng, k = np.random.default_rng(3), len(supports)
    n, a = np.tile(np.array(supports, float), (DRAWS, 1)), np.full((DRAWS, k), 1 / k)

    for one, other in DISCORDANT:
        x = np.zeros((DRAWS, k, 3))
        n_differing = k if differing == "all" else 1
        for label in range(n_differing):
            x[:, label] = rng.multinomial(supports[label], [one, other, 1 - one - other], DRAWS)
        limits = paired_limits(x[:, :, 0], x[:, :, 1], n, a, 0.95)
        # 0.93, less two standard errors
        assert covers(limits, (one - other) * n_differing / k).mean() >= 0.93 - 0.0036
