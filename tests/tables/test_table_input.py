"""Results of any origin, names that look like markup, and what is refused."""

import pandas as pd
import polars as pl
import pytest

import balframe as bf
from balframe.frames.engines import registry as engines
from tests.support.cases import cases
from tests.support.html_tables import GROUPS, NASTY, P, Y, page, segments

pytest.importorskip("great_tables")


@cases("name", ["label", "metric", "threshold", "rule", "grouped_by", "reference"])
def test_by_columns_may_have_the_names_of_other_columns_of_results(name):
    df = pl.DataFrame(GROUPS).rename({"g": name})

    parsed = page(bf.report(df, Y, P, by=name, metrics="accuracy"))

    assert [[row[0], row[-1]] for row in parsed.texts] == [
        [name, "Accuracy"],
        ["a", "0.750"],
        ["b", "0.667"],
        ["(missing)", "1.000"],
    ]


@cases("library", [pd.DataFrame, pl.DataFrame])
@cases("column", [*NASTY[:4], "^y.*$", "accuracy_value", "group_heading", ""])
def test_names_and_values_of_the_data_are_escaped(library, column):
    data = {column: NASTY, Y: [1] * 8, NASTY[0] + "m": [1] * 7 + [0], NASTY[3] + "m": [1] * 8}
    models = list(data)[2:]
    out = bf.report(library(data), Y, models, by=column, metrics="accuracy")

    parsed = page(out, title=NASTY[2], subtitle=NASTY[3])

    as_shown = [text.replace("\n", "\\n").replace("\x1b", "\\x1b") for text in NASTY]
    assert sorted(row[0] for row in parsed.texts[1:]) == sorted(as_shown * 2)
    assert parsed.texts[0][0] == column
    assert parsed.alone[:4] == [NASTY[2], NASTY[3], *models]
    assert {"script", "img", "em", "b", "code", "sup"}.isdisjoint(parsed.tags)


def test_names_in_columns_of_disparity_and_labels_are_escaped():
    df = pl.DataFrame({"<b>g": NASTY[:2] * 2, Y: ["<i>", "z"] * 2, P: ["<i>", "z", "z", "<i>"]})

    parsed = page(bf.disparity(df, Y, P, by="<b>g", detail=True))
    classes = page(bf.classes(df, Y, P, by="<b>g", detail=True))

    assert parsed.texts[0][1:3] == ["Lowest <b>g", "Highest <b>g"]
    assert {row[1] for row in classes.texts[1:]} == {"<i>", "z"}
    assert {"b", "i", "script"}.isdisjoint(parsed.tags | classes.tags)


def test_a_missing_great_tables_raises_and_names_the_extra(monkeypatch):
    monkeypatch.setattr(engines, "find_spec", lambda name: None)

    with pytest.raises(bf.MissingExtraError, match=r"pip install 'balframe\[table\]'"):
        bf.table(segments([0.5]))


@cases(
    ("given", "error", "message"),
    [
        (pl.DataFrame(GROUPS), bf.InvalidInputError, "cannot display a frame with the col"),
        (
            pl.DataFrame({"n": [1], "recall": ["x"]}),
            bf.InvalidInputError,
            "'recall' must hold num",
        ),
        (pl.DataFrame(), bf.InvalidInputError, "bf.table cannot display a frame"),
        ([0.5], bf.UnsupportedTypeError, "got list of float, which is not a frame"),
    ],
)
def test_frames_that_are_no_result_are_refused(given, error, message):
    with pytest.raises(error, match=message):
        bf.table(given)


@cases("by", [["rule", "status"], ["metric", "threshold"], ["label", "n_tests"]])
@cases("layout", ["wide", "long"])
def test_by_columns_named_as_columns_of_another_method_stay_by_columns(by, layout):
    df = pl.DataFrame(GROUPS).with_columns(h=pl.col("g")).rename(dict(zip("gh", by, strict=True)))
    if layout == "long" and "metric" in by:
        df = df.rename({"metric": "criterion"})
        by = ["criterion", "threshold"]
    out = bf.report(df, Y, P, by=by, metrics="accuracy", layout=layout, detail=True)

    parsed = page(out, max_rows=2)

    assert parsed.texts[0][:2] == by
    assert [row[:2] for row in parsed.texts[1:]] == [["b", "b"], ["(missing)", "(missing)"]]
    assert parsed.text_of("Accuracy") == ["0.667", "1.000"]


def test_gaps_of_several_models_keep_their_reference_column():
    data = {"g": ["a", "b"] * 20, Y: [1] * 40, P: [0, 1] * 20, "q": [1, 1] * 20}
    out = bf.gaps(
        pl.DataFrame(data), Y, [P, "q"], by="g", metrics="recall", reference="best", detail=True
    )

    parsed = page(out)

    assert parsed.alone[:2] == ["p", "q"]
    assert parsed.text_of("Reference") == out.sort("model")["reference"].to_list()


def test_extra_columns_come_last():
    out = segments([0.5, 0.25], mine=["x", None], visits=[1200, 3], cost=[0.25, 0.5])

    parsed = page(out)

    assert parsed.texts == [
        ["g", "n", "Accuracy", "Mine", "Visits", "Cost"],
        ["s000", "1,000", "0.500", "x", "1,200", "0.250"],
        ["s001", "1,001", "0.250", "", "3", "0.500"],
    ]


def test_an_explicit_method_overrides_recognition():
    out = segments([0.5, 0.25], roc_auc=[0.75, 0.5])

    with pytest.raises(bf.InvalidInputError, match="for a result of report, give method='report'"):
        bf.table(out)
    assert page(out, method="report").text_of("ROC AUC") == ["0.750", "0.500"]
    with pytest.raises(
        bf.UnknownNameError, match=r"method 'reprot' not found; did you mean 'report'"
    ):
        bf.table(out, method="reprot")
    with pytest.raises(
        bf.InvalidInputError,
        match=r"give a result of check\. .* also has 'rule' and 'estimate' and",
    ):
        bf.table(out, method="check")


def test_years_as_extreme_segments_are_not_formatted_as_numbers():
    df = pl.DataFrame({"year": [2019, 2020] * 20, Y: [1] * 40, P: [0, 1] * 20})

    parsed = page(bf.disparity(df, Y, P, by="year", metrics="recall", detail=True))

    assert parsed.text_of("Lowest year") == ["2019"]


def test_a_result_of_a_new_method_has_a_table(toy_method):
    df = pl.DataFrame({"g": ["a", "b", None], Y: [1, 1, 1], P: [1, 0, 0], "q": [1, 1, 1]})
    out = toy_method.function(df, Y, [P, "q"], by="g", margins="overall")

    parsed = page(out)

    assert parsed.alone[:2] == ["p", "q"]
    assert parsed.texts == [
        ["g", "n", "Errors"],
        ["a", "1", "0"],
        ["b", "1", "1"],
        ["(missing)", "1", "1"],
        ["(all)", "3", "2"],
        ["a", "1", "0"],
        ["b", "1", "0"],
        ["(missing)", "1", "0"],
        ["(all)", "3", "0"],
    ]


def test_duplicate_column_names_are_refused():
    twice = pd.DataFrame([[1, 0.5, 0.5]], columns=["n", "recall", "recall"])

    with pytest.raises(bf.InvalidInputError, match="several columns of the same name: 'recall'"):
        bf.table(twice)


@cases(
    ("options", "message"),
    [
        ({"worst": -1}, "worst=-1 must be a whole number of at least 0"),
        ({"decimals": True}, "decimals=True must be a whole number of at least 0"),
        ({"decimals": 1.5}, "decimals=1.5 must be a whole number of at least 0"),
        ({"max_rows": 1}, "max_rows=1 must be a whole number of at least 2"),
        ({"bars": None}, "bars=None is not one of the options"),
        ({"title": 3}, "title=3 must be a str"),
        ({"subtitle": "x"}, "give title= too"),
    ],
)
def test_invalid_options_are_refused(options, message):
    with pytest.raises(bf.BalframeError, match=message):
        bf.table(segments([0.5]), **options)
