"""Metrics of scores: a decorator registers each, with the method that returns it."""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from math import nan
from typing import TypeVar

from balframe.core.array_types import FloatArray
from balframe.errors import OPTION, BalframeError, InvalidInputError, Message, UnknownNameError
from balframe.metrics.base import BaseMetric
from balframe.metrics.score_intervals import ScoreInterval

NO_INTERVAL = ScoreInterval()
_CountsT = TypeVar("_CountsT")  # rows counted by score, in whatever way the metric reads them
_FunctionOfScores = Callable[[_CountsT], FloatArray]


@dataclass(frozen=True, slots=True)
class ScoreMetric(BaseMetric):
    """A metric of scores, which is a column of the results of one method."""

    method: str
    interval: ScoreInterval = NO_INTERVAL

    @property
    def interval_kind(self) -> str:
        """The kind of its confidence interval; empty if there is none."""
        return self.interval.kind

    @property
    def limits_for(self) -> str:
        """What its confidence limits may be used for, or why there are none."""
        if not self.interval.kind:
            return super(ScoreMetric, self).limits_for
        return "decisions" if self.interval.has_decision_limits else "description"


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
    interval: ScoreInterval | None = None,
) -> Callable[[_FunctionOfScores[_CountsT]], _FunctionOfScores[_CountsT]]:
    """Register a function of counted scores as a metric, under the function's name.

    `method` returns it in a column of that name. The function takes what its method counts. Those
    that have an `interval` take a ranking.
    """

    def register(function: _FunctionOfScores[_CountsT]) -> _FunctionOfScores[_CountsT]:
        name = function.__name__
        _registry[name] = ScoreMetric(
            name, function, range, better, tuple(aliases), source, method,
            (interval or NO_INTERVAL).of_metric(function),  # type: ignore[arg-type]
        )  # fmt: skip
        return function

    return register


def all_score_metrics() -> list[ScoreMetric]:
    """List the metrics of scores in the order in which they were registered.

    Each family is there once.
    """
    families = dict.fromkeys(family.representative for family in _families.values())
    return [*_registry.values(), *families]


def metrics_returned_by(method: str) -> list[str]:
    """List the names of the metrics of scores that a method returns."""
    return [metric.name for metric in _registry.values() if metric.method == method]


ScoreFamily = Callable[[float], ScoreMetric]


def score_family(
    names: Sequence[str],
    option: str,
    representative: ScoreMetric,
    member: ScoreFamily,
    highest: float,
) -> None:
    """Register metrics of scores that differ by a number, above 0 and at most the highest.

    Members have one of these names, with the option and the number in brackets:
    `roc_auc(max_fpr=0.1)`. The `representative` is listed.
    """
    _families.update(dict.fromkeys(names, _Family(representative, option, member, highest)))


@dataclass(frozen=True, slots=True)
class _Family:
    representative: ScoreMetric
    option: str
    member: ScoreFamily
    highest: float

    def find(self, name: str, brackets: str) -> ScoreMetric:
        """Return the member of a name with these brackets."""
        parts = re.fullmatch(rf"\(\s*{self.option}\s*=\s*(\S+)\s*\)", brackets)
        try:
            number = float(parts[1]) if parts else nan
        except ValueError:
            number = nan
        if not 0 < number <= self.highest:
            stem = name.partition("(")[0].strip()
            raise InvalidInputError(
                f"metric {name!r} takes a number above 0 and at most {self.highest:g}, as in "
                f"'{stem}({self.option}=0.1)'."
            )
        return self.member(number)


_families: dict[str, _Family] = {}
_MEMBER = re.compile(r"(\w+)\s*(\(.*\))")


def score_families() -> Mapping[str, object]:
    """Return the families of metrics of scores by the names that brackets may follow."""
    return _families


def find_score_metric(name: str) -> ScoreMetric | None:
    """Look a metric of scores up by its name, an alias or, with brackets, that of a family."""
    parts = _MEMBER.fullmatch(name)
    if parts is not None and parts[1] in _families:
        return replace(_families[parts[1]].find(name, parts[2]), name=name)
    return score_metric_names().get(name)


def score_metric_names() -> Mapping[str, ScoreMetric | None]:
    """Return the metrics of scores by their names and aliases; None if no method returns one."""
    metrics = {
        name: metric for metric in _registry.values() for name in (metric.name, *metric.aliases)
    }
    return dict.fromkeys(_NOT_COMPUTED) | metrics


def needs_scores_error(name: str) -> BalframeError:
    """Return the error for a metric of scores, with the method that returns it or others."""
    metric = find_score_metric(name)
    if metric is not None:
        scored = metric.method == "ranking"
        return InvalidInputError(
            "metric {!r} is computed from scores, not from labels; call {}, which returns {!r}{}.",
            name,
            metric.method,
            metric.name,
            Message("; compare takes {y_score}", y_score=OPTION) if scored else "",
        )
    methods = dict.fromkeys(metric.method for metric in _registry.values())
    returned = "; ".join(
        f"{method} returns {', '.join(metrics_returned_by(method))}" for method in methods
    )
    return UnknownNameError(
        f"metric {name!r} not found: it is computed from scores, and no method returns it. Of the "
        f"metrics of scores, {returned}."
    )
