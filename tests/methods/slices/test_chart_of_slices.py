"""The chart of `slices`: what is drawn is what the method returns."""

import re

import polars as pl
import pytest
import vl_convert

import balframe as bf
from tests.support.chart_specifications import (
    channel,
    layers_of,
    rows_of,
    shown,
    specification,
    subtitle,
)
from tests.support.constructors import each_constructor, plain

SITES = {  # recall .9 at a and b; at c .5 of the young and .85 of the old
    "site": ["a", "a", "b", "b", "c", "c", "c", "c"],
    "age": ["young", "young", "old", "old", "young", "young", "old", "old"],
    "y": [1] * 8,
    "yhat": [1, 0] * 4,
    "n": [360, 40, 360, 40, 50, 50, 85, 15],
}
ASKED = {"over": ["site", "age"], "metrics": "recall", "counts": "n"}
RIGHT, ALL = 360 + 360 + 50 + 85, 400 + 400 + 100 + 100


@each_constructor
def test_scores_and_limits_are_those_of_the_method(constructor):
    df = constructor(SITES)

    chart = bf.plot.slices(df, "y", "yhat", **ASKED)

    result = plain(bf.slices(df, "y", "yhat", detail=True, **ASKED))
    (row,) = rows_of(chart)
    assert row["segment"] == result["slice"][0] == "site = c and age = young"
    for name in ("n", "wrong", "estimate", "rest", "difference", "p_adjusted", "n_explained"):
        assert row[name] == result[name][0]
    assert row["estimate"] == 0.5
    assert row["rest"] == (RIGHT - 50) / (ALL - 100)
    assert row["lower"] == row["rest"] + result["lower"][0] < row["estimate"]
    assert row["estimate"] < row["upper"] == row["rest"] + result["upper"][0] < row["rest"]
    assert (row["difference_lower"], row["difference_upper"]) == (
        result["lower"][0],
        result["upper"][0],
    )


def test_axes_tooltip_and_titles_have_the_expected_texts():
    chart = bf.plot.slices(pl.DataFrame(SITES), "y", "yhat", **ASKED)

    assert channel(chart, "point", "x")["title"] == "Recall"
    assert channel(chart, "tick", "x")["field"] == "rest"
    assert shown(chart, "point")["difference_upper"] == "upper limit of the difference"
    assert (
        specification(chart)["title"]["text"] == "Recall: the worst slices of 9"
    )  # 3 sites, 2 ages, 4 of both
    assert subtitle(chart) == [
        "Ticks: the rest of the rows. Limits: difference from the rest, each 95% confidence for "
        "all slices"
    ]
    written = [one["transform"] for one in layers_of(chart, "text") if "transform" in one]
    assert "datum.difference_lower" in str(written)


def test_a_metric_without_limits_is_drawn_with_ticks_only():
    chart = bf.plot.slices(
        pl.DataFrame(SITES), "y", "yhat", **(ASKED | {"metrics": "f1"}), pos_label=1, top=2
    )

    assert subtitle(chart) == ["Ticks: the rest of the rows"]
    assert [row["segment"] for row in rows_of(chart)] == ["site = c and age = young", "site = c"]
    assert {row["lower"] for row in rows_of(chart)} == {None}


@pytest.mark.filterwarnings("ignore:no slice is listed")
def test_a_search_that_lists_no_slice_raises():
    with pytest.raises(bf.InvalidInputError, match="no slice is listed, so there is nothing"):
        bf.plot.slices(pl.DataFrame(SITES), "y", "yhat", **(ASKED | {"over": "age"}), level=0.9999)


def test_searched_columns_named_like_chart_fields_are_drawn():
    df = pl.DataFrame(SITES).rename({"site": "model", "age": "segment"})

    chart = bf.plot.slices(df, "y", "yhat", over=["model", "segment"], metrics="recall", counts="n")

    assert [row["segment"] for row in rows_of(chart)] == ["model = c and segment = young"]


def test_a_long_slice_has_a_line_for_each_condition():
    compas = bf.datasets.compas_by_age_and_sex()
    options = {"counts": "n", "metrics": "false_positive_rate"}

    chart = bf.plot.slices(compas, "reoffended", "high_risk", **options)

    svg = vl_convert.vegalite_to_svg(chart.to_dict())
    written = re.findall(r">([^<]+)</(?:text|tspan)>", svg)
    longest = max((row["segment"] for row in rows_of(chart)), key=len)
    assert longest == "race = African-American and sex = Male and age = 25 to 45"
    lines = ["race = African-American and", "sex = Male and", "age = 25 to 45"]
    at = written.index(lines[0])
    assert written[at : at + 3] == lines
    assert "race = African-American" in written  # the slice of one condition
