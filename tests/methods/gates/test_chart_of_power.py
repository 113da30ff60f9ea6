"""The chart of `power`: its curves are those that the method computes."""

import polars as pl
import pytest
import vl_convert

import balframe as bf
from tests.support.chart_specifications import channel, layers_of, rows_of, subtitle
from tests.support.constructors import plain
from tests.support.frames.partly_labelled import answers

CASES = {  # 150 positives at a and 15 at b, none at c
    "site": ["a", "a", "b", "b", "c"],
    "y": [1, 1, 1, 1, 0],
    "yhat": [1, 0, 1, 0, 0],
    "old": [1, 1, 1, 0, 0],
    "n": [135, 15, 14, 1, 10],
}
ASKED = {"by": "site", "counts": "n", "rules": "recall >= 0.85"}


def points_of(chart, segment):
    return [
        (row["detectable_difference"], row["power"])
        for row in rows_of(chart)
        if row["segment"] == segment
    ]


def test_curves_are_those_of_the_method(constructor):
    df = constructor(CASES)

    chart = bf.plot.power(df, "y", "yhat", **ASKED)

    result = plain(bf.power(df, "y", "yhat", power=[0.5, 0.8, 0.98], **ASKED))
    for segment in "ab":
        expected = [
            (result["detectable_difference"][i], result["power"][i])
            for i, site in enumerate(result["site"])
            if site == segment
        ]
        assert len(expected) == 3
        assert set(expected) <= set(points_of(chart, segment))
    assert points_of(chart, "c") == []


def test_the_curve_of_a_failing_segment_starts_at_a_difference_of_0():
    df = pl.DataFrame(CASES).with_columns(yhat=1 - pl.col("yhat"))  # which fails as it is

    points = points_of(bf.plot.power(df, "y", "yhat", **ASKED), "a")

    assert [fall for fall, _ in points].count(0) == 1
    assert points == sorted(points)


def test_axes_and_titles_have_the_expected_texts():
    chart = bf.plot.power(pl.DataFrame(CASES), "y", "yhat", **ASKED)

    assert chart.to_dict()["title"]["text"] == "Power of recall >= 0.85 by site"
    assert subtitle(chart) == ["Dashed line: a power of 0.8", "Never found to fail: c"]
    assert channel(chart, "line", "x")["title"] == "worse by"
    assert channel(chart, "line", "y")["title"] == "probability to fail"
    assert channel(chart, "rule", "y")["datum"] == 0.8


def test_rough_curves_are_dashed(monkeypatch):
    monkeypatch.setattr("balframe.methods.gates.charts._POWERS", [0.5, 0.8])  # each takes long
    rules = "recall >= baseline - 0.1"

    chart = bf.plot.power(
        pl.DataFrame(CASES), "y", "yhat", by="site", counts="n", rules=rules, baseline="old"
    )

    reliability = {row["segment"]: row["reliability"] for row in rows_of(chart)}
    assert reliability == {"a": "rough", "b": "rough"}  # 15 and no rows that differ
    assert subtitle(chart)[0] == "Dashed line: a power of 0.8; dashed curves are rough"
    (line,) = layers_of(chart, "line")
    assert line["encoding"]["strokeDash"]["condition"]["value"] == [5, 3]


def test_rules_are_drawn_in_a_single_column():
    rules = ["recall >= 0.85", "accuracy >= 0.8"]

    drawn = bf.plot.power(pl.DataFrame(CASES), "y", "yhat", **{**ASKED, "rules": rules}).to_dict()

    assert [one["title"]["text"] for one in drawn["concat"]] == rules
    assert drawn["columns"] == 1


@pytest.mark.parametrize("rule", ["accuracy >= 0.8", "precision >= 0.9"])
def test_curves_of_labels_are_the_plans_of_the_method(rule):
    rows = answers(4000, share=0.1)
    options = {"by": "category", "missing": bf.correct("model"), "rules": rule}

    drawn = rows_of(bf.plot.power(rows, "human", "judge", **options))

    plan = bf.power(rows, "human", "judge", power=[0.5, 0.8, 0.9], **options)
    needed, is_needed = pl.col("labels_needed"), pl.col("labels_needed") > 0
    totals = plan.group_by("category", "power", maintain_order=True).agg(
        labels=pl.when(needed.null_count() == 0).then(needed.sum()),
        existing=pl.col("n_labelled").filter(is_needed).sum(),
        n=pl.col("n").sum(),
    )
    assert totals["labels"].null_count() == 3  # of maths, which violates the rule
    for total in totals.iter_rows(named=True):
        of_segment = [row for row in drawn if row["segment"] == total["category"]]
        if total["labels"] is None:
            assert of_segment == []
            continue
        (at,) = (row for row in of_segment if row["power"] == total["power"])
        (existing,) = (row for row in of_segment if row["n_labelled"] is not None)
        assert (at["labels_needed"], at["n"]) == (total["labels"], total["n"])
        assert (existing["n_labelled"], existing["power"]) == (
            total["existing"],
            existing["power_at_zero"],
        )


def test_axes_and_titles_of_a_chart_of_labels_have_the_expected_texts():
    rows = answers(4000, share=0.1)
    options = {"by": "category", "missing": "correct", "rules": "accuracy >= 0.8"}

    chart = bf.plot.power(rows, "human", "judge", **options)

    assert chart.to_dict()["title"]["text"] == "Power of accuracy >= 0.8 by category"
    assert subtitle(chart) == [
        "Dashed line: a power of 0.8; points: the existing labels",
        "No labels suffice: maths",
    ]
    assert channel(chart, "line", "x")["title"] == "rows with a true label"
    assert channel(chart, "point", "y")["title"] == "probability to pass"
    assert {row["segment"] for row in rows_of(chart)} == {"code"}
    assert vl_convert.vegalite_to_png(chart.to_dict()).startswith(b"\x89PNG")


@pytest.mark.parametrize("many", [3, 9])
def test_charts_of_few_and_many_segments_are_rendered_as_png(many):
    df = pl.DataFrame(
        {"g": list("abcdefghi")[:many] * 2, "y": [1] * 2 * many, "p": [1] * many + [0] * many}
    ).with_columns(n=pl.int_range(5, 5 + 2 * many))

    chart = bf.plot.power(df, "y", "p", by="g", counts="n", rules="recall >= 0.3")

    assert vl_convert.vegalite_to_png(chart.to_dict()).startswith(b"\x89PNG")
