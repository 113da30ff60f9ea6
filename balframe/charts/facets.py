"""Charts that are parts of a larger one, and their rows, which they get last."""

from collections.abc import Sequence
from dataclasses import dataclass, field

import altair as alt
from altair.utils.schemapi import UndefinedType

from balframe.charts.rows import Row

Chart = alt.LayerChart | alt.FacetChart
Charts = Chart | alt.ConcatChart
ONCE = alt.InlineData(values=[{}])  # for what is drawn once in each panel
Title = alt.TitleParams | UndefinedType

NO_ROWS = alt.InlineData(values=[])
BEHIND = alt.InlineData(values=[], name="behind")  # of a layer that is the same in each panel


@dataclass(frozen=True, slots=True)
class Part:
    """A chart without its rows, and these; those `behind` are drawn in every panel."""

    chart: Chart
    rows: list[Row]
    behind: list[Row] = field(default_factory=list)


def shown(parts: Sequence[Part], title: alt.TitleParams, columns: int = 1) -> Charts:
    """Put a title over a part, or over several that share legends."""
    if len(parts) == 1:
        parts[0].chart.title = title
        return with_rows(parts[0].chart, parts[0])
    together = alt.concat(*(part.chart for part in parts), columns=columns, title=title)
    together.data = alt.Undefined
    for chart, part in zip(together.concat, parts, strict=True):
        with_rows(chart, part)  # type: ignore[arg-type]  # it copies what it is given
    return together


def with_rows(chart: Chart, part: Part) -> Chart:
    """Give a chart its rows last, for Altair looks at every value each time that it copies them."""
    chart.data = _data(part.rows)
    for layer in getattr(chart, "spec", chart).layer:
        if getattr(layer.data, "name", None) == BEHIND.name:
            layer.data = _data(part.behind)
    return chart


def _data(rows: list[Row]) -> alt.InlineData:
    data = alt.InlineData(values=[])
    data.values = rows
    return data
