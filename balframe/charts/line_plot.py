"""Lines over a plane, one for each segment: together in one panel, or each in its own."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import altair as alt
import numpy as np

from balframe._text import ALL
from balframe.charts.facets import BACKGROUND, NO_ROWS, Chart, Title
from balframe.charts.rows import ChartData, ChartRow, ResultRow, panel_columns, require_rows
from balframe.charts.style import BACKGROUND_OPACITY, GREY, LABEL_LIMIT, LINE_COLORS
from balframe.core.array_types import FloatArray, Int64Array
from balframe.frames.convert_result import column_numbers, rows_at_positions

_SMALL, _TINY = 12, 24  # up to many lines with a panel each
_PIXELS = ((len(LINE_COLORS), 480), (_SMALL, 240), (float("inf"), 120))  # by up to how many lines
_POINTS = ((_SMALL, 40), (_TINY, 20), (float("inf"), 8))  # of each line behind others
_SIZES = ((_SMALL, 3, 190, 150), (_TINY, 4, 140, 110), (float("inf"), 6, 90, 75))


@dataclass(frozen=True, slots=True)
class LinePlot:
    """How lines lie: what a color and what a panel stands for, and the size of a panel.

    Up to as many segments as there are colors share a panel. More have a panel each, with all the
    others in grey behind.
    """

    color: alt.Color
    shares_panel: bool
    has_legend: bool
    facet: alt.Facet | None
    n_columns: int
    width: int
    height: int

    @property
    def n_ticks(self) -> int:
        """Choose about how many numbers the axes have."""
        return max(3, min(6, self.width // 40))

    @property
    def font_size(self) -> int:
        """Choose the size of labels within a panel."""
        return 11 if self.width > 140 else 10 if self.width > 90 else 9

    def background_lines(self, **encodings: Any) -> list[alt.Chart]:  # noqa: ANN401 (of Altair)
        """Draw the lines of all segments in grey, where each has a panel of its own."""
        if self.shares_panel:
            return []
        width = 1 if self.width > 100 else 0.5
        lines = alt.Chart(BACKGROUND).mark_line(
            color=GREY, opacity=BACKGROUND_OPACITY, strokeWidth=width
        )
        return [lines.encode(**encodings, order="at:Q")]

    def background_rows(self, rows: Sequence[ChartRow], *fields: str) -> list[ChartRow]:
        """Keep a few points of each line, for the lines behind are drawn once in every panel.

        They are one path, broken between lines: a path for each line would take long to draw.
        """
        lines: dict[tuple[str, str], list[ChartRow]] = {}
        for row in [] if self.shares_panel else rows:
            lines.setdefault((row["panel"], row["segment"]), []).append(row)
        n = next(n for many, n in _POINTS if len(lines) <= many)
        kept = [
            point
            for line in lines.values()
            for point in (
                *(
                    line[at]
                    for at in np.unique(np.linspace(0, len(line) - 1, n).round().astype(np.int64))
                ),
                {},
            )
        ]
        return [
            {name: point.get(name) for name in fields} | {"at": at} for at, point in enumerate(kept)
        ]

    def draw(self, layers: Sequence[alt.Chart], title: Title = alt.Undefined) -> Chart:
        """Put the layers on the plane, without their rows."""
        sized = alt.LayerChart(layer=[*layers]).properties(width=self.width, height=self.height)
        if self.facet is not None:
            return sized.facet(self.facet, data=NO_ROWS, columns=self.n_columns, title=title)
        sized.title = title
        return sized


def line_plot(
    data: ChartData, segments: Sequence[str], *, is_labelled: bool = False, is_small: bool = False
) -> LinePlot:
    """Give each segment a color where colors are enough, or else a panel.

    Lines that are labelled with the names of the segments need no legend for these.
    """
    outer = data.panels
    by_color = len(segments) <= len(LINE_COLORS)
    colored, field, title = (
        (list(segments), "segment", data.segment_title)
        if by_color
        else (outer, "panel", data.panel_title)
    )
    scale = alt.Scale(domain=colored, range=[*LINE_COLORS[: len(colored)]])
    needs_none = colored in ([""], [ALL]) or is_labelled
    shown = alt.Legend(
        symbolType="stroke", symbolOpacity=1, symbolStrokeWidth=2, labelLimit=LABEL_LIMIT
    )
    color = alt.Color(
        f"{field}:N",
        title=title or None,
        sort=colored,
        scale=scale,
        legend=None if needs_none else shown,
    )
    if not by_color:
        most, width, height = next(size for many, *size in _SIZES if len(segments) <= many)
        facet = alt.Facet("segment:N", title=data.segment_title, sort=list(segments))
        return LinePlot(
            color, False, not needs_none, facet, panel_columns(len(segments), most), width, height
        )
    if data.panel_title is None:
        width, height = (230, 165) if is_small else (440, 320)
        return LinePlot(color, True, not needs_none, None, 1, width, height)
    facet = alt.Facet("panel:N", title=data.panel_title, sort=outer)
    return LinePlot(color, True, not needs_none, facet, panel_columns(len(outer), 2), 260, 220)


def line_rows(result: Any, x: str, y: str) -> list[ResultRow]:  # noqa: ANN401
    """List the rows of a curve; of points that a screen cannot show apart keep the first.

    A line ends where thresholds no longer ascend.
    """
    threshold = column_numbers(result, "threshold")
    is_start = np.r_[True, threshold[1:] <= threshold[:-1]][: threshold.size]
    starts = np.flatnonzero(is_start)
    pixels = next(pixels for many, pixels in _PIXELS if starts.size <= many)
    keeps = is_start | np.r_[is_start[1:], True][: threshold.size]
    for values in (column_numbers(result, x), column_numbers(result, y)):
        place = _pixel(values, starts, pixels)
        is_same = (place[1:] == place[:-1]) | (np.isnan(place[1:]) & np.isnan(place[:-1]))
        keeps[1:] |= ~is_same
    return require_rows(rows_at_positions(result, np.flatnonzero(keeps)))


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
