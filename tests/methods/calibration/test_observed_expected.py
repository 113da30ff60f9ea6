"""Limits of O/E: beside those of the intercept, of a proportion, and where undefined."""

import numpy as np
import pytest
from scipy import special, stats

from balframe.methods.calibration.calibration import recalibrate
from balframe.stats.constrained_mle import skewness_corrected_statistic
from balframe.stats.mean_recall import invert_score_test
from tests.support.cases import cases
from tests.support.oracles.calibration import one, several


def oe_ratio_limits(p, level):
    r = recalibrate(p, level)
    return r.oe_ratio_lower, r.oe_ratio_upper


def drawn(seed=2, n_segments=50):
    rng = np.random.default_rng(seed)
    return [
        [(s, rng.random() < s) for s in rng.beta(2, 5, rng.integers(5, 60)).round(3)]
        for _ in range(n_segments)
    ]


@pytest.mark.parametrize("level", [0.5, 0.95, 0.9999])
def test_limits_are_the_expected_rows_at_the_limits_of_the_intercept(level):
    segments = drawn()

    r = recalibrate(several(*segments), level)

    for g, rows in enumerate(segments):
        score = np.array([s for s, _ in rows])
        if not 0 < sum(y for _, y in rows) < len(rows):
            continue
        for a, limit in (
            (r.intercept_lower[g], r.oe_ratio_lower[g]),
            (r.intercept_upper[g], r.oe_ratio_upper[g]),
        ):
            if np.isnan(a):
                assert limit in (0, pytest.approx(len(rows) / score.sum()))
                continue
            expected = special.expit(special.logit(score) + a).sum() / score.sum()
            assert limit == pytest.approx(expected, rel=1e-9)


@cases("score", [0.03, 0.5, 0.97, 1.0])
@cases("positive", [0, 1, 13, 19, 20])
def test_equal_scores_have_the_limits_of_a_proportion(score, positive):
    rows = [(score, i < positive) for i in range(20)]

    limits = oe_ratio_limits(one(*rows), 0.95)

    recalls = (np.array([[float(positive)]]), np.array([[20.0]]), np.array([[1.0]]))
    z = stats.norm.ppf(0.975)
    expected = invert_score_test(*recalls, z, skewness_corrected_statistic)
    assert [limit[0] * score for limit in limits] == pytest.approx(
        [limit[0] for limit in expected], rel=1e-9, abs=1e-12
    )


def test_the_lower_limit_is_0_without_positive_rows():
    r = recalibrate(one((0.2, 0), (0.4, 0)), 0.95)

    assert r.oe_ratio_lower[0] == 0
    score = special.expit(special.logit([0.2, 0.4]) + r.intercept_upper[0])
    assert r.oe_ratio_upper[0] == pytest.approx(score.sum() / 0.6, rel=1e-9)


def test_limits_are_nan_only_if_no_positive_rows_are_expected():
    lower, upper = oe_ratio_limits(several([(0.0, 0)], [], [(0.5, 1)]), 0.95)

    assert np.isnan([lower, upper]).tolist() == [[True, True, False]] * 2


def test_the_upper_limit_of_only_positive_rows_is_rows_over_expected():
    rows = [(0.5, 1), (0.9, 1), (0.95, 1)]

    lower, upper = oe_ratio_limits(one(*rows), 0.95)

    assert 0 < lower[0] < 3 / 2.35 == upper[0]


def test_limits_are_never_nan_or_outside_what_is_possible():
    """Ratios far above 1, where no factor of the scores gives chances."""
    segments = [[(0.1, 1), (0.9, 1)] * 1000, [(0.95, 1)] * 9 + [(0.01, 1)] * 9 + [(0.3, 0)]]

    lower, upper = oe_ratio_limits(several(*segments), 0.95)

    for g, rows in enumerate(segments):
        expected = sum(s for s, _ in rows)
        ratio = sum(y for _, y in rows) / expected
        assert 0 < lower[g] < ratio <= upper[g] <= len(rows) / expected * (1 + 1e-12)


def test_correct_scores_of_1_are_in_both_counts():
    uncertain = [(0.2, 0), (0.3, 1), (0.6, 0), (0.7, 1)]
    r = recalibrate(several(uncertain, [*uncertain, (1.0, 1), (1.0, 1)]), 0.95)

    for limit in (r.oe_ratio_lower, r.oe_ratio_upper):
        assert limit[1] == pytest.approx((limit[0] * 1.8 + 2) / 3.8, rel=1e-12)


def test_limits_of_tiny_scores_are_finite_around_the_ratio():
    tiny = 1e-200
    lower, upper = oe_ratio_limits(one((tiny, 1), (3 * tiny, 0)), 0.95)

    ratio = 1 / (4 * tiny)
    assert 0 < lower[0] < ratio < upper[0] <= 2 * ratio


def test_limits_are_nan_for_a_ratio_beyond_the_range_of_floats():
    lower, upper = oe_ratio_limits(one((5e-324, 1)), 0.95)

    assert np.isnan([lower, upper]).all()
