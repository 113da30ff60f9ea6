"""Headings and tooltips, as all charts have them."""

from collections.abc import Sequence

import altair as alt

from balframe.display.segments import Drawn, Row, inert

SCORE, ROWS = ".3f", ",d"
NO_ROWS = alt.InlineData(values=[])
Field = tuple[str, str, str]  # a field of the rows, its title and the format of its numbers


def heading(text: str, lines: Sequence[str]) -> alt.TitleParams:
    """Put the lines below the title, all at the left."""
    return alt.TitleParams(inert(text), subtitle=list(lines), anchor="start", offset=12)


def place(drawn: Drawn) -> list[alt.Tooltip]:
    """Say which segment and which panel a mark is of."""
    panel = [] if drawn.panels_by is None else [alt.Tooltip("panel:N", title=drawn.panels_by)]
    return [alt.Tooltip("segment:N", title=drawn.by or "segment"), *panel]


def numbers(fields: Sequence[Field]) -> list[alt.Tooltip]:
    """Say what the numbers of a mark are."""
    return [alt.Tooltip(f"{field}:Q", title=title, format=form) for field, title, form in fields]


def with_rows(
    chart: alt.LayerChart | alt.FacetChart, rows: list[Row]
) -> alt.LayerChart | alt.FacetChart:
    """Give a chart its data last, for Altair looks at every value each time that it copies them."""
    data = alt.InlineData(values=[])
    data.values = rows
    chart.data = data
    return chart
