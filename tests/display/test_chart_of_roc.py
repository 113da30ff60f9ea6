import polars as pl
import pytest
from constructors import plain
from specifications import channel, layers_of, rows_of, shown, specification, subtitle

import balframe as bf

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


def test_points_are_those_of_the_verb(constructor):
    df = constructor(TABLE)

    chart = bf.plot.roc(df, "y", "s", by="g")

    curve = plain(bf.curve(df, "y", "s", by="g", metrics=["false_positive_rate", "recall"]))
    for field in ("false_positive_rate", "recall", "n"):
        assert [row[field] for row in points(chart)] == curve[field]
    first = [(row["false_positive_rate"], row["recall"]) for row in points(chart, segment="a")]
    assert first == [(1, 1), (1 / 2, 1), (0, 1 / 2), (0, 0)]
    assert [row["at"] for row in points(chart)] == list(range(len(curve["n"])))


def test_areas_are_those_of_the_verb(constructor):
    df = constructor(TABLE)

    chart = bf.plot.roc(df, "y", "s", by="g")

    ranking = plain(bf.ranking(df, "y", "s", by="g"))
    found = texts(chart)
    for field in ("roc_auc", "roc_auc_lower", "roc_auc_upper", "n"):
        assert [row[field] for row in found] == ranking[field]
    # of four pairs in a three are in order and one is tied; in b three are in order
    assert [row["text"] for row in found] == ["AUC 0.875", "AUC 0.750", "AUC undefined"]
    heights = [row["height"] for row in found]
    assert heights == sorted(heights, reverse=True)  # as in the legend, the highest area on top
    assert len(set(heights)) == 3


def test_what_is_on_the_channels():
    chart = bf.plot.roc(pl.DataFrame(TABLE), "y", "s", by="g")

    x, y, color = (channel(chart, "line", name) for name in ("x", "y", "color"))
    assert (x["field"], x["title"]) == ("false_positive_rate", "false positive rate")
    assert (y["field"], y["title"]) == ("recall", "recall")
    assert x["scale"] == y["scale"] == {"domain": [0, 1]}
    assert (color["field"], color["title"], color["sort"]) == ("segment", "g", ["a", "b", "null"])
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
    assert subtitle(chart) == []


def test_a_curve_of_all_rows_has_no_legend():
    chart = bf.plot.roc(pl.DataFrame(TABLE), "y", "s")

    assert channel(chart, "line", "color")["legend"] is None
    assert specification(chart)["title"]["text"] == "ROC curve"
    (area,) = texts(chart)
    # 4 positives, 5 negatives: .3 is above 2, .4 above 2 and tied with one, .8 and .9 above all
    assert area["roc_auc"] == pytest.approx((2 + 2.5 + 5 + 5) / 20)


def test_models_have_panels_and_areas_of_their_own():
    chart = bf.plot.roc(pl.DataFrame(TABLE), "y", ["s", "t"], by="g")

    assert specification(chart)["facet"]["sort"] == ["s", "t"]
    areas = [texts(chart, segment="a", panel=model)[0]["roc_auc"] for model in ("s", "t")]
    assert areas == [0.875, 0]
    assert shown(chart, "text")["panel"] == "model"


def test_with_a_panel_for_each_segment_colours_are_models():
    table = pl.DataFrame(TABLE).drop("g")
    df = pl.concat([table.with_columns(g=pl.lit(f"g{i}")) for i in range(8)])

    chart = bf.plot.roc(df, "y", ["s", "t"], by="g")

    color = channel(chart, "line", "color")
    assert (color["field"], color["title"], color["sort"]) == ("panel", "model", ["s", "t"])
    heights = {row["panel"]: row["height"] for row in texts(chart)}
    assert heights["s"] > heights["t"]


def test_rows_left_out_leave_an_area_undefined(constructor):
    df = constructor({**TABLE, "s": [*TABLE["s"][:4], None, None, None, None, 0.6]})

    chart = bf.plot.roc(df, "y", "s", by=["g", "h"], missing="drop")

    undefined = [row for row in texts(chart, segment="b") if row["text"] == "AUC undefined"]
    assert [(row["panel"], row["n"]) for row in undefined] == [("x", 0), ("y", 0)]


def test_of_many_segments_both_ends_are_drawn():
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
    assert subtitle(chart) == ["The 2 highest and the 2 lowest; 6 of 10 segments are left out"]
