"""Forest plots: a row for each segment, with a point and its confidence interval."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import altair as alt
from altair.utils.schemapi import UndefinedType

from balframe._text import sentence
from balframe.charts.facets import (
    NO_ROWS,
    SINGLE_ROW,
    AltairChart,
    Chart,
    Subplot,
    Title,
    assemble_chart,
)
from balframe.charts.options import ChartMetric, shows_numbers
from balframe.charts.rows import ChartData, SortOption, panel_columns, rank_segments
from balframe.charts.style import (
    BLUE,
    COUNT_FORMAT,
    GREY,
    INK,
    LABEL_LIMIT,
    RULE,
    SCORE_FORMAT,
    VERMILLION,
    TooltipField,
    axis,
    heading,
    legend,
    number_tooltips,
    segment_tooltips,
)

_PAGE, _SIDE, _GAP = 700, 100, 16  # pixels: of a page, its legends, and between two panels
_COLUMNS, _NARROWEST, _WIDEST = 3, 110, 440  # panels side by side, and the pixels of a panel
_FEW = 30
_LETTER = 6  # pixels of a letter of a name
_ESTIMATE, _NUMBERS_WIDTH, _N = 8, 120, 38  # pixels before the numbers, of these, and of rows
_LINE = 13  # pixels of a further line of a name
_AND, _BREAK = " and ", "\\n"
_SCORE = ("estimate", "lower", "upper")


@dataclass(frozen=True, slots=True)
class ReferenceLine:
    """A vertical line at the value that a field of the rows has in each panel."""

    field: str
    name: str
    dash: tuple[int, int]


@dataclass(frozen=True, slots=True)
class ForestPlot:
    """What a forest plot shows of `drawn`: `estimate` with `lower` and `upper`, and a tick at `at`.

    The area of a point is the number of rows, `n`; it is hollow below `min_support`. Where the
    estimate is undefined, `note` says so. With `marks`, points whose `mark` is the first of the two
    are diamonds of another colour. `n_beside` panels lie side by side. `title_of_numbers` stands
    above the numbers, which are the fields `numbers_of`: an estimate and its limits. Names that
    are `folded` have a line for each of their parts joined by "and". Panels below each other have
    one width, one axis and one legend if each is given all that is drawn, as `together`.
    """

    data: ChartData
    segments: Sequence[str]
    x_title: str | None
    lines: Sequence[ReferenceLine]
    tooltip: Sequence[alt.Tooltip]
    min_support: int
    has_numbers: bool
    mark_names: tuple[str, str] | None = None
    n_columns: int = 1
    numbers_title: str = "estimate"
    has_segment_labels: bool = True
    tick_field: str | None = None
    number_fields: tuple[str, str, str] = _SCORE
    wraps_labels: bool = False
    shared_data: Sequence[ChartData] = ()

    @property
    def _n_lines(self) -> int:
        """Count the lines of the name that has most."""
        return 1 + max(name.count(_AND) for name in self.segments) if self.wraps_labels else 1

    @property
    def _all(self) -> Sequence[ChartData]:
        """List what has the same width, axis and legend."""
        return self.shared_data or [self.data]

    @property
    def _domain(self) -> Sequence[float] | UndefinedType:
        """Choose the ends of an axis that several panels share; Vega does for one."""
        if not self.shared_data:
            return alt.Undefined
        fields = ("estimate", "lower", "upper", *(line.field for line in self.lines))
        drawn = [row[field] for one in self.shared_data for row in one.rows for field in fields]
        known = [value for value in drawn if value is not None]
        low, high = min(known), max(known)
        return (low, high) if low < high else (low - 0.5, high + 0.5)

    @property
    def is_dense(self) -> bool:
        """Tell whether the rows lie close together."""
        return len(self.segments) > _FEW

    @property
    def width(self) -> int:
        """Choose the pixels of a panel."""
        names = [name for one in self._all for name in one.segments]
        room = _room(names, self.has_numbers) // self.n_columns
        return min(_WIDEST, max(_NARROWEST, room - _beside(self.has_numbers)))

    def draw(self, title: Title = alt.Undefined) -> Chart:
        """Draw it, without its rows."""
        layers = [*self._lines(), *self._ticks(), self._limits(), *self._points(), self._notes()]
        if self.has_numbers:
            layers += self._numbers()
        step = alt.Step((15 if self.is_dense else 22) + _LINE * (self._n_lines - 1))
        drawn = alt.LayerChart(layer=layers).properties(width=self.width, height=step)
        if self.data.panel_title is None:
            drawn.title = title
            return drawn
        panel = alt.Facet("panel:N", title=self.data.panel_title, sort=self.data.panels)
        return drawn.facet(panel, data=NO_ROWS, columns=self.n_columns, title=title)

    def _base(self) -> alt.Chart:
        names = axis(
            labels=self.has_segment_labels,
            labelLimit=LABEL_LIMIT,
            labelFontSize=10 if self.is_dense else 11,
            ticks=False,
            domain=False,
            labelPadding=7,
            **(_in_lines(self._n_lines) if self._n_lines > 1 else {}),
        )
        chart = alt.Chart()
        return chart.encode(y=alt.Y("segment:N", sort=[*self.segments], title=None, axis=names))

    def _legend(self, **options: Any) -> alt.Legend:  # noqa: ANN401 (of Altair)
        """Leave the right side to the numbers."""
        return legend(
            **({"orient": "bottom", "titleOrient": "left"} if self.has_numbers else {}), **options
        )

    def _lines(self) -> Iterator[alt.Chart]:
        names, dashes = [one.name for one in self.lines], [[*one.dash] for one in self.lines]
        scale = alt.Scale(domain=names, range=dashes)
        dash = alt.StrokeDash("line:N", title=None, scale=scale, legend=self._legend())
        for line in self.lines:
            named = alt.Chart().transform_calculate(line=repr(line.name))
            yield named.mark_rule(color=RULE, strokeWidth=1.5).encode(
                x=f"min({line.field}):Q", strokeDash=dash
            )

    def _color(self) -> alt.Color | alt.ColorValue:
        if self.mark_names is None:
            return alt.ColorValue(BLUE)
        scale = alt.Scale(domain=[*self.mark_names], range=[VERMILLION, GREY])
        return alt.Color("mark:N", title=None, scale=scale, legend=self._legend())

    def _shape(self) -> alt.Shape | alt.ShapeValue:
        if self.mark_names is None:
            return alt.ShapeValue("circle")
        scale = alt.Scale(domain=[*self.mark_names], range=["diamond", "circle"])
        return alt.Shape("mark:N", title=None, scale=scale, legend=self._legend())

    def _ticks(self) -> Iterator[alt.Chart]:
        if self.tick_field is not None:
            mark = self._base().mark_tick(color=INK, thickness=2, size=12)
            yield mark.encode(x=f"{self.tick_field}:Q", tooltip=[*self.tooltip])

    def _limits(self) -> alt.Chart:
        known = self._base().transform_filter("isValid(datum.lower) && isValid(datum.upper)")
        rules: alt.Chart = known.mark_rule(strokeWidth=1.5 if self.is_dense else 2).encode(
            x="lower:Q", x2="upper:Q", color=self._color(), tooltip=[*self.tooltip]
        )
        return rules

    def _points(self) -> Iterator[alt.Chart]:
        size = alt.Size(
            "n:Q",
            title="rows",
            scale=alt.Scale(range=[20, 100] if self.is_dense else [36, 180]),
            legend=self._legend(
                values=_round(self._all), format=COUNT_FORMAT, symbolFillColor=GREY
            ),
        )
        base = self._base().encode(
            x=alt.X(
                "estimate:Q",
                title=self.x_title,
                scale=alt.Scale(zero=False, padding=6, domain=self._domain),
                axis=axis(tickCount=max(3, self.width // 50)),
            ),
            size=size,
            color=self._color(),
            shape=self._shape(),
            tooltip=[*self.tooltip],
        )
        is_small = f"datum.min_support < {self.min_support}"
        small = {row["min_support"] < self.min_support for row in self.data.rows}
        if False in small:
            large = base.transform_filter(f"!({is_small})") if True in small else base
            yield large.mark_point(filled=True, opacity=1)
        if True in small:
            hollow = base.transform_filter(is_small)
            yield hollow.mark_point(filled=False, opacity=1, strokeWidth=1.5)

    def _notes(self) -> alt.Chart:
        undefined = self._base().transform_filter("isValid(datum.note)")
        texts: alt.Chart = undefined.mark_text(align="left", color=INK, fontStyle="italic").encode(
            x=alt.value(4), text="note:N", tooltip=[*self.tooltip]
        )
        return texts

    def _numbers(self) -> Iterator[alt.Chart]:
        """Write estimates and rows at the right side, below headings."""
        base = self._base().transform_calculate(numbers=_written(self.number_fields))
        once = alt.Chart(SINGLE_ROW).encode(y=alt.value(-8))
        right = self.width + _beside(self.has_numbers) - _GAP
        at, at_n = alt.value(self.width + _ESTIMATE), alt.value(right)
        n = alt.Text("n:Q", format=COUNT_FORMAT)
        yield base.mark_text(align="left", color=INK).encode(x=at, text="numbers:N")
        yield base.mark_text(align="right", color=INK).encode(x=at_n, text=n)
        for text, x, align in ((self.numbers_title, at, "left"), ("rows", at_n, "right")):
            head = once.mark_text(align=align, color=INK, fontWeight="bold")  # type: ignore[arg-type]
            yield head.encode(x=x, text=alt.value(text))


def _in_lines(most: int) -> dict[str, Any]:
    """Break names behind "and", in the middle of a row that has room for so many lines."""
    parts = f"split(datum.label, '{_AND}')"
    above = f"substring('{_BREAK * most}', 0, floor(({most} - length({parts})) / 2))"
    names = f"{above} + join({parts}, '{_AND.rstrip()}{_BREAK}')"
    offset = -_LINE * (most - 1) / 2
    return {"labelExpr": f"split({names}, '{_BREAK}')", "labelOffset": offset}


def _written(fields: tuple[str, str, str]) -> str:
    """Write an estimate and its limits in Vega's language, where they are known."""
    estimate, lower, upper = (f"format(datum.{name}, '{SCORE_FORMAT}')" for name in fields)
    has_none, *has_no_limit = (f"!isValid(datum.{name})" for name in fields)
    limits = f"{estimate} + ' [' + {lower} + ', ' + {upper} + ']'"
    return f"{has_none} ? '' : {' || '.join(has_no_limit)} ? {estimate} : {limits}"


def forest_columns(n_panels: int, order: Sequence[str], numbers: bool) -> int:
    """Choose how many panels lie side by side, so that a page has room for them."""
    most = _room(order, numbers) // (_NARROWEST + _beside(numbers))
    return panel_columns(n_panels, max(1, min(_COLUMNS, most)))


def _room(order: Sequence[str], numbers: bool) -> int:
    """Subtract from the width of a page the names of the segments, and legends at the side."""
    return _PAGE - min(LABEL_LIMIT, _LETTER * max(map(len, order))) - (0 if numbers else _SIDE)


def _beside(numbers: bool) -> int:
    """Count the pixels at the right of a panel: those of its numbers, and up to the next."""
    return _GAP + (_ESTIMATE + _NUMBERS_WIDTH + _N if numbers else 0)


def _round(drawn: Sequence[ChartData]) -> list[int]:
    """Choose up to three round numbers of rows for the legend, within what there is."""
    numbers = [row["n"] for one in drawn for row in one.rows]
    scales = (10**power for power in range(len(str(max(numbers)))))
    inside = [
        one * scale
        for scale in scales
        for one in (1, 2, 5)
        if min(numbers) <= one * scale <= max(numbers)
    ]
    ends = [inside[0], inside[len(inside) // 2], inside[-1]] if inside else [max(numbers)]
    return sorted(set(ends))


# Forest plots of one metric or of several, with the segments in one order.


@dataclass(frozen=True, slots=True)
class ForestOptions:
    """Which rows there are, in which order, and what stands beside them."""

    sort: SortOption
    numbers: bool | None
    min_support: int
    max_segments: int


@dataclass(frozen=True, slots=True)
class ForestPanel:
    """A metric, its rows, and its words: the titles of the axis and of tooltips."""

    metric: ChartMetric
    data: ChartData
    x_title: str
    fields: list[TooltipField]


def forest_plots(
    panels: Sequence[ForestPanel],
    options: ForestOptions,
    title: str,
    below: Sequence[str],
    lines: Sequence[ReferenceLine],
    numbers_title: str,
    mark_names: tuple[str, str] | None = None,
) -> AltairChart:
    """Draw a forest plot of each metric, with the segments in the order of the first."""
    first, is_single = panels[0], len(panels) == 1
    words = "" if is_single else f" in {first.metric.title}"
    order, left_out = rank_segments(
        first.data, "estimate", options.max_segments, words, options.sort
    )
    drawn = [one.data.select(order) for one in panels]
    every_row = [row for one in drawn for row in one.rows]
    lines = [line for line in lines if any(row[line.field] is not None for row in every_row)]
    has = shows_numbers(options.numbers, len(every_row))
    is_faceted = first.data.panel_title is not None
    n_panels = len(first.data.panels) if is_faceted else len(panels)
    wide = forest_columns(n_panels, order, has)
    n_columns = 1 if is_faceted else wide
    parts = [
        Subplot(
            ForestPlot(
                of_metric,
                order,
                one.x_title if is_single else None,
                lines,
                [*segment_tooltips(of_metric), *number_tooltips(one.fields)],
                options.min_support,
                has,
                mark_names,
                wide,
                numbers_title,
                has_segment_labels=at % n_columns == 0,
            ).draw(alt.Undefined if is_single else _of_panel(one)),
            of_metric.rows,
        )
        for at, (one, of_metric) in enumerate(zip(panels, drawn, strict=True))
    ]
    known = [row["min_support"] for row in every_row if row["estimate"] is not None]
    is_any_small = min(known, default=options.min_support) < options.min_support
    hollow = [f"Hollow: fewer than {options.min_support} rows of a label"] if is_any_small else []
    return assemble_chart(parts, heading(title, [*below, *hollow, *left_out]), n_columns)


def _of_panel(one: ForestPanel) -> alt.TitleParams:
    return alt.TitleParams(sentence(one.metric.title), anchor="start", fontSize=12, offset=8)
