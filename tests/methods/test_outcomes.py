"""`outcome=` in place of a truth and predictions: rows that pass or fail."""

from collections import Counter

import polars as pl
import pytest

import balframe as bf
from tests.support.cases import cases
from tests.support.constructors import each_constructor, plain

CATEGORIES = ["maths", "code", "code", None] * 30
ITEMS = [i // 3 for i in range(120)]
PASSED = [i % 7 != 0 and i % 5 != 1 for i in range(120)]
OLD = [i % 4 != 0 for i in range(120)]
ROWS = {
    "category": CATEGORIES,
    "item": ITEMS,
    "passed": PASSED,
    "old": OLD,
    "truth": [True] * 120,
    "day": [f"2026-{1 + i // 28:02}-{1 + i % 28:02}" for i in range(120)],
}
FRAME = pl.DataFrame(ROWS).with_columns(pl.col("day").str.to_date())
CALLS = {
    "report": {"by": "category", "interval": True, "cluster": "item"},
    "gaps": {"by": "category", "cluster": "item"},
    "disparity": {"by": "category", "min_support": 1},
    "check": {"by": "category", "rules": "accuracy >= 0.5"},
    "check against a model": {"by": "category", "rules": "accuracy >= baseline", "baseline": "old"},
    "power": {"by": "category", "rules": "accuracy >= 0.5"},
    "monitor": {
        "time": bf.period("day", "1mo"),
        "baseline": {"until": "2026-02-28"},
        "dispersion": None,
    },
    "slices": {"over": ["category"], "metrics": "accuracy"},
}


def by_category(values):
    """Count the rows, and those that pass, of each category."""
    n, passed = Counter(CATEGORIES), Counter()
    for category, value in zip(CATEGORIES, values, strict=True):
        passed[category] += value
    return {category: (n[category], passed[category] / n[category]) for category in n}


@each_constructor
def test_the_rate_is_the_share_of_rows_that_passed(constructor):
    frame = constructor({name: ROWS[name] for name in ("category", "passed")})
    out = plain(bf.report(frame, outcome="passed", by="category"))

    rows = zip(out["category"], out["n"], out["rate"], strict=True)
    assert {category: (n, rate) for category, n, rate in rows} == by_category(PASSED)


@pytest.mark.filterwarnings("ignore:no slice is listed")
@cases("call", CALLS)
def test_an_outcome_is_a_prediction_whose_truth_is_that_all_pass(call):
    options = dict(CALLS[call])
    method = getattr(bf, call.split()[0])
    if "rules" not in options and "metrics" not in options:
        options["metrics"] = "accuracy"

    expected = method(FRAME, "truth", "passed", **options)
    assert method(FRAME, outcome="passed", **options).equals(expected)


def test_models_are_compared_on_the_same_rows():
    options = {"by": "category", "cluster": "item"}
    expected = bf.compare(FRAME, "truth", ["passed", "old"], metrics="accuracy", **options)
    out = bf.compare(FRAME, outcome=["passed", "old"], **options)

    assert out["metric"].unique().to_list() == ["rate"]
    assert out.drop("metric").equals(expected.drop("metric"))


@cases(
    ("values", "options"),
    [
        ([0, 1], {}),
        ([0.0, 1.0], {}),
        (["I", "C"], {"pos_label": "C"}),
        ([1, 0], {"pos_label": 0}),
    ],
)
def test_outcomes_are_of_any_two_values(values, options):
    frame = FRAME.with_columns(passed=pl.Series([values[passed] for passed in PASSED]))
    out = bf.report(frame, outcome="passed", **options)

    assert out["rate"].item() == pytest.approx(sum(PASSED) / 120)


@cases("value", [False, True, 0, 1])
def test_all_rows_may_have_the_same_outcome(value):
    frame = FRAME.with_columns(passed=pl.lit(value))

    assert bf.report(frame, outcome="passed")["rate"].item() == float(value)


@cases("value", ["I", "C"])
def test_all_rows_may_have_the_same_outcome_of_other_values(value):
    frame = FRAME.with_columns(passed=pl.lit(value))

    out = bf.report(frame, outcome="passed", pos_label="C")
    assert out["rate"].item() == float(value == "C")


def test_cells_of_outcomes_can_be_stored_and_read():
    cells = bf.confusion(FRAME, outcome="passed", by="category")
    out = bf.report(cells, outcome="passed", by="category", interval=True)

    assert cells.columns == ["category", "passed", "n"]
    assert out.equals(bf.report(FRAME, outcome="passed", by="category", interval=True))


def test_an_earlier_run_is_a_baseline():
    earlier = bf.confusion(FRAME.with_columns(passed="old"), outcome="passed", by="category")
    of_truth = bf.confusion(FRAME.with_columns(passed="old"), "truth", "passed", by="category")
    options = {"by": "category", "rules": "accuracy >= baseline - 0.1"}
    out = bf.check(FRAME, outcome="passed", baseline=earlier, **options)

    assert out.equals(bf.check(FRAME, "truth", "passed", baseline=of_truth, **options))


def test_an_earlier_run_may_be_of_another_library():
    earlier = FRAME.with_columns(passed="old")
    cells = bf.confusion(earlier, outcome="passed", by="category")
    options = {"outcome": "passed", "by": "category", "rules": "rate >= baseline - 0.1"}
    expected = bf.check(FRAME, baseline=earlier, **options)

    for run in (earlier, cells):
        table = run.to_arrow()
        for baseline in (table, table.to_reader(), run.lazy(), run.to_pandas()):
            assert bf.check(FRAME, baseline=baseline, **options).equals(expected)


def test_power_takes_an_earlier_run_as_rows_as_check_does():
    earlier = FRAME.with_columns(passed="old")
    cells = bf.confusion(earlier, outcome="passed", by="category")
    options = {"outcome": "passed", "by": "category", "rules": "rate >= baseline - 0.3"}

    out = bf.power(FRAME, baseline=earlier, **options)

    assert out.equals(bf.power(FRAME, baseline=cells, **options))


def test_aliases_name_the_rate():
    for metrics in (None, "rate", "pass_rate", "default"):
        out = bf.report(FRAME, outcome="passed", metrics=metrics)
        assert out.columns[-1] == ("pass_rate" if metrics == "pass_rate" else "rate")


@cases(
    ("arguments", "message"),
    [
        (
            {},
            "bf.report needs y_true and y_pred, or outcome. Call bf.report(frame, y_true, y_pred).",
        ),
        (
            {"outcome": "passed", "y_pred": "old"},
            "outcome takes the place of y_true and y_pred, but y_pred is given too; omit one.",
        ),
        (
            {"outcome": "passd"},
            "column 'passd' not found; did you mean 'passed'?",
        ),
        (
            {"outcome": "passed", "metrics": "recall"},
            "metric 'recall' compares predictions with a truth, which outcome does not have; give "
            "'rate', or 'pass_at(k)' or 'pass_all(k)' with a number of trials k.",
        ),
        (
            {"y_true": "truth", "y_pred": "passed", "metrics": "rate"},
            "metric 'rate' needs outcome=, the column of rows that passed. The share of predictions"
            " that are right is 'accuracy'.",
        ),
        (
            {"outcome": "score"},
            "column 'score' holds numbers that are not whole: scores are not labels. Turn them into"
            " labels first: `score >= 0.5`. `curve` evaluates every threshold; compare and audit "
            "take y_score=.",
        ),
        (
            {"outcome": "grade"},
            "column 'grade' is given as outcome and has 3 values: 0, 1, 2. An outcome has two; make"
            " a column that is true where a row passes.",
        ),
        (
            {"outcome": "letter"},
            "column 'letter' is given as outcome and is neither 0 and 1 nor false and true; give "
            "pos_label=, the value of a row that passes.",
        ),
    ],
)
def test_bad_outcomes_are_refused(arguments, message):
    frame = FRAME.with_columns(
        score=pl.Series([i / 120 for i in range(120)]),
        grade=pl.Series([i % 3 for i in range(120)]),
        letter=pl.Series(["C", "I"] * 60),
    )
    with pytest.raises(bf.BalframeError) as caught:
        bf.report(frame, **arguments)

    assert str(caught.value) == message


def test_cells_of_several_models_are_a_baseline():
    earlier = bf.confusion(FRAME, outcome=["passed", "old"], by="category")
    of_truth = bf.confusion(FRAME, "truth", ["passed", "old"], by="category")
    options = {"by": "category", "rules": "accuracy >= baseline - 0.1"}
    out = bf.check(FRAME, outcome=["old", "passed"], baseline=earlier, **options)

    assert out.equals(bf.check(FRAME, "truth", ["old", "passed"], baseline=of_truth, **options))


def test_a_baseline_without_the_outcome_is_refused_by_its_name():
    with pytest.raises(bf.BalframeError) as error:
        bf.check(FRAME, outcome="passed", rules="rate >= baseline", baseline=FRAME.drop("passed"))

    assert str(error.value).startswith("in baseline: column 'passed' not found.")
