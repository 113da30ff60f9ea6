"""Results of promptfoo: what `promptfoo eval --output results.json` writes."""

import json
from collections.abc import Iterator
from typing import Any

from balframe.frames.eval_logs.results import Document, Result, UnreadableLogError, category_of

_VERSIONS = (2, 3)


def is_document(document: Document) -> bool:
    """Return whether a document has results."""
    results = document.get("results")
    return isinstance(results, dict) and isinstance(results.get("results"), list)


def read_document(document: Document, category: str | None) -> Iterator[Result]:
    """Read a document; an item is a test case, and a model a provider with its prompt."""
    results: Document = document["results"]
    version = results.get("version")
    if version not in _VERSIONS:
        versions = " and ".join(map(str, _VERSIONS))
        raise UnreadableLogError(
            f"has results of promptfoo of version {version}; known versions are {versions}"
        )
    rows: list[Document] = results["results"]
    prompts = {_prompt(row) for row in rows}
    for row in rows:
        case: Document = row.get("testCase") or {}
        model = _provider(row)
        if len(prompts) > 1:
            model = f"{model} · {_prompt(row)}"
        columns = {**(row.get("vars") or {}), **(case.get("metadata") or {})}
        shared = (_item(row, case), model, category_of(columns, category, None))
        yield Result(*shared, metric="success", value=bool(row.get("success")))
        for name, value in (row.get("namedScores") or {}).items():
            yield Result(*shared, metric=name, value=value)


def _item(row: Document, case: Document) -> str:
    """Return the description of a test case, or its variables."""
    description = case.get("description")
    if description:
        return str(description)
    variables = row.get("vars") or case.get("vars")
    return json.dumps(variables, sort_keys=True) if variables else str(row.get("testIdx"))


def _provider(row: Document) -> str:
    provider: Any = row.get("provider")
    if isinstance(provider, dict):
        return str(provider.get("label") or provider.get("id"))
    return str(provider)


def _prompt(row: Document) -> str:
    prompt: Any = row.get("prompt") or {}
    label = prompt.get("label") or prompt.get("raw") if isinstance(prompt, dict) else prompt
    return " ".join(str(label).split())[:80]
