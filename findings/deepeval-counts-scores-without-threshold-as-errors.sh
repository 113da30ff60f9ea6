#!/usr/bin/env bash
# DeepEval 4.3.1: the scores of a metric that has no threshold are in the test cases of a test run,
# without an error. The summary of the same file, `metricsScores`, has none of them and counts each
# as an error, as if the metric had failed on every case.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
export HOME=$folder DEEPEVAL_TELEMETRY_OPT_OUT=1 DEEPEVAL_NO_INSPECT_PROMPT=1
python3 -m venv venv
venv/bin/pip install --quiet deepeval==4.3.1 2>/dev/null
cat >run.py <<'PYTHON'
import json
from importlib.metadata import version
from pathlib import Path

from deepeval import evaluate
from deepeval.evaluate import AsyncConfig, DisplayConfig
from deepeval.metrics import BaseMetric, ExactMatchMetric
from deepeval.test_case import LLMTestCase


class Length(BaseMetric):
    threshold = None
    __name__ = "Length"

    def measure(self, test_case, *args, **kwargs):
        self.score, self.success = 1 / len(test_case.actual_output), None
        return self.score

    def is_successful(self):
        return self.success


cases = [
    LLMTestCase(input=word, actual_output=word, expected_output=word) for word in ("a", "of", "four")
]
evaluate(
    cases,
    [ExactMatchMetric(), Length()],
    async_config=AsyncConfig(run_async=False),
    display_config=DisplayConfig(
        show_indicator=False, print_results=False, results_folder="logs", inspect_after_run=False
    ),
)
(log,) = Path("logs").glob("*.json")
run = json.loads(log.read_text())
parts = [part for case in run["testCases"] for part in case["metricsData"]]
scores = [part["score"] for part in parts if part["name"] == "Length" and "error" not in part]
(summary,) = [row for row in run["metricsScores"] if row["metric"] == "Length"]
print("DeepEval", version("deepeval"))
print("scores of Length in the test cases:", scores)
print("summary of Length:", summary)
if scores != [1, 0.5, 0.25] or summary["scores"] or summary["errors"] != 3:
    raise SystemExit("the behaviour has changed")
PYTHON
venv/bin/python run.py 2>errors.txt || {
  tail -n 3 errors.txt
  exit 1
}
