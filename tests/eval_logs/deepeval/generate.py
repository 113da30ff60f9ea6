# /// script
# requires-python = ">=3.11"
# dependencies = ["deepeval"]
# ///
"""Write small test runs of DeepEval, and what DeepEval itself computes, to a folder."""

import json
import math
import os
import shutil
import subprocess
import sys
import tempfile
from importlib.metadata import version
from pathlib import Path
from typing import Any

os.environ |= {
    "DEEPEVAL_TELEMETRY_OPT_OUT": "1",
    "DEEPEVAL_UPDATE_WARNING_OPT_IN": "0",
    "DEEPEVAL_NO_INSPECT_PROMPT": "1",
}
target = Path(sys.argv[1]).absolute()
place = tempfile.mkdtemp()  # DeepEval writes to the working directory
os.chdir(place)

from deepeval import evaluate  # noqa: E402
from deepeval.evaluate import AsyncConfig, CacheConfig, DisplayConfig, ErrorConfig  # noqa: E402
from deepeval.metrics import BaseMetric, ExactMatchMetric  # noqa: E402
from deepeval.test_case import LLMTestCase  # noqa: E402

# question, expected answer, category, answer of the careful model, answer of the careless one
CASES = [
    ("1 + 1", "2", "easy", "2", "2"),
    ("2 + 3", "5", "easy", "5", "6"),
    ("7 + 8", "15", "hard", "15", "16"),
    ("9 * 9", "81", "hard", "82", "8"),
    ("raises", "8", "easy", "8", "8"),
    ("3 + 3", "6", "easy", "6 or so", "7 or so"),
    ("nan", "8", "easy", "8", "9"),
    ("none", "48", "hard", "48", "48"),
]


class Closeness(BaseMetric):
    """The share of the characters that agree; it raises, or gives NaN or None, as a case says."""

    def __init__(self, threshold: float | None) -> None:
        self.threshold = threshold

    def measure(self, test_case: LLMTestCase, *args: Any, **kwargs: Any) -> float | None:
        """Measure a case."""
        answer, expected = str(test_case.actual_output), str(test_case.expected_output)
        if test_case.input == "raises":
            raise RuntimeError("the judge is unreachable")
        pairs = sum(a == b for a, b in zip(answer, expected, strict=False))
        score: float | None = pairs / max(len(answer), len(expected))
        self.score = {"nan": math.nan, "none": None}.get(test_case.input, score)
        self.success = (
            None if self.threshold is None or self.score is None else self.score >= self.threshold
        )
        self.reason = "characters were compared"
        return self.score

    async def a_measure(self, test_case: LLMTestCase, *args: Any, **kwargs: Any) -> float | None:
        """Measure a case."""
        return self.measure(test_case)

    def is_successful(self) -> bool | None:
        """Return the verdict."""
        return self.success

    @property
    def __name__(self) -> str:  # type: ignore[override]
        return "Closeness"


def run(name: str, cases: list[LLMTestCase], metrics: list[BaseMetric], model: str) -> Path:
    """Evaluate, and return the test run that DeepEval wrote."""
    folder = Path(place, "exports", name)
    evaluate(
        test_cases=cases,
        metrics=metrics,
        hyperparameters={"model": model},
        async_config=AsyncConfig(run_async=False),
        cache_config=CacheConfig(write_cache=False),
        error_config=ErrorConfig(ignore_errors=True),
        display_config=DisplayConfig(
            show_indicator=False,
            print_results=False,
            results_folder=str(folder),
            inspect_after_run=False,
        ),
    )
    (log,) = folder.glob("*.json")
    return log


def cases(answers: int, *, names: bool = False) -> list[LLMTestCase]:
    """Return the cases with the answers of a model."""
    return [
        LLMTestCase(
            input=row[0],
            expected_output=row[1],
            actual_output=row[answers],
            metadata={"category": row[2]},
            tags=[row[2]],
            name=f"case-{position}" if names else None,
        )
        for position, row in enumerate(CASES)
    ]


def statistics(file: str, document: dict[str, Any]) -> list[dict[str, Any]]:
    """Return what DeepEval counts: scores and verdicts of each metric, and verdicts of cases."""
    rows = []
    for metric in document["metricsScores"]:
        scores, n_verdicts = metric["scores"], metric["passes"] + metric["fails"]
        common = {"files": [file], "metric": metric["metric"], "where": {}, "options": {}}
        if n_verdicts:
            rows.append(common | {"statistic": "passed", "value": metric["passes"] / n_verdicts})
        if scores and not any(map(math.isnan, scores)):
            rows.append(common | {"statistic": "mean", "value": sum(scores) / len(scores)})
    if len(document["metricsScores"]) > 1:
        n_passed, n_failed = document["testPassed"], document["testFailed"]
        rows.append(
            {
                "files": [file],
                "metric": "success",
                "where": {},
                "options": {"errors": "fail"},
                "statistic": "passed",
                "value": n_passed / (n_passed + n_failed),
            }
        )
    return rows


TEST = """
import json
import pytest
from deepeval import assert_test
from deepeval.metrics import ExactMatchMetric, PatternMatchMetric
from deepeval.test_case import LLMTestCase

@pytest.mark.parametrize("row", json.load(open("cases.json")))
def test_sums(row):
    case = LLMTestCase(input=row[0], expected_output=row[1], actual_output=row[3])
    assert_test(case, [ExactMatchMetric(), PatternMatchMetric(pattern="[0-9]+")], run_async=False)
"""


def test_run_of_pytest() -> Path:
    """Return the latest test run, as `deepeval test run` leaves it."""
    Path("test_sums.py").write_text(TEST)
    Path("cases.json").write_text(json.dumps([row for row in CASES if row[0][0].isdigit()]))
    command = [str(Path(sys.executable).with_name("deepeval")), "test", "run", "test_sums.py"]
    subprocess.run(command, check=False, stdout=subprocess.DEVNULL, stdin=subprocess.DEVNULL)
    return Path(".deepeval", ".latest_test_run.json")


def main(folder: Path) -> None:
    """Write the logs and summary.json."""
    folder.mkdir(parents=True, exist_ok=True)
    metrics: list[BaseMetric] = [ExactMatchMetric(), Closeness(threshold=0.5)]
    statistics_of_all = []
    runs = {
        "careful": (cases(3), metrics, "careful"),
        "careless": (cases(4), metrics, "careless"),
        "repeats": ([*cases(3)[:4], *cases(4)[:4]], metrics, "both"),
        "no_threshold": (
            cases(3, names=True)[:4],
            [ExactMatchMetric(), Closeness(threshold=None)],
            "careful",
        ),
        "one_metric": (cases(4)[:6], [Closeness(threshold=0.5)], "careless"),
    }
    for name, (of_run, of_metrics, model) in runs.items():
        log = run(name, of_run, of_metrics, model)
        shutil.copy(log, folder / f"{name}.json")
        document = json.loads(log.read_text())
        statistics_of_all += statistics(f"{name}.json", document)
    latest = test_run_of_pytest()
    shutil.copy(latest, folder / "latest_test_run.json")
    document = json.loads(latest.read_text())["testRunData"]
    statistics_of_all += statistics("latest_test_run.json", document)
    summary = {
        "tool": "DeepEval",
        "version": version("deepeval"),
        "statistics": statistics_of_all,
    }
    (folder / "summary.json").write_text(json.dumps(summary, indent=1) + "\n")


if __name__ == "__main__":
    main(target)
    shutil.rmtree(place)
