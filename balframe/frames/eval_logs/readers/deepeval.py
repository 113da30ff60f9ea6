"""Test runs of DeepEval: exports (`test_run_*.json`), and its .latest_test_run.json."""

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping

from balframe.frames.eval_logs.eval_file import Document, EvalFile
from balframe.frames.eval_logs.schema import EvalReader, EvalResult, digest, number, text

_WRAPPER = "testRunData"
_ARRAYS = ("testCases", "conversationalTestCases")


def _run(file: EvalFile) -> Document:
    run = file.head.get(_WRAPPER)
    return run if isinstance(run, Mapping) else file.head


def _recognizes(file: EvalFile) -> bool:
    return file.is_document and isinstance(_run(file).get("testCases"), list)


def _cases(file: EvalFile) -> Iterator[Document]:
    for array in _ARRAYS:
        yield from file.each(*([_WRAPPER] if _WRAPPER in file.head else []), array)


def _read(file: EvalFile) -> Iterator[EvalResult]:
    parameters = _run(file).get("hyperparameters")
    model = parameters.get("model") if isinstance(parameters, Mapping) else None
    versions: defaultdict[str, set[str]] = defaultdict(set)  # of cases with equal inputs
    metrics: dict[str, None] = {}
    for case in _cases(file):
        versions[_input(case)].add(_version(case))
        metrics |= dict.fromkeys(name for name, _ in _named(case))
    for case in _cases(file):
        item = _input(case)
        if len(versions[item]) > 1:
            item = f"{item} #{_version(case)}"
        tags = {"tags": case["tags"]} if case.get("tags") else {}
        metadata = case.get("metadata") or case.get("additionalMetadata") or {}
        for metric, score, passed, error in _values(case, metrics):
            yield EvalResult(
                item=item,
                model=text(model),
                metric=metric,
                score=score,
                passed=passed,
                error=error,
                metadata={"name": case.get("name"), **tags, **metadata},
                target=case.get("expectedOutput") or case.get("expectedOutcome"),
                answer=case.get("actualOutput"),
                input_tokens=case.get("inputTokenCount"),
                output_tokens=case.get("outputTokenCount"),
                seconds=number(case.get("completionTime")),
            )


def _input(case: Document) -> str:
    """Return the input of a case, or the scenario of a conversation."""
    values = (case.get(field) for field in ("input", "scenario", "name"))
    return str(next((value for value in values if value is not None), None))


def _version(case: Document) -> str:
    """Return a digest of what else a case takes from the data."""
    fields = ("expectedOutput", "expectedOutcome", "context")
    return digest([case.get(field) for field in fields])


def _named(case: Document) -> Iterator[tuple[str, Document]]:
    """Return the metrics of a case; several may have one name."""
    n_equal: Counter[str] = Counter()
    for metric in case.get("metricsData") or ():
        n_equal[metric["name"]] += 1
        ordinal = f" ({n_equal[metric['name']]})" if n_equal[metric["name"]] > 1 else ""
        yield metric["name"] + ordinal, metric


def _values(
    case: Document, metrics: Mapping[str, None]
) -> Iterator[tuple[str, float | None, bool | None, str | None]]:
    """Return each metric, and the verdict on the case if it is over several metrics.

    DeepEval calls a metric that raised failed, and with it the case.
    """
    values = dict(_named(case))
    for name in metrics:
        metric = values.get(name, {})
        error = metric.get("error")
        passed = None if error is not None else metric.get("success")
        yield name, number(metric.get("score")), passed, error
    if len(metrics) > 1:
        verdicts = [metric for metric in values.values() if not metric.get("flaky")]
        errors = [metric["error"] for metric in verdicts if metric.get("error") is not None]
        failed = [metric for metric in verdicts if metric.get("success") is False]
        is_unclear = bool(errors) and len(failed) == len(errors)
        yield "success", None, *((None, errors[0]) if is_unclear else (case.get("success"), None))


READER = EvalReader("DeepEval", "4.3.1", _recognizes, _read)
