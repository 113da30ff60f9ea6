import numpy as np
import polars as pl
import pytest

import balframe as bf
from tests.support.cases import cases
from tests.support.chart_specifications import (
    channel,
    layers_of,
    rows_of,
    shown,
    specification,
    subtitle,
)
from tests.support.constructors import each_constructor, plain

TABLE = {
    "g": ["a", "a", "a", "a", "b", "b", "b", "b", None],
    "h": ["x", "x", "x", "x", "y", "y", "y", "y", "y"],
    "y": [0, 0, 1, 1, 0, 1, 0, 1, 0],
    "s": [0.1, 0.4, 0.4, 0.8, 0.2, 0.3, 0.5, 0.9, 0.6],
    "t": [900, 200, 300, 400, 100, 100, 700, 800, 500],
}
COLORS = ["#2490d8", "#d86000", "#909060", "#c0789c"]


def lines(chart, **values):
    return [row for row in rows_of(chart, **values) if "is_best" not in row]


def segments(n):
    """Segments of which one after the other has more right."""
    rows = [(f"s{i:02d}", j % 2, j % 2 + (j >= i) * 0.7 * j) for i in range(n) for j in range(n)]
    return pl.DataFrame(rows, schema=["g", "y", "s"], orient="row")


@cases("metric", ["balanced_accuracy", "recall"])
@each_constructor
def test_lines_of_the_chart_equal_bf_curve(constructor, metric):
    df = constructor(TABLE)

    chart = bf.plot.curve(df, "y", "s", by="g", metrics=metric)

    is_balanced = metric == "balanced_accuracy"
    options = {"band": True} if is_balanced else {"interval": True}
    curve = plain(bf.curve(df, "y", "s", by="g", metrics=metric, **options))
    limits = metric + ("_band" if is_balanced else "")
    finite = np.isfinite(curve["threshold"])
    expected = {
        "threshold": "threshold",
        "n": "n",
        "estimate": metric,
        "lower": f"{limits}_lower",
        "upper": f"{limits}_upper",
    }
    for field, column in expected.items():
        values = [one for one, keep in zip(curve[column], finite, strict=True) if keep]
        assert [row[field] for row in lines(chart)] == values
    first = lines(chart, segment="a")
    assert [row["threshold"] for row in first] == [0.1, 0.4, 0.8]
    expected = [0.5, 0.75, 0.75] if is_balanced else [1, 1, 0.5]
    assert [row["estimate"] for row in first] == expected


@each_constructor
def test_points_of_the_chart_equal_bf_best_threshold(constructor):
    df = constructor(TABLE)

    chart = bf.plot.curve(df, "y", "s", by="g")

    best = plain(bf.best_threshold(df, "y", "s", by="g", min_support=0, detail=True))
    points = rows_of(chart, is_best=True)
    assert [row["segment"] for row in points] == ["a", "b", "(missing)"]
    for field in ("threshold", "estimate", "midpoint", "common_estimate", "chance_maximum"):
        assert [row[field] for row in points] == best[field]
    # .4 and .8 are both right in 3/4 on average: of ties the highest
    assert (points[0]["threshold"], points[0]["estimate"]) == (0.8, 0.75)


def test_channels_titles_and_tooltips_have_their_fields():
    chart = bf.plot.curve(pl.DataFrame(TABLE), "y", "s", by="g")

    x, y, color = (channel(chart, "line", name) for name in ("x", "y", "color"))
    assert (x["field"], x["title"]) == ("threshold", "threshold")
    assert (y["field"], y["title"]) == ("estimate", "balanced accuracy")
    assert (color["field"], color["title"], color["sort"]) == (
        "segment",
        "g",
        ["a", "b", "(missing)"],
    )
    assert channel(chart, "area", "y")["field"] == "lower"
    assert channel(chart, "area", "y2")["field"] == "upper"
    assert channel(chart, "rule", "y") == {"datum": 0.5}
    assert shown(chart, "line") == {
        "segment": "g",
        "n": "rows",
        "threshold": "threshold",
        "estimate": "balanced accuracy",
        "lower": "lower limit",
        "upper": "upper limit",
    }
    assert shown(chart, "point")["n"] == "rows"
    assert subtitle(chart) == [
        "95% confidence band over all thresholds; points: best thresholds; dashed: chance, 0.5"
    ]


@pytest.mark.parametrize(
    ("metric", "chance"), [("informedness", 0), ("recall", None), ("accuracy", None)]
)
def test_chance_is_a_dashed_rule_for_metrics_that_have_it(metric, chance):
    chart = bf.plot.curve(pl.DataFrame(TABLE), "y", "s", metrics=metric, level=0.8)

    rules = [one["encoding"]["y"] for one in layers_of(chart, "rule")]
    assert rules == ([] if chance is None else [{"datum": chance}])
    dashed = "" if chance is None else f"; dashed: chance, {chance}"
    assert subtitle(chart) == [
        f"80% confidence interval at each threshold; points: best thresholds{dashed}"
    ]


def test_an_infinite_best_threshold_has_no_point():
    # all are negative but the lowest score: best is to call nobody positive, 2 of 3 right
    df = pl.DataFrame({"y": [0, 0, 1], "s": [0.9, 0.8, 0.1]})

    chart = bf.plot.curve(df, "y", "s", metrics="accuracy")

    (best,) = rows_of(chart, is_best=True)
    assert best["threshold"] is None
    assert best["estimate"] == pytest.approx(2 / 3)
    points = layers_of(chart, "point")[0]["transform"]
    assert {"filter": "isValid(datum.threshold)"} in points
    assert [row["threshold"] for row in lines(chart)] == [0.1, 0.8, 0.9]


@cases(("n", "panels"), [(1, False), (4, False), (5, True), (60, True)])
def test_up_to_four_segments_share_a_panel(n, panels):
    chart = bf.plot.curve(segments(n), "y", "s", by="g", pos_label=1)

    color = channel(chart, "line", "color")
    given = specification(chart)
    assert ("facet" in given) == panels
    assert color["field"] == ("panel" if panels else "segment")
    assert color["scale"]["range"] == COLORS[: 1 if panels else n]
    if panels:
        assert given["facet"]["field"] == "segment"
        assert len(given["facet"]["sort"]) == n
        assert given["columns"] * given["spec"]["width"] <= 720


def test_a_segment_with_one_label_has_a_note_and_no_best_threshold():
    df = pl.concat([segments(8), pl.DataFrame({"g": ["z"], "y": [0], "s": [0.5]})])

    chart = bf.plot.curve(df, "y", "s", by="g")

    (best,) = rows_of(chart, segment="z", is_best=True)
    assert (best["estimate"], best["note"]) == (None, "no best threshold")
    assert specification(chart)["facet"]["sort"][-1] == "z"


def test_models_have_colors_and_segments_a_panel_each():
    chart = bf.plot.curve(pl.DataFrame(TABLE), "y", ["s", "t"], by="g")

    given = specification(chart)
    assert (given["facet"]["field"], sorted(given["facet"]["sort"])) == (
        "segment",
        ["(missing)", "a", "b"],
    )
    color = channel(chart, "line", "color")
    assert (color["field"], color["title"], color["sort"]) == ("panel", "model", ["s", "t"])
    assert len(lines(chart, panel="s")) == 8  # a has two rows with one score
    assert {row["threshold"] for row in lines(chart, panel="t", segment="a")} == {
        900,
        200,
        300,
        400,
    }


def test_models_without_segments_share_a_panel_in_two_colors():
    chart = bf.plot.curve(pl.DataFrame(TABLE), "y", ["s", "t"])

    given = specification(chart)
    color = channel(chart, "line", "color")
    assert "facet" not in given
    assert (color["field"], color["title"]) == ("segment", "model")
    assert {row["segment"] for row in lines(chart)} == {*color["sort"]} == {"s", "t"}
    assert color["legend"] is not None
    assert len({*color["scale"]["range"]}) == 2


def test_a_second_by_column_has_panels_with_a_shared_scale():
    chart = bf.plot.curve(pl.DataFrame(TABLE), "y", "s", by=["g", "h"])

    given = specification(chart)
    assert (given["facet"]["title"], given["facet"]["sort"]) == ("h", ["x", "y"])
    assert "resolve" not in given


def test_many_values_of_a_second_by_column_become_part_of_the_segment():
    table = segments(8)
    df = pl.concat([table.with_columns(h=pl.lit(f"h{i}")) for i in range(8)])

    chart = bf.plot.curve(df, "y", "s", by=["g", "h"], most=64)

    facet = specification(chart)["facet"]
    assert (facet["field"], facet["title"], len(facet["sort"])) == ("segment", "g, h", 64)


def test_only_the_highest_and_lowest_of_many_segments_are_drawn():
    df = pl.DataFrame(
        [(f"s{i}", y, s) for i in range(10) for y, s in ((0, 5), (1, 9), *[(0, 9)] * i)],
        schema=["g", "y", "s"],
        orient="row",
    )

    chart = bf.plot.curve(df, "y", "s", by="g", most=3)

    # at the threshold 9 the positive is found, and 1 of i + 1 negatives
    assert channel(chart, "line", "color")["sort"] == ["s0", "s1", "s9"]
    assert {row["segment"] for row in rows_of(chart)} == {"s0", "s1", "s9"}
    assert [row["estimate"] for row in rows_of(chart, is_best=True)] == [1, 3 / 4, (1 + 1 / 10) / 2]
    assert subtitle(chart)[-1] == "The 2 highest and the 1 lowest; 7 of 10 segments are left out"


@pytest.mark.parametrize(("low", "high"), [(0, 1), (1000, 1001), (-1e308, 1e308)])
def test_a_long_curve_is_thinned_below_the_resolution_of_the_chart(low, high):
    rng = np.random.default_rng(1)
    share = rng.random(20_000)
    df = pl.DataFrame({"y": rng.random(20_000) < share, "s": low * (1 - share) + high * share})

    chart = bf.plot.curve(df, "y", "s", metrics="recall", thresholds=None)

    curve = bf.curve(df, "y", "s", metrics="recall")
    kept = {row["threshold"]: row["estimate"] for row in lines(chart)}
    assert 400 < len(kept) < 2000
    everything = dict(curve.select("threshold", "recall").rows())
    assert kept.items() <= everything.items()
    # steps of a 480th of the width are kept, so that no gap is wider than two
    place = np.sort([(one / 2 - low / 2) / (high / 2 - low / 2) for one in kept])
    assert np.diff(place).max() < 2 / 480


def test_lines_of_a_grid_have_its_thresholds():
    chart = bf.plot.curve(pl.DataFrame(TABLE), "y", "s", thresholds=[0.25, 0.5])

    assert [row["threshold"] for row in lines(chart)] == [0.25, 0.5]
    # four of four positives reach .25, two of five negatives do not; two reach .5, three do not
    expected = [(4 / 4 + 2 / 5) / 2, (2 / 4 + 3 / 5) / 2]
    assert [row["estimate"] for row in lines(chart)] == pytest.approx(expected)


def test_several_metrics_have_separate_panels_and_best_thresholds():
    names = ["selection_rate", "balanced_accuracy", "recall"]
    chart = bf.plot.curve(pl.DataFrame(TABLE), "y", "s", by="g", metrics=names)

    given = specification(chart)
    assert given["title"]["text"] == "Scores at every threshold by g"
    below = [part["title"]["subtitle"] for part in given["concat"]]
    assert below == [
        ["95% confidence interval at each threshold"],
        [
            "95% confidence band over all thresholds",
            "points: best thresholds",
            "dashed: chance, 0.5",
        ],
        ["95% confidence interval at each threshold", "points: best thresholds"],
    ]
    rows = [given["datasets"][part["data"]["name"]] for part in given["concat"]]
    assert [sum("is_best" in row for row in one) for one in rows] == [0, 3, 3]
    alone = bf.plot.curve(pl.DataFrame(TABLE), "y", "s", by="g")
    banded = {(row["segment"], row["threshold"]): row["upper"] for row in lines(alone)}
    found = {(r["segment"], r["threshold"]): r["upper"] for r in rows[1] if "is_best" not in r}
    assert found == banded
