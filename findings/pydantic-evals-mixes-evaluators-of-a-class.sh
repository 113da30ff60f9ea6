#!/usr/bin/env bash
# Two evaluators of one class in pydantic-evals are "Near" and "Near_2". Where the first raises, the
# score of the second is reported as "Near", so that the averages of the report mix both evaluators.
set -euo pipefail

folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet "pydantic-evals==2.62.0"

cat > "$folder/run.py" <<'PYTHON'
from dataclasses import dataclass
from importlib.metadata import version

from pydantic_evals import Case, Dataset
from pydantic_evals.evaluators import Evaluator


@dataclass
class Near(Evaluator):
    """Score 0 by the strict evaluator, which fails on long answers, and 1 by the other."""

    is_strict: bool

    def evaluate(self, ctx):
        if not self.is_strict:
            return 1.0
        if len(ctx.output) > 3:
            raise ValueError("the answer is too long")
        return 0.0


cases = [Case(name=text, inputs=text) for text in ("one", "two", "three", "seven")]
dataset = Dataset(name="words", cases=cases, evaluators=[Near(True), Near(False)])
report = dataset.evaluate_sync(lambda text: text, progress=False)

print("pydantic-evals", version("pydantic-evals"))
for case in report.cases:
    scores = {name: (score.value, score.source.arguments) for name, score in case.scores.items()}
    print(case.name, scores, "failed:", [failure.name for failure in case.evaluator_failures])
averages = report.averages().scores
print("averages of the report:", averages)
print("the strict evaluator scored 0.0 in both cases that it scored, and the other 1.0 in all four")
assert averages == {"Near": 0.5, "Near_2": 1.0}, "the behaviour has changed"
PYTHON
"$folder/venv/bin/python" "$folder/run.py"
