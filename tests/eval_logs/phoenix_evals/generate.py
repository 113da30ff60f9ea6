# /// script
# dependencies = ["arize-phoenix-evals"]
# ///
"""Write frames of arize-phoenix-evals, and what the tool says of them, to a folder.

Two models translate eight words. The index names the words, and one word is tried twice. The third
frame is of a run that stopped at the first error, as runs do by default.
"""

import json
import math
import sys
from importlib.metadata import version
from pathlib import Path

import pandas as pd
from phoenix.evals import Evaluator, Score, create_evaluator, evaluate_dataframe
from phoenix.evals.utils import to_annotation_dataframe
from pydantic import BaseModel

WORDS = {
    "eins": "one",
    "zwei": "two",
    "drei": "three",
    "vier": "four",
    "rot": "red",
    "blau": "blue",
    "grau": "grey",
    "wau": "",
}
ANSWERS = {
    "first": ["one", "two", "three", "for", "red", "blue", "gray", "woof", "two"],
    "second": ["one", "too", "tree", "for", "red", "blue", "grey", "woof", "two"],
}
TRIED = [*WORDS, "zwei"]


@create_evaluator(name="exact", kind="code")
def exact(output: str, expected: str) -> bool:
    if not expected:
        raise ValueError("no expectation")
    return output == expected


@create_evaluator(name="closeness", kind="code")
def closeness(output: str, expected: str) -> float | None:
    if expected == "red":
        return None
    if expected == "blue":
        return math.nan
    return sum(a == b for a, b in zip(output, expected, strict=False)) / max(len(output), 1)


@create_evaluator(name="errors", kind="code", direction="minimize")
def errors(output: str, expected: str) -> Score:
    wrong = output != expected
    return Score(
        score=float(wrong),
        label="wrong" if wrong else "right",
        explanation=f"{output} for {expected}",
        direction="minimize",
    )


class Translation(BaseModel):
    """What `Parts` needs."""

    output: str
    expected: str


class Parts(Evaluator):
    """Give two scores at once, one of them a label only."""

    def _evaluate(self, eval_input: dict) -> list[Score]:
        if eval_input["output"] == "woof":
            raise KeyError("parts")
        begins = eval_input["output"][0] == eval_input["expected"][0]
        return [
            Score(name="begins", score=int(begins), kind="code"),
            Score(name="language", label="yes", kind="code"),
        ]


def evaluate(model: str, *, exit_on_error: bool = False) -> pd.DataFrame:
    """Evaluate the answers of a model."""
    numbers = ("one", "two", "three", "four")
    frame = pd.DataFrame(
        {
            "model": model,
            "category": ["number" if WORDS[word] in numbers else "other" for word in TRIED],
            "expected": [WORDS[word] for word in TRIED],
            "output": ANSWERS[model],
        },
        index=pd.Index(TRIED, name="example_id"),
    )
    return evaluate_dataframe(
        dataframe=frame,
        evaluators=[
            exact,
            closeness,
            errors,
            Parts(name="parts", kind="code", input_schema=Translation),
        ],
        hide_tqdm_bar=True,
        exit_on_error=exit_on_error,
        max_retries=0,
    )


def statistics_of(file: str, frame: pd.DataFrame, metrics: list[str]) -> list[dict]:
    """Return the statistics of the scores that the tool would send to its server."""
    annotations = to_annotation_dataframe(dataframe=frame.reset_index(names="span_id"))
    scores = annotations.groupby("annotation_name")["score"]
    states = frame["exact_execution_details"].map(lambda details: details["status"])
    values = [
        *((metric, "mean", scores.mean()[metric]) for metric in metrics),
        *((metric, "n", int(scores.count()[metric])) for metric in metrics),
        ("exact", "n_errors", int((states != "COMPLETED").sum())),
    ]
    return [
        {"files": [file], "metric": metric, "statistic": statistic, "value": value}
        for metric, statistic, value in values
    ]


def main(folder: Path) -> None:
    """Write the frames and their statistics."""
    first, second = evaluate("first"), evaluate("second")
    stopped = evaluate("first", exit_on_error=True)
    first.reset_index().to_json(folder / "first.json", orient="records", indent=1)
    second.to_csv(folder / "second.csv")
    stopped.reset_index().to_json(folder / "stopped.jsonl", orient="records", lines=True)
    frames = {"first.json": first, "second.csv": second, "stopped.jsonl": stopped}
    metrics = ["exact", "closeness", "errors", "begins"]
    statistics = [row for name in frames for row in statistics_of(name, frames[name], metrics)]
    summary = {
        "tool": "arize-phoenix-evals",
        "version": version("arize-phoenix-evals"),
        "statistics": statistics,
    }
    (folder / "summary.json").write_text(json.dumps(summary, indent=1) + "\n")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
