"""Samples of lm-evaluation-harness: samples_TASK_TIME.jsonl."""

import json
import re
from collections.abc import Iterable, Iterator
from pathlib import Path

from balframe.frames.eval_logs.results import Document, Result, UnreadableLogError, category_of

_NAME = re.compile(r"samples_(.+?)(?:_(\d{4}-\d\d-\d\dT[\d-]+(?:\.\d+)?))?$")
_ONLY_FILTER = "none"


def is_line(line: Document) -> bool:
    """Return whether this is a line of samples."""
    return "doc_id" in line and "filtered_resps" in line


def read_lines(path: Path, lines: Iterable[Document], category: str | None) -> Iterator[Result]:
    """Read lines; the category is the task of the file, by its name."""
    match = _NAME.match(path.name.removesuffix(".jsonl"))
    task, time = match.groups() if match else (path.stem, None)
    model = _model(path, time)
    for line in lines:
        filtered = line.get("filter", _ONLY_FILTER)
        for name in line.get("metrics") or ():
            yield Result(
                item=f"{task}/{line['doc_id']}",
                model=model,
                category=category_of(_columns(line), category, task),
                metric=name if filtered == _ONLY_FILTER else f"{name},{filtered}",
                value=line.get(name),
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


def _columns(line: Document) -> Document | None:
    doc = line.get("doc")
    return doc if isinstance(doc, dict) else None
