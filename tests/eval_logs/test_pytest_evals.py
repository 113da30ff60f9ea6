"""Results that pytest-evals 0.3.4 wrote (pytest_evals/generate.py)."""

import json
from pathlib import Path

import balframe as bf

LOGS = Path(__file__).parent / "pytest_evals"
FIRST, REPEATED = (LOGS / name / "eval-results-raw.json" for name in ("first", "repeated"))
PARITY = "parity/test_suite.py::test_parity"


def test_whether_a_test_passed_is_read_by_default():
    runs = bf.read_eval(FIRST, category="size", backend="polars")

    assert runs.select("task", "category", "passed").rows() == [
        ("parity", "small", False),
        ("parity", "small", True),
        ("parity", "small", True),
        ("parity", "large", False),  # raised an exception
        ("parity", "large", True),
        ("sums", None, True),
    ]
    assert runs["item"][1] == f'{PARITY}{{"a": 1, "b": 5}}'


def test_a_value_is_null_where_an_exception_came_first():
    runs = bf.read_eval(FIRST, metric="correct", backend="polars")

    assert runs["passed"].to_list() == [False, True, True, None, True]
    assert runs["error"].to_list()[3] == "failed before it had closeness, correct"


def test_nan_and_none_are_nulls_and_half_a_point_neither_passes_nor_fails():
    runs = bf.read_eval(FIRST, metric="closeness", backend="polars")

    assert runs["score"].to_list() == [0.5, None, None, None, 1.0]
    assert runs["passed"].to_list() == [None, None, None, None, True]
    assert runs["error"].null_count() == 4


def test_values_of_one_eval_are_no_metrics_of_another():
    runs = bf.read_eval(FIRST, metric="all", backend="polars")

    assert set(runs.filter(task="sums")["metric"]) == {"exact", "passed"}


def test_repeats_are_trials_and_a_parameter_names_the_model():
    """Of the second model, 2 fails in the first trial, 3 in two, and 4 in all."""
    runs = bf.read_eval(REPEATED, category="number", backend="polars")

    passed = runs.filter(model="second").group_by("category").agg("trial", "passed")
    assert passed.sort("category").rows() == [
        ("1", [1, 2, 3], [True, True, True]),
        ("2", [1, 2, 3], [False, True, True]),
        ("3", [1, 2, 3], [False, False, True]),
        ("4", [1, 2, 3], [False, False, False]),
    ]
    assert runs["item"].n_unique() == 4


def test_results_in_memory_are_those_of_the_file():
    of_file, of_object = (
        bf.read_eval(source, backend="polars") for source in (FIRST, json.loads(FIRST.read_text()))
    )

    assert of_object.equals(of_file)
