"""Results of mlflow.genai.evaluate: its `result_df`, or this saved as JSON or parquet."""

import json
from collections.abc import Iterator

from balframe.frames.eval_logs.eval_file import Document, EvalFile
from balframe.frames.eval_logs.schema import EvalReader, EvalResult, number, text

_OF_ROWS = {"trace_id", "state", "request", "assessments"}
_RUN = "mlflow.assessment.sourceRunId"
_RATINGS = {"yes": True, "no": False}
_OWN = "mlflow."  # which begins the tool's own tags


def _recognizes(file: EvalFile) -> bool:
    if file.is_document or not file.head.keys() >= _OF_ROWS:
        return False
    assessments = file.head["assessments"]
    return not isinstance(assessments, str) and all("assessment_name" in a for a in assessments)


def _read(file: EvalFile) -> Iterator[EvalResult]:
    """Read rows by their assessments: columns of expectations look like those of scorers.

    An item is a request: the ids of requests are new in each run. A function that failed has been
    scored as if it had returned None, which is an error here. A tag `model` names the model.
    """
    run = _run(file)
    metrics = dict.fromkeys(name for row in file.records() for name in _feedback(row, run))
    for row in file.records():
        feedback = _feedback(row, run)
        tags, of_trace = row.get("tags") or {}, row.get("trace_metadata") or {}
        tokens = json.loads(of_trace.get("mlflow.trace.tokenUsage") or "{}")
        duration = row.get("execution_duration")
        failure = _failure(row)
        for metric in metrics:
            of_metric = feedback.get(metric) or {}
            score, passed = _verdict(of_metric.get("value"))
            error = (of_metric.get("error") or {}).get("error_message")
            yield EvalResult(
                item=text(row["request"]) or "",
                metric=metric,
                model=text(tags.get("model") or of_trace.get("mlflow.modelId")),
                score=None if failure else score,
                passed=None if failure else passed,
                metadata={key: tag for key, tag in tags.items() if not key.startswith(_OWN)},
                target=_target(row),
                answer=row.get("response"),
                error=failure or error,
                input_tokens=tokens.get("input_tokens"),
                output_tokens=tokens.get("output_tokens"),
                seconds=None if duration is None else float(duration) / 1000,
            )


def _run(file: EvalFile) -> str | None:
    """Return the run that assessed last: traces may be assessed again, and keep what they had."""
    runs = [
        (str(assessment.get("create_time")), _run_of(assessment))
        for row in file.records()
        for assessment in row["assessments"]
        if _run_of(assessment)
    ]
    return max(runs)[1] if runs else None


def _run_of(assessment: Document) -> str:
    return str((assessment.get("metadata") or {}).get(_RUN) or "")


def _feedback(row: Document, run: str | None) -> dict[str, Document]:
    """Return what the scorers of a run gave, without what was replaced since."""
    return {
        assessment["assessment_name"]: assessment["feedback"]
        for assessment in row["assessments"]
        if assessment.get("feedback") is not None
        and assessment.get("valid") is not False
        and _run_of(assessment) == (run or "")
    }


def _verdict(value: object) -> tuple[float | None, bool | None]:
    """Return a score and a verdict, as the tool's means count them; other texts have none."""
    if isinstance(value, str):
        value = _RATINGS.get(value.lower())
    return number(value), value if isinstance(value, bool) else None


def _failure(row: Document) -> str | None:
    """Return what the function raised."""
    if row["state"] != "ERROR":
        return None
    spans = row.get("spans")
    states = [span.get("status") or {} for span in spans] if spans is not None else []
    return next((s["message"] for s in states if s.get("message")), "the function failed")


def _target(row: Document) -> object:
    """Return what was expected: the only expectation, or all by name."""
    expectations = {
        assessment["assessment_name"]: assessment["expectation"].get("value")
        for assessment in row["assessments"]
        if assessment.get("expectation") is not None
    }
    return next(iter(expectations.values())) if len(expectations) == 1 else expectations or None


READER = EvalReader("mlflow", "3.17.2", _recognizes, _read)
