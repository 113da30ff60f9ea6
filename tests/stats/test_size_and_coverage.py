"""Do tests err as often as they say, and do limits hold the truth? By enumeration or simulation.

A simulated share near 0.05 of R draws has a standard error of 0.22 / sqrt(R): 0.014 for 250. Bounds
on simulated shares allow two of these.
"""

import math
from itertools import product

import numpy as np
import pytest
from scipy import stats

from balframe.stats.base import IntervalRequest
from balframe.stats.candidate_pairs import range_critical_value
from balframe.stats.differences import scas_difference
from balframe.stats.homogeneity_tests import score_homogeneity_test
from balframe.stats.mean_recall import gate_limits, scas_limits, score_limits
from balframe.stats.pairwise_extremes import IndependentScores
from balframe.stats.proportions import clopper_pearson
from tests.support.cases import cases

pytestmark = pytest.mark.simulation

SAME = 1e-12
RECALLS = (0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 0.98, 0.99, 0.995, 0.999)


def tile(values, rows):
    return np.tile(np.array(values, float), (rows, 1))


def outcomes(supports):
    axes = np.meshgrid(*(np.arange(n + 1.0) for n in supports), indexing="ij")
    return np.stack(axes, axis=-1).reshape(-1, len(supports))


def likely(x, supports, recalls):
    return stats.binom.pmf(x, supports, recalls).prod(axis=1)


def covers(limits, truth):
    return (limits[0] <= truth + SAME) & (truth - SAME <= limits[1])


def compare(one, other):
    """Enumerate the outcomes of two segments, and compare them: limits and p-values."""
    x, k = outcomes((*one, *other)), len(one)
    n = tile((*one, *other), len(x))
    a = np.full((len(x), k), 1 / k)
    return x, scas_difference(x[:, :k], n[:, :k], x[:, k:], n[:, k:], a, 0.95)


# how much more often than stated a test may err: few rows have few outcomes
MOST = {0.05: 1.25, 0.05 / 6: 1.05, 0.05 / 60: 1.02, 0.05 / 500: 0.95}
PROPORTIONS = [(5, 5), (20, 20), (3, 30), (1, 200), (30, 300), (10, 1000), (100, 100)]
PAIRS = [((5, 5), (5, 5)), ((3, 10), (10, 10)), ((2, 2), (20, 20))]


@cases(("n", "m"), PROPORTIONS)
def test_size_and_coverage_of_differences_of_proportions_are_near_nominal(n, m):
    x, (*limits, p) = compare((n,), (m,))

    for alpha, most in MOST.items():
        sizes = [likely(x, (n, m), (at, at))[p < alpha].sum() for at in RECALLS]
        assert max(sizes) <= most * alpha
    covered = [
        likely(x, (n, m), at)[covers(limits, at[0] - at[1])].sum()
        for at in product(RECALLS, repeat=2)
    ]
    assert min(covered) >= 0.93
    assert np.mean(covered) >= 0.95


@pytest.mark.parametrize(("one", "other"), PAIRS, ids=str)
def test_size_and_coverage_of_differences_of_mean_recalls_are_near_nominal(one, other):
    x, (*limits, p) = compare(one, other)
    supports = (*one, *other)

    equal_scores = [(*at, *at) for at in product((0.6, 0.8, 0.95, 0.99), repeat=2)]
    equal_scores += [(*at, *at[::-1]) for at in product((0.7, 0.9), (0.6, 0.95))]
    for alpha, most in MOST.items():
        assert max(likely(x, supports, at)[p < alpha].sum() for at in equal_scores) <= most * alpha
    covered = [
        likely(x, supports, at)[covers(limits, (at[0] + at[1] - at[2] - at[3]) / 2)].sum()
        for at in product((0.6, 0.8, 0.95), repeat=4)
    ]
    assert min(covered) >= 0.94
    assert np.mean(covered) >= 0.95


@pytest.mark.parametrize(
    ("supports", "recalls"), [((30, 300), (0.6, 0.95)), ((50, 50), (0.8, 0.99)), ((20,) * 5, 0.9)]
)
def test_size_of_the_difference_test_of_many_labels_is_near_nominal(supports, recalls):
    rng, rows = np.random.default_rng(1), 8_000
    n = tile(supports, rows)
    recalls = np.broadcast_to(recalls, len(supports))
    a = np.full_like(n, 1 / len(supports))

    # the second segment has the same recalls, of the other labels
    x = rng.binomial(n.astype(int), recalls).astype(float)
    y = rng.binomial(n[:, ::-1].astype(int), recalls[::-1]).astype(float)
    *limits, p = scas_difference(x, n, y, n[:, ::-1], a, 0.95)

    assert (p < 0.05).mean() <= 0.05 + 2 * 0.0024
    assert covers(limits, 0).mean() == pytest.approx((p >= 0.05).mean(), abs=1e-3)


@cases("supports", [(5, 5), (10, 200), (50, 50)])
@cases(
    ("method", "least", "most_missed"), [(score_limits, 0.85, 0.145), (scas_limits, 0.92, 0.055)]
)
def test_coverage_of_limits_of_a_mean_of_recalls(supports, method, least, most_missed):
    x = outcomes(supports)
    low, high = method(x, tile(supports, len(x)), np.full_like(x, 0.5), 0.95)
    covered, below, above = [], [], []
    for at in product((*np.linspace(0.5, 0.98, 13), 0.99, 0.999), repeat=2):
        mass, truth = likely(x, supports, at), sum(at) / 2
        below.append(mass[low > truth + SAME].sum())
        above.append(mass[high < truth - SAME].sum())
        covered.append(1 - below[-1] - above[-1])

    assert np.mean(covered) >= 0.95
    assert min(covered) >= least
    # the score test misses above where recalls are near 1, and the correction mends that
    assert max(below) <= 0.055
    assert max(above) <= most_missed


DESIGNS = [(10, 10), (5, 50), (3, 100), (50, 50), (4, 4), (2, 30), (5, 5), (20, 200), (3, 3, 3)]


@cases("supports", DESIGNS)
def test_error_rate_of_gate_limits_is_at_most_nominal_on_each_side(supports):
    x = outcomes(supports)
    n, a = tile(supports, len(x)), np.full_like(x, 1 / len(supports))
    truths = [
        (np.mean(at), likely(x, supports, at))
        for at in product((0.5, 0.7, 0.8, 0.9, 0.95, 0.98, 0.99, 0.999), repeat=len(supports))
    ]

    for segments in (1, 6, 60, 500):
        low, high = gate_limits(x, n, a, IntervalRequest(None, 0.95).bonferroni(segments).level)
        for is_missed in (lambda t: low > t + SAME, lambda t: high < t - SAME):  # noqa: B023
            most = max(mass[is_missed(truth)].sum() for truth, mass in truths)
            assert 1 - (1 - most) ** segments <= 0.055


@cases("segments", [1, 60])
@cases("n", [1, 8, 100])
def test_error_rate_of_clopper_pearson_limits_never_exceeds_nominal(n, segments):
    x = np.arange(n + 1.0)
    low, high = clopper_pearson(
        x, np.full(n + 1, n), IntervalRequest(None, 0.95).bonferroni(segments).level
    )

    for at in RECALLS:
        mass = stats.binom.pmf(x, n, at)
        for missed in (low > at, high < at):
            assert 1 - (1 - mass[missed].sum()) ** segments <= 0.025 + SAME


@cases("segments", [2, 6, 20])
@cases("supports", [(100,), (10, 10), (5,)])
def test_extremes_of_equal_segments_are_rarely_significant(supports, segments):
    rng, families = np.random.default_rng(4), 1_000
    n = tile(supports, families * segments)
    first, second = np.triu_indices(segments, 1)
    of_family = segments * np.arange(families)[:, None]
    pairs = (of_family + first).ravel(), (of_family + second).ravel()

    for recall in (0.6, 0.9, 0.99):
        x = rng.binomial(n.astype(int), recall).astype(float)
        z = IndependentScores(x, n, np.full_like(n, 1 / len(supports))).statistics(pairs)
        largest = np.abs(z).reshape(families, -1).max(axis=1)
        share = np.mean(largest > range_critical_value(0.95, segments))
        assert share <= 0.06 + 3 * math.sqrt(0.06 * 0.94 / families)


FAMILIES = {
    "6 of (10, 10)": ([(10, 10)] * 6, [(0.8, 0.8)] * 6, 250),
    "60 of (10, 10)": ([(10, 10)] * 60, [(0.8, 0.8)] * 60, 120),
    "60 of (20, 20), swapped": ([(20, 20)] * 60, [(0.97, 0.73), (0.73, 0.97)] * 30, 120),
    "6 of (30, 300), swapped": ([(30, 300)] * 6, [(0.95, 0.65), (0.65, 0.95)] * 3, 120),
    "6 of ten labels": ([(10,) * 10] * 6, [(0.9,) * 10] * 6, 80),
    "1 to 50 rows": ([(n,) for n in range(1, 51)], [(0.99,)] * 50, 250),
    "few beside many": ([(3,), (5,), (10_000,)], [(0.999,)] * 3, 250),
    "30 of 1 beside 3 of 5,000": ([(1,)] * 30 + [(5_000,)] * 3, [(0.995,)] * 33, 400),
    "10 of 2 beside 10 of 2,000": ([(2,), (2_000,)] * 10, [(0.995,)] * 20, 400),
}


@pytest.mark.parametrize(("supports", "recalls", "families"), FAMILIES.values(), ids=FAMILIES)
def test_size_of_the_homogeneity_test_is_near_nominal(supports, recalls, families):
    rng, n = np.random.default_rng(5), np.array(supports, float)
    a = np.full_like(n, 1 / n.shape[1])
    draws = rng.binomial(n.astype(int), recalls, (families, *n.shape)).astype(float)

    p = np.array([score_homogeneity_test(x, n, a)[1] for x in draws])

    for alpha in (0.05, 0.01):
        error = (alpha * (1 - alpha) / families) ** 0.5
        assert (p < alpha).mean() <= (1.25 if alpha == 0.05 else 2.3) * alpha + 2 * error


def test_mean_statistic_of_a_thousand_segments_equals_chi_square():
    rng, n = np.random.default_rng(6), tile((10, 10), 1000)
    draws = rng.binomial(10, 0.8, (60, *n.shape)).astype(float)

    result = [score_homogeneity_test(x, n, np.full_like(n, 0.5))[0] for x in draws]

    # the mean of Q over its degrees of freedom, with a standard error of .006
    assert np.mean(result) / 999 == pytest.approx(1, abs=0.015)


def test_homogeneity_test_has_power_for_a_single_different_segment():
    rng, n = np.random.default_rng(7), tile((30, 30), 6)
    recalls = [(0.9, 0.7), (0.7, 0.9), (0.8, 0.8)] * 2
    recalls[0] = (0.5, 0.5)
    draws = rng.binomial(30, recalls, (60, *n.shape)).astype(float)

    p = [score_homogeneity_test(x, n, np.full_like(n, 0.5))[1] for x in draws]

    assert np.mean(np.array(p) < 0.05) >= 0.9
