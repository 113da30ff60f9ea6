import polars as pl
import pytest

import balframe as bf
from tests.support.cases import cases
from tests.support.chart_specifications import (
    channel,
    layers_of,
    many,
    rows_of,
    shown,
    specification,
    subtitle,
)
from tests.support.constructors import each_constructor, plain

# recalls of 1 and of 0: a 1/2 and 2/2, b 1/1 and 1/2, null none and 1/1; of all rows 2/3 and 4/5
TABLE = {
    "g": ["a", "a", "a", "a", "b", "b", "b", None],
    "h": ["x", "y", "x", "y", "x", "y", "y", "x"],
    "y": [1, 1, 0, 0, 1, 0, 0, 0],
    "p": [1, 0, 0, 0, 1, 1, 0, 0],
    "q": [1, 1, 1, 1, 1, 1, 1, 1],
}


@each_constructor
def test_scores_limits_and_rows_are_those_of_the_method(constructor):
    df = constructor(TABLE)

    chart = bf.plot.report(df, "y", "p", by="g")

    report = plain(
        bf.report(df, "y", "p", by="g", metrics="balanced_accuracy", interval=True, detail=True)
    )
    drawn = {row["segment"]: row for row in rows_of(chart)}
    assert list(drawn) == ["a", "b", "(missing)"]
    for place, row in enumerate(drawn.values()):
        assert row["n"] == report["n"][place]
        assert row["n_labels"] == report["n_labels"][place]
        for field, column in (("estimate", ""), ("lower", "_lower"), ("upper", "_upper")):
            assert row[field] == report["balanced_accuracy" + column][place]
    assert [row["estimate"] for row in drawn.values()] == [3 / 4, 3 / 4, 1]


def test_axes_and_tooltip_have_the_expected_fields_and_titles():
    chart = bf.plot.report(pl.DataFrame(TABLE), "y", "p", by="g", min_support=0)

    x, y = channel(chart, "point", "x"), channel(chart, "point", "y")
    assert (x["field"], x["title"], x["scale"]) == (
        "estimate",
        "balanced accuracy",
        {"zero": False, "padding": 6},
    )
    assert (y["field"], y["sort"]) == ("segment", ["(missing)", "a", "b"])  # the highest first
    assert channel(chart, "point", "size")["field"] == "n"
    limits = next(one for one in layers_of(chart, "rule") if "x2" in one["encoding"])
    assert limits["encoding"]["x"]["field"] == "lower"
    assert limits["encoding"]["x2"]["field"] == "upper"
    assert shown(chart, "point") == {
        "segment": "g",
        "n": "rows",
        "n_labels": "labels present",
        "min_support": "rows of the rarest label",
        "estimate": "balanced accuracy",
        "lower": "lower limit",
        "upper": "upper limit",
        "all_rows": "all rows",
        "chance": "chance, 1/2",
    }
    assert specification(chart)["title"]["text"] == "Balanced accuracy by g"
    assert subtitle(chart) == ["95% confidence intervals"]


@cases(
    ("metric", "all_rows", "chance", "name"),
    [
        ("balanced_accuracy", (2 / 3 + 4 / 5) / 2, 1 / 2, "chance, 1/2"),
        ("uar", (2 / 3 + 4 / 5) / 2, 1 / 2, "chance, 1/2"),
        ("accuracy", 6 / 8, 5 / 8, "chance: the most frequent label"),
        ("informedness", 2 / 3 + 4 / 5 - 1, 0, "chance, 0"),
        ("positive_likelihood_ratio", (2 / 3) / (1 / 5), 1, "chance, 1"),
        ("recall", 2 / 3, None, None),
        ("no_information_rate", 5 / 8, None, None),
    ],
)
def test_lines_of_all_rows_and_of_chance_have_the_expected_values(metric, all_rows, chance, name):
    chart = bf.plot.report(pl.DataFrame(TABLE), "y", "p", by="g", metrics=metric)

    for row in rows_of(chart):
        assert row["all_rows"] == pytest.approx(all_rows, abs=1e-12)
        assert row["chance"] == chance
    rules = [one for one in layers_of(chart, "rule") if "strokeDash" in one["encoding"]]
    names = ["all rows"] if name is None else ["all rows", name]
    assert [one["encoding"]["x"]["field"] for one in rules] == ["all_rows", "chance"][: len(names)]
    scale = rules[0]["encoding"]["strokeDash"]["scale"]
    assert scale == {"domain": names, "range": [[1, 0], [4, 3]][: len(names)]}


def test_chance_follows_the_labels_of_each_model():
    df = pl.DataFrame(
        {"g": ["a", "a", "b", "b"], "y": [0, 1, 2, 0], "p": [0, 1, 2, 0], "q": [0, 1, None, 1]}
    )

    chart = bf.plot.report(df, "y", ["p", "q"], by="g", missing="drop")

    rules = {row["panel"]: (row["all_rows"], row["chance"]) for row in rows_of(chart)}
    assert rules == {"p": (1, 1 / 3), "q": (3 / 4, 1 / 2)}  # q: recalls 1/2 and 1/1
    assert "chance, 1/labels" in shown(chart, "point").values()


@each_constructor
def test_models_are_drawn_in_one_panel_with_lines_of_their_own(constructor):
    chart = bf.plot.report(constructor(TABLE), "y", ["p", "q"], by=["g", "h"], metrics="accuracy")

    assert "facet" not in specification(chart)
    for name in ("color", "shape"):
        encoding = channel(chart, "point", name)
        assert (encoding["field"], encoding["title"]) == ("panel", "model")
        assert encoding["scale"]["domain"] == ["p", "q"]
    assert channel(chart, "point", "yOffset") == {
        "field": "panel",
        "sort": ["p", "q"],
        "type": "nominal",
    }
    assert {row["all_rows"] for row in rows_of(chart, panel="p")} == {6 / 8}
    assert {row["all_rows"] for row in rows_of(chart, panel="q")} == {3 / 8}
    assert {row["segment"] for row in rows_of(chart)} == {
        "a · x",
        "a · y",
        "b · x",
        "b · y",
        "g=(missing) · x",
    }
    assert shown(chart, "point")["panel"] == "model"


def test_more_than_four_models_have_panels():
    df = pl.DataFrame(TABLE).with_columns(a="p", b="p", c="p")
    models = ["p", "q", "a", "b", "c"]
    chart = bf.plot.report(df, "y", models, by="g", metrics="accuracy")

    facet = specification(chart)["facet"]
    assert (facet["field"], facet["title"], facet["sort"]) == ("panel", "model", models)


def test_values_of_a_second_column_have_panels():
    chart = bf.plot.report(pl.DataFrame(TABLE), "y", "p", by=["g", "h"])

    facet = specification(chart)["facet"]
    assert (facet["title"], facet["sort"]) == ("h", ["x", "y"])
    assert len(rows_of(chart, segment="a")) == 2


@pytest.mark.parametrize(("n_values", "panels"), [(12, 12), (13, 1)])
def test_too_many_values_of_a_second_column_join_the_segment(n_values, panels):
    df = pl.DataFrame({"g": ["a"] * n_values, "h": range(n_values), "y": [1] * n_values})
    df = df.with_columns(p="y")

    chart = bf.plot.report(df, "y", "p", by=["g", "h"])

    assert len({row["panel"] for row in rows_of(chart)}) == panels
    assert len({row["segment"] for row in rows_of(chart)}) * panels == max(panels, n_values)
    assert ("facet" in specification(chart)) == (panels > 1)


@pytest.mark.parametrize("n", [1, 3, 60])
def test_up_to_sixty_segments_are_all_drawn(n):
    chart = bf.plot.report(many(n), "y", "p", by="g", metrics="recall", min_support=1)

    highest_first = [f"s{i:03d}" for i in range(n, 0, -1)]
    assert channel(chart, "point", "y")["sort"] == highest_first
    assert [row["estimate"] for row in rows_of(chart)] == [i / n for i in range(1, n + 1)]
    assert subtitle(chart) == ["95% confidence intervals"]


@cases(("most", "highest", "lowest"), [(60, 30, 30), (61, 31, 30), (2, 1, 1), (3, 2, 1)])
def test_only_the_highest_and_lowest_of_many_segments_are_drawn(most, highest, lowest):
    chart = bf.plot.report(many(70), "y", "p", by="g", metrics="recall", most=most)

    kept = [f"s{i:03d}" for i in range(70, 0, -1) if i > 70 - highest or i <= lowest]
    assert channel(chart, "point", "y")["sort"] == kept
    assert sorted(row["segment"] for row in rows_of(chart)) == sorted(kept)
    assert rows_of(chart)[0]["all_rows"] == pytest.approx(71 / 140)  # of all, not of those drawn
    left_out = f"{70 - most} of 70 segments are left out"
    assert subtitle(chart)[1:] == [f"The {highest} highest and the {lowest} lowest; {left_out}"]


def test_undefined_segments_are_left_out_first():
    chart = bf.plot.report(
        many(5, n_undefined=4), "y", "p", by="g", metrics="recall", most=6, min_support=1
    )

    kept = [*(f"s{i:03d}" for i in (5, 4, 3, 2, 1)), "u000"]
    assert channel(chart, "point", "y")["sort"] == kept
    assert subtitle(chart)[1:] == ["3 of 9 segments are left out, all undefined"]


def test_undefined_scores_have_the_note_undefined():
    chart = bf.plot.report(pl.DataFrame(TABLE), "y", "p", by="g", metrics="recall")

    (row,) = rows_of(chart, segment="(missing)")
    assert (row["estimate"], row["note"]) == (None, "undefined")
    assert {row["note"] for row in rows_of(chart) if row["segment"] != "(missing)"} == {None}
    assert "note" in {one["encoding"]["text"].get("field") for one in layers_of(chart, "text")}


def test_without_by_all_rows_are_one_segment():
    chart = bf.plot.report(pl.DataFrame(TABLE), "y", "p", interval=None, min_support=3)

    (row,) = rows_of(chart)
    assert (row["segment"], row["n"], row["lower"]) == ("(all)", 8, None)
    rules = [one["encoding"] for one in layers_of(chart, "rule") if "strokeDash" in one["encoding"]]
    assert [one["x"]["field"] for one in rules] == ["chance"]
    assert specification(chart)["title"] == {
        "text": "Balanced accuracy",
        "subtitle": [],
        "anchor": "start",
        "offset": 12,
    }


def test_options_are_passed_on_to_report():
    weighted = pl.DataFrame(TABLE).with_columns(w=pl.Series([3.0, 1.0] * 4), k=pl.Series([2] * 8))
    cells = bf.confusion(weighted, "y", "p", by="g", sample_weight="w", counts="k")

    chart = bf.plot.report(
        cells,
        "y",
        "p",
        by="g",
        metrics="weighted_balanced_accuracy",
        class_weight={0: 1, 1: 3},
        level=0.9,
        min_support=0,
        labels=bf.label_set(absent="null"),
    )

    rows = {row["segment"]: row for row in rows_of(chart)}
    assert [rows[name]["n"] for name in ("a", "b", "(missing)")] == [8, 6, 2]
    # a: of label 1 weight 3 of 4 is right, of label 0 all; b: all of 1, of label 0 weight 3 of 4
    assert rows["a"]["estimate"] == pytest.approx((3 * 3 / 4 + 1) / 4)
    assert rows["b"]["estimate"] == pytest.approx((3 + 3 / 4) / 4)
    assert rows["(missing)"]["note"] == "undefined"
    assert subtitle(chart) == ["90% confidence intervals"]


def test_models_without_segments_are_rows_of_one_panel():
    chart = bf.plot.report(pl.DataFrame(TABLE), "y", ["p", "q"], metrics="accuracy")

    assert "facet" not in specification(chart)
    # right: p in 6 of 8 rows, q in the 3 positive ones
    assert [(row["segment"], row["estimate"]) for row in rows_of(chart)] == [
        ("p", 6 / 8),
        ("q", 3 / 8),
    ]
    # always predicting the most frequent label, 0, is right in 5 of 8
    assert {row["chance"] for row in rows_of(chart)} == {5 / 8}
