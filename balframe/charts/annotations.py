"""Headings, tooltips and legends, as all charts have them."""

from collections.abc import Sequence
from typing import Any

import altair as alt

from balframe.charts.rows import Drawn, inert
from balframe.charts.style import FAINT, GREY

LABEL_LIMIT = 260  # pixels of a name
SCORE, ROWS = ".3f", ",d"
Field = tuple[str, str, str]  # a field of the rows, its title and the format of its numbers
CLUSTERS: Field = ("n_clusters", "clusters", ROWS)


def heading(text: str, lines: Sequence[str], **style: Any) -> alt.TitleParams:  # noqa: ANN401 (of Altair)
    """Put the lines below the title, all at the left."""
    below = [inert(line) for line in lines]
    return alt.TitleParams(inert(text), subtitle=below, anchor="start", **{"offset": 12, **style})


def place(drawn: Drawn) -> list[alt.Tooltip]:
    """Say which segment and which panel a mark is of."""
    panel = [] if drawn.panels_by is None else [alt.Tooltip("panel:N", title=drawn.panels_by)]
    return [alt.Tooltip("segment:N", title=drawn.by or "segment"), *panel]


def numbers(fields: Sequence[Field]) -> list[alt.Tooltip]:
    """Say what the numbers of a mark are."""
    return [alt.Tooltip(f"{field}:Q", title=title, format=form) for field, title, form in fields]


def axis(**options: Any) -> alt.Axis:  # noqa: ANN401 (of Altair)
    """Make an axis whose grid stays behind the marks on every ground."""
    return alt.Axis(gridOpacity=FAINT, **options)


def legend(**options: Any) -> alt.Legend:  # noqa: ANN401 (of Altair)
    """Make a legend whose symbols are seen on every ground."""
    return alt.Legend(**{"symbolStrokeColor": GREY, "labelLimit": LABEL_LIMIT, **options})
