"""Limits and p-values of impact ratios err as seldom as the page of reliability shows: simulated.

Of R tables, a share near 0.05 has a standard error of at most 0.22 / sqrt(R), and one near 0.025 of
0.16 / sqrt(R); bounds allow three of them.
"""

import numpy as np
import pytest
from scipy import stats

from balframe.methods.impact.ratios import ratios_to_largest
from balframe.stats.pairwise_ratios import ratio_limit
from benchmarks import impact_simulation
from benchmarks.impact_simulation import (
    COVERAGE,
    ERRORS,
    LEVEL,
    SHAPES,
    TESTS,
    WAYS,
    Design,
    Held,
    claims,
    designs,
    of_claims,
    of_limits,
    p_to_best,
    tables,
    to_best,
    to_observed,
)
from tests.support.cases import cases

REPETITIONS = 800
OURS, NAIVE = [*WAYS][:2]
OUR_TEST, NAIVE_TEST = TESTS
RAGGED = (30, 150, 600, 2000)


def drawn(design, repetitions=REPETITIONS):
    return of_limits(repetitions, (0, design))


def test_limits_and_p_values_of_the_simulation_equal_those_of_the_package():
    design = Design(RAGGED, (0.05, 0.1, 0.08, 0.1))
    x, n = design.draw(40, np.random.default_rng(1)), np.array(RAGGED, float)
    lower, upper = to_best(x, n)
    p = p_to_best(x, n)

    for at, one in enumerate(x):
        expected = ratios_to_largest(one, n, LEVEL)
        np.testing.assert_allclose(lower[at], expected.lower, rtol=1e-11)
        np.testing.assert_allclose(upper[at], expected.upper, rtol=1e-11)
        np.testing.assert_allclose(p[at], expected.p_value, rtol=1e-11)


def test_the_category_observed_as_highest_has_limits_of_1_and_no_claims():
    x, n = np.array([[10.0, 20, 30, 5]]), np.array([100.0, 100, 100, 10])
    lower, upper = to_observed(x, n)

    assert (lower[0, 3], upper[0, 3]) == (1, 1)
    assert lower[0, 2] < (0.3 / 0.5) < upper[0, 2]
    found = claims(x, n)
    assert all(one[0, 3] == 0 for one in found.values())
    assert found[NAIVE_TEST][0, 0] == 1


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


def enumerated(n, m, rates):
    """Give coverage, and how often the true ratio is above or below, of x / n to the largest."""
    x, y = np.arange(n + 1), np.arange(m + 1)
    shares = [np.outer(stats.binom.pmf(x, n, p), stats.binom.pmf(y, m, q)) for p, q in rates]
    possible = np.sum(shares, axis=0) > 1e-9
    possible[0, 0] = False  # a table in which nobody is selected has no ratio
    x, y = (values.astype(float) for values in np.nonzero(possible))
    counts = x, np.full(len(x), float(n)), y, np.full(len(x), float(m))
    z = stats.norm.isf(0.025)
    lower, upper = (ratio_limit(*counts, end) for end in (z, -z))
    for (p, q), table in zip(rates, shares, strict=True):
        weight, ratio = table[possible] / table[possible].sum(), min(p / q, 1)
        above, below = weight[upper < ratio - 1e-9].sum(), weight[lower > ratio + 1e-9].sum()
        yield 1 - above - below, above, below


LOW = (0.005, 0.008, 0.01, 0.016, 0.02, 0.04, 0.05)


@pytest.mark.any_version
@cases(("n", "m"), [(15, 5000), (5000, 15), (7, 500), (500, 7), (30, 2000), (100, 100)])
def test_limits_of_two_categories_with_low_rates_hold_in_all_tables(n, m):
    """By enumeration: limits without the correction for skewness hold in as few as 0.865."""
    rates = [(high * part, high) for high in LOW for part in (1, 0.8, 0.5)]
    rates += [(high, low) for low, high in rates]

    coverage, above, below = np.transpose([*enumerated(n, m, rates)])
    assert coverage.min() > 0.935
    assert above.max() < 0.042
    assert below.max() < 0.042


@pytest.mark.simulation
@cases("rate", [0.005, 0.01, 0.02])
@cases("n", [(15, 5000, 60), RAGGED, RAGGED[::-1], (100,) * 8])
def test_coverage_of_low_rates_is_near_nominal(n, rate):
    for shape in ("equal", "one lower", "spread"):
        held = drawn(Design(n, tuple(SHAPES[shape](rate, len(n)))))[OURS]

        assert held.coverage >= 0.95 - 3 * 0.22 / REPETITIONS**0.5
        assert held.lowest >= 0.94 - 3 * 0.22 / REPETITIONS**0.5


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

    assert shares[OUR_TEST] <= 0.05 + 3 * 0.22 / REPETITIONS**0.5
    if len(n) == 8:
        assert shares[NAIVE_TEST] > 0.08  # without regard to the choice of the highest


@pytest.mark.simulation
@cases("rate", [0.01, 0.05, 0.9])
@cases("n", [(15, 5000), (100,) * 3, RAGGED, (500,) * 8])
def test_false_positives_of_low_and_high_rates_are_near_nominal(n, rate):
    shares = of_claims(REPETITIONS, (0, Design(n, (rate,) * len(n))))

    assert shares[OUR_TEST] <= 0.06 + 3 * 0.22 / REPETITIONS**0.5


def test_tables_of_the_simulation_have_every_title_and_row(monkeypatch):
    monkeypatch.setattr(impact_simulation, "RATES", (0.3,))

    written = tables(20, numbers=[2, 3])

    assert all(title in written for title in (*COVERAGE, *ERRORS))
    assert written.count("\n| 3 | ") == 2
    head, *rows = (line.count("|") for line in written.split("\n\n")[1].splitlines())
    assert {head} == {*rows}
