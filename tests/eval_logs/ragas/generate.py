# /// script
# requires-python = ">=3.11"
# dependencies = [
#   "ragas",
#   "pyarrow",
#   "rapidfuzz",
#   "langchain-community<0.4",  # ragas 0.4.3 imports a module that later ones do not have
#   "langchain<1",
#   "langchain-core<1",
#   "langchain-openai<1",
# ]
# ///
"""Write results of ragas, and what it computed itself, into a folder.

The metrics need no model. ragas itself writes no file: `to_pandas()` is saved as its users do.
"""

import json
import math
import os
import sys
from dataclasses import dataclass, field
from importlib.metadata import version
from pathlib import Path

os.environ["RAGAS_DO_NOT_TRACK"] = "true"

from ragas import EvaluationDataset, evaluate
from ragas.metrics import ExactMatch, NonLLMStringSimilarity
from ragas.metrics.base import MetricType, SingleTurnMetric

N_SUMS = 8


@dataclass
class Grade(SingleTurnMetric):
    """The grade that the response ends in: a number, or one that raises."""

    name: str = "grade"
    _required_columns: dict = field(
        default_factory=lambda: {MetricType.SINGLE_TURN: {"user_input", "response"}}
    )

    def init(self, run_config):
        pass

    async def _single_turn_ascore(self, sample, callbacks):
        grade = sample.response.split()[-1]
        if grade == "raises":
            raise ValueError("the scorer has raised")
        return float(grade)


@dataclass
class IsShort(Grade):
    name: str = "is_short"

    async def _single_turn_ascore(self, sample, callbacks):
        return len(sample.response) < 3


def samples(divisor, grades=()):
    rows = [
        {
            "user_input": f"What is {i} + {i}?",
            "retrieved_contexts": [f"{i} + {i} = {2 * i}", "a second one"],
            "response": str(2 * i) if i % divisor != 1 else "none",
            "reference": str(2 * i),
            "query_style": "odd" if i % 2 else "even",
        }
        for i in range(N_SUMS)
    ]
    for row, grade in zip(rows, grades, strict=False):
        row["response"] = f"of grade {grade}"
    return rows


def run(rows, metrics):
    data = EvaluationDataset.from_list(rows)
    return evaluate(data, metrics=metrics, show_progress=False, raise_exceptions=False)


def main(folder):
    statistics = []

    def add(files, result):
        for file in files:
            for metric, value in result._repr_dict.items():  # which its text shows, rounded
                n_scored = sum(not math.isnan(score) for score in result[metric])
                of_metric = {"files": [file], "metric": metric}
                statistics.append({**of_metric, "statistic": "mean", "value": value})
                statistics.append({**of_metric, "statistic": "n", "value": n_scored})

    metrics = [ExactMatch(), NonLLMStringSimilarity(), IsShort()]
    result = run(samples(3), metrics)
    frame = result.to_pandas()
    frame.to_csv(folder / "careful.csv")  # with the index, as by default
    frame.to_json(folder / "careful_columns.json")
    add(["careful.csv", "careful_columns.json"], result)

    result = run(samples(2) + samples(3), metrics)  # each twice
    frame = result.to_pandas()
    frame.to_csv(folder / "quick.csv", index=False)
    frame.to_parquet(folder / "quick.parquet")
    add(["quick.csv", "quick.parquet"], result)

    grades = ["0.5", "nan", "raises", "0", "3", "1"]
    result = run(samples(3, grades)[: len(grades)], [Grade(), IsShort()])
    frame = result.to_pandas()
    frame.to_json(folder / "grades.json", orient="records", indent=1)
    frame.to_json(folder / "grades.jsonl", orient="records", lines=True)
    frame.to_csv(folder / "grades.csv")
    add(["grades.json", "grades.jsonl", "grades.csv"], result)

    summary = {"tool": "ragas", "version": version("ragas"), "statistics": statistics}
    (folder / "summary.json").write_text(json.dumps(summary, indent=1) + "\n")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
