"""Scores of probabilities: beside scikit-learn, and beside loops in fractions."""

import numpy as np
import pytest
from sklearn import metrics as sklearn
from sklearn.isotonic import IsotonicRegression

from balframe.core.probability_scores import ProbabilityScores
from balframe.metrics.definitions.probability import (
    brier_score,
    discrimination,
    log_loss,
    miscalibration,
    oe_ratio,
    uncertainty,
)
from balframe.stats.isotonic import isotonic_regression
from tests.support.cases import cases
from tests.support.oracles.calibration import isotonic as by_loops
from tests.support.oracles.calibration import one, several

METRICS = [brier_score, discrimination, log_loss, miscalibration, oe_ratio, uncertainty]
PARTS = [miscalibration, discrimination, uncertainty]


def drawn(n_segments=60, most=25, seed=8):
    """Draw rows with few distinct scores, so that many are tied."""
    rng = np.random.default_rng(seed)
    return [
        [(float(s), int(rng.random() < s)) for s in rng.integers(1, 16, rng.integers(1, most)) / 16]
        for _ in range(n_segments)
    ]


SEGMENTS = drawn()


@pytest.fixture(scope="module")
def p():
    return several(*SEGMENTS)


def test_isotonic_regression_equals_loops(p):
    fitted = isotonic_regression(p)

    for g, rows in enumerate(SEGMENTS):
        own = p.segment == g
        expected = by_loops(rows)
        assert fitted[own].tolist() == [float(expected[s]) for s in p.score[own]]


def test_isotonic_regression_of_many_rows_equals_scikit_learn():
    rng = np.random.default_rng(4)
    score = rng.beta(2, 2, 5000).round(3)
    y = rng.random(5000) < score**1.3
    p = one(*zip(score, y, strict=True))

    expected = IsotonicRegression().fit(score, y).predict(p.score)
    assert isotonic_regression(p) == pytest.approx(expected, abs=1e-12)


def test_isotonic_regression_does_not_depend_on_block_size(p, monkeypatch):
    together = isotonic_regression(p)

    monkeypatch.setattr(ProbabilityScores.blocks, "__defaults__", (10,))

    assert isotonic_regression(p).tolist() == together.tolist()


def test_components_add_up_to_the_brier_score(p):
    lost, won, whole = (part(p) for part in PARTS)

    assert brier_score(p) == pytest.approx(lost - won + whole, abs=1e-15)
    assert (lost >= 0).all()
    assert (won >= 0).all()


def test_components_of_the_brier_score_equal_loops(p):
    lost, won, whole = (part(p) for part in PARTS)

    for g, rows in enumerate(SEGMENTS):
        fitted, n, mean = by_loops(rows), len(rows), sum(y for _, y in rows) / len(rows)
        of_scores = sum((s - y) ** 2 for s, y in rows) / n
        of_fitted = float(sum((fitted[s] - y) ** 2 for s, y in rows)) / n
        of_mean = sum((mean - y) ** 2 for _, y in rows) / n
        expected = [of_scores - of_fitted, of_mean - of_fitted, of_mean]
        assert [lost[g], won[g], whole[g]] == pytest.approx(expected, abs=1e-14)


def test_log_loss_and_brier_score_equal_scikit_learn(p):
    for g, rows in enumerate(SEGMENTS):
        score, y = zip(*rows, strict=True)
        assert log_loss(p)[g] == pytest.approx(sklearn.log_loss(y, score, labels=[0, 1]))
        assert brier_score(p)[g] == pytest.approx(sklearn.brier_score_loss(y, score))
        assert oe_ratio(p)[g] == pytest.approx(sum(y) / sum(score))


def test_metrics_of_four_rows_equal_exact_values():
    """Means rise from 0 to 1/2 over the pool of .4 and .6, and to 1."""
    p = one((0.2, 0), (0.4, 1), (0.6, 0), (0.8, 1))

    assert isotonic_regression(p).tolist() == [0, 0.5, 0.5, 1]
    assert brier_score(p)[0] == pytest.approx((0.04 + 0.36 + 0.36 + 0.04) / 4)
    assert miscalibration(p)[0] == pytest.approx(0.2 - 0.5 / 4)
    assert discrimination(p)[0] == pytest.approx(0.25 - 0.5 / 4)
    assert uncertainty(p)[0] == 0.25
    assert oe_ratio(p)[0] == pytest.approx(1)


def test_calibrated_scores_have_miscalibration_0():
    p = one((0.25, 1), (0.25, 0), (0.75, 1), (0.75, 0), n=[1, 3, 3, 1])

    assert miscalibration(p).tolist() == [0]
    assert discrimination(p).tolist() == [0.0625]


def test_log_loss_of_scores_0_and_1_is_0_or_undefined():
    p = several([(0.0, 0), (1.0, 1)], [(0.0, 1), (1.0, 1)], [(0.0, 0), (1.0, 0)], [(1.0, 1)])

    assert log_loss(p).tolist() == pytest.approx([0, np.nan, np.nan, 0], nan_ok=True)
    assert np.signbit(log_loss(p)[0]) == np.signbit(0.0)
    assert brier_score(p).tolist() == [0, 0.5, 0.5, 0]
    assert oe_ratio(p).tolist() == [1, 2, 0, 1]


def test_oe_ratio_is_undefined_if_nothing_is_expected():
    assert np.isnan(oe_ratio(one((0.0, 0), (0.0, 1)))).all()
    assert np.isnan(oe_ratio(one((5e-324, 1)))).all()  # past the range of floats


@cases("metric", METRICS)
@cases("outside", [-1e-9, 1 + 1e-9, 3.0])
def test_metrics_of_scores_outside_0_to_1_are_undefined(metric, outside):
    values = metric(several([(0.5, 0), (outside, 1)], [(0.5, 1), (0.25, 0)], []))

    assert np.isnan(values).tolist() == [True, False, True]
