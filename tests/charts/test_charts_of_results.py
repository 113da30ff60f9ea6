"""`bf.plot(result)`: the chart of a result, as it is drawn from the data."""

import re

import pandas as pd
import polars as pl
import pytest

import balframe as bf
from balframe.frames.engines import registry as engines
from tests.support.cases import cases
from tests.support.chart_specifications import rows_of, specification
from tests.support.constructors import each_constructor

ROWS = {
    "g": ["a", "a", "a", "b", "b", "b"] * 3,
    "h": ["u", "v"] * 9,
    "y": [1, 0, 1, 0, 1, 0] * 3,
    "p": [1, 0, 0, 0, 1, 1] * 2 + [1, 1, 1, 0, 0, 0],
    "q": [1, 0, 1, 0, 1, 1] * 3,
    "s": [0.9, 0.2, 0.4, 0.3, 0.8, 0.6] * 3,
    "day": [day for day in (5, 12, 19) for _ in range(6)],
}
MONITOR = {"time": bf.period("day", "1w"), "baseline": "2026-01-11", "dispersion": None}


@pytest.fixture
def df():
    df = pl.DataFrame(ROWS)
    return df.with_columns(day=pl.date(2026, 1, pl.col("day")))


@pytest.mark.thorough
@cases(
    ("chart", "arguments", "options", "of_result"),
    [
        ("report", ("y", "p"), {"by": "g"}, {"margins": "overall"}),
        ("report", ("y", ["p", "q"]), {"by": "g"}, {"margins": "overall", "layout": "long"}),
        ("report", ("y", "p"), {}, {}),
        ("report", ("y", "p"), {"by": ["g", "h"]}, {"margins": "all"}),
        ("confusion", ("y", "p"), {"by": "g"}, {}),
        ("confusion", ("y", "p"), {"by": ["g", "h"]}, {"margins": "all"}),
        ("confusion", ("y", ["p", "q"]), {}, {}),
        ("gaps", ("y", "p"), {"by": "g", "reference": "a"}, {"detail": True}),
        ("compare", ("y", ["p", "q"]), {"by": "g"}, {"detail": True}),
        ("gaps", ("y", ["p", "q"]), {"by": "g"}, {"detail": True}),
        ("impact", ("p",), {"by": ["g", "h"], "favourable": "selected"}, {"detail": True}),
        ("impact", ("p",), {"by": "g", "favourable": "not selected"}, {"detail": True}),
        ("monitor", ("y", "p"), {"by": "g", **MONITOR}, {"detail": True}),
    ],
)
def test_chart_of_a_result_has_the_marks_of_the_chart_of_the_data(
    df, chart, arguments, options, of_result
):
    if chart not in ("confusion", "impact"):
        options = options | {"metrics": "balanced_accuracy"}
    if chart == "report":
        of_result = of_result | {"interval": True, "detail": True}
    expected = getattr(bf.plot, chart)(df, *arguments, **options)

    for library in (df, df.lazy(), df.to_pandas()):
        result = getattr(library.bal, chart)(*arguments, **options, **of_result)
        drawn = bf.plot(result)

        assert without_titles(drawn) == without_titles(expected)
        title, whole = (one.to_dict()["title"]["text"] for one in (drawn, expected))
        assert title == whole.replace("every week", "over time")


def without_titles(chart):
    """Return the specification and the rows, without titles and names of data."""
    drawn = {**specification(chart)}
    drawn.pop("title", None)
    rows = list(drawn.pop("datasets").values())
    return re.sub(r"data-\w+", "", str(drawn)), rows


def test_chart_of_a_curve_lacks_the_best_thresholds(df):
    result = bf.curve(df, "y", "s", by="g", metrics="balanced_accuracy", band=True)
    drawn, expected = bf.plot(result), bf.plot.curve(df, "y", "s", by="g")

    assert rows_of(drawn) == [row for row in rows_of(expected) if not row.get("is_best")]
    assert drawn.to_dict()["title"]["subtitle"] == [
        "95% confidence band over all thresholds; dashed: chance, 0.5"
    ]


def test_a_curve_without_limits_has_no_band(df):
    drawn = bf.plot(bf.curve(df, "y", "s", metrics="recall"))

    assert "area" not in str(drawn.to_dict())
    assert drawn.to_dict()["title"].get("subtitle") == [""]


def test_chart_of_a_calibration_curve_lacks_the_histogram(df):
    drawn = bf.plot(bf.calibration_curve(df, "y", "s", by="g", detail=True))
    expected = bf.plot.calibration(df, "y", "s", by="g")

    assert rows_of(drawn) == [row for row in rows_of(expected) if "height" not in row]


def test_chart_of_slices_equals_that_of_the_data():
    cases = {"site": ["a", "a", "b", "b", "c", "c"], "y": [1] * 6, "yhat": [1, 0] * 3}
    df = pl.DataFrame(cases | {"n": [90, 10, 92, 8, 60, 40]})
    options = {"over": "site", "metrics": "recall", "counts": "n"}

    drawn = bf.plot(bf.slices(df, "y", "yhat", detail=True, **options))

    assert drawn.to_dict() == bf.plot.slices(df, "y", "yhat", **options).to_dict()


def test_a_report_without_the_overall_score_is_drawn_without_its_line(df):
    drawn = bf.plot(bf.report(df, "y", "p", by="g", metrics="accuracy"))

    assert {row["all_rows"] for row in rows_of(drawn)} == {None}
    assert "all rows" not in [one["name"] for one in lines_of(drawn)]


def lines_of(chart):
    text = str(chart.to_dict())
    return [{"name": name} for name in re.findall(r"'domain': \['(all rows)'", text)]


@each_constructor
def test_results_of_every_library_have_the_same_chart(constructor):
    result = bf.report(constructor(ROWS), "y", "q", by="g", metrics="accuracy")

    assert [(row["segment"], row["estimate"]) for row in rows_of(bf.plot(result))] == [
        ("a", 9 / 9),
        ("b", 6 / 9),
    ]


@cases(
    ("call", "message"),
    [
        (
            lambda df: bf.gaps(df, "y", "p", by="g").drop("p_adjusted"),
            "needs the column 'p_adjusted'; call bf.gaps with detail=True",
        ),
        (lambda df: bf.ranking(df, "y", "s"), r"bf\.plot\.roc\(frame, \.\.\.\)"),
        (lambda df: bf.power(df, "y", "p", rules="recall > 0.1"), r"bf\.plot\.power\(frame"),
        (lambda df: bf.classes(df, "y", "p"), "has no chart; give a result of .*bf.table"),
        (lambda df: df, "bf.plot cannot draw a frame with the columns"),
        (
            lambda df: bf.report(df, "y", "p", metrics={"hits": "recall"}, interval=True),
            "column 'hits' is not the name of a metric",
        ),
        (lambda df: bf.report(df, "y", "p", by="g").head(0), "no rows, so there is nothing"),
    ],
)
def test_results_that_cannot_be_drawn_are_refused(df, call, message):
    with pytest.raises(bf.InvalidInputError, match=message):
        bf.plot(call(df))


def test_options_of_the_chart_are_taken_and_others_refused(df):
    result = bf.report(df, "y", "p", by="g", metrics="recall")

    assert bf.plot(result, min_support=100).to_dict()["title"]["subtitle"] == [
        "Hollow: fewer than 100 rows of a label"
    ]
    with pytest.raises(bf.UnsupportedTypeError, match="option 'sort' is not one of the chart"):
        bf.plot(bf.confusion(df, "y", "p"), sort="n")
    with pytest.raises(bf.InvalidInputError, match="sort='x' is not one of the options"):
        bf.plot(result, sort="x")
    with pytest.raises(bf.UnsupportedTypeError, match="option 'titel' not found"):
        bf.plot(result, titel="x")


def test_level_is_that_of_the_call(df):
    result = bf.gaps(df, "y", "p", by="g", metrics="recall", level=0.8, detail=True)

    drawn, expected = (
        bf.plot(result, level=0.8),
        bf.plot.gaps(df, "y", "p", by="g", metrics="recall", level=0.8),
    )
    assert rows_of(drawn) == rows_of(expected)
    assert "80% confidence intervals" in drawn.to_dict()["title"]["subtitle"][0]


def test_integer_names_of_pandas_are_drawn():
    df = pd.DataFrame({0: ["a", "b"] * 4, 1: [1, 0] * 4, 2: [1, 1, 0, 0] * 2})

    drawn = bf.plot(bf.report(df, 1, 2, by=0, metrics="accuracy"))

    assert drawn.to_dict()["title"]["text"] == "Accuracy by 0"


def test_the_missing_extra_is_named(df, monkeypatch):
    result = bf.report(df, "y", "p")
    monkeypatch.setattr(engines, "find_spec", lambda name: None)

    with pytest.raises(bf.MissingExtraError, match="charts need altair"):
        bf.plot(result)
