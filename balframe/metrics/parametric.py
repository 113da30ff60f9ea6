"""Families of metrics: formulas with a number, which stands in brackets in a member's name."""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import wraps
from math import inf

from balframe.core.array_types import FloatArray
from balframe.core.class_counts import ClassCounts
from balframe.errors import InvalidInputError
from balframe.metrics.registry import Metric, MetricFunction

FunctionOfNumber = Callable[[ClassCounts, float], FloatArray]

_MEMBER = re.compile(r"(\w+)\s*(?:\(([^()]*)\))?")


@dataclass(frozen=True, slots=True)
class MetricFamily:
    """Metrics that differ by a number above 0; the `representative`, that of 1, is listed."""

    representative: Metric
    function: FunctionOfNumber


metric_families: dict[str, MetricFamily] = {}


def family(
    number: str,
    *,
    range: tuple[float, float],  # noqa: A002 (the field's word)
    needs: Sequence[str] = (),
    source: str = "",
) -> Callable[[FunctionOfNumber], FunctionOfNumber]:
    """Register a function of class counts and a number above 0, as a family without limits.

    `number` is what the number is called.
    """

    def register(function: FunctionOfNumber) -> FunctionOfNumber:
        name = f"{function.__name__}({number})"
        metric = Metric(name, _with_number(function, 1), range, "higher", (), source, tuple(needs))
        metric_families[function.__name__] = MetricFamily(metric, function)
        return function

    return register


def family_member(name: str) -> Metric | None:
    """Return the member of a family that has this name; None if the name is of no family."""
    parts = _MEMBER.fullmatch(name)
    if parts is None or parts[1] not in metric_families:
        return None
    family = metric_families[parts[1]]
    number = _parse_number(parts[2])
    if not 0 < number < inf:
        raise InvalidInputError(
            f"metric {name!r} takes a finite number above 0 in brackets, as in '{parts[1]}(2)'."
        )
    return replace(family.representative, name=name, function=_with_number(family.function, number))


def _with_number(function: FunctionOfNumber, number: float) -> MetricFunction:
    @wraps(function)
    def at_number(c: ClassCounts) -> FloatArray:
        return function(c, number)

    return at_number


def _parse_number(text: str | None) -> float:
    try:
        return float(text or "")
    except ValueError:
        return 0
