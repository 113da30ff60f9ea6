"""Metrics by their names and aliases, with those of families and of users."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

from balframe._validate import is_iterable
from balframe.errors import (
    NAME,
    OPTION,
    Advice,
    BalframeError,
    InvalidInputError,
    Spelled,
    UnknownNameError,
    UnsupportedTypeError,
    listed,
    not_found,
)
from balframe.metrics import definitions  # noqa: F401 (registers them)
from balframe.metrics.base import BaseMetric
from balframe.metrics.parametric import family_member, metric_families
from balframe.metrics.registry import (
    CHART_COLUMN_NAMES,
    PRESETS,
    Metric,
    metric,
    named_metrics,
    registered_metrics,
)
from balframe.metrics.score_metrics import (
    ScoreMetric,
    all_score_metrics,
    find_score_metric,
    needs_scores_error,
    score_metric_names,
)

__all__ = [
    "all_metrics",
    "find_metric",
    "find_metrics",
    "find_ranking_metric",
    "find_ranking_metrics",
    "metric",
    "metric_families",
    "ranking_metrics",
    "registered_metrics",
]

_RANKING = "ranking"
_LIST_METRICS = Spelled("bf.list_metrics()", "balframe metrics")
MetricsByName = dict[str, Metric]  # by the names that their columns get


def find_metric(name: object) -> Metric:
    """Look a metric up by its name or an alias; an error suggests the nearest names."""
    if not isinstance(name, str):
        raise UnsupportedTypeError(
            "{metrics} takes names of metrics, not {!r} of type {}; register a function with "
            "bf.metric, or one of true and predicted labels with bf.metric_from, and give its "
            "name.",
            name,
            type(name).__name__,
            metrics=OPTION,
        )
    if name in PRESETS:
        raise InvalidInputError(
            "{metrics} is a preset of several metrics; give the name of one metric here.",
            metrics=Advice(name),
        )
    metric = _find_or_none(name)
    if metric is None:
        raise _not_found_error(name)
    return metric


def find_metric_of_points(name: object) -> Metric:
    """Look a metric up for operating points; see `metric_of_point` for one without its number."""
    family = metric_families.get(name) if isinstance(name, str) else None
    if family is None or not family.is_of_point:
        return find_metric(name)
    return replace(family.representative, name=str(name))


def find_metrics(
    names: object, presets: Mapping[str, Sequence[str]] | None = None, *, of_points: bool = False
) -> MetricsByName:
    """Look metrics up; a mapping gives them new names.

    `presets` are the metrics that the presets stand for in this call. `of_points` says that each
    value is that of an operating point of a score.
    """
    find = find_metric_of_points if of_points else find_metric
    if isinstance(names, Mapping):
        metrics = {_check_new_name(new, name): find(name) for new, name in names.items()}
    elif is_iterable(names):
        metrics = _find_listed(list(names), presets or {}, find)
    elif callable(names):
        metrics = {"": find_metric(names)}  # which says how to register a function
    else:
        raise UnsupportedTypeError(
            "{metrics} is neither the name of a metric, nor a list of names, nor a mapping of new "
            "names to names.",
            metrics=names,
        )
    if not metrics:
        raise InvalidInputError(
            "{metrics} is empty; name at least one metric, or a preset: {}.",
            listed(map(repr, PRESETS)),
            metrics=OPTION,
        )
    return metrics


def find_ranking_metrics(names: object) -> dict[str, ScoreMetric]:
    """Look up metrics of scores that are computed from a ranking; a mapping gives new names."""
    if isinstance(names, Mapping):
        return {
            _check_new_name(new, name): find_ranking_metric(name) for new, name in names.items()
        }
    listed_names = [names] if isinstance(names, str) or not is_iterable(names) else list(names)
    metrics = {str(name): find_ranking_metric(name) for name in listed_names}
    if not metrics:
        raise InvalidInputError(
            "{metrics} is empty; name at least one metric of scores: {}.",
            listed(_ranking_metric_names()),
            metrics=OPTION,
        )
    if len(metrics) < len(listed_names):
        raise InvalidInputError(
            "{metrics} names a metric twice: {}.", listed(map(repr, listed_names)), metrics=OPTION
        )
    return metrics


def find_ranking_metric(name: object) -> ScoreMetric:
    """Look up a metric of scores that is computed from a ranking."""
    metric = find_score_metric(name) if isinstance(name, str) else None
    if metric is not None and metric.method == _RANKING:
        return metric
    if isinstance(name, str) and metric is None and _find_or_none(name) is not None:
        raise InvalidInputError(
            "metric {!r} is computed from labels, not from scores; call report, or compare and "
            "check with {y_pred}. Metrics of scores: {}.",
            name,
            listed(_ranking_metric_names()),
            y_pred=NAME,
        )
    if metric is not None:
        raise needs_scores_error(str(name))
    if isinstance(name, str) and name in PRESETS:
        raise UnknownNameError(
            "{!r} names metrics of labels, not of scores; name each metric of scores: {}.",
            name,
            listed(_ranking_metric_names()),
        )
    aliases = {alias: m.name for alias, m in score_metric_names().items() if m is not None}
    raise not_found("metric of scores", name, _ranking_metric_names(), aliases, _LIST_METRICS)


def ranking_metrics() -> list[ScoreMetric]:
    """List the metrics of scores that are computed from a ranking; each family is there once."""
    return [metric for metric in all_score_metrics() if metric.method == _RANKING]


def _ranking_metric_names() -> list[str]:
    names = [metric.name for metric in ranking_metrics()]
    return [f"{name[:-1]}=0.1)" if name.endswith(")") else name for name in names]


def _find_listed(
    names: Sequence[object],
    presets: Mapping[str, Sequence[str]],
    find: Callable[[object], Metric],
) -> MetricsByName:
    """Look up names and presets; a metric of a preset that is also named itself is there once."""
    single_names = [name for name in names if not (isinstance(name, str) and name in presets)]
    single = {str(name): find(name) for name in single_names}
    if len({str(name) for name in names}) < len(names):
        raise InvalidInputError(
            "{metrics} names a metric twice: {}.", listed(names), metrics=OPTION
        )
    by_alias = {metric.name for name, metric in single.items() if name != metric.name}
    metrics: MetricsByName = {}
    for name in map(str, names):
        if name in single:
            metrics[name] = single[name]
        else:
            metrics |= {
                member: find_metric(member) for member in presets[name] if member not in by_alias
            }
    return metrics


def _check_new_name(new: object, name: object) -> str:
    """Check the new name of a metric: a string, and not the name of another metric."""
    if not isinstance(new, str) or not new:
        raise UnsupportedTypeError(
            "{metrics} gives the metric {!r} the name {!r}, which is not a name; give a non-empty "
            "string.",
            name,
            new,
            metrics=OPTION,
        )
    if _is_name_of(new, name):
        return new
    if new in PRESETS or new in score_metric_names() or new in CHART_COLUMN_NAMES:
        raise InvalidInputError(
            "{metrics} gives the metric {!r} the name {!r}, which means something else in "
            "balframe; choose another name.",
            name,
            new,
            metrics=OPTION,
        )
    metric = _find_or_none(new)
    if metric is not None and metric.name != find_metric_of_points(name).name:
        raise InvalidInputError(
            "{metrics} gives the metric {!r} the name {!r}, which already names the metric {!r}; "
            "choose another name.",
            name,
            new,
            metric.name,
            metrics=OPTION,
        )
    return new


def _is_name_of(new: str, name: object) -> bool:
    """Return whether a new name is a name of the same metric of scores."""
    metric = score_metric_names().get(new)
    return metric is not None and metric is score_metric_names().get(str(name))


def _find_or_none(name: str) -> Metric | None:
    return named_metrics().get(name) or family_member(name)


def _not_found_error(name: str) -> BalframeError:
    """Return the error for an unknown name, with near names, or the method of a score metric."""
    if name in score_metric_names() or find_score_metric(name) is not None:
        return needs_scores_error(name)
    names = [
        *(metric.name for metric in registered_metrics()),
        *(family.representative.name for family in metric_families.values()),
    ]
    aliases = {alias: metric.name for alias, metric in named_metrics().items()}
    return not_found("metric", name, names, aliases, _LIST_METRICS)


def all_metrics() -> list[BaseMetric]:
    """List the metrics of labels, then those of scores, and last those of users.

    Each family is there once.
    """
    representatives = (family.representative for family in metric_families.values())
    metrics: list[BaseMetric] = [*registered_metrics(), *representatives, *all_score_metrics()]
    return sorted(metrics, key=lambda metric: not metric.is_shipped)
