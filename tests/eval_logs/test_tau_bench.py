"""Results that tau-bench 0.1.0 wrote (tau_bench/generate.py): six tasks of a shop, twice each."""

import json
from pathlib import Path

import balframe as bf

LOGS = Path(__file__).parent / "tau_bench"
FAST, SLOW = (next(LOGS.glob(f"tool-calling-{model}-*.json")) for model in ("fast", "slow"))


def test_trials_are_those_of_the_tool_and_the_file_names_the_agent():
    runs = bf.read_eval([FAST, SLOW], category="user_id", backend="polars")

    assert set(runs["model"]) == {"tool-calling-fast-0.0", "tool-calling-slow-0.0"}
    slow = runs.filter(model="tool-calling-slow-0.0").sort("item", "trial")
    assert slow.select("item", "trial", "category").rows()[:2] == [
        ("0", 1, "customer_0"),
        ("0", 2, "customer_0"),
    ]
    assert slow["passed"].to_list() == [True] * 7 + [False] + [True] * 4  # no figs the second time


def test_a_trial_that_raised_is_a_null_which_the_tool_counts_as_a_failure():
    null, fail = (
        bf.read_eval(FAST, errors=errors, backend="polars").filter(item="5", trial=2)
        for errors in ("null", "fail")
    )

    assert null.select("score", "passed", "error").rows() == [(None, None, "the provider is down")]
    assert fail["passed"].to_list() == [False]


def test_results_in_memory_are_those_of_the_file():
    trials = json.loads(SLOW.read_text())

    of_file, of_objects = (
        bf.read_eval(source, backend="polars").drop("model") for source in (SLOW, trials)
    )
    assert of_objects.equals(of_file)
