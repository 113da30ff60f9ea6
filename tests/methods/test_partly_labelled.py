"""Options, refusals, notes and charts of rows of which only some have a true label."""

import re
from typing import get_args

import numpy as np
import polars as pl
import pytest
from polars.testing import assert_frame_equal

import balframe as bf
from balframe.api.method import function_parameters
from balframe.api.options import methods_with
from balframe.methods import declarations
from tests.support.cases import cases
from tests.support.constructors import each_constructor
from tests.support.frames.partly_labelled import answers


def test_a_segment_with_one_kind_of_prediction_has_the_limits_of_its_labels():
    rows, options = answers(), {"metrics": ["recall", "specificity"], "interval": True}
    options["by"] = "judge"
    expected = bf.report(rows.drop_nulls("human"), "human", "judge", **options)

    out = bf.report(rows, "human", "judge", missing="correct", **options)

    assert_frame_equal(out.select(expected.columns[2:]), expected[:, 2:])
    assert out["recall_lower"][1] > 0.9
    difference = bf.gaps(rows, "human", "judge", by="judge", missing="correct", metrics="recall")
    assert difference["lower"][1] > 0.8


def test_rows_that_all_have_a_label_give_what_they_give_without_a_correction():
    rows = answers(share=1.1)
    options = {"by": "category", "metrics": ["accuracy", "balanced_accuracy"], "interval": True}
    expected = bf.report(rows, "human", "judge", **options)
    out = bf.report(rows, "human", "judge", missing="correct", **options)

    assert_frame_equal(out.drop("n_labelled"), expected)


@each_constructor
def test_every_library_gives_the_same(constructor):
    rows = answers(600, share=0.6)
    options = {"by": "category", "missing": bf.correct("judge"), "interval": True}
    metrics = ["accuracy", "precision", "recall", "balanced_accuracy", "prevalence"]
    expected = bf.report(rows, "human", "model", metrics=metrics, **options)
    frame = constructor(rows.drop("truth").to_dict(as_series=False))
    out = bf.report(frame, "human", "model", metrics=metrics, backend="polars", **options)

    assert_frame_equal(out, expected)


def test_a_stratum_without_a_label_has_no_estimate_but_limits():
    rows = answers(200, share=0.3)
    rows = rows.with_columns(human=pl.when(pl.col("judge") == 1).then("human"))
    metrics = ["accuracy", "precision"]
    with pytest.warns(bf.BalframeWarning) as caught:
        out = bf.report(rows, "human", "judge", missing="correct", metrics=metrics, interval=True)

    assert str(caught[0].message) == (
        "in 1 of 1 segments, fewer than 5 rows of some prediction have a true label, so estimates "
        "vary widely and limits are wide. Have more of these rows labelled."
    )

    assert out["accuracy"].item() is None
    assert out["precision"].item() is not None


def test_rules_pass_only_if_they_pass_within_doubt_and_bounds():
    rows, rules = answers(), "accuracy >= 0.75"
    statuses = [
        bf.check(rows, "human", "judge", rules=rules, missing=missing)["status"].item()
        for missing in ("correct", bf.correct(doubt=3), "bounds")
    ]
    assert statuses == ["pass", "inconclusive", "inconclusive"]


@cases(
    ("method", "options", "message"),
    [
        (
            "report",
            {"missing": bf.correct(doubt=0.5)},
            "doubt=0.5 is not a ratio of odds; give a number of at least 1, such as 2.",
        ),
        (
            "report",
            {"missing": "correct", "cluster": "category"},
            "cluster='category' cannot be combined with missing='correct': no limits are known for "
            "it. Omit one.",
        ),
        (
            "report",
            {"missing": "correct", "y_pred": ["judge", "model"]},
            "y_pred=['judge', 'model'] names 2 models, but rows without a true label are corrected "
            "for one model at a time.",
        ),
        (
            "report",
            {"missing": bf.correct("jugde")},
            "column 'jugde' not found; did you mean 'judge'? Columns: category, judge, model, "
            "human, truth.",
        ),
        (
            "check",
            {"missing": "correct", "rules": "accuracy >= baseline", "baseline": "model"},
            "missing='correct' is for rules on metrics of predicted labels without a baseline; "
            "give only such rules, or drop the rows without a true label.",
        ),
        (
            "slices",
            {"missing": "correct", "over": "category"},
            "missing='correct' is not one of the options: 'raise', 'drop'. 'correct' is for "
            "report, classes, gaps, disparity, confusion, check, require, power and audit: for "
            "others, no limits or tests are known if rows lack a true label.",
        ),
        (
            "report",
            {"missing": "correct", "interval": "jeffreys"},
            "interval='jeffreys' is not a method for rows without a true label; known are 'score', "
            "'wilson', 'scas'.",
        ),
        (
            "check",
            {"missing": "bounds", "level": None, "rules": "accuracy >= 0.5"},
            "level=None leaves the limits aside, and doubt and bounds change nothing else; omit "
            "one.",
        ),
    ],
)
def test_bad_requests_are_refused(method, options, message):
    with pytest.raises(bf.BalframeError) as caught:
        getattr(bf, method)(answers(100), "human", **{"y_pred": "judge", **options})

    assert str(caught.value) == message


@cases(
    ("options", "message"),
    [
        (
            ["--doubt", "2"],
            "--doubt 2.0 is for rows without a true label; give --missing 'correct' too.",
        ),
        (
            ["--label-probability", "p", "--missing", "drop"],
            "--label-probability 'p' is for rows without a true label; give --missing 'correct' "
            "too.",
        ),
        (
            ["--doubt", "2", "--missing", "bounds"],
            "--doubt is for --missing 'correct'; the bounds hold whatever the rows without a label "
            "are.",
        ),
    ],
)
def test_options_of_a_correction_need_one_on_the_command_line(run, tmp_path, options, message):
    answers(100).write_csv(tmp_path / "answers.csv")
    names = ["--y-true", "human", "--y-pred", "judge"]
    result = run("report", tmp_path / "answers.csv", *names, *options)

    assert message in " ".join(result.err.split())


@cases("missing", ["correct", "bounds", "keep"])
def test_errors_name_the_methods_that_have_a_choice(missing):
    have_missing = {
        name: parameters["missing"]
        for name in (*declarations(), "audit")
        if "missing" in (parameters := function_parameters(getattr(bf, name)))
    }
    have_choice = {name for name, one in have_missing.items() if missing in get_args(one.flat_type)}

    named = re.match(rf" '{missing}' is for ([a-z, ]+):", methods_with(missing))[1]

    assert {*re.split(", | and ", named)} == have_choice


@cases("metric", ["f1", "cohen_kappa", "geometric_mean"])
def test_metrics_without_a_correction_are_refused(metric):
    with pytest.raises(bf.InvalidInputError, match="cannot be estimated if rows lack a true label"):
        bf.report(answers(100), "human", "judge", missing="correct", metrics=metric)


def test_the_least_doubt_is_where_a_verdict_turns():
    rows = answers(4000, share=0.2)
    rules = ["accuracy >= 0.7", "accuracy <= 0.7", "recall >= 0.75", "selection_rate >= 0.2"]
    options = {"detail": True, "by": "category"}
    out = bf.check(rows, "human", "judge", rules=rules, missing="correct", **options)
    turned = 0
    for row in out.iter_rows(named=True):
        least = row["least_doubt"]
        if row["status"] == "inconclusive":
            assert least is None
            continue
        if row["rule"].startswith("selection"):
            assert least == np.inf
            continue
        rule = {"rule": row["rule"], "where": {"category": [row["category"]]}}
        for doubt, status in ((least * 0.999, row["status"]), (least * 1.001, "inconclusive")):
            options["missing"] = bf.correct(doubt=doubt)
            again = bf.check(rows, "human", "judge", rules=[row["rule"]], **options)
            own = again.filter(category=rule["where"]["category"][0])
            assert own["status"].item() == status
            turned += 1
    assert turned >= 4


NOTE = (
    "Rows without a true label: a correction assumes that they are like those with the same "
    "prediction and verdict that have one; bounds assume nothing."
)


def test_the_assumption_stands_below_tables_and_on_terminals(run, tmp_path):
    rows = answers(share=0.2)
    options = {"by": "category", "missing": "correct"}
    for result in (
        bf.report(rows, "human", "judge", **options),
        bf.check(rows, "human", "judge", rules="accuracy >= 0.5", **options),
    ):
        assert NOTE in bf.table(result).as_raw_html()
    assert NOTE not in bf.table(bf.report(rows, "truth", "judge", by="category")).as_raw_html()
    rows.write_csv(tmp_path / "answers.csv")
    for method, more in (("report", []), ("gaps", []), ("check", ["--rule", "accuracy >= 0.5"])):
        for form in ("table", "markdown"):
            out = run(
                method, tmp_path / "answers.csv", "--y-true", "human", "--y-pred", "judge",
                "--by", "category", "--missing", "correct", "--format", form, *more,
            ).out  # fmt: skip
            assert NOTE in " ".join(out.split()), (method, form)


@pytest.mark.parametrize("by", [None, "category"])
@pytest.mark.parametrize("missing", [bf.correct("judge"), "bounds"])
def test_charts_draw_corrected_scores(by, missing):
    rows, options = answers(share=0.3), {"by": by, "metrics": "accuracy", "missing": missing}
    chart = bf.plot.report(rows, "human", "model", **options).to_dict()
    expected = bf.report(rows, "human", "model", **options)
    drawn = [
        row["estimate"]
        for data in chart["datasets"].values()
        for row in data
        if row.get("estimate") is not None
    ]

    assert set(expected["accuracy"]) <= set(drawn)


@cases(
    ("change", "message"),
    [
        (
            {"judge": pl.when(pl.col("judge") == 1).then("judge")},
            "column 'judge' has",
        ),
        (
            {"judge": pl.col("judge").cast(pl.String)},
            "labels of different types never compare equal: column 'human' holds numbers, column "
            "'judge' holds strings.",
        ),
        ({"human": pl.col("human") + 0.5}, "column 'human' holds numbers that are not whole"),
    ],
)
def test_errors_of_data_name_the_columns_of_the_caller(change, message):
    with pytest.raises(bf.InvalidInputError) as caught:
        bf.report(answers(300).with_columns(**change), "human", "judge", missing="correct")

    assert str(caught.value).startswith(message)


def test_frames_without_rows_have_results_without_rows():
    rows, options = answers(300).head(0), {"by": "category", "missing": "correct"}
    for method in (bf.report, bf.classes, bf.gaps, bf.disparity, bf.confusion):
        assert method(rows, "human", "judge", **options).height == 0
    assert bf.power(rows, "human", "judge", rules="accuracy >= 0.5", **options).height == 0


def test_outcomes_have_nothing_to_correct():
    with pytest.raises(bf.InvalidInputError) as caught:
        bf.report(answers(100), outcome="judge", missing="correct")

    assert str(caught.value) == (
        "outcome has no true labels that could be missing, so missing='correct' does not apply. "
        "Give the verdicts of a judge as y_pred=, and those of people as y_true=: 'prevalence' is "
        "then the rate of rows that passed."
    )


def test_a_warning_of_few_labels_names_verdicts_only_if_there_are_any():
    rows = answers(100, share=0.2)
    with pytest.warns(bf.BalframeWarning, match="or name fewer columns in verdict"):
        bf.report(rows, "human", "model", missing=bf.correct("judge"))


def test_nulls_of_true_labels_lead_to_the_correction_where_there_is_one():
    rows, advice = answers(100), ' If the others may stand for them, give missing="correct".'
    drop = '; fill them, or give missing="drop" to drop those rows.'
    null = f"column 'human' has {rows['human'].null_count()} null values{drop}"
    for method, message in ((bf.report, null + advice), (bf.posterior, null)):
        with pytest.raises(bf.InvalidInputError) as caught:
            method(rows, "human", "judge")
        assert str(caught.value) == message
    with pytest.raises(bf.InvalidInputError) as caught:
        bf.report(rows, "judge", "human")
    assert str(caught.value) == null


@cases("metric", ["recall", "specificity", "balanced_accuracy", "false_negative_rate"])
def test_limits_that_decide_include_those_of_report_and_widen_with_doubt(metric):
    rows, rules = answers(2000, share=0.1), f"{metric} >= 0.5"
    report = bf.report(rows, "human", "judge", metrics=metric, missing="correct", interval=True)
    low, high = (report[f"{metric}_{end}"].item() for end in ("lower", "upper"))
    for doubt in (1, 1.5, 3):
        out = bf.check(rows, "human", "judge", rules=rules, missing=bf.correct(doubt=doubt))
        assert out["lower"].item() <= low + 1e-12
        assert out["upper"].item() >= high - 1e-12
        low, high = out["lower"].item(), out["upper"].item()


def test_doubt_and_bounds_request_limits_unless_these_are_refused():
    rows = answers(600, share=0.5)
    for more in ({"missing": "bounds"}, {"missing": bf.correct(doubt=2)}):
        expected = bf.report(rows, "human", "judge", interval=True, **more)
        assert_frame_equal(bf.report(rows, "human", "judge", **more), expected)
        without = bf.report(rows, "human", "judge", interval=False, **more)
        assert "accuracy_lower" not in without.columns
        labels = bf.classes(rows, "human", "judge", **more)
        assert "recall_lower" in labels.columns
