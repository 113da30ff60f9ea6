"""Audits of rows that passed or not: the page, its numbers, and what it cannot have."""

import json
import math
import re
from datetime import date
from itertools import pairwise

import narwhals as nw
import numpy as np
import polars as pl
import pytest

import balframe as bf
from balframe.audit_page.page import Page
from balframe.errors import InvalidInputError, UnknownNameError, UnsupportedTypeError
from tests.support.audits.figures import plain, texts
from tests.support.cases import cases

RUNS = [  # category, language, runs, and how many of them passed
    ("code", "de", 60, 54),
    ("code", "en", 60, 54),
    ("maths", "de", 60, 12),
    ("maths", "en", 60, 42),
    (None, "de", 20, 12),
    ("rare", "en", 4, 0),
]
N, N_PASSED = 264, 174
FRAME = pl.DataFrame(
    [
        {"category": category, "language": language, "passed": i < n_passed, "item": i // 4}
        for category, language, n, n_passed in RUNS
        for i in range(n)
    ]
).with_columns(
    old=pl.int_range(pl.len()) % 3 > 0, day=date(2026, 1, 1) + pl.duration(days=pl.col("item") * 4)
)
BY = ["category", "language"]
UNIT = {"unit": ("run", "runs")}
OF_TRUTH = re.compile(
    r"\b(predict\w*|errors?|accura\w*|balanced|truth|right|wrong|expected|selected|recall|"
    r"precision|threshold\w*|calibrat\w*|fair|lawful|label\w*)\b",
    re.IGNORECASE,
)


def audit(frame=FRAME, **options):
    return bf.audit(frame, **{"outcome": "passed", "by": BY, "words": UNIT} | options)


@pytest.fixture(scope="module")
def page():
    return audit()


def in_brief(page):
    return [one["text"] for one in page.evidence()["statements"]]


def figures(page, section):
    return {
        tuple((one["group"] or {}).items()): one
        for one in page.evidence()["figures"]
        if one["section"] == section
    }


def wilson(n_passed, n, z=1.959963984540054):
    share, width = n_passed / n, z * z / n
    middle = (share + width / 2) / (1 + width)
    half = z * math.sqrt(share * (1 - share) / n + width / n / 4) / (1 + width)
    return share, middle - half, middle + half


# Numbers


def test_rates_are_those_of_the_rows_that_passed(page):
    (overall,) = figures(page, "passed").values()
    assert (overall["metric"], overall["pos_label"], overall["n"]) == ("rate", True, N)
    limits = [overall[name] for name in ("estimate", "lower", "upper")]
    assert limits == pytest.approx(wilson(N_PASSED, N))

    groups = figures(page, "whom")
    for column, at in (("category", 0), ("language", 1)):
        for value in {row[at] for row in RUNS}:
            n = sum(row[2] for row in RUNS if row[at] == value)
            n_passed = sum(row[3] for row in RUNS if row[at] == value)
            group = groups[((column, value),)]
            assert group["n"] == n
            limits = [group[name] for name in ("estimate", "lower", "upper")]
            assert limits == pytest.approx(wilson(n_passed, n))
            assert group["is_small"] == (n < 10)


def test_rates_in_clusters_are_those_of_report():
    found = figures(audit(cluster="item"), "whom")
    options = {"outcome": "passed", "cluster": "item", "interval": True}
    for column in BY:
        for row in bf.report(FRAME, by=column, **options).iter_rows(named=True):
            group = found[((column, row[column]),)]
            assert group["estimate"] == row["rate"]
            assert (group["lower"], group["upper"]) == (row["rate_lower"], row["rate_upper"])


@cases("options", [{}, {"cluster": "item"}, {"sample_weight": "item"}])
def test_differences_are_those_of_gaps_at_the_level_of_the_page(options):
    frame = FRAME.filter(pl.col("category") != "rare")  # a null is no group here
    evidence = audit(frame, by="language", **options).evidence()
    (difference,) = [one for one in evidence["comparisons"] if one["section"] == "chance"]
    level = evidence["adjustment"]["interval_level"]
    gaps = bf.gaps(frame, outcome="passed", by="language", level=level, detail=True, **options)
    row = next(one for one in gaps.iter_rows(named=True) if one["language"] == "en")
    assert difference["group"] == {"language": "en"}
    for name, expected in (("estimate", "difference"), ("lower", "lower"), ("upper", "upper")):
        assert difference[name] == pytest.approx(row[expected])
    assert difference["p_value"] == pytest.approx(row["p_value"])
    assert difference["established"] == (difference["lower"] > 0)


def test_every_decision_on_differences_is_that_of_its_interval_and_p_value(page):
    evidence = page.evidence()
    alpha = evidence["adjustment"]["alpha"]
    tested = [one for one in evidence["comparisons"] if one["section"] == "chance"]
    assert len(tested) == 4  # three categories that are large enough, and two languages as one
    for one in tested:
        excludes = one["lower"] > 0 or one["upper"] < 0
        assert one["established"] == excludes == (one["p_adjusted"] < alpha)


def test_a_combination_with_a_lower_pass_rate_is_that_of_slices(page):
    (found,) = page.evidence()["combinations"]
    frame = FRAME.with_columns(pl.col("category").fill_null("none"))
    out = bf.slices(frame, outcome="passed", over=BY, detail=True)
    row = next(one for one in out.iter_rows(named=True) if one["depth"] == 2)
    assert found["group"] == {"category": "maths", "language": "de"}
    assert (found["metric"], found["n"]) == ("rate", 60)
    assert found["rate"] == pytest.approx(12 / 60)
    assert found["rate_of_others"] == pytest.approx((N_PASSED - 12) / (N - 60))
    assert (found["lower"], found["p_adjusted"]) == (row["lower"], row["p_adjusted"])


def test_rules_are_those_of_check():
    rules, options = ["rate >= 0.6", "rate >= baseline - 0.1"], {"min_support": 10}
    before = FRAME.with_columns(passed="old")
    evidence = audit(by="language", rules=rules, baseline=before, **options).evidence()
    expected = bf.check(
        FRAME, outcome="passed", by="language", rules=rules, baseline=before, **options
    )
    found = {(one["rule"], one["group"]["language"]): one for one in evidence["rules"]}
    verdicts = {"pass": "met", "fail": "not met", "inconclusive": "undecided"}
    assert len(found) == expected.height == 4
    for row in expected.iter_rows(named=True):
        own = found[row["rule"], row["language"]]
        assert own["verdict"] == verdicts[row["status"]]
        assert [own[name] for name in ("estimate", "lower", "upper")] == [
            row[name] for name in ("estimate", "lower", "upper")
        ]


def test_rules_on_trials_need_and_take_the_items():
    rules = "pass_at(2) >= 0.5"
    evidence = audit(by=None, rules=rules, cluster="item").evidence()
    row = bf.check(FRAME, outcome="passed", rules=rules, cluster="item", min_support=10)
    assert evidence["rules"][0]["estimate"] == row["estimate"].item()
    with pytest.raises(InvalidInputError, match="needs cluster="):
        audit(rules=rules)


def compared_models(**options):
    """Return the only comparison of two models, and the level of its limits."""
    evidence = audit(outcome=["old", "passed"], **options).evidence()
    (found,) = [one for one in evidence["comparisons"] if one["section"] == "models"]
    assert found["metric"] == "rate"
    assert found["estimate"] == pytest.approx((174 - 176) / 264)
    return found, {"level": evidence["adjustment"]["interval_level"], "detail": True}


def test_models_are_those_of_compare():
    found, options = compared_models()
    row = bf.compare(FRAME, outcome=["old", "passed"], **options).row(0, named=True)
    assert (found["lower"], found["upper"]) == pytest.approx((row["lower"], row["upper"]))
    assert found["p_value"] == pytest.approx(row["p_value"])


def test_models_in_clusters_are_those_of_gaps_of_groups_in_the_same_clusters():
    found, options = compared_models(cluster="item")
    stacked = pl.concat(
        [FRAME.select("item", outcome=name, model=pl.lit(name)) for name in ("passed", "old")]
    )
    gaps = bf.gaps(
        stacked, outcome="outcome", by="model", reference="old", cluster="item", **options
    )
    row = next(one for one in gaps.iter_rows(named=True) if one["model"] == "passed")
    assert (found["lower"], found["upper"]) == (row["lower"], row["upper"])
    assert found["p_value"] == row["p_value"]


def test_a_difference_of_models_is_established_only_where_its_interval_excludes_zero():
    rng = np.random.default_rng(5)
    n_established = 0
    for gain in np.linspace(0, 0.2, 15):
        skill = rng.beta(1.2, 0.7, 90).repeat(8)
        runs = {name: rng.random(720) < skill + d for name, d in (("v1", 0), ("v2", gain))}
        frame = pl.DataFrame({"item": np.arange(90).repeat(8), **runs})
        evidence = audit(frame, outcome=["v1", "v2"], by=None, cluster="item").evidence()
        (one,) = evidence["comparisons"]
        assert one["established"] == (one["upper"] < 0 or one["lower"] > 0)
        n_established += one["established"]
    assert 0 < n_established < 15


def test_changes_are_the_rate_now_less_the_rate_then():
    before = FRAME.with_columns(passed="old")
    cells = bf.confusion(before, outcome="passed", by=BY)
    of_models = bf.confusion(before, outcome=["passed", "old"], by=BY)
    found = [audit(baseline=one).evidence()["comparisons"] for one in (before, cells, of_models)]
    assert found[0] == found[1] == found[2]
    overall = next(one for one in found[0] if one["section"] == "changes")
    assert (overall["metric"], overall["group"]) == ("rate", None)
    assert overall["estimate"] == pytest.approx((174 - 176) / 264)


def test_periods_have_the_rates_of_their_rows():
    found = figures(audit(by=[*BY, bf.period("day", "1mo")]), "time")
    months = FRAME.group_by(pl.col("day").dt.truncate("1mo").cast(str)).agg(
        pl.len(), pl.col("passed").mean()
    )
    assert len(found) == months.height == 2
    for day, n, rate in months.iter_rows():
        period = found[(("period", day),)]
        assert (period["n"], period["estimate"]) == (n, pytest.approx(rate))


# What is missing or withheld


def test_rows_without_an_outcome_are_refused_or_left_out_by_group():
    holes = FRAME.with_columns(pl.when(pl.col("item") > 0).then("passed"))
    n_without = FRAME.filter(pl.col("item") == 0).height
    with pytest.raises(InvalidInputError, match=f"column 'passed' has {n_without} null values"):
        audit(holes)

    page = audit(holes, missing="drop")
    (overall, *_) = page.evidence()["left_out"]
    assert (overall["n"], overall["n_left_out"]) == (N, n_without)
    assert overall["n_without_outcome"] == n_without
    assert overall["n_without_prediction"] == 0
    assert (
        f"{n_without} of {N} runs (9%) were left out, because their outcome is missing"
        in (in_brief(page)[1])
    )
    assert f"{n_without} of {N} runs are in no pass rate." in page.markdown()


def test_counts_and_weights_that_are_missing_are_told_apart_from_outcomes():
    rows = pl.DataFrame(
        {
            "passed": [1, 0, None, 1, 0, 1],
            "n": [30, 20, 10, None, 5, 4],
            "w": [1.0, 2.0, 1.0, 1.0, None, 0.5],
        }
    )
    options = {"by": None, "missing": "drop", "counts": "n", "sample_weight": "w"}
    (overall,) = audit(rows, **options).evidence()["left_out"]
    missing = {name[10:]: n for name, n in overall.items() if name.startswith("n_without_") and n}
    assert missing == {"outcome": 10, "count": 1, "weight": 5}
    assert overall["n_examined"] == 30 + 20 + 4


def test_small_counts_are_withheld():
    evidence = audit(suppress=10).evidence()
    (small,) = [one for one in evidence["examined"] if one["group"] == {"category": "rare"}]
    assert small["is_withheld"]
    assert (("category", "rare"),) not in figures(audit(suppress=10), "whom")
    withheld = [tuple(one["group"].items()) for one in evidence["examined"] if one["is_withheld"]]
    assert (("category", None),) in withheld  # 8 did not pass


@cases(
    ("frame", "suppress"),
    [(FRAME.head(59), 6), (FRAME.with_columns(passed=pl.lit(True)), 2), (FRAME.head(54), 2)],
)
def test_too_small_counts_of_all_rows_are_refused(frame, suppress):
    with pytest.raises(InvalidInputError) as error:
        audit(frame, suppress=suppress)
    assert str(error.value) == (
        f"suppress= withholds counts under {suppress}, but a count of all rows together is "
        f"smaller: each outcome needs {suppress} rows. Audit more rows, or omit suppress=."
    )


# The page


def test_the_page_says_how_often_and_for_whom(page):
    without_limits = [re.sub(r" \([^)]* to [^)]*\)", "", text) for text in in_brief(page)]
    assert without_limits == [
        "264 runs were examined; 1 of 6 groups is too small to compare.",
        "20 runs have no value of category; they are a group of their own.",
        "66% of the runs passed.",
        "Category: pass rate from 45% for maths to 90% for code, 45 points apart.",
        "Language: pass rate from 56% for de to 77% for en, 22 points apart.",
        "Of 4 comparisons of a group with all others in the pass rate, three establish a "
        "difference.",
        "Combinations of groups with a lower pass rate than their single groups explain: maths and "
        "de: 20% of the runs passed, against 79% of all others together, \N{MINUS SIGN}59 points.",
    ]


def test_the_page_has_no_section_that_needs_a_truth(page):
    keys = [one["key"] for one in page.evidence()["sections"]]
    assert keys == ["examined", "passed", "whom", "chance", "worst", "limits", "computed", "terms"]
    months = [*BY, bf.period("day", "1mo")]
    with_all = audit(outcome=["passed", "old"], rules="rate >= 0.5", baseline=FRAME, by=months)
    new = [one["key"] for one in with_all.evidence()["sections"]]
    assert [key for key in new if key not in keys] == ["rules", "models", "time", "changes"]


@cases(
    "options",
    [
        {},
        {"outcome": ["passed", "old"]},
        {"rules": "rate >= 0.5", "baseline": FRAME, "by": [*BY, bf.period("day", "1mo")]},
        {"by": None},
        {"sample_weight": "item"},
        {"suppress": 10},
        {"missing": "drop"},
    ],
)
def test_the_page_speaks_of_no_truth(options):
    holes = FRAME.with_columns(pl.when(pl.col("item") != 3).then("passed"))
    document = audit(holes if "missing" in options else FRAME, **options).document
    said = [plain(text) for text in texts(document)]
    allowed = ("decision limits that are wide enough for few errors", "Whether the weights are")
    found = [text for text in said if OF_TRUTH.search(text)]
    assert [text for text in found if not any(one in text for one in allowed)] == []


def test_words_for_passed_are_those_of_the_caller():
    page = audit(outcome=["passed", "old"], words={**UNIT, "truth": "solved the task"})
    said = page.markdown()
    assert "## 2 What share of the runs solved the task?" in said
    assert "passed: 66% (60 to 71) of the runs solved the task." in said
    assert "Solved the task: more often for " in said
    assert "174 of 264 runs (66%) solved the task." in said
    assert page.evidence()["options"]["words"]["truth"] == "solved the task"


def test_several_models_have_their_own_figures_on_one_page():
    page = audit(outcome=["passed", "old"])
    rates = [one["estimate"] for one in page.evidence()["figures"] if one["section"] == "passed"]
    assert rates == pytest.approx([174 / 264, 176 / 264])
    assert in_brief(page)[2:4] == [
        "passed: 66% (60 to 71) of the runs passed.",
        "old: 67% (61 to 72) of the runs passed.",
    ]
    assert "old and passed: no difference in pass rate is established; it may be up to " in (
        page.markdown()
    )


def test_sections_that_need_independent_rows_are_left_out_with_the_reason():
    said = audit(cluster="item").markdown()
    assert (
        "Left out of this page: “Which combinations of groups have a lower pass rate?” (the search "
        "for combinations needs independent runs)" in said
    )
    assert "The runs come in 15 clusters (the values of item)." in said
    assert "selections" not in said


def test_the_page_says_what_is_independent(page):
    assert (
        "The confidence intervals treat the runs as independent of each other. If several runs "
        "are trials of the same item, they are too narrow." in page.markdown()
    )


def test_the_call_repeats_the_page(page):
    (call,) = re.findall(r"```\n(.*?)\n```", page.markdown(), re.DOTALL)
    assert "    frame,\n    outcome='passed',\n" in call
    names = {"frame": FRAME}
    exec(call, names)
    assert names["page"].html() == page.html()


# Other frames, labels and libraries


def test_the_page_is_the_same_on_every_library_and_in_any_order():
    expected = audit(cluster="item", rules="rate >= 0.5")
    for frame in (
        FRAME.to_pandas(),
        FRAME.lazy(),
        FRAME.to_arrow(),
        nw.from_native(FRAME),
        FRAME.sample(fraction=1, shuffle=True, seed=3),
    ):
        page = audit(frame, cluster="item", rules="rate >= 0.5")
        assert page.markdown() == expected.markdown()
        assert page.evidence() == expected.evidence()


def test_cells_of_outcomes_give_the_figures_of_their_rows(page):
    cells = bf.confusion(FRAME, outcome="passed", by=BY)
    stored = audit(cells)
    assert stored.evidence()["figures"] == page.evidence()["figures"]
    assert in_brief(stored) == in_brief(page)
    both = bf.confusion(FRAME, outcome=["passed", "old"], by=BY)
    assert "model" in both.columns


@cases(
    ("values", "options"),
    [([0, 1], {}), ([0.0, 1.0], {}), (["I", "C"], {"pos_label": "C"}), ([1, 0], {"pos_label": 0})],
)
def test_outcomes_are_of_any_two_values(page, values, options):
    frame = FRAME.with_columns(
        passed=pl.Series([values[passed] for passed in FRAME["passed"]], dtype=None)
    )
    assert in_brief(audit(frame, **options)) == in_brief(page)


@cases("values", [[False, True], ["I", "C"]])
@cases("passed", [0, 1])
def test_all_rows_may_have_the_same_outcome(values, passed):
    frame = FRAME.with_columns(passed=pl.lit(values[passed]))
    page = audit(frame, pos_label=values[1])
    expected = ("0% (0 to 1)", "100% (99 to 100)")[passed]
    assert f"{expected} of the runs passed." in in_brief(page)


def test_a_column_has_any_name():
    names = ["truth", "prediction", "n_", "by0", "__balframe_expected"]
    for outcome, by in pairwise(names):
        renamed = FRAME.select(pl.col("passed").alias(outcome), pl.col("language").alias(by))
        said = in_brief(audit(renamed, outcome=outcome, by=by))
        assert "66% (60 to 71) of the runs passed." in said


# Evidence


def test_evidence_is_as_its_schema_says():
    jsonschema = pytest.importorskip("jsonschema")
    validator = jsonschema.Draft202012Validator(Page.evidence_schema())
    for options in (
        {},
        {"by": None},
        {"outcome": ["passed", "old"], "cluster": "item", "rules": "rate >= 0.5"},
        {"suppress": 10, "baseline": FRAME, "by": [*BY, bf.period("day", "1mo")]},
    ):
        evidence = audit(**options).evidence()
        assert [error.message for error in validator.iter_errors(evidence)] == []
        assert json.loads(json.dumps(evidence)) == evidence


def test_evidence_names_no_truth(page):
    evidence = page.evidence()
    assert evidence["options"]["columns"]["y_true"] is None
    assert evidence["options"]["columns"]["models"] == [{"y_pred": "passed", "y_score": None}]
    assert evidence["confusion"] == evidence["selections"] == []
    assert {one["metric"] for one in evidence["figures"]} == {"rate"}
    overall = evidence["examined"][0]["labels"]
    assert [(one["label"], one["n_true"], one["n_predicted"]) for one in overall] == [
        (False, None, N - N_PASSED),
        (True, None, N_PASSED),
    ]
    assert "__balframe" not in json.dumps(evidence) + page.html()


def test_the_model_index_has_the_rate(page):
    said = page.model_index("agent")
    assert re.findall(r"- type: (.*)", said) == ['"rate"']
    assert f"value: {N_PASSED / N!r}" in said


# Wrong use


@cases(
    ("options", "names"),
    [
        ({"y_score": "item"}, "y_score is"),
        ({"words": {"selected": "called"}}, "selected is"),
        (
            {"favourable": "selected", "words": {"selected": "called"}},
            "selected and favourable are",
        ),
        ({"words": {"prediction": ("answer", "answers")}}, "prediction_word is"),
    ],
)
def test_options_on_predictions_are_refused(options, names):
    with pytest.raises(InvalidInputError) as error:
        audit(**options)
    assert str(error.value) == (
        f"{names} about predictions, but outcome= has rows that passed or not, without a truth and "
        f"predictions. Omit {'it' if names.endswith('is') else 'them'}."
    )


def test_the_default_word_for_predictions_is_not_refused(page):
    assert audit(words={**UNIT, "prediction": ("prediction", "predictions")}).html() == page.html()


@cases(
    ("options", "message"),
    [
        (
            {"y_true": "old"},
            "outcome takes the place of y_true and y_pred, but y_true is given too; omit one.",
        ),
        (
            {"y_pred": "old"},
            "outcome takes the place of y_true and y_pred, but y_pred is given too; omit one.",
        ),
        ({"outcome": []}, "outcome names no column; name at least one."),
        (
            {"outcome": ["old", "old"]},
            "outcome names a column twice: 'old', 'old'; name each column once.",
        ),
        ({"by": "passed"}, "column 'passed' is given as outcome and as by;"),
        ({"outcome": "item"}, "column 'item' is given as outcome and has 15 values: 0, 1, 2, 3, 4"),
        ({"outcome": "language"}, "column 'language' is given as outcome and is neither 0 and 1"),
        ({"rules": "recall >= 0.5"}, "metric 'recall' compares predictions with a truth, which"),
        ({"words": {"truth": ""}}, "truth='' is not text; give words for the page, or omit it."),
        ({"rules": "rate >= baseline"}, "rule 'rate >= baseline' compares with a baseline; give"),
    ],
)
def test_wrong_use_is_one_error(options, message):
    with pytest.raises(InvalidInputError) as error:
        audit(**options)
    assert str(error.value).startswith(message)


@cases(
    ("options", "message"),
    [
        ({"outcome": "nope"}, "column 'nope' not found. Columns: category, language, passed, "),
        ({"baseline": FRAME.drop("passed")}, "in baseline: column 'passed' not found. Columns: "),
        (
            {"baseline": bf.confusion(FRAME, outcome="old", by=BY)},
            "in baseline: column 'passed' not found. Columns: category, language, old, n.",
        ),
    ],
)
def test_columns_that_are_not_there_are_named(options, message):
    with pytest.raises(UnknownNameError) as error:
        audit(**options)
    assert str(error.value).startswith(message)


def test_a_call_without_labels_and_outcomes_is_refused():
    with pytest.raises(UnsupportedTypeError) as error:
        bf.audit(FRAME, by=BY)
    assert str(error.value) == (
        "bf.audit needs y_true and y_pred, or outcome. Call bf.audit(frame, y_true, y_pred)."
    )
    with pytest.raises(UnsupportedTypeError, match="needs y_pred, or outcome"):
        bf.audit(FRAME, "passed")


def test_an_audit_corrects_no_missing_labels():
    with pytest.raises(bf.InvalidInputError, match="has no true labels that could be missing"):
        bf.audit(FRAME, outcome="passed", by="category", missing="correct")
