"""The results of a log: one for each item, trial, model and metric."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import polars as pl

from balframe.errors import NAME, listed, warn

SCHEMA: Mapping[str, type[pl.DataType]] = {
    "item": pl.String,
    "trial": pl.Int64,
    "model": pl.String,
    "category": pl.String,
    "metric": pl.String,
    "passed": pl.Boolean,
    "score": pl.Float64,
}
Document = Mapping[str, Any]


class UnreadableLogError(Exception):
    """What is wrong with a log, as the end of a sentence about its file."""


@dataclass(frozen=True, slots=True)
class Result:
    """What a model achieved in one trial of an item by one metric.

    `value` is what the tool has: a boolean, a number or a grade. `trial` is None if the tool does
    not number trials.
    """

    item: str
    model: str | None
    category: str | None
    metric: str
    value: Any
    trial: int | None = None


_GRADES = {"C": 1.0, "P": 0.5, "I": 0.0, "N": 0.0}  # correct, partly correct, incorrect, no answer


def score_of(value: Any) -> float | None:  # noqa: ANN401 (what a log has)
    """Return the number behind a value; None if there is none."""
    if isinstance(value, str):
        return _GRADES.get(value)
    return float(value) if isinstance(value, (bool, int, float)) else None


def to_frame(results: Iterable[Result]) -> pl.DataFrame:
    """Return a frame of results, in which trials are numbered from 1 where the tool does not.

    `passed` is true at a score of 1, false at 0 and null at all others.
    """
    n_trials: Counter[tuple[str, str | None, str]] = Counter()
    rows = []
    for result in results:
        key = (result.item, result.model, result.metric)
        n_trials[key] += 1
        score = score_of(result.value)
        rows.append(
            (
                result.item,
                n_trials[key] if result.trial is None else result.trial,
                result.model,
                result.category,
                result.metric,
                bool(score) if score in (0, 1) else None,
                score,
            )
        )
    frame = pl.DataFrame(rows, schema=SCHEMA, orient="row")
    n_repeated = frame.height - frame.n_unique(["item", "trial", "model", "metric"])
    if n_repeated:
        warn(
            "{:,} of {:,} results repeat an item, trial, model and metric, as of an evaluation "
            "that was run twice. Read its runs one by one, or renumber their trials.",
            n_repeated,
            frame.height,
        )
    return frame


def warn_of_several_metrics(frame: pl.DataFrame) -> None:
    """Warn if rows are of several metrics, which a command would count together."""
    metrics = frame["metric"].unique(maintain_order=True).to_list()
    if len(metrics) > 1:
        warn(
            "the log has a row for each of the metrics {}, which are counted together. Give metric "
            "in {by}, or keep the rows of one in Python, with bf.read_eval.",
            listed(map(repr, metrics)),
            by=NAME,
        )


def text(value: Any) -> str | None:  # noqa: ANN401
    """Return a value as a text, and None as it is."""
    return None if value is None else str(value)


def category_of(columns: Document | None, key: str | None, default: str | None) -> str | None:
    """Return the category of an item: the column `key`, or else "category" or the default."""
    values = columns or {}
    if key is not None:
        return text(values.get(key))
    category = text(values.get("category"))
    return default if category is None else category


def parts_of(name: str, value: Any) -> Iterator[tuple[str, Any]]:  # noqa: ANN401
    """Return a metric with its value, or each of several that the value holds."""
    if isinstance(value, Mapping):
        yield from ((f"{name}/{part}", of_part) for part, of_part in value.items())
    else:
        yield name, value
