"""Subplots, and the chart that is assembled from them; each gets its rows last."""

import io
import struct
import zlib
from base64 import b64encode
from collections.abc import Sequence
from dataclasses import dataclass, field
from html import escape
from typing import Any, NamedTuple, TypeVar

import altair as alt
from altair.utils.schemapi import UndefinedType

from balframe.charts.rows import ChartData, ChartRow, panel_columns
from balframe.charts.style import RULE

C = TypeVar("C", bound=alt.LayerChart | alt.FacetChart | alt.ConcatChart)

_HTML, _SCALE = "text/html", 2  # pixels for each of the chart, as on a dense screen
# Vega gives its element the class when its scripts are loaded; before that, `error` is that of
# loading them. These are siblings, because Altair's script looks for its element before it.
_STYLE = (
    "<style>.balframe-chart > .vega-embed ~ img, "
    ".balframe-chart > :not(.vega-embed) > .error { display: none; }</style>"
)


class _WithPicture:
    """What displays a chart in a notebook, in place of Altair's; other renderers stay."""

    def _repr_mimebundle_(self, *arguments: Any, **options: Any) -> Any:  # noqa: ANN401 (of Altair)
        bundle = super()._repr_mimebundle_(*arguments, **options)  # type: ignore[misc]
        if not isinstance(bundle, dict) or _HTML not in bundle:
            return bundle
        try:
            picture = _picture(self)
        except (ImportError, RuntimeError, ValueError):  # no vl-convert, or it cannot draw this
            return bundle
        html = f'{_STYLE}<div class="balframe-chart">{bundle[_HTML]}{picture}</div>'
        return {**bundle, _HTML: html}


class LayerChart(_WithPicture, alt.LayerChart):
    """A chart of one panel."""


class FacetChart(_WithPicture, alt.FacetChart):
    """A chart of a panel for each segment."""


class ConcatChart(_WithPicture, alt.ConcatChart):
    """Several charts below a title."""


def with_picture(chart: C) -> C:
    """Return the chart itself, which notebooks show with a picture."""
    (class_,) = (own for own in _WithPicture.__subclasses__() if type(chart) in own.__bases__)
    object.__setattr__(chart, "__class__", class_)  # Altair's own would set an item of the chart
    return chart


def _picture(chart: Any) -> str:  # noqa: ANN401 (of Altair)
    """Return the chart in pixels: an SVG would be cut where fonts are wider."""
    file = io.BytesIO()
    chart.save(file, format="png", scale_factor=_SCALE)
    png = file.getvalue()
    (width,) = struct.unpack(">I", png[16:20])
    title = chart.title if isinstance(chart.title, str) else getattr(chart.title, "text", "chart")
    source = b64encode(_compressed(png)).decode()
    size = f'width="{width // _SCALE}" style="max-width: 100%; height: auto;"'
    return f'<img alt="{escape(str(title))}" {size} src="data:image/png;base64,{source}">'


def _compressed(png: bytes) -> bytes:
    """Return a PNG of about a third of the size; vl-convert compresses for speed."""
    parts, pixels, at = [png[:8]], b"", 8
    while at < len(png):
        (length,) = struct.unpack(">I", png[at : at + 4])
        kind, end = png[at + 4 : at + 8], at + 12 + length
        if kind == b"IDAT":
            pixels += png[at + 8 : end - 4]
        else:
            parts.append(png[at:end])
        at = end
    data = b"IDAT" + zlib.compress(zlib.decompress(pixels), 9)
    parts.insert(-1, struct.pack(">I", len(data) - 4) + data + struct.pack(">I", zlib.crc32(data)))
    return b"".join(parts)


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
