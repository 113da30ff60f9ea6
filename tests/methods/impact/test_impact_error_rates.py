"""Limits and p-values of impact ratios err as seldom as the page of reliability shows: simulated.

Of R tables, a share near 0.05 has a standard error of at most 0.22 / sqrt(R), and one near 0.025 of
0.16 / sqrt(R); bounds allow three of them.
"""

import numpy as np
import pytest

from balframe.methods.impact.risk_ratio import ratio_to_largest_limits
from benchmarks import impact_simulation
from benchmarks.impact_simulation import (
    COVERAGE,
    ERRORS,
    LEVEL,
    SHAPES,
    WAYS,
    Design,
    Held,
    claims,
    designs,
    of_claims,
    of_limits,
    tables,
    to_best,
    to_observed,
)
from tests.support.cases import cases

REPETITIONS = 800
OURS, NAIVE = [*WAYS][:2]
RAGGED = (30, 150, 600, 2000)


def drawn(design, repetitions=REPETITIONS):
    return of_limits(repetitions, (0, design))


def test_limits_of_the_simulation_equal_those_of_the_package():
    design = Design(RAGGED, (0.05, 0.1, 0.08, 0.1))
    x, n = design.draw(40, np.random.default_rng(1)), np.array(RAGGED, float)
    lower, upper = to_best(x, n)

    expected = np.array([ratio_to_largest_limits(one, n, LEVEL) for one in x])
    np.testing.assert_allclose(np.stack([lower, upper], axis=1), expected, rtol=1e-11)


def test_the_category_observed_as_highest_has_limits_of_1_and_no_claims():
    x, n = np.array([[10.0, 20, 30, 5]]), np.array([100.0, 100, 100, 10])
    lower, upper = to_observed(x, n)

    assert (lower[0, 3], upper[0, 3]) == (1, 1)
    assert lower[0, 2] < (0.3 / 0.5) < upper[0, 2]
    found = claims(x, n)
    assert all(one[0, 3] == 0 for one in found.values())
    assert found["1"][0, 0] == 1


def test_held_computes_coverage_width_and_false_alarms():
    lower, upper = np.array([[0.5, 0.9], [0.85, 1]]), np.array([[0.7, 1], [0.9, 1]])
    held = Held.of((lower, upper), np.array([0.8, 1]))

    assert (held.coverage, held.lowest) == (0.5, 0)
    assert held.width == pytest.approx((0.2 + 0.1 + 0.05 + 0) / 4)
    assert held.false_alarms == (0.5, 0.5)
    assert np.isnan(Held.of((lower, upper), np.array([0.6, 1])).false_alarms).all()


def test_designs_have_the_expected_lowest_and_highest_ratios():
    assert all(max(one.ratios) == 1 for k in (2, 5) for one in designs(k))
    lowest = {
        name: min(Design((1,) * 4, tuple(make(0.3, 4))).ratios) for name, make in SHAPES.items()
    }
    assert lowest == pytest.approx({"equal": 1, "one lower": 0.8, "one higher": 0.8, "spread": 0.5})


@pytest.mark.simulation
@cases("shape", SHAPES)
@cases("n", [(500,) * 2, (30,) * 4, RAGGED, RAGGED[::-1], (100,) * 8])
@cases("rate", [0.1, 0.6])
def test_coverage_of_the_true_ratios_is_near_nominal(shape, n, rate):
    held = drawn(Design(n, tuple(SHAPES[shape](rate, len(n)))))[OURS]

    assert held.coverage >= 0.95 - 3 * 0.22 / REPETITIONS**0.5
    assert held.lowest >= 0.94 - 3 * 0.22 / REPETITIONS**0.5
    if not np.isnan(held.false_alarms[0]):
        assert max(held.false_alarms) <= 0.035 + 3 * 0.16 / REPETITIONS**0.5


@pytest.mark.simulation
@pytest.mark.parametrize("n", [(30, 2000), RAGGED], ids=str)
def test_limits_against_the_category_observed_as_highest_are_too_narrow(n):
    held = drawn(Design(n, tuple(SHAPES["one lower"](0.3, len(n)))))

    assert held[NAIVE].lowest < 0.85
    assert held[OURS].lowest > 0.93


@pytest.mark.simulation
@pytest.mark.parametrize("n", [(100,) * 3, RAGGED, (500,) * 8], ids=str)
def test_false_positives_of_equal_rates_are_at_most_nominal(n):
    shares = of_claims(REPETITIONS, (0, Design(n, (0.3,) * len(n))))

    assert shares["k / 2"] <= 0.05 + 3 * 0.22 / REPETITIONS**0.5
    if len(n) == 8:
        assert shares["1"] > 0.08  # without regard to the choice of the highest


def test_tables_of_the_simulation_have_every_title_and_row(monkeypatch):
    monkeypatch.setattr(impact_simulation, "RATES", (0.3,))

    written = tables(20, numbers=[2, 3])

    assert all(title in written for title in (*COVERAGE, *ERRORS))
    assert written.count("\n| 3 | ") == 2
    head, *rows = (line.count("|") for line in written.split("\n\n")[1].splitlines())
    assert {head} == {*rows}
