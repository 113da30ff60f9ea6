"""Samples of lm-evaluation-harness: samples_TASK_TIME.jsonl."""

import re
from collections.abc import Iterable, Iterator
from pathlib import Path

from balframe.frames.eval_logs.results import Document, Result, category_of, text

_NAME = re.compile(r"samples_(.+?)(?:_\d{4}-\d\d-\d\dT[\d-]+(?:\.\d+)?)?$")
_ONLY_FILTER = "none"


def is_line(line: Document) -> bool:
    """Return whether this is a line of samples."""
    return "doc_id" in line and "filtered_resps" in line


def read_lines(path: Path, lines: Iterable[Document], category: str | None) -> Iterator[Result]:
    """Read lines; the model is the folder of the file, and the category its task."""
    found = _NAME.match(path.name.removesuffix(".jsonl"))
    task = found[1] if found else path.stem
    model = text(path.absolute().parent.name or None)
    for line in lines:
        names = line.get("metrics") or []
        for name in names:
            filtered = line.get("filter", _ONLY_FILTER)
            yield Result(
                item=f"{task}/{line['doc_id']}",
                model=model,
                category=category_of(_columns(line), category, task),
                metric=name if filtered == _ONLY_FILTER else f"{name},{filtered}",
                value=line.get(name),
            )


def _columns(line: Document) -> Document | None:
    doc = line.get("doc")
    return doc if isinstance(doc, dict) else None
