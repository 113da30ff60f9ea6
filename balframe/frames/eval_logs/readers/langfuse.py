"""Experiments of langfuse: what `run_experiment` returns, or its `item_results`, also as JSON.

Evaluations that raised or gave nothing are absent, without a mark. So are items whose task raised:
nothing shows that they were tried (5.0). Evaluations of text are no scores, but categories.
"""

from collections.abc import Iterator

from balframe.frames.eval_logs.eval_file import Document, EvalFile, as_mapping
from balframe.frames.eval_logs.schema import EvalReader, EvalResult, items_by_input, number

_KEYS = {"item", "output", "evaluations", "trace_id"}


def _recognizes(file: EvalFile) -> bool:
    if not file.is_document:
        return file.head.keys() >= _KEYS and isinstance(file.head["evaluations"], list)
    return file.head.keys() >= {"run_name", "item_results", "run_evaluations"}


def _rows(file: EvalFile) -> Iterator[Document]:
    return file.each("item_results") if file.is_document else file.records()


def _evaluations(row: Document) -> Iterator[tuple[str, object]]:
    for evaluation in map(as_mapping, row["evaluations"]):
        yield evaluation["name"], evaluation["value"]


def _read(file: EvalFile) -> Iterator[EvalResult]:
    values = (pair for row in _rows(file) for pair in _evaluations(row))
    metrics = list(dict.fromkeys(name for name, value in values if not isinstance(value, str)))
    items = (as_mapping(row["item"]) for row in _rows(file))
    name_item = items_by_input((item.get("input"), _target(item)) for item in items)
    for row in _rows(file):
        item = as_mapping(row["item"])
        evaluations = list(_evaluations(row))
        labels = {name: value for name, value in evaluations if isinstance(value, str)}
        for metric in metrics:
            # Several evaluators may use a name: langfuse averages over all of their values.
            scores = [number(value) for name, value in evaluations if name == metric]
            for score in scores or [None]:
                yield EvalResult(
                    item=str(item.get("id") or name_item(item["input"], _target(item))),
                    metric=metric,
                    score=score,
                    task=item.get("datasetName", item.get("dataset_name")),
                    model=file.head["run_name"] if file.is_document else None,
                    metadata={**labels, **_metadata(item)},
                    target=_target(item),
                    answer=row["output"],
                )


def _target(item: Document) -> object:
    return item.get("expectedOutput", item.get("expected_output"))


def _metadata(item: Document) -> Document:
    metadata = item.get("metadata")
    return as_mapping(metadata) if isinstance(metadata, dict) else {}


READER = EvalReader("langfuse", "5.0", _recognizes, _read)
