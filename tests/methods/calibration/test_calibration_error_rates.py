"""Tests and limits of calibration err as seldom as the page of reliability shows: simulated.

Of R draws, a share near 0.05 has a standard error of 0.22 / sqrt(R); bounds allow three of them.
"""

import math
from functools import partial

import pytest

from benchmarks.calibration_simulation import (
    CORRELATION,
    END,
    IN_BINS,
    OTHER,
    PAGE,
    PLACE,
    RIGHT,
    SAME,
    WRONG,
    mean_of,
    of_design,
    of_groups,
    of_ranking,
    tables,
)

pytestmark = pytest.mark.simulation

ROWS = 1_000_000
# two or three rows of a label are expected: tests are conservative
FEW_OF_A_LABEL = "mean 0.01, 200 rows", "mean 0.95, 50 rows"


def most(share, repetitions):
    return share + 3 * math.sqrt(share * (1 - share) / repetitions)


@pytest.mark.parametrize("name", RIGHT)
def test_false_positives_and_coverage_of_calibrated_scores_are_near_nominal(name):
    design = RIGHT[name]
    repetitions = min(ROWS // design.n, 4_000)

    found = of_design(repetitions, design)

    recalibration, kuiper, *covered = found.values()
    assert recalibration <= most(0.05, repetitions)
    assert recalibration >= (0.02 if name in FEW_OF_A_LABEL else 0.05 - most(0.01, repetitions))
    assert kuiper <= most(0.05, repetitions)
    assert min(covered) >= 1 - most(0.055, repetitions)


def test_recalibration_and_kuiper_tests_have_power_for_different_faults():
    shift, extreme, in_turn = (of_design(500, design) for design in WRONG.values())

    assert min(shift["`p_value`"], shift["`kuiper_p_value`"]) > 0.5
    assert extreme["`p_value`"] > extreme["`kuiper_p_value`"] + 0.2
    assert in_turn["`kuiper_p_value`"] > in_turn["`p_value`"] + 0.2


@pytest.mark.parametrize("name", [name for name in SAME if "100,000" not in name])
def test_false_positives_of_equally_calibrated_segments_are_at_most_nominal(name):
    sets = 30 if len(SAME[name].shares) > 50 else 200

    found = mean_of(partial(of_groups, SAME[name]), sets)

    assert max(found["`p_value_all`"], found["`p_value_crossing`"]) <= most(0.05, sets)
    assert found["`p_value`"] <= most(0.05, sets)
    assert found["`lower`, `upper`"] >= 1 - most(0.05, sets)


def test_ten_strata_cause_false_positives_in_many_rows():
    found = mean_of(partial(of_groups, SAME["2 segments, 100,000 rows"]), 60)

    assert found["`p_value_all`"] <= most(0.05, 60)
    assert found["`p_value_all` of ten quantiles"] > 0.15


def test_crossing_test_has_more_power_where_segments_cross():
    higher, crossing = (mean_of(partial(of_groups, groups), 100) for groups in OTHER.values())

    assert crossing["`p_value_crossing`"] > crossing["`p_value_all`"] + 0.2
    assert higher["`p_value_all`"] > higher["`p_value_crossing`"]


def test_p_values_rank_the_miscalibrated_segment_first():
    found = mean_of(of_ranking, 12)

    assert max(found["`p_value`" + PLACE], found["`kuiper_p_value`" + PLACE]) < 2
    assert found[IN_BINS + PLACE] > 10
    for name in (IN_BINS, "`miscalibration`", "`kuiper`"):
        assert found[name + CORRELATION] < -0.85


def test_documentation_contains_the_rows_of_the_simulated_tables():
    written = PAGE.read_text("utf-8").split(END)[0]

    for line in tables(10).splitlines():
        if line.startswith("|"):
            name = line.split("|")[1]
            assert f"|{name}|" in written
