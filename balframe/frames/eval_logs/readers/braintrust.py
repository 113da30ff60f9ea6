"""Results of braintrust: `Eval(...)` and its `results`, in memory or saved as JSON.

An item is an input, by which braintrust itself compares experiments, unless it names the row of a
data set.
"""

from collections.abc import Iterator
from typing import Any

from balframe.frames.eval_logs.eval_file import Document, EvalFile, as_mapping
from balframe.frames.eval_logs.schema import EvalReader, EvalResult, number, text

_KEYS = {"input", "output", "expected", "scores", "metadata", "tags", "error", "exc_info"}


def _recognizes(file: EvalFile) -> bool:
    if not file.is_document:
        return file.head.keys() >= _KEYS
    results = file.head.get("results")
    return (
        "summary" in file.head
        and isinstance(results, list)
        and all(as_mapping(result).keys() >= _KEYS for result in results)
    )


def _rows(file: EvalFile) -> Iterator[Document]:
    return file.each("results") if file.is_document else file.records()


def _read(file: EvalFile) -> Iterator[EvalResult]:
    metrics = _metrics(file)
    summary: Any = as_mapping(file.head.get("summary") or {}) if file.is_document else {}
    for row in _rows(file):
        failures = _failures(row)
        metadata = {**(row["metadata"] or {}), "tags": row["tags"]}
        metadata.pop("scorer_errors", None)
        # A scorer may name its scores otherwise than itself: then it failed for what is missing.
        unnamed = "\n".join(v for name, v in failures.items() if name not in metrics)
        for metric in metrics:
            error = row["error"]
            if error is None and metric not in row["scores"]:
                error = failures.get(metric) or unnamed or None
            yield EvalResult(
                item=_item(row),
                metric=metric,
                score=number(row["scores"].get(metric)),
                task=summary.get("project_name"),
                model=summary.get("experiment_name"),
                metadata=metadata,
                target=row["expected"],
                answer=row["output"],
                error=error,
            )


def _metrics(file: EvalFile) -> list[str]:
    """Return all names of scores, and scorers that have always raised."""
    metrics: dict[str, None] = {}
    always: set[str] | None = None
    for row in _rows(file):
        metrics.update(dict.fromkeys(row["scores"]))
        if row["error"] is None:
            failed = {*_failures(row)}
            always = failed if always is None else always & failed
    return [*metrics, *sorted((always or set()) - metrics.keys())]


def _failures(row: Document) -> Document:
    """Return the last line of the traceback of each scorer that has raised."""
    tracebacks = (row["metadata"] or {}).get("scorer_errors") or {}
    return {name: str(lines).strip().split("\n")[-1] for name, lines in tracebacks.items()}


def _item(row: Document) -> str:
    origin = row.get("origin")
    return str(as_mapping(origin)["id"] if origin else text(row["input"]))


READER = EvalReader("braintrust", "0.48", _recognizes, _read)
