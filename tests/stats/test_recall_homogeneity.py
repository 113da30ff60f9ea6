import math

import numpy as np
import pytest
from scipy import optimize, special, stats

from balframe.stats.homogeneity_tests import recall_homogeneity_test
from tests.support.cases import cases
from tests.support.frames.recall_tables import TABLES, evenly, table


@cases(("x", "n"), TABLES)
@cases("weight", [1, 0.25])
def test_p_value_of_one_label_equals_the_chi_square_test(x, n, weight):
    expected = stats.chi2_contingency([x, np.subtract(n, x)], correction=False).pvalue
    x, n = table(*zip(x)), table(*zip(n))

    assert recall_homogeneity_test(x, n, np.full_like(x, weight)) == pytest.approx(
        expected, rel=1e-10
    )


ERRORS = table([2, 2], [1, 1], [11, 15], [17, 12])
ROWS = table([10, 30], [20, 15], [400, 500], [600, 300])
WEIGHTS = table([0.5, 0.5], [0.25, 0.75], [0.5, 0.5], [0.4, 0.6])


@pytest.mark.parametrize(("many", "errors"), [(10**5, 10), (10**6, 100)])
def test_few_correct_rows_beside_rare_errors_are_not_significant(many, errors):
    n = table([10], [10], [many])

    # fewer than .02 errors were expected in the small ones
    assert recall_homogeneity_test(n - table([0], [0], [errors]), n, np.ones_like(n)) > 0.9


def test_p_value_of_a_single_segment_is_nan():
    assert math.isnan(recall_homogeneity_test(table([8, 30]), table([10, 40]), table([0.5, 0.5])))


class TestEqualRecalls:
    def test_p_value_of_three_segments_equals_its_formula(self):
        x = table([8, 30], [12, 20], [18, 50])
        n = table([10, 40], [20, 40], [30, 60])
        a = table([0.5, 0.5], [0.25, 0.75], [0.5, 0.5])
        pooled = 38 / 60, 100 / 140
        spread = [p * (1 - p) for p in pooled]
        theta = [(0.8 + 0.75) / 2, 0.25 * 0.6 + 0.75 * 0.5, (0.6 + 5 / 6) / 2]
        w = [
            1 / (0.25 * spread[0] / 10 + 0.25 * spread[1] / 40),
            1 / (0.0625 * spread[0] / 20 + 0.5625 * spread[1] / 40),
            1 / (0.25 * spread[0] / 30 + 0.25 * spread[1] / 60),
        ]
        mean = sum(v * t for v, t in zip(w, theta, strict=True)) / sum(w)
        q = sum(v * (t - mean) ** 2 for v, t in zip(w, theta, strict=True))

        # a chi-square of two degrees of freedom is exponential
        assert recall_homogeneity_test(x, n, a) == pytest.approx(math.exp(-q / 2), rel=1e-12)

    def test_a_label_with_all_rows_correct_does_not_change_the_p_value(self):
        x, n = table([7, 12], [15, 11], [40, 20]), table([10, 12], [20, 11], [50, 20])
        half = evenly(n)

        result = recall_homogeneity_test(x, n, half)

        alone = recall_homogeneity_test(x[:, :1], n[:, :1], half[:, :1])
        assert result == pytest.approx(alone, rel=1e-12)

    def test_the_order_of_segments_and_labels_does_not_matter(self):
        x, n = table([8, 30], [12, 20], [18, 50]), table([10, 40], [20, 40], [30, 60])

        expected = recall_homogeneity_test(x, n, evenly(n))

        assert 0.01 < expected < 0.5
        result = recall_homogeneity_test(x[::-1, ::-1], n[::-1, ::-1], evenly(n))
        assert result == pytest.approx(expected, rel=1e-12)

    @pytest.mark.parametrize(("least", "holds"), [(9, False), (9.9, False), (10, True)])
    def test_supports_under_10_have_no_p_value(self, least, holds):
        x, n = table([5, 40], [30, 20]), table([least, 50], [40, 30])

        assert math.isnan(recall_homogeneity_test(x, n, evenly(n))) is not holds

    @pytest.mark.parametrize("share", [0, 1])
    def test_p_value_is_1_if_all_rows_are_correct_or_all_wrong(self, share):
        n = table([10, 40], [20, 40], [37, 11])

        assert recall_homogeneity_test(share * n, n, evenly(n)) == 1

    @pytest.mark.parametrize("x", [(8, 17, 190), (1, 1, 7)])
    def test_variance_of_q_over_all_tables_equals_scaled_chi_square(self, x):
        n = (10, 20, 200)
        pooled = sum(x) / sum(n)
        ranges = [np.arange(size + 1) for size in n]
        # without the first and the last, which have no variance
        tables = np.stack(np.meshgrid(*ranges, indexing="ij"), -1).reshape(-1, len(n))[1:-1]
        probability = stats.binom.pmf(tables, n, pooled).prod(axis=1)
        x, n = table(*zip(x)), table(*zip(n))
        q = recall_statistic(tables[..., None], n, 1)
        expected = probability @ q**2 - (probability @ q) ** 2

        p = recall_homogeneity_test(x, n, np.ones_like(n))

        (observed,) = recall_statistic(x[None], n, 1)
        # terms beyond the first in 1 / n are left out: .6% and 1.3% here
        assert variance_of_p_value(p, observed, 2) == pytest.approx(expected, rel=0.015)

    @pytest.mark.simulation
    @pytest.mark.parametrize("labels", [1, 2])
    def test_variance_of_q_with_rare_errors_equals_scaled_chi_square(self, labels):
        x, n = ERRORS[:, :labels], ROWS[:, :labels]
        a = np.ones((4, 1)) if labels == 1 else WEIGHTS
        (q,) = recall_statistic(x[None], n, a)

        p = recall_homogeneity_test(x, n, a)

        variance = variance_of_p_value(p, q, 3)
        assert variance > 1.3 * 6
        draws = np.random.default_rng(0).binomial(
            n.astype(int), x.sum(axis=0) / n.sum(axis=0), size=(400_000, *n.shape)
        )
        # the standard error of this variance is .6% of it
        expected = recall_statistic(draws, n, a).var()
        assert variance == pytest.approx(expected, rel=0.018)


def variance_of_p_value(p, q, df):
    """Find the variance of the scaled chi-square distribution of mean df with this p-value of Q."""
    return optimize.brentq(
        lambda variance: special.chdtrc(2 * df**2 / variance, 2 * df * q / variance) - p,
        2.002 * df,
        18 * df,
    )


def recall_statistic(x, n, a):
    """Compute Q with pooled recalls, where these vary."""
    pooled = x.sum(axis=1) / n.sum(axis=0)
    varies = ((pooled > 0) & (pooled < 1)).all(axis=1)
    spread = (pooled * (1 - pooled))[varies, None]
    w = 1 / (a * a * spread / n).sum(axis=2)
    theta = (a * x[varies] / n).sum(axis=2)
    mean = (w * theta).sum(axis=1, keepdims=True) / w.sum(axis=1, keepdims=True)
    return (w * (theta - mean) ** 2).sum(axis=1)
