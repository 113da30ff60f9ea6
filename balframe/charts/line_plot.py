"""Line plots, with a line for each segment: together in one panel, or each in its own."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import altair as alt
import numpy as np

from balframe._text import ALL
from balframe.charts.facets import BACKGROUND, NO_ROWS, Chart, Title, panel_size
from balframe.charts.rows import ChartData, ChartRow, ResultRow, panel_columns, require_rows
from balframe.charts.style import (
    BACKGROUND_OPACITY,
    GREY,
    INK,
    LABEL_LIMIT,
    LINE_COLORS,
    x_pixels,
    y_pixels,
)
from balframe.core.array_types import FloatArray, Int64Array
from balframe.core.thinning import first_at_each_place
from balframe.frames.convert_result import column_numbers, rows_at_positions
from balframe.frames.query import MODEL

_FEW, _MANY = 12, 24  # lines with a panel each
# Each by the maximum number of lines: the pixels of a line, the points of each line in the
# background, and the columns, width and height of panels
_LINE_PIXELS = ((len(LINE_COLORS), 480), (_FEW, 240), (float("inf"), 120))
_BACKGROUND_POINTS = ((_FEW, 40), (_MANY, 20), (float("inf"), 8))
_PANEL_SIZES = ((_FEW, 3, 190, 150), (_MANY, 4, 140, 110), (float("inf"), 6, 90, 75))


@dataclass(frozen=True, slots=True)
class LinePlot:
    """The layout of lines: what colors and panels stand for, and the size of a panel.

    Up to as many segments as there are colors share a panel. More segments have a panel each, with
    the lines of the others in grey behind. So have segments of several models, whose colors are
    those of the models.
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
        """Approximate number of ticks of the axes."""
        return max(3, min(6, self.width // 40))

    @property
    def font_size(self) -> int:
        """Font size of labels in a panel."""
        return 11 if self.width > 140 else 10 if self.width > 90 else 9

    def background_lines(self, **encodings: Any) -> list[alt.Chart]:  # noqa: ANN401 (of Altair)
        """Return the layer of all segments in grey, if each has a panel of its own."""
        if self.shares_panel:
            return []
        width = 1 if self.width > 100 else 0.5
        lines = alt.Chart(BACKGROUND).mark_line(
            color=GREY, opacity=BACKGROUND_OPACITY, strokeWidth=width
        )
        return [lines.encode(**encodings, order=alt.Order("at:Q"))]

    def background_rows(self, rows: Sequence[ChartRow], *fields: str) -> list[ChartRow]:
        """Return a few points of each line, because every panel repeats the lines of all segments.

        They are one path, broken between lines: a path for each line would take long to draw.
        """
        lines: dict[tuple[str, str], list[ChartRow]] = {}
        for row in [] if self.shares_panel else rows:
            lines.setdefault((row["panel"], row["segment"]), []).append(row)
        n = next(n for max_lines, n in _BACKGROUND_POINTS if len(lines) <= max_lines)
        points: list[ChartRow] = []
        for line in lines.values():
            positions = np.unique(np.linspace(0, len(line) - 1, n).round().astype(np.int64))
            points += [*(line[position] for position in positions), {}]
        return [
            {name: point.get(name) for name in fields} | {"at": at}
            for at, point in enumerate(points)
        ]

    def note_texts(self, base: alt.Chart, tooltip: Sequence[alt.Tooltip]) -> alt.Chart:
        """Return the layer of the notes of segments without a line."""
        notes = base.transform_filter("isValid(datum.note)")
        texts: alt.Chart = notes.mark_text(color=INK, fontStyle="italic").encode(
            x=x_pixels(self.width / 2),
            y=y_pixels(12),
            text=alt.Text("note:N"),
            tooltip=[*tooltip],
        )
        return texts

    def draw(self, layers: Sequence[alt.Chart], title: Title = alt.Undefined) -> Chart:
        """Return the chart of the layers, without their rows."""
        sized = alt.LayerChart(layer=[*layers]).properties(width=self.width, height=self.height)
        if self.facet is not None:
            return sized.facet(self.facet, data=NO_ROWS, columns=self.n_columns, title=title)
        sized.title = title
        return sized


def line_plot(
    data: ChartData, segments: Sequence[str], *, is_labelled: bool = False, is_small: bool = False
) -> LinePlot:
    """Return a layout that gives each segment a colour if there are enough, or else a panel.

    Segments of several models have a panel each, and models have colors. Labelled lines need no
    legend of the segments.
    """
    panels = data.panels
    has_colors = len(segments) <= len(LINE_COLORS) and data.panel_title != MODEL
    names, field, title = (
        (list(segments), "segment", data.segment_title)
        if has_colors
        else (panels, "panel", data.panel_title)
    )
    scale = alt.Scale(domain=names, range=[*LINE_COLORS[: len(names)]])
    needs_no_legend = names in ([""], [ALL]) or (is_labelled and has_colors)
    legend = alt.Legend(
        symbolType="stroke", symbolOpacity=1, symbolStrokeWidth=2, labelLimit=LABEL_LIMIT
    )
    color = alt.Color(
        f"{field}:N",
        title=title or None,
        sort=names,
        scale=scale,
        legend=None if needs_no_legend else legend,
    )
    if not has_colors:
        sizes = ((len(LINE_COLORS), 2, 260, 220), *_PANEL_SIZES)
        max_columns, width, height = panel_size(sizes, len(segments))
        facet = alt.Facet("segment:N", title=data.segment_title, sort=list(segments))
        return LinePlot(
            color,
            False,
            not needs_no_legend,
            facet,
            panel_columns(len(segments), max_columns),
            width,
            height,
        )
    if data.panel_title is None:
        width, height = (230, 165) if is_small else (440, 320)
        return LinePlot(color, True, not needs_no_legend, None, 1, width, height)
    facet = alt.Facet("panel:N", title=data.panel_title, sort=panels)
    return LinePlot(
        color, True, not needs_no_legend, facet, panel_columns(len(panels), 2), 260, 220
    )


def line_rows(result: Any, x: str, y: str) -> list[ResultRow]:  # noqa: ANN401
    """Return the rows of curves; of points at the same pixel, only the first.

    A new line starts where thresholds do not ascend.
    """
    threshold = column_numbers(result, "threshold")
    is_start = np.r_[True, threshold[1:] <= threshold[:-1]][: threshold.size]
    starts = np.flatnonzero(is_start)
    pixels = next(pixels for max_lines, pixels in _LINE_PIXELS if starts.size <= max_lines)
    places = [_pixel_positions(column_numbers(result, name), starts, pixels) for name in (x, y)]
    keeps = first_at_each_place(starts, *places)
    return require_rows(rows_at_positions(result, np.flatnonzero(keeps)))


def _pixel_positions(values: FloatArray, starts: Int64Array, pixels: int) -> FloatArray:
    """Return the position of each value between the ends of its line, in pixels."""
    if not values.size:
        return values
    finite = np.where(np.isfinite(values), values, np.nan)
    lowest, highest = np.fmin.reduceat(finite, starts), np.fmax.reduceat(finite, starts)
    spread = (
        highest / pixels - lowest / pixels
    )  # divided first, because the difference may overflow
    line = np.repeat(np.arange(starts.size), np.diff(np.r_[starts, values.size]))
    size = np.where(spread > 0, spread, 1)[line]
    return np.asarray(np.round(finite / size - (lowest[line] / size)), np.float64)
