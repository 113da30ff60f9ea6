"""`monitor` alarms as seldom, and as soon, as the page of reliability shows: simulated.

Of R streams, a share has a standard error of sqrt(p (1 - p) / R); bounds allow three of them.
"""

import math

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
    of_spread,
    of_supports,
    of_three_deviations,
    of_weekly_intervals,
    tables,
    weeks_to_see,
)

pytestmark = pytest.mark.simulation

N = 120


def most(share, repetitions):
    return share + 3 * math.sqrt(share * (1 - share) / repetitions)


@pytest.mark.parametrize("supports", [(20, 20), (5, 50)])
def test_false_alarms_of_stable_streams_are_at_most_nominal(supports):
    streams = Streams(supports, N)
    out = streams.monitored()

    assert alarms(streams, out).any(axis=1).mean() <= most(ALPHA, N)
    for rule in (of_weekly_intervals, of_three_deviations):
        assert rule(streams, out).any(axis=1).mean() > 0.25


def test_false_alarms_of_ten_segments_together_are_at_most_nominal():
    found = of_supports((20, 20), N)

    assert found["ten segments together"] <= most(ALPHA, N // 10)


def test_a_fall_of_the_score_raises_an_alarm_within_four_weeks():
    assert weeks_to_see((50, 200), 20, 0.1) <= 4
    streams = Streams((50, 200), 20, fall=0.2)
    found = alarms(streams, streams.monitored())
    assert not found[:, :FALL].any(axis=1).sum() > 3
    assert found[:, FALL : FALL + 4].any(axis=1).all()


def test_false_alarms_of_varying_scores_are_nominal_only_with_dispersion():
    found = of_spread((200, 200), 60, 0.02)

    by_default, estimated = found.values()
    assert by_default > most(ALPHA, 60)
    assert estimated <= most(ALPHA, 60)


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


def test_documentation_contains_the_headers_of_the_simulated_tables():
    made = tables(10)
    page = PAGE.read_text("utf-8")

    def heads(text):
        return [line for line in text.splitlines() if line.startswith("| r")]

    assert heads(made) == heads(page.partition(BEGIN)[2].partition(END)[0])
