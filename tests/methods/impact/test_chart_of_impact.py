"""The chart of `impact`: what is drawn is what the method returns, a panel for each table."""

import re

import pandas as pd
import polars as pl
import pytest
import vl_convert

import balframe as bf
from tests.support.cases import cases
from tests.support.chart_specifications import (
    channel,
    every_layer,
    rows_of,
    shown,
    specification,
    subtitle,
)
from tests.support.constructors import plain
from tests.support.frames.selected_people import ASKED, PEOPLE

SMALL = "too small to be compared"
MARKS = ["p below 0.05", "not significant"]


def drawn(selected="s", frame=None, **options):
    frame = pl.DataFrame(PEOPLE) if frame is None else frame
    return bf.plot.impact(frame, selected, **(ASKED | options))


def parts_of(chart):
    """List the panels, each with its title and rows."""
    given = specification(chart)
    return [
        (part.get("title", {}).get("text"), given["datasets"][part["data"]["name"]], part)
        for part in given.get("concat", [given])
    ]


def order_of(part):
    """Find the order of the rows of a panel."""
    (points,) = [one for one in every_layer(part) if one["mark"]["type"] == "point"]
    return points["encoding"]["y"]["sort"]


def encodings(chart, name):
    """List the encodings of a channel in all layers."""
    all_layers = (one["encoding"] for one in every_layer(specification(chart)))
    return [one[name] for one in all_layers if name in one]


@pytest.fixture(scope="module")
def chart():
    return drawn()


@pytest.fixture(scope="module")
def result():
    return bf.impact(pl.DataFrame(PEOPLE), "s", detail=True, **ASKED)


def test_each_table_has_a_panel_with_the_numbers_of_the_method(chart, result):
    found = parts_of(chart)

    assert [title for title, _, _ in found] == ["By sex", "By race", "By sex, race"]
    rows = [row for _, some, _ in found for row in some]
    known = plain(result.filter(pl.col("role") != "unknown"))
    for name in ("n", "n_favourable", "rate", "highest", "lower", "upper", "bound", "p_adjusted"):
        assert [row[name] for row in rows] == known[name]
    assert [row["estimate"] for row in rows] == known["impact_ratio"]
    assert [row["segment"] for row in rows] == [
        *["F", "M", "A", "B", "C"],
        *["F · A", "F · B", "F · C", "M · A", "M · B", "M · C"],
    ]
    assert rows[0]["estimate"] == pytest.approx((30 / 100) / (60 / 120), abs=1e-15)


@pytest.mark.parametrize("library", [pd.DataFrame, pl.LazyFrame])
def test_every_library_draws_the_same(library):
    assert rows_of(drawn(frame=library(PEOPLE), by="race")) == rows_of(drawn(by="race"))


def test_the_title_says_what_is_drawn_and_how_p_values_are_adjusted(chart):
    assert specification(chart)["title"]["text"] == "Impact ratio by sex and race"
    assert subtitle(chart) == [  # 1, 1 and 3 of those compared are not the most selected
        "95% confidence intervals; p-values of 5 comparisons, adjusted by Benjamini-Hochberg "
        "within each table"
    ]
    assert {one["title"] for one in encodings(chart, "x") if "title" in one} == {"impact ratio"}


@pytest.mark.parametrize(
    ("options", "level", "how"),
    [
        ({}, "95%", "adjusted by Benjamini-Hochberg"),
        ({"adjust": None, "level": 0.9}, "90%", "not adjusted"),
    ],
)
def test_a_single_table_has_no_panel_heading(options, level, how):
    chart = drawn(by="race", **options)

    ((title, rows, part),) = parts_of(chart)
    assert title == "Impact ratio by race"
    assert subtitle(chart) == [f"{level} confidence intervals; p-value of 1 comparison, {how}"]
    assert [row["segment"] for row in rows] == order_of(part) == ["A", "B", "C"]
    assert shown(chart, "point") == {
        "segment": "race",
        "n": "rows",
        "n_favourable": "with the favourable result",
        "rate": "rate of the favourable result",
        "highest": "highest rate",
        "estimate": "impact ratio",
        "lower": "lower limit",
        "upper": "upper limit",
        "p_adjusted": "p-value, adjusted",
    }


def test_small_categories_have_a_note_and_no_point(chart):
    _, (_, rows, _), _ = parts_of(chart)

    assert {row["segment"]: row["note"] for row in rows} == {"A": None, "B": None, "C": SMALL}
    (small,) = [row for row in rows if row["note"]]
    assert (small["estimate"], small["lower"], small["upper"], small["n"]) == (None, None, None, 3)
    assert {one.get("field") for one in encodings(chart, "text")} >= {"note"}


def test_rows_of_unknown_category_are_not_drawn(chart):
    found = parts_of(chart)

    assert [sum(row["n"] for row in rows) for _, rows, _ in found] == [220, 212, 208]
    assert not any("(missing)" in row["segment"] for _, rows, _ in found for row in rows)


def test_a_by_column_whose_categories_are_all_unknown_has_no_panel():
    chart = drawn(frame=pl.DataFrame(PEOPLE).with_columns(sex=pl.lit(None, dtype=pl.String)))

    assert [title for title, _, _ in parts_of(chart)] == ["Impact ratio by race"]


def test_each_panel_is_sorted_separately(chart):
    assert [order_of(part) for _, _, part in parts_of(chart)] == [
        ["M", "F"],  # ratios 1 and .6
        ["A", "B", "C"],  # 1, .81 and none
        ["M · A", "M · B", "F · A", "F · B", "F · C", "M · C"],  # 1, .78, .58, .47 and none
    ]


@pytest.mark.parametrize(
    ("sort", "order"),
    [("score", ["B", "Z", "C"]), ("name", ["B", "C", "Z"]), ("n", ["Z", "B", "C"])],
)
def test_sort_sets_the_order_of_the_categories(sort, order):
    # 72 of 134 are not selected, now called Z, 47 of 75 of B, and 2 of 3 of C
    frame = pl.DataFrame(PEOPLE).with_columns(pl.col("race").replace("A", "Z"))

    ((_, _, part),) = parts_of(drawn(frame=frame, by="race", pos_label=0, sort=sort))

    assert order_of(part) == order


def test_only_extreme_categories_are_drawn_and_the_subtitle_names_the_panel():
    chart = drawn(most=2)

    assert [order_of(part) for _, _, part in parts_of(chart)] == [
        ["M", "F"],
        ["A", "B"],
        ["M · A", "F · B"],
    ]
    assert subtitle(chart)[1:] == [
        "By race: 1 of 3 segments is left out, all undefined",
        "By sex, race: the 1 highest and the 1 lowest; 4 of 6 segments are left out",
    ]


@pytest.mark.parametrize("bound", [0.8, 0.9])
def test_the_bound_is_a_line_in_every_panel(chart, bound):
    chart = chart if bound == 0.8 else drawn(by="race", bound=bound)

    rules = [one for one in encodings(chart, "x") if one.get("field") == "bound"]
    assert len(rules) == len(parts_of(chart))
    assert {row["bound"] for _, rows, _ in parts_of(chart) for row in rows} == {bound}
    names = {tuple(one["scale"]["domain"]) for one in encodings(chart, "strokeDash")}
    assert names == {(f"bound {bound}",)}


@pytest.mark.parametrize(("level", "marked"), [(0.95, {"F"}), (0.9999, set())])
def test_significant_categories_are_marked(level, marked):
    # 30 of 100 against 60 of 120: z = -.2 / sqrt(.409 * .591 * (1/100 + 1/120)), about -3, p .003
    chart = drawn(by="sex", level=level)

    name = f"p below {1 - level:.6g}"
    assert {row["segment"] for row in rows_of(chart, mark=name)} == marked
    assert {row["segment"] for row in rows_of(chart, mark="not significant")} == {"F", "M"} - marked
    scale = channel(chart, "point", "shape")["scale"]
    assert scale == {"domain": [name, "not significant"], "range": ["diamond", "circle"]}


def test_panels_share_their_axis_width_and_legend(chart, result):
    domains = [one["scale"]["domain"] for one in encodings(chart, "x") if "scale" in one]
    assert domains == [[result["lower"].min(), 1]] * 3
    sizes = [one["legend"]["values"] for one in encodings(chart, "size")]
    assert sizes == [[1, 10, 100]] * 3  # of 1 to 134 people
    assert len({part["width"] for _, _, part in parts_of(chart)}) == 1
    written = re.findall(r">([^<]+)</text>", vl_convert.vegalite_to_svg(specification(chart)))
    for once in ("bound 0.8", *MARKS):
        assert written.count(once) == 1
    assert written.count(SMALL) == 3
    lower, upper = result.filter(grouped_by="race", race="B").select("lower", "upper").row(0)
    assert f"0.807 [{lower:.3f}, {upper:.3f}]" in written
    assert written.count("134") == 1


def test_each_model_is_drawn_in_a_separate_facet():
    frame = pl.DataFrame(PEOPLE).with_columns(t=1 - pl.col("s"))

    ((_, rows, part),) = parts_of(drawn(["s", "t"], frame, by="sex"))

    assert (part["facet"]["title"], part["facet"]["sort"]) == ("model", ["s", "t"])
    ratios = {(row["segment"], row["panel"]): row["estimate"] for row in rows}
    assert ratios == pytest.approx(
        {("F", "s"): 0.3 / 0.5, ("M", "s"): 1, ("F", "t"): 1, ("M", "t"): 0.5 / 0.7}
    )


def test_rows_with_scores_above_the_median_are_selected():
    frame = pl.DataFrame({"g": ["a", "b"] * 20, "x": range(40)})

    chart = bf.plot.impact(frame, score="x", favourable="selected", by="g")

    assert specification(chart)["title"]["text"] == "Impact ratio of scores above the median by g"
    assert [(row["n_favourable"], row["estimate"]) for row in rows_of(chart)] == [(10, 1), (10, 1)]


@pytest.mark.parametrize(
    "names",
    [["note", "estimate"], ["min_support", "<script>"]],
    ids=str,
)
def test_by_columns_with_reserved_names_are_drawn(names):
    frame = pl.DataFrame(PEOPLE).rename(dict(zip(("sex", "race"), names, strict=True)))

    found = parts_of(drawn(frame=frame, by=names))

    sex, race = (name.replace("<", "<\u2060") for name in names)
    assert [title for title, _, _ in found] == [f"By {sex}", f"By {race}", f"By {sex}, {race}"]
    assert [row["segment"] for row in found[1][1]] == ["A", "B", "C"]
    assert [row["note"] for row in found[1][1]] == [None, None, SMALL]
    assert found[0][1][0]["estimate"] == pytest.approx(0.6)


def test_special_category_values_are_drawn_as_text():
    names = ["</script>", "(missing)", None, "", "<!--", "a · b"]
    frame = pl.DataFrame({"g": names, "s": [1, 0, 1, 1, 0, 1]})

    rows = rows_of(bf.plot.impact(frame, "s", favourable="selected", by="g"))

    assert sorted(row["segment"] for row in rows) == sorted(
        ['""', '"(missing)"', "<\u2060!--", "<\u2060/script>", "a · b"]
    )


def test_ratios_without_selected_rows_have_the_note_undefined():
    # y and z have nobody selected; x is too small
    rows = {"g": ["x", "y", "z"], "h": ["x", "y", "z"], "s": [1, 0, 0], "n": [1, 100, 100]}

    chart = bf.plot.impact(
        pl.DataFrame(rows), "s", favourable="selected", by=["g", "h"], counts="n"
    )

    for _, drawn_rows, _ in parts_of(chart):
        assert [row["note"] for row in drawn_rows] == [SMALL, "undefined", "undefined"]
    assert subtitle(chart) == ["95% confidence intervals; no p-values"]
    domains = {tuple(one["scale"]["domain"]) for one in encodings(chart, "x") if "scale" in one}
    ((low, high),) = domains
    assert low < 0.8 < high


def test_a_frame_without_rows_raises():
    with pytest.raises(bf.InvalidInputError, match="no rows, so there is nothing to draw"):
        drawn(frame=pl.DataFrame(PEOPLE).clear())


@cases(
    ("options", "words"),
    [
        ({"most": 1}, "most=1 is not a number of segments; give 2 or more"),
        ({"sort": "rate"}, "sort='rate'.*'score', 'name', 'n'"),
        ({"numbers": 2}, "numbers=2"),
        ({"min_share": 2}, "min_share=2 is not a share"),
        ({"score": "n"}, "impact needs either selected, .* but both are given"),
    ],
)
def test_invalid_options_raise(options, words):
    with pytest.raises(bf.InvalidInputError, match=words):
        drawn(**options)


def test_options_of_other_charts_raise():
    with pytest.raises(TypeError, match="'min_support' not found; did you mean 'min_share'"):
        drawn(min_support=3)
