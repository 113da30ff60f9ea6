"""Frames that `samples_df` of inspect_ai returns, also if saved as CSV or Parquet."""

import json
from collections.abc import Iterator
from typing import Any

from balframe.frames.eval_logs.eval_file import Document, EvalFile, UnreadableLogError
from balframe.frames.eval_logs.inspect_samples import results_of
from balframe.frames.eval_logs.schema import EvalReader, EvalResult

_COLUMNS = {"sample_id", "eval_id", "id", "epoch"}
_SCORE, _METADATA = "score_", "metadata_"
_DETAILS = ("answer", "explanation", "reason", "metadata")  # of scores, in columns of their own
_HEADLINE = "headline_name"  # of evals_df, which has columns of scores, too


def _recognizes(file: EvalFile) -> bool:
    return not file.is_document and file.head.keys() >= _COLUMNS and bool(_scorers(file.head))


def _read(file: EvalFile) -> Iterator[EvalResult]:
    return results_of(lambda: _samples(file), _samples(file), {})


def _samples(file: EvalFile) -> Iterator[Document]:
    """Iterate over the rows as samples of a log."""
    scorers, evals = _scorers(file.head), set()
    for row in file.records():
        evals.add(row["eval_id"])
        if len(evals) > 1 and not {"model", "task_name"} <= row.keys():
            raise UnreadableLogError(
                "has samples of several evaluations, but not their models and tasks: merge it with "
                'evals_df(logs)[["eval_id", "model", "task_name"]]'
            )
        error, invalidation = _value(row.get("error")), _value(row.get("invalidation"))
        yield {
            "id": row["id"],
            "epoch": row["epoch"],
            "model": _value(row.get("model")),
            "task": _value(row.get("task_name")),
            "target": _value(row.get("target")),
            "error": {"message": error} if error is not None else None,
            "invalidation": invalidation,
            "total_time": _number(row.get("total_time")),
            "model_usage": _value(row.get("model_usage")),
            "scores": {
                name: {
                    "value": _value(row[_SCORE + name]),
                    "answer": _value(row.get(f"{_SCORE}{name}_answer")),
                }
                for name in scorers
            },
            "metadata": {
                key.removeprefix(_METADATA): _value(value)
                for key, value in row.items()
                if key.startswith(_METADATA)
            },
        }


def _scorers(row: Document) -> list[str]:
    """Return the scorers, without the columns of details and those of evals_df."""
    names = [key.removeprefix(_SCORE) for key in row if key.startswith(_SCORE)]
    has_evals = _HEADLINE in names
    return [
        name
        for name in names
        if not (has_evals and name.startswith("headline_"))
        and not any(
            name.startswith(f"{other}_")
            and (has_evals or name.removeprefix(f"{other}_") in _DETAILS)
            for other in names
        )
    ]


def _value(value: Any) -> Any:  # noqa: ANN401 (what a cell has)
    """Return a cell; None if it is empty, and what is inside JSON."""
    if value is None or value == "" or value != value:
        return None
    if isinstance(value, str) and value[:1] in ("{", "["):
        try:
            return json.loads(value)
        except ValueError:
            return value
    return value


def _number(value: Any) -> float | None:  # noqa: ANN401
    value = _value(value)
    return None if value is None else float(value)


READER = EvalReader("inspect_ai", "0.3.285", _recognizes, _read)
