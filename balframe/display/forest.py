"""Forest plots: a row for each segment, with a point and its limits."""

from collections.abc import Sequence
from dataclasses import dataclass

import altair as alt

from balframe.display.annotations import NO_ROWS, with_rows
from balframe.display.segments import Drawn, columns

BLUE, VERMILLION, GREY, DARK = "#0072B2", "#D55E00", "#8c8c8c", "#333333"
_COLUMNS = 3
_WIDTHS = {1: 460, 2: 300}  # pixels, by the number of panels
_FEW = 30


@dataclass(frozen=True, slots=True)
class Line:
    """A vertical line at the value that a field of the rows has in each panel."""

    field: str
    name: str
    dash: tuple[int, int]


def forest(
    drawn: Drawn,
    order: Sequence[str],
    title: alt.TitleParams,
    x_title: str,
    lines: Sequence[Line],
    tooltip: Sequence[alt.Tooltip],
    marks: tuple[str, str] | None = None,
) -> alt.LayerChart | alt.FacetChart:
    """Draw a row for each segment in the order given, `estimate` with `lower` and `upper`.

    The area of a point is the number of rows, `n`. Where the estimate is undefined, `note` says so.
    With `marks`, points whose `mark` is the first of the two are diamonds of another colour.
    """
    lines = [line for line in lines if any(row[line.field] is not None for row in drawn.rows)]
    many = len(order) > _FEW
    n_panels = len(drawn.panels)
    width = _WIDTHS.get(n_panels, 220)
    names = alt.Axis(
        labelLimit=260, labelFontSize=10 if many else 11, ticks=False, domain=False, labelPadding=7
    )
    y = alt.Y("segment:N", sort=list(order), title=None, axis=names)
    values = alt.Axis(tickCount=width // 50)
    x = alt.X("estimate:Q", title=x_title, scale=alt.Scale(zero=False), axis=values)
    base = alt.Chart().encode(y=y)
    dashes = alt.StrokeDash(
        "line:N",
        title=None,
        scale=alt.Scale(
            domain=[line.name for line in lines], range=[list(line.dash) for line in lines]
        ),
    )
    drawn_lines = [
        alt.Chart()
        .transform_calculate(line=repr(line.name))
        .mark_rule(color=DARK)
        .encode(x=f"min({line.field}):Q", strokeDash=dashes)
        for line in lines
    ]
    color: alt.Color | alt.ColorValue = alt.ColorValue(BLUE)
    shape: alt.Shape | alt.ShapeValue = alt.ShapeValue("circle")
    if marks is not None:
        colors = alt.Scale(domain=list(marks), range=[VERMILLION, GREY])
        shapes = alt.Scale(domain=list(marks), range=["diamond", "circle"])
        color = alt.Color("mark:N", title=None, scale=colors)
        shape = alt.Shape("mark:N", title=None, scale=shapes)
    limits = (
        base.transform_filter("isValid(datum.lower) && isValid(datum.upper)")
        .mark_rule(strokeWidth=1.5 if many else 2)
        .encode(x="lower:Q", x2="upper:Q", color=color, tooltip=list(tooltip))
    )
    size = alt.Size(
        "n:Q",
        title="rows",
        scale=alt.Scale(range=[12, 100] if many else [16, 180]),
        legend=alt.Legend(values=_round(drawn), format=",d"),
    )
    points = base.mark_point(filled=True, opacity=1).encode(
        x=x, size=size, color=color, shape=shape, tooltip=list(tooltip)
    )
    notes = (
        base.transform_filter("isValid(datum.note)")
        .mark_text(align="left", color=GREY, fontStyle="italic")
        .encode(x=alt.value(4), text="note:N", tooltip=list(tooltip))
    )
    layers = alt.LayerChart(layer=[*drawn_lines, limits, points, notes])
    step = alt.Step(15 if many else 22)
    if drawn.panels_by is None:
        return with_rows(layers.properties(width=width, height=step, title=title), drawn.rows)
    panel = alt.Facet("panel:N", title=drawn.panels_by, sort=drawn.panels)
    facets = layers.properties(width=width, height=step).facet(
        panel, data=NO_ROWS, columns=columns(n_panels, _COLUMNS), title=title
    )
    return with_rows(facets, drawn.rows)


def _round(drawn: Drawn) -> list[int]:
    """Choose up to three round numbers of rows for the legend, within what there is."""
    numbers = [row["n"] for row in drawn.rows]
    scales = (10**power for power in range(len(str(max(numbers)))))
    inside = [
        one * scale
        for scale in scales
        for one in (1, 2, 5)
        if min(numbers) <= one * scale <= max(numbers)
    ]
    ends = [inside[0], inside[len(inside) // 2], inside[-1]] if inside else [max(numbers)]
    return sorted(set(ends))
