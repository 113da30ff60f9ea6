"""Reports of SWE-bench: MODEL.RUN.json of a run, and report.json of each instance."""

from collections.abc import Iterator, Mapping
from typing import Any

from balframe.frames.eval_logs.eval_file import Document, EvalFile
from balframe.frames.eval_logs.schema import EvalReader, EvalResult, text

_RESOLVED = "resolved"
_OF_TESTS = {"fail_to_pass": "FAIL_TO_PASS", "pass_to_pass": "PASS_TO_PASS"}
_OF_RUNS = {"resolved_ids", "unresolved_ids", "error_ids", "submitted_ids"}
_OF_INSTANCES = {"patch_is_None", "patch_exists", _RESOLVED}


def _recognizes(file: EvalFile) -> bool:
    if not file.is_document:
        return False
    values = list(file.head.values())
    return file.head.keys() >= _OF_RUNS or (
        bool(values)
        and all(isinstance(value, Mapping) and value.keys() >= _OF_INSTANCES for value in values)
    )


def _read(file: EvalFile) -> Iterator[EvalResult]:
    return _read_run(file) if file.head.keys() >= _OF_RUNS else _read_instances(file)


def _read_run(file: EvalFile) -> Iterator[EvalResult]:
    """Read a run. What stopped with an error or was not submitted is neither resolved nor not.

    An empty patch is not resolved. Neither is, in the eyes of the tool, a failure of the
    infrastructure, which is marked as invalid.
    """
    # Ids with a damaged report of their own are in error_ids and in completed_ids.
    model = file.path.stem.rpartition(".")[0] if file.path is not None else None
    reasons = file.head.get("failure_reasons") or {}
    broken = {*_ids(file, "infra_failure_ids")}
    verdicts: dict[str, tuple[bool | None, str | None]] = {
        **dict.fromkeys(_ids(file, "incomplete_ids"), (None, "no prediction was submitted")),
        **dict.fromkeys(_ids(file, "error_ids"), (None, "the evaluation gave no report")),
        **dict.fromkeys(_ids(file, "empty_patch_ids"), (False, None)),
        **dict.fromkeys(_ids(file, "unresolved_ids"), (False, None)),
        **dict.fromkeys(_ids(file, "resolved_ids"), (True, None)),
    }
    for instance, (passed, error) in sorted(verdicts.items()):
        yield EvalResult(
            item=instance,
            metric=_RESOLVED,
            model=model or None,
            score=None if passed is None else float(passed),
            passed=passed,
            metadata=_metadata(instance),
            error=reasons.get(instance) or error,
            invalid=instance in broken,
        )


def _ids(file: EvalFile, name: str) -> list[str]:
    return [text(value) or "" for value in file.head.get(name) or ()]


def _read_instances(file: EvalFile) -> Iterator[EvalResult]:
    """Read reports of instances; the share of tests is null where a patch was not applied."""
    model = file.path.parent.parent.name if file.path is not None else None
    for instance, report in file.head.items():
        resolved = bool(report[_RESOLVED])
        scores = {_RESOLVED: float(resolved)} | {
            metric: _share((report.get("tests_status") or {}).get(key))
            for metric, key in _OF_TESTS.items()
        }
        for metric, score in scores.items():
            yield EvalResult(
                item=instance,
                metric=metric,
                model=model or None,
                score=score,
                passed=resolved if metric == _RESOLVED else None,
                metadata=_metadata(instance),
                error=report.get("infra_failure_reason"),
                invalid=bool(report.get("infra_failure")),
            )


def _share(tests: Document | None) -> float | None:
    """Return the share of tests that passed, which is 1 of no tests, as in swebench."""
    if tests is None:
        return None
    n_passed, n_failed = len(tests["success"]), len(tests["failure"])
    return n_passed / (n_passed + n_failed) if n_passed + n_failed else 1.0


def _metadata(instance: str) -> dict[str, Any]:
    """Return the repository, which begins an id: "owner__name-123"."""
    return {"repo": instance.rpartition("-")[0].replace("__", "/", 1)}


READER = EvalReader("swebench", "5.0.2", _recognizes, _read, default_metric=_RESOLVED)
