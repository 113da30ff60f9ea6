"""Subplots, and the chart that is assembled from them; each gets its rows last."""

from collections.abc import Sequence
from dataclasses import dataclass, field

import altair as alt
from altair.utils.schemapi import UndefinedType

from balframe.charts.rows import ChartRow

Chart = alt.LayerChart | alt.FacetChart
AltairChart = Chart | alt.ConcatChart
SINGLE_ROW = alt.InlineData(values=[{}])  # of a layer that is drawn once in each panel
Title = alt.TitleParams | UndefinedType

NO_ROWS = alt.InlineData(values=[])
BACKGROUND = alt.InlineData(values=[], name="behind")  # of a layer that each panel repeats


@dataclass(frozen=True, slots=True)
class Subplot:
    """A chart without rows, and its rows; every panel draws the `background_rows`."""

    chart: Chart
    rows: list[ChartRow]
    background_rows: list[ChartRow] = field(default_factory=list)


def assemble_chart(
    subplots: Sequence[Subplot], title: alt.TitleParams, n_columns: int = 1
) -> AltairChart:
    """Return a subplot, or several that share legends, below a title."""
    if len(subplots) == 1:
        subplots[0].chart.title = title
        return _attach_rows(subplots[0].chart, subplots[0])
    concatenation = alt.concat(
        *(subplot.chart for subplot in subplots), columns=n_columns, title=title
    )
    concatenation.data = alt.Undefined
    for chart, subplot in zip(concatenation.concat, subplots, strict=True):
        _attach_rows(chart, subplot)  # type: ignore[arg-type]  # alt.concat copies its charts
    return concatenation


def _attach_rows(chart: Chart, subplot: Subplot) -> Chart:
    """Give a chart its rows; last, because Altair reads every value whenever it copies them."""
    chart.data = _inline_data(subplot.rows)
    for layer in getattr(chart, "spec", chart).layer:
        if getattr(layer.data, "name", None) == BACKGROUND.name:
            layer.data = _inline_data(subplot.background_rows)
    return chart


def _inline_data(rows: list[ChartRow]) -> alt.InlineData:
    data = alt.InlineData(values=[])
    data.values = rows
    return data
