"""Forest plots of one metric or of several, with the segments in one order."""

from collections.abc import Sequence
from dataclasses import dataclass

import altair as alt

from balframe._text import sentence
from balframe.charts.annotations import Field, heading, numbers, place
from balframe.charts.facets import Charts, Part, shown
from balframe.charts.forest_plot import Forest, Line, n_beside
from balframe.charts.options import DrawnMetric, has_numbers
from balframe.charts.rows import Drawn, Sort, ranked


@dataclass(frozen=True, slots=True)
class Rows:
    """Which rows there are, in which order, and what stands beside them."""

    sort: Sort
    numbers: bool | None
    min_support: int
    most: int


@dataclass(frozen=True, slots=True)
class Shown:
    """A metric, its rows, and its words: the titles of the axis and of tooltips."""

    metric: DrawnMetric
    drawn: Drawn
    x_title: str
    fields: list[Field]


def forests(
    plots: Sequence[Shown],
    rows: Rows,
    title: str,
    below: Sequence[str],
    lines: Sequence[Line],
    title_of_numbers: str,
    marks: tuple[str, str] | None = None,
) -> Charts:
    """Draw a forest plot of each metric, with the segments in the order of the first."""
    first, is_single = plots[0], len(plots) == 1
    words = "" if is_single else f" in {first.metric.title}"
    order, left_out = ranked(first.drawn, "estimate", rows.most, words, rows.sort)
    drawn = [one.drawn.of(order) for one in plots]
    every_row = [row for one in drawn for row in one.rows]
    lines = [line for line in lines if any(row[line.field] is not None for row in every_row)]
    has = has_numbers(rows.numbers, len(every_row))
    is_faceted = first.drawn.panels_by is not None
    n_panels = len(first.drawn.panels) if is_faceted else len(plots)
    wide = n_beside(n_panels, order, has)
    n_columns = 1 if is_faceted else wide
    parts = [
        Part(
            Forest(
                of_metric,
                order,
                one.x_title if is_single else None,
                lines,
                [*place(of_metric), *numbers(one.fields)],
                rows.min_support,
                has,
                marks,
                wide,
                title_of_numbers,
                is_first=at % n_columns == 0,
            ).chart(alt.Undefined if is_single else _of_panel(one)),
            of_metric.rows,
        )
        for at, (one, of_metric) in enumerate(zip(plots, drawn, strict=True))
    ]
    known = [row["min_support"] for row in every_row if row["estimate"] is not None]
    is_any_small = min(known, default=rows.min_support) < rows.min_support
    hollow = [f"Hollow: fewer than {rows.min_support} rows of a label"] if is_any_small else []
    return shown(parts, heading(title, [*below, *hollow, *left_out]), n_columns)


def _of_panel(one: Shown) -> alt.TitleParams:
    return alt.TitleParams(sentence(one.metric.title), anchor="start", fontSize=12, offset=8)
