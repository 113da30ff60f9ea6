"""Metrics of scores: a decorator registers each, with the method that returns it."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeVar

from balframe.core.array_types import FloatArray
from balframe.errors import BalframeError, InvalidInputError, UnknownNameError
from balframe.metrics.base import BaseMetric

_CountsT = TypeVar("_CountsT")  # rows counted by score, in whatever way the metric reads them
_FunctionOfScores = Callable[[_CountsT], FloatArray]


@dataclass(frozen=True, slots=True)
class ScoreMetric(BaseMetric):
    """A metric of scores, which is a column of the results of one method."""

    method: str


_NOT_COMPUTED = (
    "d2_brier_score",
    "d2_log_loss_score",
    "mn_log_loss",
    "neg_brier_score",
    "neg_log_loss",
    "pr_auc",
    "roc_auc_ovo",
    "roc_auc_ovo_weighted",
    "roc_auc_ovr",
    "roc_auc_ovr_weighted",
    "top_k_accuracy",
    "top_k_accuracy_score",
)
_registry: dict[str, ScoreMetric] = {}


def score_metric(
    *,
    range: tuple[float, float],  # noqa: A002 (the field's word)
    better: str | None = "higher",
    aliases: Sequence[str] = (),
    source: str = "",
    method: str = "ranking",
) -> Callable[[_FunctionOfScores[_CountsT]], _FunctionOfScores[_CountsT]]:
    """Register a function of counted scores as a metric, under the function's name.

    `method` returns it in a column of that name. The function takes what its method counts.
    """

    def register(function: _FunctionOfScores[_CountsT]) -> _FunctionOfScores[_CountsT]:
        name = function.__name__
        _registry[name] = ScoreMetric(name, function, range, better, tuple(aliases), source, method)
        return function

    return register


def all_score_metrics() -> list[ScoreMetric]:
    """List the metrics of scores in the order in which they were registered."""
    return [*_registry.values()]


def metrics_returned_by(method: str) -> list[str]:
    """List the names of the metrics of scores that a method returns."""
    return [metric.name for metric in _registry.values() if metric.method == method]


def score_metric_names() -> Mapping[str, ScoreMetric | None]:
    """Return the metrics of scores by their names and aliases; None if no method returns one."""
    metrics = {
        name: metric for metric in _registry.values() for name in (metric.name, *metric.aliases)
    }
    return dict.fromkeys(_NOT_COMPUTED) | metrics


def needs_scores_error(name: str) -> BalframeError:
    """Return the error for a metric of scores, with the method that returns it or others."""
    metric = score_metric_names()[name]
    if metric is not None:
        return InvalidInputError(
            f"metric {name!r} is computed from scores, not from labels; call {metric.method}, "
            f"which returns {metric.name!r}."
        )
    methods = dict.fromkeys(metric.method for metric in _registry.values())
    returned = "; ".join(
        f"{method} returns {', '.join(metrics_returned_by(method))}" for method in methods
    )
    return UnknownNameError(
        f"metric {name!r} not found: it is computed from scores, and no method returns it. Of the "
        f"metrics of scores, {returned}."
    )
