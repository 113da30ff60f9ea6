"""Tails of tests, and limits, at low scores: beside saved tables, enumeration and simulation."""

from dataclasses import replace

import numpy as np
import pytest
from scipy import special

from balframe.core.probability_scores import ProbabilityScores
from balframe.methods.calibration.kuiper import kuiper
from balframe.methods.calibration.logistic_fit import labels_overlap, logits
from balframe.methods.calibration.mantel_haenszel import compare_at_same_scores
from balframe.methods.calibration.recalibration import recalibrate
from balframe.methods.calibration.recalibration_test import log_p_values
from balframe.methods.calibration.slope_limits import SlopeFit
from balframe.stats.multiple_testing import adjust_p_values
from tests.support.cases import cases
from tests.support.oracles.calibration import one, probabilities, slope_mid_p, total_mid_p
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
        assert [test.statistic, test.scale, test.p_value] == pytest.approx(
            [expected[f"{column}_{name}"] for column in ("Q", "scale", "p")], **CLOSE
        )


@cases("seed", range(12))
def test_p_values_are_near_those_of_an_enumeration(seed):
    rng = np.random.default_rng(seed)
    score = np.sort(rng.beta(1, 3, 13).round(2).clip(0.02, 0.98))
    y = rng.random(13) < score

    total, slope = parts(one(*zip(score, y.astype(int), strict=True)))

    assert total == pytest.approx(total_mid_p(score, y.sum()), rel=0.15, abs=0.005)
    assert slope == pytest.approx(slope_mid_p(score, y), rel=0.45, abs=0.02)


def false_families(draw, p_values, families, seed):
    """Give the share of families of calibrated segments with a p_adjusted (Holm) below .05."""
    rng = np.random.default_rng(seed)
    return np.mean(
        [(adjust_p_values(p_values(draw(rng)), "holm") < 0.05).any() for _ in range(families)]
    )


def calibrated(n_segments, rows, scores):
    def draw(rng):
        score = scores(rng, n_segments * rows)
        segment = np.repeat(np.arange(n_segments), rows)
        return probabilities(segment, score, rng.random(len(score)) < score)

    return draw


def both(p):
    return recalibrate(p, 0.95).p_value


def of_kuiper(p):
    return kuiper(p)[1]


def of_gaps(p):
    return compare_at_same_scores(p, 0.95).p_value


FAMILIES = {
    "60 of 50 rows, mean .01": (60, 50, lambda rng, n: rng.beta(2, 198, n)),
    "200 of 20 rows, logit -4": (200, 20, lambda rng, n: special.expit(rng.normal(-4, 1, n))),
    "five of 200 rows": (5, 200, lambda rng, n: special.expit(rng.normal(-1, 1.2, n))),
}


@pytest.mark.simulation
@cases("test", [both, of_kuiper])
@cases("design", FAMILIES.values())
def test_adjusted_p_values_of_calibrated_segments_hold_at_low_scores(design, test):
    """Of 80 families, 10 or fewer: a probability of .05 has more in .3% of simulations."""
    assert false_families(calibrated(*design), test, 80, seed=7) <= 10 / 80


@pytest.mark.simulation
def test_adjusted_p_values_of_many_small_segments_at_the_same_scores_hold():
    draw = calibrated(200, 5, lambda rng, n: special.expit(rng.normal(-4, 1, n)))

    assert false_families(draw, of_gaps, 80, seed=8) <= 10 / 80


@pytest.mark.simulation
@cases(("shift", "ratio"), [(0.7, 1.29), (1.0, 1.40), (1.25, 1.47)])
def test_limits_of_the_ratio_cover_it_where_scores_are_far_too_low(shift, ratio):
    """Conditional on the scores; 600 segments, so that a coverage of .95 is above .92."""
    rng = np.random.default_rng(9)
    score = special.expit(rng.normal(0.1, 1.6, 400))
    chance = special.expit(special.logit(score) + shift)
    truth = chance.sum() / score.sum()
    y = rng.random((600, 400)) < chance
    p = probabilities(np.repeat(np.arange(600), 400), np.tile(score, 600), y.ravel())

    r = recalibrate(p, 0.95)

    assert truth == pytest.approx(ratio, abs=0.15)
    assert not np.isnan([r.oe_ratio_lower, r.oe_ratio_upper]).any()
    covered = ((r.oe_ratio_lower <= truth) & (truth <= r.oe_ratio_upper)).mean()
    assert 0.92 <= covered <= 0.98
