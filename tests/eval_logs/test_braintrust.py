"""Results of braintrust 0.48.1, saved as JSON (braintrust/generate.py)."""

import json
from pathlib import Path
from types import SimpleNamespace

import pytest

import balframe as bf
from tests.eval_logs.in_memory import ByName

LOGS = Path(__file__).parent / "braintrust"


def read(source, metric="all", **options):
    source = LOGS / source if isinstance(source, str) else source
    return bf.read_eval(source, metric=metric, backend="polars", **options)


def test_trials_are_rows_of_an_input():
    runs = read("careful.json", "ExactMatch", category="subject")
    two = runs.filter(item='{"left": 2, "right": 2}')

    assert runs["item"].n_unique() == 6
    assert two.select("trial", "passed", "category", "target", "answer").rows() == [
        (1, True, "even", "4", "4"),
        (2, False, "even", "4", "none"),
    ]
    assert set(read("careful.json", category="tags")["category"]) == {'["small"]', None}


def test_errors_of_tasks_and_scorers_are_nulls_of_each_metric():
    """Absent scores have errors in the metadata; a score may be None; a mean may be NaN."""
    runs = read("grades.json")
    grade, clear, broken = (runs.filter(metric=m) for m in ("grade", "clear", "broken"))

    assert sorted(set(runs["metric"])) == ["broken", "clear", "grade", "short"]
    assert grade["score"].to_list() == [0.5, None, None, None, 0, None]
    assert grade["error"].is_not_null().to_list() == [False, False, False, True, False, True]
    assert grade["error"][3] == "ValueError: the scorer has raised"
    assert grade["error"][5] == "the task has raised"
    assert clear["passed"].to_list() == [True, True, True, None, False, None]
    assert "both parts have raised" in clear["error"][3]  # of a scorer that has another name
    assert (broken["passed"].count(), broken["error"].count()) == (0, 6)
    assert read("grades.json", "grade", errors="fail")["passed"].to_list()[3] is False


def test_several_metrics_need_a_choice():
    with pytest.raises(bf.InvalidInputError, match="'ExactMatch', 'NumericDiff'"):
        read("careful.json", None)


def test_a_whole_result_has_its_experiment_as_model():
    runs = read("whole.json", None)

    assert runs["passed"].to_list() == [None, True, None, False, True, True]
    assert set(runs["task"]) == {"whole"}
    assert set(runs["model"]) == {"whole [experiment_name=careful]"}


def test_results_in_memory_are_read():
    log = json.loads((LOGS / "whole.json").read_text())
    rows = [ByName(**row) for row in log["results"]]
    result = ByName(summary=SimpleNamespace(**log["summary"]), results=rows)

    assert read(result).equals(read("whole.json"))
    assert read(rows)["passed"].to_list() == [None, True, None, False, True, True]


def test_rows_of_a_data_set_are_items_by_their_ids():
    log = json.loads((LOGS / "whole.json").read_text())
    rows = [
        {**row, "input": "?", "origin": {"id": f"r{i}"}} for i, row in enumerate(log["results"])
    ]

    assert read(rows)["item"].to_list() == [f"r{i}" for i in range(6)]
