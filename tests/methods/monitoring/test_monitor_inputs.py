"""The same rows, given to `monitor` in another way, have the same result."""

import warnings
from datetime import date, datetime, timedelta, timezone

import numpy as np
import pandas as pd
import polars as pl
import pytest

import balframe as bf
from tests.support.cases import cases
from tests.support.constructors import CONSTRUCTORS, plain
from tests.support.frames.weekly_cells import MONDAY, draw_rows, monitor_rows

CLOSE = 1e-9
FLOATS = pl.selectors.float()
LAST_DAY = MONDAY + timedelta(13)  # a Sunday

pytestmark = pytest.mark.filterwarnings("ignore::balframe.BalframeWarning")


@pytest.mark.parametrize("options", [{}, {"dispersion": "estimate", "exclude": [MONDAY]}])
def test_rows_cells_and_all_forms_of_baseline_return_the_same_result(options):
    frame, n = draw_rows(), {"by": "g", **options}
    before, now = (frame.filter(one) for one in (pl.col("day") < MONDAY, pl.col("day") >= MONDAY))
    cells, earlier = (bf.confusion(one, "y", "p", by=["g", "day"]) for one in (frame, before))
    expected = monitor_rows(frame, **n)

    assert monitor_rows(cells, **n).equals(expected)
    assert monitor_rows(now, baseline=earlier, **n).equals(expected)
    swapped = bf.confusion(before, "y", "p", by=["day", "g"])
    assert monitor_rows(now, baseline=swapped, **n).equals(expected)
    assert monitor_rows(now, baseline=earlier.to_pandas(), **n).equals(expected)
    assert monitor_rows(now.lazy(), baseline=earlier, **n).collect().equals(expected)
    counted = frame.group_by("g", "day", "y", "p").len("n")
    assert monitor_rows(counted, counts="n", **n).equals(expected)
    if not options:
        whole = bf.confusion(before, "y", "p", by="g")
        without_days = monitor_rows(now, baseline=whole, **n)
        p_values = pl.selectors.ends_with("p_value")
        assert set(without_days.select(p_values.null_count()).row(0)) == {without_days.height}
        with_days = monitor_rows(now, baseline=earlier, **n)
        assert without_days.select(~p_values).equals(with_days.select(~p_values))


def test_every_library_returns_the_same_result():
    frame = draw_rows()
    expected = plain(monitor_rows(frame, by="g", metrics=["uar", "fpr"]))
    rows = frame.to_dict(as_series=False)

    for make in CONSTRUCTORS:
        found = plain(monitor_rows(make(rows), by="g", metrics=["uar", "fpr"]))
        for name in ("period", "since"):
            found[name] = [getattr(day, "date", lambda day=day: day)() for day in found[name]]
        assert found == expected


@pytest.mark.thorough
@pytest.mark.any_version
def test_a_stream_read_day_by_day_equals_the_whole_stream():
    """Every day its cells are counted and stored, and all that is stored is asked about."""
    frame = draw_rows(n_weeks=6)
    before, now = (frame.filter(one) for one in (pl.col("day") < MONDAY, pl.col("day") >= MONDAY))
    baseline = bf.confusion(before, "y", "p", by="g")
    options = {"by": "g", "baseline": baseline}
    whole = monitor_rows(now, **options)
    stored = []

    for day, rows in sorted(now.partition_by("day", as_dict=True).items()):
        stored.append(bf.confusion(rows, "y", "p", by=["g", "day"]))
        out = monitor_rows(bf.combine(stored), **options)
        assert out.equals(monitor_rows(now.filter(pl.col("day") <= day[0]), **options))
        if day[0].weekday() == 6:
            assert out.equals(whole.filter(pl.col("period") <= day[0]))

    assert out.equals(whole)
    assert out["period"].n_unique() == 6


def test_late_cells_do_not_change_earlier_periods():
    frame = draw_rows(n_weeks=8)
    is_late = (pl.col("day") == MONDAY + timedelta(30)) & (pl.col("y") != pl.col("p"))
    parts = [bf.confusion(one, "y", "p", by="day") for one in (frame.filter(~is_late), frame)]
    early, late = (monitor_rows(one) for one in parts)

    week_of_it = MONDAY + timedelta(28)
    assert early.filter(pl.col("period") < week_of_it).equals(
        late.filter(pl.col("period") < week_of_it)
    )
    assert (early["n"] != late["n"]).to_list() == [i == 4 for i in range(8)]


@cases(("days", "first"), [(-1, 0), (0, 0), (2, 0), (5, 0), (6, 7), (8, 7)])
def test_a_baseline_that_ends_within_a_week_ends_before_it(days, first):
    frame = draw_rows(n_weeks=5)
    until, first = MONDAY + timedelta(days), MONDAY + timedelta(first)
    before, now = (frame.filter(one) for one in (pl.col("day") < first, pl.col("day") >= first))
    baseline = bf.confusion(before, "y", "p", by="day")

    out = monitor_rows(frame, baseline=until)

    assert out.equals(monitor_rows(now, baseline=baseline))
    assert before.height + out["n"].sum() == frame.height
    assert out["period"][0] == first


@pytest.mark.thorough
@cases(
    "day",
    [
        LAST_DAY,
        LAST_DAY.isoformat(),
        np.str_(LAST_DAY.isoformat()),
        {"until": LAST_DAY},
        {"until": LAST_DAY.isoformat()},
        datetime(2026, 1, 18),
        datetime(2026, 1, 18, 23, 59, 59),
        datetime(2026, 1, 18, 0, 30, tzinfo=timezone(timedelta(hours=5))),
        pd.Timestamp("2026-01-18 12:00"),
    ],
)
@cases("by", [None, "g"])
def test_a_day_in_any_form_divides_the_rows_after_it_from_the_baseline(day, by):
    frame = draw_rows(n_weeks=6)
    is_before = pl.col("day") <= LAST_DAY
    keys = ["day", *([by] if by else [])]
    baseline = bf.confusion(frame.filter(is_before), "y", "p", by=keys)
    expected = monitor_rows(frame.filter(~is_before), baseline=baseline, by=by)

    out = monitor_rows(frame, baseline=day, by=by)

    assert out.equals(expected)
    assert out["period"].min() == LAST_DAY + timedelta(1)
    assert out["n"].sum() == frame.filter(~is_before).height
    cells = bf.confusion(frame, "y", "p", by=keys)
    assert monitor_rows(cells, baseline=day, by=by).equals(expected)
    times = frame.with_columns(pl.col("day").cast(pl.Datetime) + pl.duration(hours=23))
    assert monitor_rows(times, baseline=day, by=by).equals(expected)


@pytest.mark.filterwarnings("default::balframe.BalframeWarning")
def test_a_baseline_that_ends_within_a_week_says_so():
    frame, ask = draw_rows(n_weeks=5), {"dispersion": None, "looks": 300}
    words = f"baseline= ends within the period that begins on {MONDAY}, which is monitored as"
    with pytest.warns(bf.BalframeWarning, match=words):
        monitor_rows(frame, baseline={"until": MONDAY + timedelta(2)}, **ask)

    with warnings.catch_warnings(record=True) as at_the_edge:
        warnings.simplefilter("always")
        monitor_rows(frame, baseline={"until": MONDAY + timedelta(6)}, **ask)
        unsplit = frame.filter(pl.col("day") != MONDAY + timedelta(6))
        monitor_rows(unsplit, baseline={"until": MONDAY + timedelta(5)}, **ask)
    assert not [one for one in at_the_edge if "ends within" in str(one.message)]

    words = f"no earlier rows. So the first period has only the rows after {MONDAY + timedelta(2)}"
    with pytest.warns(bf.BalframeWarning, match=words):
        out = monitor_rows(
            frame.filter(pl.col("day") >= MONDAY), baseline={"until": MONDAY + timedelta(2)}, **ask
        )
    assert out["period"][0] == MONDAY


@cases("every", ["1d", "3d", "2w", "1mo", "1q", "1y"])
def test_periods_of_every_length_equal_truncated_days(every):
    frame = draw_rows()
    is_before = pl.col("day") < MONDAY
    truncated = pl.col("day").dt.truncate(every)
    now = frame.filter(~is_before)
    shared = {*now.select(truncated)["day"]} & {*frame.filter(is_before).select(truncated)["day"]}
    if any((frame["day"] < start).any() for start in shared):  # monitored as a whole
        now = frame.filter(pl.col("day") >= min(shared))
    expected = now.group_by(pl.col("day").dt.truncate(every)).len().sort("day")

    out = monitor_rows(frame, time=bf.period("day", every), looks=200)

    assert out.filter(pl.col("n") > 0).select("period", "n").rows() == expected.rows()


def test_row_order_split_counts_and_hours_do_not_change_the_result():
    frame = draw_rows()
    expected = monitor_rows(frame, by="g")

    assert monitor_rows(frame.sample(fraction=1, shuffle=True, seed=1), by="g").equals(expected)
    counted = frame.group_by("g", "day", "y", "p").len("n").with_columns(pl.col("n").cast(pl.Int64))
    halves = [
        counted.with_columns(n=pl.col("n") // 2),
        counted.with_columns(n=-(-pl.col("n") // 2)),
    ]
    nothing = counted.head(1).with_columns(n=pl.lit(0, pl.Int64), day=pl.lit(date(2030, 1, 1)))
    assert monitor_rows(pl.concat([*halves, nothing]), counts="n", by="g").equals(expected)
    others = frame.with_columns(day=pl.col("day").cast(pl.Datetime) + pl.duration(hours=23))
    assert monitor_rows(others, by="g").equals(expected)


def test_names_of_labels_do_not_change_the_result():
    frame = draw_rows()
    swapped = frame.with_columns(y=1 - pl.col("y"), p=1 - pl.col("p"))
    texts = frame.with_columns(
        pl.col("y", "p").replace_strict({0: "x", 1: "no"}, return_dtype=pl.String)
    )
    expected = monitor_rows(frame, by="g")

    for other in (swapped, texts):
        out = monitor_rows(other, by="g")
        assert out.select(~FLOATS).equals(expected.select(~FLOATS))
        for name in expected.select(FLOATS).columns:
            assert out[name].to_list() == pytest.approx(expected[name].to_list(), abs=CLOSE)


def test_rows_with_nulls_are_dropped_on_request():
    frame = draw_rows()
    holes = pl.int_range(pl.len()) % 10
    names = ("day", "y", "p")
    lost = frame.with_columns(
        pl.when(holes == i).then(None).otherwise(pl.col(name)).alias(name)
        for i, name in enumerate(names)
    )

    out = monitor_rows(lost, by="g", missing="drop")

    assert out.equals(monitor_rows(lost.drop_nulls(), by="g"))
    assert (
        monitor_rows(lost.to_pandas(), by="g", missing="drop")["n"].tolist() == out["n"].to_list()
    )
    for name in names:
        with pytest.raises(bf.InvalidInputError, match=f"column '{name}' has"):
            monitor_rows(frame.with_columns(lost[name]), by="g")
