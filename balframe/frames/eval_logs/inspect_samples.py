"""Samples of inspect_ai, which its logs and its frames have in common."""

import math
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

from balframe.frames.eval_logs.eval_file import Document, UnreadableLogError
from balframe.frames.eval_logs.schema import EvalResult

Samples = Callable[[], Iterable[Document]]
_GRADES = {"C": 1.0, "P": 0.5, "I": 0.0, "N": 0.0}  # correct, partly correct, incorrect, no answer
_WORDS = {"yes": 1.0, "true": 1.0, "no": 0.0, "false": 0.0}


def results_of(
    samples: Samples, scored: Iterable[Document], header: Document
) -> Iterator[EvalResult]:
    """Iterate over the results of samples, each with all parts that a scorer has anywhere."""
    run: Document = header.get("eval") or {}
    parts: dict[str, dict[str, None]] = {}
    for scorer in run.get("scorers") or ():
        name, n_used = scorer["name"].rpartition("/")[2], 0  # scores leave out the package
        while (unique := f"{name}{n_used or ''}") in parts:  # as inspect_ai names a second use
            n_used += 1
        parts[unique] = {}
    is_empty = True
    for sample in scored:
        is_empty = False
        for scorer, score in (sample.get("scores") or {}).items():
            parts.setdefault(scorer, {}).update(dict.fromkeys(_parts(score.get("value"))))
    if is_empty or not parts:
        raise UnreadableLogError(
            f"has no {'samples' if is_empty else 'scores'} to read{_accuracy(header)}"
        )
    for sample in samples():
        yield from _of_sample(sample, run, parts)


def _of_sample(
    sample: Document, run: Document, parts: Mapping[str, Iterable[str]]
) -> Iterator[EvalResult]:
    model = sample.get("model", run.get("model"))
    usage = (sample.get("model_usage") or {}).get(model) or {}
    for scorer, names in parts.items():
        score = (sample.get("scores") or {}).get(scorer) or {}
        values = _parts(score.get("value"))
        for part in names or [""]:
            yield EvalResult(
                task=sample.get("task", run.get("task")),
                item=str(sample["id"]),
                trial=int(sample.get("epoch", 1)),
                model=model,
                metric=f"{scorer}/{part}" if part else scorer,
                score=_to_float(values.get(part)),
                metadata={**(run.get("task_args") or {}), **(sample.get("metadata") or {})},
                target=sample.get("target"),
                answer=score.get("answer") or (sample.get("output") or {}).get("completion"),
                error=(sample.get("error") or {}).get("message"),
                invalid=sample.get("invalidation") is not None,
                seed=(run.get("model_generate_config") or {}).get("seed"),
                input_tokens=usage.get("input_tokens"),
                output_tokens=usage.get("output_tokens"),
                seconds=sample.get("total_time"),
            )


def _parts(value: Any) -> Mapping[str, Any]:  # noqa: ANN401 (what a log has)
    """Return the parts of a score; "" is the whole of a score without parts."""
    if isinstance(value, Mapping):
        return value
    if isinstance(value, list):
        return {str(i): part for i, part in enumerate(value, 1)}
    return {} if value is None or value != value else {"": value}


def _to_float(value: Any) -> float | None:  # noqa: ANN401
    """Return a number as the `value_to_float` of inspect_ai, but None without a value.

    inspect_ai takes a part that is None as 0, like a text that is not a number.
    """
    if isinstance(value, str):
        lower = value.lower()
        try:
            read = float(lower)
        except ValueError:
            read = 0.0
        return _GRADES.get(value, _WORDS.get(lower, read if math.isfinite(read) else 0.0))
    return None if value is None else float(value)


def _accuracy(header: Document) -> str:
    """Return what the header says of the samples, if it has results."""
    texts = [
        f"{name} of {score['name']} {metric['value']:.4g}"
        for score in (header.get("results") or {}).get("scores") or ()
        for name, metric in score["metrics"].items()
    ]
    return f"; its header has the {', '.join(texts)}" if texts else ""
