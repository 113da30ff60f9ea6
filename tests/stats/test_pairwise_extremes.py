"""Limits of the largest difference and ratio of scores, and the range of normal variables."""

import numpy as np
import pytest
from scipy import stats

from balframe.stats import candidate_pairs, pairwise_extremes, pairwise_ratios
from balframe.stats.candidate_pairs import range_critical_value, range_p_value
from balframe.stats.differences import scas_difference
from balframe.stats.homogeneity_tests import score_homogeneity_test
from balframe.stats.pairwise_extremes import extremes_of_limits, extremes_of_recalls
from balframe.stats.proportions import clopper_pearson, normal_level
from tests.support.cases import cases
from tests.support.oracles.extremes import extreme_limits
from tests.support.reference_values import reference

CASES = reference("extremes")["cases"]


def expected_of(kind):
    return [(one["input"], one["expected"]) for one in CASES if one["kind"] == kind]


@cases(("given", "expected"), expected_of("range"))
def test_range_of_normal_variables_equals_reference_values(given, expected):
    z = given["q"] / np.sqrt(2)
    assert range_p_value(z, given["k"]) == pytest.approx(expected["sf"], rel=1e-12)
    critical = range_critical_value(0.95, given["k"])
    assert critical == pytest.approx(expected["critical_05"], rel=1e-12)


@cases("k", [2, 3, 10, 60])
@cases("level", [0.8, 0.95, 0.999])
def test_critical_values_equal_those_of_the_studentized_range(k, level):
    expected = stats.studentized_range.ppf(level, k, np.inf) / np.sqrt(2)
    assert range_critical_value(level, k) == pytest.approx(expected, rel=1e-6)
    of_two_families = stats.studentized_range.ppf(1 - (1 - level) / 2, k, np.inf) / np.sqrt(2)
    assert range_critical_value(level, k, 2) == pytest.approx(of_two_families, rel=1e-6)


@cases(("k", "critical"), [(3, 2.344), (10, 3.164), (100, 4.302), (1_000, 5.211), (100_000, 6.69)])
def test_critical_value_of_many_scores(k, critical):
    assert range_critical_value(0.95, k) == pytest.approx(critical, abs=5e-4)
    assert range_p_value(range_critical_value(0.95, k), k) == pytest.approx(0.05, rel=1e-9)


@cases("k", [2, 3, 30])
@cases("level", [1e-12, 1e-9, 0.999999999, 1 - 2.0**-53])
def test_critical_values_of_extreme_levels_have_their_p_value(k, level):
    for n_families in (1, 3):
        z = range_critical_value(level, k, n_families)
        assert range_p_value(z, k) == pytest.approx((1 - level) / n_families, rel=1e-6)


@cases("k", [2, 3, 1_000])
def test_range_p_value_of_extreme_statistics(k):
    assert range_p_value(0, k) == 1
    assert range_p_value(1e-9, k) == pytest.approx(1, abs=1e-8)
    assert 0 < range_p_value(20, k) < 1e-80
    assert range_p_value(1, 1) == 1


@cases(("given", "expected"), expected_of("equality"))
def test_equality_of_segments_with_few_rows_equals_reference_values(given, expected):
    x, n = (np.array(given[name], float)[:, None] for name in ("x", "n"))
    statistic, p_value = score_homogeneity_test(x, n, np.ones_like(n))
    assert statistic == pytest.approx(expected["statistic"], rel=1e-9)
    assert p_value == pytest.approx(expected["p_value_all"], rel=1e-9)
    assert p_value == pytest.approx(max(expected["p_unpooled"], expected["p_pooled"]), rel=1e-9)
    largest = extremes_of_recalls(x, n, np.ones_like(n), 0.95)
    assert largest.p_value == pytest.approx(expected["p_value"], rel=1e-9)


@cases(("given", "expected"), expected_of("extremes"))
def test_extremes_equal_reference_values(given, expected):
    x, n = (np.array(given[name], float) for name in ("x", "n"))
    found = extremes_of_recalls(x, n, np.full(x.shape, 1 / x.shape[1]), 1 - given["alpha"])

    limits = [*found.difference, *found.ratio]
    names = ["difference_lower", "difference_upper", "ratio_lower", "ratio_upper"]
    assert limits == pytest.approx([expected[name] for name in names], abs=1e-12)
    assert found.p_value == pytest.approx(expected["p_value"], rel=1e-9)


def draw_scores(rng, k, labels, largest=200, least=0.4):
    n = rng.integers(1, largest, (k, labels)).astype(float)
    x = np.floor(n * rng.uniform(least, 1.05, n.shape)).clip(max=n)
    a = rng.dirichlet(np.ones(labels)) if labels > 1 else np.ones(1)
    return x, n, np.tile(a, (k, 1))


@cases("labels", [1, 2, 5])
def test_extremes_of_two_scores_are_the_limits_of_their_difference(labels):
    rng = np.random.default_rng(labels)
    for _ in range(20):
        x, n, a = draw_scores(rng, 2, labels)
        found = extremes_of_recalls(x, n, a, 0.9)
        first, second = [
            scas_difference(x[[i]], n[[i]], x[[j]], n[[j]], a[:1], 0.9) for i, j in ((0, 1), (1, 0))
        ]
        lower = max(first[0][0], second[0][0], 0)
        assert found.difference == (lower, max(first[1][0], second[1][0]))
        assert found.p_value == pytest.approx(first[2][0], rel=1e-12)


@cases("labels", [1, 2, 4])
@cases("k", [2, 3, 7])
def test_p_value_is_below_alpha_exactly_where_limits_exclude_equality(labels, k):
    rng = np.random.default_rng(10 * k + labels)
    n_significant = 0
    for _ in range(8):
        x, n, a = draw_scores(rng, k, labels, least={2: 0.4, 3: 0.6, 7: 0.9}[k])
        for level in (0.8, 0.95):
            found = extremes_of_recalls(x, n, a, level)
            is_significant = found.p_value < 1 - level
            assert is_significant == (found.difference[0] > 0) == (found.ratio[1] < 1)
            n_significant += is_significant
    assert 0 < n_significant < 16


@cases("labels", [1, 3])
def test_extremes_equal_loops_over_all_pairs(labels):
    rng = np.random.default_rng(labels)
    for k in (3, 5):
        x, n, a = draw_scores(rng, k, labels, largest=60)
        found = extremes_of_recalls(x, n, a, 0.9)
        difference, ratio, p = extreme_limits(
            list(zip(x.tolist(), n.tolist(), strict=True)), a[0].tolist(), 0.9
        )
        assert found.difference == pytest.approx(difference, abs=1e-5)  # as SciPy's quantile is
        assert found.ratio == pytest.approx(ratio, abs=1e-5)
        assert found.p_value == pytest.approx(p, rel=1e-5)


@cases(("offset", "slope"), [(0, 1), (-0.5, 2), (1, 3)])
def test_ratio_of_transformed_scores_has_limits_around_it(offset, slope):
    x, n = np.array([[90.0], [70], [80]]), np.full((3, 1), 100.0)
    found = extremes_of_recalls(x, n, np.ones((3, 1)), 0.95, offset=offset)
    values = slope * (x / n + offset)

    assert found.ratio[0] < values.min() / values.max() < found.ratio[1] < 1
    few, many = (extremes_of_recalls(size * x, size * n, np.ones((3, 1)), 0.95, offset=offset).ratio
                 for size in (1, 10_000))  # fmt: skip
    assert few[0] < many[0] == pytest.approx(values.min() / values.max(), abs=0.01)


def test_of_many_scores_the_best_pairs_give_the_limits_of_all_pairs(monkeypatch):
    rng = np.random.default_rng(4)
    n = np.round(10 ** rng.uniform(0, 4, (80, 2)))
    x = rng.binomial(n.astype(int), rng.uniform(0.8, 0.99, (80, 1))).astype(float)
    a = np.full(n.shape, 0.5)

    found = extremes_of_recalls(x, n, a, 0.95)
    monkeypatch.setattr(candidate_pairs, "MAX_PAIRS", 10**9)
    expected = extremes_of_recalls(x, n, a, 0.95)

    assert found.difference == pytest.approx(expected.difference, abs=1e-12)
    assert found.ratio == pytest.approx(expected.ratio, abs=1e-4)
    assert found.p_value == pytest.approx(expected.p_value, rel=1e-9)


@cases("labels", [1, 2])
def test_of_very_many_scores_neither_copies_nor_others_change_the_extremes(labels, monkeypatch):
    rng = np.random.default_rng(labels)
    n = np.round(10 ** rng.uniform(0.5, 4, (4_500, labels)))
    x = rng.binomial(n.astype(int), rng.uniform(0.4, 0.8, (4_500, 1))).astype(float)
    x[:20], n[:20] = x[20:40], n[20:40]
    a = np.full(n.shape, 1 / labels)
    for kind in ("one stands out", "no one does"):
        found = extremes_of_recalls(x, n, a, 0.95)
        with monkeypatch.context() as patch:
            patch.setattr(pairwise_extremes, "_MANY", 10**9)
            expected = extremes_of_recalls(x, n, a, 0.95)

        assert found.difference == pytest.approx(expected.difference, abs=1e-12), kind
        assert found.ratio == pytest.approx(expected.ratio, abs=1e-9), kind
        assert found.p_value == pytest.approx(expected.p_value, rel=1e-9), kind
        x = rng.binomial(n.astype(int), 0.6).astype(float)


@cases("labels", [1, 2, 5])
@cases("offset", [0.0, -0.3])
def test_limits_of_ratios_equal_those_of_nested_searches(labels, offset, monkeypatch):
    rng = np.random.default_rng(labels)
    for k, largest in ((3, 8), (3, 60), (6, 1_000), (15, 300)):
        x, n, a = draw_scores(rng, k, labels, largest=largest, least=0.7)
        upper = upper_rows_of(x, n, rng) if k == 6 else None
        found = extremes_of_recalls(x, n, a, 0.9, offset=offset, upper_rows=upper)
        with monkeypatch.context() as patch:
            patch.setattr(pairwise_ratios, "_MAX_STEPS", 0)
            patch.setattr(pairwise_ratios, "are_proportions", lambda *_: False)
            expected = extremes_of_recalls(x, n, a, 0.9, offset=offset, upper_rows=upper)

        assert found.ratio == pytest.approx(expected.ratio, abs=1e-10)


@cases("k", [2, 4, 50])
def test_extremes_of_limits_agree_with_their_p_value(k):
    rng = np.random.default_rng(k)
    for _ in range(20):
        n = rng.integers(5, 300, k).astype(float)
        x = rng.binomial(n.astype(int), 0.8 + 0.15 * (rng.random(k) < 0.3)).astype(float)

        def limits_at(z, x=x, n=n):
            return clopper_pearson(x, n, normal_level(z))

        for level in (0.8, 0.95):
            (lower, upper), p = extremes_of_limits(x / n, limits_at, level)
            assert (p < 1 - level) == (lower > 0)
            assert lower <= np.ptp(x / n) <= upper


def upper_rows_of(x, n, rng):
    """Draw rows for upper limits: of the same shares, fewer or more."""
    factor = rng.uniform(0.5, 2, n.shape)
    return x * factor, n * factor


@cases("labels", [1, 3])
@cases("k", [2, 5, 40])
def test_limits_of_weighted_rows_take_the_rows_of_each_side(k, labels):
    rng = np.random.default_rng(k + labels)
    x, n, a = draw_scores(rng, k, labels)
    upper = upper_rows_of(x, n, rng)
    z = range_critical_value(0.95, k)

    found = extremes_of_recalls(x, n, a, 0.95, upper_rows=upper)

    i, j = (index.ravel() for index in np.meshgrid(*[np.arange(k)] * 2))
    i, j = i[i != j], j[i != j]
    sides = ((x[i], n[i], upper[0][j], upper[1][j]), (upper[0][i], upper[1][i], x[j], n[j]))
    low, high, p = scas_difference(*sides[0], a[i], normal_level(z), sides[1])
    assert found.difference == pytest.approx((max(low.max(), 0), high.max()), abs=1e-10)
    statistic = -stats.norm.ppf(p.min() / 2)
    assert found.p_value == pytest.approx(range_p_value(statistic, k), rel=1e-7)
    assert (found.p_value < 0.05) == (found.difference[0] > 0) == (found.ratio[1] < 1)
    assert found.ratio[0] <= found.ratio[1]


def test_upper_rows_that_are_the_same_change_nothing():
    x, n, a = draw_scores(np.random.default_rng(8), 6, 2)
    assert extremes_of_recalls(x, n, a, 0.9, upper_rows=(x, n)) == extremes_of_recalls(x, n, a, 0.9)


@pytest.mark.parametrize("k", [5, 60])
def test_p_value_is_that_of_the_highest_level_at_which_all_have_limits(k):
    x, n = np.r_[np.full(k - 1, 10.0), 90.0], np.full(k, 100.0)

    def limits_at(z):
        lower, upper = clopper_pearson(x, n, normal_level(z))
        return np.where(z > 6, np.nan, lower), np.where(z > 6, np.nan, upper)

    (lower, upper), p = extremes_of_limits(x / n, limits_at, 0.95)

    assert 0 < lower < 0.8 < upper
    assert p == pytest.approx(range_p_value(6, k), rel=1e-6)
