"""Results that evalplus 0.3.1 wrote (evalplus/generate.py) of six functions."""

import json
from pathlib import Path

import pytest

import balframe as bf

LOGS = Path(__file__).parent / "evalplus"
FIRST, SECOND = (LOGS / f"{model}_eval_results.json" for model in ("first", "second"))


def test_trials_of_a_function_are_numbered_and_the_file_names_the_model():
    runs = bf.read_eval([FIRST, SECOND], metric="base", backend="polars")

    assert runs.filter(model="first")["trial"].to_list() == [1, 2, 3] * 6
    assert runs.filter(model="second")["item"].to_list() == [f"HumanEval/{n}" for n in range(6)]
    assert runs["answer"][1].endswith("return n + n\n")


def test_the_extra_tests_are_passed_by_what_passes_the_base_tests_too():
    """A square by `n * abs(n)` passes the base tests only; the second run had no others."""
    square = {"item": "HumanEval/1", "trial": 3}
    runs = bf.read_eval([FIRST, SECOND], metric="all", backend="polars")

    of_square = runs.filter(**square).select("metric", "passed").rows()
    assert of_square == [("base", True), ("plus", False)]
    assert set(runs.filter(model="second")["metric"]) == {"base"}


def test_a_trial_that_timed_out_fails_and_says_so():
    runs = bf.read_eval(FIRST, metric="base", backend="polars").filter(item="HumanEval/5")

    assert runs["error"].to_list() == [None, None, "timeout"]
    assert runs["passed"].to_list() == [False, False, False]


@pytest.mark.parametrize("model", ["first", "second"])
def test_results_in_memory_are_those_of_the_file(model):
    path = LOGS / f"{model}_eval_results.json"
    of_file, of_object = (
        bf.read_eval(source, metric="base", backend="polars").drop("model")
        for source in (path, json.loads(path.read_text()))
    )

    assert of_object.equals(of_file)
