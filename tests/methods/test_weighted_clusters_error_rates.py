"""Limits and rules for weighted rows in clusters err as often as the page on reliability shows."""

import numpy as np
import pytest

from benchmarks.weighted_clusters_simulation import (
    DESIGNS,
    LAWS,
    Design,
    coverage,
    tables,
    wrong_verdicts,
)

SURVEY = Design(40, 0, 0.2, "lognormal, sd 0.8", -0.8, False, 0.7)


@pytest.mark.parametrize("law", LAWS)
def test_weighted_scores_of_simulated_surveys_are_those_of_the_design(law):
    design = Design(2_000, 10, 0.2, law, -0.6, False, 0.9)

    frame = design.draw(1, np.random.default_rng(3))

    right = (frame["y"] == frame["yhat"]).to_numpy()
    weight = frame["w"].to_numpy()
    assert np.average(right, weights=weight) == pytest.approx(0.9, abs=0.03)
    assert right.mean() > np.average(right, weights=weight)  # heavy rows are harder


@pytest.mark.simulation
def test_limits_hold_with_clusters_and_not_with_weights_alone():
    shares = coverage(SURVEY, 400, np.random.default_rng(5))

    assert min(both for both, _ in shares.values()) > 0.93
    assert shares["accuracy"][1] < 0.92


@pytest.mark.simulation
def test_rules_at_their_bound_rarely_pass_or_fail():
    shares = wrong_verdicts(SURVEY, 200, np.random.default_rng(6))

    of_few = [
        shares[f"{score} | {n}"] for score in ("accuracy", "balanced accuracy") for n in (1, 6)
    ]
    assert max(max(both) for both in of_few) <= 0.05


@pytest.mark.simulation
def test_tables_have_a_row_for_every_score_design_and_family():
    lines = tables(DESIGNS[:2], 20).splitlines()

    assert sum(line.startswith("| accuracy |") for line in lines) == 4
    assert sum(line.startswith("| 12 clusters") for line in lines) == 2
