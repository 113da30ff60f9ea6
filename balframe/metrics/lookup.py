"""Metrics by the names, aliases and members of families that a caller gives."""

from collections.abc import Iterable

from balframe.core.arrays import is_iterable
from balframe.errors import (
    InvalidInputError,
    UnsupportedTypeError,
    advised,
    listed,
    not_found,
    parameter,
)
from balframe.metrics.families_by_number import families, member
from balframe.metrics.registry import Metric, named


def find(name: object) -> Metric:
    """Look a metric up by its name or an alias; an error suggests the nearest names."""
    if not isinstance(name, str):
        raise UnsupportedTypeError(
            f"{parameter('metrics')} takes names of metrics, not {name!r} of type "
            f"{type(name).__name__}; register a function with bf.metric and give its name."
        )
    if name == "all":
        raise InvalidInputError(
            f'"all" stands alone, as in {advised("metrics", "all")}; it takes no other names.'
        )
    known = named()
    one = known[name] if name in known else member(name)
    if one is None:
        raise not_found("metric", name, [*known, *(f.listed.name for f in families.values())])
    return one


def find_all(names: Iterable[object]) -> dict[str, Metric]:
    """Look metrics up, keyed by the names as they were given."""
    if not is_iterable(names):
        raise UnsupportedTypeError(
            f"{parameter('metrics', names)} is neither the name of a metric nor a list of names."
        )
    given = list(names)
    found = {str(name): find(name) for name in given}
    if len(found) < len(given):
        raise InvalidInputError(f"{parameter('metrics')} names a metric twice: {listed(given)}.")
    if not found:
        raise InvalidInputError(
            f'{parameter("metrics")} is empty; name at least one metric, or "all".'
        )
    return found
