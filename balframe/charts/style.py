"""Colours of charts: each is readable on white and on the dark backgrounds of themes.

A theme may make the background of a chart dark. So each colour of a mark has a contrast of at least
3 to white, to #333333 and to #1e1e1e. Texts, which need more, are dark or light as the background
is, which Vega knows by the signal `background`.
"""

from collections.abc import Sequence
from typing import Any

import altair as alt

from balframe.charts.rows import ChartData, escape_tags

BLUE, VERMILLION, OLIVE, PINK = "#2490d8", "#d86000", "#909060", "#c0789c"
LINE_COLORS = (BLUE, VERMILLION, OLIVE, PINK)  # told apart under every kind of colour blindness
GREY, RULE = "#8c8c8c", "#858585"
DARK_INK, LIGHT_INK, ANY_INK = "#222222", "#f0f0f0", "#808080"  # the last where nothing is known
_LUMINANCE = "luminance(background)"  # not a number where the background is transparent
INK = alt.ExprRef(
    f"{_LUMINANCE} < 0.18 ? '{LIGHT_INK}' : {_LUMINANCE} >= 0.18 ? '{DARK_INK}' : '{ANY_INK}'"
)
FAINT = 0.5  # opacity of the grid, which a dark theme draws as grey as rules

LIGHTEST, DARKEST = "#eff6fc", "#08519c"  # the shares 0 and 1 in a heat map
UNDEFINED_SHARE = "#d9d9d9"
BLACK, WHITE = "#000000", "#ffffff"
INTERVAL_OPACITY, BACKGROUND_OPACITY = (
    0.2,
    0.35,
)  # opacity of intervals, and of the lines of the other segments


# Headings, tooltips and legends, as all charts have them.


LABEL_LIMIT = 260  # pixels of a name
SCORE_FORMAT, COUNT_FORMAT = ".3f", ",d"
TooltipField = tuple[str, str, str]  # a field of the rows, its title and the format of its numbers
CLUSTERS_FIELD: TooltipField = ("n_clusters", "clusters", COUNT_FORMAT)


def heading(text: str, lines: Sequence[str], **style: Any) -> alt.TitleParams:  # noqa: ANN401 (of Altair)
    """Put the lines below the title, all at the left."""
    below = [escape_tags(line) for line in lines]
    return alt.TitleParams(
        escape_tags(text), subtitle=below, anchor="start", **{"offset": 12, **style}
    )


def segment_tooltips(drawn: ChartData) -> list[alt.Tooltip]:
    """Say which segment and which panel a mark is of."""
    panel = [] if drawn.panel_title is None else [alt.Tooltip("panel:N", title=drawn.panel_title)]
    return [alt.Tooltip("segment:N", title=drawn.segment_title or "segment"), *panel]


def number_tooltips(fields: Sequence[TooltipField]) -> list[alt.Tooltip]:
    """Say what the numbers of a mark are."""
    return [alt.Tooltip(f"{field}:Q", title=title, format=form) for field, title, form in fields]


def axis(**options: Any) -> alt.Axis:  # noqa: ANN401 (of Altair)
    """Make an axis whose grid stays behind the marks on every ground."""
    return alt.Axis(gridOpacity=FAINT, **options)


def legend(**options: Any) -> alt.Legend:  # noqa: ANN401 (of Altair)
    """Make a legend whose symbols are seen on every ground."""
    return alt.Legend(**{"symbolStrokeColor": GREY, "labelLimit": LABEL_LIMIT, **options})
