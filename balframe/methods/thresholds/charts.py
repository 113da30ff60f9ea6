"""The charts of thresholds: ROC curves, and a metric at every threshold of a score."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, Unpack

import altair as alt
import numpy as np

from balframe._text import capitalize_first, chart_title, format_percent
from balframe.api.metric_selection import Metrics
from balframe.api.options import ClassWeightOptions, ClusterOptions, Names, RowOptions
from balframe.charts.facets import (
    AltairChart,
    Chart,
    Subplot,
    Title,
    assemble_chart,
    dashed_diagonal,
    dashed_rule,
)
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
    INK,
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
from balframe.core.array_types import FloatArray
from balframe.frames.adapter import Name
from balframe.frames.convert_result import collect_result
from balframe.frames.query import MODEL
from balframe.frames.thresholds import ThresholdsOption
from balframe.methods.thresholds.best_threshold import best_threshold
from balframe.methods.thresholds.curve import curve as compute_curve
from balframe.methods.thresholds.ranking import ranking

# The place of a list of labels in a panel: off the lines, as near to the lower right as possible


_N_PLACES, _N_SAMPLES = 12, 200
_LINE_COST, _FAINT_COST = 10.0, 1.0  # the cost of a place for each sample of a line in it


def free_position(
    lines: Sequence[FloatArray],
    faint_line: FloatArray,
    size: tuple[float, float],
    panel_size: tuple[float, float],
) -> tuple[float, float]:
    """Return the left end and the top of a box of this size, in pixels from the upper left corner.

    A line is an array of points (x, y) in pixels. Covering the `faint_line` costs less.
    """
    lefts = np.linspace(0, max(0.0, panel_size[0] - size[0]), _N_PLACES)
    tops = np.linspace(0, max(0.0, panel_size[1] - size[1]), _N_PLACES)
    corners = np.array([(left, top) for left in lefts[::-1] for top in tops[::-1]])
    cost = 1e-6 * np.hypot(*(corners[0] - corners).T)
    for line, weight in (
        *((line, _LINE_COST) for line in lines if len(line)),
        (faint_line, _FAINT_COST),
    ):
        inside = [(corners <= at) & (at <= corners + size) for at in _resample(line)]
        cost += weight * np.all(inside, axis=2).sum(axis=0)
    left, top = corners[int(np.argmin(cost))]
    return float(left), float(top)


def _resample(line: FloatArray) -> FloatArray:
    """Return points at equal distances along a line."""
    steps = np.hypot(*np.diff(line, axis=0).T)
    at = np.concatenate([[0.0], np.cumsum(steps)])
    wanted = np.linspace(0, at[-1], _N_SAMPLES)
    return np.column_stack([np.interp(wanted, at, line[:, k]) for k in (0, 1)])


# The chart of receiver operating characteristic (ROC) curves


_X, _Y = "false_positive_rate", "recall"
_X_TITLE = "false positive rate"
_LEVEL = 0.95  # of the limits of an area, as in `bf.ranking`
_LONGEST_NAME = 24  # letters of a name; longer ones are in a legend
_LETTER_WIDTH, _LINE_HEIGHT = 0.6, 1.35  # as shares of the font size
_SYMBOL_WIDTH = 20  # pixels


class _RocOptions(RowOptions, ClusterOptions, total=False): ...


@chart_function
def roc(
    frame: object,
    y_true: Name,
    y_score: Names,
    *,
    by: Names = None,
    thresholds: ThresholdsOption = None,
    most: int = DEFAULT_MOST,
    **options: Unpack[_RocOptions],
) -> AltairChart:
    """Return a chart of the ROC curve of every segment: recall against false positive rate.

    The areas under the curves (AUC) are listed in the free corner of each panel, each beside a
    sample of its line. The dashed diagonal marks chance. Up to four segments share a panel. With
    more, each has its own panel, with the others in grey behind it. Segments are ranked by these
    areas. Several models are shown by colours or in panels.

    Parameters
    ----------
    thresholds : "all", int, list of floats, ("quantiles", int) or None, optional
        The thresholds, as in `bf.curve`: by default at most 1,000 distinct scores of each line.
        Points too close to be distinguished are left out. The areas always use all scores.

    Returns
    -------
    altair chart
        You can restyle or save it: `chart.save("roc.png")`, `chart.save("roc.html", inline=True)`.

    Examples
    --------
    >>> import polars as pl
    >>> import balframe as bf
    >>> df = pl.DataFrame({"y": [0, 0, 1, 0, 1], "score": [0.1, 0.3, 0.4, 0.6, 0.8]})
    >>> chart = bf.plot.roc(df, "y", "score")
    >>> chart.to_dict()["title"]["text"]
    'ROC curve'
    """
    row_options: Any = {name: value for name, value in options.items() if name != "cluster"}
    result = compute_curve(
        frame, y_true, y_score, by=by, metrics=[_X, _Y], thresholds=thresholds, **row_options
    )
    auc_rows = result_rows(ranking(frame, y_true, y_score, by=by, detail=True, **options))
    rows = line_rows(collect_result(result), _X, _Y)
    names = by_names(by, rows[0])
    aucs = chart_data(auc_rows, names, max_panels=len(LINE_COLORS))
    order, left_out = rank_segments(aucs, "roc_auc", most)
    aucs = aucs.select(order)
    data = chart_data(rows, names, max_panels=len(LINE_COLORS)).select(order)
    is_labelled = max(map(len, order)) <= _LONGEST_NAME and len(order) <= len(LINE_COLORS)
    plot = line_plot(aucs, order, is_labelled=is_labelled)
    points = [_roc_point(row, at) for at, row in enumerate(data.rows)]
    _place_labels(aucs, points, order, plot)
    subtitles = ["Dashed: chance", *left_out]
    layers = _roc_layers(plot, [*segment_tooltips(data), *number_tooltips([N_FIELD])])
    subplot = Subplot(plot.draw(layers), points + aucs.rows, plot.background_rows(points, _X, _Y))
    return assemble_chart([subplot], heading(chart_title("ROC curve", names), subtitles))


def _roc_point(row: ChartRow, at: int) -> ChartRow:
    """Return the fields of a point that are drawn, with its position along the curve."""
    return {name: row[name] for name in ("segment", "panel", "n", "threshold", _X, _Y)} | {"at": at}


def _place_labels(
    areas: ChartData, points: Sequence[ChartRow], order: list[str], plot: LinePlot
) -> None:
    """Add the texts and positions of each panel's list of areas, in its free corner.

    The list names the lines if there is no legend.
    """
    field, panel = ("segment", "panel") if plot.shares_panel else ("panel", "segment")
    rank = {name: at for at, name in enumerate(order if plot.shares_panel else areas.panels)}
    has_names = plot.shares_panel and len(order) > 1 and not plot.has_legend
    panel_size = (plot.width, plot.height)
    diagonal = np.array([[0.0, plot.height], [plot.width, 0.0]])
    lines: dict[tuple[str, str], list[ChartRow]] = {}
    for point in points:
        lines.setdefault((point["panel"], point["segment"]), []).append(point)
    for name in {row[panel] for row in areas.rows}:
        rows = sorted(
            (row for row in areas.rows if row[panel] == name), key=lambda row: rank[row[field]]
        )
        for row in rows:
            area = "AUC undefined" if row["roc_auc"] is None else f"AUC {row['roc_auc']:.3f}"
            row["text"] = f"{row[field]}: {area}" if has_names else area
        curves = [_to_pixels(lines.get((row["panel"], row["segment"]), []), plot) for row in rows]
        n_letters = max(len(row["text"]) for row in rows)
        width = _SYMBOL_WIDTH + _LETTER_WIDTH * plot.font_size * n_letters
        step = _LINE_HEIGHT * plot.font_size
        left, top = free_position(curves, diagonal, (width, step * len(rows)), panel_size)
        for at, row in enumerate(rows):
            row |= {
                "left": left / plot.width,
                "height": 1 - (top + step * (at + 0.5)) / plot.height,
            }


def _to_pixels(points: Sequence[ChartRow], plot: LinePlot) -> FloatArray:
    """Return the points of a curve in pixels from the upper left corner."""
    defined = [(row[_X], 1 - row[_Y]) for row in points if None not in (row[_X], row[_Y])]
    return np.array(defined, float).reshape(-1, 2) * (plot.width, plot.height)


def _roc_layers(plot: LinePlot, segment_fields: list[alt.Tooltip]) -> list[alt.Chart]:
    rates = [
        ("threshold", "threshold", ".4~g"),
        (_X, _X_TITLE, SCORE_FORMAT),
        (_Y, _Y, SCORE_FORMAT),
    ]
    areas = [
        ("roc_auc", "AUC", SCORE_FORMAT),
        ("roc_auc_lower", f"lower limit, {format_percent(_LEVEL)}", SCORE_FORMAT),
        ("roc_auc_upper", f"upper limit, {format_percent(_LEVEL)}", SCORE_FORMAT),
    ]
    unit = alt.Scale(domain=[0, 1])
    x = alt.X(f"{_X}:Q", title=_X_TITLE, scale=unit, axis=axis(tickCount=plot.n_ticks))
    y = alt.Y(f"{_Y}:Q", title=_Y, scale=unit, axis=axis(tickCount=plot.n_ticks))
    order = alt.Order("at:Q")
    line = alt.Chart().transform_filter("!isValid(datum.text)").encode(x=x, y=y, order=order)
    curves = line.mark_line(strokeWidth=1.5 if plot.shares_panel else 2).encode(
        color=plot.color, tooltip=[*segment_fields, *number_tooltips(rates)]
    )
    label = (
        alt.Chart()
        .transform_filter("isValid(datum.text)")
        .encode(
            x=alt.X("left:Q"),
            y=alt.Y("height:Q"),
            tooltip=[*segment_fields, *number_tooltips(areas)],
        )
    )
    symbols = label.mark_point(shape="stroke", opacity=1, size=150, strokeWidth=2, xOffset=8)
    texts = label.mark_text(align="left", color=INK, fontSize=plot.font_size, dx=_SYMBOL_WIDTH)
    return [
        *plot.background_lines(x=x, y=y),
        dashed_diagonal(),
        curves,
        symbols.encode(color=plot.color),
        texts.encode(text=alt.Text("text:N")),
    ]


# The chart of metrics at every threshold


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
    Several metrics are drawn one below the other. Several models are drawn side by side, each with
    its own scale of thresholds.

    Parameters
    ----------
    thresholds : "all", int, list of floats, ("quantiles", int) or None, optional
        The thresholds, as in `bf.curve`: by default at most 1,000 distinct scores of each line.
        Points too close to be distinguished are left out. The best thresholds are always those of
        all scores, unless other thresholds are given.
    level : float, default 0.95
        Confidence level of the band or the intervals.

    Returns
    -------
    altair chart
        You can restyle or save it: `chart.save("curve.png")`,
        `chart.save("curve.html", inline=True)`.

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
    ranked_by = "" if len(chosen) == 1 else f" in {chosen[0].title}"
    order, left_out = rank_segments(best[0] or lines[0], "estimate", most, ranked_by)
    subplots, subtitle = [], ""
    for metric, best_points, line in zip(chosen, best, lines, strict=True):
        subtitle = _subtitle(metric, level)
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
    result = best_threshold(
        frame, y_true, y_score, metric=metric.metric.name, detail=True, **options
    )
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
        "lower": row[f"{limits}_lower"],
        "upper": row[f"{limits}_upper"],
    }


def _subtitle(metric: ChartMetric, level: float) -> str:
    """Return the text that explains the shade, the points and the dashed line."""
    is_banded = metric.metric.name == _BALANCED
    shade = "band over all thresholds" if is_banded else "interval at each threshold"
    points = "" if metric.metric.better is None else "; points: best thresholds"
    chance = _chance(metric)
    dashed = "" if chance is None else f"; dashed: chance, {chance:g}"
    return f"{format_percent(level)} confidence {shade}{points}{dashed}"


def _chance(metric: ChartMetric) -> float | None:
    """Return the score by chance if it is a single number."""
    chance = 0.5 if metric.metric.chance == "uniform" else metric.metric.chance
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
    layers = _curve_layers(plot, segment_tooltips(data), metric.title)
    chance = _chance(metric)
    if chance is not None:
        layers.insert(0, dashed_rule(y=alt.YDatum(chance)))
    points = [row for row in data.rows if row["threshold"] is not None]
    background = plot.background_rows(points, "threshold", "estimate")
    rows = points + [_best_point(row, plot) for row in (best.rows if best else [])]
    chart: Chart = plot.draw(layers, title)
    if plot.shares_panel and data.panel_title == MODEL:
        chart = chart.resolve_scale(x="independent")
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
