"""Samples of lm-evaluation-harness: samples_TASK_TIME.jsonl."""

import json
import re
from collections.abc import Iterator
from pathlib import Path

from balframe.frames.eval_logs.eval_file import Document, EvalFile, UnreadableLogError
from balframe.frames.eval_logs.schema import EvalReader, EvalResult, number

_NAME = re.compile(r"samples_(.+?)(?:_(\d{4}-\d\d-\d\dT[\d-]+(?:\.\d+)?))?$")
_ONLY_FILTER = "none"


def _recognizes(file: EvalFile) -> bool:
    return not file.is_document and "doc_id" in file.head and "filtered_resps" in file.head


def _read(file: EvalFile) -> Iterator[EvalResult]:
    assert file.path is not None
    match = _NAME.match(file.path.name.removesuffix(".jsonl"))
    task, time = match.groups() if match else (file.path.stem, None)
    model = _model(file.path, time)
    for line in file.records():
        filtered = line.get("filter", _ONLY_FILTER)
        for name in line.get("metrics") or ():
            yield EvalResult(
                task=task,
                item=str(line["doc_id"]),
                model=model,
                metric=name if filtered == _ONLY_FILTER else f"{name},{filtered}",
                score=number(line.get(name)),
                metadata=_columns(line),
            )


def _model(path: Path, time: str | None) -> str | None:
    """Return the name of the model: of the results of the same run, or else of the folder."""
    results = path.with_name(f"results_{time}.json")
    if time is not None and results.exists():
        try:
            name = json.loads(results.read_bytes()).get("model_name")
        except (AttributeError, ValueError) as error:
            raise UnreadableLogError(f"has damaged results beside it: {results.name}") from error
        if name:
            return str(name)
    return path.absolute().parent.name or None


def _columns(line: Document) -> Document:
    doc = line.get("doc")
    return doc if isinstance(doc, dict) else {}


READER = EvalReader("lm-evaluation-harness", "0.4.13", _recognizes, _read)
