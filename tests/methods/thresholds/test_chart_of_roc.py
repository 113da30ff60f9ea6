import numpy as np
import polars as pl
import pytest

import balframe as bf
from tests.support.cases import cases
from tests.support.chart_specifications import (
    behind,
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
    "h": ["x", "y", "x", "y", "x", "y", "x", "y", "x"],
    "y": [0, 0, 1, 1, 0, 1, 0, 1, 0],
    "s": [0.1, 0.4, 0.4, 0.8, 0.2, 0.3, 0.5, 0.9, 0.6],
    "t": [4, 3, 2, 1, 1, 2, 3, 4, 5],
}


def points(chart, **values):
    return [row for row in rows_of(chart, **values) if "text" not in row]


def texts(chart, **values):
    return [row for row in rows_of(chart, **values) if "text" in row]


@each_constructor
def test_points_of_the_chart_equal_bf_curve(constructor):
    df = constructor(TABLE)

    chart = bf.plot.roc(df, "y", "s", by="g")

    curve = plain(bf.curve(df, "y", "s", by="g", metrics=["false_positive_rate", "recall"]))
    for field in ("false_positive_rate", "recall", "n"):
        assert [row[field] for row in points(chart)] == curve[field]
    first = [(row["false_positive_rate"], row["recall"]) for row in points(chart, segment="a")]
    assert first == [(1, 1), (1 / 2, 1), (0, 1 / 2), (0, 0)]
    assert [row["at"] for row in points(chart)] == list(range(len(curve["n"])))


@each_constructor
def test_areas_in_the_chart_equal_bf_ranking(constructor):
    df = constructor(TABLE)

    chart = bf.plot.roc(df, "y", "s", by="g")

    ranking = plain(bf.ranking(df, "y", "s", by="g"))
    found = texts(chart)
    for field in ("roc_auc", "roc_auc_lower", "roc_auc_upper", "n"):
        assert [row[field] for row in found] == ranking[field]
    # of four pairs in a three are in order and one is tied; in b three are in order
    assert [row["text"] for row in found] == [
        "a: AUC 0.875",
        "b: AUC 0.750",
        "(missing): AUC undefined",
    ]


def test_channels_titles_and_tooltips_have_their_fields():
    chart = bf.plot.roc(pl.DataFrame(TABLE), "y", "s", by="g")

    x, y, color = (channel(chart, "line", name) for name in ("x", "y", "color"))
    assert (x["field"], x["title"]) == ("false_positive_rate", "false positive rate")
    assert (y["field"], y["title"]) == ("recall", "recall")
    assert x["scale"] == y["scale"] == {"domain": [0, 1]}
    assert (color["field"], color["title"], color["sort"]) == (
        "segment",
        "g",
        ["a", "b", "(missing)"],
    )
    assert channel(chart, "line", "order")["field"] == "at"
    (diagonal,) = layers_of(chart, "rule")
    ends = [diagonal["encoding"][name]["datum"] for name in ("x", "y", "x2", "y2")]
    assert ends == [0, 0, 1, 1]
    assert shown(chart, "line") == {
        "segment": "g",
        "n": "rows",
        "threshold": "threshold",
        "false_positive_rate": "false positive rate",
        "recall": "recall",
    }
    assert shown(chart, "text")["n"] == "rows"
    assert subtitle(chart) == ["Dashed: chance"]


def test_a_curve_of_all_rows_has_no_legend():
    chart = bf.plot.roc(pl.DataFrame(TABLE), "y", "s")

    assert channel(chart, "line", "color")["legend"] is None
    assert specification(chart)["title"]["text"] == "ROC curve"
    (area,) = texts(chart)
    # 4 positives, 5 negatives: .3 is above 2, .4 above 2 and tied with one, .8 and .9 above all
    assert area["roc_auc"] == pytest.approx((2 + 2.5 + 5 + 5) / 20)


def test_each_model_has_its_own_color_and_area():
    chart = bf.plot.roc(pl.DataFrame(TABLE), "y", ["s", "t"], by="g")

    assert specification(chart)["facet"]["field"] == "segment"
    assert channel(chart, "line", "color")["sort"] == ["s", "t"]
    assert channel(chart, "line", "color")["legend"] is not None
    areas = [texts(chart, segment="a", panel=model)[0]["roc_auc"] for model in ("s", "t")]
    assert areas == [0.875, 0]
    assert shown(chart, "text")["panel"] == "model"


def test_models_without_segments_are_labelled_lines_of_one_panel():
    chart = bf.plot.roc(pl.DataFrame(TABLE).filter(pl.col("g") == "a"), "y", ["s", "t"])

    assert "facet" not in specification(chart)
    assert [row["text"] for row in texts(chart)] == ["s: AUC 0.875", "t: AUC 0.000"]
    color = channel(chart, "line", "color")
    assert (color["field"], color["sort"], color["legend"]) == ("segment", ["s", "t"], None)


def test_colours_are_models_if_each_segment_has_a_panel():
    table = pl.DataFrame(TABLE).drop("g")
    df = pl.concat([table.with_columns(g=pl.lit(f"g{i}")) for i in range(8)])

    chart = bf.plot.roc(df, "y", ["s", "t"], by="g")

    color = channel(chart, "line", "color")
    assert (color["field"], color["title"], color["sort"]) == ("panel", "model", ["s", "t"])
    assert specification(chart)["facet"]["field"] == "segment"
    found = {row["panel"]: row["text"] for row in texts(chart, segment="g3")}
    # of 4 x 5 pairs 14.5 are in order by s, and 6 by t, ties by half
    assert found == {"s": "AUC 0.725", "t": "AUC 0.300"}


@each_constructor
def test_a_segment_whose_rows_are_dropped_has_an_undefined_area(constructor):
    df = constructor({**TABLE, "s": [*TABLE["s"][:4], None, None, None, None, 0.6]})

    chart = bf.plot.roc(df, "y", "s", by=["g", "h"], missing="drop")

    undefined = [row for row in texts(chart, segment="b") if row["text"].endswith(" AUC undefined")]
    assert [(row["panel"], row["n"]) for row in undefined] == [("x", 0), ("y", 0)]


def test_only_the_highest_and_lowest_of_many_segments_are_drawn():
    df = pl.DataFrame(
        [(f"s{i}", y, s) for i in range(10) for y, s in ((0, 5), (1, 9), *[(0, 10)] * i)],
        schema=["g", "y", "s"],
        orient="row",
    )

    chart = bf.plot.roc(df, "y", "s", by="g", most=4)

    # the positive is above 1 of i + 1 negatives
    assert channel(chart, "line", "color")["sort"] == ["s0", "s1", "s8", "s9"]
    assert [row["roc_auc"] for row in texts(chart)] == pytest.approx([1, 1 / 2, 1 / 9, 1 / 10])
    assert {row["segment"] for row in rows_of(chart)} == {"s0", "s1", "s8", "s9"}
    assert subtitle(chart)[1:] == ["The 2 highest and the 2 lowest; 6 of 10 segments are left out"]


def sites(n, rows=60):
    rng = np.random.default_rng(3)
    g = np.repeat(np.arange(n), rows)
    y = rng.integers(0, 2, g.size)
    s = rng.normal(size=g.size) + y * (0.2 + 2 * g / n)
    return pl.DataFrame({"g": [f"site {one}" for one in g], "y": y, "s": s, "t": -s})


def boxes(chart, panel):
    """Measure the labels of a panel in pixels, each letter not less than 6 wide and 11 high."""
    given = specification(chart)
    size = given.get("spec", given)
    found = [row for row in texts(chart) if panel(row)]
    left = [row["left"] * size["width"] for row in found]
    middle = [(1 - row["height"]) * size["height"] for row in found]
    return [
        (x, y - 5.5, x + 6 * len(row["text"]), y + 5.5)
        for x, y, row in zip(left, middle, found, strict=True)
    ], (size["width"], size["height"])


@cases("n", [1, 2, 3, 4])
def test_labels_stay_in_the_panel_and_do_not_overlap(n):
    chart = bf.plot.roc(sites(n), "y", ["s", "t"], by="g")

    for site in sites(n)["g"].unique():
        found, (width, height) = boxes(chart, lambda row, site=site: row["segment"] == site)
        assert len(found) == 2
        for at, (left, top, right, bottom) in enumerate(found):
            assert left >= 0
            assert top >= 0
            assert right <= width
            assert bottom <= height
            for left_2, top_2, right_2, bottom_2 in found[:at]:
                apart = right <= left_2 or right_2 <= left or bottom <= top_2 or bottom_2 <= top
                assert apart


@pytest.mark.thorough
@cases("n", [1, 2, 4, 6])
@cases("score", ["s", "t"])
def test_labels_are_sorted_by_area_and_do_not_cover_lines(n, score):
    chart = bf.plot.roc(sites(n, 400), "y", score, by="g")
    shares_panel = n <= 4

    for panel in ["all"] if shares_panel else sites(n)["g"].unique():

        def is_in(row, panel=panel):
            return shares_panel or row["segment"] == panel

        found, (width, height) = boxes(chart, is_in)
        assert len({left for left, *_ in found}) == 1
        list_of_areas = sorted(
            (row for row in texts(chart) if is_in(row)), key=lambda row: -row["height"]
        )
        areas = [row["roc_auc"] for row in list_of_areas]
        assert areas == sorted(areas, reverse=True)
        for row in filter(is_in, points(chart)):
            x, y = row["false_positive_rate"] * width, (1 - row["recall"]) * height
            assert not any(
                left < x < right and top < y < bottom for left, top, right, bottom in found
            )


@pytest.mark.parametrize(("n", "is_alone"), [(4, False), (5, True), (30, True)])
def test_more_than_four_segments_have_panels_with_others_in_grey(n, is_alone):
    chart = bf.plot.roc(sites(n), "y", "s", by="g")

    given = specification(chart)
    assert ("facet" in given) == is_alone
    if is_alone:
        layer, rows = behind(chart)
        assert layer["mark"]["color"] == "#8c8c8c"
        drawn = {(row["false_positive_rate"], row["recall"]) for row in points(chart)}
        of_lines = [(row["false_positive_rate"], row["recall"]) for row in rows]
        assert of_lines.count((None, None)) == of_lines.count((1, 1)) == n  # the end and the start
        assert set(of_lines) - {(None, None)} <= drawn
        assert len(rows) <= 41 * n
        assert all(row["text"].startswith("AUC 0.") for row in texts(chart))


@pytest.mark.parametrize(("name", "has_legend"), [("short", False), ("long " * 9, True)])
def test_long_names_are_in_the_legend(name, has_legend):
    df = sites(2).with_columns(pl.col("g").replace("site 0", name))

    chart = bf.plot.roc(df, "y", "s", by="g")

    assert (channel(chart, "line", "color")["legend"] is not None) == has_legend
    assert any(row["text"].startswith(name) for row in texts(chart)) != has_legend
