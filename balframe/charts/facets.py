"""Subplots, and the chart that is assembled from them; each gets its rows last."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import altair as alt
from altair.utils.schemapi import UndefinedType

from balframe.charts.notebook import with_picture
from balframe.charts.rows import ChartData, ChartRow, panel_columns
from balframe.charts.style import RULE

Chart = alt.LayerChart | alt.FacetChart
AltairChart = Chart | alt.ConcatChart
SINGLE_ROW = alt.InlineData(values=[{}])  # of a layer that is drawn once in each panel
Title = alt.TitleParams | UndefinedType

PanelSizes = Sequence[tuple[float, int, int, int]]  # up to how many panels, and the size of each
NO_ROWS = alt.InlineData(values=[])
BACKGROUND = alt.InlineData(values=[], name="behind")  # of a layer that each panel repeats
_GUIDES = {alt.X: alt.Axis, alt.Y: alt.Axis, alt.Color: alt.Legend}  # of titles of channels


class PanelSize(NamedTuple):
    """Columns of panels at most, and the width and the height of each in pixels."""

    max_columns: int
    width: int
    height: int


@dataclass(frozen=True, slots=True)
class Subplot:
    """A chart without rows, and its rows; every panel draws the `background_rows`."""

    chart: Chart
    rows: list[ChartRow]
    background_rows: list[ChartRow] = field(default_factory=list)


def panel_size(sizes: PanelSizes, n_panels: int) -> PanelSize:
    """Return the first size that is for so many panels."""
    return next(PanelSize(*size) for max_panels, *size in sizes if n_panels <= max_panels)


def facet_by_segment(
    layers: Sequence[alt.Chart],
    data: ChartData,
    segments: Sequence[str],
    size: PanelSize,
    title: Title = alt.Undefined,
) -> Chart:
    """Return a panel of the layers for each segment, without rows."""
    chart = alt.LayerChart(layer=[*layers]).properties(width=size.width, height=size.height)
    if len(segments) == 1:
        chart.title = title
        return chart
    facet = alt.Facet("segment:N", title=data.segment_title or None, sort=[*segments])
    columns = panel_columns(len(segments), size.max_columns)
    return chart.facet(facet, data=NO_ROWS, columns=columns, title=title)


def dashed_rule(**positions: Any) -> alt.Chart:  # noqa: ANN401 (of Altair)
    """Return the layer of a dashed line, which each panel draws once."""
    rule = alt.Chart(SINGLE_ROW).mark_rule(strokeDash=[4, 3], color=RULE)
    line: alt.Chart = rule.encode(**positions)
    return line


def dashed_diagonal() -> alt.Chart:
    """Return a dashed line from (0, 0) to (1, 1)."""
    return dashed_rule(x=alt.XDatum(0), y=alt.YDatum(0), x2=alt.X2Datum(1), y2=alt.Y2Datum(1))


def assemble_chart(
    subplots: Sequence[Subplot], title: alt.TitleParams, n_columns: int = 1
) -> AltairChart:
    """Return a subplot, or several that share legends, below a title."""
    if len(subplots) == 1:
        subplots[0].chart.title = title
        return with_picture(_attach_rows(subplots[0].chart, subplots[0]))
    concatenation = alt.concat(
        *(subplot.chart for subplot in subplots), columns=n_columns, title=title
    )
    concatenation.data = alt.Undefined
    for chart, subplot in zip(concatenation.concat, subplots, strict=True):
        _attach_rows(chart, subplot)  # type: ignore[arg-type]  # alt.concat copies its charts
    return with_picture(concatenation)


def _attach_rows(chart: Chart, subplot: Subplot) -> Chart:
    """Give a chart its rows; last, because Altair reads every value whenever it copies them."""
    chart.data = _inline_data(subplot.rows)
    for layer in getattr(chart, "spec", chart).layer:
        _escape_titles(layer)
        if getattr(layer.data, "name", None) == BACKGROUND.name:
            layer.data = _inline_data(subplot.background_rows)
    return chart


def _escape_titles(layer: Any) -> None:  # noqa: ANN401 (of Altair)
    """Double the backslashes of titles, which Vega-Lite writes into the code of tooltips.

    There it escapes quotation marks only. The titles of axes and legends, which are not code, stay.
    """
    tooltips = getattr(layer.encoding, "tooltip", alt.Undefined)
    for tooltip in tooltips if isinstance(tooltips, list) else []:
        _double_backslashes(tooltip)
    for channel_type, guide_type in _GUIDES.items():
        channel: Any = getattr(layer.encoding, channel_type.__name__.lower(), alt.Undefined)
        title = _double_backslashes(channel)
        guide = guide_type.__name__.lower()
        if title is not None and channel[guide] is not None:
            options = {} if channel[guide] is alt.Undefined else channel[guide].to_dict()
            channel[guide] = guide_type(**{**options, "title": title})


def _double_backslashes(channel: Any) -> str | None:  # noqa: ANN401 (of Altair)
    """Double the backslashes of the title of a channel; return the title if it has any."""
    has_title = isinstance(channel, (alt.Tooltip, *_GUIDES))
    title: Any = channel["title"] if has_title else None
    if not isinstance(title, str) or "\\" not in title:
        return None
    channel["title"] = title.replace("\\", 2 * "\\")
    return title


def _inline_data(rows: list[ChartRow]) -> alt.InlineData:
    data = alt.InlineData(values=[])
    data.values = rows
    return data
