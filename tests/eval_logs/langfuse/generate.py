# /// script
# requires-python = ">=3.11"
# dependencies = ["langfuse"]
# ///
# ruff: noqa: A002 (the tool passes arguments by these names)
"""Write results of experiments of langfuse, and what it computed itself, into a folder.

Tracing is off, so that nothing is sent, and the task answers by rules. langfuse itself writes no
file of results: these are saved as its users do.
"""

import json
import math
import re
import sys
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path

from langfuse import Evaluation, Langfuse
from langfuse.api import DatasetItem

N_SUMS = 6


def items(**fields_of):
    return [
        {
            "input": {"left": i, "right": i},
            "expected_output": str(2 * i),
            "metadata": {"subject": "odd" if i % 2 else "even", **fields_of.get(f"q{i}", {})},
        }
        for i in range(N_SUMS)
    ]


def dataset_items():
    """Return items of a data set in the form that the server sends."""
    time = datetime(2026, 1, 1, tzinfo=UTC)
    return [
        DatasetItem(
            id=f"item-{i}",
            status="ACTIVE",
            input="Even or odd?",  # the same for all, which differ by their ids
            expected_output="even",
            metadata={"subject": "parity", "number": i},
            dataset_id="d1",
            dataset_name="parity",
            created_at=time,
            updated_at=time,
            media_references=[],
        )
        for i in range(4)
    ]


def answering(divisor):
    def answer(*, item, **kwargs):
        fields = item if isinstance(item, dict) else vars(item)
        if fields["metadata"].get("raises"):
            raise RuntimeError("the task has raised")
        if not isinstance(fields["input"], dict):
            return "even" if fields["metadata"]["number"] % divisor == 0 else "odd"
        number = fields["input"]["left"]
        return str(2 * number) if number % divisor != 1 else "none"

    return answer


def exact(*, input, output, expected_output, **kwargs):
    return Evaluation(name="exact", value=output == expected_output, data_type="BOOLEAN")


def grade(*, metadata, **kwargs):
    value = metadata.get("grade", 1)
    if value == "raises":
        raise ValueError("the scorer has raised")
    return None if value is None else Evaluation(name="grade", value=value)


def judge(*, output, **kwargs):
    return [
        Evaluation(name="short", value=1 / max(len(output), 1)),
        Evaluation(name="tone", value="terse", data_type="CATEGORICAL"),
    ]


def as_json(value):
    return value.model_dump(mode="json") if isinstance(value, DatasetItem) else vars(value)


def averages(result):
    """Return the averages that langfuse's own summary shows, with three digits."""
    return {
        name: float(value)
        for name, value in re.findall(r"^  • (\w+): ([\d.]+|nan)$", result.format(), re.MULTILINE)
    }


def mean(name):
    """Return an evaluator of a whole run, which langfuse gives the items that it kept."""

    def of_run(*, item_results, **kwargs):
        values = [e.value for result in item_results for e in result.evaluations if e.name == name]
        return Evaluation(name=name, value=sum(values) / len(values))

    return of_run


def main(folder):
    client = Langfuse(public_key="pk", secret_key="sk", tracing_enabled=False)
    rows = []

    def run(file, whole, **options):
        result = client.run_experiment(**options)
        result.experiment_id = "0" * 32
        value = result if whole else result.item_results
        (folder / file).write_text(json.dumps(value, default=as_json, indent=1) + "\n")
        shown = averages(result)
        for evaluation in result.run_evaluations:
            if not math.isnan(evaluation.value):
                assert round(evaluation.value, 3) == shown[evaluation.name]
                rows.append(
                    {
                        "files": [file],
                        "metric": evaluation.name,
                        "statistic": "mean",
                        "value": evaluation.value,
                    }
                )
        return result

    for name, divisor in {"careful": 3, "quick": 2}.items():
        run(
            f"{name}.json",
            True,
            name=name,
            run_name=f"{name}, first run",
            data=items() + items(),  # each twice
            task=answering(divisor),
            evaluators=[exact, judge],
            run_evaluators=[mean("exact"), mean("short")],
        )
    grades = {"q0": 0.5, "q1": math.nan, "q2": None, "q3": "raises", "q4": 0}
    fields = {name: {"grade": value} for name, value in grades.items()}
    result = run(
        "grades.json",
        False,
        name="grades",
        run_name="grades, first run",
        data=items(**fields, q5={"raises": True}),
        task=answering(7),
        evaluators=[exact, grade],
        run_evaluators=[mean("exact"), mean("grade")],
    )
    n_graded = sum(len(value.evaluations) - 1 for value in result.item_results)
    rows.append(  # but for the NaN, which makes langfuse's own mean NaN
        {"files": ["grades.json"], "metric": "grade", "statistic": "n", "value": n_graded - 1}
    )
    run(
        "dataset.json",
        True,
        name="parity",
        run_name="parity, first run",
        data=dataset_items(),
        task=answering(2),
        evaluators=[exact],
        run_evaluators=[mean("exact")],
    )
    summary = {"tool": "langfuse", "version": version("langfuse"), "statistics": rows}
    (folder / "summary.json").write_text(json.dumps(summary, indent=1) + "\n")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
