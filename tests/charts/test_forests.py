"""What forest plots of reports and of gaps share: the order of rows, numbers, hollow points."""

from datetime import date

import pandas as pd
import polars as pl
import pytest
import vl_convert

import balframe as bf
from tests.support.cases import cases
from tests.support.chart_specifications import (
    channel,
    layers_of,
    many,
    rows_of,
    specification,
    subtitle,
)

TABLE = {
    "g": ["a", "a", "a", "a", "b", "b", "b", None],
    "h": ["x", "y", "x", "y", "x", "y", "y", "x"],
    "y": [1, 1, 0, 0, 1, 0, 0, 0],
    "p": [1, 0, 0, 0, 1, 1, 0, 0],
    "q": [1, 1, 1, 1, 1, 1, 1, 1],
}


@cases("name", ["report", "gaps"])
@cases(
    ("option", "value"),
    [("sort", "N"), ("numbers", 1.5), ("min_support", -1), ("min_support", "3")],
)
def test_invalid_options_of_rows_are_refused(name, option, value):
    with pytest.raises(bf.InvalidInputError, match=f"{option}="):
        getattr(bf.plot, name)(pl.DataFrame(TABLE), "y", "p", by="g", **{option: value})


@cases(
    ("sort", "order"),
    [("score", ["b", "c", "a"]), ("name", ["a", "b", "c"]), ("n", ["c", "a", "b"])],
)
@cases("metrics", ["recall", ["recall", "accuracy"]])
def test_segments_are_sorted_by_score_name_or_n(sort, order, metrics):
    # recalls a 1/4, b 2/2, c 3/6; rows 4, 2, 6
    found = {"a": (1, 4), "b": (2, 2), "c": (3, 6)}
    rows = [(g, 1, int(i < right)) for g, (right, n) in found.items() for i in range(n)]
    df = pl.DataFrame(rows, schema=["g", "y", "p"], orient="row")

    given = specification(bf.plot.report(df, "y", "p", by="g", metrics=metrics, sort=sort))

    for part in given.get("concat", [given]):
        points = [one for one in part["layer"] if one["mark"]["type"] == "point"]
        assert [one["encoding"]["y"]["sort"] for one in points] == [order]


@pytest.mark.parametrize(
    ("sort", "kept", "words"),
    [
        ("name", ["s001", "s002", "s069", "s070"], "The 2 highest and the 2 lowest"),
        ("n", ["big", "s001", "s002", "s003"], "The 4 largest"),
    ],
)
def test_segments_left_out_depend_on_the_sort_order(sort, kept, words):
    big = pl.DataFrame({"g": ["big"] * 71, "y": [1] * 71, "p": [1, 0] * 35 + [1], "k": [1] * 71})
    df = pl.concat([many(70), big.cast(many(70).schema)])

    chart = bf.plot.report(df, "y", "p", by="g", metrics="recall", sort=sort, most=4)

    assert channel(chart, "point", "y")["sort"] == kept
    assert subtitle(chart)[-1] == f"{words}; 67 of 71 segments are left out"


@pytest.mark.parametrize(("n", "numbers"), [(20, True), (21, False)])
def test_numbers_are_written_beside_up_to_twenty_rows(n, numbers):
    def is_written(**options):
        chart = bf.plot.report(many(n), "y", "p", by="g", metrics="recall", **options)
        return len(layers_of(chart, "text")) > 1

    assert is_written() == numbers
    assert is_written(numbers=True)
    assert not is_written(numbers=False)


def test_numbers_are_the_estimate_its_limits_and_n():
    df = pl.DataFrame({"g": ["a"] * 1200 + ["b"], "y": [1] * 1200 + [0], "p": [1, 0] * 600 + [0]})
    chart = bf.plot.report(df, "y", "p", by="g", metrics="recall", interval="wilson")

    svg = vl_convert.vegalite_to_svg(chart.to_dict())

    half = 1.959964 * (0.25 / 1200 + 1.959964**2 / (4 * 1200**2)) ** 0.5 / (1 + 1.959964**2 / 1200)
    assert f">0.500 [{0.5 - half:.3f}, {0.5 + half:.3f}]<" in svg
    assert ">1,200<" in svg
    assert ">undefined<" in svg
    assert ">null" not in svg


@pytest.mark.parametrize(("n", "is_hollow"), [(9, True), (10, False)])
def test_points_of_small_segments_are_hollow(n, is_hollow):
    df = pl.DataFrame({"g": ["a"] * 60 + ["b"] * (50 + n), "y": [1] * 30 + [0] * 80 + [1] * n})
    df = df.with_columns(p="y")
    chart = bf.plot.report(df, "y", "p", by="g")

    hollow = [one for one in layers_of(chart, "point") if not one["mark"]["filled"]]
    assert bool(hollow) == is_hollow
    assert ("Hollow: fewer than 10 rows of a label" in subtitle(chart)) == is_hollow
    small = [row["segment"] for row in rows_of(chart) if row["min_support"] < 10]
    assert small == (["b"] if is_hollow else [])
    whole = bf.plot.report(df, "y", "p", by="g", min_support=n)
    assert all(one["mark"]["filled"] for one in layers_of(whole, "point"))


def test_reference_lines_of_several_metrics_share_a_legend():
    chart = bf.plot.report(
        pl.DataFrame(TABLE), "y", "p", by="g", metrics=["accuracy", "balanced_accuracy", "recall"]
    )

    given = specification(chart)
    assert given["title"]["text"] == "Scores by g"
    scales = [
        layer["encoding"]["strokeDash"]["scale"]
        for part in given["concat"]
        for layer in part["layer"]
        if "strokeDash" in layer["encoding"]
    ]
    assert all(one["domain"] == ["all rows", "chance"] for one in scales)
    chances = [
        {row["chance"] for row in given["datasets"][one["data"]["name"]]} for one in given["concat"]
    ]
    assert chances == [{5 / 8}, {1 / 2}, {None}]


BANDS = ["young", "middle", "old", "oldest"]  # by hits: 1, 4, 2, 3 of 4


@cases("library", ["pandas", "polars"])
@cases("by", ["band", "day", "number", bf.bins("number", [2, 3, 4]), bf.period("day", "1mo")])
@cases("name", ["report", "gaps", "compare", "impact", "result"])
def test_values_with_an_order_keep_it(library, by, name):
    rows = [(i, int(j < hits)) for i, hits in enumerate([1, 4, 2, 3]) for j in range(4)]
    df = pl.DataFrame(
        {
            "band": pl.Series([BANDS[i] for i, _ in rows], dtype=pl.Enum(BANDS)),
            "day": [date(2026, 1 + i, 1) for i, _ in rows],
            "number": [1 + i for i, _ in rows],
            "y": [1] * 16,
            "p": [hit for _, hit in rows],
            "q": [0] * 16,
        }
    )
    if library == "pandas":
        df = df.to_pandas()
        df["band"] = pd.Categorical(df["band"].astype(str), BANDS, ordered=True)
    if name == "impact":
        chart = bf.plot.impact(df, "p", by=by, favourable="selected")
    elif name == "result":
        chart = bf.plot(df.bal.report("y", "p", by=by, metrics="recall"))
    else:
        predicted = ["q", "p"] if name == "compare" else "p"
        chart = getattr(bf.plot, name)(df, "y", predicted, by=by, metrics="recall")

    in_order = {
        "band": BANDS,
        "day": [f"2026-0{month}-01" for month in range(1, 5)],
        "number": ["1", "2", "3", "4"],
    }.get(by if isinstance(by, str) else by.column if by.name == "period" else "")
    edges = ["under 2", "2 to 3", "3 to 4", "4 or more"]
    assert channel(chart, "point", "y")["sort"] == (in_order or edges)


def test_booleans_are_sorted_by_score():
    df = pl.DataFrame({"f": [False, True], "y": [1, 1], "p": [0, 1]})
    chart = bf.plot.report(df, "y", "p", by="f", metrics="recall")
    assert [text.split()[-1] for text in channel(chart, "point", "y")["sort"]] == ["True", "False"]
