"""The status of periods of streams whose results follow from arithmetic."""

import itertools
import math
import warnings
from datetime import timedelta

import polars as pl
import pytest

import balframe as bf
from tests.support.cases import cases
from tests.support.frames.weekly_cells import MONDAY, launch, monitor_cells, week
from tests.support.oracles import monitor as monitor_by_loops

CLOSE = 1e-9


def test_a_small_lasting_loss_raises_an_alarm_since_the_first_week():
    """0.02 is too little for one week of 100 rows of each label, but not for many."""
    cells = pl.concat(week(i, (0, 100, 88), (1, 100, 88)) for i in range(60))

    out = monitor_cells(cells)

    alarms = out.filter(pl.col("status") == "alarm")
    first = (alarms["period"].min() - MONDAY).days // 7
    assert 13 < first < 60
    assert alarms["since"].unique().to_list() == [MONDAY]
    assert alarms["period"].to_list() == out["period"].slice(first).to_list()
    for t, is_alarm in ((first - 1, False), (first, True)):  # by another way on either side
        total = 0
        for s in range(t + 1):
            sides = tuple(
                (count, count)
                for count in (
                    88 * (t + 1 - s),
                    100 * (t + 1 - s),
                    18_000 + 88 * s,
                    20_000 + 100 * s,
                )
            )
            sides = (*sides, (0.5, 0.5))
            z, v = monitor_by_loops.test_statistic(*sides), monitor_by_loops.pooled_variance(*sides)
            total += math.exp(monitor_by_loops.log_evidence(z, v, 0.05))
        assert (total >= 104 / 0.05) == is_alarm


def test_a_late_drop_raises_an_alarm_since_its_first_week():
    good, bad = ((0, 100, 90), (1, 100, 90)), ((0, 100, 82), (1, 100, 82))
    cells = pl.concat(week(i, *(bad if i >= 90 else good)) for i in range(100))

    out = monitor_cells(cells)

    status = out["status"].to_list()
    assert "alarm" not in status[:90]
    assert status[94:] == ["alarm"] * 6
    assert out["since"][94:].unique().to_list() == [MONDAY + timedelta(7 * 90)]
    assert out["window_n"][99] == 10 * 200
    assert out["window_difference"][99] == pytest.approx(
        0.82 - (18_000 + 90 * 90) / (20_000 + 90 * 100)
    )


def test_the_alarm_of_a_single_bad_week_ends_as_good_weeks_follow():
    good, bad = ((0, 500, 460), (1, 500, 460)), ((0, 500, 390), (1, 500, 390))
    cells = pl.concat(week(i, *(bad if i == 9 else good)) for i in range(20))

    out = monitor_cells(cells)

    assert out["status"].to_list() == ["ok"] * 9 + ["alarm"] * 3 + ["ok"] * 8
    assert out["since"][9:12].unique().to_list() == [out["period"][9]]


def test_limits_since_then_are_those_of_the_difference_from_everything_before():
    cells = pl.concat([week(0, (0, 100, 92), (1, 80, 70)), week(1, (0, 90, 70), (1, 60, 45))])

    out = monitor_cells(cells, baseline=week(0, (0, 300, 270), (1, 200, 180)).drop("day"))

    assert out["since"][1] == out["period"][1]
    expected = monitor_by_loops.limits_of_difference(
        (70, 45), (90, 60), (362, 250), (400, 280), (0.5, 0.5), monitor_by_loops.Z_95
    )
    assert (out["window_lower"][1], out["window_upper"][1]) == pytest.approx(expected, abs=CLOSE)


def test_an_empty_week_is_inconclusive_and_does_not_count_as_a_look():
    cells = pl.concat(week(i, (0, 100, 90), (1, 100, 90)) for i in (0, 1, 3))

    with warnings.catch_warnings():
        warnings.simplefilter("error")
        out = monitor_cells(cells, looks=3)

    empty = out.row(2, named=True)
    assert out["n"].to_list() == [200, 200, 0, 200]
    assert (empty["period"], empty["status"]) == (MONDAY + timedelta(14), "inconclusive")
    nulls = ("estimate", "lower", "upper", "difference", "control_limit", "baseline_estimate")
    nulls += ("since", "window_difference", "window_lower", "window_upper")
    assert {empty[name] for name in nulls} == {None}
    assert (empty["n_labels"], empty["min_support"], empty["window_n"]) == (0, 0, 0)


def test_an_empty_week_does_not_change_the_evidence_of_others():
    weeks = [week(i, (0, 100, 84), (1, 100, 84)) for i in range(9)]
    gap = [part.with_columns(pl.col("day") + pl.duration(weeks=1)) for part in weeks[4:]]
    shown = ("n", "window_n", "window_difference", "window_lower", "window_upper", "control_limit")

    whole, with_gap = monitor_cells(pl.concat(weeks)), monitor_cells(pl.concat([*weeks[:4], *gap]))

    is_asked = with_gap["n"] > 0
    assert with_gap.filter(is_asked).select(shown).equals(whole.select(shown))
    alarms = [out["status"] == "alarm" for out in (whole, with_gap.filter(is_asked))]
    assert alarms[0].equals(alarms[1])
    assert alarms[0].any()


def test_more_periods_than_looks_warn():
    cells = pl.concat(week(i, (0, 100, 90), (1, 100, 90)) for i in (0, 1, 3))

    with pytest.warns(bf.BalframeWarning) as caught:
        monitor_cells(cells, looks=2)

    assert [str(warning.message) for warning in caught] == [
        "3 periods have rows, more than looks=2, for which level is promised. Give a larger number "
        "from the start, or begin again with a new baseline."
    ]


def test_a_week_that_lacks_a_label_has_the_score_of_the_other_label():
    cells = pl.concat([week(0, (0, 100, 90), (1, 100, 80)), week(1, (1, 50, 40))])
    baseline = week(0, (0, 1000, 900), (1, 1000, 700)).drop("day")

    out = monitor_cells(cells, baseline=baseline)

    assert out["n_labels"].to_list() == [2, 1]
    assert out["min_support"].to_list() == [100, 50]
    assert out["estimate"].to_list() == pytest.approx([0.85, 0.8])
    assert out["baseline_estimate"].to_list() == pytest.approx([0.8, 0.7])
    assert out["difference"].to_list() == pytest.approx([0.05, 0.1])


def test_a_start_that_lacks_a_label_is_no_candidate():
    """The second week alone has one label only, so that both weeks are compared."""
    cells = pl.concat([week(0, (0, 100, 90), (1, 100, 80)), week(1, (1, 50, 10))])

    out = monitor_cells(cells)

    assert out["since"].to_list() == [MONDAY, MONDAY]
    assert out["window_n"].to_list() == [200, 250]
    assert out["control_limit"].is_null().to_list() == [False, True]


def test_a_label_counts_from_the_first_week_that_has_it():
    cells = pl.concat(
        [week(0, (1, 100, 50)), week(1, (1, 100, 50)), week(2, (0, 9, 9), (1, 100, 50))]
    )

    out = monitor_cells(cells, baseline=launch(1000, 900))

    assert out["status"].to_list() == ["alarm"] * 3
    assert out["n_labels"].to_list() == [1, 1, 2]
    assert out["window_difference"][1] == pytest.approx(0.5 - 0.9)
    assert out["since"][2] == MONDAY
    assert out["window_difference"][2] == pytest.approx((1 + 0.5) / 2 - 0.9)


def test_twice_the_looks_have_the_threshold_of_half_as_many_false_alarms():
    cells = pl.concat(week(i, (0, 100, 84), (1, 100, 84)) for i in range(30))

    out = monitor_cells(cells, looks=208)

    of_test = ["control_limit", "since", "window_difference"]
    half = monitor_cells(cells, level=0.975)
    assert out.select(of_test).equals(half.select(of_test))
    alarms = (one["status"] == "alarm" for one in (out, half))
    assert next(alarms).to_list() == next(alarms).to_list()
    assert set(out["status"]) == {"inconclusive", "alarm"}


def test_level_decides_alarms_and_all_limits():
    cells = pl.concat(week(i, (0, 100, 84), (1, 100, 84)) for i in range(30))

    outs = [monitor_cells(cells, level=level) for level in (0.6, 0.95, 0.999999)]

    for lower, higher in itertools.pairwise(outs):
        for name in ("", "window_"):
            width = [out[f"{name}upper"] - out[f"{name}lower"] for out in (lower, higher)]
            assert (width[0] < width[1]).all()
        assert (higher["control_limit"] < lower["control_limit"]).all()
        for status in ("alarm", "ok"):
            assert (higher["status"] == status).sum() <= (lower["status"] == status).sum()
    n_alarms = [(out["status"] == "alarm").sum() for out in outs]
    assert n_alarms[0] > n_alarms[2] > 0


@cases(("level", "z"), [(0.8, 1.2816), (0.95, 1.96), (0.99, 2.5758)])
def test_a_period_is_ok_by_the_limit_of_the_same_level(level, z):
    """A recall of one label of 10,000 of 20,000 rows twice: the variance is 2 * 0.25 / 20,000."""
    cells = week(0, (1, 20_000, 10_000))
    baseline = week(0, (1, 20_000, 10_000)).drop("day")
    standard_error = (2 * 0.25 / 20_000) ** 0.5
    options = {"baseline": baseline, "metrics": "recall", "pos_label": 1, "level": level}

    found = [
        monitor_cells(cells, tolerance=factor * z * standard_error, **options)["status"].item()
        for factor in (0.99, 1.01)
    ]

    assert found == ["inconclusive", "ok"]
