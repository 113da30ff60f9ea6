"""Reports of pydantic-evals: `EvaluationReportAdapter.dump_json(report)`, and the report itself.

Labels are no scores, but categories.
"""

from collections import Counter
from collections.abc import Iterator
from itertools import count
from typing import Any, NamedTuple

from balframe.frames.eval_logs.eval_file import Document, EvalFile, UnreadableLogError, as_mapping
from balframe.frames.eval_logs.schema import EvalReader, EvalResult, number, text

_KEYS = {"name", "cases", "failures", "experiment_metadata"}


class _Evaluation(NamedTuple):
    """What an evaluator with its arguments gives under a name, the nth time in a case."""

    source: str
    name: str
    nth: int


def _recognizes(file: EvalFile) -> bool:
    head = file.head if file.is_document else {}
    return head.keys() >= _KEYS and all(isinstance(head[k], list) for k in ("cases", "failures"))


def _read(file: EvalFile) -> Iterator[EvalResult]:
    metrics = _metrics(file)
    experiment = _fields(file.head["experiment_metadata"])
    model = " · ".join(str(name) for name in (experiment.get("model"), file.head["name"]) if name)
    for kind in ("cases", "failures"):
        for case in file.each(kind):
            scores = {evaluation: value for evaluation, _, value in _scored(case)}
            errors = {source: failure["error_message"] for source, failure in _failed(case)}
            labels = case.get("labels") or {}
            metadata = {
                **experiment,
                **_fields(case.get("inputs")),
                **{name: as_mapping(label)["value"] for name, label in labels.items()},
                **(case.get("attributes") or {}),
                **_fields(case.get("metadata")),
            }
            counts = {name: int(n) for name, n in (case.get("metrics") or {}).items()}
            for evaluation, metric in metrics.items():
                error = case.get("error_message") or errors.get(evaluation.source)
                yield EvalResult(
                    item=case.get("source_case_name") or case["name"],
                    metric=metric,
                    score=scores.get(evaluation),
                    task=file.head.get("dataset_name"),
                    trial=_trial(case),
                    model=model,
                    metadata=metadata,
                    target=case.get("expected_output"),
                    answer=case.get("output"),
                    error=None if evaluation in scores else error,
                    input_tokens=counts.get("input_tokens"),
                    output_tokens=counts.get("output_tokens"),
                    seconds=case.get("task_duration"),
                )


def _metrics(file: EvalFile) -> dict[_Evaluation, str]:
    """Return the name of each evaluation.

    The second of two evaluators of a name is "Name_2", but "Name" in cases where the first has
    raised (2.62). The longest name is the one of cases where none has.
    """
    metrics: dict[_Evaluation, str] = {}
    failures: dict[str, str] = {}
    for case in file.each("cases"):
        for evaluation, name, _ in _scored(case):
            metrics[evaluation] = max(name, metrics.get(evaluation, ""), key=len)
        failures.update((source, failure["name"]) for source, failure in _failed(case))
    for source, name in failures.items():
        if all(source != evaluation.source for evaluation in metrics):  # it has always raised
            names = (f"{name}_{n}" if n > 1 else name for n in count(1))
            is_free = (other for other in names if other not in metrics.values())
            metrics[_Evaluation(source, name, 1)] = next(is_free)
    return metrics


def _scored(case: Document) -> Iterator[tuple[_Evaluation, str, float | None]]:
    n_times: Counter[tuple[str, str]] = Counter()
    for kind in ("assertions", "scores"):
        for name, value in (case.get(kind) or {}).items():
            result = as_mapping(value)
            key = (_source(result), result["name"])
            n_times[key] += 1
            yield _Evaluation(*key, n_times[key]), name, number(result["value"])


def _failed(case: Document) -> Iterator[tuple[str, Document]]:
    for failure in map(as_mapping, case.get("evaluator_failures") or ()):
        yield _source(failure), failure


def _source(result: Document) -> str:
    return str(text(as_mapping(result["source"])))


def _trial(case: Document) -> int | None:
    """Return the number in a name such as "case [2/3]", which runs of a case have."""
    source = case.get("source_case_name")
    return None if not source else int(case["name"][len(source) :].strip(" []").split("/")[0])


def _fields(value: Any) -> Document:  # noqa: ANN401 (metadata and inputs may be anything)
    try:
        return as_mapping(value)
    except UnreadableLogError:
        return {}


READER = EvalReader("pydantic-evals", "2.62", _recognizes, _read)
