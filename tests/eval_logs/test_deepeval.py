"""Test runs that DeepEval 4.3.1 wrote of made-up sums, by deepeval/generate.py."""

import json
from pathlib import Path

import pytest

import balframe as bf

LOGS = Path(__file__).parent / "deepeval"


def runs(name, **options):
    return bf.read_eval(LOGS / name, backend="polars", **options)


def values(frame):
    rows = frame.select("item", "score", "passed").rows()
    return {item: (score, passed) for item, score, passed in rows}


def test_scores_are_those_of_the_log_and_verdicts_stand_beside_them():
    assert values(runs("one_metric.json")) == {
        "1 + 1": (1.0, True),
        "2 + 3": (0.0, False),
        "7 + 8": (0.5, True),
        "9 * 9": (0.5, True),
        "raises": (None, None),
        "3 + 3": (0.0, False),
    }


def test_a_metric_that_raised_gave_none_or_nan_has_no_score():
    """DeepEval counts what raised as failed; at a None there is no verdict, at a NaN there is."""
    frame = runs("careful.json", metric="Closeness")

    scored = values(frame)
    assert scored["raises"] == scored["none"] == (None, None)
    assert scored["nan"] == (None, False)
    assert frame["error"].drop_nulls().to_list() == ["RuntimeError: the judge is unreachable"]
    assert runs("careful.json", metric="Closeness", errors="fail")["passed"].sum() == 4


def test_the_verdict_on_a_case_is_over_all_its_metrics():
    """A metric that raised decides nothing; one that gave None is no obstacle to DeepEval."""
    passed = dict(runs("careful.json", metric="success").select("item", "passed").rows())

    right, wrong = ("1 + 1", "2 + 3", "7 + 8", "none"), ("9 * 9", "3 + 3", "nan")
    assert passed == {**dict.fromkeys(right, True), **dict.fromkeys(wrong, False), "raises": None}


def test_several_metrics_are_not_counted_together():
    with pytest.raises(bf.InvalidInputError, match="'Closeness', 'Exact Match', 'success'"):
        runs("careful.json")


def test_scores_of_a_metric_without_a_threshold_are_read():
    """DeepEval 4.3.1 counts these as errors in `metricsScores`, and lists no score there."""
    frame = runs("no_threshold.json", metric="Closeness")

    assert frame["score"].to_list() == [1.0, 1.0, 1.0, 0.5]
    assert frame["error"].null_count() == 4


def test_the_latest_test_run_of_pytest_is_read():
    frame = runs("latest_test_run.json", metric="Exact Match", category="name")

    assert frame["passed"].to_list() == [True, True, True, False, False]
    assert frame["category"][0] == "test_sums[row0]"


def test_equal_cases_are_trials():
    frame = runs("repeats.json", metric="Exact Match")

    assert frame.filter(item="2 + 3").select("trial", "passed").rows() == [(1, True), (2, False)]
    assert frame["item"].n_unique() == 4


def test_targets_answers_model_and_metadata_are_read():
    frame = runs("careful.json", metric="Exact Match")

    columns = ["model", "category", "target", "answer"]
    assert frame.select(columns).row(3) == ("careful", "hard", "81", "82")


def test_cases_of_one_input_and_metrics_of_one_name_are_told_apart(tmp_path):
    metrics = [{"name": "Kind", "score": score, "success": True} for score in (0.7, 0.9)]
    cases = [
        {"input": "Sum up.", "context": [context], "success": True, "metricsData": metrics}
        for context in ("a", "b")
    ]
    path = tmp_path / "run.json"
    path.write_text(json.dumps({"testCases": cases, "conversationalTestCases": []}))

    frame = bf.read_eval(path, backend="polars", metric=["Kind", "Kind (2)"])
    assert frame["score"].to_list() == [0.7, 0.9, 0.7, 0.9]
    assert (frame["item"].n_unique(), frame["trial"].max()) == (2, 1)
