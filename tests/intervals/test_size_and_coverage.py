"""Do tests err as often as they say, and do limits hold the truth? By enumeration or simulation.

A simulated share near 0.05 of R draws has a standard error of 0.22 / sqrt(R): 0.0016 for 20,000 and
0.0024 for 8,000. Bounds on simulated shares allow two of these and more.
"""

from itertools import product

import numpy as np
import pytest
from scipy import stats

from balframe.intervals.differences import mover_difference, p_value, paired_limits
from balframe.intervals.families import extreme_difference, homogeneity
from balframe.intervals.recalls import score
from balframe.intervals.request import Request

pytestmark = pytest.mark.slow

SAME = 1e-12
RECALLS = (0.6, 0.7, 0.8, 0.9, 0.95)
FEW = [((5, 5), (5, 5)), ((20,), (20,)), ((10,), (1000,)), ((3, 10), (10, 10))]
MANY = [((10, 50), (100, 500)), ((29, 40), (200, 200)), ((50, 50), (500, 500))]


def tiled(values, rows):
    return np.tile(np.array(values, float), (rows, 1))


def outcomes(supports):
    axes = np.meshgrid(*(np.arange(n + 1.0) for n in supports), indexing="ij")
    return np.stack(axes, axis=-1).reshape(-1, len(supports))


def likely(x, supports, recalls):
    return stats.binom.pmf(x, supports, recalls).prod(axis=1)


def holds(limits, truth):
    return (limits[0] <= truth + SAME) & (truth - SAME <= limits[1])


def limits_of(x, n):
    a = np.full_like(x, 1 / x.shape[1])
    return (a * x / n).sum(axis=1), score(x, n, a, 0.95)


def at_recalls(labels):
    return list(product((0.6, 0.8, 0.95), repeat=2)) if labels == 2 else [(p,) for p in RECALLS]


@pytest.mark.parametrize(("one", "other"), FEW, ids=str)
class TestFewRowsByEnumeration:
    def test_size_of_the_test_of_equal_recalls(self, one, other):
        x = outcomes((*one, *other))
        n = tiled((*one, *other), len(x))
        k = len(one)
        p = p_value(x[:, :k], n[:, :k], x[:, k:], n[:, k:], np.full((len(x), k), 1 / k))

        sizes = [likely(x, (*one, *other), at * 2)[p < 0.05].sum() for at in at_recalls(k)]

        # where hardly any row is wrong, no test of so few rows can reach 0.05
        assert max(sizes) <= 0.065
        assert np.mean(sizes) >= 0.03

    def test_coverage_of_the_limits_of_no_difference(self, one, other):
        x, y = outcomes(one), outcomes(other)
        theta, (low, high) = limits_of(x, tiled(one, len(x)))
        theta_other, (low_other, high_other) = limits_of(y, tiled(other, len(y)))
        first, second = (v.ravel() for v in np.indices((len(x), len(y))))
        limits = mover_difference(
            *(theta[first], (low[first], high[first]), theta_other[second]),
            (low_other[second], high_other[second]),
        )

        # a difference cannot be known better than its parts: Wilson's limits of 10 rows alone
        # cover .914 where recall is .95
        of_parts = min(
            likely(v, n, at)[holds(of_one, sum(at) / len(at))].sum()
            for v, n, of_one in ((x, one, (low, high)), (y, other, (low_other, high_other)))
            for at in at_recalls(len(one))
        )
        for at in at_recalls(len(one)):
            mass = np.outer(likely(x, one, at), likely(y, other, at)).ravel()
            assert mass[holds(limits, 0)].sum() >= min(0.93, of_parts)


@pytest.mark.parametrize(("one", "other"), MANY, ids=str)
def test_size_and_coverage_with_more_rows(one, other):
    rng, rows = np.random.default_rng(1), 8_000
    n, m = tiled(one, rows), tiled(other, rows)

    for at in ((0.6, 0.6), (0.9, 0.7), (0.8, 0.95)):
        x, y = (rng.binomial(supports, at, (rows, 2)).astype(float) for supports in (one, other))
        size = (p_value(x, n, y, m, np.full_like(x, 0.5)) < 0.05).mean()
        assert 0.035 <= size <= 0.06
        limits = mover_difference(*limits_of(x, n), *limits_of(y, m))
        assert holds(limits, 0).mean() >= 0.93


def test_size_with_five_labels():
    rng, rows = np.random.default_rng(2), 2_500
    n, m, a = tiled([10] * 5, rows), tiled([100] * 5, rows), np.full((rows, 5), 0.2)

    x, y = (rng.binomial(size, RECALLS, (rows, 5)).astype(float) for size in (10, 100))

    # three standard errors of 0.0044 around 0.05
    assert 0.0365 <= (p_value(x, n, y, m, a) < 0.05).mean() <= 0.0635


# shares of the rows that only one and only the other of two models gets right
DISCORDANT = [(0.02, 0.02), (0.1, 0.1), (0.2, 0.2), (0.02, 0.1), (0.05, 0.2), (0.1, 0.3), (0, 0.2)]


@pytest.mark.parametrize("shares", DISCORDANT)
@pytest.mark.parametrize("supports", [(10,), (30,), (100,), (10, 10)], ids=str)
def test_coverage_of_paired_limits_by_enumeration(supports, shares):
    of_labels = []
    for n in supports:
        x = outcomes((n, n))
        x = x[x.sum(axis=1) <= n]
        counts = np.column_stack([x, n - x.sum(axis=1)])
        of_labels.append((x, stats.multinomial.pmf(counts, n, [*shares, 1 - sum(shares)])))
    at = np.indices([len(x) for x, _ in of_labels]).reshape(len(supports), -1)
    pairs = list(zip(of_labels, at, strict=True))
    x = np.stack([x[i] for (x, _), i in pairs], axis=1)
    mass = np.prod([mass[i] for (_, mass), i in pairs], axis=0)
    a = np.full(x.shape[:2], 1 / len(supports))

    limits = paired_limits(x[:, :, 0], x[:, :, 1], tiled(supports, len(x)), a, 0.95)

    assert mass.sum() == pytest.approx(1)
    assert mass[holds(limits, shares[0] - shares[1])].sum() >= 0.93


PAIRED = [(30, 30), (100, 100), (10, 100), (10,) * 5, (30,) * 5, (10, 10, 100, 100, 100)]


@pytest.mark.parametrize("supports", PAIRED, ids=str)
@pytest.mark.parametrize("differing", ["one", "all"])
def test_coverage_of_paired_limits_by_simulation(supports, differing):
    rng, rows, k = np.random.default_rng(3), 20_000, len(supports)
    n, a = tiled(supports, rows), np.full((rows, k), 1 / k)

    for one, other in DISCORDANT:
        x = np.zeros((rows, k, 3))
        n_differing = k if differing == "all" else 1
        for label in range(n_differing):
            x[:, label] = rng.multinomial(supports[label], [one, other, 1 - one - other], rows)
        limits = paired_limits(x[:, :, 0], x[:, :, 1], n, a, 0.95)
        # 0.93, less two standard errors
        assert holds(limits, (one - other) * n_differing / k).mean() >= 0.93 - 0.0036


@pytest.mark.parametrize("segments", [6, 20, 100])
def test_coverage_of_the_extremes_of_equal_segments(segments):
    rng, x = np.random.default_rng(4), np.arange(101.0)[:, None]
    level = Request(None, 0.95).together(segments).level
    low, high = score(x, np.full_like(x, 100), np.ones_like(x), level)
    _, (low_alone, high_alone) = limits_of(x, np.full_like(x, 100))

    for recall in RECALLS:
        right = rng.binomial(100, recall, (1_000, segments))
        limits = np.transpose([extreme_difference(low[of], high[of]) for of in right])
        assert holds(limits, 0).mean() >= 0.95
        # the ordinary limits of the extreme two would miss 0 in a fifth of the cases and more
        best, worst = right.max(axis=1), right.min(axis=1)
        naive = mover_difference(
            *(best / 100, (low_alone[best], high_alone[best])),
            *(worst / 100, (low_alone[worst], high_alone[worst])),
        )
        assert holds(naive, 0).mean() <= 0.8


SEGMENTS = {
    "6 of 10": [(10,)] * 6,
    "6 of 10, 10": [(10, 10)] * 6,
    "10 to 1000": [(10,), (10,), (20,), (50,), (200,), (1000,)],
}


@pytest.mark.parametrize("segments", SEGMENTS.values(), ids=SEGMENTS)
def test_size_of_the_test_that_all_are_alike(segments):
    rng, n = np.random.default_rng(5), np.array(segments, float)
    a = np.full_like(n, 1 / n.shape[1])
    sizes = []
    for recall in (0.6, 0.8, 0.95):
        draws = rng.binomial(n.astype(int), recall, (8_000, *n.shape)).astype(float)
        sizes.append(np.mean([homogeneity(x, n, a)[1] < 0.05 for x in draws]))

    # few rows of which hardly any is wrong have too few outcomes for 0.05
    assert np.mean(sizes) >= 0.035
    assert max(sizes) <= 0.065 + 0.005
