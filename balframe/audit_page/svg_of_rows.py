"""The marks of forest plots, as what a template draws in the cell of a row.

Positions are shares of the width of the cell, so that a row needs no width in pixels.
"""

import math
from dataclasses import dataclass

from balframe.audit_page.document import Bar

_PLACES = 3  # a tenth of a percent of the width: less than a pixel


@dataclass(frozen=True, slots=True)
class Mark:
    """What is drawn of an estimate: the ends of its line, its point, and arrows at the edges."""

    line: tuple[str, str] | None
    point: str | None
    is_cut_low: bool
    is_cut_high: bool


def mark(bar: Bar) -> Mark:
    """Lay out the mark of a row; what lies beyond the axis is cut, with an arrow."""
    at, lower, upper = (_rounded(one) for one in (bar.at, bar.lower, bar.upper))
    known = [one for one in (at, lower, upper) if one is not None]
    line = None
    if lower is not None and upper is not None and lower <= 1 and upper >= 0:
        line = place(max(lower, 0.0)), place(min(upper, 1.0))
    return Mark(
        line,
        None if at is None or not 0 <= at <= 1 else place(at),
        is_cut_low=any(one < 0 for one in known),
        is_cut_high=any(one > 1 for one in known),
    )


def _rounded(position: float | None) -> float | None:
    return None if position is None or math.isnan(position) else round(position, _PLACES)


def place(position: float) -> str:
    """Write a position as a share of the width: `41.9%`."""
    return f"{100 * position:.1f}".removesuffix(".0") + "%"
