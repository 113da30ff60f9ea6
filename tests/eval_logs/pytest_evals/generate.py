# /// script
# dependencies = ["pytest-evals", "pytest-repeat"]
# ///
"""Write results of pytest-evals, and what the tool says of them, to a folder.

Models say whether sums are odd or even. `first` and `second` are runs of one model each. In
`repeated`, the model is a parameter, and pytest-repeat runs each test three times.
"""

import json
import os
import shutil
import subprocess
import sys
import tempfile
from importlib.metadata import version
from pathlib import Path

FILE = "eval-results-raw.json"
WRONG = {"first": "[(1, 4)]", "second": "[(1, 4), (1, 5), (2, 4)]"}
SUITE = """
import json
import math

import pytest

CASES = [(a, b) for a in (1, 2, 3) for b in (4, 5)]


def answer(a, b):
    if (a, b) == (2, 5):
        raise RuntimeError("no answer")
    wrong = WRONG
    return "even" if ((a + b) % 2 == 0) != ((a, b) in wrong) else "odd"


@pytest.fixture
def parity(a, b):
    if (a, b) == (3, 4):
        raise ValueError("no expectation")
    return "odd" if (a + b) % 2 else "even"


@pytest.mark.eval(name="parity")
@pytest.mark.parametrize(("a", "b"), CASES)
def test_parity(a, b, parity, eval_bag):
    eval_bag.expected = parity
    eval_bag.size = "large" if a + b > 6 else "small"
    eval_bag.answer = answer(a, b)
    eval_bag.correct = eval_bag.answer == parity
    eval_bag.closeness = {(1, 4): 0.5, (1, 5): math.nan, (2, 4): None}.get((a, b), 1.0)
    assert eval_bag.correct


@pytest.mark.eval(name="sums")
def test_sum(eval_bag):
    eval_bag.exact = 1.0


@pytest.mark.eval_analysis(name="parity")
def test_analysis(eval_results, out_path):
    bags = [r.result for r in eval_results]
    correct = [bag.correct for bag in bags if "correct" in bag]
    statistics = {
        "passed": sum(r.status == "passed" for r in eval_results) / len(eval_results),
        "correct": sum(correct) / len(correct),
        "n": len(eval_results),
    }
    (out_path / "analysis.json").write_text(json.dumps(statistics))
"""
REPEATED = """
import json

import pytest


@pytest.mark.eval(name="parity")
@pytest.mark.parametrize("model", ["first", "second"])
@pytest.mark.parametrize("number", [1, 2, 3, 4])
def test_repeated(number, model, eval_bag, request):
    trial = request.getfixturevalue("__pytest_repeat_step_number")
    wrong = {"first": number == 3, "second": number > trial + 1}[model]
    eval_bag.answer = "even" if (number % 2 == 0) != wrong else "odd"
    assert (eval_bag.answer == "even") == (number % 2 == 0)


@pytest.mark.eval_analysis(name="parity")
def test_analysis(eval_results, out_path):
    states = {}
    for result in eval_results:
        states.setdefault(result.test_params["model"], []).append(result.status == "passed")
    shares = {model: sum(passed) / len(passed) for model, passed in states.items()}
    (out_path / "analysis.json").write_text(json.dumps(shares))
"""


def run(folder: Path, name: str, suite: str, *options: str) -> dict:
    """Run a suite, write its results, and return what its analysis says."""
    with tempfile.TemporaryDirectory() as place:
        Path(place, "test_suite.py").write_text(suite)
        command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "--run-eval"]
        subprocess.run(
            [*command, "--run-eval-analysis", "--out-path=out", *options],
            cwd=place,
            check=False,
            stdout=subprocess.DEVNULL,
            env={**os.environ, "PYTEST_ADDOPTS": ""},
        )
        (folder / name).mkdir(exist_ok=True)
        shutil.copy(Path(place, "out", FILE), folder / name / FILE)
        analysis: dict = json.loads(Path(place, "out", "analysis.json").read_text())
        return analysis


def main(folder: Path) -> None:
    """Write the results and their statistics."""
    statistics = []
    for name, wrong in WRONG.items():
        analysis = run(folder, name, SUITE.replace("WRONG", wrong))
        shared = {"files": [f"{name}/{FILE}"], "where": {"task": "parity"}}
        statistics += [
            {**shared, "metric": "passed", "statistic": "passed", "value": analysis["passed"]},
            {**shared, "metric": "passed", "statistic": "n", "value": analysis["n"]},
            {**shared, "metric": "correct", "statistic": "mean", "value": analysis["correct"]},
        ]
    analysis = run(folder, "repeated", REPEATED, "--count=3")
    statistics += [
        {
            "files": [f"repeated/{FILE}"],
            "metric": "passed",
            "statistic": "passed",
            "value": value,
            "where": {"model": model},
        }
        for model, value in analysis.items()
    ]
    summary = {"tool": "pytest-evals", "version": version("pytest-evals")}
    summary["statistics"] = statistics
    (folder / "summary.json").write_text(json.dumps(summary, indent=1) + "\n")


if __name__ == "__main__":
    main(Path(sys.argv[1]).resolve())
