"""Families of metrics: formulas with a number in them, which a name gives in brackets."""

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
class Family:
    """Metrics that differ by a number above 0; `listed`, that of 1, stands for all of them."""

    listed: Metric
    function: FunctionOfNumber


families: dict[str, Family] = {}


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
        listed = Metric(name, _at(function, 1), range, "higher", (), source, tuple(needs))
        families[function.__name__] = Family(listed, function)
        return function

    return register


def member(name: str) -> Metric | None:
    """Make the member of a family that a name asks for; None where it asks for no family."""
    parts = _MEMBER.fullmatch(name)
    if parts is None or parts[1] not in families:
        return None
    of = families[parts[1]]
    number = _number(parts[2])
    if not 0 < number < inf:
        raise InvalidInputError(
            f"metric {name!r} takes a finite number above 0 in brackets, as in '{parts[1]}(2)'."
        )
    return replace(of.listed, name=name, function=_at(of.function, number))


def _at(function: FunctionOfNumber, number: float) -> MetricFunction:
    @wraps(function)
    def at_number(c: ClassCounts) -> FloatArray:
        return function(c, number)

    return at_number


def _number(text: str | None) -> float:
    try:
        return float(text or "")
    except ValueError:
        return 0
