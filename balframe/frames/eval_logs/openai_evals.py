"""Records of OpenAI evals: a line with the specification, then one for each event."""

from collections.abc import Iterable, Iterator

from balframe.frames.eval_logs.results import (
    Document,
    Result,
    UnreadableLogError,
    category_of,
    text,
)

_KINDS = ("match", "metrics")  # of events that hold values


def is_line(line: Document) -> bool:
    """Return whether this is the first line of a record."""
    spec = line.get("spec")
    return isinstance(spec, dict) and "eval_name" in spec


def read_lines(lines: Iterable[Document], category: str | None) -> Iterator[Result]:
    """Read lines; the category is the name of the eval."""
    model = name = None
    for line in lines:
        if is_line(line):
            spec: Document = line["spec"]
            models = spec.get("completion_fns") or [spec.get("model")]
            model, name = text(models[0]), text(spec.get("base_eval") or spec["eval_name"])
            continue
        kind, data = line.get("type"), line.get("data")
        if kind not in _KINDS or not isinstance(data, dict):
            continue
        if line.get("sample_id") is None:
            raise UnreadableLogError(f"has an event {kind!r} without a sample_id")
        values = {kind: data.get("correct")} if kind == "match" else data
        for metric, value in values.items():
            if value is None or isinstance(value, (bool, int, float)):
                yield Result(
                    item=str(line["sample_id"]),
                    model=model,
                    category=category_of(data, category, name),
                    metric=metric,
                    value=value,
                )
