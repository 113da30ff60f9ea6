"""Tails of tests, and limits, at low scores: beside saved tables, enumeration and simulation."""

from collections import Counter
from dataclasses import replace

import numpy as np
import pytest
from scipy import optimize, special, stats

from balframe.core.probability_scores import ProbabilityScores
from balframe.methods.calibration.calibration import kuiper, recalibrate
from balframe.methods.calibration.calibration_gaps import compare_at_same_scores
from balframe.methods.calibration.recalibration_test import log_p_values
from balframe.methods.calibration.slope_limits import SlopeFit, labels_overlap, logits
from balframe.stats.multiple_testing import adjust_p_values
from benchmarks.calibration_simulation import RIGHT, beta, tied
from tests.support.cases import cases
from tests.support.oracles.calibration import one, probabilities, slope_mid_p
from tests.support.reference_values import reference

CASES = reference("calibration_tails")["cases"]
CLOSE = {"rel": 0, "abs": 1e-9}


def table(score, n, k):
    n, k = np.array(n, np.int64), np.array(k, np.int64)
    return ProbabilityScores(np.zeros(len(n), np.int64), np.array(score, float), n, k, 1)


def parts(p):
    """Give the p-values of the total and of the slope."""
    r, logit = recalibrate(p, 0.95), replace(p, score=logits(p))
    overlap = labels_overlap(logit)
    fit = SlopeFit.of(logit.of_segments(overlap), r.intercept[overlap])
    return np.exp(log_p_values(p, logit.score, r.intercept, overlap, fit))[:, 0].tolist()


@cases("case", CASES["calibration_test"])
def test_p_values_equal_the_reference(case):
    p, expected = table(**case["input"]), case["expected"]

    assert parts(p) == pytest.approx([expected["p_total"], expected["p_slope"]], **CLOSE)
    assert recalibrate(p, 0.95).p_value[0] == pytest.approx(expected["p_value"], **CLOSE)
    statistic, p_value = kuiper(p)
    assert statistic[0] * p.n_rows[0] == pytest.approx(expected["kuiper_range"], **CLOSE)
    assert p_value[0] == pytest.approx(expected["kuiper_p_value"], **CLOSE)


@cases("case", CASES["oe_limits"])
def test_limits_equal_the_reference(case):
    given, expected = dict(case["input"]), case["expected"]
    level = given.pop("level")

    r = recalibrate(table(**given), level)

    found = {
        "oe_lower": r.oe_ratio_lower,
        "oe_upper": r.oe_ratio_upper,
        "intercept_lower": r.intercept_lower,
        "intercept_upper": r.intercept_upper,
        "slope": r.slope,
        "slope_lower": r.slope_lower,
        "slope_upper": r.slope_upper,
    }
    for name, values in found.items():
        if expected[name] is None:
            assert np.isnan(values[0])
        else:
            assert values[0] == pytest.approx(expected[name], **CLOSE)


@cases("case", CASES["gap_at_same_scores"])
def test_p_values_at_the_same_scores_equal_the_reference(case):
    n, k = (np.array(case["input"][name], np.int64) for name in "nk")
    segment, score = np.indices(n.shape)
    rows = n > 0
    p = ProbabilityScores(segment[rows], score[rows].astype(float), n[rows], k[rows], len(n))

    found = compare_at_same_scores(p, 0.95)

    expected = case["expected"]
    assert found.p_value == pytest.approx([expected[f"p_{g}"] for g in range(len(n))], **CLOSE)
    for test, name in ((found.all_equal, "all"), (found.crossing, "crossing")):
        statistic, scale, p_value = (expected[f"{column}_{name}"] for column in ("Q", "scale", "p"))
        if scale > test.df:  # less than one degree of freedom is left
            p_value = max(p_value, stats.chi2.sf(statistic, test.df))
        assert [test.statistic, test.scale, test.p_value] == pytest.approx(
            [statistic, scale, p_value], **CLOSE
        )


@cases(("n", "k"), [([20, 20], [0, 20]), ([20, 20], [1, 20])])
@cases("wrong", [0.03, 0.01, 1e-3, 1e-4, 1e-6, 1e-100])
def test_sure_scores_that_are_right_have_the_exact_p_value_of_the_slope(n, k, wrong):
    """Hardly anything varies, and labels are separated: the only table is no alarm."""
    score = [wrong, 1 - wrong if wrong > 1e-16 else 1 - 2**-53]
    y = np.repeat([0, 1, 0, 1], [n[0] - k[0], k[0], n[1] - k[1], k[1]])

    found = parts(table(score, n, k))[1]

    assert found == pytest.approx(slope_mid_p(np.repeat(score, n), y), rel=0.2)


def test_scores_far_from_one_half_that_are_right_are_calibrated():
    """The variance of the total leaves the range of a float at its third power."""
    p = table([1e-300, 1 - 2**-53], [4, 4], [0, 4])

    assert recalibrate(p, 0.95).p_value[0] > 0.1


# 14 scores each, whose 16,384 outcomes are enumerated
MIDDLES = (np.arange(14) + 0.5) / 14
TABLES = {
    "mean .3": stats.beta(2, 14 / 3).ppf(MIDDLES),
    "mean .1": stats.beta(2, 18).ppf(MIDDLES),
    "mean .05": stats.beta(2, 38).ppf(MIDDLES),
    "mean .94": 1 - stats.beta(2, 30).ppf(MIDDLES),
    "from 0 to 1": MIDDLES,
    "near 0 or 1": np.append(MIDDLES[:7] / 5, 1 - MIDDLES[:7] / 5),
    "far apart": special.expit(stats.norm(-1, 2).ppf(MIDDLES)),
    "two scores": np.repeat([0.04, 0.2], 7),
    "three scores": np.repeat([0.05, 0.2, 0.5], [6, 5, 3]),
    "one score": np.full(14, 0.1),
}


def enumerated(score):
    """Give a segment for each outcome of the rows, and the probability of each."""
    y = (np.arange(2 ** len(score))[:, None] >> np.arange(len(score))) & 1
    distinct, tie = np.unique(score, return_inverse=True)
    k = np.stack([y[:, tie == i].sum(axis=1) for i in range(len(distinct))], axis=1)
    ties = ProbabilityScores(
        np.repeat(np.arange(len(y)), len(distinct)),
        np.tile(distinct, len(y)),
        np.tile(np.bincount(tie), len(y)),
        k.ravel(),
        len(y),
    )
    return ties, np.where(y, score, 1 - score).prod(axis=1)


@pytest.mark.thorough
@cases("score", TABLES.values())
def test_p_values_of_small_tables_are_small_at_most_as_often_as_they_say(score):
    """The probability of a p-value below alpha is at most alpha, also far in the tail."""
    p, chance = enumerated(score)

    for p_value in (recalibrate(p, 0.95).p_value, kuiper(p)[1]):
        for alpha in (0.05, 0.01, 0.001, 0.0001):
            assert chance[p_value < alpha].sum() <= alpha


@cases("score", TABLES.values())
def test_the_p_value_of_the_total_is_within_4_percent_of_the_exact_mid_p_value(score):
    p, chance = enumerated(score)
    own = np.bincount(p.n_positive, chance)

    for observed in range(len(own)):
        row = int(np.flatnonzero(p.n_positive == observed)[0])
        found, _ = parts(p.of_positions(np.array([row])))
        tails = own[observed + 1 :].sum(), own[:observed].sum()
        assert found == pytest.approx(2 * min(tails) + own[observed], rel=0.04)


@pytest.mark.thorough
@cases("seed", range(12))
def test_the_p_value_of_the_slope_of_one_positive_row_is_exact(seed):
    rng = np.random.default_rng(seed)
    score = np.sort(rng.beta(1, 3, 13).round(2).clip(0.02, 0.98))
    y = np.zeros(13, int)
    y[rng.integers(13)] = 1
    for outcome in (y, 1 - y):
        _, slope = parts(one(*zip(score, outcome, strict=True)))

        assert slope == pytest.approx(slope_mid_p(score, outcome), rel=1e-9)


def near_0_or_1(rng, n):
    """Draw half of the scores near 0, and half near 1."""
    score = rng.beta(1, 19, n)
    return np.where(rng.random(n) < 0.5, score, 1 - score)


# calibrated segments: their number, the rows of each, and how scores are drawn
FAMILIES = {
    "mean .01": (60, 50, beta(2, 198)),
    "log odds -4": (200, 20, lambda rng, n: special.expit(rng.normal(-4, 1, n))),
    "near 0 or 1": (60, 60, near_0_or_1),
    # of the page on reliability
    "mean .01, 200 rows": (60, 200, RIGHT["mean 0.01, 200 rows"].scores),
}
AT_SAME_SCORES = {
    "mean .01": (60, 50, beta(2, 198)),
    "log odds -4": (200, 5, lambda rng, n: special.expit(rng.normal(-4, 1, n))),
}


def false_families(n_segments, rows, scores, p_values, families=200):
    """Give shares of families of calibrated segments with an adjusted p-value below .05."""
    rng, segment = np.random.default_rng(7), np.repeat(np.arange(n_segments), rows)
    n_false = Counter()
    for _ in range(families):
        score = scores(rng, len(segment))
        p = tied(segment, score, rng.random(len(score)) < score)
        for function in p_values:
            for adjust in ("holm", "bh"):
                adjusted = adjust_p_values(function(p), adjust)
                n_false[function.__name__, adjust] += (adjusted < 0.05).any()
    return {name: n / families for name, n in n_false.items()}


def recalibrated(p):
    return recalibrate(p, 0.95).p_value


def of_kuiper(p):
    return kuiper(p)[1]


def at_same_scores(p):
    return compare_at_same_scores(p, 0.95).p_value


@pytest.mark.thorough
@cases("design", FAMILIES.values())
def test_families_of_calibrated_segments_have_few_adjusted_p_values_below_5_percent(design):
    """Of 200 families: with a probability of .05, more than a share of .1 is in .1% of tests."""
    found = false_families(*design, [recalibrated, of_kuiper])

    assert max(found.values()) <= 0.1, found


@pytest.mark.simulation
@cases("design", AT_SAME_SCORES.values())
def test_families_at_the_same_scores_have_few_adjusted_p_values_below_5_percent(design):
    found = false_families(*design, [at_same_scores])

    assert max(found.values()) <= 0.1, found


UNEQUAL_SIZES = {
    "56 segments of 5 to 500 rows": (np.geomspace(5, 500, 56).astype(int), beta(2, 65)),
    "20 of 5 rows and two of 3,000, ten scores": (
        np.repeat([5, 3000], [20, 2]),
        lambda rng, n: np.linspace(0.01, 0.25, 10)[rng.integers(0, 10, n)],
    ),
}


@pytest.mark.simulation
@cases("design", UNEQUAL_SIZES.values())
def test_tests_of_all_segments_of_unequal_sizes_have_few_false_positives(design):
    """Of 500 data sets: a probability of .05 has more than a share of .08 in .2% of tests."""
    sizes, scores = design
    rng, segment = np.random.default_rng(7), np.repeat(np.arange(len(sizes)), sizes)
    p_values = []
    for _ in range(500):
        score = scores(rng, len(segment))
        found = compare_at_same_scores(tied(segment, score, rng.random(len(score)) < score), 0.95)
        p_values.append((found.all_equal.p_value, found.crossing.p_value))

    assert (np.array(p_values) < 0.05).mean(axis=0).max() <= 0.08


@pytest.mark.simulation
@cases("ratio", [0.99, 1.09, 1.18, 1.29, 1.40, 1.47])
@cases("rows", [40, 300])
def test_limits_of_the_ratio_cover_it_where_scores_are_far_too_low(rows, ratio):
    """Scores from 0 to 1, to whose log odds is added what gives this ratio. 1,000 segments."""
    score = (np.arange(rows) + 0.5) / rows
    shift = optimize.brentq(
        lambda a: special.expit(special.logit(score) + a).mean() - ratio * score.mean(), -9, 9
    )
    chance = special.expit(special.logit(score) + shift)
    y = np.random.default_rng(9).random((1000, rows)) < chance
    p = probabilities(np.repeat(np.arange(1000), rows), np.tile(score, 1000), y.ravel())

    r = recalibrate(p, 0.95)

    is_above, is_below = r.oe_ratio_lower > ratio, r.oe_ratio_upper < ratio
    assert not np.isnan([r.oe_ratio_lower, r.oe_ratio_upper]).any()
    assert 0.93 <= 1 - (is_above | is_below).mean() <= 0.97
    assert max(is_above.mean(), is_below.mean()) <= 0.04
