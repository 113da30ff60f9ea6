"""Colours, headings, tooltips and legends of charts, on white and on dark backgrounds.

A theme may make the background of a chart dark. So each colour of a mark has a contrast of at least
3 to white, to #333333 and to #1e1e1e. Texts need more contrast: they are dark or light, depending
on the signal `background` of Vega.

Channels of an encoding are objects, such as `alt.X("n:Q")` or `x_pixels(4)`. To read a text or
`alt.value`, Altair compares it with all of its classes, which takes as long as to draw the layer.
"""

from collections.abc import Sequence
from typing import Any

import altair as alt

from balframe.charts.rows import ChartData, chart_text

BLUE, VERMILLION, OLIVE, PINK = "#2490d8", "#d86000", "#909060", "#c0789c"
LINE_COLORS = (BLUE, VERMILLION, OLIVE, PINK)  # distinguishable with any colour blindness
GREY, RULE = "#8c8c8c", "#858585"
DARK_INK, LIGHT_INK = "#222222", "#f0f0f0"
ANY_INK = "#808080"  # if the background is unknown
_LUMINANCE = "luminance(background)"  # not a number where the background is transparent
INK = alt.ExprRef(
    f"{_LUMINANCE} < 0.18 ? '{LIGHT_INK}' : {_LUMINANCE} >= 0.18 ? '{DARK_INK}' : '{ANY_INK}'"
)
GRID_OPACITY = 0.5  # because a dark theme draws the grid as grey as rules

LIGHTEST, DARKEST = "#eff6fc", "#08519c"  # the shares 0 and 1 in a heat map
UNDEFINED_SHARE = "#d9d9d9"
BLACK, WHITE = "#000000", "#ffffff"
INTERVAL_OPACITY, BACKGROUND_OPACITY = (
    0.2,
    0.35,
)  # opacity of intervals, and of the lines of the other segments


# Headings, tooltips and legends, as all charts have them.


LABEL_LIMIT = 260  # pixels of a label
SCORE_FORMAT, COUNT_FORMAT = ".3f", ",d"
TooltipField = tuple[str, str, str]  # a field of the rows, its title and its number format
N_FIELD: TooltipField = ("n", "rows", COUNT_FORMAT)
MIN_SUPPORT_FIELD: TooltipField = ("min_support", "rows of the rarest label", COUNT_FORMAT)
CLUSTERS_FIELD: TooltipField = ("n_clusters", "clusters", COUNT_FORMAT)
LIMIT_FIELDS: list[TooltipField] = [
    ("lower", "lower limit", SCORE_FORMAT),
    ("upper", "upper limit", SCORE_FORMAT),
]


def heading(text: str, lines: Sequence[str] | None = None, **style: Any) -> alt.TitleParams:  # noqa: ANN401 (of Altair)
    """Return a title with lines below it, aligned left."""
    subtitle = alt.Undefined if lines is None else [chart_text(line) for line in lines]
    style = {"anchor": "start", "offset": 12, **style}
    return alt.TitleParams(chart_text(text), subtitle=subtitle, **style)


def panel_heading(text: str, lines: Sequence[str] | None = None, **style: Any) -> alt.TitleParams:  # noqa: ANN401 (of Altair)
    """Return the title of a subplot."""
    return heading(text, lines, fontSize=12, offset=8, **style)


def segment_tooltips(data: ChartData) -> list[alt.Tooltip]:
    """Return the tooltips that name the segment and the panel of a mark."""
    panel = [] if data.panel_title is None else [alt.Tooltip("panel:N", title=data.panel_title)]
    return [alt.Tooltip("segment:N", title=data.segment_title or "segment"), *panel]


def number_tooltips(fields: Sequence[TooltipField]) -> list[alt.Tooltip]:
    """Return the tooltips of the numbers of a mark."""
    return [
        alt.Tooltip(f"{field}:Q", title=title, format=number_format)
        for field, title, number_format in fields
    ]


def x_pixels(value: float) -> alt.XValue:
    """Return a horizontal position that is the same for all rows."""
    return alt.XValue(value)  # type: ignore[no-untyped-call]


def y_pixels(value: float) -> alt.YValue:
    """Return a vertical position that is the same for all rows."""
    return alt.YValue(value)  # type: ignore[no-untyped-call]


def axis(**options: Any) -> alt.Axis:  # noqa: ANN401 (of Altair)
    """Return an axis whose grid is fainter than the marks on every background."""
    return alt.Axis(gridOpacity=GRID_OPACITY, **options)


def legend(**options: Any) -> alt.Legend:  # noqa: ANN401 (of Altair)
    """Return a legend whose symbols are visible on every background."""
    return alt.Legend(**{"symbolStrokeColor": GREY, "labelLimit": LABEL_LIMIT, **options})
