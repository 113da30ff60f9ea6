# /// script
# requires-python = ">=3.11"
# dependencies = ["braintrust", "autoevals"]
# ///
# ruff: noqa: A002 (the tool passes arguments by these names)
"""Write results of braintrust, and what it computed itself, into a folder.

Nothing is sent (`no_send_logs`), and the task answers by rules. braintrust itself writes no file of
results: these are saved as its users do, with exceptions as text.
"""

import json
import math
import re
import sys
from importlib.metadata import version
from pathlib import Path

from autoevals import ExactMatch, NumericDiff
from braintrust import Eval, Score

N_SUMS = 6


def data(**fields_of):
    return [
        {
            "input": {"left": i, "right": i},
            "expected": str(2 * i),
            "metadata": {"subject": "odd" if i % 2 else "even", **fields_of.get(f"q{i}", {})},
            "tags": ["small"] if i < 3 else None,
        }
        for i in range(N_SUMS)
    ]


def answering(divisor):
    def answer(question, hooks):
        number = question["left"]
        if hooks.metadata.get("raises"):
            raise RuntimeError("the task has raised")
        return str(2 * number) if (number * (hooks.trial_index + 1)) % divisor != 1 else "none"

    return answer


def grade(input, output, expected, metadata):
    value = metadata.get("grade", 1)
    if value == "raises":
        raise ValueError("the scorer has raised")
    return value


def judge(input, output, expected, metadata):
    """Return scores under other names than its own; raise where the grade raises."""
    if metadata.get("grade") == "raises":
        raise ValueError("both parts have raised")
    return [Score("clear", metadata.get("grade") != 0), Score("short", 1 / max(len(output), 1))]


def broken(input, output, expected):
    raise ValueError("always raised")


def near(input, output, expected):
    value = 2 * input["left"] + (1 if output == "none" else 0)
    return NumericDiff()(value, float(expected))


def write(folder, name, value):
    text = json.dumps(value, indent=1, default=str)
    text = re.sub(r'(File \\")[^"]*/', r"\1", text)  # no folder of this machine
    (folder / name).write_text(text + "\n")


def main(folder):
    rows = []

    def add(file, result, n_scored=None):
        for metric, score in result.summary.comparison.scores.items():
            if not math.isnan(score.score):
                rows.append(row(file, metric, "mean", score.score))

    def row(file, metric, statistic, value, **where):
        return {
            "files": [file],
            "metric": metric,
            "statistic": statistic,
            "value": value,
            "where": where,
        }

    for name, divisor in {"careful": 3, "quick": 2}.items():
        result = Eval(
            "sums",
            data=data(),
            task=answering(divisor),
            scores=[ExactMatch, near],
            experiment_name=name,
            trial_count=2,
            no_send_logs=True,
        )
        write(folder, f"{name}.json", [vars(value) for value in result.results])
        add(f"{name}.json", result)
        for number in range(N_SUMS):  # the same task and scorer on one item
            scores = [v.scores["ExactMatch"] for v in result.results if v.input["left"] == number]
            item = json.dumps({"left": number, "right": number})
            rows.append(
                row(f"{name}.json", "ExactMatch", "passed", sum(scores) / len(scores), item=item)
            )

    grades = {"q0": 0.5, "q1": math.nan, "q2": None, "q3": "raises", "q4": 0}
    fields = {name: {"grade": value} for name, value in grades.items()}
    result = Eval(
        "grades",
        data=data(**fields, q5={"raises": True}),
        task=answering(7),
        scores=[grade, judge, broken],
        experiment_name="careful",
        no_send_logs=True,
    )
    write(folder, "grades.json", [vars(value) for value in result.results])
    add("grades.json", result)
    n_errors = sum(value.error is not None for value in result.results)
    n_failures = sum("grade" in v.metadata.get("scorer_errors", {}) for v in result.results)
    rows.append(row("grades.json", "grade", "n_errors", n_errors + n_failures))

    fields = {f"q{i}": {"grade": value} for i, value in enumerate([0.25, True, None, False])}
    result = Eval(
        "whole",
        data=data(**fields),
        task=answering(7),
        scores=[grade],
        experiment_name="careful",
        no_send_logs=True,
    )
    write(folder, "whole.json", result.as_dict())
    add("whole.json", result)

    summary = {"tool": "braintrust", "version": version("braintrust"), "statistics": rows}
    (folder / "summary.json").write_text(json.dumps(summary, indent=1) + "\n")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
