"""Results of ragas: the frame of `to_pandas()`, saved as csv, JSON or parquet, or in memory.

The fields of a sample stand first and the metrics after them, without a mark. Metrics are the
columns of numbers or booleans, and columns of text may be categories. A metric that raised is NaN,
without its error.
"""

from collections.abc import Iterator
from typing import Any

from balframe.frames.eval_logs.eval_file import Document, EvalFile, as_mapping
from balframe.frames.eval_logs.schema import EvalReader, EvalResult, items_by_input

_FIELDS = {
    "user_input",
    "retrieved_contexts",
    "reference_contexts",
    "retrieved_context_ids",
    "reference_context_ids",
    "response",
    "multi_responses",
    "reference",
    "rubrics",
    "persona_name",
    "query_style",
    "query_length",
    "reference_tool_calls",
    "reference_topics",
}
_MISSING = {"", "None", "<NA>"}
_BOOLEANS = {"True": 1.0, "False": 0.0, "true": 1.0, "false": 0.0}


def _recognizes(file: EvalFile) -> bool:
    head = file.head
    if _is_result(head):
        return True
    if file.is_document and not all(isinstance(column, dict) for column in head.values()):
        return False
    names = list(head)
    if "user_input" not in names or len(_FIELDS & {*names}) < 2:
        return False
    start = names.index("user_input")
    n_fields = len(_FIELDS & {*names})
    is_first = {*names[start : start + n_fields]} <= _FIELDS and start <= 1  # after an index
    return is_first and len(names) > start + n_fields


def _is_result(head: Document) -> bool:
    return head.keys() >= {"scores", "dataset", "binary_columns", "ragas_traces"}


def _rows(file: EvalFile) -> Iterator[Document]:
    if _is_result(file.head):
        samples = as_mapping(file.head["dataset"])["samples"]
        for sample, scores in zip(samples, file.each("scores"), strict=True):
            yield {**as_mapping(sample), **scores}
    elif file.is_document:  # columns, as to_json() writes by default
        for key in file.head["user_input"]:
            yield {name: column[key] for name, column in file.head.items()}
    else:
        yield from file.records()


def _read(file: EvalFile) -> Iterator[EvalResult]:
    metrics = _metrics(file)
    name_item = items_by_input((r["user_input"], r.get("reference")) for r in _rows(file))
    for row in _rows(file):
        categories = {name: value for name, value in row.items() if name not in metrics}
        for metric in metrics:
            yield EvalResult(
                item=name_item(row["user_input"], row.get("reference")),
                metric=metric,
                score=_score(row[metric]),
                metadata=categories,
                target=row.get("reference"),
                answer=row.get("response"),
            )


def _metrics(file: EvalFile) -> list[str]:
    """Return the columns after the fields that have numbers, booleans and missing values alone."""
    metrics: dict[str, bool] = {}
    for row in _rows(file):
        if not metrics:
            names = [*row]
            after = names[names.index("user_input") :]
            metrics = {n: True for n in after if n not in _FIELDS and not n.startswith("__")}
        for name, is_metric in metrics.items():
            value = row[name]
            metrics[name] = is_metric and (_score(value) is not None or str(value) in _MISSING)
    return [name for name, is_metric in metrics.items() if is_metric]


def _score(value: Any) -> float | None:  # noqa: ANN401 (a cell, which is text in csv)
    try:
        return _BOOLEANS[value] if value in _BOOLEANS else float(value)
    except (TypeError, ValueError):
        return None


READER = EvalReader("ragas", "0.4", _recognizes, _read)
