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

# right: a 18 of 20, b 10 of 20, c 11 of 20
RIGHT = {"a": 18, "b": 10, "c": 11}
TABLE = {
    "g": [name for name in RIGHT for _ in range(20)],
    "h": ["x", "y"] * 30,
    "y": [1] * 60,
    "p": [int(i < right) for right in RIGHT.values() for i in range(20)],
    "q": [1, 0] * 30,
}


@each_constructor
def test_differences_limits_and_p_values_are_those_of_the_method(constructor):
    df = constructor(TABLE)

    chart = bf.plot.gaps(df, "y", "p", by="g", metrics="accuracy")

    gaps = plain(bf.gaps(df, "y", "p", by="g", metrics="accuracy", detail=True))
    drawn = {row["segment"]: row for row in rows_of(chart)}
    assert list(drawn) == gaps["g"]
    pairs = {"estimate": "difference", "score": "estimate"}
    for field in ("n", "estimate", "lower", "upper", "score", "reference_estimate", "p_adjusted"):
        column = pairs.get(field, field)
        assert [row[field] for row in drawn.values()] == gaps[column]
    assert drawn["a"]["estimate"] == pytest.approx(18 / 20 - 21 / 40)
    assert drawn["b"]["estimate"] == pytest.approx(10 / 20 - 29 / 40)


def test_axes_and_tooltip_have_the_expected_fields_and_titles():
    chart = bf.plot.gaps(pl.DataFrame(TABLE), "y", "p", by="g", metrics="accuracy")

    x, y = channel(chart, "point", "x"), channel(chart, "point", "y")
    assert (x["field"], x["title"]) == ("estimate", "difference in accuracy")
    assert (y["field"], y["sort"]) == ("segment", ["a", "c", "b"])
    assert shown(chart, "point") == {
        "segment": "g",
        "n": "rows",
        "min_support": "rows of the rarest label",
        "difference": "difference",
        "lower": "lower limit",
        "upper": "upper limit",
        "score": "accuracy",
        "reference_estimate": "score of the reference",
        "p_adjusted": "p-value, adjusted",
    }
    rule = next(one["encoding"] for one in layers_of(chart, "rule") if "x2" not in one["encoding"])
    assert rule["x"] == {"aggregate": "min", "field": "zero", "type": "quantitative"}
    assert {row["zero"] for row in rows_of(chart)} == {0}


@pytest.mark.parametrize(("level", "marked"), [(0.5, {"a", "b"}), (0.95, {"a"}), (0.99999, set())])
def test_significant_segments_are_marked(level, marked):
    # a: 18 of 20 against 21 of 40, p about .004, times 3/1 for three comparisons; b: 10 of 20
    # against 29 of 40, about .09; c: 11 of 20 against 28 of 40, about .25
    chart = bf.plot.gaps(pl.DataFrame(TABLE), "y", "p", by="g", metrics="accuracy", level=level)

    found = {row["segment"] for row in rows_of(chart) if row["mark"] != "not decided"}
    assert marked <= found
    assert ("a" in found) == ("a" in marked)
    for row in rows_of(chart):
        is_significant = row["p_adjusted"] < 1 - level
        direction = "better" if row["estimate"] > 0 else "worse"
        assert row["mark"] == (direction if is_significant else "not decided")
    styles = {
        "better": ("square", "#2490d8"),
        "worse": ("diamond", "#d86000"),
        "not decided": ("circle", "#8c8c8c"),
    }
    names = {row["mark"] for row in rows_of(chart)}
    drawn = [name for name in styles if name in names]
    for position, name in enumerate(("shape", "color")):
        scale = channel(chart, "point", name)["scale"]
        assert scale == {"domain": drawn, "range": [styles[mark][position] for mark in drawn]}


def test_a_metric_without_a_direction_is_marked_as_higher_or_lower():
    chart = bf.plot.gaps(pl.DataFrame(TABLE), "y", "p", by="g", metrics="selection_rate")

    # a: 18 of 20 selected, against 21 of 40
    assert [row["mark"] for row in rows_of(chart)] == ["higher", "not decided", "not decided"]


@cases(
    ("reference", "words"),
    [
        ("rest", "the rest"),
        ("overall", "all rows"),
        ("largest", "a"),
        ("best", "a"),
        ("c", "c"),
        ({"g": "b"}, "b"),
    ],
)
def test_the_title_names_the_reference(reference, words):
    chart = bf.plot.gaps(
        pl.DataFrame(TABLE), "y", "p", by="g", metrics="accuracy", reference=reference
    )

    text = specification(chart)["title"]["text"]
    assert text == f"Accuracy: difference from {words} by g"


def test_the_title_names_a_null_reference_as_missing():
    df = pl.DataFrame(TABLE).with_columns(pl.col("g").replace("b", None))

    chart = bf.plot.gaps(df, "y", "p", by="g", metrics="accuracy", reference={"g": None})

    assert "(missing)" in channel(chart, "point", "y")["sort"]
    text = specification(chart)["title"]["text"]
    assert text == "Accuracy: difference from (missing) by g"


def test_the_title_names_the_option_if_references_differ_between_models():
    df = pl.DataFrame({**TABLE, "q": [1 - one for one in TABLE["p"]]})

    chart = bf.plot.gaps(df, "y", ["p", "q"], by="g", metrics="accuracy", reference="best")

    assert specification(chart)["title"]["text"] == "Accuracy: difference from the best by g"
    assert specification(chart)["facet"]["sort"] == ["p", "q"]
    # of p the best is a, of q it is b
    assert rows_of(chart, panel="p", segment="a")[0]["estimate"] == 0
    assert rows_of(chart, panel="q", segment="b")[0]["estimate"] == 0


@cases(
    ("options", "words"),
    [
        ({}, "; p-values of 3 comparisons, adjusted by Benjamini-Hochberg"),
        ({"adjust": "holm"}, "; p-values of 3 comparisons, adjusted by Holm's method"),
        ({"adjust": None}, "; p-values of 3 comparisons, not adjusted"),
        (
            {"reference": "a"},
            "; p-values of 2 comparisons, adjusted by Benjamini-Hochberg",
        ),
        ({"metrics": "f1"}, "; no p-values"),
        ({"level": 0.9}, "; p-values of 3 comparisons, adjusted by Benjamini-Hochberg"),
    ],
)
def test_the_line_below_the_title_says_how_p_values_are_adjusted(options, words):
    chart = bf.plot.gaps(
        pl.DataFrame(TABLE), "y", "p", by="g", **{"metrics": "accuracy", **options}
    )

    assert subtitle(chart) == [
        ("90%" if "level" in options else "95%") + " confidence intervals" + words
    ]


def test_the_tooltip_of_unadjusted_p_values_does_not_mention_adjustment():
    chart = bf.plot.gaps(pl.DataFrame(TABLE), "y", "p", by="g", adjust=None)

    assert shown(chart, "point")["p_adjusted"] == "p-value"


def test_a_single_segment_has_an_undefined_difference_from_the_rest():
    df = pl.DataFrame(TABLE).with_columns(g=pl.lit("a"))

    with pytest.warns(bf.BalframeWarning, match="all rows are in one segment"):
        chart = bf.plot.gaps(df, "y", "p", by="g", metrics="accuracy")

    (row,) = rows_of(chart)
    assert (row["estimate"], row["note"], row["mark"]) == (None, "undefined", "not tested")
    assert row["score"] == pytest.approx(39 / 60)


def test_of_many_segments_the_furthest_from_the_rest_are_drawn():
    n = 70
    df = pl.DataFrame(
        [(f"s{i:03d}", 1, int(j < i)) for i in range(1, n + 1) for j in range(n)],
        schema=["g", "y", "p"],
        orient="row",
    )

    chart = bf.plot.gaps(df, "y", "p", by="g", metrics="recall", most=11)

    kept = [f"s{i:03d}" for i in (70, 69, 68, 67, 66, 65, 5, 4, 3, 2, 1)]
    assert channel(chart, "point", "y")["sort"] == kept
    assert {row["segment"] for row in rows_of(chart)} == set(kept)
    assert subtitle(chart) == [
        "95% confidence intervals; p-values of 70 comparisons, adjusted by Benjamini-Hochberg",
        "The 6 highest and the 5 lowest; 59 of 70 segments are left out",
    ]


def test_weighted_cells_of_two_columns_are_drawn_in_panels():
    df = pl.DataFrame(TABLE).with_columns(w=pl.lit(2.0))
    cells = bf.confusion(df, "y", "p", by=["g", "h"], sample_weight="w")

    chart = bf.plot.gaps(cells, "y", "p", by=["g", "h"], metrics="accuracy")

    assert specification(chart)["facet"]["title"] == "h"
    (row,) = rows_of(chart, segment="a", panel="x")  # 9 of its 10 rows are right
    assert row["estimate"] == pytest.approx(9 / 10 - (39 - 9) / 50)
