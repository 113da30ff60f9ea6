# /// script
# requires-python = ">=3.11,<3.13"
# dependencies = ["evals"]
# ///
"""Write small records of OpenAI evals, and its own final reports, to a folder."""

import json
import os
import re
import subprocess
import sys
import tempfile
from importlib.metadata import version
from pathlib import Path
from typing import Any

PUPILS = """
class Result:
    def __init__(self, text):
        self.text = text

    def get_completions(self):
        return [self.text]


class Pupil:
    def __init__(self, careless=False, **kwargs):
        self.careless = careless

    def __call__(self, prompt, **kwargs):
        a, sign, b = prompt[-1]["content"].split()
        value = int(a) + int(b) if sign == "+" else int(a) * int(b)
        return Result(str(value + (1 if sign == "*" or (self.careless and value % 2) else 0)))
"""
GRADES = """
import evals
from evals.record import record_metrics


class Grades(evals.Eval):
    def eval_sample(self, sample, rng):
        answer = self.completion_fn(prompt=sample["input"]).get_completions()[0]
        expected = sample["ideal"]
        pairs = sum(a == b for a, b in zip(answer, expected))
        score = pairs / max(len(answer), len(expected))
        record_metrics(close=score, exact=answer == expected, category=sample["category"])

    def run(self, recorder):
        self.eval_all_samples(recorder, self.get_samples())
        metrics = recorder.get_metrics()
        return {
            name: sum(metric[name] for metric in metrics) / len(metrics)
            for name in ("close", "exact")
        }
"""
SAMPLES = [
    ("1 + 1", "2", "easy"),
    ("2 + 3", "5", "easy"),
    ("7 + 8", "15", "hard"),
    ("9 * 9", "81", "hard"),
    ("4 + 4", "8", "easy"),
    ("6 * 8", "48", "hard"),
]
REGISTRY = {
    "evals/sums.yaml": {
        "sums": {"id": "sums.dev.v0", "metrics": ["accuracy"]},
        "sums.dev.v0": {
            "class": "evals.elsuite.basic.match:Match",
            "args": {"samples_jsonl": "sums.jsonl"},
        },
        "grades": {"id": "grades.dev.v0", "metrics": ["close"]},
        "grades.dev.v0": {"class": "grades:Grades", "args": {"samples_jsonl": "sums.jsonl"}},
    },
    "completion_fns/pupils.yaml": {
        "careful": {"class": "pupils:Pupil"},
        "careless": {"class": "pupils:Pupil", "args": {"careless": True}},
    },
}


def main(folder: Path) -> None:
    """Write the records and summary.json."""
    folder.mkdir(parents=True, exist_ok=True)
    statistics = []
    with tempfile.TemporaryDirectory() as place:
        work = Path(place)
        (work / "pupils.py").write_text(PUPILS)
        (work / "grades.py").write_text(GRADES)
        for name, content in REGISTRY.items():
            (work / "registry" / name).parent.mkdir(parents=True)
            (work / "registry" / name).write_text(json.dumps(content))  # which is YAML, too
        data = work / "registry" / "data"
        data.mkdir()
        (data / "sums.jsonl").write_text("".join(map(line, SAMPLES)))
        for pupil in ("careful", "careless"):
            for task in ("sums", "grades"):
                statistics += run(work, pupil, task, folder / f"{task}_{pupil}.jsonl")
    summary = {"tool": "OpenAI evals", "version": version("evals"), "statistics": statistics}
    (folder / "summary.json").write_text(json.dumps(summary, indent=1) + "\n")


def line(sample: tuple[str, str, str]) -> str:
    """Return a sample as a line of JSON."""
    question, ideal, category = sample
    messages = [{"role": "user", "content": question}]
    return json.dumps({"input": messages, "ideal": ideal, "category": category}) + "\n"


def run(work: Path, pupil: str, task: str, log: Path) -> list[dict[str, Any]]:
    """Run an eval, copy its record without its user, and return its final report."""
    record = work / "record.jsonl"
    record.unlink(missing_ok=True)
    command = [str(Path(sys.executable).with_name("oaieval")), pupil, task]
    options = ["--registry_path", "registry", "--record_path", str(record)]
    environment = os.environ | {
        "OPENAI_API_KEY": "none",
        "PYTHONPATH": str(work),
        "EVALS_SEQUENTIAL": "1",
    }
    subprocess.run([*command, *options], cwd=work, env=environment, check=True)
    text = record.read_text().replace(str(work), "/project")
    text = text.replace(command[0], "oaieval")
    text = re.sub(r'"created_by": "[^"]*"', '"created_by": ""', text)
    log.write_text(text)
    lines = [json.loads(row) for row in text.splitlines()]
    (report,) = (row["final_report"] for row in lines if "final_report" in row)
    names = {"accuracy": "match", "close": "close", "exact": "exact"}
    return [
        {
            "files": [log.name],
            "metric": names[name],
            "statistic": "mean",
            "value": value,
            "where": {},
            "options": {},
        }
        for name, value in report.items()
        if name in names
    ]


if __name__ == "__main__":
    main(Path(sys.argv[1]))
