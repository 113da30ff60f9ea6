# /// script
# requires-python = ">=3.11"
# dependencies = ["pydantic-evals"]
# ///
"""Write reports of pydantic-evals, and what it computed itself, into a folder.

The task answers by rules, so that nothing is asked of a network.
"""

import json
import math
import re
import sys
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path

from pydantic_evals import Case, Dataset, increment_eval_metric
from pydantic_evals.evaluators import Evaluator
from pydantic_evals.reporting import EvaluationReportAdapter

N_SUMS = 8


@dataclass
class Exact(Evaluator):
    def evaluate(self, ctx):
        return ctx.output == ctx.expected_output


@dataclass
class Grade(Evaluator):
    """Return the grade in the metadata, which may be no score; raise for "raises"."""

    def evaluate(self, ctx):
        grade = ctx.metadata.get("grade", 1)
        if grade == "raises":
            raise ValueError("the scorer has raised")
        return grade


@dataclass
class Parts(Evaluator):
    def evaluate(self, ctx):
        if ctx.metadata.get("grade") == "raises":
            raise ValueError("both parts have raised")
        return {"clear": ctx.metadata.get("grade") != 0, "length": len(ctx.output) / 4}


@dataclass
class Tone(Evaluator):
    def evaluate(self, ctx):
        return "short" if len(ctx.output) < 2 else "long"


@dataclass
class Within(Evaluator):
    """A check that is used twice, with other arguments."""

    limit: int

    def evaluate(self, ctx):
        if ctx.output == ctx.metadata.get("stops") and self.limit == 1:
            raise ValueError("the first of two has raised")
        return len(ctx.output) <= self.limit


def answering(divisor, stops=None):
    n_runs = {}

    def answer(question):
        number = int(question.split()[0])
        if number == stops:
            raise RuntimeError("the task has raised")
        n_runs[number] = n_runs.get(number, 0) + 1
        increment_eval_metric("output_tokens", 1)
        return str(2 * number) if (number * n_runs[number]) % divisor != 1 else "none"

    return answer


def cases(**fields_of):
    return [
        Case(
            name=f"q{i}",
            inputs=f"{i} + {i}",
            expected_output=str(2 * i),
            metadata={"subject": "odd" if i % 2 else "even", **fields_of.get(f"q{i}", {})},
        )
        for i in range(N_SUMS)
    ]


def write(folder, name, report):
    text = EvaluationReportAdapter.dump_json(report, indent=1).decode()
    text = re.sub(r'(File \\")[^"]*/', r"\1", text)  # no folder of this machine
    (folder / name).write_text(text + "\n")


def row(file, metric, statistic, value, **where):
    return {
        "files": file if isinstance(file, list) else [file],
        "metric": metric,
        "statistic": statistic,
        "value": value,
        "where": where,
    }


def main(folder):
    rows = []
    sums = Dataset(name="sums", cases=cases(), evaluators=[Exact()])
    for name, divisor in {"careful": 3, "quick": 2}.items():
        options = {"name": name, "metadata": {"temperature": 0.5}, "progress": False}
        report = sums.evaluate_sync(answering(divisor), repeat=3, max_concurrency=1, **options)
        file = f"{name}.json"
        write(folder, file, report)
        rows.append(row(file, "Exact", "mean", report.averages().assertions))
        for group in report.case_groups():
            item = f"sums/{group.name}"
            rows.append(row(file, "Exact", "passed", group.summary.assertions, item=item))

    grades = {"q0": 0.5, "q1": math.nan, "q2": None, "q3": "raises", "q4": 0, "q5": 3}
    evaluators = [Grade(), Parts(), Tone()]
    dataset = Dataset(
        name="grades",
        cases=cases(**{name: {"grade": grade} for name, grade in grades.items()}),
        evaluators=evaluators,
    )
    report = dataset.evaluate_sync(answering(2, stops=7), name="careful", progress=False)
    write(folder, "grades.json", report)
    for metric, value in report.averages().scores.items():
        rows.append(row("grades.json", metric, "mean", value))
        n_scored = sum(metric in case.scores for case in report.cases)
        rows.append(row("grades.json", metric, "n", n_scored))
    n_failures = sum(
        failure.name == "Grade" for case in report.cases for failure in case.evaluator_failures
    )
    n_errors = n_failures + len(report.failures)
    rows.append(row("grades.json", "Grade", "n_errors", n_errors))
    rows.append(row("grades.json", "clear", "passed", report.averages().assertions))

    twice = Dataset(
        name="twice", cases=cases(q1={"stops": "none"})[:4], evaluators=[Within(1), Within(9)]
    )
    write(folder, "twice.json", twice.evaluate_sync(answering(2), name="quick", progress=False))

    summary = {
        "tool": "pydantic-evals",
        "version": version("pydantic-evals"),
        "statistics": rows,
    }
    (folder / "summary.json").write_text(json.dumps(summary, indent=1) + "\n")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
