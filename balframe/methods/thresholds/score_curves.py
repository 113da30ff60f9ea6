"""The charts of two rates at every threshold: ROC, precision and recall, gains, and lift."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Unpack

import altair as alt
import numpy as np

from balframe._text import chart_title, format_percent
from balframe.api.options import ClusterOptions, Names, RowOptions
from balframe.charts.facets import (
    AltairChart,
    Subplot,
    assemble_chart,
    dashed_diagonal,
    dashed_rule,
)
from balframe.charts.line_plot import LinePlot, line_plot, line_rows
from balframe.charts.options import DEFAULT_MOST, chart_function
from balframe.charts.rows import (
    ChartData,
    ChartRow,
    by_names,
    chart_data,
    rank_segments,
    result_rows,
)
from balframe.charts.style import (
    INK,
    LINE_COLORS,
    N_FIELD,
    SCORE_FORMAT,
    TooltipField,
    axis,
    heading,
    number_tooltips,
    segment_tooltips,
)
from balframe.core.array_types import FloatArray
from balframe.frames.adapter import Name
from balframe.frames.convert_result import collect_result
from balframe.frames.thresholds import ThresholdsOption
from balframe.methods.thresholds.curve import curve as compute_curve
from balframe.methods.thresholds.ranking import ranking

_LEVEL = 0.95  # of the limits of an area, as in `bf.ranking`
_LONGEST_NAME = 24  # letters of a name; longer ones are in a legend
_LETTER_WIDTH, _LINE_HEIGHT = 0.6, 1.35  # as shares of the font size
_SYMBOL_WIDTH = 20  # pixels
_LIFT, _PREVALENCE, _PRECISION = "lift", "prevalence", "precision"
_TITLES = {  # of rates that are not called by their names
    "false_positive_rate": "false positive rate",
    "selection_rate": "share of rows selected",
}


@dataclass(frozen=True, slots=True)
class _Form:
    """A form of the chart: two rates, the area that ranks segments, and the line of chance.

    The curve is drawn in steps where the area is that of steps. `is_labelled` writes the area into
    the panel. The line of chance is the diagonal, a number, or the prevalence of each segment.
    """

    title: str
    x: str
    y: str
    area: str
    area_title: str
    chance: float | str | None
    note: str
    is_labelled: bool = True
    has_steps: bool = False
    limit_fields: tuple[TooltipField, ...] = ()

    @property
    def metrics(self) -> list[str]:
        """The metrics to compute at every threshold."""
        rates = [self.x, _PRECISION if self.y == _LIFT else self.y]
        return [*rates, *([_PREVALENCE] if self.chance is not None else [])]


_ROC = _Form(
    "ROC curve",
    "false_positive_rate",
    "recall",
    "roc_auc",
    "AUC",
    None,
    "Dashed: chance",
    limit_fields=(
        ("roc_auc_lower", f"lower limit, {format_percent(_LEVEL)}", SCORE_FORMAT),
        ("roc_auc_upper", f"upper limit, {format_percent(_LEVEL)}", SCORE_FORMAT),
    ),
)
_PRECISION_RECALL = _Form(
    "Precision and recall",
    "recall",
    _PRECISION,
    "average_precision",
    "AP",
    _PREVALENCE,
    "Dashed: chance, the share of positive rows",
    has_steps=True,
)
_GAINS = _Form(
    "Cumulative gains",
    "selection_rate",
    "recall",
    "roc_auc",
    "AUC",
    None,
    "Dashed: rows selected at random",
    is_labelled=False,
)
_LIFTS = _Form(
    "Lift",
    "selection_rate",
    _LIFT,
    "roc_auc",
    "AUC",
    1.0,
    "Dashed: rows selected at random, 1",
    is_labelled=False,
)


class _Options(RowOptions, ClusterOptions, total=False): ...


@chart_function
def roc(
    frame: object,
    y_true: Name,
    y_score: Names,
    *,
    by: Names = None,
    thresholds: ThresholdsOption = None,
    most: int = DEFAULT_MOST,
    **options: Unpack[_Options],
) -> AltairChart:
    """Return a chart of the ROC curve of every segment: recall against false positive rate.

    The areas under the curves (AUC) are listed in the free corner of each panel, each beside a
    sample of its line. The dashed diagonal marks chance. Segments are ranked by these areas.

    Up to four segments share a panel. With more, each has its own panel, with the others in grey
    behind it. Each model has its own colour: without segments they share a panel, and with
    segments each segment has a panel.

    Parameters
    ----------
    thresholds : "all", int, list of floats, ("quantiles", int) or None, optional
        The thresholds, as in `bf.curve`: by default at most 1,000 distinct scores of each line.
        Points too close to be distinguished are left out. The areas always use all scores.

    Examples
    --------
    >>> import polars as pl
    >>> import balframe as bf
    >>> df = pl.DataFrame({"y": [0, 0, 1, 0, 1], "score": [0.1, 0.3, 0.4, 0.6, 0.8]})
    >>> chart = bf.plot.roc(df, "y", "score")
    >>> chart.to_dict()["title"]["text"]
    'ROC curve'
    """
    return _draw(_ROC, frame, y_true, y_score, by, thresholds, most, options)


@chart_function
def precision_recall(
    frame: object,
    y_true: Name,
    y_score: Names,
    *,
    by: Names = None,
    thresholds: ThresholdsOption = None,
    most: int = DEFAULT_MOST,
    **options: Unpack[_Options],
) -> AltairChart:
    """Return a chart of precision against recall at every threshold of a score.

    Average precision (AP), the area under the steps, is listed in the free corner of each panel,
    each beside a sample of its line. Segments are ranked by it. A dashed line marks the precision
    of a score by chance, which is the share of positive rows of each segment. Compare segments with
    different shares with care: they change precision even if the score ranks equally well.

    Up to four segments share a panel. With more, each has its own panel, with the others in grey
    behind it. Each model has its own colour: without segments they share a panel, and with
    segments each segment has a panel.

    Parameters
    ----------
    thresholds : "all", int, list of floats, ("quantiles", int) or None, optional
        The thresholds, as in `bf.curve`: by default at most 1,000 distinct scores of each line.
        Points too close to be distinguished are left out. The areas always use all scores.

    Examples
    --------
    >>> import polars as pl
    >>> import balframe as bf
    >>> df = pl.DataFrame({"y": [0, 0, 1, 0, 1], "score": [0.1, 0.3, 0.4, 0.6, 0.8]})
    >>> chart = bf.plot.precision_recall(df, "y", "score")
    >>> chart.to_dict()["title"]["text"]
    'Precision and recall'
    """
    return _draw(_PRECISION_RECALL, frame, y_true, y_score, by, thresholds, most, options)


@chart_function
def gains(
    frame: object,
    y_true: Name,
    y_score: Names,
    *,
    by: Names = None,
    thresholds: ThresholdsOption = None,
    most: int = DEFAULT_MOST,
    **options: Unpack[_Options],
) -> AltairChart:
    """Return a chart of cumulative gains: recall against the share of rows selected.

    A point is a threshold. It shows which share of the positive rows is among the rows with the
    highest scores. The dashed diagonal marks rows selected at random. Segments are ranked by the
    area under the ROC curve.

    Up to four segments share a panel. With more, each has its own panel, with the others in grey
    behind it. Each model has its own colour: without segments they share a panel, and with
    segments each segment has a panel.

    Parameters
    ----------
    thresholds : "all", int, list of floats, ("quantiles", int) or None, optional
        The thresholds, as in `bf.curve`: by default at most 1,000 distinct scores of each line.
        Points too close to be distinguished are left out. The ranking always uses all scores.

    Examples
    --------
    >>> import polars as pl
    >>> import balframe as bf
    >>> df = pl.DataFrame({"y": [0, 0, 1, 0, 1], "score": [0.1, 0.3, 0.4, 0.6, 0.8]})
    >>> chart = bf.plot.gains(df, "y", "score")
    >>> chart.to_dict()["title"]["text"]
    'Cumulative gains'
    """
    return _draw(_GAINS, frame, y_true, y_score, by, thresholds, most, options)


@chart_function
def lift(
    frame: object,
    y_true: Name,
    y_score: Names,
    *,
    by: Names = None,
    thresholds: ThresholdsOption = None,
    most: int = DEFAULT_MOST,
    **options: Unpack[_Options],
) -> AltairChart:
    """Return a chart of lift: how much more often selected rows are positive than all rows.

    A point is a threshold. Lift is the precision divided by the share of positive rows. The
    horizontal axis shows the share of rows selected. The dashed line marks rows selected at random,
    whose lift is 1. Segments are ranked by the area under the ROC curve.

    Up to four segments share a panel. With more, each has its own panel, with the others in grey
    behind it. Each model has its own colour: without segments they share a panel, and with
    segments each segment has a panel.

    Parameters
    ----------
    thresholds : "all", int, list of floats, ("quantiles", int) or None, optional
        The thresholds, as in `bf.curve`: by default at most 1,000 distinct scores of each line.
        Points too close to be distinguished are left out. The ranking always uses all scores.

    Examples
    --------
    >>> import polars as pl
    >>> import balframe as bf
    >>> df = pl.DataFrame({"y": [0, 0, 1, 0, 1], "score": [0.1, 0.3, 0.4, 0.6, 0.8]})
    >>> chart = bf.plot.lift(df, "y", "score")
    >>> chart.to_dict()["title"]["text"]
    'Lift'
    """
    return _draw(_LIFTS, frame, y_true, y_score, by, thresholds, most, options)


def _draw(
    form: _Form,
    frame: object,
    y_true: Name,
    y_score: Names,
    by: Names,
    thresholds: ThresholdsOption,
    most: int,
    options: Any,  # noqa: ANN401 (those of rows, and of clusters)
) -> AltairChart:
    """Return the chart of a form, with a line for each segment and model."""
    row_options = {name: value for name, value in options.items() if name != "cluster"}
    result = collect_result(
        compute_curve(
            frame,
            y_true,
            y_score,
            by=by,
            metrics=form.metrics,
            thresholds=thresholds,
            **row_options,
        )
    )
    area_rows = result_rows(ranking(frame, y_true, y_score, by=by, detail=True, **options))
    rows = line_rows(result, form.metrics[0], form.metrics[1])
    names = by_names(by, rows[0])
    areas = chart_data(area_rows, names, max_panels=len(LINE_COLORS))
    order, left_out = rank_segments(areas, form.area, most)
    areas = areas.select(order)
    data = chart_data(rows, names, max_panels=len(LINE_COLORS)).select(order)
    is_short = max(map(len, order)) <= _LONGEST_NAME and len(order) <= len(LINE_COLORS)
    plot = line_plot(areas, order, is_labelled=is_short and form.is_labelled)
    points = _points(form, data.rows)
    chances = {(row["segment"], row["panel"]): row.get(_PREVALENCE) for row in data.rows}
    for row in areas.rows:
        row["chance"] = chances.get((row["segment"], row["panel"]))
    if form.is_labelled:
        _place_labels(form, areas, points, order, plot)
    layers = _layers(form, plot, [*segment_tooltips(data), *number_tooltips([N_FIELD])])
    background = plot.background_rows(points, form.x, form.y)
    subplot = Subplot(plot.draw(layers), points + areas.rows, background)
    return assemble_chart(
        [subplot], heading(chart_title(form.title, names), [form.note, *left_out])
    )


def _points(form: _Form, rows: Sequence[ChartRow]) -> list[ChartRow]:
    """Return the fields of points that are drawn, with their position along the curve.

    Where nothing is selected, steps end at the precision before.
    """
    points: list[ChartRow] = []
    for at, row in enumerate(rows):
        fields = {name: row[name] for name in ("segment", "panel", "n", "threshold", form.x)}
        y = _lift(row) if form.y == _LIFT else row[form.y]
        is_same_line = bool(points) and all(
            points[-1][name] == row[name] for name in ("segment", "panel")
        )
        if y is None and form.has_steps and is_same_line:
            y = points[-1][form.y]
        points.append(fields | {form.y: y, "at": at})
    return points


def _lift(row: ChartRow) -> float | None:
    """Return the precision divided by the prevalence."""
    precision, prevalence = row[_PRECISION], row[_PREVALENCE]
    return None if precision is None or not prevalence else precision / prevalence


def _place_labels(
    form: _Form, areas: ChartData, points: Sequence[ChartRow], order: list[str], plot: LinePlot
) -> None:
    """Add the texts and positions of each panel's list of areas, in its free corner.

    The list names the lines if there is no legend.
    """
    field, panel = ("segment", "panel") if plot.shares_panel else ("panel", "segment")
    rank = {name: at for at, name in enumerate(order if plot.shares_panel else areas.panels)}
    has_names = plot.shares_panel and len(order) > 1 and not plot.has_legend
    panel_size = (plot.width, plot.height)
    lines: dict[tuple[str, str], list[ChartRow]] = {}
    for point in points:
        lines.setdefault((point["panel"], point["segment"]), []).append(point)
    for name in {row[panel] for row in areas.rows}:
        rows = sorted(
            (row for row in areas.rows if row[panel] == name), key=lambda row: rank[row[field]]
        )
        for row in rows:
            value = row[form.area]
            area = f"{form.area_title} {'undefined' if value is None else f'{value:.3f}'}"
            row["text"] = f"{row[field]}: {area}" if has_names else area
        curves = [
            _to_pixels(form, lines.get((row["panel"], row["segment"]), []), plot) for row in rows
        ]
        n_letters = max(len(row["text"]) for row in rows)
        width = _SYMBOL_WIDTH + _LETTER_WIDTH * plot.font_size * n_letters
        step = _LINE_HEIGHT * plot.font_size
        ends = [(0, rows[0]["chance"]), (1, rows[0]["chance"])] if form.chance else [(0, 0), (1, 1)]
        faint = [(x * plot.width, (1 - (y or 0)) * plot.height) for x, y in ends]
        size = (width, step * len(rows))
        left, top = free_position(curves, np.array(faint, float), size, panel_size)
        for at, row in enumerate(rows):
            row |= {
                "left": left / plot.width,
                "height": 1 - (top + step * (at + 0.5)) / plot.height,
            }


def _to_pixels(form: _Form, points: Sequence[ChartRow], plot: LinePlot) -> FloatArray:
    """Return the points of a curve in pixels from the upper left corner."""
    defined = [
        (row[form.x], 1 - row[form.y]) for row in points if None not in (row[form.x], row[form.y])
    ]
    return np.array(defined, float).reshape(-1, 2) * (plot.width, plot.height)


def _layers(form: _Form, plot: LinePlot, segment_fields: list[alt.Tooltip]) -> list[alt.Chart]:
    """Return the layers of a panel: lines in grey, the line of chance, curves and labels."""
    rates = [
        ("threshold", "threshold", ".4~g"),
        (form.x, _TITLES.get(form.x, form.x), SCORE_FORMAT),
        (form.y, form.y, SCORE_FORMAT),
    ]
    unit = alt.Scale(domain=[0, 1])
    ticks = axis(tickCount=plot.n_ticks)
    x = alt.X(f"{form.x}:Q", title=_TITLES.get(form.x, form.x), scale=unit, axis=ticks)
    y_scale = alt.Scale(zero=True) if form.y == _LIFT else unit
    y = alt.Y(f"{form.y}:Q", title=form.y, scale=y_scale, axis=ticks)
    order = alt.Order("at:Q")
    line = alt.Chart().transform_filter(f"isValid(datum.{form.x})").encode(x=x, y=y, order=order)
    curves = line.mark_line(
        strokeWidth=1.5 if plot.shares_panel else 2,
        interpolate="step-after" if form.has_steps else "linear",
    ).encode(color=plot.color, tooltip=[*segment_fields, *number_tooltips(rates)])
    return [
        *plot.background_lines(x=x, y=y),
        _chance_layer(form, plot),
        curves,
        *(_label_layers(form, plot, segment_fields) if form.is_labelled else []),
    ]


def _chance_layer(form: _Form, plot: LinePlot) -> alt.Chart:
    """Return the layer of what chance gives, dashed."""
    if form.chance is None:
        return dashed_diagonal()
    if isinstance(form.chance, float):
        return dashed_rule(y=alt.YDatum(form.chance))
    rules = alt.Chart().transform_filter("isValid(datum.chance)")
    lines: alt.Chart = rules.mark_rule(strokeDash=[4, 3]).encode(
        y=alt.Y("chance:Q"), color=plot.color
    )
    return lines


def _label_layers(
    form: _Form, plot: LinePlot, segment_fields: list[alt.Tooltip]
) -> list[alt.Chart]:
    """Return the layers of the list of areas, each beside a sample of its line."""
    fields = [(form.area, form.area_title, SCORE_FORMAT), *form.limit_fields]
    label = (
        alt.Chart()
        .transform_filter("isValid(datum.text)")
        .encode(
            x=alt.X("left:Q"),
            y=alt.Y("height:Q"),
            tooltip=[*segment_fields, *number_tooltips(fields)],
        )
    )
    symbols = label.mark_point(shape="stroke", opacity=1, size=150, strokeWidth=2, xOffset=8)
    texts = label.mark_text(align="left", color=INK, fontSize=plot.font_size, dx=_SYMBOL_WIDTH)
    return [symbols.encode(color=plot.color), texts.encode(text=alt.Text("text:N"))]


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
