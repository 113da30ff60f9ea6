"""Frames that mlflow 3.17.2 returned (mlflow/generate.py) of eight sums, of which two are equal."""

import json
from pathlib import Path

import pandas as pd

import balframe as bf

LOGS = Path(__file__).parent / "mlflow"
FIRST, SECOND, PARQUET = (LOGS / name for name in ("first.json", "second.json", "exact.parquet"))
FAILED = '{"a": 40, "b": 2}'


def test_an_item_is_a_request_and_equal_ones_are_trials():
    runs = bf.read_eval([FIRST, SECOND], metric="exact", backend="polars")

    twice = runs.filter(item='{"a": 1, "b": 2}').sort("model", "trial")
    assert twice.select("model", "trial", "category", "answer", "passed").rows() == [
        ("first", 1, "small", "3", True),
        ("first", 2, "small", "4", False),
        ("second", 1, "small", "4", False),
        ("second", 2, "small", "3", True),
    ]
    assert twice["target"][0] == '{"brief": "no", "sum": "3"}'


def test_metrics_are_assessments_by_scorers_and_not_expectations():
    """Expectations have columns like "sum/value" too; in mlflow 3.17.2, one replaces a scorer's."""
    column = [row["brief/value"] for row in json.loads(FIRST.read_text())]
    assert column == ["no"] * 8  # though the scorer said "yes" four times
    runs = bf.read_eval(FIRST, metric="all", backend="polars")

    assert set(runs["metric"]) == {"exact", "brief", "closeness", "digits", "kind"}
    assert runs.height == 8 * 5


def test_yes_passes_and_other_texts_have_no_score():
    brief, kind = (
        bf.read_eval(FIRST, metric=metric, backend="polars") for metric in ("brief", "kind")
    )

    assert brief["passed"].to_list() == [True, True, True, False, False, False, True, None]
    assert kind["score"].null_count() == 8


def test_a_function_that_failed_is_a_null_though_the_tool_scored_none():
    """mlflow 3.17.2 calls the scorers with the output None, and exact says that it is wrong."""
    row = json.loads(FIRST.read_text())[-1]
    assert (row["state"], row["exact/value"]) == ("ERROR", False)

    null, fail = (
        bf.read_eval(FIRST, metric="exact", errors=errors, backend="polars").filter(item=FAILED)
        for errors in ("null", "fail")
    )
    of_null = null.select("score", "passed", "error").rows()
    assert of_null == [(None, None, "RuntimeError: no answer")]
    assert fail["passed"].to_list() == [False]


def test_a_scorer_that_gave_none_or_raised_is_a_null():
    runs = bf.read_eval(FIRST, metric="closeness", backend="polars")

    assert runs["score"].to_list() == [1, 1, None, 1, 0.5, 1, 0.5, None]
    assert runs["error"].null_count() == 7


def test_parquet_and_frames_are_read_as_json():
    expected = bf.read_eval(SECOND, metric="exact", backend="polars")
    frames = [PARQUET, pd.read_parquet(PARQUET), pd.DataFrame(json.loads(SECOND.read_text()))]

    for source in frames:
        runs = bf.read_eval(source, metric="exact", backend="polars")
        for column in ("item", "trial", "category", "passed"):
            assert runs[column].equals(expected[column])


def test_assessments_of_earlier_runs_and_of_people_are_not_those_of_the_run():
    """As traces keep them that are evaluated again, or judged in the UI."""
    rows = json.loads(FIRST.read_text())
    for row in rows:
        exact = next(a for a in row["assessments"] if a["assessment_name"] == "exact")
        shared = {**exact, "feedback": {"value": False}, "create_time": "2026-01-01T00:00:00Z"}
        earlier = {**shared, "metadata": {"mlflow.assessment.sourceRunId": "earlier"}}
        row["assessments"] += [earlier, {**shared, "metadata": None}]

    again, expected = (
        bf.read_eval(source, metric="exact", backend="polars") for source in (rows, FIRST)
    )
    assert again.equals(expected)
