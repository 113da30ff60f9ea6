"""Details of lighteval: Parquet files in details/MODEL/TIME."""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from balframe.frames.eval_logs.eval_file import Document, EvalFile
from balframe.frames.eval_logs.schema import EvalReader, EvalResult, number

_COLUMNS = {"doc", "metric", "model_response"}
_FOLDER = "details"


def _recognizes(file: EvalFile) -> bool:
    if file.is_document or not file.head.keys() >= _COLUMNS:
        return False
    doc = file.head["doc"]
    return isinstance(doc, Mapping) and doc.keys() >= {"id", "task_name", "gold_index"}


def _read(file: EvalFile) -> Iterator[EvalResult]:
    """Read details; a document has a row for each way of sampling, with the metrics of that way."""
    model = None if file.path is None else _model(file.path)
    scored = {(_key(row), name) for row in file.records() for name in _scores(row)}
    for row in file.records():
        doc, response = row["doc"], row["model_response"]
        texts = response.get("text_post_processed") or response.get("text") or []
        scores = _scores(row)
        for name in row["metric"]:
            if name not in scores and (_key(row), name) in scored:
                continue
            scored.add((_key(row), name))  # one row where no way of sampling has a score
            yield EvalResult(
                task=doc["task_name"],
                item=str(doc["id"]),
                model=model,
                metric=name,
                score=number(scores.get(name)),
                metadata=doc.get("specific") or {},
                target=_target(doc),
                answer=texts[0] if len(texts) == 1 else None,
                input_tokens=len(response.get("input_tokens") or ()) or None,
                output_tokens=sum(map(len, response.get("output_tokens") or ())) or None,
            )


def _key(row: Document) -> tuple[Any, Any]:
    return row["doc"]["task_name"], row["doc"]["id"]


def _scores(row: Document) -> Document:
    return {name: value for name, value in row["metric"].items() if value is not None}


def _target(doc: Document) -> Any:  # noqa: ANN401 (a text, or several)
    gold, choices = doc["gold_index"], doc.get("choices") or []
    texts = [choices[i] for i in ([gold] if isinstance(gold, int) else gold) if i < len(choices)]
    return texts[0] if len(texts) == 1 else texts


def _model(path: Path) -> str | None:
    """Return the model, whose name is the folders between `details` and the time."""
    *folders, _, _ = path.absolute().parts
    if _FOLDER not in folders:
        return None
    last = len(folders) - folders[::-1].index(_FOLDER)
    return "/".join(folders[last:]) or None


READER = EvalReader("lighteval", "0.13.0", _recognizes, _read)
