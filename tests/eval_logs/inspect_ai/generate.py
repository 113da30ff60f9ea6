# /// script
# requires-python = ">=3.11"
# dependencies = ["inspect_ai", "pandas", "pyarrow"]
# ///
"""Write logs of inspect_ai, and what inspect_ai itself computed, into a folder.

A solver answers in place of a model, by rules, so that nothing is asked of a network.
"""

import json
import math
import os
import sys
import tempfile
from importlib.metadata import version
from pathlib import Path

from inspect_ai import Epochs, Task
from inspect_ai import eval as evaluate
from inspect_ai.analysis import evals_df, samples_df
from inspect_ai.dataset import Sample
from inspect_ai.log import (
    ProvenanceData,
    edit_score,
    invalidate_samples,
    read_eval_log,
    recompute_metrics,
    write_eval_log,
)
from inspect_ai.model import ModelOutput
from inspect_ai.scorer import Score, ScoreEdit, accuracy, match, mean, scorer, stderr
from inspect_ai.solver import solver

MODELS = {"mockllm/careful": 1, "mockllm/quick": 2}
WRONG = "none"
N_SUMS = 8


@solver
def answer():
    """Answer rightly but for some samples, epochs and models; raise where the sample says so."""

    async def solve(state, generate):
        if state.metadata.get("raises"):
            raise ValueError("the task has raised")
        number = int(state.sample_id[1:])
        is_right = (number * state.epoch) % (1 + MODELS[str(state.model)]) != 1
        text = state.target.text if is_right else WRONG
        state.output = ModelOutput.from_content(str(state.model), text)
        return state

    return solve


@scorer(metrics=[accuracy(), stderr()])
def grade():
    """Grade the samples as their metadata says: any value that a score may have."""

    async def score(state, target):
        return Score(value=state.metadata["grade"], answer=state.output.completion)

    return score


@scorer(metrics={"*": [mean(), stderr()]})
def judge():
    """Score two parts, or leave the whole sample unscored."""

    async def score(state, target):
        parts = state.metadata["parts"]
        return Score.unscored(reason="grader_failed") if parts is None else Score(value=parts)

    return score


@scorer(metrics=[mean()])
def late():
    """Raise on one sample, and return no score for another."""

    async def score(state, target):
        rule = state.metadata["late"]
        if rule == "raises":
            raise ValueError("the scorer has raised")
        return None if rule == "none" else Score(value=rule)

    return score


def sums():
    samples = [
        Sample(
            id=f"q{i}",
            input=f"What is {i} + {i}?",
            target=str(2 * i),
            metadata={"subject": "even" if i % 2 == 0 else "odd"},
        )
        for i in range(N_SUMS)
    ]
    return Task(
        name="sums",
        dataset=samples,
        solver=answer(),
        scorer=match(location="exact"),
        epochs=Epochs(2, ["mean", "pass_at_2"]),
    )


def names():
    """Return another task, whose samples have the same ids."""
    samples = [
        Sample(id=f"q{i}", input="Who?", target=name, metadata={"subject": "names"})
        for i, name in enumerate(["Ada", "Emmy", "Grace", "Mary", "Sofia"])
    ]
    return Task(name="names", dataset=samples, solver=answer(), scorer=match(location="exact"))


GRADES = ["C", "P", "I", "N", "yes", "no", "True", "false", "0.25", " 1 ", True, 0.5, math.nan, "?"]


def grades():
    """Return a task with every kind of grade, by a scorer that is used twice."""
    samples = [
        Sample(id=f"q{i}", input="?", target="1", metadata={"grade": value})
        for i, value in enumerate(GRADES)
    ]
    return Task(name="grades", dataset=samples, solver=answer(), scorer=[grade(), grade()])


def essays():
    """Return a task whose first sample raises, with a scorer of two parts and a later one."""
    parts = [{"clear": 1, "short": 0.5}, {"clear": 0, "short": "P"}, None]
    rows = [
        {"parts": parts[0], "late": 1, "raises": True},
        {"parts": parts[0], "late": 1},
        {"parts": parts[1], "late": 0},
        {"parts": parts[2], "late": 1},
        {"parts": {"clear": 1, "short": math.nan}, "late": "raises"},
        {"parts": parts[1], "late": "none"},
        {"parts": parts[0], "late": 0.5},
    ]
    samples = [
        Sample(id=f"q{i}", input="Write.", target="good", metadata={**row, "subject": f"s{i % 2}"})
        for i, row in enumerate(rows)
    ]
    return Task(name="essays", dataset=samples, solver=answer(), scorer=[judge(), late()])


def with_none():
    """Return a task with a part that is None, which a score may have."""
    rows = [{"clear": 1}, {"clear": None}, {"clear": 1}, {"clear": 0}]
    samples = [
        Sample(id=f"q{i}", input="?", target="1", metadata={"parts": row})
        for i, row in enumerate(rows)
    ]
    return Task(name="with_none", dataset=samples, solver=answer(), scorer=judge())


def unscored():
    return Task(name="unscored", dataset=[Sample(id="q1", input="?")], solver=answer())


def run(task, model="mockllm/careful", **options):
    """Run a task; return its log without what the tool says of this machine."""
    [log] = evaluate(
        task,
        model=model,
        log_dir=tempfile.mkdtemp(dir="."),
        display="none",
        fail_on_error=False,
        **options,
    )
    log = read_eval_log(log.location)
    log.eval.task_file = log.eval.revision = None
    for sample in log.samples or []:
        errors = [event.error for event in sample.events if event.event == "error"]
        for error in filter(None, [sample.error, *errors]):
            error.traceback = error.traceback_ansi = ""
    return log


def save(log, path):
    write_eval_log(log, str(path), format=path.suffix[1:])
    return path


def edited():
    """Return a log in which a score is edited and a sample is invalid."""
    log = run(names(), "mockllm/quick")
    reason = ProvenanceData(author="editor", reason="a made-up reason")
    edit_score(log, "q1", "match", ScoreEdit(value="P", provenance=reason))
    log = invalidate_samples(log, [log.samples[2].uuid], reason)
    recompute_metrics(log)
    return log


def statistics(path):
    """Return what the log says of itself."""
    log = read_eval_log(str(path))
    where = {"task": log.eval.task, "model": log.eval.model}
    samples = log.samples or []
    for score in log.results.scores:
        metric = score.name if score.name == score.scorer else f"{score.scorer}/{score.name}"
        reducer = score.reducer or "mean"
        if log.eval.config.epochs == 1:  # otherwise inspect_ai counts samples, not epochs
            yield "n", metric, where, score.scored_samples
            yield "n_errors", metric, where, sum(sample.error is not None for sample in samples)
        for name, of_metric in score.metrics.items():
            statistic = "stderr" if name == "stderr" else "mean"
            if reducer == "pass_at_2" and statistic == "mean":
                statistic = "pass_at(2)"
            elif reducer != "mean":
                continue
            yield statistic, metric, where, of_metric.value


def main(folder):
    folder = Path(folder).resolve()
    os.chdir(tempfile.mkdtemp())
    (folder / "without").mkdir(exist_ok=True)
    quick = "mockllm/quick"
    paths = [
        save(run(sums()), folder / "sums_careful.eval"),
        save(run(sums(), quick), folder / "sums_quick.eval"),
        save(run(names()), folder / "names_careful.eval"),
        save(run(names(), quick), folder / "names_quick.json"),
        save(run(grades()), folder / "grades.eval"),
        save(run(essays()), folder / "essays.eval"),
        save(edited(), folder / "edited.eval"),
        save(run(with_none()), folder / "with_none.eval"),
    ]
    save(run(names(), log_samples=False), folder / "without" / "samples.eval")
    save(run(unscored()), folder / "without" / "scorers.eval")

    frames = {
        "sums_careful.eval": "samples_df_sums.parquet",
        "sums_quick.eval": "samples_df_sums.parquet",
        "essays.eval": "samples_df_essays.csv",  # which says neither task nor model
    }
    out = [
        {
            "files": [file],
            "metric": metric,
            "statistic": statistic,
            "value": value,
            "where": {} if file.endswith("csv") else where,
            "options": {},
        }
        for path in paths
        if path.stem != "with_none"  # a part that is None, which inspect_ai counts as 0
        for statistic, metric, where, value in statistics(path)
        for file in (path.name, frames.get(path.name))
        if file is not None
    ]
    summary = {"tool": "inspect_ai", "version": version("inspect_ai"), "statistics": out}
    (folder / "summary.json").write_text(json.dumps(summary, indent=1) + "\n", encoding="utf-8")

    logs = [str(path) for path in paths]
    frame = samples_df(logs[:2], quiet=True).drop(columns="log")
    frame.merge(evals_df(logs[:2], quiet=True)[["eval_id", "model", "task_name"]]).to_parquet(
        folder / "samples_df_sums.parquet"
    )
    essays_frame = samples_df(str(folder / "essays.eval"), quiet=True).drop(columns="log")
    essays_frame.to_csv(folder / "samples_df_essays.csv", index=False)


if __name__ == "__main__":
    main(sys.argv[1])
