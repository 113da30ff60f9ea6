"""Limits of the geometric mean of recalls: reference values, where there are none, properties."""

from itertools import product

import numpy as np
import polars as pl
import pytest
from scipy import stats

import balframe as bf
from balframe.core.class_counts import ClassCounts
from balframe.core.sample import Sample
from balframe.metrics.lookup import find_metric
from balframe.stats.base import GATE, IntervalRequest
from balframe.stats.metric_intervals import geometric_mean_gate_limits, geometric_mean_limits
from tests.support.cases import cases
from tests.support.reference_values import reference

POINTWISE = reference("intervals")["geometric"]
DECIDING = reference("inference")["geometric_mean_gate"]


def row(*values):
    return np.array([values], dtype=float)


@cases("case", POINTWISE)
def test_pointwise_limits_equal_reference_values(case):
    support = np.array(case["support"])
    p = (np.array(case["correct"]) + 0.5) / (support + 1)
    is_biased = ((1 - p) / (support * p)).sum() > 1

    result = np.ravel(geometric_mean_limits(row(*case["correct"]), row(*support), 0.95))

    expected = [np.nan, np.nan] if is_biased else case["score"]
    assert result == pytest.approx(expected, abs=1e-6, nan_ok=True)


@cases("case", DECIDING)
def test_gate_limits_equal_reference_values(case):
    x, n = row(*case["correct"]), row(*case["support"])

    result = geometric_mean_gate_limits(x, n, 1 - (1 - case["level"]) / case["segments"])

    assert np.ravel(result) == pytest.approx([case["lower"], case["upper"]], abs=1e-8)
    pointwise = np.ravel(geometric_mean_limits(x, n, case["level"]))
    assert np.isnan(pointwise).tolist() == [case["criterion"] > 1] * 2


@cases(
    ("x", "n", "has_limits"),
    [
        # with (n - x + 1/2) / (n (x + 1/2)) summed over the labels
        ([1, 1], [1, 1], True),  # 2 * 0.5 / 1.5
        ([0, 10], [1, 10], False),  # 1.5 / 0.5 and more
        ([1, 1, 1], [1, 1, 1], True),  # 3 * 0.5 / 1.5 is 1
        ([1, 1, 1, 1], [1, 1, 1, 1], False),
        ([100] * 99 + [0], [100] * 100, False),  # 100.5 / 50
        ([1] * 100, [2] * 100, False),
        ([200] * 100, [400] * 100, True),  # 100 / 400
    ],
)
def test_many_labels_of_few_rows_have_no_limits(x, n, has_limits):
    low, high = geometric_mean_limits(row(*x), row(*n), 0.95)

    assert np.isfinite([low[0], high[0]]).tolist() == [has_limits] * 2


def drawn(n_segments=500, least=1):
    rng = np.random.default_rng(5)
    n = rng.integers(least, 400, (n_segments, 3)).astype(float)
    return np.floor(n * rng.uniform(0, 1.2, n.shape)).clip(max=n), n


@pytest.mark.parametrize("method", [geometric_mean_limits, geometric_mean_gate_limits])
class TestAnyLimits:
    def test_limits_contain_the_estimate_within_0_and_1(self, method):
        x, n = drawn()
        low, high = method(x, n, 0.95)
        known = np.isfinite(low)
        estimate = np.prod(x / n, axis=1)[known] ** (1 / 3)

        assert known.mean() > 0.9
        assert (low[known] >= 0).all()
        assert (high[known] <= 1).all()
        # the score method treats a recall of 1 as 1 - 1e-7
        assert (low[known] <= estimate + 1e-12).all()
        assert (high[known] >= estimate - 1e-7).all()

    def test_limits_widen_with_the_level(self, method):
        x, n = drawn(least=10)
        low, high = method(x, n, 0.8)
        lower, higher = method(x, n, 0.99)

        assert not (lower > low).any()
        assert not (higher < high).any()
        assert (np.isnan(low) == np.isnan(lower)).all()

    def test_limits_narrow_with_the_counts(self, method):
        x, n = drawn(least=10)
        low, high = method(x, n, 0.95)
        lower, higher = method(100 * x, 100 * n, 0.95)
        known = np.isfinite(low)

        assert ((higher - lower)[known] <= (high - low)[known]).all()

    def test_the_order_of_labels_does_not_matter(self, method):
        x, n = drawn()
        order = [2, 0, 1]

        result = np.asarray(method(x[:, order], n[:, order], 0.95))

        assert result == pytest.approx(np.asarray(method(x, n, 0.95)), abs=1e-12, nan_ok=True)

    def test_limits_of_extreme_counts_are_ordered_within_0_and_1(self, method):
        for supports in ((1, 1), (1, 10**9), (1, 1, 1), (10**9, 10**12)):
            x = np.array(list(product(*((0.0, 0.5, m) for m in supports))))
            n = np.tile(np.array(supports, float), (len(x), 1))
            (low, high), (lower, higher) = (method(x, n, level) for level in (0.9, 0.99))
            known = np.isfinite(low)

            assert known[-1]
            assert ((lower >= 0) & (lower <= low + 1e-12) & (low <= high))[known].all()
            assert ((high <= higher + 1e-12) & (higher <= 1))[known].all()

    def test_limits_of_no_segments_are_empty(self, method):
        low, high = method(np.ones((0, 3)), np.ones((0, 3)), 0.95)

        assert low.shape == high.shape == (0,)


def test_gate_limits_of_one_label_are_clopper_pearson_limits():
    x = np.arange(13.0)[:, None]

    low, high = geometric_mean_gate_limits(x, np.full_like(x, 12), 0.9)

    for right in range(13):
        exact = stats.binomtest(right, 12).proportion_ci(0.9, "exact")
        assert (low[right], high[right]) == pytest.approx((exact.low, exact.high), abs=1e-12)


@cases("recalls", [(0.5, 0.5), (0.9, 0.6), (0.99, 0.8)])
@cases("supports", [(3, 20), (10, 10), (30, 5)])
def test_gate_limits_have_at_least_nominal_coverage(supports, recalls):
    x = np.array(list(product(*(range(n + 1) for n in supports))), float)
    low, high = geometric_mean_gate_limits(x, np.tile(row(*supports), (len(x), 1)), 0.95)
    mass = stats.binom.pmf(x, supports, recalls).prod(axis=1)
    truth = np.sqrt(np.prod(recalls))

    assert mass[low > truth].sum() <= 0.025
    assert mass[high < truth].sum() <= 0.025


def case_limits(matrix, method, **options):
    sample = Sample(ClassCounts.from_matrix(matrix, **options), dict)
    kind = find_metric("geometric_mean").interval
    return np.ravel(kind.limits(sample, np.array([0.5]), IntervalRequest(method, 0.95)))


def test_interval_of_the_metric_uses_gate_limits_for_gates():
    matrix = [[4, 1, 0], [2, 8, 0], [1, 0, 14]]

    assert case_limits(matrix, GATE) == pytest.approx(
        np.ravel(geometric_mean_gate_limits(row(4, 8, 14), row(5, 10, 15), 0.95)), abs=1e-14
    )
    assert case_limits(matrix, None) == pytest.approx(
        np.ravel(geometric_mean_limits(row(4, 8, 14), row(5, 10, 15), 0.95)), abs=1e-14
    )


@pytest.mark.parametrize("method", [None, GATE])
def test_absent_zero_leaves_the_geometric_mean_without_limits(method):
    matrix = [[9, 1, 0], [2, 8, 0], [0, 0, 0]]

    assert np.isnan(case_limits(np.diag([9, 9, 0]) + matrix, method, absent="zero")).all()
    assert np.isfinite(case_limits(np.diag([9, 9, 0]) + matrix, method)).all()


def test_report_of_many_small_labels_has_the_estimate_and_null_limits():
    rng = np.random.default_rng(1)
    truth = np.repeat(np.arange(100), 5)
    predicted = np.where(np.arange(500) % 5 < 4, truth, rng.permutation(truth))
    frame = pl.DataFrame({"y": truth, "p": predicted})

    out = bf.report(frame, "y", "p", metrics="geometric_mean", interval=True)

    result = out.select("geometric_mean", "geometric_mean_lower", "geometric_mean_upper").row(0)
    assert result == (pytest.approx(0.8, abs=0.01), None, None)
