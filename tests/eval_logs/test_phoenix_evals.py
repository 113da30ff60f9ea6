"""Frames that arize-phoenix-evals 3.9.4 wrote (phoenix_evals/generate.py).

Eight words are translated, and the second is tried again in the last row.
"""

import json
from pathlib import Path

import pandas as pd
import pytest

import balframe as bf

LOGS = Path(__file__).parent / "phoenix_evals"
FIRST, SECOND, STOPPED = (LOGS / name for name in ("first.json", "second.csv", "stopped.jsonl"))


def test_the_index_is_the_item_and_columns_are_the_rest():
    runs = bf.read_eval([FIRST, SECOND], metric="exact", backend="polars")

    assert runs.filter(item="zwei", trial=2)["model"].to_list() == ["first", "second"]
    of_grey = runs.filter(item="grau").select("model", "category", "target", "answer", "passed")
    assert of_grey.rows() == [
        ("first", "other", "grey", "gray", False),
        ("second", "other", "grey", "grey", True),
    ]


def test_an_evaluator_that_raised_or_gave_none_is_a_null_with_its_error():
    exact, closeness = (
        bf.read_eval(FIRST, metric=metric, backend="polars") for metric in ("exact", "closeness")
    )

    of_word = exact.filter(item="wau").select("score", "passed", "error").rows()
    assert of_word == [(None, None, "ValueError('no expectation')")]
    assert "Got: None" in closeness.filter(item="rot")["error"].item()
    assert closeness.filter(item="blau").select("score", "error").rows() == [(None, None)]  # NaN
    assert closeness.filter(item="grau").select("score", "passed").rows() == [(0.75, None)]


def test_a_score_that_is_to_be_low_passes_at_0():
    runs = bf.read_eval(FIRST, metric="errors", backend="polars")

    assert runs["score"].to_list() == [0, 0, 0, 1, 0, 0, 1, 1, 0]
    assert runs["passed"].to_list() == [score == 0 for score in runs["score"]]


def test_scores_under_other_names_have_the_errors_of_their_evaluator():
    """It gives a number and a label only, and raised for the last word."""
    runs = bf.read_eval(FIRST, metric=["begins", "language"], category="label", backend="polars")

    assert set(runs.filter(item="wau")["error"]) == {"KeyError('parts')"}
    language = runs.filter(metric="language")
    assert language["score"].null_count() == 9
    assert language["category"].to_list() == ["yes"] * 7 + [None, "yes"]


def test_what_did_not_run_is_a_null():
    """The run stopped at the fifth word, whose closeness is None."""
    runs = bf.read_eval(STOPPED, metric="exact", backend="polars")

    assert runs["error"].to_list() == [None] * 5 + ["DID NOT RUN"] * 4
    assert bf.read_eval(STOPPED, metric="exact", errors="drop", backend="polars").height == 5


@pytest.mark.parametrize("index", ["example_id", None])
def test_a_frame_of_pandas_is_read_with_its_index(index):
    frame = pd.DataFrame(json.loads(FIRST.read_text()))
    frame = frame.set_index(index) if index else frame.drop(columns="example_id")
    runs = bf.read_eval(frame, metric="exact", backend="polars")

    expected = bf.read_eval(FIRST, metric="exact", backend="polars")
    items = expected["item"].to_list() if index else [str(position) for position in range(9)]
    assert runs["item"].to_list() == items
    assert runs["passed"].equals(expected["passed"])


def test_a_column_of_the_user_that_ends_like_a_score_is_no_metric():
    rows = [{**row, "risk_score": 0.5} for row in json.loads(FIRST.read_text())]
    runs = bf.read_eval(rows, metric="all", backend="polars")

    assert set(runs["metric"]) == {"exact", "closeness", "errors", "begins", "language"}


def test_an_evaluator_that_never_gave_a_score_has_nulls():
    """As when it raises each time: the frame has no column of its scores."""
    rows = [
        {name: cell for name, cell in row.items() if name not in ("begins_score", "language_score")}
        for row in json.loads(FIRST.read_text())
    ]
    parts = bf.read_eval(rows, metric="parts", backend="polars")

    assert parts["score"].null_count() == 9
