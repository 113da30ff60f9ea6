"""The chart of `monitor`: scores over time with their baseline, a panel for each segment."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from typing import Any, Unpack

import altair as alt

from balframe._text import chart_title, format_percent, interval_phrase
from balframe.api.metric_selection import Metrics
from balframe.api.option_types import StreamBaselineOption
from balframe.api.options import (
    CellOptions,
    ClassWeightOptions,
    LevelOptions,
    Names,
    OutcomeOptions,
    UnweightedRowOptions,
)
from balframe.charts.drawn_result import DrawnResult, draws_result
from balframe.charts.facets import (
    AltairChart,
    Subplot,
    assemble_chart,
    facet_by_segment,
    panel_size,
)
from balframe.charts.options import DEFAULT_METRIC, ChartMetric, chart_function, chart_metrics
from balframe.charts.rows import (
    ChartData,
    ResultRow,
    by_names,
    chart_data,
    highest_segments,
    result_rows,
)
from balframe.charts.style import (
    BLUE,
    GREY,
    INK,
    LIMIT_FIELDS,
    N_FIELD,
    SCORE_FORMAT,
    VERMILLION,
    TooltipField,
    axis,
    heading,
    legend,
    panel_heading,
    segment_tooltips,
)
from balframe.charts.style import number_tooltips as tooltips
from balframe.core.periods import PeriodLength
from balframe.frames.adapter import Name
from balframe.frames.by_entries import Period
from balframe.frames.query import PERIOD
from balframe.methods.monitoring.decide import ALARM, INCONCLUSIVE, OK
from balframe.methods.monitoring.monitor import MonitorOptions
from balframe.methods.monitoring.monitor import monitor as method

_DEFAULT_MOST = 24
_PANEL_SIZES = ((1, 1, 560, 260), (4, 2, 270, 170), (9, 3, 170, 120), (float("inf"), 4, 120, 95))
_UNITS = {"d": "day", "w": "week", "mo": "month", "q": "quarter", "y": "year"}
_BAR_SHARE, _MAX_BAR_WIDTH = 0.4, 5  # of the width of a period, and in pixels
_LARGE_AREA, _SMALL_AREA = 45, 14  # of points
_MAX_DENSE_WIDTH = 6  # pixels of a period, up to which points are small
_ALARM_SCALE = 2  # of the area of an alarm
_DAY, _SINCE = "day", "since"  # the fields of the period as a time of Vega, and of its start
_FIELDS: list[TooltipField] = [
    N_FIELD,
    ("estimate", "score", SCORE_FORMAT),
    *LIMIT_FIELDS,
    ("baseline_estimate", "score of the baseline", SCORE_FORMAT),
    ("control_limit", "control limit", SCORE_FORMAT),
    ("window_difference", "difference since then", SCORE_FORMAT),
    ("window_lower", "lower limit of the difference", SCORE_FORMAT),
    ("window_upper", "upper limit of the difference", SCORE_FORMAT),
]
_TEXT_FIELDS = {PERIOD: "period", "status": "status", _SINCE: "most likely worse since"}
_LINE_NAMES = {"baseline_estimate": "baseline", "control_limit": "control limit of one period"}
_DASHES = ([1, 0], [4, 3])
_STATUS_MARKS = {
    ALARM: (VERMILLION, "diamond"),
    OK: (BLUE, "circle"),
    INCONCLUSIVE: (GREY, "square"),
}


class _Options(
    OutcomeOptions,
    MonitorOptions,
    LevelOptions,
    ClassWeightOptions,
    UnweightedRowOptions,
    CellOptions,
    total=False,
): ...


@chart_function
def monitor(
    frame: object,
    y_true: Name = None,
    y_pred: Names = None,
    *,
    time: Period,
    baseline: StreamBaselineOption,
    by: Names = None,
    metrics: Metrics = DEFAULT_METRIC,
    most: int = _DEFAULT_MOST,
    **options: Unpack[_Options],
) -> AltairChart:
    """Return the scores of every segment over time, beside their baseline, with alarms marked.

    Each segment and model has a panel, and each metric has panels of its own. A point is the score
    of a period, with its confidence interval as a bar. Alarms are diamonds of another colour, and
    inconclusive periods are grey squares. The solid line is the score of the baseline. The dashed
    line is the score at which the period alone would raise an alarm; several periods together raise
    one above it. Lines are broken where a period has no rows.

    Parameters
    ----------
    time : `bf.period`
        The periods of a column of dates or datetimes, as in `bf.monitor`.
    baseline : date, {"until": date}, or result of `confusion`
        What every period is compared with, as in `bf.monitor`.
    most : int, default 24
        Maximum number of panels to draw for each metric. If there are more, segments with an alarm
        are drawn first, the latest alarms before others, and then those with the most rows. A line
        below the title states how many are left out.
    level : float, default 0.95
        Confidence level of the intervals, in (0.5, 1); 1 - level is the probability of any false
        alarm, as in `bf.monitor`.

    Examples
    --------
    >>> import polars as pl
    >>> import balframe as bf
    >>> weeks = pl.date_range(pl.date(2026, 1, 5), pl.date(2026, 1, 19), "1w", eager=True)
    >>> launch = pl.DataFrame({"y": [1, 1, 0, 0], "yhat": [1, 0, 0, 1], "n": [900, 100, 900, 100]})
    >>> live = pl.DataFrame({
    ...     "day": weeks.repeat_by(4).explode(), "y": [1, 1, 0, 0] * 3, "yhat": [1, 0, 0, 1] * 3,
    ...     "n": [91, 9, 90, 10, 88, 12, 91, 9, 55, 45, 88, 12],
    ... })
    >>> chart = bf.plot.monitor(
    ...     live, "y", "yhat", time=bf.period("day", "1w"), baseline=launch,
    ...     dispersion=None,
    ... )
    >>> chart.to_dict()["title"]["text"]
    'Balanced accuracy every week'
    """
    selected_metrics = chart_metrics(metrics, options["class_weight"])
    request: Any = {"time": time, "baseline": baseline, "by": by, **options}
    rows = result_rows(method(frame, y_true, y_pred, metrics=metrics, detail=True, **request))
    return _draw_periods(
        DrawnResult(rows, by_names(by, rows[0]), selected_metrics),
        options["level"],
        most,
        _period_length(time.every),
        options,
    )


@draws_result(
    *(PERIOD, "status", _SINCE, *(field for field, _, _ in _FIELDS)),
)
def draw_monitor(
    result: DrawnResult, *, level: float = 0.95, most: int = _DEFAULT_MOST
) -> AltairChart:
    """Return the chart of a result of `monitor`."""
    by = [name for name in result.by if name != PERIOD]
    return _draw_periods(replace(result, by=by), level, most, "over time", None)


def _draw_periods(
    result: DrawnResult,
    level: float,
    most: int,
    periods: str,
    options: Any,  # noqa: ANN401
) -> AltairChart:
    """Return the scores over time; the `options` of the method, if known, give a further line."""
    selected_metrics, names = result.metrics, result.by
    data_by_metric = [_metric_data(metric, result.rows, names) for metric in selected_metrics]
    order, left_out = _select_segments([row for data in data_by_metric for row in data.rows], most)
    is_single = len(selected_metrics) == 1
    size = panel_size(_PANEL_SIZES, len(order))
    subplots = [
        Subplot(
            facet_by_segment(
                _layers(metric, data, size.width),
                data,
                order,
                size,
                alt.Undefined if is_single else panel_heading(metric.title, frame="group"),
            ),
            data.select(order).rows,
        )
        for metric, data in zip(selected_metrics, data_by_metric, strict=True)
    ]
    title = f"{selected_metrics[0].title if is_single else 'scores'} {periods}"
    n_segments = len(data_by_metric[0].segments)
    false_alarms = (
        [] if options is None else [_false_alarm_note(options, n_segments, len(selected_metrics))]
    )
    below = [f"{interval_phrase(level)} of single periods", *false_alarms, *left_out]
    return assemble_chart(subplots, heading(chart_title(title, names), below))


def _period_length(every: PeriodLength) -> str:
    """Describe the length of the periods."""
    unit = _UNITS[every.unit]
    return f"every {unit}" if every.number == 1 else f"every {every.number} {unit}s"


def _false_alarm_note(options: Any, n_segments: int, n_metrics: int) -> str:  # noqa: ANN401
    """Return the line on the probability of false alarms."""
    numbers = {"segments": n_segments, "metrics": n_metrics}
    shared = " and ".join(f"{n:,} {name}" for name, n in numbers.items() if n > 1)
    among = f", shared by {shared}" if options["adjust"] else f", for each of {shared} alone"
    alpha, looks = format_percent(1 - options["level"]), options["looks"]
    return (
        f"Designed probability of any false alarm in {looks:,} periods: {alpha}"
        f"{among if shared else ''}"
    )


def _metric_data(
    metric: ChartMetric, rows: Sequence[ResultRow], names: Sequence[Name]
) -> ChartData:
    """Return the rows of a metric, with their periods as text."""
    fields = [*_TEXT_FIELDS, *(field for field, _, _ in _FIELDS), "model"]
    columns = {*fields, *names}
    metric_rows = [row for row in rows if row["metric"] == metric.name]
    slim_rows = [
        {name: value for name, value in row.items() if name in columns} for row in metric_rows
    ]
    data = chart_data(slim_rows, names, max_panels=0)
    for row in data.rows:
        row[PERIOD] = row[_DAY] = _iso_date(row[PERIOD])
        row[_SINCE] = None if row["window_difference"] is None else _iso_date(row[_SINCE])
    return data


def _iso_date(day: object) -> str:
    return str(day)[: len("2026-03-31")]


def _select_segments(rows: Sequence[Any], most: int) -> tuple[list[str], list[str]]:
    """Return the segments with the latest alarms, then the most rows, in their order."""
    n, alarms = Counter[str](), dict[str, str]()
    for row in rows:
        n[row["segment"]] += row["n"]
        if row["status"] == ALARM:
            alarms[row["segment"]] = max(alarms.get(row["segment"], ""), row[PERIOD])
    ranks = {name: (alarms.get(name, ""), n[name]) for name in n}
    note = f"{most:,} of {len(n):,} segments: those with the latest alarms, then the largest"
    return highest_segments(ranks, most, note)


def _layers(metric: ChartMetric, data: ChartData, width: int) -> list[alt.Chart]:
    """Return the layers of a panel: intervals, baseline and control limit, line and points."""
    pixels = width / len({row[_DAY] for row in data.rows})
    x = alt.X(
        f"{_DAY}:T",
        title=None,
        scale=alt.Scale(type="utc", padding=6),
        axis=axis(tickCount=max(3, width // 45), labelOverlap=True),
    )
    y = alt.Y(
        "estimate:Q",
        title=metric.title,
        scale=alt.Scale(zero=False, padding=4),
        axis=axis(tickCount=5),
    )
    tooltip = [
        *segment_tooltips(data),
        *(alt.Tooltip(f"{field}:N", title=title) for field, title in _TEXT_FIELDS.items()),
        *tooltips(_FIELDS),
    ]
    bar = max(1.0, min(_MAX_BAR_WIDTH, _BAR_SHARE * pixels))
    colors, shapes = zip(*_STATUS_MARKS.values(), strict=True)
    color = alt.Color(
        "status:N",
        title=None,
        scale=alt.Scale(domain=[*_STATUS_MARKS], range=[*colors]),
        legend=legend(symbolOpacity=1, symbolSize=_LARGE_AREA),
    )
    shape = alt.Shape(
        "status:N",
        title=None,
        scale=alt.Scale(domain=[*_STATUS_MARKS], range=[*shapes]),
        legend=legend(),
    )
    is_alarm = alt.datum.status == ALARM
    plain = _LARGE_AREA if pixels > _MAX_DENSE_WIDTH else _SMALL_AREA
    base = alt.Chart().encode(x=x)
    limits = base.transform_filter("isValid(datum.lower) && isValid(datum.upper)")
    return [
        limits.mark_rule(strokeWidth=bar, opacity=0.4).encode(
            y=alt.Y("lower:Q", title=metric.title),
            y2=alt.Y2("upper:Q"),
            color=color,
            tooltip=tooltip,
        ),
        *_baseline_layers(base),
        base.mark_line(color=BLUE, strokeWidth=1).encode(y=y),
        base.transform_filter("isValid(datum.estimate)")
        .mark_point(filled=True, opacity=1)
        .encode(
            y=y,
            color=color,
            shape=shape,
            size=alt.condition(is_alarm, alt.value(_ALARM_SCALE * plain), alt.value(plain)),
            tooltip=tooltip,
        ),
    ]


def _baseline_layers(base: alt.Chart) -> list[alt.Chart]:
    """Return the layers of the baseline and the control limits: steps, named in a legend."""
    dash = alt.StrokeDash(
        "line:N",
        title=None,
        scale=alt.Scale(domain=[*_LINE_NAMES.values()], range=[*_DASHES]),
        legend=legend(symbolType="stroke", symbolStrokeColor=INK),
    )
    return [
        base.transform_calculate(line=repr(name))
        .mark_line(color=INK, strokeWidth=1.2, interpolate="step")
        .encode(y=alt.Y(f"{field}:Q"), strokeDash=dash)
        for field, name in _LINE_NAMES.items()
    ]
