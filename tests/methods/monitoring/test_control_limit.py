"""The control limit: the score at which a period alone would alarm."""

import math

import polars as pl
import pytest

from tests.support.cases import cases
from tests.support.frames.weekly_cells import monitor_cells, week
from tests.support.oracles import monitor as monitor_by_loops


def limit_by_bisection(n, y, m, tolerance=0.05, threshold=104 / 0.05):
    """Return the score at which the evidence of a period reaches the threshold."""
    at_baseline = [rows * right / size for rows, right, size in zip(n, y, m, strict=True)]
    a = (1 / len(n),) * len(n)
    low, high = math.log(1e-6), math.log(1e9)
    for _ in range(60):
        middle = (low + high) / 2
        p = monitor_by_loops.recalls_under(at_baseline, n, a, math.exp(middle))
        sides = tuple(rows * recall for rows, recall in zip(n, p, strict=True)), n, y, m, a
        z, v = monitor_by_loops.test_statistic(*sides), monitor_by_loops.pooled_variance(*sides)
        is_alarm = monitor_by_loops.log_evidence(z, v, tolerance) >= math.log(threshold)
        low, high = (low, middle) if is_alarm else (middle, high)
    return sum(weight * recall for weight, recall in zip(a, p, strict=True))


@cases(
    ("n", "y", "m"),
    [
        ((100, 100), (900, 900), (1000, 1000)),
        ((20, 300), (540, 1200), (600, 1500)),
        ((60, 60), (100, 60), (100, 100)),  # a recall of 1 in the baseline
        ((300,), (900,), (1000,)),
    ],
)
def test_the_control_limit_is_the_score_at_which_the_evidence_reaches_the_threshold(n, y, m):
    cells = week(0, *((label, rows, rows // 2) for label, rows in enumerate(n)))
    sides = zip((0, 1), m, y, strict=False)
    baseline = week(0, *sides).drop("day")

    (limit,) = monitor_cells(cells, baseline=baseline)["control_limit"]

    assert limit == pytest.approx(limit_by_bisection(n, y, m), abs=1e-7)


def test_the_control_limit_of_a_later_period_has_the_earlier_ones_in_its_baseline():
    cells = pl.concat([week(0, (0, 400, 300), (1, 200, 180)), week(1, (0, 99, 80), (1, 99, 80))])

    limit = monitor_cells(cells, baseline=week(0, (0, 500, 400), (1, 500, 450)).drop("day"))[
        "control_limit"
    ][1]

    assert limit == pytest.approx(limit_by_bisection((99, 99), (700, 630), (900, 700)), abs=1e-7)


@pytest.mark.thorough
@pytest.mark.any_version
@pytest.mark.parametrize("dispersion", [None, "estimate"])
@cases("metric", ["recall", "false_positive_rate", "accuracy"])
@cases("n", [40, 333, 5_000])
def test_the_status_changes_to_alarm_below_the_control_limit(metric, n, dispersion):
    """Count the correct rows just above and just below it."""
    label = 0 if metric == "false_positive_rate" else 1
    parts = [week(-i, (label, 700, 600 + 6 * (i % 5))) for i in range(1, 31)]
    options = {
        "baseline": pl.concat(parts),
        "metrics": metric,
        "pos_label": 1,
        "labels": [0, 1],
        "dispersion": dispersion,
    }

    def row(correct):
        return monitor_cells(week(0, (label, n, correct)), **options).row(0, named=True)

    limit = row(n // 2)["control_limit"]
    needed = limit * n if metric != "false_positive_rate" else n - limit * n
    below, above = row(math.floor(needed)), row(math.ceil(needed))

    is_alarm = [one["status"] == "alarm" for one in (below, above)]
    assert is_alarm == [True, False]
    assert row(n)["control_limit"] == pytest.approx(limit)  # it depends on the sizes only


def test_the_control_limit_is_null_if_no_score_would_alarm():
    assert monitor_cells(week(0, (0, 2, 0), (1, 2, 0)))["control_limit"].to_list() == [None]
