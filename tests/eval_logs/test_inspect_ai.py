"""Logs that inspect_ai 0.3.285 wrote (inspect_ai/generate.py), read by its own rules."""

from pathlib import Path

import polars as pl
import pytest

import balframe as bf

LOGS = Path(__file__).parent / "inspect_ai"


def read(name, metric=None, **options):
    return bf.read_eval(str(LOGS / name), metric=metric, backend="polars", **options)


def test_items_belong_to_their_task_and_epochs_are_trials():
    """Both tasks have samples with the ids q0 to q4; sums has 8 samples and 2 epochs."""
    paths = [LOGS / name for name in ("sums_careful.eval", "names_careful.eval")]
    runs = bf.read_eval(paths, category="subject", backend="polars")

    assert runs["item"].n_unique() == 8 + 5
    trials = runs.group_by("task").agg(pl.col("trial").max(), pl.len()).sort("task").rows()
    assert trials == [("names", 1, 5), ("sums", 2, 16)]
    assert set(runs["category"]) == {"even", "odd", "names"}
    sums = runs.filter(item="sums/q3").select("target", "answer", "passed").rows()
    assert sums == [("6", "none", False), ("6", "6", True)]  # 3 * epoch is odd, then even


@pytest.mark.parametrize("name", ["essays.eval", "samples_df_essays.csv"])
def test_an_errored_sample_is_a_null_for_each_part_of_each_scorer(name):
    """Sample q0 raised, the scorer `late` raised in q4 and returned None in q5."""
    runs = read(name, "all")

    assert runs.height == 7 * 3
    of_raised = runs.filter(pl.col("item").str.ends_with("q0"))
    assert of_raised["metric"].to_list() == ["judge/clear", "judge/short", "late"]
    assert of_raised["score"].null_count() == 3
    assert set(of_raised["error"]) == {"ValueError('the task has raised')"}
    late = runs.filter(metric="late")["score"].to_list()
    assert late == [None, 1, 0, 1, None, None, 0.5]


@pytest.mark.parametrize("name", ["essays.eval", "samples_df_essays.csv"])
def test_unscored_samples_and_nan_are_nulls_of_parts(name):
    """The judge left q3 unscored, and gave NaN to one part of q4."""
    clear, short = (read(name, f"judge/{part}")["score"].to_list() for part in ("clear", "short"))

    assert clear == [None, 1, 0, None, 1, 0, 1]
    assert short == [None, 0.5, 0.5, None, None, 0.5, 0.5]


def test_errors_count_as_failures_only_if_requested():
    late = read("essays.eval", "late", errors="fail")["passed"].to_list()

    assert late == [False, True, False, True, False, None, None]  # q5 has no score, but no error


@pytest.mark.parametrize("metric", ["grade", "grade1"])
def test_values_become_numbers_as_in_inspect_ai_and_a_scorer_used_twice_is_two(metric):
    """The grades C P I N yes no True false 0.25 " 1 " True 0.5 NaN ?; the last counts as 0."""
    runs = read("grades.eval", "all")

    assert set(runs["metric"]) == {"grade", "grade1"}
    numbers = {f"grades/q{i}": x for i, x in enumerate([1, 0.5, 0, 0, 1, 0, 1, 0, 0.25, 1, 1, 0.5])}
    scores = dict(runs.filter(metric=metric).select("item", "score").rows())
    assert scores == numbers | {"grades/q12": None, "grades/q13": 0}


def test_edited_scores_and_invalid_samples():
    """The score of q1 was edited to P, and q2 is marked as invalid."""
    runs = read("edited.eval")

    assert runs["score"].to_list() == [1, 0.5, 1, 1, 0]
    assert runs.filter("invalid")["item"].to_list() == ["names/q2"]
    assert read("edited.eval", invalid="drop").height == 4


def test_a_part_that_is_none_is_null():
    """inspect_ai 0.3.285 counts it as 0 in its mean, which is 2 / 4, but leaves out NaN."""
    assert read("with_none.eval", "judge/clear")["score"].to_list() == [1, None, 1, 0]


def test_letters_of_samples_df_are_grades():
    frame = pl.read_parquet(LOGS / "samples_df_sums.parquet")
    assert set(frame["score_match"]) == {"C", "I"}
    names = ["task", "item", "trial", "model", "category", "metric", "passed", "score", "target"]
    of_frame, of_logs = (
        read(file, category="subject").select(names).sort(names)
        for file in ("samples_df_sums.parquet", "sums_*.eval")
    )

    assert of_frame.equals(of_logs)


def test_samples_df_in_memory_is_a_log():
    pandas = pytest.importorskip("pandas")
    frame = pandas.read_parquet(LOGS / "samples_df_sums.parquet", dtype_backend="pyarrow")
    table = pl.read_csv(LOGS / "samples_df_essays.csv")

    assert bf.read_eval(frame, backend="polars")["score"].sum() == 12 + 11
    assert bf.read_eval(table, metric="late", backend="polars")["score"].sum() == 2.5


def test_samples_df_of_several_evaluations_needs_their_models():
    frame = pl.read_parquet(LOGS / "samples_df_sums.parquet").drop("model")

    with pytest.raises(bf.InvalidInputError, match="several evaluations, but not their models"):
        bf.read_eval(frame)


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("samples.eval", "has no samples to read; its header has the accuracy of match 0.6, "),
        ("scorers.eval", "has no scores to read"),
    ],
)
def test_logs_without_results_are_refused(name, message):
    with pytest.raises(bf.InvalidInputError, match=message):
        bf.read_eval(LOGS / "without" / name)
