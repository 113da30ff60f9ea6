# /// script
# dependencies = ["mlflow", "pandas", "pyarrow"]
# ///
"""Write frames of mlflow.genai, and what the tool says of them, to a folder.

Two models add numbers, one sum twice. Scorers give booleans, "yes" and "no", shares and None, and
raise; and the function of a model fails. One expectation has the name of a scorer, whose column it
replaces in the frame. The column `trace`, which repeats the others, is left out.
"""

import json
import os
import re
import sys
import tempfile
from collections.abc import Callable
from contextlib import chdir
from importlib.metadata import version
from pathlib import Path

import mlflow
from mlflow.entities import Feedback
from mlflow.genai.evaluation.entities import EvaluationResult
from mlflow.genai.scorers import Scorer, scorer

SUMS = [(1, 1), (1, 2), (2, 2), (10, 5), (20, 5), (30, 5), (1, 2), (40, 2)]
ANSWERS = {
    "first": ["2", "3", "4", "15", "26", "35", "4", None],
    "second": ["2", "4", "5", "14", "25", "35", "3", None],
}


def predictor(model: str) -> Callable[..., str]:
    """Return the function of a model, which answers a sum that comes twice in turn."""
    answers: dict[tuple[int, int], list[str | None]] = {}
    for numbers, answer in zip(SUMS, ANSWERS[model], strict=True):
        answers.setdefault(numbers, []).append(answer)

    def add(a: int, b: int) -> str:
        answer = answers[a, b][0]
        answers[a, b] = [*answers[a, b][1:], answer]  # the tool tries the first sum beforehand
        if answer is None:
            raise RuntimeError("no answer")
        return answer

    return add


@scorer
def exact(outputs: str | None, expectations: dict) -> bool:
    return outputs == expectations["sum"]


@scorer
def brief(outputs: str | None) -> str:
    return "yes" if outputs and len(outputs) == 1 else "no"


@scorer
def closeness(outputs: str | None, expectations: dict) -> float | None:
    if outputs is None:
        raise ValueError("nothing to compare")
    if expectations["sum"] == "4":
        return None
    return 1.0 if outputs == expectations["sum"] else 0.5


@scorer
def parts(outputs: str | None) -> list[Feedback]:
    return [
        Feedback(name="digits", value=len(outputs or "")),
        Feedback(name="kind", value="number"),
    ]


def evaluate(model: str, scorers: list[Scorer]) -> EvaluationResult:
    """Evaluate the answers of a model."""
    rows = [
        {
            "inputs": {"a": a, "b": b},
            "expectations": {"sum": str(a + b), "brief": "no"},
            "tags": {"category": "small" if a + b < 10 else "large", "model": model},
        }
        for a, b in SUMS
    ]
    return mlflow.genai.evaluate(data=rows, predict_fn=predictor(model), scorers=scorers)


PERSONAL = {
    "mlflow.user": "user",
    "mlflow.source.name": "evaluate.py",
    "mlflow.artifactLocation": "artifacts",
    "mlflow.source.git.commit": "",
    "mlflow.source.git.branch": "",
    "mlflow.source.git.repoURL": "",
}


def scrubbed(value: object) -> object:
    """Return a value without users and places of this machine."""
    if isinstance(value, dict):
        values = {key: PERSONAL.get(key, scrubbed(of_key)) for key, of_key in value.items()}
        if values.get("source_type") == "HUMAN":
            values["source_id"] = "user"
        return values
    if isinstance(value, list):
        return [scrubbed(element) for element in value]
    return re.sub(r'(File \\?")[^"]*/', r"\1", value) if isinstance(value, str) else value


def statistics_of(file: str, result: EvaluationResult, scored: list[str]) -> list[dict]:
    """Return the means of the tool, in which a function that failed gave the answer None."""
    fails = {"options": {"errors": "fail"}}
    return [
        {
            "files": [file],
            "metric": name.removesuffix("/mean"),
            "statistic": "mean",
            "value": float(value),
            **({} if name.removesuffix("/mean") in scored else fails),
        }
        for name, value in result.metrics.items()
    ]


def main(folder: Path) -> None:
    """Write the frames and their statistics."""
    every = [exact, brief, closeness, parts]
    runs = {"first.json": ("first", every), "second.json": ("second", every)}
    runs["exact.parquet"] = ("second", [exact])  # as mixed values cannot be written as parquet
    statistics = []
    os.environ["MLFLOW_GENAI_EVAL_MAX_WORKERS"] = "1"  # so that equal sums come in order
    with tempfile.TemporaryDirectory() as place, chdir(place):
        mlflow.set_tracking_uri(f"sqlite:///{place}/runs.db")
        mlflow.set_experiment("sums")
        for file, (model, scorers) in runs.items():
            result = evaluate(model, scorers)
            statistics += statistics_of(file, result, scored=["closeness"])
            frame = result.result_df.drop(columns="trace").map(scrubbed)  # all columns once more
            if file.endswith(".json"):
                frame.to_json(folder / file, orient="records")
            else:
                frame.to_parquet(folder / file)
    summary = {"tool": "mlflow", "version": version("mlflow"), "statistics": statistics}
    (folder / "summary.json").write_text(json.dumps(summary, indent=1) + "\n")


if __name__ == "__main__":
    main(Path(sys.argv[1]).resolve())
