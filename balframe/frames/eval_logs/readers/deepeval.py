"""Test runs of DeepEval: JSON files with `testCases` and the metrics of each."""

from collections.abc import Iterator

from balframe.frames.eval_logs.eval_file import EvalFile
from balframe.frames.eval_logs.schema import EvalReader, EvalResult, number, text


def _recognizes(file: EvalFile) -> bool:
    return file.is_document and isinstance(file.head.get("testCases"), list)


def _read(file: EvalFile) -> Iterator[EvalResult]:
    parameters = file.head.get("hyperparameters")
    model = parameters.get("model") if isinstance(parameters, dict) else None
    for case in file.each("testCases"):
        for metric in case.get("metricsData") or ():
            yield EvalResult(
                item=str(case["input"] if case.get("input") is not None else case.get("name")),
                model=text(model),
                metric=str(metric.get("name")),
                score=number(metric.get("score")),
                passed=metric.get("success"),
                metadata=case.get("additionalMetadata") or {},
                target=case.get("expectedOutput"),
                answer=case.get("actualOutput"),
                error=metric.get("error"),
            )


READER = EvalReader("DeepEval", "4.3", _recognizes, _read)
