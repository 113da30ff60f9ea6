"""Results of ragas 0.4.3, saved in each form (ragas/generate.py)."""

from pathlib import Path
from types import SimpleNamespace

import pandas as pd
import polars as pl
import pytest

import balframe as bf
from tests.eval_logs.in_memory import ByName

LOGS = Path(__file__).parent / "ragas"
RIGHT = [True, False, True, True, False, True, True, False]  # wrong in 1, 4 and 7
METRICS = ["exact_match", "is_short", "non_llm_string_similarity"]


def read(source, metric="all", **options):
    source = LOGS / source if isinstance(source, str) else source
    return bf.read_eval(source, metric=metric, backend="polars", **options)


@pytest.mark.parametrize("name", ["careful.csv", "careful_columns.json"])
def test_metrics_are_the_numbers_after_the_fields(name):
    runs = read(name, category="query_style")
    exact = runs.filter(metric="exact_match")

    assert sorted(set(runs["metric"])) == METRICS
    assert exact["passed"].to_list() == RIGHT
    assert exact["item"].to_list() == [f"What is {i} + {i}?" for i in range(8)]
    assert exact["category"].to_list() == ["even", "odd"] * 4
    assert exact.select("target", "answer").row(1) == ("2", "none")


@pytest.mark.parametrize("name", ["quick.csv", "quick.parquet"])
def test_equal_questions_are_trials(name):
    runs = read(name, "is_short").sort("item", "trial")

    assert runs["trial"].to_list() == [1, 2] * 8
    assert runs.filter(item="What is 4 + 4?")["passed"].to_list() == [True, False]


def test_a_question_with_several_references_is_several_items():
    fields = {"user_input": ["Sum up."] * 3, "response": ["a", "b", "c"]}
    table = pl.DataFrame({**fields, "reference": ["a", "b", "b"], "exact_match": [1.0, 1.0, 0.0]})

    runs = read(table, None).select("item", "trial", "passed")
    assert runs.rows() == [
        ("Sum up. -> a", 1, True),
        ("Sum up. -> b", 1, True),
        ("Sum up. -> b", 2, False),
    ]


@pytest.mark.parametrize("name", ["grades.json", "grades.jsonl", "grades.csv"])
def test_metrics_that_raised_or_are_nan_are_nulls(name):
    """ragas 0.4.3 saves no error: both are NaN."""
    runs = read(name)

    assert runs.filter(metric="grade")["score"].to_list() == [0.5, None, None, 0, 3, 1]
    assert runs.filter(metric="is_short")["passed"].to_list() == [False] * 6
    assert runs["error"].count() == 0


@pytest.mark.parametrize("constructor", [pd.read_parquet, pl.read_parquet])
def test_frames_are_read_with_columns_that_a_user_adds(constructor):
    frame = constructor(LOGS / "quick.parquet")
    topics = ["a", "b"] * 8
    is_pandas = isinstance(frame, pd.DataFrame)
    frame = frame.assign(topic=topics) if is_pandas else frame.with_columns(topic=pl.Series(topics))

    assert (
        read(frame, category="topic")
        .drop("category")
        .equals(read("quick.parquet").drop("category"))
    )
    assert read(frame, "is_short", category="topic")["category"].to_list() == topics


def test_results_in_memory_are_read():
    frame = pd.read_parquet(LOGS / "quick.parquet")
    samples = frame.drop(columns=METRICS).to_dict("records")
    result = ByName(
        scores=frame[METRICS].to_dict("records"),
        dataset=SimpleNamespace(samples=[SimpleNamespace(**sample) for sample in samples]),
        binary_columns=[],
        ragas_traces={},
    )

    assert read(result, "is_short").equals(read("quick.parquet", "is_short"))


@pytest.mark.parametrize(
    "columns",
    [
        ["response", "score"],
        ["user_input", "score"],  # a single field
        ["user_input", "response"],  # no metric
        ["user_input", "score", "response"],  # fields stand first
        ["name", "age", "user_input", "response", "score"],
    ],
)
def test_tables_of_a_user_are_not_recognised(columns):
    table = pl.DataFrame({name: [1.0] for name in columns})

    with pytest.raises(bf.InvalidInputError, match="not a log of a known tool"):
        read(table)
