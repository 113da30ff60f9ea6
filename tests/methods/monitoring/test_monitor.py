"""`monitor` on streams whose answers follow from arithmetic, or from other streams."""

import math
import warnings
from datetime import date, timedelta

import numpy as np
import polars as pl
import pytest

import balframe as bf
from tests.support.cases import cases
from tests.support.constructors import CONSTRUCTORS, plain
from tests.support.oracles.monitor import NORMAL, always_valid, limits_of_difference, recalls_under

MONDAY = date(2026, 1, 5)
CLOSE = 1e-9
FLOATS = pl.selectors.float()
quiet = pytest.mark.filterwarnings("ignore::balframe.BalframeWarning")


def week(number, *sides, **columns):
    """Give the cells of a week, of (label, rows, correct rows) each."""
    rows = [
        {"day": MONDAY + timedelta(7 * number + number % 7), "y": label, "p": predicted, "n": n}
        for label, rows, correct in sides
        for predicted, n in ((label, correct), (1 - label, rows - correct))
    ]
    return pl.DataFrame(rows).filter(pl.col("n") > 0).with_columns(**columns)


def launch(rows=20_000, correct=18_000):
    """Give the cells of a reference with the same recall of both labels."""
    return week(0, (0, rows, correct), (1, rows, correct)).drop("day")


def monitored(cells, **options):
    given = {"time": "day", "every": "1w", "reference": launch(), "cells": True, **options}
    return bf.monitor(cells, "y", "p", **given)


def drawn(seed=1, n_weeks=16, models=("p",), before=8):
    """Draw rows of two segments; the recall of one falls after the reference."""
    random = np.random.default_rng(seed)
    n_days = 7 * (n_weeks + before)
    n = 20 * n_days
    frame = pl.DataFrame(
        {
            "day": [MONDAY + timedelta(int(i)) for i in random.integers(0, n_days, n)],
            "g": random.choice(["a", "b"], n),
            "y": random.integers(0, 2, n),
        }
    ).with_columns(day=pl.col("day") - pl.duration(days=7 * before))
    falls = (frame["g"] == "a") & (frame["day"] > MONDAY + timedelta(20))
    for name in models:
        wrong = random.random(n) < np.where(falls, 0.3, 0.1)
        frame = frame.with_columns(pl.Series(name, np.where(wrong, 1 - frame["y"], frame["y"])))
    return frame


UNTIL = {"until": (MONDAY - timedelta(1)).isoformat()}


def asked(frame, y_pred="p", **options):
    given = {"time": "day", "every": "1w", "reference": UNTIL, **options}
    return bf.monitor(frame, "y", y_pred, **given)


# What decides


def test_a_small_lasting_loss_raises_an_alarm_in_the_window_of_all_periods():
    """0.02 is too little for 13 weeks of 100 rows of each label, but not for all weeks."""
    cells = pl.concat(week(i, (0, 100, 88), (1, 100, 88)) for i in range(60))

    out = monitored(cells)

    alarms = out.filter(pl.col("status") == "alarm")
    first = alarms["period"].min()
    n_weeks = (first - MONDAY).days // 7 + 1
    assert 13 < n_weeks < 60
    assert alarms["window"].unique().to_list() == ["all"]
    assert alarms["period"].to_list() == out.filter(pl.col("period") >= first)["period"].to_list()
    assert alarms["window_upper"].to_list() == alarms["cumulative_upper"].to_list()
    for n, sign in ((n_weeks - 1, 1), (n_weeks, -1)):  # by another way on either side
        sides = (88 * n,) * 2, (100 * n,) * 2, (18_000,) * 2, (20_000,) * 2, (0.5,) * 2
        z = always_valid(*sides, 0.05, 0.05 / 4)
        limits = limits_of_difference(*sides, z)
        row = out.row(n - 1, named=True)
        found = row["cumulative_lower"], row["cumulative_upper"]
        assert found == pytest.approx(limits, abs=CLOSE)
        assert limits[1] * sign > 0


def test_a_single_bad_week_raises_an_alarm_in_that_week_only():
    good, bad = ((0, 500, 460), (1, 500, 460)), ((0, 500, 390), (1, 500, 390))
    cells = pl.concat(week(i, *(bad if i == 9 else good)) for i in range(12))

    out = monitored(cells)

    assert out["status"].to_list() == ["ok"] * 9 + ["alarm"] + ["ok"] * 2
    assert out["window"][9] == "1"


def test_an_empty_week_is_inconclusive_and_does_not_count_as_a_look():
    cells = pl.concat(week(i, (0, 100, 90), (1, 100, 90)) for i in (0, 1, 3))

    with warnings.catch_warnings():
        warnings.simplefilter("error")
        out = monitored(cells, looks=3)

    empty = out.row(2, named=True)
    assert out["n"].to_list() == [200, 200, 0, 200]
    assert (empty["period"], empty["status"]) == (MONDAY + timedelta(14), "inconclusive")
    nulls = ("estimate", "lower", "upper", "difference", "control_limit", "reference_estimate")
    assert {empty[name] for name in nulls} == {None}
    assert (empty["n_labels"], empty["min_support"]) == (0, 0)
    assert out["window_n"][3] == 600


def test_more_periods_than_looks_warn():
    cells = pl.concat(week(i, (0, 100, 90), (1, 100, 90)) for i in (0, 1, 3))

    with pytest.warns(bf.BalframeWarning) as said:
        monitored(cells, looks=2)

    assert [str(one.message) for one in said] == [
        "3 periods have rows, more than looks=2. After these, only the window of all periods keeps "
        "its share of false alarms. Give a larger number from the start, or begin again with a new "
        "reference."
    ]


def test_a_week_that_lacks_a_label_is_compared_on_the_other_label():
    cells = pl.concat([week(0, (0, 100, 90), (1, 100, 80)), week(1, (1, 50, 40))])
    reference = week(0, (0, 1000, 900), (1, 1000, 700)).drop("day")

    out = monitored(cells, reference=reference)

    assert out["n_labels"].to_list() == [2, 1]
    assert out["min_support"].to_list() == [100, 50]
    assert out["estimate"].to_list() == pytest.approx([0.85, 0.8])
    assert out["reference_estimate"].to_list() == pytest.approx([0.8, 0.7])
    assert out["difference"].to_list() == pytest.approx([0.05, 0.1])
    assert out["cumulative_difference"][1] == pytest.approx((90 / 100 + 120 / 150) / 2 - 0.8)


# The control limit


def two_labels(x, n, y, m, z):
    """Find the score at which the upper limit is 0, by bisection over the multiplier."""
    at_reference = [rows * right / size for rows, right, size in zip(n, y, m, strict=True)]
    a = [1 / len(n)] * len(n)
    low, high = math.log(1e-6), math.log(1e9)
    for _ in range(60):
        middle = (low + high) / 2
        p = recalls_under(at_reference, n, a, math.exp(middle))
        x = [rows * one for rows, one in zip(n, p, strict=True)]
        is_alarm = limits_of_difference(x, n, y, m, a, z)[1] < 0
        low, high = (low, middle) if is_alarm else (middle, high)
    return sum(w * one for w, one in zip(a, p, strict=True))


@cases(
    ("n", "y", "m"),
    [
        ((100, 100), (900, 900), (1000, 1000)),
        ((20, 300), (540, 1200), (600, 1500)),
        ((60, 60), (100, 60), (100, 100)),  # a recall of 1 in the reference
        ((300,), (900,), (1000,)),
    ],
)
def test_the_control_limit_is_the_score_with_an_upper_limit_of_0(n, y, m):
    cells = week(0, *((label, rows, rows // 2) for label, rows in enumerate(n)))
    sides = zip((0, 1), m, y, strict=False)
    reference = week(0, *sides).drop("day")

    (found,) = monitored(cells, reference=reference)["control_limit"]

    z = -NORMAL.inv_cdf(0.05 / (104 * 4))
    assert found == pytest.approx(two_labels(None, n, y, m, z), abs=1e-7)


@pytest.mark.any_version
@pytest.mark.parametrize("dispersion", [None, "estimate"])
@cases("metric", ["recall", "false_positive_rate", "accuracy"])
@cases("n", [40, 333, 5_000])
def test_the_status_changes_to_alarm_below_the_control_limit(metric, n, dispersion):
    """Count the correct rows just above and just below it."""
    label = 0 if metric == "false_positive_rate" else 1
    parts = [week(-i, (label, 700, 600 + 6 * (i % 5))) for i in range(1, 31)]
    options = {
        "reference": pl.concat(parts),
        "metrics": metric,
        "pos_label": 1,
        "labels": [0, 1],
        "dispersion": dispersion,
        "windows": [1],
    }

    def row(correct):
        return monitored(week(0, (label, n, correct)), **options).row(0, named=True)

    limit = row(n // 2)["control_limit"]
    needed = limit * n if metric != "false_positive_rate" else n - limit * n
    below, above = row(math.floor(needed)), row(math.ceil(needed))

    is_alarm = [one["status"] == "alarm" for one in (below, above)]
    assert is_alarm == [True, False]
    assert row(n)["control_limit"] == pytest.approx(limit)  # it depends on the sizes only


def test_the_control_limit_is_null_if_no_score_would_alarm():
    assert monitored(week(0, (0, 2, 0), (1, 2, 0)))["control_limit"].to_list() == [None]


# Several segments, metrics and models share alpha


def without(out, **columns):
    """Take the rows with these values, without the columns that say so."""
    for name, value in columns.items():
        out = out.filter(pl.col(name) == value).drop(name)
    return out


@pytest.mark.parametrize("options", [{}, {"metrics": ["recall", "accuracy", "fpr"]}])
def test_a_segment_equals_a_separate_stream_with_its_share_of_alpha(options):
    frame = drawn()

    both, each = (asked(frame, by="g", adjust=one, **options) for one in ("bonferroni", None))

    for g in ("a", "b"):
        own = frame.filter(pl.col("g") == g)
        assert without(both, g=g).equals(asked(own, alpha=0.025, **options))
        assert without(each, g=g).equals(asked(own, adjust=None, **options))


def test_a_metric_equals_a_separate_stream_with_its_share_of_alpha():
    frame, metrics = drawn(), ["accuracy", "recall", "false_positive_rate", "balanced_accuracy"]

    out = asked(frame, metrics=metrics)

    assert out["metric"].to_list() == metrics * 16
    for metric in metrics:
        own = asked(frame, metrics=metric, alpha=0.05 / 4)
        assert out.filter(pl.col("metric") == metric).equals(own)


def test_a_model_equals_a_separate_stream_with_its_share_of_alpha():
    frame = drawn(models=("p", "q"))

    out = asked(frame, ["q", "p"], by="g")

    keys = out.select("g", "period", "model").rows()
    assert keys == sorted(keys, key=lambda row: (row[0], row[1], "qp".index(row[2])))
    for model in ("p", "q"):
        own = asked(frame, model, by="g", alpha=0.025)
        assert without(out, model=model).equals(own)


def test_a_new_segment_is_inconclusive_and_takes_no_share_of_alpha():
    frame = drawn()
    new = frame.filter(pl.col("day") >= MONDAY).with_columns(g=pl.lit("c"))

    out = asked(pl.concat([frame, new]), by="g")

    assert out.filter(pl.col("g") != "c").equals(asked(frame, by="g"))
    rows = out.filter(pl.col("g") == "c")
    assert rows["status"].unique().to_list() == ["inconclusive"]
    assert rows["n"].min() > 0
    nulls = ("estimate", "reference_estimate", "difference", "window_upper", "cumulative_upper")
    assert rows.select(nulls).null_count().row(0) == (rows.height,) * len(nulls)


def test_an_ended_segment_is_inconclusive_and_keeps_its_share_of_alpha():
    frame = drawn()
    ended = frame.filter(pl.col("day") < MONDAY).with_columns(g=pl.lit("c"))

    out = asked(pl.concat([frame, ended]), by="g")

    rows = out.filter(pl.col("g") == "c")
    assert rows["n"].to_list() == [0] * 16
    assert rows["status"].to_list() == ["inconclusive"] * 16
    assert out.filter(pl.col("g") != "c").equals(asked(frame, by="g", alpha=0.05 * 2 / 3))


def test_a_null_segment_is_monitored_like_any_other():
    frame = drawn()
    nulls = frame.with_columns(g=pl.when(pl.col("g") == "a").then(pl.col("g")))

    out, expected = asked(nulls, by="g"), asked(frame, by="g")

    assert out.drop("g").equals(expected.drop("g"))
    assert out["g"].to_list() == ["a"] * 16 + [None] * 16


# Lower is better


@cases(
    ("lower", "higher"),
    [
        ("false_positive_rate", "specificity"),
        ("false_negative_rate", "recall"),
        ("hamming_loss", "accuracy"),
        ("false_discovery_rate", "precision"),
    ],
)
def test_an_error_rate_mirrors_the_results_of_its_complement(lower, higher):
    frame = drawn()

    one, other = (asked(frame, by="g", metrics=metric) for metric in (lower, higher))

    same = ("g", "period", "n", "n_labels", "min_support", "window", "window_n", "status")
    assert one.select(same).equals(other.select(same))
    assert "alarm" in one["status"]
    of = {"estimate": 1, "reference_estimate": 1, "control_limit": 1}
    of |= {"difference": 0, "window_difference": 0, "cumulative_difference": 0}
    for name, whole in of.items():
        assert one[name].to_list() == pytest.approx((whole - other[name]).to_list(), abs=CLOSE)
    for stem, whole in (("", 1), ("window_", 0), ("cumulative_", 0)):
        for end, opposite in (("lower", "upper"), ("upper", "lower")):
            expected = (whole - other[stem + opposite]).to_list()
            assert one[stem + end].to_list() == pytest.approx(expected, abs=CLOSE)


def test_false_negative_rate_equals_the_recall_of_flipped_predictions():
    frame = drawn()
    flipped = frame.with_columns(p=1 - pl.col("p"))

    one = asked(frame, metrics="false_negative_rate")
    other = asked(flipped, metrics="recall")

    same = ["n", "estimate", "lower", "upper", "reference_estimate", "difference"]
    same += ["cumulative_difference", "cumulative_lower", "cumulative_upper"]
    for name in same:
        assert one[name].to_list() == pytest.approx(other[name].to_list(), abs=CLOSE)
    assert "alarm" in one["status"]
    assert "alarm" not in other["status"]


# Dispersion


def varying(size=2_000, sd=0.04, n=26, seed=4):
    """Draw weeks of a reference with recalls that vary from week to week."""
    random = np.random.default_rng(seed)
    recalls = np.clip(random.normal(0.85, sd, (n, 2)), 0, 1)
    correct = random.binomial(size, recalls).tolist()
    return [week(i - n, (0, size, x), (1, size, y)) for i, (x, y) in enumerate(correct)]


def test_an_overdispersed_reference_warns_and_dispersion_widens_limits():
    weeks = varying()
    live = pl.concat(varying(n=20, seed=5)).with_columns(pl.col("day") + pl.duration(weeks=20))
    options = {"reference": pl.concat(weeks)}

    with pytest.warns(bf.BalframeWarning, match="Give dispersion='estimate' to allow for it"):
        naive = monitored(live, **options)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        out = monitored(live, **options, dispersion="estimate")

    assert "alarm" in naive["status"]
    assert "alarm" not in out["status"]
    for stem in ("window", "cumulative"):
        widths = (one[f"{stem}_upper"] - one[f"{stem}_lower"] for one in (naive, out))
        assert (next(widths) < next(widths)).all()
    assert naive["dispersion_p_value"].equals(out["dispersion_p_value"])


def test_a_reference_that_varies_by_chance_does_not_warn():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        out = monitored(week(0, (0, 99, 80)), reference=pl.concat(varying(sd=0)))

    assert out["dispersion_p_value"][0] > 0.01


def test_dispersion_p_value_is_null_for_a_reference_without_days():
    assert monitored(week(0, (0, 99, 80)))["dispersion_p_value"].to_list() == [None]


# The same rows, read in another way


@quiet
@pytest.mark.parametrize("options", [{}, {"dispersion": "estimate", "windows": [2, 5]}])
def test_rows_cells_and_all_forms_of_reference_return_the_same_result(options):
    frame, n = drawn(), {"by": "g", **options}
    before, now = (frame.filter(one) for one in (pl.col("day") < MONDAY, pl.col("day") >= MONDAY))
    cells, earlier = (bf.confusion(one, "y", "p", by=["g", "day"]) for one in (frame, before))
    expected = asked(frame, **n)

    assert asked(cells, cells=True, **n).equals(expected)
    assert asked(now, reference=earlier, **n).equals(expected)
    swapped = bf.confusion(before, "y", "p", by=["day", "g"])
    assert asked(now, reference=swapped, **n).equals(expected)
    assert asked(now, reference=earlier.to_pandas(), **n).equals(expected)
    assert asked(now.lazy(), reference=earlier, **n).collect().equals(expected)
    counted = frame.group_by("g", "day", "y", "p").len("n")
    assert asked(counted, counts="n", **n).equals(expected)
    if not options:
        whole = bf.confusion(before, "y", "p", by="g")
        without_days = asked(now, reference=whole, **n)
        assert without_days["dispersion_p_value"].null_count() == without_days.height
        assert without_days.drop("dispersion_p_value").equals(expected.drop("dispersion_p_value"))


def test_every_library_returns_the_same_result():
    frame = drawn()
    expected = plain(asked(frame, by="g", metrics=["uar", "fpr"]))
    rows = frame.to_dict(as_series=False)

    for make in CONSTRUCTORS:
        found = plain(asked(make(rows), by="g", metrics=["uar", "fpr"]))
        days = [getattr(one, "date", lambda one=one: one)() for one in found["period"]]
        assert found | {"period": days} == expected


@pytest.mark.any_version
def test_a_stream_read_day_by_day_equals_the_whole_stream():
    """Every day its cells are counted and stored, and all that is stored is asked about."""
    frame = drawn(n_weeks=6)
    before, now = (frame.filter(one) for one in (pl.col("day") < MONDAY, pl.col("day") >= MONDAY))
    reference = bf.confusion(before, "y", "p", by="g")
    options = {"by": "g", "reference": reference}
    whole = asked(now, **options)
    stored = []

    for day, rows in sorted(now.partition_by("day", as_dict=True).items()):
        stored.append(bf.confusion(rows, "y", "p", by=["g", "day"]))
        out = asked(bf.combine(stored), cells=True, **options)
        assert out.equals(asked(now.filter(pl.col("day") <= day[0]), **options))
        if day[0].weekday() == 6:
            assert out.equals(whole.filter(pl.col("period") <= day[0]))

    assert out.equals(whole)
    assert out["period"].n_unique() == 6


def test_late_cells_do_not_change_earlier_periods():
    frame = drawn(n_weeks=8)
    is_late = (pl.col("day") == MONDAY + timedelta(30)) & (pl.col("y") != pl.col("p"))
    parts = [bf.confusion(one, "y", "p", by="day") for one in (frame.filter(~is_late), frame)]
    early, late = (asked(one, cells=True) for one in parts)

    week_of_it = MONDAY + timedelta(28)
    assert early.filter(pl.col("period") < week_of_it).equals(
        late.filter(pl.col("period") < week_of_it)
    )
    assert (early["n"] != late["n"]).to_list() == [i == 4 for i in range(8)]


@pytest.mark.parametrize("until", [MONDAY + timedelta(i) for i in (-1, 2, 6)])
def test_the_reference_may_end_within_a_week(until):
    frame = drawn(n_weeks=5)
    before, now = (frame.filter(one) for one in (pl.col("day") <= until, pl.col("day") > until))
    reference = bf.confusion(before, "y", "p", by="day")

    out = asked(frame, reference={"until": until})

    assert out.equals(asked(now, reference=reference))
    assert out.equals(asked(frame, reference={"until": until.isoformat()}))
    assert out["n"].sum() == now.height
    assert out["period"][0] == (MONDAY if until < MONDAY + timedelta(6) else MONDAY + timedelta(7))


@cases("every", ["1d", "3d", "2w", "1mo", "1q", "1y"])
def test_periods_of_every_length_equal_truncated_days(every):
    frame = drawn()
    now = frame.filter(pl.col("day") >= MONDAY)
    expected = now.group_by(pl.col("day").dt.truncate(every)).len().sort("day")

    out = asked(frame, every=every, looks=200)

    assert out.filter(pl.col("n") > 0).select("period", "n").rows() == expected.rows()


def test_row_order_split_counts_and_hours_do_not_change_the_result():
    frame = drawn()
    expected = asked(frame, by="g")

    assert asked(frame.sample(fraction=1, shuffle=True, seed=1), by="g").equals(expected)
    counted = frame.group_by("g", "day", "y", "p").len("n").with_columns(pl.col("n").cast(pl.Int64))
    halves = [
        counted.with_columns(n=pl.col("n") // 2),
        counted.with_columns(n=-(-pl.col("n") // 2)),
    ]
    nothing = counted.head(1).with_columns(n=pl.lit(0, pl.Int64), day=pl.lit(date(2030, 1, 1)))
    assert asked(pl.concat([*halves, nothing]), counts="n", by="g").equals(expected)
    others = frame.with_columns(day=pl.col("day").cast(pl.Datetime) + pl.duration(hours=23))
    assert asked(others, by="g").equals(expected)


def test_names_of_labels_do_not_change_the_result():
    frame = drawn()
    swapped = frame.with_columns(y=1 - pl.col("y"), p=1 - pl.col("p"))
    texts = frame.with_columns(
        pl.col("y", "p").replace_strict({0: "x", 1: "no"}, return_dtype=pl.String)
    )
    expected = asked(frame, by="g")

    for other in (swapped, texts):
        out = asked(other, by="g")
        assert out.select(~FLOATS).equals(expected.select(~FLOATS))
        for name in expected.select(FLOATS).columns:
            assert out[name].to_list() == pytest.approx(expected[name].to_list(), abs=CLOSE)


def test_rows_with_nulls_are_dropped_on_request():
    frame = drawn()
    holes = pl.int_range(pl.len()) % 10
    names = ("day", "y", "p")
    lost = frame.with_columns(
        pl.when(holes == i).then(None).otherwise(pl.col(name)).alias(name)
        for i, name in enumerate(names)
    )

    out = asked(lost, by="g", missing="drop")

    assert out.equals(asked(lost.drop_nulls(), by="g"))
    assert asked(lost.to_pandas(), by="g", missing="drop")["n"].tolist() == out["n"].to_list()
    for name in names:
        with pytest.raises(bf.InvalidInputError, match=f"column '{name}' has"):
            asked(frame.with_columns(lost[name]), by="g")
