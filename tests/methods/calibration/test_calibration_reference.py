"""Calibration beside R and a program of its own, as calibration.json says."""

import numpy as np
import pytest
from scipy import special, stats

import balframe as bf
from balframe.methods.calibration.calibration import kuiper, recalibrate
from balframe.methods.calibration.calibration_gaps import compare_at_same_scores
from balframe.metrics.definitions import probability as metrics
from tests.support.oracles.calibration import probabilities
from tests.support.reference_values import reference

CASES = reference("calibration")
SEGMENTS = list("abc")
SEGMENT = np.array([SEGMENTS.index(name) for name in CASES["rows"]["segment"]])
STRATUM = np.array(CASES["rows"]["stratum"])
SCORE = np.array(CASES["rows"]["score"])
Y = np.array([int(y) for y in CASES["rows"]["y"]])
CLOSE = {"rel": 0, "abs": 1e-9}


def of(block, *names):
    """List figures of each segment."""
    found = [[CASES[segment][block][name] for segment in SEGMENTS] for name in names]
    return found[0] if len(names) == 1 else found


@pytest.fixture(scope="module")
def p():
    return probabilities(SEGMENT, SCORE, Y)


def test_counts_of_rows_and_positives_equal_the_reference(p):
    assert p.n_rows.tolist() == of("r", "n")
    assert p.n_positive.tolist() == of("r", "positive")


def test_intercept_and_slope_equal_the_reference(p):
    r = recalibrate(p, 0.95)

    assert r.intercept == pytest.approx(of("r", "intercept_given_slope_1"), **CLOSE)
    assert r.slope == pytest.approx(of("r", "slope"), **CLOSE)


def test_kuiper_statistic_equals_the_reference(p):
    statistic, p_value = kuiper(p)

    assert statistic == pytest.approx(of("other", "kuiper"), **CLOSE)
    assert p_value[2] == pytest.approx(CASES["c"]["other"]["p_kuiper"], **CLOSE)


def test_observed_over_expected_equals_the_reference(p):
    assert metrics.oe_ratio(p) == pytest.approx(of("other", "oe"), **CLOSE)


def test_brier_score_and_its_parts_and_log_loss_equal_the_reference(p):
    brier, fitted, uncertainty, log_loss = of("r", "brier", "brier_pav", "uncertainty", "log_loss")

    assert metrics.brier_score(p) == pytest.approx(brier, **CLOSE)
    assert metrics.miscalibration(p) == pytest.approx(np.subtract(brier, fitted), **CLOSE)
    assert metrics.discrimination(p) == pytest.approx(np.subtract(uncertainty, fitted), **CLOSE)
    assert metrics.uncertainty(p) == pytest.approx(uncertainty, **CLOSE)
    assert metrics.log_loss(p) == pytest.approx(log_loss, **CLOSE)


def test_statistics_of_all_segments_at_the_same_scores_equal_the_reference():
    log_odds = special.logit(SCORE)
    mean = np.array([log_odds[stratum == STRATUM].mean() for stratum in STRATUM])
    case = CASES["same_scores"]["all"]

    found = compare_at_same_scores(probabilities(SEGMENT, mean, Y), 0.95)

    assert found.all_equal.statistic == pytest.approx(case["statistic"], **CLOSE)
    assert found.all_equal.df == case["df"]
    assert found.crossing.df == 2 * case["df"]
    tail = stats.chi2.sf(found.crossing.statistic, found.crossing.df)
    assert tail == pytest.approx(case["p_crossing"], **CLOSE)


def test_the_statistic_of_two_segments_at_the_same_scores_equals_the_reference():
    rows, case = SEGMENT < 2, CASES["same_scores"]["a_and_b"]

    found = compare_at_same_scores(probabilities(SEGMENT[rows], STRATUM[rows], Y[rows]), 0.95)

    assert found.all_equal.statistic == pytest.approx(case["statistic"], **CLOSE)


def compas(*races):
    cells = bf.datasets.compas_deciles()
    cells = cells.filter(cells["race"].is_in(races))
    segment = [races.index(race) for race in cells["race"]]
    return probabilities(segment, cells["decile"], cells["reoffended"], cells["n"])


def test_compas_deciles_of_two_races_equal_the_reference():
    found = compare_at_same_scores(compas("African-American", "Caucasian"), 0.95)

    case = CASES["compas_deciles"]["african_american_caucasian"]
    assert found.all_equal.statistic == pytest.approx(case["statistic"], **CLOSE)
    assert found.ratio.round(3).tolist() == [1.020, 0.963]


def test_compas_deciles_of_four_races_equal_the_reference():
    found = compare_at_same_scores(
        compas("African-American", "Caucasian", "Hispanic", "Other"), 0.95
    )

    case = CASES["compas_deciles"]["four_races"]
    assert found.all_equal.statistic == pytest.approx(case["statistic"], **CLOSE)
    assert found.all_equal.df == case["df"]
