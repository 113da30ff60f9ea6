"""Results that promptfoo 0.121.20 wrote of made-up sums, by promptfoo/generate.py."""

import json
from pathlib import Path

import polars as pl
import pytest

import balframe as bf

LOGS = Path(__file__).parent / "promptfoo"
RIGHT, WRONG = ("1 + 1", "2 + 3", "7 + 8", "6 * 8"), ("9 * 9", "4 + 4", "5 + 3", "silent")


def runs(name, **options):
    return bf.read_eval(LOGS / name, backend="polars", category="question", **options)


@pytest.mark.parametrize("name", ["careful.json", "careful.jsonl"])
def test_the_verdict_of_promptfoo_is_read_by_default(name):
    """Of 9 tests, a provider failed in one; a test without an output counts as failed."""
    frame = runs(name)

    passed = dict(frame.select("category", "passed").rows())
    assert passed == {**dict.fromkeys(RIGHT, True), **dict.fromkeys(WRONG, False)} | {
        "unreachable": None
    }
    assert frame["metric"].unique().to_list() == ["success"]
    assert frame.filter(category="7 + 8")["score"].to_list() == [(1 + 0.5) / 2]
    assert runs(name, errors="fail")["passed"].mean() == 4 / 9


def test_a_provider_that_failed_has_no_score_in_any_metric():
    frame = runs("careful.json", metric=["success", "exact", "short"])
    failed = frame.filter(category="unreachable")

    assert failed["metric"].to_list() == ["success", "exact", "short"]
    assert failed["error"].unique().to_list() == ["API error: 503 Service Unavailable"]
    assert failed.select("score", "passed").null_count().row(0) == (3, 3)


def test_named_scores_have_the_verdict_of_their_assertion():
    frame = runs("careful.json", metric="short").drop_nulls("score")

    assert frame.filter(category="7 + 8").select("score", "passed").rows() == [(0.5, True)]
    assert frame.filter(category="4 + 4").select("score", "passed").rows() == [(0.0, False)]
    assert "6 * 8" not in frame["category"]  # whose test has no such assertion


def test_columns_of_results_are_models_and_tests_of_one_description_are_items():
    """Two prompts of equal beginnings, a provider at two temperatures, and a test twice."""
    frame = runs("columns.json")

    assert frame["model"].n_unique() == frame["item"].n_unique() == 4
    assert frame["trial"].unique().to_list() == [1]
    rates = frame.group_by("model").agg(pl.col("passed").mean()).sort("model")
    assert rates["passed"].to_list() == [0, 1, 0, 0.5]  # "(bad)" sorts before the other prompt
    assert all('{"temperature": 1}' in model for model in rates["model"][2:])


def test_lines_do_not_say_how_often_tests_repeat_so_that_equal_tests_are_trials():
    frame = runs("columns.jsonl")

    assert (frame["model"].n_unique(), frame["item"].n_unique()) == (4, 3)
    assert frame.filter(trial=2)["category"].unique().to_list() == ["2 + 3"]


@pytest.mark.parametrize("name", ["repeats.json", "repeats.jsonl"])
def test_repeats_are_trials(name):
    frame = runs(name)

    assert (frame.height, frame["item"].n_unique()) == (4 * 3, 4)
    assert frame.filter(category="1 + 1")["passed"].to_list() == [True, False, True]
    assert frame.filter(category="1 + 1")["trial"].to_list() == [1, 2, 3]


def test_a_test_that_repeats_is_told_from_a_test_that_is_there_twice():
    frame = runs("test_repeats.json")

    counts = frame.group_by("category").agg(pl.col("item").n_unique(), pl.col("trial").max())
    assert dict(zip(counts["category"], counts.select("item", "trial").rows(), strict=True)) == {
        "1 + 1": (1, 2),
        "2 + 3": (2, 1),
        "silent": (1, 1),
    }


def test_a_judge_that_failed_is_no_failure_of_the_answer():
    frame = runs("judged.json", metric=["success", "exact", "kind"]).filter(category="7 + 8")
    careful = frame.filter(pl.col("model").str.contains(": 0}", literal=True))

    assert careful.select("metric", "passed", "error").rows() == [
        ("success", None, "judge is down"),
        ("exact", True, None),
        ("kind", None, "judge is down"),
    ]
    careless = frame.filter(pl.col("model").str.contains(": 1}", literal=True))
    assert careless["passed"].to_list() == [False, False, True]


def test_results_that_promptfoo_leaves_out_of_json_are_counted():
    """promptfoo 0.121.20 writes no result whose score is NaN to JSON, but a line of it."""
    with pytest.warns(bf.BalframeWarning, match="promptfoo counted 1 results that are not in the"):
        assert runs("not_a_number.json").height == 2
    lines = runs("not_a_number.jsonl", metric="short")
    assert lines.select("score", "passed").rows() == [(1, True), (1, True), (None, True)]


def test_targets_answers_tokens_and_metadata_are_read():
    frame = bf.read_eval(LOGS / "careful.json", backend="polars")

    columns = ["category", "target", "answer", "input_tokens", "output_tokens"]
    assert frame.select(columns).row(3) == ("hard", "81", "82", 10, 2)
    assert frame["seconds"].null_count() == 0


def test_two_files_have_the_same_items():
    frame = bf.read_eval([LOGS / "careful.json", LOGS / "careless.json"], backend="polars")

    assert frame.group_by("item").agg(pl.col("model").n_unique())["model"].to_list() == [2] * 9


def test_a_table_of_promptfoo_is_refused():
    with pytest.raises(bf.InvalidInputError, match="does not identify tests: write results"):
        runs("careful.csv")


def test_results_without_ids_of_prompts_are_read(tmp_path):
    """As versions before 0.100 wrote them."""
    document = json.loads((LOGS / "careful.json").read_text())
    for row in document["results"]["results"]:
        del row["promptId"], row["gradingResult"]
    path = tmp_path / "results.json"
    path.write_text(json.dumps(document))

    frame = bf.read_eval(path, backend="polars", errors="fail")
    assert frame["passed"].mean() == 4 / 9
