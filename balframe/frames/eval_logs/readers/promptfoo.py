"""Results of promptfoo: what `promptfoo eval --output results.json` writes."""

import json
from collections.abc import Iterator
from typing import Any

from balframe.frames.eval_logs.eval_file import Document, EvalFile, UnreadableLogError
from balframe.frames.eval_logs.schema import EvalReader, EvalResult, number

_VERSIONS = (2, 3)


def _recognizes(file: EvalFile) -> bool:
    results = file.head.get("results")
    return isinstance(results, dict) and isinstance(results.get("results"), list)


def _read(file: EvalFile) -> Iterator[EvalResult]:
    version = file.head["results"].get("version")
    if version not in _VERSIONS:
        versions = " and ".join(map(str, _VERSIONS))
        raise UnreadableLogError(
            f"has results of promptfoo of version {version}; known versions are {versions}"
        )
    prompts = {_prompt(row) for row in file.each("results", "results")}
    for row in file.each("results", "results"):
        case: Document = row.get("testCase") or {}
        model = _provider(row)
        if len(prompts) > 1:
            model = f"{model} · {_prompt(row)}"
        values = {"success": row.get("success"), **(row.get("namedScores") or {})}
        for metric, value in values.items():
            yield EvalResult(
                item=_item(row, case),
                model=model,
                metric=metric,
                score=number(value),
                metadata={**(row.get("vars") or {}), **(case.get("metadata") or {})},
            )


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


READER = EvalReader("promptfoo", "0.121", _recognizes, _read, default_metric="success")
