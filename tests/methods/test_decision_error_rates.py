"""Decisions on many segments err as often as they say, or less: simulated through the methods.

Of R families the share that errs has a standard error of at most 0.22 / sqrt(R) near 0.05; bounds
allow three of them above 0.055.
"""

import math

import numpy as np
import polars as pl
import pytest

import balframe as bf
from benchmarks.families import (
    Design,
    Draws,
    Weights,
    equal,
    false_differences_of_models,
    false_disparities,
    false_gaps,
    false_verdicts,
    passes_or_fails,
    passes_or_fails_paired,
)
from benchmarks.families_of_clusters import InClusters
from tests.support.cases import cases

SWAPPED = ((0.6, 0.95), (0.95, 0.6))
RULES = {
    "5 rows": equal(5, recall=0.95),
    "30 rows": equal(30, recall=0.98),
    "1000 rows": equal(1000, recall=0.999),
    "10, 10": equal(10, 10, recall=0.98),
    "30, 300": Design(((30, 300),), ((0.6, 0.9),)),
    "five of 20": equal(*[20] * 5, recall=0.9),
}
ALIKE = {
    "30 rows": equal(30, recall=0.99),
    "3 to 300 rows": Design(((3,), (30,), (300,)), ((0.99,),) * 3),
    "10, 10": equal(10, 10, recall=0.8),
    "100, 100, swapped": Design(((100, 100),) * 2, SWAPPED),
}
FAMILIES = {1: 2_000, 6: 1_000, 60: 400, 500: 100}
SIZES = {6: 200, 60: 60, 500: 12}


def most(families, nominal=0.05):
    return nominal + 0.005 + 3 * math.sqrt(nominal * (1 - nominal) / families)


@pytest.mark.simulation
@cases("n_segments", FAMILIES)
@cases("design", RULES.values())
def test_false_verdicts_at_the_bound_of_a_rule_are_at_most_nominal(design, n_segments):
    families = FAMILIES[n_segments]

    fails, passes = false_verdicts(Draws(design, n_segments, families))

    assert max(fails, passes) <= most(families)


@pytest.mark.simulation
@cases("design", RULES.values())
def test_check_of_many_segments_uses_the_bonferroni_level(design):
    draws = Draws(design, 60, 1)
    frame, rule = draws.frame(), f"{design.metric} >= {design.score}"
    options = {"by": "g", "counts": "n", "rules": rule, "pos_label": 1}

    found = bf.check(frame, "y", "yhat", detail=True, **options)

    expected = bf.check(
        frame, "y", "yhat", adjust=None, level=1 - 0.05 / 60, detail=True, **options
    )
    assert found.equals(expected)


@pytest.mark.simulation
@pytest.mark.parametrize(("name", "method"), [("30 rows", "wilson"), ("10, 10", "score")])
def test_descriptive_limits_have_too_many_false_verdicts(name, method):
    draws, design = Draws(RULES[name], 500, 20), RULES[name]
    options = {"by": ["family", "g"], "counts": "n", "pos_label": 1, "metrics": design.metric}

    out = bf.report(draws.frame(), "y", "yhat", interval=method, level=1 - 0.05 / 500, **options)

    below = out.filter(pl.col(f"{design.metric}_upper") < design.score)
    assert below["family"].n_unique() / 20 > 0.5


@pytest.mark.simulation
@pytest.mark.parametrize("n_segments", SIZES)
@pytest.mark.parametrize("design", ALIKE.values(), ids=ALIKE)
def test_false_positives_of_equal_segments_are_at_most_nominal(design, n_segments):
    families = SIZES[n_segments]
    draws = Draws(design, n_segments, families)

    extremes, equal_scores, _ = false_disparities(draws)
    single, by_holm, by_bh = false_gaps(draws)

    assert extremes <= most(families)
    assert max(equal_scores, by_holm, by_bh) <= most(families)
    assert single <= 0.075


@pytest.mark.simulation
@cases("n_segments", FAMILIES)
@pytest.mark.parametrize(
    ("supports", "share"), [((30,), 0.05), ((1000,), 0.005), ((50, 50), 0.1), ((30, 300), 0.1)]
)
def test_false_positives_of_equal_models_are_at_most_nominal(supports, share, n_segments):
    families = FAMILIES[n_segments]

    single, by_holm = false_differences_of_models(
        Draws(equal(*supports, recall=0.5), n_segments, families), share
    )

    assert single <= most(families * n_segments)
    assert by_holm <= most(families)


AGAINST = {  # supports now and before, and the recall before
    "30 rows": ((30,), (30,), 0.9),
    "100 rows, before 1000": ((100,), (1000,), 0.95),
    "10, 10": ((10, 10), (30, 30), 0.8),
    "50, 200": ((50, 200), (50, 200), 0.95),
}
AGAINST_FAMILIES = {1: 4_000, 6: 2_000, 100: 300}


@pytest.mark.simulation
@cases("n_segments", AGAINST_FAMILIES)
@cases(("now", "before", "recall"), AGAINST.values())
def test_false_verdicts_against_a_baseline_are_at_most_nominal(now, before, recall, n_segments):
    families = AGAINST_FAMILIES[n_segments]
    earlier = Draws(equal(*before, recall=recall), n_segments, families)
    worse, same = (
        Draws(equal(*now, recall=r), n_segments, families, np.random.default_rng(21))
        for r in (recall - 0.05, recall)
    )

    false_passes = passes_or_fails(worse, earlier, 0.05, passes=True)
    false_fails = passes_or_fails(same, earlier, 0, passes=False)

    assert max(false_passes, false_fails) <= most(families, 0.025)


@pytest.mark.simulation
@pytest.mark.parametrize("n_segments", AGAINST_FAMILIES)
@cases(("supports", "share"), [((30,), 0.2), ((300,), 0.06), ((50, 50), 0.1), ((30, 300), 0.1)])
def test_false_verdicts_against_another_model_are_at_most_nominal(supports, share, n_segments):
    families = AGAINST_FAMILIES[n_segments]
    draws = Draws(equal(*supports, recall=0.5), n_segments, families)
    only_new, only_old = (share - 0.05) / 2, (share + 0.05) / 2

    false_passes = passes_or_fails_paired(draws, only_new, only_old, 0.05, passes=True)
    false_fails = passes_or_fails_paired(draws, share / 2, share / 2, 0, passes=False)

    assert max(false_passes, false_fails) <= most(families, 0.025)


INFORMATIVE = Weights(0.05, 10, recall_of_heavy=0.2)


@pytest.mark.thorough
@pytest.mark.parametrize("n_segments", [6, 60])
@pytest.mark.parametrize(
    ("rows", "score", "weights"),
    [(400, 0.7, INFORMATIVE), (400, 0.9, Weights(0.1, 20)), (400, 0.98, Weights(0.1, 20))],
    ids=["informative", "heavy", "heavy, rarely wrong"],
)
def test_false_positives_of_weighted_rows_are_at_most_nominal(rows, score, weights, n_segments):
    families = SIZES[n_segments]
    draws = Draws(equal(rows, recall=score), n_segments, families)
    frame = draws.weighted(weights)

    verdicts = false_verdicts(draws, frame=frame, sample_weight="w")
    extremes, equality, _ = false_disparities(draws, frame=frame, sample_weight="w")
    _, by_holm, _ = false_gaps(draws, frame=frame, sample_weight="w")

    assert frame.filter(pl.col("w") > 1)["n"].sum() > families  # there are heavy rows
    assert max(verdicts) <= most(families)
    assert extremes <= most(families)
    assert max(equality, by_holm) <= most(families, 0.067)


CLUSTERED = {
    "one label": (equal(10, recall=0.9), False),
    "rare errors": (equal(10, recall=0.95), False),
    "two labels": (equal(10, 10, recall=0.9), False),
    "two labels, 2 to 8": (Design(((2, 8),), ((0.8, 0.95),)), False),
    "one label a cluster": (equal(10, 10, recall=0.8), True),
}


@pytest.mark.simulation
@pytest.mark.parametrize(("n_segments", "correlation"), [(20, 0.05), (20, 0.2), (60, 0.2)])
@cases(("design", "whole"), CLUSTERED.values())
def test_false_verdicts_of_rows_in_clusters_are_at_most_nominal(
    design, whole, n_segments, correlation
):
    draws = Draws(design, n_segments, 2_000 // n_segments)
    frame = InClusters(20, (5, 20), correlation, whole=whole).frame(draws)

    fails, passes = false_verdicts(draws, frame=frame, cluster="c")

    assert max(fails, passes) <= most(draws.n_families)


@pytest.mark.simulation
def test_false_verdicts_are_frequent_if_clusters_are_ignored():
    draws = Draws(equal(10, recall=0.9), 20, 100)
    frame = InClusters(20, (5, 20), 0.2).frame(draws)

    assert false_verdicts(draws, frame=frame)[0] > 0.3


@pytest.mark.thorough
@cases("shared", [False, True])
@cases("n_segments", [6, 20])
@pytest.mark.parametrize("design", [equal(10, recall=0.9), equal(10, 10, recall=0.9)], ids=[1, 2])
def test_false_disparities_of_rows_in_clusters_are_at_most_nominal(design, n_segments, shared):
    draws = Draws(design, n_segments, 60)
    frame = InClusters(20, (5, 20), 0.2, shared=shared).frame(draws)

    apart, significant, _ = false_disparities(draws, frame=frame, cluster="c")

    assert apart <= most(draws.n_families, 0.005)
    assert significant <= most(draws.n_families)
