"""Test runs of DeepEval: JSON files with `testCases` and the metrics of each."""

from collections.abc import Iterator

from balframe.frames.eval_logs.results import Document, Result, category_of, text


def is_document(document: Document) -> bool:
    """Return whether a document is a test run."""
    return isinstance(document.get("testCases"), list)


def read_document(document: Document, category: str | None) -> Iterator[Result]:
    """Read a test run; `success` is whether a case passed all metrics or its one threshold."""
    parameters = document.get("hyperparameters")
    model = parameters.get("model") if isinstance(parameters, dict) else None
    for case in document["testCases"]:
        item = str(case.get("input") if case.get("input") is not None else case.get("name"))
        metadata = case.get("additionalMetadata")
        of_case = category_of(metadata if isinstance(metadata, dict) else None, category, None)
        if case.get("success") is not None:
            yield Result(item, text(model), of_case, "success", bool(case["success"]))
        for metric in case.get("metricsData") or ():
            value = metric.get("success")
            yield Result(item, text(model), of_case, str(metric.get("name")), value)
