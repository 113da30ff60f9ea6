"""Details that lighteval 0.13.0 wrote (lighteval/generate.py)."""

from pathlib import Path

import polars as pl

import balframe as bf

LOGS = Path(__file__).parent / "lighteval"


def read(task, metric, **options):
    [path] = LOGS.glob(f"details/made-up/careful/*/details_{task}_*")
    return bf.read_eval(path, metric=metric, backend="polars", **options).sort("item", "metric")


def test_items_models_categories_and_answers():
    """The model is wrong in documents 0 and 3."""
    runs = read("exact", "em", category="subject")

    names = ["item", "model", "category", "passed", "target", "answer"]
    assert runs.select(names).rows()[:2] == [
        ("exact|0/0", "made-up/careful", "even", False, "0", "99"),
        ("exact|0/1", "made-up/careful", "odd", True, "2", "2"),
    ]
    assert runs["passed"].to_list() == [False, True, True] * 2


def test_partial_scores_and_nan():
    """lighteval has no mean of scores with NaN."""
    assert read("exact", "partial")["score"].to_list() == [1, 0.5, 0, None, 0.25, 1]


def test_a_document_with_two_ways_of_sampling_is_one_item_and_one_trial():
    """Its details have a row for each way, in which the metric of the other is null."""
    runs = read("choose", "all")

    assert runs.select("metric", "trial").unique().sort("metric").rows() == [("acc", 1), ("em", 1)]
    assert runs.height == 6 * 2
    assert runs["score"].null_count() == 0


def test_metrics_of_several_samples_score_a_document_once():
    runs = read("repeats", "avg@n:n=2")

    assert runs["score"].to_list() == [0, 0.5, 0.5] * 2
    assert set(runs["trial"]) == {1}


def test_details_in_memory_are_a_log():
    [path] = LOGS.glob("details/made-up/quick/*/details_exact_*")

    assert bf.read_eval(pl.read_parquet(path), metric="em", backend="polars").height == 6
