"""Charts that are parts of a larger one, and their rows, which they get last."""

from collections.abc import Sequence
from dataclasses import dataclass, field

import altair as alt
from altair.utils.schemapi import UndefinedType

from balframe.charts.rows import ChartRow

Chart = alt.LayerChart | alt.FacetChart
AltairChart = Chart | alt.ConcatChart
SINGLE_ROW = alt.InlineData(values=[{}])  # for what is drawn once in each panel
Title = alt.TitleParams | UndefinedType

NO_ROWS = alt.InlineData(values=[])
BACKGROUND = alt.InlineData(values=[], name="behind")  # of a layer that is the same in each panel


@dataclass(frozen=True, slots=True)
class Subplot:
    """A chart without its rows, and these; those `behind` are drawn in every panel."""

    chart: Chart
    rows: list[ChartRow]
    background_rows: list[ChartRow] = field(default_factory=list)


def assemble_chart(
    subplots: Sequence[Subplot], title: alt.TitleParams, n_columns: int = 1
) -> AltairChart:
    """Put a title over a part, or over several that share legends."""
    if len(subplots) == 1:
        subplots[0].chart.title = title
        return _attach_rows(subplots[0].chart, subplots[0])
    together = alt.concat(*(part.chart for part in subplots), columns=n_columns, title=title)
    together.data = alt.Undefined
    for chart, part in zip(together.concat, subplots, strict=True):
        _attach_rows(chart, part)  # type: ignore[arg-type]  # it copies what it is given
    return together


def _attach_rows(chart: Chart, part: Subplot) -> Chart:
    """Give a chart its rows last, for Altair looks at every value each time that it copies them."""
    chart.data = _data(part.rows)
    for layer in getattr(chart, "spec", chart).layer:
        if getattr(layer.data, "name", None) == BACKGROUND.name:
            layer.data = _data(part.background_rows)
    return chart


def _data(rows: list[ChartRow]) -> alt.InlineData:
    data = alt.InlineData(values=[])
    data.values = rows
    return data
