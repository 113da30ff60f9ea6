"""The results of evaluations in one form: a row for each item, trial, model and metric."""

import json
import math
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from hashlib import sha256
from typing import Any

import polars as pl

from balframe.frames.eval_logs.eval_file import EvalFile

COLUMNS: Mapping[str, type[pl.DataType]] = {
    "tool": pl.String,
    "task": pl.String,
    "item": pl.String,
    "trial": pl.Int64,
    "model": pl.String,
    "category": pl.String,
    "metric": pl.String,
    "passed": pl.Boolean,
    "score": pl.Float64,
    "target": pl.String,
    "answer": pl.String,
    "error": pl.String,
    "invalid": pl.Boolean,
    "seed": pl.Int64,
    "input_tokens": pl.Int64,
    "output_tokens": pl.Int64,
    "seconds": pl.Float64,
}
CATEGORY = "category"


@dataclass(frozen=True, slots=True, kw_only=True)
class EvalResult:
    """What a model achieved in one trial of an item by one metric.

    A sample that an error left without a score has a result without one for each metric.

    Parameters
    ----------
    item : str
        What identifies the item within its task.
    metric : str
        The scorer or metric, with its part if it has several: "judge/clear".
    score : float, optional
        The score; without one, nothing was scored. NaN counts as none.
    passed : bool, optional
        The verdict of the tool. Without one, a score of 1 passes and 0 fails.
    task, model : str, optional
        What was evaluated, and on which task.
    trial : int, optional
        The number of the trial from 1, if the tool has one. Otherwise the results of a file with
        the same task, item, model and metric are numbered in order.
    metadata : mapping
        The fields that `category=` may choose from.
    target, answer, error : object
        The expected answer, the answer, and what failed; written as text.
    invalid : bool
        Whether the tool marks the sample as invalid.
    seed, input_tokens, output_tokens : int, optional
        The seed of the trial, and the tokens that it took.
    seconds : float, optional
        How long the trial took.

    Examples
    --------
    >>> import balframe as bf
    >>> bf.EvalResult(item="q1", metric="exact", score=1.0).passed is None
    True
    """

    item: str
    metric: str
    score: float | None = None
    passed: bool | None = None
    task: str | None = None
    trial: int | None = None
    model: str | None = None
    metadata: Mapping[str, Any] = field(default_factory=dict)
    target: Any = None
    answer: Any = None
    error: Any = None
    invalid: bool = False
    seed: int | None = None
    input_tokens: int | None = None
    output_tokens: int | None = None
    seconds: float | None = None


@dataclass(frozen=True, slots=True)
class EvalReader:
    """How the logs of a tool are recognised and read.

    Packages offer readers of other tools as entry points of the group `balframe.eval_readers`.

    Parameters
    ----------
    tool : str
        The name of the tool.
    versions : str
        The versions whose logs were tried.
    recognizes : callable
        Takes an `EvalFile`, and returns whether the tool has written it. It may look at the path,
        at `is_document` and at `head`.
    read : callable
        Takes an `EvalFile`, and yields an `EvalResult` for each sample, trial and metric.
    default_metric : str, optional
        The metric that is a verdict over all others, which is read unless others are named.

    Examples
    --------
    >>> import balframe as bf
    >>> def read(file):
    ...     for row in file.records():
    ...         yield bf.EvalResult(item=row["question"], metric="exact", score=row["points"])
    >>> reader = bf.EvalReader("quiz", "1.0", lambda file: "points" in file.head, read)
    >>> reader.tool
    'quiz'
    """

    tool: str
    versions: str
    recognizes: Callable[[EvalFile], bool]
    read: Callable[[EvalFile], Iterator[EvalResult]]
    default_metric: str | None = None


def number(value: Any) -> float | None:  # noqa: ANN401 (what a log has)
    """Return a number or boolean as a score; None for everything else."""
    return float(value) if isinstance(value, (bool, int, float)) else None


def text(value: Any) -> str | None:  # noqa: ANN401
    """Return a value as text, structures as JSON, and None as it is."""
    if value is None or isinstance(value, str):
        return value
    if isinstance(value, (Mapping, list, tuple)):
        return json.dumps(value, default=str, sort_keys=True)
    return str(value)


def digest(value: Any) -> str:  # noqa: ANN401
    """Return a short digest of a value, by which equal values are equal."""
    return sha256(str(text(value)).encode()).hexdigest()[:8]


def items_by_input(samples: Iterable[tuple[Any, Any]]) -> Callable[[Any, Any], str]:
    """Return a function that names items of tools without ids, by the input and the target.

    An input names an item. Where an input has several targets, as "Summarize." has for several
    texts, the target is part of the name: such rows are no trials of an item.
    """
    targets: dict[str | None, set[str | None]] = {}
    for value, target in samples:
        targets.setdefault(text(value), set()).add(text(target))

    def name(value: Any, target: Any) -> str:  # noqa: ANN401
        return str(text(value)) + (f" -> {text(target)}" if len(targets[text(value)]) > 1 else "")

    return name


class Rows:
    """Results as rows of a frame, in which categories are chosen and trials are numbered.

    `keys` are the fields of the metadata that become categories, and `names` their columns.
    """

    def __init__(self, keys: list[str], names: list[str], errors: str, invalid: str) -> None:
        self._keys, self._errors, self._invalid = keys, errors, invalid
        at = list(COLUMNS).index(CATEGORY)
        columns = list(COLUMNS.items())
        of_names = [(name, pl.String) for name in names]
        self.schema = pl.Schema([*columns[:at], *of_names, *columns[at + 1 :]])
        self._rows: list[tuple[Any, ...]] = []
        self._blocks: list[pl.DataFrame] = []
        self.fields: set[str] = set()

    def add(self, results: Iterator[EvalResult], tool: str, metrics: set[str] | None) -> None:
        """Add the results of a file; those of some metrics if these are named."""
        n_trials: Counter[tuple[str | None, str, str | None, str]] = Counter()
        for result in results:
            key = (result.task, result.item, result.model, result.metric)
            n_trials[key] += 1
            trial = n_trials[key] if result.trial is None else result.trial
            is_left_out = result.invalid and self._invalid == "drop"
            if (metrics is None or result.metric in metrics) and not is_left_out:
                self._add(result, tool, trial)

    def _add(self, result: EvalResult, tool: str, trial: int) -> None:
        score, passed = result.score, result.passed
        score = None if score is None or math.isnan(score) else score
        if result.error is not None and score is None and passed is None:
            if self._errors == "drop":
                return
            if self._errors == "fail":
                score, passed = 0.0, False
        if passed is None and score in (0, 1):
            passed = score == 1
        self.fields |= result.metadata.keys()
        item = result.item if result.task is None else f"{result.task}/{result.item}"
        self._rows.append(
            (
                *(tool, result.task, item, trial, result.model),
                *(text(result.metadata.get(key)) for key in self._keys),
                *(result.metric, passed, score),
                *(text(result.target), text(result.answer), text(result.error), result.invalid),
                *(result.seed, result.input_tokens, result.output_tokens, result.seconds),
            )
        )
        if len(self._rows) == 50_000:  # which a frame holds in less memory
            self._close_block()

    def _close_block(self) -> None:
        self._blocks.append(pl.DataFrame(self._rows, schema=self.schema, orient="row"))
        self._rows = []

    def frame(self) -> pl.DataFrame:
        """Return all rows."""
        self._close_block()
        return pl.concat(self._blocks)
