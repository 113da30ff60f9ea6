"""Metrics of scores: a decorator registers each, with the verb that returns it."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeVar

from balframe.core.array_types import FloatArray
from balframe.errors import BalframeError, InvalidInputError, UnknownNameError
from balframe.metrics.base import AnyMetric

_CountsT = TypeVar("_CountsT")  # rows counted by score, in whatever way the metric reads them
_FunctionOfScores = Callable[[_CountsT], FloatArray]


@dataclass(frozen=True, slots=True)
class MetricOfScores(AnyMetric):
    """A metric of scores, which is a column of the answers of one verb."""

    verb: str


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
_registry: dict[str, MetricOfScores] = {}


def score_metric(
    *,
    range: tuple[float, float],  # noqa: A002 (the field's word)
    better: str | None = "higher",
    aliases: Sequence[str] = (),
    source: str = "",
    verb: str = "ranking",
) -> Callable[[_FunctionOfScores[_CountsT]], _FunctionOfScores[_CountsT]]:
    """Register a function of counted scores as a metric, under the function's name.

    `verb` returns it in a column of that name. The function takes what its verb counts.
    """

    def register(function: _FunctionOfScores[_CountsT]) -> _FunctionOfScores[_CountsT]:
        name = function.__name__
        _registry[name] = MetricOfScores(
            name, function, range, better, tuple(aliases), source, verb
        )
        return function

    return register


def metrics_of_scores() -> list[MetricOfScores]:
    """List the metrics of scores in the order in which they were registered."""
    return [*_registry.values()]


def returned_by(verb: str) -> list[str]:
    """List the names of the metrics of scores that a verb returns."""
    return [one.name for one in _registry.values() if one.verb == verb]


def named_of_scores() -> Mapping[str, MetricOfScores | None]:
    """Give every metric of scores by its name and aliases; None where no verb returns it."""
    known = {name: one for one in _registry.values() for name in (one.name, *one.aliases)}
    return dict.fromkeys(_NOT_COMPUTED) | known


def needs_scores(name: str) -> BalframeError:
    """Say that a metric is computed from scores, and which verb returns it or others."""
    found = named_of_scores()[name]
    if found is not None:
        return InvalidInputError(
            f"metric {name!r} is computed from scores, not from labels; call {found.verb}, which "
            f"returns {found.name!r}."
        )
    verbs = dict.fromkeys(one.verb for one in _registry.values())
    returned = "; ".join(f"{verb} returns {', '.join(returned_by(verb))}" for verb in verbs)
    return UnknownNameError(
        f"metric {name!r} not found: it is computed from scores, and no method returns it. Of the "
        f"metrics of scores, {returned}."
    )
