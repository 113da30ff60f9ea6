#!/usr/bin/env bash
# mlflow 3.17.2 writes scores and expectations of genai.evaluate to columns of one form, NAME/value.
#
# If an expectation has the name of a scorer, as when people have labelled what a judge is to say,
# `result_df` has the labels in place of the scores, without a warning. The mean in `metrics` is of
# the scores: the scorer says "yes" to one of four answers, the labels to all.
set -euo pipefail

folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet mlflow==3.17.2 2>/dev/null
"$folder/venv/bin/pip" freeze | grep -E "^mlflow=="
cd "$folder"

cat >evaluate.py <<'END'
import mlflow
from mlflow.genai.scorers import scorer

mlflow.set_tracking_uri("sqlite:///runs.db")
mlflow.set_experiment("politeness")


@scorer
def polite(outputs) -> str:
    return "yes" if "please" in outputs else "no"


answers = ["Wait, please.", "Wait.", "Go.", "No."]
rows = [
    {"inputs": {"number": i}, "outputs": answer, "expectations": {"polite": "yes"}}
    for i, answer in enumerate(answers)
]
result = mlflow.genai.evaluate(data=rows, scorers=[polite])
mean, column = float(result.metrics["polite/mean"]), result.result_df["polite/value"].tolist()
print("metrics:", {"polite/mean": mean})
print("result_df['polite/value']:", column)
assert mean == 0.25
assert column == ["yes", "yes", "yes", "yes"]
END
venv/bin/python evaluate.py 2>/dev/null | grep -E "^(metrics|result_df)"
