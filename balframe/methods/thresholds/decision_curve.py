"""The decision curve: the net benefit of acting on a score, at every threshold probability."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Unpack

import altair as alt

from balframe._text import chart_title, format_percent
from balframe.api.options import Names, RowOptions
from balframe.charts.facets import AltairChart, Subplot, assemble_chart, dashed_rule
from balframe.charts.line_plot import LinePlot, line_plot, line_rows
from balframe.charts.options import DEFAULT_MOST, chart_function
from balframe.charts.rows import ChartData, ChartRow, by_names, chart_data, rank_segments
from balframe.charts.style import (
    INTERVAL_OPACITY,
    LIMIT_FIELDS,
    LINE_COLORS,
    N_FIELD,
    SCORE_FORMAT,
    axis,
    heading,
    number_tooltips,
    segment_tooltips,
)
from balframe.frames.adapter import Name
from balframe.frames.convert_result import collect_result
from balframe.frames.thresholds import ThresholdsOption
from balframe.methods.thresholds.curve import curve

_NET_BENEFIT, _PREVALENCE = "net_benefit", "prevalence"
_GRID = [step / 100 for step in range(1, 100)]
_BELOW_ZERO = 0.2  # of the height above 0: how far down the chart shows losses
_TITLE = "Decision curve"


@chart_function
def decision_curve(
    frame: object,
    y_true: Name,
    y_score: Names,
    *,
    by: Names = None,
    thresholds: ThresholdsOption = None,
    level: float = 0.95,
    most: int = DEFAULT_MOST,
    **options: Unpack[RowOptions],
) -> AltairChart:
    """Return a chart of the net benefit of acting on a probability, at every threshold.

    A threshold is the probability from which acting is worthwhile. Net benefit counts true
    positives, less false positives at the exchange rate of the threshold, for each row. A score is
    useful where its line lies above both dashed ones: acting on everybody, which has the colour of
    the segment, and acting on nobody, at 0. Each point has a confidence interval of its own.

    Up to four segments share a panel. With more, each has its own panel, with the others in grey
    behind it. Each model has its own colour: without segments they share a panel, and with
    segments each segment has a panel. Segments are ranked by their highest net benefit.

    Parameters
    ----------
    thresholds : "all", int, list of floats, ("quantiles", int) or None, optional
        The threshold probabilities, as in `bf.curve`; by default 0.01, 0.02, ..., 0.99. Those below
        0, and those of 1 or above, are left out.
    level : float, default 0.95
        Confidence level of the intervals.

    References
    ----------
    A. J. Vickers and E. B. Elkin, "Decision curve analysis: a novel method for evaluating
    prediction models", Medical Decision Making 2006.

    Examples
    --------
    >>> import polars as pl
    >>> import balframe as bf
    >>> df = pl.DataFrame({"y": [0, 0, 1, 0, 1], "probability": [0.1, 0.3, 0.4, 0.6, 0.8]})
    >>> chart = bf.plot.decision_curve(df, "y", "probability")
    >>> chart.to_dict()["title"]["text"]
    'Decision curve'
    """
    result = collect_result(
        curve(
            frame,
            y_true,
            y_score,
            by=by,
            metrics=[_NET_BENEFIT, _PREVALENCE],
            thresholds=_GRID if thresholds is None else thresholds,
            interval=True,
            level=level,
            **options,
        )
    )
    rows = line_rows(result, "threshold", _NET_BENEFIT)
    names = by_names(by, rows[0])
    data = chart_data(rows, names, max_panels=len(LINE_COLORS))
    points = [_point(row) for row in data.rows if row[_NET_BENEFIT] is not None]
    best = _best(data)
    order, left_out = rank_segments(best, _NET_BENEFIT, most)
    best = best.select(order)
    points = [row for row in points if row["segment"] in order]
    plot = line_plot(best, order)
    layers = _layers(plot, points, segment_tooltips(data))
    background = plot.background_rows(points, "threshold", "estimate")
    note = (
        f"{format_percent(level)} confidence interval at each threshold; dashed: acting on "
        "everybody, and on nobody"
    )
    title = heading(chart_title(_TITLE, names), [note, *left_out])
    return assemble_chart([Subplot(plot.draw(layers), points, background)], title)


def _point(row: ChartRow) -> ChartRow:
    """Return the fields of a threshold that are drawn."""
    t, prevalence = row["threshold"], row[_PREVALENCE]
    everybody = None if prevalence is None else prevalence - (1 - prevalence) * t / (1 - t)
    return {key: row[key] for key in ("segment", "panel", "n", "threshold")} | {
        "estimate": row[_NET_BENEFIT],
        "lower": row[f"{_NET_BENEFIT}_lower"],
        "upper": row[f"{_NET_BENEFIT}_upper"],
        "everybody": everybody,
    }


def _best(data: ChartData) -> ChartData:
    """Keep the point of the highest net benefit of each line, the first of several."""
    best: dict[tuple[str, str], ChartRow] = {}
    for row in data.rows:
        line, value = (row["segment"], row["panel"]), row[_NET_BENEFIT]
        highest = best.setdefault(line, row)[_NET_BENEFIT]
        if value is not None and (highest is None or value > highest):
            best[line] = row
    return replace(data, rows=list(best.values()))


def _layers(
    plot: LinePlot, points: Sequence[ChartRow], segment_fields: list[alt.Tooltip]
) -> list[alt.Chart]:
    """Return the layers of a panel: intervals, lines in grey, acting on all or none, and curves."""
    tops = [row[name] for row in points for name in ("estimate", "everybody") if row[name]]
    top = max([0.01, *tops])
    scale = alt.Scale(domain=[-_BELOW_ZERO * top, 1.05 * top])
    ticks = axis(tickCount=plot.n_ticks)
    x = alt.X("threshold:Q", title="threshold probability", scale=alt.Scale(zero=False), axis=ticks)
    y = alt.Y("estimate:Q", title="net benefit", scale=scale, axis=ticks)
    fields = [
        N_FIELD,
        ("threshold", "threshold", ".4~g"),
        ("estimate", "net benefit", SCORE_FORMAT),
        *LIMIT_FIELDS,
        ("everybody", "acting on everybody", SCORE_FORMAT),
    ]
    line = alt.Chart().encode(x=x, color=plot.color)
    band = line.mark_area(opacity=INTERVAL_OPACITY, clip=True).encode(
        y=alt.Y("lower:Q", title="net benefit", scale=scale), y2=alt.Y2("upper:Q")
    )
    everybody = line.mark_line(strokeWidth=1, strokeDash=[4, 3], clip=True).encode(
        y=alt.Y("everybody:Q", title="net benefit", scale=scale)
    )
    curves = line.mark_line(strokeWidth=1.5, clip=True).encode(
        y=y, tooltip=[*segment_fields, *number_tooltips(fields)]
    )
    nobody = dashed_rule(y=alt.YDatum(0))
    return [band, nobody, *plot.background_lines(x=x, y=y), everybody, curves]
