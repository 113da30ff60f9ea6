"""Marks and axes of forest plots: where numbers lie between the ends of an axis."""

import math
from collections.abc import Iterable
from dataclasses import dataclass

from balframe.audit_page.document import Axis, Bar
from balframe.audit_page.numbers import Estimate, Scale

_STEPS = (0.01, 0.02, 0.05, 0.1, 0.2, 0.25, 0.5, 1.0)
_MOST_TICKS = 5


@dataclass(frozen=True, slots=True)
class Range:
    """The ends of an axis, and the distance between its ticks."""

    low: float
    high: float
    step: float

    def place(self, value: float | None) -> float | None:
        """Tell where a number lies, 0 at the low end and 1 at the high one."""
        return None if value is None else (value - self.low) / (self.high - self.low)

    def bar(self, of: Estimate) -> Bar:
        """Make the mark of an estimate."""
        return Bar(self.place(of.value), self.place(of.lower), self.place(of.upper))

    def axis(self, scale: Scale, line: float | None = None, dashed: float | None = None) -> Axis:
        """Make the axis, with ticks at whole steps."""
        n = round((self.high - self.low) / self.step)
        ticks = [self.low + i * self.step for i in range(n + 1)]
        places = [
            (float(self.place(one) or 0.0), f"{scale.text(one)}{scale.unit}") for one in ticks
        ]
        return Axis(places, self.place(line), self.place(dashed))


def around(estimates: Iterable[Estimate], *others: float | None) -> Range:
    """Choose a range within 0 and 1 that holds estimates with their limits, and other numbers."""
    known = [x for one in estimates for x in (one.value, one.lower, one.upper) if x is not None]
    known += [one for one in others if one is not None]
    low, high = (min(known), max(known)) if known else (0.0, 1.0)
    step = _step(high - low)
    start, end = math.floor(low / step + 1e-9), math.ceil(high / step - 1e-9)
    start, end = max(start, 0), min(max(end, start + 1), round(1 / step))
    return Range(min(start, end - 1) * step, end * step, step)


def around_zero(estimates: Iterable[Estimate]) -> Range:
    """Choose a range as far on both sides of 0 that holds estimates with their limits."""
    known = [x for one in estimates for x in (one.value, one.lower, one.upper) if x is not None]
    furthest = max(map(abs, known), default=0.0)
    step = next((one for one in _STEPS if furthest <= 2 * one), 1.0)
    return Range(-2 * step, 2 * step, step)


def _step(width: float) -> float:
    return next((one for one in _STEPS if width / one <= _MOST_TICKS - 2), 0.25)
