"""`bf.plot.precision_recall`, `gains` and `lift`, which share their drawing with `roc`."""

import polars as pl
import pytest

import balframe as bf
from tests.support.cases import cases
from tests.support.chart_specifications import channel, layers_of, rows_of, specification, subtitle
from tests.support.constructors import each_constructor

# From the highest score down, y is 1 0 1 0 0: of 2 positive rows, 1 1 2 2 2 are selected
TABLE = {"y": [0, 0, 1, 0, 1], "s": [0.1, 0.3, 0.4, 0.6, 0.8]}
FORMS = ("roc", "precision_recall", "gains", "lift")


def curve_of(chart, x, y):
    return [(row[x], row[y]) for row in rows_of(chart) if "at" in row]


@each_constructor
def test_precision_and_recall_are_those_of_each_threshold(constructor):
    chart = bf.plot.precision_recall(constructor(TABLE), "y", "s")

    assert curve_of(chart, "recall", "precision") == [
        (2 / 2, 2 / 5),
        (2 / 2, 2 / 4),
        (2 / 2, 2 / 3),
        (1 / 2, 1 / 2),
        (1 / 2, 1 / 1),
        (0, 1 / 1),  # of nothing selected, which ends the step before
    ]
    (area,) = [row for row in rows_of(chart) if "text" in row]
    # the steps of recall by 1/2 have the precisions 1 and 2/3
    assert area["average_precision"] == pytest.approx(1 / 2 * 1 + 1 / 2 * 2 / 3)
    assert area["text"] == "AP 0.833"
    assert area["chance"] == 2 / 5
    assert subtitle(chart) == ["Dashed: chance, the share of positive rows"]
    assert layers_of(chart, "line")[0]["mark"]["interpolate"] == "step-after"
    assert channel(chart, "rule", "y")["field"] == "chance"


def test_gains_are_recalls_by_the_share_of_rows_selected():
    chart = bf.plot.gains(pl.DataFrame(TABLE), "y", "s")

    assert curve_of(chart, "selection_rate", "recall") == [
        (5 / 5, 2 / 2),
        (4 / 5, 2 / 2),
        (3 / 5, 2 / 2),
        (2 / 5, 1 / 2),
        (1 / 5, 1 / 2),
        (0, 0),
    ]
    assert channel(chart, "line", "x")["title"] == "share of rows selected"
    assert channel(chart, "rule", "x2") == {"datum": 1}
    assert not layers_of(chart, "text")


def test_lift_is_precision_by_the_share_of_positive_rows():
    chart = bf.plot.lift(pl.DataFrame(TABLE), "y", "s")

    assert curve_of(chart, "selection_rate", "lift") == [
        (5 / 5, 1.0),
        (4 / 5, 2 / 4 / (2 / 5)),
        (3 / 5, 2 / 3 / (2 / 5)),
        (2 / 5, 1 / 2 / (2 / 5)),
        (1 / 5, 1 / 1 / (2 / 5)),
        (0, None),
    ]
    assert channel(chart, "rule", "y") == {"datum": 1.0}


def test_shares_of_positive_rows_are_weighted():
    df = pl.DataFrame({"y": [1, 0, 0], "s": [0.9, 0.5, 0.1], "w": [2.0, 1.0, 1.0]})

    chart = bf.plot.precision_recall(df, "y", "s", sample_weight="w")

    assert {row["chance"] for row in rows_of(chart) if "text" in row} == {2 / 4}


@cases("form", FORMS)
def test_segments_and_models_are_laid_out_alike(form):
    table = pl.DataFrame(TABLE).with_columns(t=1 - pl.col("s"))
    df = pl.concat([table.with_columns(g=pl.lit(f"g{i}")) for i in range(3)])
    draw = getattr(bf.plot, form)

    segments, models, both = (
        draw(df, "y", "s", by="g"),
        draw(df, "y", ["s", "t"]),
        draw(df, "y", ["s", "t"], by="g"),
    )

    assert "facet" not in specification(segments)
    assert channel(segments, "line", "color")["field"] == "segment"
    assert "facet" not in specification(models)
    assert {*channel(models, "line", "color")["sort"]} == {"s", "t"}
    assert specification(both)["facet"]["field"] == "segment"
    assert channel(both, "line", "color")["sort"] == ["s", "t"]


@cases("form", FORMS)
def test_a_segment_without_positive_rows_has_no_curve_and_no_error(form):
    df = pl.DataFrame({"y": [0, 1, 0, 0], "s": [0.1, 0.9, 0.2, 0.3], "g": ["a", "a", "b", "b"]})

    chart = getattr(bf.plot, form)(df, "y", "s", by="g")

    field = {"lift": "lift", "precision_recall": "recall"}.get(form, "recall")
    b = [row for row in rows_of(chart) if row["segment"] == "b" and "at" in row]
    assert {row[field] for row in b} == {None}
