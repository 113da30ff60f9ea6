"""Results of evalplus: a JSON file with the trials of each function under `eval`."""

import json
from collections.abc import Iterator

from balframe.frames.eval_logs.eval_file import EvalFile
from balframe.frames.eval_logs.schema import EvalReader, EvalResult

_ENDING = "eval_results"  # of MODEL_eval_results.json, and of MODEL/eval_results.json
_PASSED, _TIMEOUT = "pass", "timeout"


def _recognizes(file: EvalFile) -> bool:
    tasks = file.head.get("eval") if file.is_document and "hash" in file.head else None
    if not isinstance(tasks, dict) or not tasks:
        return False
    return all(
        isinstance(trials, list) and all("base_status" in trial for trial in trials)
        for trials in tasks.values()
    )


def _read(file: EvalFile) -> Iterator[EvalResult]:
    """Read a file; a trial passes the extra tests if it passes the base tests too."""
    model = _model(file)
    path = file.path  # read as a whole: the trials of a task are an array, and tasks are many
    document = file.head if path is None else json.loads(path.read_bytes())
    for task_id, trials in document["eval"].items():
        dataset, _, item = task_id.rpartition("/")
        for trial in trials:
            states = {"base": trial["base_status"]}
            if trial.get("plus_status") is not None:  # which is null in a run of base tests only
                states["plus"] = trial["plus_status"]
            for metric, state in states.items():
                passed = state == states["base"] == _PASSED
                yield EvalResult(
                    task=dataset or None,
                    item=item,
                    model=model,
                    metric=metric,
                    score=float(passed),
                    passed=passed,
                    answer=trial.get("solution"),
                    error=state if state == _TIMEOUT else None,
                )


def _model(file: EvalFile) -> str | None:
    """Return the model with its backend and temperature, which names the file or its folder."""
    if file.path is None:
        return None
    return file.path.stem.removesuffix(_ENDING).removesuffix("_") or file.path.parent.name


READER = EvalReader("evalplus", "0.3.1", _recognizes, _read)
