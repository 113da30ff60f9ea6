"""Intercept, slope and score test of recalibration: beside statsmodels, and where undefined."""

import math
from dataclasses import replace

import mpmath
import numpy as np
import pytest
import statsmodels.api as sm
from scipy import optimize, special, stats

from balframe.core.probability_scores import ProbabilityScores
from balframe.methods.calibration.calibration import recalibrate
from balframe.methods.calibration.slope_limits import SlopeFit, logits
from balframe.stats.constrained_mle import skewness_corrected_statistic
from balframe.stats.mean_recall import invert_score_test
from tests.support.cases import cases
from tests.support.oracles.calibration import (
    corrected_for_skewness,
    intercept_statistic,
    one,
    probabilities,
    r_star,
    several,
)

Z = stats.norm.ppf(0.975)


def intercept(p, level=0.95):
    r = recalibrate(p, level)
    return r.intercept, r.intercept_lower, r.intercept_upper


def slope(p, level=0.95):
    r = recalibrate(p, level)
    return r.slope, r.slope_lower, r.slope_upper


def p_value(p):
    return recalibrate(p, 0.95).p_value


MIXED = [(0.2, 0), (0.3, 1), (0.6, 0), (0.7, 1)]


def is_nan(found):
    return np.isnan(np.concatenate([np.atleast_1d(values) for values in found])).tolist()


def drawn(n_segments=40, rows=60, seed=3):
    """Draw segments whose scores are too low, too high, too extreme or not enough so."""
    rng = np.random.default_rng(seed)
    segment = np.repeat(np.arange(n_segments), rows)
    logit = rng.normal(rng.normal(0, 1, n_segments)[segment], 1.5)
    score = special.expit(logit).round(2).clip(0.01, 0.99)
    slopes, shifts = rng.uniform(0.3, 2, n_segments), rng.normal(0, 0.5, n_segments)
    chance = special.expit(shifts[segment] + slopes[segment] * logit)
    return segment, score, rng.random(len(score)) < chance


@pytest.fixture(scope="module")
def rows():
    return drawn()


@pytest.fixture(scope="module")
def p(rows):
    return probabilities(*rows)


def each(rows):
    segment, score, y = rows
    for g in range(segment.max() + 1):
        yield special.logit(score[segment == g]), y[segment == g]


def test_estimates_of_the_slope_are_those_of_statsmodels(rows, p):
    estimate, _, _ = slope(p)

    for g, (logit, y) in enumerate(each(rows)):
        fit = sm.Logit(y, sm.add_constant(logit)).fit(disp=0, method="newton", tol=1e-10)
        assert estimate[g] == pytest.approx(fit.params[1], abs=1e-8)


def test_limits_of_the_slope_are_where_r_star_is_z(rows, p):
    _, lower, upper = slope(p)

    for g, (logit, y) in enumerate(each(rows)):
        found = [r_star(b, logit, y) for b in (lower[g], upper[g])]
        assert found == pytest.approx([Z, -Z], abs=1e-7)


def test_limits_of_the_slope_of_labels_that_hardly_overlap_are_where_r_star_is_z():
    """The upper limit is 97, where the log odds of the highest score are 830."""
    score = np.array([0.001, 0.1, 0.15, 0.157, 0.154, 0.8, 0.95, 0.999])
    y = np.array([0, 0, 0, 0, 1, 1, 1, 1])

    _, lower, upper = slope(one(*zip(score, y, strict=True)), 0.95)

    found = [r_star(b, special.logit(score), y) for b in (lower[0], upper[0])]
    assert found == pytest.approx([Z, -Z], abs=1e-7)


@pytest.mark.parametrize("level", [0.1, 0.5, 0.95])
def test_limits_contain_their_estimate_at_any_level(level):
    rng = np.random.default_rng(12)
    score = 10.0 ** -rng.uniform(0.01, 12, (300, 6))
    p = probabilities(
        np.repeat(np.arange(300), 6), score.ravel(), rng.random(1800) < rng.choice([0.1, 0.5], 1800)
    )

    found = recalibrate(p, level)

    limits = (
        (found.intercept_lower, found.intercept, found.intercept_upper),
        (found.slope_lower, found.slope, found.slope_upper),
        (found.oe_ratio_lower, p.n_positive / p.expected, found.oe_ratio_upper),
    )
    for lower, estimate, upper in limits:
        defined = ~np.isnan(estimate)
        assert defined.sum() > 100
        tolerance = 1e-9 * np.abs(estimate[defined])
        assert (lower[defined] <= estimate[defined] + tolerance).all()
        assert (estimate[defined] <= upper[defined] + tolerance).all()


def test_estimates_of_the_intercept_are_those_of_statsmodels(rows, p):
    estimate, _, _ = intercept(p, 0.95)

    for g, (logit, y) in enumerate(each(rows)):
        family = sm.families.Binomial()
        fit = sm.GLM(y, np.ones(len(y)), family, offset=logit).fit(tol=1e-14)
        assert estimate[g] == pytest.approx(fit.params[0], abs=1e-8)


def test_limits_of_the_intercept_are_where_the_corrected_statistic_is_z(rows, p):
    _, lower, upper = intercept(p)

    for g, (logit, y) in enumerate(each(rows)):
        found = [intercept_statistic(a, logit, y) for a in (lower[g], upper[g])]
        assert found == pytest.approx([Z, -Z], abs=1e-8)


def test_p_value_is_near_that_of_the_score_test_of_many_rows():
    segment, score, _ = drawn(n_segments=20, rows=4000, seed=4)
    y = np.random.default_rng(5).random(len(score)) < score
    found = p_value(probabilities(segment, score, y))

    for g, (logit, own) in enumerate(each((segment, score, y))):
        model = sm.Logit(own, sm.add_constant(logit))
        truth = np.array([0.0, 1.0])
        gradient, hessian = model.score(truth), -model.hessian(truth)
        statistic = gradient @ np.linalg.solve(hessian, gradient)
        assert found[g] == pytest.approx(stats.chi2.sf(statistic, 2), rel=0.1)


def test_results_do_not_depend_on_other_segments(rows, p):
    alone = [probabilities(np.zeros(len(y)), special.expit(logit), y) for logit, y in each(rows)]

    for ask in (lambda p: intercept(p, 0.9), lambda p: slope(p, 0.9), lambda p: [p_value(p)]):
        together = ask(p)
        for g, own in enumerate(alone):
            found = [values[0] for values in ask(own)]
            assert found == pytest.approx([values[g] for values in together], rel=1e-9)


def test_counts_equal_repeated_rows(rows):
    segment, score, y = rows
    n = np.arange(len(y)) % 4
    repeated = probabilities(*(np.repeat(values, n) for values in rows))
    counted = probabilities(segment, score, y, n)

    for ask in (lambda p: intercept(p, 0.9), lambda p: slope(p, 0.9), lambda p: [p_value(p)]):
        for found, expected in zip(ask(counted), ask(repeated), strict=True):
            assert found.tolist() == expected.tolist()


def test_reversed_labels_reverse_the_signs_of_intercepts_only(rows, p):
    segment, score, y = rows
    other = probabilities(segment, 1 - score, ~y)

    estimate, lower, upper = intercept(p, 0.95)
    assert list(intercept(other, 0.95)) == [
        pytest.approx(values, abs=1e-9) for values in (-estimate, -upper, -lower)
    ]
    assert list(slope(other, 0.95)) == [pytest.approx(v, abs=1e-8) for v in slope(p, 0.95)]
    assert p_value(other) == pytest.approx(p_value(p), rel=1e-9)


def test_the_intercept_of_equal_scores_has_scas_limits_and_an_exact_p_value():
    p = one(*[(0.25, 1)] * 6, *[(0.25, 0)] * 4)

    estimate, lower, upper = intercept(p, 0.95)

    recalls = (np.array([[6.0]]), np.array([[10.0]]), np.array([[1.0]]))
    scas = [limit[0] for limit in invert_score_test(*recalls, Z, skewness_corrected_statistic)]
    expected = special.logit([0.6, *scas]) - special.logit(0.25)
    assert [estimate[0], lower[0], upper[0]] == pytest.approx(expected, abs=1e-9)
    assert is_nan(slope(p, 0.95)) == [True] * 3
    assert p_value(p)[0] == pytest.approx(2 * stats.binom.sf(5, 10, 0.25), rel=1e-12)


@pytest.mark.parametrize(
    ("y", "undefined"), [(0, [True, True, False]), (1, [True, False, True])], ids=["none", "all"]
)
def test_equal_outcomes_have_a_one_sided_intercept_and_no_slope(y, undefined):
    p = one((0.2, y), (0.4, y), (0.9, y))

    assert is_nan(intercept(p, 0.95)) == undefined
    assert is_nan(slope(p, 0.95)) == [True] * 3
    assert is_nan([p_value(p)]) == [False]


@cases(
    ("rows", "exists"),
    [
        ([(0.2, 0), (0.4, 0), (0.6, 1)], False),  # all positive rows above
        ([(0.2, 1), (0.4, 1), (0.6, 0)], False),  # all below
        ([(0.2, 0), (0.4, 0), (0.4, 1), (0.6, 1)], False),  # but for a tie
        ([(0.2, 0), (0.4, 0), (0.4, 1), (0.4, 1)], False),
        ([(0.4, 0), (0.4, 1)], False),
        ([(0.2, 1), (0.4, 0), (0.6, 1)], True),
        ([(0.2, 0), (0.4, 1), (0.6, 0)], True),
        ([(0.2, 0), (0.2, 1), (0.6, 0), (0.6, 1)], True),
        ([(0.2, 0), (0.4, 1), (0.5, 0), (0.6, 1)], True),
    ],
)
def test_the_slope_exists_where_labels_overlap(rows, exists):
    found = slope(one(*rows), 0.95)

    assert is_nan(found) == [not exists] * 3
    if exists:
        score, y = np.array(rows).T
        fit = sm.Logit(y, sm.add_constant(special.logit(score))).fit(disp=0, tol=1e-14)
        assert found[0][0] == pytest.approx(fit.params[1], abs=1e-8)


def test_correct_scores_of_0_and_1_do_not_change_recalibration():
    p = several(MIXED, [(0.0, 0), *MIXED, (1.0, 1), (1.0, 1)])

    for values in (*intercept(p, 0.95), *slope(p, 0.95), p_value(p)):
        assert values[0] == values[1]


@pytest.mark.parametrize("wrong", [(0.0, 1), (1.0, 0)])
def test_wrong_scores_of_0_and_1_make_recalibration_nan(wrong):
    p = several([*MIXED, wrong], MIXED)

    for values in (*intercept(p, 0.95), *slope(p, 0.95), p_value(p)):
        assert np.isnan(values).tolist() == [True, False]


@pytest.mark.parametrize("rows", [[(0.0, 0), (1.0, 1)], [(1.0, 1)] * 3])
def test_recalibration_of_only_correct_scores_of_0_and_1_is_nan(rows):
    p = one(*rows)

    assert is_nan([*intercept(p, 0.95), *slope(p, 0.95), p_value(p)]) == [True] * 7


@pytest.mark.parametrize("outside", [-0.1, 1.1, 7.0])
def test_scores_outside_0_to_1_make_recalibration_nan(outside):
    p = several([*MIXED, (outside, 1)], MIXED)

    for values in (*intercept(p, 0.95), *slope(p, 0.95), p_value(p)):
        assert np.isnan(values).tolist() == [True, False]


def test_recalibration_of_segments_without_rows_is_nan():
    p = several([], MIXED, [])

    for values in (*intercept(p, 0.95), *slope(p, 0.95), p_value(p)):
        assert np.isnan(values).tolist() == [True, False, True]


def test_recalibration_of_no_segments_is_empty():
    nothing = np.zeros(0, np.int64)
    p = ProbabilityScores(nothing, np.zeros(0), nothing, nothing, 0)

    for values in (*intercept(p, 0.95), *slope(p, 0.95), p_value(p)):
        assert values.shape == (0,)


@pytest.mark.parametrize("far", [1e-300, 1e-12])
def test_the_intercept_of_scores_far_from_the_outcomes_is_exact(far):
    """Log odds of -690: the shift that makes three of four rows positive is as large."""
    p = one(*[(far, 1)] * 3, (far, 0))

    estimate, lower, upper = intercept(p, 0.95)

    assert estimate[0] == pytest.approx(math.log(3) - special.logit(far), rel=1e-12)
    assert lower[0] < estimate[0] < upper[0]


FAR_APART = [
    [(1e-310, 0, 5), (1e-300, 4, 5), (1e-9, 10**9, 10**9), (0.3, 0, 1000), (1 - 1e-16, 0, 2)],
    [(1e-300, 0, 1), (1e-300, 1, 2), (0.5, 7, 7)],
    [(1e-12, 3, 10**6), (1 - 1e-12, 10**6 - 2, 10**6)],
]


@pytest.mark.parametrize("ties", FAR_APART)
def test_limits_of_the_intercept_of_scores_far_apart_solve_their_equation(ties):
    rows = [((s, y), count) for s, k, n in ties for y, count in ((1, k), (0, n - k)) if count]
    estimate, *limits = intercept(one(*(row for row, _ in rows), n=[n for _, n in rows]), 0.95)

    def chances(a):
        factor = mpmath.exp(mpmath.mpf(a))
        return [factor * s / (1 - mpmath.mpf(s) + factor * s) for s, _, _ in ties]

    def moment(power, p):
        return mpmath.fsum(
            n * q * (1 - q) * (1 - 2 * q) ** power for q, (_, _, n) in zip(p, ties, strict=True)
        )

    with mpmath.workdps(60):
        p = chances(estimate[0])
        squares = mpmath.fsum(
            k * (1 - q) ** 2 + (n - k) * q**2 for q, (_, k, n) in zip(p, ties, strict=True)
        )
        observed, total = sum(k for _, k, _ in ties), sum(n for _, _, n in ties)
        most = mpmath.mpf(observed) * (total - observed) / total
        factor = max(1, min(squares, most) / moment(0, p))
        for limit, sign in zip(limits, (1, -1), strict=True):

            def excess(a, sign=sign):
                p = chances(a)
                gap = mpmath.fsum(n * q - k for q, (_, k, n) in zip(p, ties, strict=True))
                variance = factor * moment(0, p)
                statistic, skew = -gap / variance**0.5, moment(1, p) / (6 * variance**1.5)
                return sign * Z - corrected_for_skewness(statistic, skew)

            assert excess(limit[0] - 1e-6) < 0 < excess(limit[0] + 1e-6)


def test_the_slope_of_scores_close_to_0_and_1_is_exact():
    tiny = 1e-9
    rows = [(tiny, 0)] * 50 + [(tiny, 1)] + [(1 - tiny, 1)] * 50 + [(1 - tiny, 0)]
    estimate, lower, upper = slope(one(*rows), 0.95)

    # two points, whose shares of 1/51 and 50/51 it fits: log odds are -+ log 50
    width = special.logit(1 - tiny) - special.logit(tiny)
    assert estimate[0] == pytest.approx(2 * math.log(50) / width, rel=1e-9)
    score, y = np.array(rows).T
    # in units in which the points are at -1 and 1
    found = [r_star(b * width / 2, np.sign(score - 0.5), y) for b in (lower[0], upper[0])]
    assert found == pytest.approx([Z, -Z], abs=1e-7)


def test_the_slope_of_trillions_of_tied_rows_is_exact():
    n = [10**12, 3 * 10**12, 2 * 10**12, 10**12]
    p = one((0.3, 1), (0.3, 0), (0.7, 1), (0.7, 0), n=n)

    expected = [special.logit(1 / 4), special.logit(2 / 3)]
    width = special.logit(0.7) - special.logit(0.3)
    assert slope(p, 0.95)[0][0] == pytest.approx((expected[1] - expected[0]) / width, rel=1e-9)


def apart(end):
    """Make a thousand rows on the right side of .5 each, and one that is not, next to others."""
    low, high = np.linspace(0.01, end, 1000), np.linspace(1 - end, 0.99, 1000)
    return [*((s, 0) for s in low), *((s, 1) for s in high), (0.5, 1), (1 - end + 1e-4, 0)]


def test_the_slope_of_barely_overlapping_labels_solves_its_equation():
    rows = apart(0.48)

    estimate, lower, upper = slope(one(*rows), 0.95)

    score, y = np.array(rows).T
    logit = special.logit(score)

    def residual(a, b):
        return y - special.expit(a + b * logit)

    def gradient(b):
        a = optimize.brentq(lambda a: residual(a, b).sum(), -500, 500, xtol=1e-14)
        return residual(a, b) @ logit

    assert estimate[0] == pytest.approx(optimize.brentq(gradient, 1, 5000), rel=1e-8)
    assert lower[0] < estimate[0] < upper[0]
    assert estimate[0] > 20


def test_a_slope_without_convergence_in_a_hundred_steps_is_nan():
    rows = apart(0.4999)

    found = slope(several(rows, MIXED), 0.95)

    assert np.isnan(found).tolist() == [[True, False]] * 3


def test_the_profile_likelihood_is_nan_where_the_intercept_is_far_off():
    """No outcome varies there, and of many rows products leave the range of a float."""
    p = one((0.2, 0), (0.2, 1), (0.8, 0), (0.8, 1), n=[4 * 10**7, 10**7, 10**7, 4 * 10**7])
    logit = replace(p, score=logits(p))
    fit = SlopeFit.of(logit, np.zeros(1))

    far = fit.profile(np.array([1e6]), np.array([1e5]))

    assert far.variance[0] < 1e-290
    assert np.isnan(far.w[0])
