"""Families of metrics: formulas with numbers, which stand in brackets in a member's name."""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import wraps
from math import isfinite
from typing import Any

import numpy as np

from balframe.core.array_types import FloatArray
from balframe.core.class_counts import ClassCounts
from balframe.errors import InvalidInputError
from balframe.metrics.registry import Metric, MetricFunction, reserve_family
from balframe.stats.base import Interval

FunctionOfNumbers = Callable[..., FloatArray]
Range = tuple[float, float]

_MEMBER = re.compile(r"(\w+)\s*(?:\(([^()]*)\))?")
TYPED_NUMBER = re.compile(r"\b(?:np\.\w+|Decimal)\('?([^()']*)'?\)")  # repr of NumPy's numbers


@dataclass(frozen=True, slots=True)
class Numbers:
    """The numbers of a family.

    Parameters
    ----------
    names : tuple of str
        What they are called, in the order in which they may be given without names.
    description : str
        Which numbers are valid, as messages say it.
    example : str
        Numbers as they stand in brackets.
    listed : tuple of float
        The numbers of the member that represents the family.
    are_valid : function of finite numbers
        Returns whether they are valid.
    """

    names: tuple[str, ...]
    description: str
    example: str
    listed: tuple[float, ...]
    are_valid: Callable[..., bool]

    def parse(self, text: str) -> tuple[float, ...] | None:
        """Read the text in brackets, such as "5, 1" or "fn=5, fp=1"; None if it is not valid."""
        values: dict[str, float] = {}
        for position, part in enumerate(text.split(",")):
            name, equals, number = part.rpartition("=")
            key = name.strip() if equals else "".join(self.names[position : position + 1])
            try:
                values[key] = float(number)
            except ValueError:
                return None
            if len(values) <= position:  # a name was there twice
                return None
        if {*values} != {*self.names} or not all(map(isfinite, values.values())):
            return None
        numbers = tuple(values[name] for name in self.names)
        return numbers if self.are_valid(*numbers) else None


@dataclass(frozen=True, slots=True)
class MetricFamily:
    """Metrics that differ by numbers; the `representative` is listed.

    If `is_of_point`, the number of an operating point of a score may be its own threshold.
    """

    representative: Metric
    numbers: Numbers
    function: FunctionOfNumbers
    range: Callable[..., Range]
    interval: Callable[..., Interval]
    is_of_point: bool

    @property
    def example(self) -> str:
        """The name of a member."""
        return f"{self.function.__name__}({self.numbers.example})"

    def member(self, name: str, numbers: tuple[Any, ...]) -> Metric:
        """Return the member with these numbers, or arrays of one for each segment."""
        return replace(
            self.representative,
            name=name,
            function=_with_numbers(self.function, numbers),
            range=self.range(*numbers),
            interval=self.interval(*numbers),
        )


metric_families: dict[str, MetricFamily] = {}


def family(
    numbers: Numbers,
    *,
    range: Callable[..., Range],  # noqa: A002 (the field's word)
    listed_range: Range,
    interval: Callable[..., Interval],
    of_operating_point: bool = False,
    better: str = "higher",
    needs: Sequence[str] = (),
    source: str = "",
) -> Callable[[FunctionOfNumbers], FunctionOfNumbers]:
    """Register a function of class counts and numbers as a family of metrics.

    `range` and `interval` return the range and the kind of interval for numbers, and `listed_range`
    is that of all numbers together. If `of_operating_point`, a method that has a row for each
    threshold takes the metric without a number too.
    """

    def register(function: FunctionOfNumbers) -> FunctionOfNumbers:
        name = f"{function.__name__}({', '.join(numbers.names)})"
        listed = _with_numbers(function, numbers.listed)
        kind = interval(*numbers.listed)
        metric = Metric(name, listed, listed_range, better, (), source, tuple(needs), kind)
        made = MetricFamily(metric, numbers, function, range, interval, of_operating_point)
        metric_families[function.__name__] = made
        reserve_family(function.__name__, made.example)
        return function

    return register


def metric_of_point(name: str, thresholds: FloatArray) -> Metric | None:
    """Return the metric of operating points whose number is their own threshold.

    It is undefined at thresholds under 0, or of 1 and more. None if no family has this name.
    """
    family = metric_families.get(name)
    if family is None or not family.is_of_point:
        return None
    is_probability = (thresholds >= 0) & (thresholds < 1)
    return family.member(name, (np.where(is_probability, thresholds, np.nan),))


def family_member(name: str) -> Metric | None:
    """Return the member of a family that has this name; None if the name is of no family."""
    parts = _MEMBER.fullmatch(name)
    if parts is None and TYPED_NUMBER.search(name):
        plain = TYPED_NUMBER.sub(r"\1", name)
        raise InvalidInputError(f"metric {name!r} has a number with its type; write {plain!r}.")
    if parts is None or parts[1] not in metric_families:
        return None
    family = metric_families[parts[1]]
    numbers = family.numbers.parse(parts[2] or "")
    if numbers is None:
        raise InvalidInputError(
            f"metric {name!r} takes {family.numbers.description} in brackets, as in "
            f"{family.example!r}."
        )
    return family.member(name, numbers)


def _with_numbers(function: FunctionOfNumbers, numbers: tuple[Any, ...]) -> MetricFunction:
    @wraps(function)
    def at_numbers(c: ClassCounts) -> FloatArray:
        return function(c, *numbers)

    return at_numbers
