"""The chart of `impact`: forest plots of impact ratios with the bound, a panel for each table."""

import math
from collections.abc import Iterator, Sequence
from typing import Any, Literal, Unpack

import altair as alt

from balframe._text import chart_title, interval_phrase
from balframe.api.metric_selection import Adjust
from balframe.api.options import AdjustmentOptions, LevelOptions, Names
from balframe.charts.drawn_result import UNKNOWN as UNKNOWN_OPTION
from balframe.charts.drawn_result import DrawnResult, draws_result
from balframe.charts.facets import AltairChart, Subplot, assemble_chart
from balframe.charts.forest_plot import ForestPlot, Mark, ReferenceLine, forest_columns
from balframe.charts.options import DEFAULT_MOST, chart_function, shows_numbers
from balframe.charts.rows import (
    ChartData,
    ChartRow,
    ResultRow,
    SortOption,
    by_names,
    chart_data,
    rank_segments,
    result_rows,
)
from balframe.charts.style import (
    COUNT_FORMAT,
    GREY,
    LIMIT_FIELDS,
    N_FIELD,
    SCORE_FORMAT,
    VERMILLION,
    TooltipField,
    heading,
    panel_heading,
    segment_tooltips,
)
from balframe.charts.style import number_tooltips as tooltips
from balframe.frames.adapter import Name
from balframe.frames.convert_result import ordered_columns
from balframe.frames.query import GROUPED_BY, MODEL, N, margin_name
from balframe.methods.comparisons.charts import adjustment_text
from balframe.methods.impact.impact import RatioOptions, SelectionOptions
from balframe.methods.impact.impact import impact as method
from balframe.methods.impact.ratios import SMALL, UNKNOWN

_NOT_SIGNIFICANT = "not significant", GREY, "circle"
_FIELDS: list[TooltipField] = [
    N_FIELD,
    ("n_favourable", "with the favourable result", COUNT_FORMAT),
    ("rate", "rate of the favourable result", SCORE_FORMAT),
    ("highest", "highest rate", SCORE_FORMAT),
    ("estimate", "impact ratio", SCORE_FORMAT),
    *LIMIT_FIELDS,
    ("p_adjusted", "p-value, adjusted", ".2g"),
]


class _Options(RatioOptions, SelectionOptions, AdjustmentOptions, LevelOptions, total=False): ...


@chart_function
def impact(
    frame: object,
    selected: Names = None,
    *,
    by: Names,
    score: Names = None,
    sort: SortOption | None = None,
    numbers: bool | None = None,
    most: int = DEFAULT_MOST,
    **options: Unpack[_Options],
) -> AltairChart:
    """Return a forest plot of the impact ratio of every category, with the bound as a line.

    Each table has a panel: that of each by-column, and that of all together. Each category has a
    row with its impact ratio and confidence interval. The area of a point shows the number of rows.
    Ratios whose adjusted p-value is below 1 - level are diamonds of another colour. Several models
    are drawn side by side. Categories that are too small to be compared have a row without a point;
    rows of unknown category are not drawn.

    Parameters
    ----------
    by : column name or list of column names
        The columns of categories, such as sex and race. The category of a row with a null is
        unknown.
    sort : {"score", "name", "n"}, optional
        Order of the categories of a panel: with the highest ratio on top, by name, or with the
        largest category on top. By default, by ratio, or in their order if they have one.
    most : int, default 60
        Maximum number of categories to draw in a panel. If there are more, those with the highest
        and the lowest ratios are drawn, and a line below the title states how many are left out.
    level : float, default 0.95
        Confidence level of the intervals. Ratios with a p-value below 1 - level are marked.

    Examples
    --------
    >>> import balframe as bf
    >>> options = {"by": ["sex", "race"], "counts": "n", "favourable": "selected"}
    >>> chart = bf.plot.impact(bf.datasets.applicants(), "selected", **options)
    >>> chart.to_dict()["title"]["text"]
    'Impact ratio by sex and race'
    """
    out: Any = method(frame, selected, by=by, score=score, detail=True, **options)
    rows = result_rows(out)
    names = by_names(by, rows[0])
    return _draw_ratios(
        DrawnResult(rows, names, [], ordered=ordered_columns(out, names)),
        options["level"],
        options["adjust"],
        sort,
        numbers,
        most,
    )


@draws_result(
    *("rate", "impact_ratio", "lower", "upper", "p_adjusted", "role", "n"),
    *("n_favourable", "highest", "bound"),
)
def draw_impact(
    result: DrawnResult,
    *,
    level: float = 0.95,
    sort: SortOption | None = None,
    numbers: bool | None = None,
    most: int = DEFAULT_MOST,
) -> AltairChart:
    """Return the chart of a result of `impact`."""
    return _draw_ratios(result, level, UNKNOWN_OPTION, sort, numbers, most)


def _draw_ratios(
    result: DrawnResult,
    level: float,
    adjust: Adjust | Literal["unknown"],
    sort: SortOption | None,
    numbers: bool | None,
    most: int,
) -> AltairChart:
    """Return the forest plots of impact ratios."""
    rows, names, alpha = result.rows, result.by, 1 - level
    columns, tables = zip(*_table_data(rows, names), strict=True)
    marks = Mark(f"p below {alpha:.6g}", VERMILLION, "diamond"), Mark(*_NOT_SIGNIFICANT)
    for row in (row for table in tables for row in table.rows):
        is_significant = row["p_adjusted"] is not None and row["p_adjusted"] < alpha
        row["mark"] = marks[0 if is_significant else 1].name
    rankings = [
        rank_segments(table, "estimate", most, sort=result.sort(sort, by))
        for by, table in zip(columns, tables, strict=True)
    ]
    panel_data = [table.select(order) for table, (order, _) in zip(tables, rankings, strict=True)]
    has_numbers = shows_numbers(numbers, max(len(data.rows) for data in panel_data))
    n_panels = max(len(data.panels) for data in panel_data)
    categories = [name for order, _ in rankings for name in order]
    plots = [
        ForestPlot(
            data,
            order,
            "impact ratio",
            [ReferenceLine("bound", f"bound {rows[0]['bound']:.6g}", (1, 0))],
            [*segment_tooltips(data), *tooltips(_FIELDS)],
            0,
            has_numbers,
            marks,
            n_columns=forest_columns(n_panels, categories, has_numbers),
            numbers_title="impact ratio",
            shared_data=panel_data,
        )
        for data, (order, _) in zip(panel_data, rankings, strict=True)
    ]
    is_single = len(tables) == 1
    subplots = []
    for plot in plots:
        table = panel_heading(f"By {plot.data.segment_title}", frame="group")
        subplots.append(Subplot(plot.draw(alt.Undefined if is_single else table), plot.data.rows))
    n_tests = sum(row["p_adjusted"] is not None for table in tables for row in table.rows)
    within = "" if is_single or not n_tests else " within each table"
    adjustment = adjustment_text(adjust, n_tests)
    subtitle = f"{interval_phrase(level)}{adjustment}{within}"
    left_out = [
        line if is_single else f"By {data.segment_title}: {line[0].lower()}{line[1:]}"
        for data, (_, lines) in zip(panel_data, rankings, strict=True)
        for line in lines
    ]
    is_of_scores = "threshold" in rows[0] and "threshold" not in names
    quantity = f"Impact ratio{' of scores above the median' if is_of_scores else ''}"
    title = chart_title(quantity, [panel_data[0].segment_title] if is_single else names)
    return assemble_chart(subplots, heading(title, [subtitle, *left_out]))


def _table_data(
    rows: Sequence[ResultRow], by: Sequence[Name]
) -> Iterator[tuple[list[Name], ChartData]]:
    """Yield the by-columns and data of each table, without rows of unknown category."""
    max_panels = math.inf if MODEL in rows[0] and MODEL not in by else 0
    rows = [row for row in rows if row["role"] != UNKNOWN]
    for columns in [*([name] for name in by), *([list(by)] if len(by) > 1 else [])]:
        margin = margin_name(columns)
        table_rows = [
            _table_row(row, by, columns) for row in rows if row.get(GROUPED_BY, margin) == margin
        ]
        if table_rows:
            data = chart_data(table_rows, columns, max_panels=max_panels)
            for row in data.rows:
                row |= _ratio_fields(row)
            yield columns, data


def _table_row(row: ResultRow, by: Sequence[Name], columns: Sequence[Name]) -> ResultRow:
    """Return a row without the columns of other tables."""
    omitted = [*(name for name in by if name not in columns), *(f"highest_{name}" for name in by)]
    return {name: value for name, value in row.items() if name not in omitted}


def _ratio_fields(row: ChartRow) -> ChartRow:
    """Return the impact ratio as the estimate that is drawn, or a note on why there is none."""
    undefined = "undefined" if row["impact_ratio"] is None else None
    note = "too small to be compared" if row["role"] == SMALL else undefined
    return {"estimate": row["impact_ratio"], "min_support": row[N], "note": note}
