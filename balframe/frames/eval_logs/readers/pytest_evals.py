"""Results of pytest-evals: eval-results-raw.json, with the tests by their node ids."""

from collections.abc import Iterator, Mapping

from balframe.frames.eval_logs.eval_file import Document, EvalFile
from balframe.frames.eval_logs.schema import EvalReader, EvalResult, number, text

_PASSED = "passed"
_OF_TESTS = {"status", "status_details", "params", "fixtures", "pytest_obj_name", "eval_name"}
_MODEL = "model"


def _recognizes(file: EvalFile) -> bool:
    tests = list(file.head.values()) if file.is_document else []
    return bool(tests) and all(
        isinstance(test, Mapping) and test.keys() >= _OF_TESTS for test in tests
    )


def _read(file: EvalFile) -> Iterator[EvalResult]:
    """Read tests: whether each passed, and the numbers and booleans in its `eval_bag`.

    Tests with the same function and parameters are trials, as pytest-repeat writes them: the number
    of its repeats is in the node id only. A parameter or value `model` names the model. A failed
    test that lacks a value which others have ended before it: by an exception, which has no other
    mark here.
    """
    metrics: dict[str, set[str]] = {}
    for test in file.head.values():
        values = {key for key, value in _bag(test).items() if isinstance(value, (bool, int, float))}
        metrics.setdefault(test["eval_name"], set()).update(values)
    for node, test in file.head.items():
        params, bag = dict(test["params"]), _bag(test)
        model = params.pop(_MODEL, bag.get(_MODEL))
        names = sorted(metrics[test["eval_name"]] - {_MODEL})
        has_passed = test["status"] == _PASSED
        missing = [] if has_passed else [name for name in names if name not in bag]
        for metric in (_PASSED, *names):
            yield EvalResult(
                task=text(test["eval_name"]),
                item=f"{node.partition('[')[0]}{text(params)}",
                metric=metric,
                model=text(model),
                score=float(has_passed) if metric == _PASSED else number(bag.get(metric)),
                passed=has_passed if metric == _PASSED else None,
                metadata={**bag, **params},
                error=f"failed before it had {', '.join(missing)}" if missing else None,
                seconds=test["duration_ms"] / 1000,
            )


def _bag(test: Document) -> Document:
    bag: Document = test["fixtures"].get("eval_bag") or {}
    return bag


READER = EvalReader("pytest-evals", "0.3.4", _recognizes, _read, default_metric=_PASSED)
