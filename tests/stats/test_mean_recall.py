from functools import partial
from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats
from statsmodels.stats import proportion

from balframe.stats.mean_recall import (
    gate_limits,
    mover_limits,
    scas_limits,
    scas_proportion_limits,
    score_limits,
)
from balframe.stats.proportions import clopper_pearson, jeffreys, wilson
from tests.support.cases import cases
from tests.support.reference_values import reference

REFERENCE = reference("intervals")


def row(*values):
    return np.array([values], dtype=float)


def case_limits(method, case):
    x, n, a = (row(*case[key]) for key in ("correct", "support", "weights"))
    return np.ravel(method(x, n, a, 0.95))


@cases("case", REFERENCE["linear"])
def test_mean_of_recalls_has_the_reference_limits(case):
    assert case_limits(score_limits, case) == pytest.approx(case["score_adj"], abs=1e-6)
    assert case_limits(mover_limits, case) == pytest.approx(case["mover_jeffreys"], abs=1e-6)
    newcombe_limits = case_limits(partial(mover_limits, limits=wilson), case)
    assert newcombe_limits == pytest.approx(case["mover_wilson"], abs=1e-6)


@cases("x", range(13))
@cases("level", [0.8, 0.95, 0.999])
def test_proportions_equal_scipy(x, level):
    test = stats.binomtest(x, 12)
    counts = np.array([float(x)]), np.array([12.0]), level

    for method, name in ((wilson, "wilson"), (clopper_pearson, "exact")):
        expected = test.proportion_ci(level, name)
        assert np.ravel(method(*counts)) == pytest.approx([expected.low, expected.high], abs=1e-12)
    low, high = stats.beta.interval(level, x + 0.5, 12 - x + 0.5)
    ends = [0.0 if x == 0 else low, 1.0 if x == 12 else high]
    assert np.ravel(jeffreys(*counts)) == pytest.approx(ends, abs=1e-12)


@cases("x", range(13))
@cases("level", [0.8, 0.95, 0.999])
def test_proportions_equal_statsmodels(x, level):
    counts = np.array([float(x)]), np.array([12.0]), level

    for method, name in ((wilson, "wilson"), (jeffreys, "jeffreys"), (clopper_pearson, "beta")):
        low, high = proportion.proportion_confint(x, 12, 1 - level, name)
        # where all or none are right, statsmodels leaves the tail of Jeffreys' limits outside
        expected = [0.0 if x == 0 else low, 1.0 if x == 12 else high]
        assert np.ravel(method(*counts)) == pytest.approx(expected, abs=1e-10)


@cases("table", [(40, 45, 2, 10), (3, 3, 0, 7), (9, 10, 199, 200), (5, 9, 4, 8)])
def test_mover_with_wilsons_limits_is_newcombes_interval(table):
    x1, n1, x2, n2 = table
    # J = p1 - (1 - p2), and the balanced accuracy is (1 + J) / 2
    low, high = proportion.confint_proportions_2indep(x1, n1, n2 - x2, n2, method="newcomb")

    result = mover_limits(row(x1, x2), row(n1, n2), row(0.5, 0.5), 0.95, wilson)

    assert np.ravel(result) == pytest.approx([(1 + low) / 2, (1 + high) / 2], abs=1e-10)


@cases(("method", "name"), [(score_limits, "wilson"), (gate_limits, "beta")])
@cases("level", [0.8, 0.95, 0.999])
def test_means_of_one_recall_equal_statsmodels(method, name, level):
    x, n = np.arange(13.0), np.full(13, 12.0)

    result = method(x[:, None], n[:, None], np.ones((13, 1)), level)

    low, high = proportion.proportion_confint(x, n, 1 - level, name)
    expected = np.where(x == 0, 0, low), np.where(x == 12, 1, high)
    assert np.array(result) == pytest.approx(np.array(expected), abs=1e-10)


def test_skewness_corrected_limits_of_a_proportion_equal_ratesci():
    # of P. J. Laud's package ratesci
    low, high = scas_proportion_limits(np.array([1.0]), np.array([29.0]), 0.95)

    assert (round(low[0], 5), round(high[0], 3)) == (0.00199, 0.155)


@cases("n", [1, 2, 7, 40, 1000])
def test_the_correction_for_skewness_has_a_closed_form_for_a_proportion(n):
    """P. J. Laud, appendix A.4: a quadratic equation in p once T = z + A (z^2 - 1) is squared."""
    x, z = np.arange(n + 1.0), 1.959963984540054
    # (x / n - p) / sqrt(pq / n) = z + (z^2 - 1) (1 - 2 p) / (6 sqrt(n pq)), so that
    # (x / n - p - lean (1 - 2 p))^2 = z^2 pq / n
    lean, p = (z * z - 1) / (6 * n), x / n
    a = (1 - 2 * lean) ** 2 + z * z / n
    b = (p - lean) * (1 - 2 * lean) + z * z / (2 * n)
    c = (p - lean) ** 2
    expected = (b - np.sqrt(np.maximum(b * b - a * c, 0))) / a

    low, high = scas_proportion_limits(x, np.full(n + 1, n), 0.95)

    reached = p > lean
    assert low[reached] == pytest.approx(expected[reached], abs=1e-12)
    assert high[::-1][reached] == pytest.approx(1 - expected[reached], abs=1e-12)


def test_gate_limits_of_few_rows_are_the_widest_of_three_methods():
    x, n, a = (np.tile(v, (3, 1)) for v in (row(0, 0, 0), row(4, 40, 40), row(1, 1, 1) / 3))
    x += [[4, 40, 40], [3, 30, 40], [0, 1, 0]]
    each = [
        method(x, n, a, 0.9995)
        for method in (score_limits, scas_limits, partial(mover_limits, limits=clopper_pearson))
    ]
    lower, upper = (np.array(limits) for limits in zip(*each, strict=True))

    low, high = gate_limits(x, n, a, 0.9995)

    assert low.tolist() == lower.min(axis=0).tolist()
    assert high.tolist() == upper.max(axis=0).tolist()
    # each method is the widest somewhere
    assert {*lower.argmin(axis=0), *upper.argmax(axis=0)} == {0, 1, 2}


@cases(("rows", "is_few"), [(4, True), (4.9, True), (5, False), (60, False)])
def test_gate_limits_use_limits_of_each_recall_below_five_rows(rows, is_few):
    n, a = row(rows, 60, 60, 60), row(1, 1, 1, 1) / 4
    low = min(method(n, n, a, 0.9995)[0] for method in (score_limits, scas_limits))
    recall_limits, _ = mover_limits(n, n, a, 0.9995, clopper_pearson)

    result, _ = gate_limits(n, n, a, 0.9995)

    assert recall_limits < low
    assert result == (recall_limits if is_few else low)


def test_lower_limit_of_all_correct_rows_is_below_1():
    """The constraint does not bind until l a > n: the limits are not 1 and 1."""
    for method in (score_limits, scas_limits, gate_limits):
        (low,), (high,) = method(row(5, 5), row(5, 5), row(0.5, 0.5), 0.95)

        assert 0.6 < low < 0.75
        assert high == 1


LEVELS = (0.5, 0.8, 0.95, 0.99, 0.9999, 1 - 1e-7)
ROWS = st.one_of(st.integers(1, 12), st.integers(13, 3000), st.just(10**9), st.floats(1, 9))
LABEL = ROWS.flatmap(
    lambda n: st.tuples(st.sampled_from([0, min(1, n), n / 3, n // 2, n - 1, n]), st.just(n))
)


@pytest.mark.parametrize("method", [score_limits, scas_limits, gate_limits])
@given(st.lists(LABEL, min_size=1, max_size=5))
def test_limits_contain_the_estimate_and_widen_with_the_level(method, labels):
    x, n = (row(*values) for values in zip(*labels, strict=True))
    a = np.full_like(x, 1 / len(labels))

    limits = np.array([method(x, n, a, level) for level in LEVELS])[:, :, 0]

    estimate = (x / n).mean()
    assert (limits[:, 0] >= 0).all()
    assert (limits[:, 0] <= estimate + 1e-12).all()
    assert (limits[:, 1] >= estimate - 1e-12).all()
    assert (limits[:, 1] <= 1).all()
    assert (np.diff(limits[:, 0]) <= 1e-12).all()
    assert (np.diff(limits[:, 1]) >= -1e-12).all()


EDGES = {
    "one row": ([1], [1]),
    "one row of each": ([1, 0], [1, 1]),
    "all right": ([7, 30], [7, 30]),
    "all wrong": ([0, 0], [7, 30]),
    "very many rows": ([10**9 - 1, 10**8], [10**9, 10**9]),
    "one row beside very many": ([1, 10**9 - 7], [1, 10**9]),
    "few effective rows": ([1.02, 0.3], [1.02, 1.1]),
    "one effective row": ([0.01], [1.0]),
    "a hundred labels of one row": ([1, 0, 1, 1] * 25, [1] * 100),
    "a hundred labels": ([2, 0, 30, 9] * 25, [3, 1, 30, 10] * 25),
}


@cases("method", [score_limits, scas_limits, gate_limits])
@cases("counts", EDGES.values())
def test_limits_of_extreme_counts_contain_the_estimate(counts, method):
    x, n = (row(*values) for values in counts)
    for light, level in product((0.5, 0.001, 0.999, 1e-12), (0.5, 0.95, 1 - 1e-9)):
        a = row(light, 1 - light) if x.size == 2 else np.full_like(x, 1 / x.size)
        estimate = (a * x / n).sum()

        (low,), (high,) = method(x, n, a, level)

        assert 0 <= low <= estimate + 1e-12
        assert estimate - 1e-12 <= high <= 1
        assert low < high


@pytest.mark.parametrize("method", [score_limits, scas_limits, gate_limits, mover_limits])
class TestAnyMeanOfRecalls:
    rng = np.random.default_rng(5)
    n = rng.integers(1, 400, (500, 3)).astype(float)
    x = np.floor(n * rng.uniform(0, 1.2, (500, 3))).clip(max=n)
    a = np.full((500, 3), 1 / 3)

    def test_limits_contain_the_estimate_within_0_and_1(self, method):
        low, high = method(self.x, self.n, self.a, 0.95)
        p = self.x / self.n
        estimate = p.mean(axis=1)

        assert (low >= 0).all()
        assert (high <= 1).all()
        assert (low <= estimate + 1e-12).all()
        assert (high >= estimate - 1e-12).all()

    def test_limits_widen_with_the_level(self, method):
        low, high = method(self.x, self.n, self.a, 0.8)
        lower, higher = method(self.x, self.n, self.a, 0.99)

        assert (lower <= low).all()
        assert (higher >= high).all()

    def test_swapping_correct_and_wrong_mirrors_the_limits(self, method):
        low, high = method(self.x, self.n, self.a, 0.95)

        wrong = method(self.n - self.x, self.n, self.a, 0.95)

        assert 1 - wrong[1] == pytest.approx(low, abs=1e-11)
        assert 1 - wrong[0] == pytest.approx(high, abs=1e-11)

    def test_limits_narrow_with_the_counts(self, method):
        low, high = method(self.x, self.n, self.a, 0.95)
        lower, higher = method(100 * self.x, 100 * self.n, self.a, 0.95)

        assert (higher - lower <= high - low).all()

    def test_the_order_of_labels_does_not_matter(self, method):
        order = [2, 0, 1]
        result = method(self.x[:, order], self.n[:, order], self.a, 0.95)

        assert np.asarray(result) == pytest.approx(
            np.asarray(method(self.x, self.n, self.a, 0.95)), abs=1e-12
        )
