"""Results of tau-bench: an array of trials, in a file that is named after the run."""

import re
from collections.abc import Iterator

from balframe.frames.eval_logs.eval_file import EvalFile, as_mapping
from balframe.frames.eval_logs.schema import EvalReader, EvalResult, number

_OF_TRIALS = {"task_id", "reward", "info", "traj", "trial"}
_NAME = re.compile(r"(?P<agent>.+)_range_-?\d+--?\d+_user-.+_\d+")  # STRATEGY-MODEL-TEMPERATURE
_EXACT = 1e-6  # how far from 1 the tool lets a reward be that counts as a success


def _recognizes(file: EvalFile) -> bool:
    return not file.is_document and file.head.keys() >= _OF_TRIALS


def _read(file: EvalFile) -> Iterator[EvalResult]:
    """Read trials. What raised an exception has no reward; the tool counts it as 0."""
    name = _NAME.fullmatch(file.path.stem) if file.path is not None else None
    for trial in file.records():
        info = as_mapping(trial["info"])
        task, error = as_mapping(info.get("task") or {}), info.get("error")
        reward = None if error is not None else number(trial["reward"])
        yield EvalResult(
            item=str(trial["task_id"]),
            metric="reward",
            trial=trial["trial"] + 1,
            model=name["agent"] if name else None,
            score=reward,
            passed=None if reward is None else abs(reward - 1) <= _EXACT,
            metadata={"user_id": task.get("user_id")},
            target=task.get("outputs"),
            error=error,
        )


READER = EvalReader("tau-bench", "0.1.0", _recognizes, _read)
