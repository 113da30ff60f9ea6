"""How often limits for rows of which only some have a true label hold the truth, by simulation.

Of 4,000 samples, a share near .95 has a standard error of .0034, and .93 is more than five of these
below it. The false verdicts of families of 60 segments, if .025 occur, have one of .008 of 24,000
samples.
"""

from dataclasses import replace

import numpy as np
import pytest

from balframe.core.strata import Strata
from balframe.stats.proportions import normal_quantile
from benchmarks.partly_labelled_samples import (
    HALF,
    SAMPLINGS,
    SHIPPED,
    Design,
    measure,
    power_tuned,
    rogan_gladen,
    simulate,
)
from benchmarks.partly_labelled_simulation import (
    DOUBTED,
    GATED,
    METRICS,
    difference_of_rates,
    difference_of_recalls,
    false_verdicts,
    metrics_of,
)
from tests.support.cases import cases

pytestmark = pytest.mark.simulation

AT_RANDOM, _, _, MOSTLY_REJECTED = SAMPLINGS
DESIGNS = [
    Design(0.5, (0.9, 0.8), 1_000, 20),
    Design(0.8, (0.6, 0.5), 1_000, 50),
    Design(0.7, (0.99, 0.97), 500, 50),
    Design(0.8, (0.9, 0.8), 1_000, 50, HALF),
    Design(0.95, (0.97, 0.6), 4_000, 200, MOSTLY_REJECTED),
    Design(0.99, (0.98, 0.5), 4_000, 200),
]


@cases("design", DESIGNS)
def test_limits_of_rates_hold_the_truth(design):
    score, scas = simulate(design, 4_000, SHIPPED)

    assert score.coverage > 0.93
    assert scas.coverage > 0.93


def test_labelled_rows_alone_are_wrong_where_labels_depend_on_the_verdict():
    design = Design(0.8, (0.9, 0.8), 1_000, 100, MOSTLY_REJECTED)
    corrected, labelled_only = simulate(design, 2_000, ["`report`", "labelled rows only"])

    assert corrected.coverage > 0.93
    assert labelled_only.coverage < 0.02


def test_normal_limits_of_few_labels_are_too_narrow():
    design = Design(0.95, (0.97, 0.6), 4_000, 20)
    corrected, ppi, by_recalls = simulate(design, 2_000, ["`report`", "PPI++", "Rogan-Gladen"])

    assert corrected.coverage > 0.93
    assert ppi.coverage < 0.7
    assert by_recalls.coverage < 0.85
    assert by_recalls.limits < 0.6


@cases("labels", [100, 200])
def test_limits_of_metrics_of_the_judge_hold_the_truth(labels):
    results = metrics_of(Design(0.8, (0.9, 0.8), 1_000, labels, HALF), 2_000)

    for metric, result in zip(METRICS, results, strict=True):
        assert result.coverage > 0.925, metric
        assert result.limits > 0.99, metric


@cases(
    ("difference", "second", "n"),
    [
        (difference_of_rates, Design(0.8, (0.9, 0.8), 1_000, 50), 4_000),
        (difference_of_rates, Design(0.8, (0.9, 0.8), 4_000, 100, HALF), 4_000),
        (difference_of_recalls, Design(0.8, (0.9, 0.8), 1_000, 200), 800),
    ],
)
def test_equal_segments_rarely_differ(difference, second, n):
    first, random = Design(0.8, (0.9, 0.8), 1_000, 100), second.random()
    limits, p = difference(first.draw(random, n), second.draw(random, n))
    excludes = (limits[0] > 0) | (limits[1] < 0)

    assert (p < 0.05).mean() < 0.05 + 3 * np.sqrt(0.05 * 0.95 / n)
    assert (excludes == (p < 0.05)).all()


@cases("design", [DESIGNS[0], DESIGNS[3], Design(0.95, (0.97, 0.6), 1_000, 50)])
@cases(("segments", "n"), [(1, 8_000), (6, 12_000), (60, 24_000)])
def test_rules_at_their_bound_are_rarely_judged_wrongly(design, segments, n):
    passes, fails = false_verdicts(design, segments, n)

    assert passes <= 0.03
    assert fails <= 0.03


@cases("metric", [name for name in GATED if name != "rate"])
@cases(("segments", "n"), [(1, 4_000), (6, 4_000)])
def test_rules_on_recalls_at_their_bound_are_rarely_judged_wrongly(metric, segments, n):
    design = Design(0.8, (0.9, 0.8), 1_000, 200, HALF)
    passes, fails = false_verdicts(design, segments, n, metric)

    assert passes <= 0.035
    assert fails <= 0.035


@cases("odds", [2.0, 0.5])
@cases("sampling", [AT_RANDOM, HALF, MOSTLY_REJECTED])
def test_limits_with_doubt_hold_if_odds_differ_as_much(odds, sampling):
    design = Design(0.8, (0.9, 0.8), 1_000, 200, sampling, odds)
    s = design.draw(design.random(), 2_000)
    for metric, (limits_of, truth) in DOUBTED.items():
        trusting, doubtful, bounds = (
            measure(limits_of(each), truth(design)).coverage
            for each in (s, replace(s, doubt=2.0), replace(s, is_bounded=True))
        )

        assert trusting < (0.85 if metric == "rate" else 0.94)
        assert doubtful > 0.93
        assert bounds > 0.99


def test_limits_of_others_are_those_of_the_rows():
    """Of 30 + 10 rows, 8 + 4 have a label, and 6 + 1 of these are positive."""
    s = Strata(
        *(np.array([pair], float) for pair in ((30, 10), (8, 4), (6, 1))), np.array([[1, 0]])
    )
    y, verdict = np.repeat([1, 0, 1, 0], [6, 2, 1, 3]), np.repeat([1, 0], [8, 4])
    others, z = np.repeat([1, 0], [22, 6]), normal_quantile(0.95)
    weight = np.cov(y, verdict, ddof=0)[0, 1] / (1 + 12 / 28)
    weight /= np.var(np.concatenate([verdict, others]), ddof=1)
    estimate = (y - weight * verdict).mean() + weight * others.mean()
    half = z * np.sqrt(np.var(y - weight * verdict) / 12 + np.var(weight * others) / 28)
    assert 0 < weight < 1
    assert power_tuned(s) == pytest.approx((estimate - half, estimate + half))

    rate = (30 / 40 + 3 / 5 - 1) / (6 / 7 + 3 / 5 - 1)
    of_positive, of_negative = (rate**2 * 6 / 7 * 1 / 7 / 7, (1 - rate) ** 2 * 3 / 5 * 2 / 5 / 5)
    error = np.sqrt(30 / 40 * 10 / 40 / 40 + of_positive + of_negative) / (6 / 7 + 3 / 5 - 1)
    assert rogan_gladen(s) == pytest.approx((rate - z * error, rate + z * error))


def test_undefined_limits_are_missing():
    """The judge accepts all rows that are positive, and there is no other."""
    s = Strata(
        *(np.array([pair], float) for pair in ((30, 10), (8, 0), (8, 0))), np.array([[1, 0]])
    )

    assert np.isnan(rogan_gladen(s)).all()
