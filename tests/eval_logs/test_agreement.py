"""What a tool computes of its own logs is what balframe computes of them.

Each folder beside this file has small logs that a tool wrote, the script that made it write them,
and `summary.json`: what the tool itself computed, with its version. BALFRAME_EVAL_LOGS names
another folder of such folders, as of the newest versions.
"""

import json
import math
import os
from pathlib import Path

import polars as pl
import pytest

import balframe as bf
from balframe.frames.eval_logs.eval_file import ENDINGS, EvalFile
from balframe.frames.eval_logs.read import eval_readers

FOLDER = Path(os.environ.get("BALFRAME_EVAL_LOGS") or Path(__file__).parent)
SUMMARIES = sorted(FOLDER.glob("*/summary.json"))
LOGS = sorted(
    path
    for summary in SUMMARIES
    for path in summary.parent.rglob("*")
    if path.suffix in ENDINGS and path != summary
)


def stderr(runs):
    """Return the standard error of the mean over items, as tools compute it."""
    means = runs.group_by("item").agg(pl.col("score").mean())["score"]
    return means.std() / math.sqrt(len(means))


def statistic(name, runs):
    scored = runs.drop_nulls("score")
    if name.startswith("pass_at"):
        request = {"outcome": "passed", "cluster": "item", "missing": "drop"}
        return bf.report(runs, **request, metrics=name)[name].item()
    return {
        "mean": lambda: scored["score"].mean(),
        "stderr": lambda: stderr(scored),
        "n": lambda: scored.height,
        "n_errors": lambda: runs["error"].count(),
        "passed": lambda: runs["passed"].mean(),
    }[name]()


@pytest.mark.filterwarnings("ignore::balframe.BalframeWarning")
@pytest.mark.parametrize("path", SUMMARIES, ids=lambda path: path.parent.name)
def test_statistics_of_a_tool_are_those_of_its_logs(path):
    summary = json.loads(path.read_text())
    assert summary["statistics"]
    for row in summary["statistics"]:
        files, options = [path.parent / file for file in row["files"]], row.get("options", {})
        runs = bf.read_eval(files, metric=row["metric"], backend="polars", **options)
        runs = runs.filter(
            *(pl.col(name).eq_missing(v) for name, v in row.get("where", {}).items())
        )
        assert statistic(row["statistic"], runs) == pytest.approx(row["value"], abs=1e-9), row


@pytest.mark.parametrize("path", LOGS, ids=lambda path: f"{path.parent.name}/{path.name}")
def test_a_log_is_recognised_by_the_reader_of_its_tool_alone(path):
    if path.name.startswith("results_"):
        pytest.skip("results of lm-evaluation-harness stand beside its samples")
    readers = [reader.tool for reader in eval_readers() if reader.recognizes(EvalFile(path))]

    assert len(readers) == 1
