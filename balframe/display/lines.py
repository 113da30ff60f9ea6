"""Lines over a plane, one for each segment: together in one panel, or each in its own."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import altair as alt
import numpy as np

from balframe.core.arrays import FloatArray, Int64Array
from balframe.display.annotations import NO_ROWS, with_rows
from balframe.display.segments import ALL_ROWS, Answered, Drawn, Row, checked, columns
from balframe.frames.deliver import collected, numbers_of, rows_at

ONCE = alt.InlineData(values=[{}])  # for what is drawn once in each panel
COLORS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000")
_MANY = 12
_PIXELS = ((len(COLORS), 480), (60, 240), (float("inf"), 120))  # by up to how many lines


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

    @property
    def n_ticks(self) -> int:
        """Choose about how many numbers the axes have."""
        return max(3, min(6, self.width // 40))

    def show(
        self, layers: alt.LayerChart, rows: list[Row], title: alt.TitleParams
    ) -> alt.LayerChart | alt.FacetChart:
        """Put the layers on the plane."""
        sized = layers.properties(width=self.width, height=self.height)
        if self.panel is None:
            return with_rows(sized.properties(title=title), rows)
        facets = sized.facet(self.panel, data=NO_ROWS, columns=self.columns, title=title)
        return with_rows(facets, rows)


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
        if colored in ([""], [ALL_ROWS])
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
    starts = np.flatnonzero(is_start)
    pixels = next(pixels for many, pixels in _PIXELS if starts.size <= many)
    keeps = is_start | np.r_[is_start[1:], True][: threshold.size]
    for values in (numbers_of(found, x), numbers_of(found, y)):
        place = _pixel(values, starts, pixels)
        is_same = (place[1:] == place[:-1]) | (np.isnan(place[1:]) & np.isnan(place[:-1]))
        keeps[1:] |= ~is_same
    return checked(rows_at(found, np.flatnonzero(keeps)))


def _pixel(values: FloatArray, starts: Int64Array, pixels: int) -> FloatArray:
    """Find where each value lies between the ends of its line, in pixels."""
    if not values.size:
        return values
    finite = np.where(np.isfinite(values), values, np.nan)
    lowest, highest = np.fmin.reduceat(finite, starts), np.fmax.reduceat(finite, starts)
    spread = highest / pixels - lowest / pixels  # before the difference, which may be too large
    line = np.repeat(np.arange(starts.size), np.diff(np.r_[starts, values.size]))
    size = np.where(spread > 0, spread, 1)[line]
    return np.asarray(np.round(finite / size - (lowest[line] / size)), np.float64)
