#!/usr/bin/env bash
# inspect_ai 0.3.285: a part of a score that is None counts as 0 in the mean of that part, though
# the type of a score allows None there. A part that is NaN is left out, and a scorer that returns
# None for a whole sample is left out, too.
# Guess: of three samples with the parts 1, None and 1, the mean is 1.0 over two samples.
# Result: the mean is 0.667 over three scored samples; with NaN in place of None it is 1.0 over two.
set -euo pipefail

folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
python3 -m venv venv
venv/bin/pip install --quiet "inspect_ai==0.3.285"

cat > run.py <<'PYTHON'
import math
import sys
from importlib.metadata import version

from inspect_ai import Task, eval
from inspect_ai.dataset import Sample
from inspect_ai.model import ModelOutput
from inspect_ai.scorer import Score, mean, scorer
from inspect_ai.solver import solver


@solver
def answer():
    async def solve(state, generate):
        state.output = ModelOutput.from_content("mockllm/model", "an answer")
        return state

    return solve


@scorer(metrics={"clear": [mean()]})
def judge(missing):
    async def score(state, target):
        return Score(value={"clear": missing if state.sample_id == 2 else 1.0})

    return score


def result(missing):
    samples = [Sample(id=i, input="?", target="!") for i in (1, 2, 3)]
    task = Task(dataset=samples, solver=answer(), scorer=judge(missing))
    [log] = eval(task, model="mockllm/model", log_dir="logs", display="none")
    [score] = log.results.scores
    return round(score.metrics["mean"].value, 3), score.scored_samples, score.unscored_samples


print("inspect_ai", version("inspect_ai"))
results = {str(missing): result(missing) for missing in (None, math.nan)}
for missing, (value, n_scored, n_unscored) in results.items():
    print(f"1, {missing}, 1: mean {value}, scored {n_scored}, unscored {n_unscored}")
changed = results != {"None": (0.667, 3, 0), "nan": (1.0, 2, 1)}
print("the behaviour has changed" if changed else "a part that is None counts as 0, NaN does not")
sys.exit(changed)
PYTHON
venv/bin/python run.py
