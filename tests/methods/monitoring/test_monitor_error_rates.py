"""`monitor` alarms as seldom, and as soon, as the page of reliability shows: simulated.

Of R streams, a share has a standard error of sqrt(p (1 - p) / R); bounds allow three of them.
"""

import math
from itertools import pairwise

import numpy as np
import pytest

from benchmarks.monitor_simulation import (
    ALPHA,
    BEGIN,
    END,
    FALL,
    PAGE,
    Streams,
    alarms,
    false_alarms,
    of_supports,
    of_three_deviations,
    of_weekly_intervals,
    tables,
    varying,
    weeks_to_see,
)

pytestmark = pytest.mark.simulation

N = 100
DESIGNS = varying(N)


def most(share, repetitions):
    return share + 3 * math.sqrt(share * (1 - share) / repetitions)


# No score changes


@pytest.mark.parametrize("supports", [(20, 20), (5, 50), (1, 40)])
def test_false_alarms_of_stable_streams_are_at_most_nominal(supports):
    streams = Streams(supports, N)
    out = streams.monitored(dispersion=None)

    assert alarms(streams, out).any(axis=1).mean() <= most(ALPHA, N)
    assert alarms(streams, streams.monitored()).any(axis=1).mean() <= most(ALPHA, N)
    for rule in (of_weekly_intervals, of_three_deviations):
        assert rule(streams, out).any(axis=1).mean() > 0.25


def test_false_alarms_of_ten_segments_together_are_at_most_nominal():
    found = of_supports((20, 20), N)

    assert found["the same, ten segments together"] <= most(ALPHA, N // 10)


# Scores vary, and do not get worse


def test_weeks_with_memory_alarm_little_more_than_nominal():
    """An autocorrelation of .7: measured .02 to .07, and with windows .21 to .32."""
    design = DESIGNS["0.02, autocorrelation 0.7, 52 weeks of baseline"]

    assert false_alarms(design) <= 0.1
    assert false_alarms(design, dispersion=None) > 0.5


def test_a_season_of_a_year_alarms_at_most_nominally_beside_a_year_of_baseline():
    """Measured .00, and with windows .29 to .36."""
    design = DESIGNS["season of 0.03 either way, 52 weeks of baseline"]

    assert false_alarms(design) <= ALPHA


def test_holidays_alarm_at_most_nominally_if_they_are_excluded():
    """Measured .00, and .75 without."""
    streams = DESIGNS["3% of weeks lower by 0.1, 500 and 500 rows"]

    assert 0 < len(streams.holiday_dates) < 10
    assert false_alarms(streams) > 0.3
    excluded = alarms(streams, streams.monitored(exclude=streams.holiday_dates))
    assert excluded.any(axis=1).mean() <= ALPHA


def test_weeks_that_vary_a_little_alarm_at_most_nominally_by_default():
    """A standard deviation of .01: measured .007, and .14 with windows and without dispersion."""
    assert false_alarms(DESIGNS["standard deviation 0.01"]) <= ALPHA


# The score falls


def test_a_fall_of_the_score_raises_an_alarm_within_four_weeks():
    assert weeks_to_see(Streams((50, 200), 20, fall=0.1)) <= 4
    streams = Streams((50, 200), 20, fall=0.2)
    found = alarms(streams, streams.monitored())
    assert not found[:, :FALL].any(axis=1).sum() > 3
    assert found[:, FALL : FALL + 4].any(axis=1).all()


def test_a_small_fall_of_a_small_stream_is_seen_in_most_streams():
    """20 rows a week, a fall of .05: measured 62 weeks, and never with windows."""
    streams = Streams((20,), 2 * N, fall=0.05)
    found = alarms(streams, streams.monitored(metrics="accuracy", dispersion=None))

    assert found[:, :FALL].any(axis=1).mean() <= ALPHA
    assert found[:, FALL:].any(axis=1).mean() > 0.5


# The simulation itself


@pytest.mark.parametrize("spread", [0.0, 0.3])
def test_simulated_streams_have_the_designed_counts_and_recalls(spread):
    streams = Streams((50, 200), 200, fall=0.1, spread=spread)
    rows, correct = streams.counts
    cells = streams.cells()

    assert (correct <= rows).all()
    assert rows.mean(axis=(0, 1)) == pytest.approx([50, 200], rel=0.01)
    assert cells["n"].sum() == rows.sum()
    right = cells.filter(cells["y"] == cells["yhat"])
    assert right["n"].sum() == correct.sum()
    if not spread:
        recall = correct.sum(axis=(0, 2)) / rows.sum(axis=(0, 2))
        assert np.allclose(recall[: 26 + FALL], 0.85, atol=0.015)
        assert np.allclose(recall[26 + FALL :], 0.75, atol=0.015)


def test_simulated_weeks_have_the_designed_memory():
    streams = Streams((20,), 2_000, spread=0.02, autocorrelation=0.7)
    deviation = streams.deviation

    assert deviation.std() == pytest.approx(0.02, rel=0.03)
    r = np.corrcoef(deviation[:, 50], deviation[:, 51])[0, 1]
    assert r == pytest.approx(0.7, abs=0.04)


def test_documentation_contains_the_headers_of_the_simulated_tables():
    made = tables(10)
    page = PAGE.read_text("utf-8")

    def heads(text):
        lines = text.splitlines()
        return [line for line, below in pairwise(lines) if below.startswith("| ---")]

    assert heads(made) == heads(page.partition(BEGIN)[2].partition(END)[0])
