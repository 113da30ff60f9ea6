"""Samples that lm_eval 0.4.13 wrote (lm_eval/generate.py).

It has no errors of single samples: a metric or filter that raises ends the run.
"""

import json
from pathlib import Path

import polars as pl
import pytest

import balframe as bf

LOGS = Path(__file__).parent / "lm_eval"
STRICT = [False, True, False, False, False, True]  # document 0 to 5 of the careful model
FLEXIBLE = [False, True, True, False, True, True]  # it is wrong in each third document


def path_of(task, model="careful"):
    return next((LOGS / f"made-up__{model}").glob(f"samples_{task}_*.jsonl"))


def read(path, metric=None, **options):
    return bf.read_eval(path, metric=metric, backend="polars", **options)


def test_items_models_and_categories():
    runs = read([path_of("repeats"), path_of("two_filters", "quick")], "all", category="subject")

    assert set(runs["item"]) == {f"{t}/{i}" for t in ("repeats", "two_filters") for i in range(6)}
    assert set(runs["model"]) == {"made-up/careful", "made-up/quick"}  # folders have made-up__
    of_first = runs.filter(item="repeats/3").select("category", "target").unique().rows()
    assert of_first == [("odd", "6")]


def test_filters_are_metrics():
    runs = read(path_of("two_filters"), "all")

    assert runs.filter(metric="exact_match,strict-match")["passed"].to_list() == STRICT
    assert runs.filter(metric="exact_match,flexible-extract")["passed"].to_list() == FLEXIBLE
    answers = runs.filter(item="two_filters/2")["answer"].to_list()
    assert answers == ["[invalid]", "4"]


@pytest.mark.parametrize("drops", [("filter",), ("filter", "metrics")])
@pytest.mark.parametrize("has_results", [True, False])
def test_filters_without_names_are_metrics_and_never_trials(tmp_path, drops, has_results):
    """Versions of 2024 wrote a line for each filter without its name."""
    path = path_of("two_filters")
    lines = [json.loads(line) for line in path.read_text().splitlines()]
    for line in lines:
        for key in drops:
            del line[key]
    (tmp_path / path.name).write_text("\n".join(map(json.dumps, lines)))
    names = ["exact_match,filter 1", "exact_match,filter 2"]
    if has_results:
        [results] = path.parent.glob("results_*")
        (tmp_path / results.name).write_text(results.read_text())
        names = ["exact_match,strict-match", "exact_match,flexible-extract"]
    runs = read(tmp_path / path.name, "all")

    assert [runs.filter(metric=name)["passed"].to_list() for name in names] == [STRICT, FLEXIBLE]
    assert set(runs["trial"]) == {1}


def test_repeats_of_which_a_filter_takes_one_are_no_trials():
    """Of three responses, of which the first or the third is wrong, two are equal."""
    runs = read(path_of("repeats"), "all")

    assert set(runs["trial"]) == {1}
    assert runs.filter(metric="exact_match,first")["passed"].to_list() == FLEXIBLE
    assert runs.filter(metric="exact_match,vote")["passed"].to_list() == [True] * 6


def test_repeats_are_trials_where_every_response_is_scored():
    runs = read(path_of("every_repeat"))

    assert runs.filter(item="every_repeat/0").select("trial", "answer", "passed").rows() == [
        (1, "99", False),
        (2, "0", True),
        (3, "0", True),
    ]
    assert runs.height == 6 * 3


def test_partial_scores_nan_and_metrics_that_a_document_lacks():
    runs = read(path_of("partial"), "all")

    scores = {metric: runs.filter(metric=metric)["score"].to_list() for metric in runs["metric"]}
    assert scores == {
        "quality": [1, 0.5, 0, 0.75, 0.25, 1],
        "rated": [1, 0.5, 0, None, 0.25, 1],
        "judged": [1, 0, 1, 1, None, 1],
    }


def test_answers_of_multiple_choice_are_the_likeliest():
    """The model takes the next choice where it is wrong, in each third document."""
    runs = read(path_of("choose"), "acc").with_columns(pl.col("target", "answer").cast(int))

    assert runs["target"].to_list() == [0, 1, 2, 0, 1, 2]
    assert runs["answer"].to_list() == [1, 1, 2, 1, 1, 2]
    pairs = read(path_of("choose"), "mcc")
    assert pairs["score"].null_count() == 6  # a pair of classes is no score


def test_results_of_simple_evaluate_are_read():
    lines = [json.loads(line) for line in path_of("choose").read_text().splitlines()]
    results = {"results": {}, "configs": {}, "samples": {"choose": lines}, "model_name": "m"}
    runs = read(results, "acc")

    assert runs["passed"].to_list() == FLEXIBLE
    assert runs.select("task", "model").unique().rows() == [("choose", "m")]


def test_a_document_that_a_file_has_twice_is_no_trial(tmp_path):
    path = tmp_path / path_of("choose").name
    path.write_text(path_of("choose").read_text() * 2)
    with pytest.warns(bf.BalframeWarning, match="results repeat an item, trial, model and metric"):
        runs = read(path, "acc")

    assert set(runs["trial"]) == {1}
