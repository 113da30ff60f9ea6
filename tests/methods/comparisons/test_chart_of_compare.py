"""The chart of `compare`: which model is better, and for whom."""

import polars as pl
import pytest

import balframe as bf
from tests.support.cases import cases
from tests.support.chart_specifications import (
    channel,
    layers_of,
    rows_of,
    specification,
    subtitle,
)
from tests.support.constructors import each_constructor, plain

# rows that both get right, only the new one, only the old one, and neither
ROWS = {"a": [70, 12, 3, 15], "b": [80, 5, 5, 10], "c": [60, 2, 18, 20]}
TABLE = {
    "g": [name for name in ROWS for _ in range(4)],
    "y": [1] * 12,
    "new": [1, 1, 0, 0] * 3,
    "old": [1, 0, 1, 0] * 3,
    "n": [n for counts in ROWS.values() for n in counts],
}
OPTIONS = {"by": "g", "counts": "n", "metrics": "accuracy"}


@each_constructor
def test_differences_are_those_of_the_method_and_marks_name_the_better_model(constructor):
    df = constructor(TABLE)
    chart = bf.plot.compare(df, "y", ["old", "new"], **OPTIONS)

    expected = plain(bf.compare(df, "y", ["old", "new"], detail=True, **OPTIONS))
    drawn = rows_of(chart)
    assert [row["segment"] for row in drawn] == expected["g"]
    assert [row["estimate"] for row in drawn] == pytest.approx([0.09, 0, -0.16])
    for field in ("lower", "upper", "n", "p_adjusted", "baseline_estimate"):
        assert [row[field] for row in drawn] == expected[field]
    assert [row["score"] for row in drawn] == expected["estimate"]
    assert [row["mark"] for row in drawn] == ["new is better", "not decided", "old is better"]
    assert channel(chart, "point", "y")["sort"] == ["a", "b", "c"]
    rule = next(one["encoding"] for one in layers_of(chart, "rule") if "x2" not in one["encoding"])
    assert rule["x"]["field"] == "zero"
    assert specification(chart)["title"]["text"] == "Accuracy: new compared with old by g"
    assert subtitle(chart) == [
        "Difference: new less old; 95% confidence intervals; p-values of 3 comparisons, adjusted "
        "by Benjamini-Hochberg"
    ]


@cases(
    ("models", "baseline", "title"),
    [
        (["old", "new"], "new", "Accuracy: old compared with new by g"),
        ("new", "old", "Accuracy: new compared with old by g"),
        (["old", "new", "y2"], None, "Accuracy: models compared with old by g"),
    ],
)
def test_the_title_says_who_is_compared_with_whom(models, baseline, title):
    df = pl.DataFrame(TABLE).with_columns(y2="y")
    chart = bf.plot.compare(df, "y", models, baseline=baseline, **OPTIONS)

    assert specification(chart)["title"]["text"] == title
    if baseline is None:
        assert specification(chart)["facet"]["sort"] == ["new", "y2"]


def test_metrics_are_panels_and_a_lower_rate_of_errors_is_better():
    df = pl.DataFrame(TABLE)
    options = OPTIONS | {"metrics": ["recall", "fnr", "selection_rate"]}
    chart = bf.plot.compare(df, "y", ["old", "new"], **options)

    title = specification(chart)["title"]["text"]
    assert title == "Scores: new compared with old by g"
    panels = [rows for rows in chart.to_dict()["datasets"].values() if "mark" in rows[0]]
    marks = [[row["mark"] for row in rows] for rows in panels]
    assert marks == [
        ["new is better", "not decided", "old is better"],
        ["new is better", "not decided", "old is better"],
        ["new is higher", "not decided", "old is higher"],
    ]


def test_scores_are_compared_by_the_area_under_the_curve():
    df = pl.DataFrame({"y": [0, 1] * 20, "s": range(40), "t": [1, 3, 2, 4] * 10})
    chart = bf.plot.compare(df, "y", y_score=["s", "t"])

    assert specification(chart)["title"]["text"] == "ROC AUC: t compared with s"
    (row,) = rows_of(chart)
    # of 400 pairs, the positive row has the higher s in 20 + 19 + ... + 1, and the higher t in all
    assert row["estimate"] == pytest.approx(1 - 210 / 400)
    assert row["mark"] == "t is better"


@cases("detail", [False, True])
@cases("models", [["old", "new"], ["old", "new", "y2"]])
def test_the_chart_of_a_result_has_the_marks_of_the_chart_of_the_data(detail, models):
    df = pl.DataFrame(TABLE).with_columns(y2="y")
    drawn = bf.plot(bf.compare(df, "y", models, detail=detail, **OPTIONS))

    expected = bf.plot.compare(df, "y", models, **OPTIONS)
    assert specification(drawn)["title"]["text"] == specification(expected)["title"]["text"]
    names = ["segment", "panel", "estimate", "lower", "upper", "mark"]
    assert [[row[name] for name in names] for row in rows_of(drawn)] == [
        [row[name] for name in names] for row in rows_of(expected)
    ]
