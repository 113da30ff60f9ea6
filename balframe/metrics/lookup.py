"""Metrics by the names, aliases and members of families that a caller gives."""

from collections.abc import Mapping, Sequence

from balframe.core.array_types import is_iterable
from balframe.errors import (
    BalframeError,
    InvalidInputError,
    UnsupportedTypeError,
    advised,
    listed,
    not_found,
    parameter,
)
from balframe.metrics import definitions  # noqa: F401 (registers them)
from balframe.metrics.base import AnyMetric
from balframe.metrics.parametric import families, member
from balframe.metrics.registry import NAMED_BY_CHARTS, PRESETS, Metric, metric, named, registered
from balframe.metrics.score_metrics import all_score_metrics, needs_scores_error, score_metric_names

Chosen = dict[str, Metric]  # by the names that the columns get


def find(name: object) -> Metric:
    """Look a metric up by its name or an alias; an error suggests the nearest names."""
    if not isinstance(name, str):
        raise UnsupportedTypeError(
            f"{parameter('metrics')} takes names of metrics, not {name!r} of type "
            f"{type(name).__name__}; register a function with bf.metric and give its name."
        )
    if name in PRESETS:
        raise InvalidInputError(
            f"{advised('metrics', name)} is a preset of several metrics; give the name of one "
            "metric here."
        )
    found = _known(name)
    if found is None:
        raise _not_found(name)
    return found


def find_all(given: object, presets: Mapping[str, Sequence[str]] | None = None) -> Chosen:
    """Look metrics up, by the names as they were given; a mapping gives them new names.

    `presets` are the metrics that the presets stand for in this call.
    """
    if isinstance(given, Mapping):
        chosen = {_new_name(new, name): find(name) for new, name in given.items()}
    elif is_iterable(given):
        chosen = _listed(list(given), presets or {})
    else:
        raise UnsupportedTypeError(
            f"{parameter('metrics', given)} is neither the name of a metric, nor a list of names, "
            "nor a mapping of new names to names."
        )
    if not chosen:
        raise InvalidInputError(
            f"{parameter('metrics')} is empty; name at least one metric, or a preset: "
            f"{listed(map(repr, PRESETS))}."
        )
    return chosen


def _listed(given: Sequence[object], presets: Mapping[str, Sequence[str]]) -> Chosen:
    """Look up names and presets; a metric that is also named by itself stands there once."""
    names = [name for name in given if not (isinstance(name, str) and name in presets)]
    own = {str(name): find(name) for name in names}
    if len({str(name) for name in given}) < len(given):
        raise InvalidInputError(f"{parameter('metrics')} names a metric twice: {listed(given)}.")
    renamed = {one.name for name, one in own.items() if name != one.name}
    chosen: Chosen = {}
    for name in map(str, given):
        if name in own:
            chosen[name] = own[name]
        else:
            chosen |= {one: find(one) for one in presets[name] if one not in renamed}
    return chosen


def _new_name(new: object, name: object) -> str:
    """Check the new name of a metric: a string, and not the name of another metric."""
    if not isinstance(new, str) or not new:
        raise UnsupportedTypeError(
            f"{parameter('metrics')} gives the metric {name!r} the name {new!r}, which is not a "
            "name; give a non-empty string."
        )
    if new in PRESETS or new in score_metric_names() or new in NAMED_BY_CHARTS:
        raise InvalidInputError(
            f"{parameter('metrics')} gives the metric {name!r} the name {new!r}, which means "
            "something else in balframe; choose another name."
        )
    meant = _known(new)
    if meant is not None and meant.name != find(name).name:
        raise InvalidInputError(
            f"{parameter('metrics')} gives the metric {name!r} the name {new!r}, which already "
            f"names the metric {meant.name!r}; choose another name."
        )
    return new


def _known(name: str) -> Metric | None:
    return named().get(name) or member(name)


def _not_found(name: str) -> BalframeError:
    """Say which names are near to an unknown one; of a metric of scores, where it is found."""
    if name in score_metric_names():
        return needs_scores_error(name)
    names = [*(one.name for one in registered()), *(f.listed.name for f in families.values())]
    aliases = {alias: one.name for alias, one in named().items()}
    return not_found("metric", name, names, aliases)


# The metrics that balframe ships, in their order, and those that its users register.


__all__ = ["all_metrics", "families", "find", "find_all", "metric", "registered"]


def all_metrics() -> list[AnyMetric]:
    """List the metrics, those of scores after those of labels, and those of users last.

    Each family is there once.
    """
    of_families = (family.listed for family in families.values())
    every: list[AnyMetric] = [*registered(), *of_families, *all_score_metrics()]
    return sorted(every, key=lambda one: not one.is_shipped)
