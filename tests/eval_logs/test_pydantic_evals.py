"""Reports that pydantic-evals 2.62 wrote (pydantic_evals/generate.py)."""

import json
from pathlib import Path
from types import SimpleNamespace

import pytest

import balframe as bf

LOGS = Path(__file__).parent / "pydantic_evals"


def read(name, metric="all", **options):
    return bf.read_eval(LOGS / name, metric=metric, backend="polars", **options)


def test_repeats_are_trials_of_a_case():
    runs = read("careful.json", category="subject").sort("item", "trial")
    q1 = runs.filter(item="sums/q1")

    assert runs["item"].n_unique() == 8
    assert q1.select("trial", "passed").rows() == [(1, False), (2, True), (3, True)]
    assert set(q1["category"]) == {"odd"}
    assert set(runs["model"]) == {"careful"}
    assert runs.filter(item="sums/q2")["answer"].to_list() == ["4", "none", "4"]
    assert set(runs.filter(item="sums/q2")["target"]) == {"4"}


def test_all_metrics_of_a_report_are_listed_and_labels_are_categories():
    with pytest.raises(bf.InvalidInputError, match="'Grade', 'clear', 'length'"):
        read("grades.json", None)

    runs = read("grades.json", "clear", category="Tone")
    assert runs["category"].to_list()[:2] == ["short", "long"]


def test_errors_of_tasks_and_evaluators_are_nulls_of_each_metric():
    """No evaluation may be NaN or None: pydantic-evals counts them as failures of the evaluator."""
    runs = read("grades.json")
    grade = runs.filter(metric="Grade")
    clear = runs.filter(metric="clear")

    assert grade["score"].to_list() == [0.5, None, None, None, 0, 3, 1, None]
    assert grade["passed"].to_list() == [None, None, None, None, False, None, True, None]
    endings = ["type: nan.", "type: None.", "scorer has raised", "task has raised"]
    errors = grade["error"].drop_nulls().to_list()
    assert all(error.endswith(end) for error, end in zip(errors, endings, strict=True))
    assert clear["passed"].to_list() == [True, True, True, None, False, True, True, None]
    assert clear["error"].to_list()[3] == "ValueError: both parts have raised"
    assert read("grades.json", "clear", errors="fail")["passed"].sum() == 5


def test_the_second_evaluator_of_a_name_keeps_its_name_where_the_first_has_raised():
    """pydantic-evals 2.62 then gives its result the name of the first."""
    log = json.loads((LOGS / "twice.json").read_text())
    runs = read("twice.json")

    assert [*log["cases"][1]["assertions"]] == ["Within"]
    assert runs.filter(metric="Within")["passed"].to_list() == [True, None, True, False]
    assert runs.filter(metric="Within_2")["passed"].to_list() == [True] * 4


def test_an_evaluator_that_always_raises_is_a_metric(tmp_path):
    log = json.loads((LOGS / "twice.json").read_text())
    log["cases"] = log["cases"][1:2]
    (tmp_path / "log.json").write_text(json.dumps(log))
    runs = bf.read_eval(tmp_path / "log.json", metric="all", backend="polars")

    assert runs.select("metric", "passed").rows() == [("Within", True), ("Within_2", None)]


def test_reports_in_memory_are_read():
    log = json.loads((LOGS / "grades.json").read_text())
    log["cases"] = [SimpleNamespace(**case) for case in log["cases"]]
    report = SimpleNamespace(**log)
    runs = bf.read_eval(report, metric="all", backend="polars")

    assert runs.equals(read("grades.json"))
