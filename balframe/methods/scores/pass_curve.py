"""The chart of pass@k and pass^k: how often any, and how often all of k trials pass, for each k."""

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, Unpack

import altair as alt

from balframe._text import chart_title, format_percent
from balframe._validate import is_whole_number
from balframe.api.options import CountOptions, InputOptions, Names
from balframe.charts.facets import AltairChart, Subplot, assemble_chart
from balframe.charts.line_plot import LinePlot, line_plot
from balframe.charts.options import DEFAULT_MOST, chart_function
from balframe.charts.rows import ResultRow, by_names, chart_data, rank_segments
from balframe.charts.style import (
    INTERVAL_OPACITY,
    LIMIT_FIELDS,
    LINE_COLORS,
    SCORE_FORMAT,
    axis,
    heading,
    number_tooltips,
    segment_tooltips,
)
from balframe.core.label_set import Label
from balframe.errors import BalframeWarning, InvalidInputError
from balframe.frames.adapter import Name
from balframe.frames.convert_result import collect_result, row_dicts
from balframe.methods.scores.report import report

_ANY, _ALL = "pass_at", "pass_all"
_MAX_TRIALS = 100


class _Options(CountOptions, InputOptions, total=False): ...


@chart_function
def pass_curve(
    frame: object,
    outcome: Names,
    *,
    cluster: Name,
    by: Names = None,
    trials: int = 10,
    pos_label: Label | None = None,
    level: float = 0.95,
    most: int = DEFAULT_MOST,
    **options: Unpack[_Options],
) -> AltairChart:
    """Return a chart of how often any and how often all of k trials of an item pass.

    The upper line of a segment is `pass_at(k)` and the lower, dashed one `pass_all(k)`. Both begin
    at the rate. How fast they diverge shows how much items differ: if all were equally difficult,
    the upper line would soon reach 1 and the lower one 0.

    Parameters
    ----------
    outcome : column name or list of column names
        Whether each row passed: 0 and 1, false and true, or any two values with `pos_label`.
        Several columns are treated as several models.
    cluster : column name
        The items: rows with the same value are trials of the same item.
    trials : int, default 10
        The largest k. Values of k for which no item has enough trials are left out.
    pos_label : label, optional
        The value of a row that passed; by default 1 or True.
    level : float, default 0.95
        Confidence level of the intervals.

    Examples
    --------
    >>> import polars as pl
    >>> import balframe as bf
    >>> runs = pl.DataFrame({"item": [1, 1, 1, 2, 2, 2], "passed": [1, 0, 1, 0, 0, 1]})
    >>> chart = bf.plot.pass_curve(runs, "passed", cluster="item", trials=3)
    >>> chart.to_dict()["title"]["text"]
    'Any and all of k trials'
    """
    if not is_whole_number(trials, 1) or trials > _MAX_TRIALS:
        raise InvalidInputError(
            "{trials} is not a number of trials; give a whole number from 1 to {}.",
            _MAX_TRIALS,
            trials=trials,
        )
    metrics = [f"{name}({k})" for k in range(1, trials + 1) for name in (_ANY, _ALL)]
    with warnings.catch_warnings():  # k that items have too few trials for are not drawn
        warnings.filterwarnings("ignore", "of .* items, some have fewer", BalframeWarning)
        result = report(
            frame,
            outcome=outcome,
            by=by,
            cluster=cluster,
            metrics=metrics,
            interval=True,
            level=level,
            pos_label=pos_label,
            **options,
        )
    rows = row_dicts(collect_result(result))
    names = by_names(by, rows[0])
    points_of_rows: list[ResultRow] = [_point(row, k) for row in rows for k in range(1, trials + 1)]
    data = chart_data(points_of_rows, names, max_panels=len(LINE_COLORS))
    order, left_out = rank_segments(data, _ANY, most)
    points = [row for row in data.rows if row["segment"] in order and row[_ANY] is not None]
    plot = line_plot(replace(data, rows=points).select(order), order)
    note = f"{format_percent(level)} confidence intervals; solid: any passes, dashed: all pass"
    title = heading(chart_title("Any and all of k trials", names), [note, *left_out])
    background = plot.background_rows(points, "k", _ANY)
    layers = _layers(plot, segment_tooltips(data))
    return assemble_chart([Subplot(plot.draw(layers), points, background)], title)


def _point(row: Mapping[Name, Any], k: int) -> ResultRow:
    """Return the fields of a segment at a number of trials."""
    point = {name: value for name, value in row.items() if "(" not in str(name)}
    point["k"] = k
    for name in (_ANY, _ALL):
        point[name] = row[f"{name}({k})"]
        for end in ("lower", "upper"):
            point[f"{name}_{end}"] = row[f"{name}({k})_{end}"]
    return point


def _layers(plot: LinePlot, segment_fields: list[alt.Tooltip]) -> Sequence[alt.Chart]:
    """Return the layers of a panel: intervals, lines in grey, and a line for any and for all."""
    x = alt.X("k:Q", title="trials, k", axis=axis(tickMinStep=1, format="d"))
    scale = alt.Scale(domain=[0, 1])
    line = alt.Chart().encode(x=x, color=plot.color)

    def y(field: str) -> alt.Y:
        return alt.Y(f"{field}:Q", title="share of items", scale=scale)

    bands, lines = [], []
    for name, dash, text in ((_ANY, [1, 0], "any passes"), (_ALL, [4, 3], "all pass")):
        limits = [(f"{name}_{field}", title, form) for field, title, form in LIMIT_FIELDS]
        fields = [("n_clusters", "items", ",d"), ("k", "k", "d"), (name, text, SCORE_FORMAT)]
        bands.append(
            line.mark_area(opacity=INTERVAL_OPACITY).encode(
                y=y(f"{name}_lower"), y2=alt.Y2(f"{name}_upper")
            )
        )
        lines.append(
            line.mark_line(strokeWidth=1.5, strokeDash=dash, point=True).encode(
                y=y(name), tooltip=[*segment_fields, *number_tooltips([*fields, *limits])]
            )
        )
    return [*bands, *plot.background_lines(x=x, y=y(_ANY)), *lines]
