"""Periods that are excluded: rows of the result that are never tested, nor compared with."""

from datetime import date, timedelta

import numpy as np
import polars as pl
import pytest

import balframe as bf
from tests.support.cases import cases
from tests.support.frames.weekly_cells import MONDAY, draw_weeks, monitor_cells, week

HOLIDAY = MONDAY + timedelta(7 * 5 + 2)
WEEKS = [week(i, (0, 300, 180 if i == 5 else 270), (1, 300, 270)) for i in range(9)]
STREAM = pl.concat(WEEKS)


def test_an_excluded_period_is_inconclusive_and_keeps_its_scores():
    whole, out = monitor_cells(STREAM), monitor_cells(STREAM, exclude=[HOLIDAY])

    assert whole["status"][5] == "alarm"
    assert out["status"].to_list() == ["ok"] * 5 + ["inconclusive"] + ["ok"] * 3
    shown = ("period", "n", "estimate", "lower", "upper", "baseline_estimate", "difference")
    assert out.select(shown).equals(whole.select(shown))
    nulls = ("since", "window_difference", "window_lower", "window_upper", "control_limit")
    assert set(out.select(nulls).row(5)) == {None}
    assert out["window_n"][5] == 0


def test_other_periods_have_the_result_without_the_excluded_rows():
    out = monitor_cells(STREAM, exclude=HOLIDAY)

    without = monitor_cells(pl.concat(WEEKS[:5] + WEEKS[6:]))
    is_other = pl.col("period") != MONDAY + timedelta(35)
    assert out.filter(is_other).equals(without.filter(is_other))


def test_excluded_periods_are_no_looks():
    assert monitor_cells(STREAM, exclude=HOLIDAY, looks=8).height == 9  # or a warning would fail


def test_excluded_periods_of_the_baseline_are_left_out():
    deviations = np.zeros(26)
    deviations[20] = -0.3
    parts = draw_weeks(deviations=deviations)
    excluded = MONDAY - timedelta(7 * 6 - 3)
    options = {"dispersion": "estimate", "exclude": [excluded.isoformat()]}

    out = monitor_cells(STREAM, baseline=pl.concat(parts), **options)

    expected = monitor_cells(STREAM, baseline=pl.concat(parts[:20] + parts[21:]), **options)
    assert out.equals(expected)
    with pytest.warns(bf.BalframeWarning, match="vary between the periods"):
        dispersed = monitor_cells(STREAM, baseline=pl.concat(parts))
    assert dispersed["dispersion_p_value"][0] < 1e-9 < out["dispersion_p_value"][0]


def test_a_segment_whose_baseline_is_excluded_is_inconclusive():
    a, b = (week(-1, (0, 99, 80), (1, 99, 80), g=pl.lit("a")), week(-2, (0, 99, 80), g=pl.lit("b")))
    live = week(0, (0, 99, 80), (1, 99, 80))
    live = pl.concat(live.with_columns(g=pl.lit(name)) for name in "ab")

    out = monitor_cells(live, baseline=pl.concat([a, b]), by="g", exclude=MONDAY - timedelta(14))

    assert out["since"].is_null().to_list() == [False, True]
    assert out["status"][1] == "inconclusive"
    assert out["baseline_estimate"].is_null().to_list() == [False, True]


@cases(
    "exclude",
    [
        HOLIDAY,
        HOLIDAY.isoformat(),
        [HOLIDAY],
        (HOLIDAY.isoformat(), date(2030, 12, 25)),
        [HOLIDAY, HOLIDAY + timedelta(1)],
        pl.Series([HOLIDAY]),
    ],
)
def test_days_may_be_dates_or_texts_and_need_not_be_in_the_stream(exclude):
    assert monitor_cells(STREAM, exclude=exclude).equals(monitor_cells(STREAM, exclude=HOLIDAY))


@cases("exclude", [None, [], ()])
def test_no_days_exclude_nothing(exclude):
    assert monitor_cells(STREAM, exclude=exclude).equals(monitor_cells(STREAM))


def test_a_baseline_without_other_periods_is_refused():
    baseline = week(-1, (0, 99, 80), (1, 99, 80))

    with pytest.raises(bf.InvalidInputError) as raised:
        monitor_cells(STREAM, baseline=baseline, exclude=MONDAY - timedelta(7))

    assert str(raised.value) == "exclude= leaves no rows of baseline=; exclude fewer periods."
