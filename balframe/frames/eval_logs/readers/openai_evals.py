"""Records of OpenAI evals: a line with the specification, then one for each event."""

from collections.abc import Iterator

from balframe.frames.eval_logs.eval_file import Document, EvalFile, UnreadableLogError
from balframe.frames.eval_logs.schema import EvalReader, EvalResult, number, text

_KINDS = ("match", "metrics")  # of events that hold values


def _recognizes(file: EvalFile) -> bool:
    spec = file.head.get("spec")
    return not file.is_document and isinstance(spec, dict) and "eval_name" in spec


def _read(file: EvalFile) -> Iterator[EvalResult]:
    model = task = None
    for line in file.records():
        if "spec" in line:
            spec: Document = line["spec"]
            models = spec.get("completion_fns") or [spec.get("model")]
            model, task = text(models[0]), text(spec.get("base_eval") or spec["eval_name"])
            continue
        kind, data = line.get("type"), line.get("data")
        if kind not in _KINDS or not isinstance(data, dict):
            continue
        if line.get("sample_id") is None:
            raise UnreadableLogError(f"has an event {kind!r} without a sample_id")
        values = {kind: data.get("correct")} if kind == "match" else data
        for metric, value in values.items():
            if value is None or isinstance(value, (bool, int, float)):
                yield EvalResult(
                    task=task,
                    item=str(line["sample_id"]),
                    model=model,
                    metric=metric,
                    score=number(value),
                    metadata=data,
                    target=data.get("expected"),
                    answer=data.get("sampled"),
                )


READER = EvalReader("OpenAI evals", "3.0.1", _recognizes, _read)
