"""Forest plots: a row for each segment, with a point and its confidence interval."""

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import altair as alt
from altair.utils.schemapi import UndefinedType

from balframe._text import capitalize_first
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
    LINE_COLORS,
    RULE,
    SCORE_FORMAT,
    TooltipField,
    axis,
    heading,
    legend,
    number_tooltips,
    panel_heading,
    segment_tooltips,
    x_pixels,
    y_pixels,
)

# widths in pixels
_PAGE_WIDTH, _LEGEND_WIDTH, _PANEL_SPACING = 700, 100, 16
_MAX_COLUMNS, _MIN_WIDTH, _MAX_WIDTH = 3, 110, 440  # panels side by side, and width of each
_LETTER_WIDTH = 6  # of a segment's label
_NUMBERS_PADDING, _NUMBERS_WIDTH, _N_WIDTH = 8, 120, 38  # of estimates, and of numbers of rows
_LINE_HEIGHT = 13  # pixels of a further line of a label
_MAX_SPACED_ROWS = 30  # more are dense
_AND, _LINE_BREAK = " and ", "\\n"
_ESTIMATE_FIELDS = ("estimate", "lower", "upper")


_OVERLAY_SHAPES = ("circle", "square", "triangle-up", "diamond")
_POINT_SIZE = 100  # if the number of rows is unknown


class Mark(NamedTuple):
    """The colour and the shape of the points of this name."""

    name: str
    color: str
    shape: str


@dataclass(frozen=True, slots=True)
class ReferenceLine:
    """A vertical line at the value that a field of the rows has in each panel.

    Where panels are overlaid, it has the colour of the points of each if it `differs`.
    """

    field: str
    name: str
    dash: tuple[int, int]
    differs: bool = False


@dataclass(frozen=True, slots=True)
class ForestPlot:
    """A forest plot of `data`: a row for each segment, with `estimate`, `lower` and `upper`.

    The area of a point is the number of rows, `n`; it is hollow below `min_support`. Where the
    estimate is undefined, the text `note` is drawn. `tick_field` is the field of a tick. `marks`
    are the colours and shapes of points by their `mark`, or by their panel if the panels are
    overlaid in one. `n_columns` panels lie side by side. `number_fields` are the estimate and the
    limits that are written as numbers, below `numbers_title`. `wraps_labels` breaks labels after
    each "and". Panels below each other have one width, one axis and one legend if each has the data
    of all as `shared_data`.
    """

    data: ChartData
    segments: Sequence[str]
    x_title: str | None
    lines: Sequence[ReferenceLine]
    tooltip: Sequence[alt.Tooltip]
    min_support: int
    has_numbers: bool
    marks: Sequence[Mark] = ()
    is_overlaid: bool = False
    n_columns: int = 1
    numbers_title: str = "estimate"
    has_segment_labels: bool = True
    tick_field: str | None = None
    number_fields: tuple[str, str, str] = _ESTIMATE_FIELDS
    wraps_labels: bool = False
    shared_data: Sequence[ChartData] = ()

    @property
    def _n_label_lines(self) -> int:
        """Number of lines of the longest label."""
        return 1 + max(name.count(_AND) for name in self.segments) if self.wraps_labels else 1

    @property
    def _panel_data(self) -> Sequence[ChartData]:
        """Data of all panels with the same width, axis and legend."""
        return self.shared_data or [self.data]

    @property
    def _shared_domain(self) -> Sequence[float] | UndefinedType:
        """Ends of an axis that several panels share; Vega chooses those of a single panel."""
        if not self.shared_data:
            return alt.Undefined
        fields = ("estimate", "lower", "upper", *(line.field for line in self.lines))
        rows = [row for data in self.shared_data for row in data.rows]
        values = [row[field] for row in rows for field in fields if row[field] is not None]
        low, high = min(values), max(values)
        return (low, high) if low < high else (low - 0.5, high + 0.5)

    @property
    def is_dense(self) -> bool:
        """Whether the rows lie close together."""
        return len(self.segments) > _MAX_SPACED_ROWS

    @property
    def width(self) -> int:
        """Width of a panel in pixels."""
        segments = [name for data in self._panel_data for name in data.segments]
        available = _available_width(segments, self.has_numbers) // self.n_columns
        return min(_MAX_WIDTH, max(_MIN_WIDTH, available - _right_margin(self.has_numbers)))

    def draw(self, title: Title = alt.Undefined) -> Chart:
        """Return the chart, without its rows."""
        layers = [
            *self._reference_lines(),
            *self._tick_marks(),
            self._interval_rules(),
            *self._point_marks(),
            self._note_texts(),
        ]
        if self.has_numbers:
            layers += self._number_texts()
        height = (15 if self.is_dense else 22) + _LINE_HEIGHT * (self._n_label_lines - 1)
        step = alt.Step(height)
        if self.is_overlaid:
            step = alt.Step(max(12, height / len(self.marks)), **{"for": "offset"})
        chart = alt.LayerChart(layer=layers).properties(width=self.width, height=step)
        if self.data.panel_title is None or self.is_overlaid:
            chart.title = title
            return chart
        facet = alt.Facet("panel:N", title=self.data.panel_title, sort=self.data.panels)
        return chart.facet(facet, data=NO_ROWS, columns=self.n_columns, title=title)

    def _row_base(self) -> alt.Chart:
        labels = axis(
            labels=self.has_segment_labels,
            labelLimit=LABEL_LIMIT,
            labelFontSize=10 if self.is_dense else 11,
            ticks=False,
            domain=False,
            labelPadding=7,
            **(_wrapped_labels(self._n_label_lines) if self._n_label_lines > 1 else {}),
        )
        options: dict[str, Any] = {"sort": [*self.segments], "title": None, "axis": labels}
        if not self.is_overlaid:
            return alt.Chart().encode(y=alt.Y("segment:N", **options))
        y = alt.Y("segment:N", scale=alt.Scale(paddingInner=0.3), **options)
        return alt.Chart().encode(y=y, yOffset=alt.YOffset("panel:N", sort=self._mark_names))

    def _legend(self, **options: Any) -> alt.Legend:  # noqa: ANN401 (of Altair)
        """Return a legend, below the panels if the numbers are at the right side."""
        return legend(
            **({"orient": "bottom", "titleOrient": "left"} if self.has_numbers else {}), **options
        )

    def _reference_lines(self) -> Iterator[alt.Chart]:
        names, dashes = [line.name for line in self.lines], [[*line.dash] for line in self.lines]
        scale = alt.Scale(domain=names, range=dashes)
        dash = alt.StrokeDash("line:N", title=None, scale=scale, legend=self._legend())
        for line in self.lines:
            named = alt.Chart().transform_calculate(line=json.dumps(line.name))
            rule = named.mark_rule(color=RULE, strokeWidth=1.5).encode(
                x=alt.X(f"min({line.field}):Q"), strokeDash=dash
            )
            yield rule.encode(color=self._color()) if line.differs else rule

    @property
    def _mark_names(self) -> list[str]:
        return [mark.name for mark in self.marks]

    @property
    def _mark_field(self) -> str:
        return "panel:N" if self.is_overlaid else "mark:N"

    @property
    def _mark_title(self) -> str | None:
        return self.data.panel_title if self.is_overlaid else None

    def _color(self) -> alt.Color | alt.ColorValue:
        if not self.marks:
            return alt.ColorValue(BLUE)
        scale = alt.Scale(domain=self._mark_names, range=[mark.color for mark in self.marks])
        legend = self._legend()
        return alt.Color(self._mark_field, title=self._mark_title, scale=scale, legend=legend)

    def _shape(self) -> alt.Shape | alt.ShapeValue:
        if not self.marks:
            return alt.ShapeValue("circle")
        scale = alt.Scale(domain=self._mark_names, range=[mark.shape for mark in self.marks])
        legend = self._legend()
        return alt.Shape(self._mark_field, title=self._mark_title, scale=scale, legend=legend)

    def _tick_marks(self) -> Iterator[alt.Chart]:
        if self.tick_field is not None:
            mark = self._row_base().mark_tick(color=INK, thickness=2, size=12)
            yield mark.encode(x=alt.X(f"{self.tick_field}:Q"), tooltip=[*self.tooltip])

    def _interval_rules(self) -> alt.Chart:
        defined = self._row_base().transform_filter("isValid(datum.lower) && isValid(datum.upper)")
        rules: alt.Chart = defined.mark_rule(strokeWidth=1.5 if self.is_dense else 2).encode(
            x=alt.X("lower:Q"),
            x2=alt.X2("upper:Q"),
            color=self._color(),
            tooltip=[*self.tooltip],
        )
        return rules

    def _point_marks(self) -> Iterator[alt.Chart]:
        size: alt.Size | alt.SizeValue = alt.SizeValue(_POINT_SIZE)
        if self._has_sizes:
            size = self._size()
        base = self._row_base().encode(
            x=alt.X(
                "estimate:Q",
                title=self.x_title,
                scale=alt.Scale(zero=False, padding=6, domain=self._shared_domain),
                axis=axis(tickCount=max(3, self.width // 50)),
            ),
            size=size,
            color=self._color(),
            shape=self._shape(),
            tooltip=[*self.tooltip],
        )
        is_small = f"datum.min_support < {self.min_support}"
        are_small = {row["min_support"] < self.min_support for row in self.data.rows}
        if False in are_small:
            large = base.transform_filter(f"!({is_small})") if True in are_small else base
            yield large.mark_point(filled=True, opacity=1)
        if True in are_small:
            hollow = base.transform_filter(is_small)
            yield hollow.mark_point(filled=False, opacity=1, strokeWidth=1.5)

    @property
    def _has_sizes(self) -> bool:
        return all("n" in row for row in self.data.rows)

    def _size(self) -> alt.Size:
        return alt.Size(
            "n:Q",
            title="rows",
            scale=alt.Scale(range=[20, 100] if self.is_dense else [36, 180]),
            legend=self._legend(
                values=_legend_values(self._panel_data), format=COUNT_FORMAT, symbolFillColor=GREY
            ),
        )

    def _note_texts(self) -> alt.Chart:
        undefined = self._row_base().transform_filter("isValid(datum.note)")
        texts: alt.Chart = undefined.mark_text(align="left", color=INK, fontStyle="italic").encode(
            x=x_pixels(4), text=alt.Text("note:N"), tooltip=[*self.tooltip]
        )
        return texts

    def _number_texts(self) -> Iterator[alt.Chart]:
        """Yield the texts at the right side: estimates and numbers of rows, below headings."""
        base = self._row_base().transform_calculate(numbers=_numbers_expression(self.number_fields))
        single = alt.Chart(SINGLE_ROW).encode(y=y_pixels(-8))
        right = self.width + _right_margin(self.has_numbers) - _PANEL_SPACING
        numbers_x, n_x = x_pixels(self.width + _NUMBERS_PADDING), x_pixels(right)
        n = alt.Text("n:Q", format=COUNT_FORMAT)
        numbers = alt.Text("numbers:N")
        yield base.mark_text(align="left", color=INK).encode(x=numbers_x, text=numbers)
        heads = [(self.numbers_title, numbers_x, "left")]
        if self._has_sizes:
            yield base.mark_text(align="right", color=INK).encode(x=n_x, text=n)
            heads.append(("rows", n_x, "right"))
        for text, x, align in heads:
            head = single.mark_text(align=align, color=INK, fontWeight="bold")  # type: ignore[arg-type]
            yield head.encode(x=x, text=alt.TextValue(text))


def _wrapped_labels(n_lines: int) -> dict[str, Any]:
    """Return the axis options that break labels after "and" and centre them in `n_lines` lines."""
    parts = f"split(datum.label, '{_AND}')"
    above = f"substring('{_LINE_BREAK * n_lines}', 0, floor(({n_lines} - length({parts})) / 2))"
    names = f"{above} + join({parts}, '{_AND.rstrip()}{_LINE_BREAK}')"
    offset = -_LINE_HEIGHT * (n_lines - 1) / 2
    return {"labelExpr": f"split({names}, '{_LINE_BREAK}')", "labelOffset": offset}


def _numbers_expression(fields: tuple[str, str, str]) -> str:
    """Return the Vega expression of an estimate and its limits, where they are defined."""
    estimate, lower, upper = (f"format(datum.{name}, '{SCORE_FORMAT}')" for name in fields)
    has_none, *has_no_limit = (f"!isValid(datum.{name})" for name in fields)
    limits = f"{estimate} + ' [' + {lower} + ', ' + {upper} + ']'"
    return f"{has_none} ? '' : {' || '.join(has_no_limit)} ? {estimate} : {limits}"


def forest_columns(n_panels: int, segments: Sequence[str], has_numbers: bool) -> int:
    """Return how many panels lie side by side, so that they fit on a page."""
    n_fitting = _available_width(segments, has_numbers) // (_MIN_WIDTH + _right_margin(has_numbers))
    return panel_columns(n_panels, max(1, min(_MAX_COLUMNS, n_fitting)))


def _available_width(segments: Sequence[str], has_numbers: bool) -> int:
    """Return the width of a page, less the labels of segments and the legends at the side."""
    return (
        _PAGE_WIDTH
        - min(LABEL_LIMIT, _LETTER_WIDTH * max(map(len, segments)))
        - (0 if has_numbers else _LEGEND_WIDTH)
    )


def _right_margin(has_numbers: bool) -> int:
    """Return the pixels at the right of a panel: its numbers, and the spacing to the next panel."""
    return _PANEL_SPACING + (_NUMBERS_PADDING + _NUMBERS_WIDTH + _N_WIDTH if has_numbers else 0)


def _legend_values(panels: Sequence[ChartData]) -> list[int]:
    """Return up to three round numbers of rows for the legend, within those of the data."""
    n = [row["n"] for data in panels for row in data.rows]
    scales = (10**power for power in range(len(str(max(n)))))
    inside = [
        digit * scale
        for scale in scales
        for digit in (1, 2, 5)
        if min(n) <= digit * scale <= max(n)
    ]
    values = [inside[0], inside[len(inside) // 2], inside[-1]] if inside else [max(n)]
    return sorted(set(values))


# Forest plots of one metric or of several, with the segments in one order.


@dataclass(frozen=True, slots=True)
class ForestOptions:
    """The order and the maximum number of segments, and how they are drawn."""

    sort: SortOption
    numbers: bool | None
    min_support: int
    max_segments: int


@dataclass(frozen=True, slots=True)
class ForestPanel:
    """A metric with its data, the title of its axis, and the fields of its tooltips."""

    metric: ChartMetric
    data: ChartData
    x_title: str
    fields: list[TooltipField]


def forest_plots(
    panels: Sequence[ForestPanel],
    options: ForestOptions,
    title: str,
    subtitles: Sequence[str],
    lines: Sequence[ReferenceLine],
    numbers_title: str,
    marks: Sequence[Mark] = (),
    *,
    overlays: bool = False,
) -> AltairChart:
    """Return a forest plot of each metric, with the segments in the order of the first.

    If it `overlays`, up to four panels of a metric are drawn in one.
    """
    first, is_single = panels[0], len(panels) == 1
    is_overlaid = overlays and 1 < len(first.data.panels) <= len(LINE_COLORS)
    if is_overlaid:
        styles = zip(first.data.panels, LINE_COLORS, _OVERLAY_SHAPES, strict=False)
        marks = [Mark(*style) for style in styles]
    phrase = "" if is_single else f" in {first.metric.title}"
    order, left_out = rank_segments(
        first.data, "estimate", options.max_segments, phrase, options.sort
    )
    panel_data = [panel.data.select(order) for panel in panels]
    rows = [row for data in panel_data for row in data.rows]
    lines = [line for line in lines if any(row[line.field] is not None for row in rows)]
    has_numbers = shows_numbers(options.numbers, len(rows))
    is_faceted = first.data.panel_title is not None and not is_overlaid
    n_panels = len(first.data.panels) if is_faceted else len(panels)
    n_columns = forest_columns(n_panels, order, has_numbers)
    n_subplot_columns = 1 if is_faceted else n_columns
    subplots = [
        Subplot(
            ForestPlot(
                data,
                order,
                panel.x_title if is_single else None,
                lines,
                [*segment_tooltips(data), *number_tooltips(panel.fields)],
                options.min_support,
                has_numbers,
                marks,
                is_overlaid,
                n_columns,
                numbers_title,
                has_segment_labels=position % n_subplot_columns == 0,
            ).draw(
                alt.Undefined if is_single else panel_heading(capitalize_first(panel.metric.title))
            ),
            data.rows,
        )
        for position, (panel, data) in enumerate(zip(panels, panel_data, strict=True))
    ]
    supports = [row["min_support"] for row in rows if row["estimate"] is not None]
    has_small = min(supports, default=options.min_support) < options.min_support
    hollow = [f"Hollow: fewer than {options.min_support} rows of a label"] if has_small else []
    return assemble_chart(
        subplots, heading(title, [*subtitles, *hollow, *left_out]), n_subplot_columns
    )
