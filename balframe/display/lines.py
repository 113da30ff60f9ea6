"""Lines over a plane, one for each segment: together in one panel, or each in its own."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import altair as alt
import numpy as np

from balframe.display.segments import Answered, Drawn, checked, columns
from balframe.frames.deliver import collected, numbers_of, rows_at

ONCE = alt.InlineData(values=[{}])  # for what is drawn once in each panel
COLORS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000")
_PIXELS = 480
_MANY = 12


@dataclass(frozen=True, slots=True)
class Plane:
    """How lines lie: what a color and what a panel stands for, and the size of a panel.

    Segments are together in a panel, told apart by color, or have a panel each.
    """

    color: alt.Color
    is_together: bool
    panel: alt.Facet | None
    columns: int
    width: int
    height: int

    def show(
        self, layers: alt.LayerChart, drawn: Drawn, title: alt.TitleParams
    ) -> alt.LayerChart | alt.FacetChart:
        """Put the layers on the plane."""
        data = alt.InlineData(values=drawn.rows)
        sized = layers.properties(width=self.width, height=self.height)
        if self.panel is None:
            return sized.properties(data=data, title=title)
        return sized.facet(self.panel, data=data, columns=self.columns, title=title)


def plane(drawn: Drawn, order: Sequence[str]) -> Plane:
    """Give each segment a color where colors are enough, or else a panel."""
    outer = drawn.panels
    by_color = len(order) <= len(COLORS)
    colored, field, title = (
        (list(order), "segment", drawn.by) if by_color else (outer, "panel", drawn.panels_by)
    )
    scale = alt.Scale(domain=colored, range=[*COLORS[: len(colored)]])
    legend = (
        None
        if colored == [""]
        else alt.Legend(symbolType="stroke", symbolOpacity=1, symbolStrokeWidth=2, labelLimit=260)
    )
    color = alt.Color(f"{field}:N", title=title or None, sort=colored, scale=scale, legend=legend)
    if not by_color:
        most, width, height = (4, 170, 130) if len(order) <= _MANY else (6, 110, 84)
        facet = alt.Facet("segment:N", title=drawn.by, sort=list(order))
        return Plane(color, False, facet, columns(len(order), most), width, height)
    if drawn.panels_by is None:
        return Plane(color, True, None, 1, 440, 320)
    facet = alt.Facet("panel:N", title=drawn.panels_by, sort=outer)
    return Plane(color, True, facet, columns(len(outer), 3), 240, 200)


def answered_lines(answer: Any, x: str, y: str) -> list[Answered]:  # noqa: ANN401
    """Collect a curve; of points that cannot be told apart on a screen keep the first.

    A line ends where thresholds no longer ascend.
    """
    found = collected(answer)
    threshold = numbers_of(found, "threshold")
    is_start = np.r_[True, threshold[1:] <= threshold[:-1]][: threshold.size]
    pixels = _PIXELS if np.count_nonzero(is_start) <= _MANY else _PIXELS // 4
    keeps = is_start | np.r_[is_start[1:], True][: threshold.size]
    for values in (numbers_of(found, x), numbers_of(found, y)):
        finite = np.where(np.isfinite(values), values, 0)
        steps = np.round(finite / (np.ptp(finite) or 1.0) * pixels) if finite.size else finite
        keeps[1:] |= np.diff(steps) != 0
    return checked(rows_at(found, np.flatnonzero(keeps)))
