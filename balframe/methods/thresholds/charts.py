"""The charts of thresholds: a metric at every threshold of a score, and curves of two rates."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, Unpack

import altair as alt

from balframe._text import capitalize_first, chart_title, format_percent
from balframe.api.metric_selection import Metrics
from balframe.api.options import ClassWeightOptions, Names, RowOptions
from balframe.charts.drawn_result import DrawnResult, draws_result
from balframe.charts.facets import AltairChart, Chart, Subplot, Title, assemble_chart, dashed_rule
from balframe.charts.line_plot import LinePlot, line_plot, line_rows
from balframe.charts.options import (
    DEFAULT_METRIC,
    DEFAULT_MOST,
    ChartMetric,
    chart_function,
    chart_metrics,
)
from balframe.charts.rows import (
    ChartData,
    ChartRow,
    by_names,
    chart_data,
    chart_text,
    panel_columns,
    rank_segments,
    result_rows,
)
from balframe.charts.style import (
    INTERVAL_OPACITY,
    LIMIT_FIELDS,
    LINE_COLORS,
    N_FIELD,
    SCORE_FORMAT,
    WHITE,
    axis,
    heading,
    number_tooltips,
    panel_heading,
    segment_tooltips,
)
from balframe.frames.adapter import Name
from balframe.frames.convert_result import collect_result, frame_from_lists
from balframe.frames.thresholds import ThresholdsOption
from balframe.methods.thresholds.best_threshold import best_threshold
from balframe.methods.thresholds.curve import curve as compute_curve
from balframe.methods.thresholds.decision_curve import decision_curve as decision_curve
from balframe.methods.thresholds.score_curves import gains as gains
from balframe.methods.thresholds.score_curves import lift as lift
from balframe.methods.thresholds.score_curves import precision_recall as precision_recall
from balframe.methods.thresholds.score_curves import roc as roc

_BALANCED = "balanced_accuracy"
_TITLE_END = " at every threshold"


class _Options(ClassWeightOptions, RowOptions, total=False): ...


@chart_function
def curve(
    frame: object,
    y_true: Name,
    y_score: Names,
    *,
    by: Names = None,
    metrics: Metrics = DEFAULT_METRIC,
    thresholds: ThresholdsOption = None,
    level: float = 0.95,
    most: int = DEFAULT_MOST,
    **options: Unpack[_Options],
) -> AltairChart:
    """Return a chart of a metric at every threshold of a score, with a line for each segment.

    A point marks the best threshold of each segment. Balanced accuracy has a confidence band over
    all thresholds of a segment. Other metrics have a confidence interval at each threshold. A
    dashed line marks chance. Up to four segments share a panel. With more, each has its own panel,
    with the others in grey behind it. Segments are ranked by their scores at the best threshold.
    Several metrics are drawn one below the other. Each model has its own colour: without
    segments they share a panel, and with segments each segment has a panel.

    Parameters
    ----------
    thresholds : "all", int, list of floats, ("quantiles", int) or None, optional
        The thresholds, as in `bf.curve`: by default at most 1,000 distinct scores of each line.
        Points too close to be distinguished are left out. The best thresholds are always those of
        all scores, unless other thresholds are given.
    level : float, default 0.95
        Confidence level of the band or the intervals.

    Examples
    --------
    >>> import polars as pl
    >>> import balframe as bf
    >>> df = pl.DataFrame({"y": [0, 0, 1, 0, 1], "score": [0.1, 0.3, 0.4, 0.6, 0.8]})
    >>> chart = bf.plot.curve(df, "y", "score")
    >>> chart.to_dict()["title"]["text"]
    'Balanced accuracy at every threshold'
    """
    chosen = chart_metrics(metrics, options["class_weight"])
    is_banded = [metric.metric.name == _BALANCED for metric in chosen]
    result = collect_result(
        compute_curve(
            frame,
            y_true,
            y_score,
            by=by,
            metrics=metrics,
            thresholds=thresholds,
            level=level,
            band=any(is_banded),
            interval=None if all(is_banded) else True,
            **options,
        )
    )
    names = by_names(by, line_rows(result, "threshold", chosen[0].name)[0])
    best = [
        _best_points(frame, y_true, y_score, metric, names, by=by, thresholds=thresholds, **options)
        for metric in chosen
    ]
    lines = [_curve_points(result, metric, names) for metric in chosen]
    return _draw_curves(names, chosen, lines, best, level, most)


@draws_result("threshold", "n")
def draw_curve(
    result: DrawnResult, *, level: float = 0.95, most: int = DEFAULT_MOST
) -> AltairChart:
    """Return the chart of a result of `curve`, without the best thresholds."""
    columns = {str(name): [row[name] for row in result.rows] for name in result.rows[0]}
    frame = frame_from_lists({}, columns)
    lines = [_curve_points(frame, metric, result.by) for metric in result.metrics]
    return _draw_curves(result.by, result.metrics, lines, [None] * len(lines), level, most)


def _draw_curves(
    names: list[Name],
    chosen: Sequence[ChartMetric],
    lines: Sequence[ChartData],
    best: Sequence[ChartData | None],
    level: float,
    most: int,
) -> AltairChart:
    """Return the lines of each metric, with the best thresholds where they are known."""
    ranked_by = "" if len(chosen) == 1 else f" in {chosen[0].title}"
    order, left_out = rank_segments(best[0] or lines[0], "estimate", most, ranked_by)
    subplots, subtitle = [], ""
    for metric, best_points, line in zip(chosen, best, lines, strict=True):
        subtitle = _subtitle(metric, level, line, best_points)
        title: Title = alt.Undefined
        if len(chosen) > 1:
            title = panel_heading(capitalize_first(metric.title), subtitle.split("; "))
        best_points = best_points and best_points.select(order)
        subplots.append(_draw_metric(metric, line.select(order), best_points, order, title))
    if len(chosen) == 1:
        title = heading(chart_title(f"{chosen[0].title}{_TITLE_END}", names), [subtitle, *left_out])
        return assemble_chart(subplots, title)
    has_facets = isinstance(subplots[0].chart, alt.FacetChart)
    n_columns = 1 if has_facets else panel_columns(len(subplots), 2)
    title = heading(chart_title(f"scores{_TITLE_END}", names), left_out)
    return assemble_chart(subplots, title, n_columns)


def _best_points(
    frame: object,
    y_true: Name,
    y_score: Names,
    metric: ChartMetric,
    names: list[Name],
    **options: Any,  # noqa: ANN401 (those of the chart)
) -> ChartData | None:
    """Return the best thresholds, None for a metric without a direction."""
    if metric.metric.better is None:
        return None
    options |= {"metrics": metric.metric.name, "min_support": 0, "detail": True}
    result = best_threshold(frame, y_true, y_score, **options)
    return chart_data(result_rows(result), names, max_panels=len(LINE_COLORS))


def _curve_points(result: Any, metric: ChartMetric, names: list[Name]) -> ChartData:  # noqa: ANN401
    """Return the points of a metric with their limits."""
    data = chart_data(
        line_rows(result, "threshold", metric.name), names, max_panels=len(LINE_COLORS)
    )
    name = chart_text(metric.name)
    limits = f"{_BALANCED}_band" if metric.metric.name == _BALANCED else name
    return replace(data, rows=[_curve_point(row, name, limits) for row in data.rows])


def _curve_point(row: ChartRow, name: str, limits: str) -> ChartRow:
    """Return the fields of a point that are drawn."""
    return {key: row[key] for key in ("segment", "panel", "n", "threshold")} | {
        "estimate": row[name],
        "lower": row.get(f"{limits}_lower"),
        "upper": row.get(f"{limits}_upper"),
    }


def _subtitle(
    metric: ChartMetric, level: float, line: ChartData, best_points: ChartData | None
) -> str:
    """Return the text that explains the shade, the points and the dashed line."""
    is_banded = metric.metric.name == _BALANCED
    shade = "band over all thresholds" if is_banded else "interval at each threshold"
    chance = _chance(metric)
    parts = [
        f"{format_percent(level)} confidence {shade}" if _has_limits(line) else "",
        "" if best_points is None else "points: best thresholds",
        "" if chance is None else f"dashed: chance, {chance:g}",
    ]
    text = "; ".join(filter(None, parts))
    return capitalize_first(text)


def _has_limits(line: ChartData) -> bool:
    """Return whether any point has limits."""
    return any(row["lower"] is not None for row in line.rows)


def _chance(metric: ChartMetric) -> float | None:
    """Return the score by chance if it is a single number."""
    chance = 0.5 if metric.chance == "uniform" else metric.chance
    return chance if isinstance(chance, (int, float)) else None


def _draw_metric(
    metric: ChartMetric,
    data: ChartData,
    best: ChartData | None,
    order: list[str],
    title: Title,
) -> Subplot:
    """Return the subplot of a metric."""
    plot = line_plot(data, order, is_small=title is not alt.Undefined)
    band, *lines = _curve_layers(plot, segment_tooltips(data), metric.title)
    layers = [*([band] if _has_limits(data) else []), *lines]
    chance = _chance(metric)
    if chance is not None:
        layers.insert(0, dashed_rule(y=alt.YDatum(chance)))
    points = [row for row in data.rows if row["threshold"] is not None]
    background = plot.background_rows(points, "threshold", "estimate")
    rows = points + [_best_point(row, plot) for row in (best.rows if best else [])]
    chart: Chart = plot.draw(layers, title)
    return Subplot(chart, rows, background)


def _best_point(row: ChartRow, plot: LinePlot) -> ChartRow:
    """Return the row of a best point, with a note in a panel without a best threshold."""
    has_none = row["estimate"] is None and not plot.shares_panel
    return row | {"is_best": True, "note": "no best threshold" if has_none else None}


def _curve_layers(plot: LinePlot, segment_fields: list[alt.Tooltip], name: str) -> list[alt.Chart]:
    at_threshold = [
        N_FIELD,
        ("threshold", "threshold", ".4~g"),
        ("estimate", name, SCORE_FORMAT),
    ]
    best_fields = [
        ("midpoint", "middle of the plateau", ".4~g"),
        ("common_estimate", "at the common threshold", SCORE_FORMAT),
        ("chance_maximum", "95% quantile by chance", SCORE_FORMAT),
    ]
    free, ticks = alt.Scale(zero=False), axis(tickCount=plot.n_ticks)
    x = alt.X("threshold:Q", title="threshold", scale=free, axis=ticks)
    y_title = name if plot.height > 100 else None  # which would be longer than the axis
    y = alt.Y("estimate:Q", title=y_title, scale=free, axis=ticks)
    line = alt.Chart().transform_filter("!datum.is_best").encode(x=x, color=plot.color)
    band = line.mark_area(opacity=INTERVAL_OPACITY, interpolate="step-before").encode(
        y=alt.Y("lower:Q", title=y_title), y2=alt.Y2("upper:Q")
    )
    curves = line.mark_line(strokeWidth=1.5, interpolate="step-before").encode(
        y=y, tooltip=[*segment_fields, *number_tooltips([*at_threshold, *LIMIT_FIELDS])]
    )
    best = alt.Chart().transform_filter("datum.is_best")
    points = (
        best.transform_filter("isValid(datum.threshold)")
        .mark_point(filled=True, opacity=1, size=60, stroke=WHITE, strokeWidth=1)
        .encode(
            x=x,
            y=y,
            color=plot.color,
            tooltip=[*segment_fields, *number_tooltips([*at_threshold, *best_fields])],
        )
    )
    notes = plot.note_texts(best, segment_fields)
    return [band, *plot.background_lines(x=x, y=y), curves, points, notes]
