"""Samples of lm-evaluation-harness: samples_TASK_TIME.jsonl, and what `simple_evaluate` returns."""

import json
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import Any

from balframe.frames.eval_logs.eval_file import Document, EvalFile, UnreadableLogError
from balframe.frames.eval_logs.schema import EvalReader, EvalResult, number, text

_NAME = re.compile(r"samples_(.+?)(?:_(\d{4}-\d\d-\d\dT[\d-]+(?:\.\d+)?))?$")
_ONLY_FILTER = "none"
_FIELDS = "doc_id doc target arguments resps filtered_resps filter doc_hash prompt_hash target_hash"
_Lines = Callable[[], Iterable[Document]]


def _recognizes(file: EvalFile) -> bool:
    if file.is_document:
        return file.head.keys() >= {"results", "configs"} and isinstance(
            file.head.get("samples"), Mapping
        )
    return file.head.keys() >= {"doc_id", "filtered_resps", "resps"}


def _read(file: EvalFile) -> Iterator[EvalResult]:
    if file.is_document:
        config = file.head.get("config") or {}
        model = file.head.get("model_name") or config.get("model_args") or config.get("model")
        for name in file.head["samples"]:
            yield from _of_task(partial(file.each, "samples", name), name, text(model), [])
        return
    if file.path is None:
        yield from _of_task(file.records, None, None, [])
        return
    match = _NAME.match(file.path.name.removesuffix(".jsonl"))
    task, time = match.groups() if match else (file.path.stem, None)
    run = _run(file.path, time)
    model = run.get("model_name") or file.path.absolute().parent.name or None
    keys = (run.get("results") or {}).get(task) or {}
    filters = list(dict.fromkeys(key.partition(",")[2] for key in keys if "," in key))
    yield from _of_task(file.records, task, model, filters)


def _run(path: Path, time: str | None) -> Document:
    """Return the results of the same run, which stand beside the samples."""
    if not (results := path.with_name(f"results_{time}.json")).exists():
        return {}
    try:
        run: Document = {**json.loads(results.read_bytes())}
    except (TypeError, ValueError) as error:
        raise UnreadableLogError(f"has damaged results beside it: {results.name}") from error
    return run


def _of_task(
    lines: _Lines, task: str | None, model: str | None, filters: list[str]
) -> Iterator[EvalResult]:
    """Iterate over the results of lines, each with all metrics of its filter."""
    metrics: dict[Any, dict[str, None]] = {}
    for key, line in _with_filter(lines()):
        metrics.setdefault(key, {}).update(dict.fromkeys(_metrics(line)))
    for key, line in _with_filter(lines()):
        name = key
        if isinstance(key, int):
            default = f"filter {key + 1}" if len(metrics) > 1 else _ONLY_FILTER
            name = filters[key] if len(filters) == len(metrics) else default
        suffix = "" if name == _ONLY_FILTER else f",{name}"
        for metric in metrics[key]:
            for trial, (score, answer) in enumerate(_scores(line, metric), 1):
                yield EvalResult(
                    task=task,
                    item=str(line["doc_id"]),
                    model=model,
                    metric=metric + suffix,
                    trial=trial,
                    score=number(score),
                    target=line.get("target"),
                    answer=answer,
                    metadata=line["doc"] if isinstance(line.get("doc"), Mapping) else {},
                )


def _with_filter(lines: Iterable[Document]) -> Iterator[tuple[Any, Document]]:
    """Iterate over lines with their filters, by position where none is named (before 2025).

    A document has a line for each filter.
    """
    n_lines: Counter[Any] = Counter()
    for line in lines:
        yield line.get("filter", n_lines[line["doc_id"]]), line
        n_lines[line["doc_id"]] += 1


def _metrics(line: Document) -> Iterable[str]:
    return line["metrics"] if "metrics" in line else sorted(line.keys() - _FIELDS.split())


def _scores(line: Document, metric: str) -> Iterator[tuple[Any, Any]]:
    """Iterate over the scores of a line with their answers: one, or one for each response."""
    score, answers = line.get(metric), line["filtered_resps"]
    answer = answers[0] if len(answers) == 1 else None
    if (
        isinstance(score, list)
        and isinstance(answer, list)
        and len(score) == len(answer)
        and isinstance(line["resps"][0][0], str)  # and no likelihood
    ):
        yield from zip(score, answer, strict=True)
        return
    if metric == "acc" and len(answers) > 1:
        best = max(range(len(answers)), key=lambda i: float(answers[i][0]))
        is_right = str(best) == str(line.get("target"))
        answer = best if is_right == bool(score) else None  # several targets, or mutual information
    yield score, answer


READER = EvalReader("lm-evaluation-harness", "0.4.13", _recognizes, _read)
