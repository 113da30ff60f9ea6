"""The chart of `calibration_curve`: reliability diagrams, one in each panel."""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, Unpack

import altair as alt
import numpy as np

from balframe._text import intervals, titled
from balframe.api.options import LevelOptions, Names
from balframe.charts.facets import NO_ROWS, SINGLE_ROW, AltairChart, Chart, Subplot, assemble_chart
from balframe.charts.options import chart_function
from balframe.charts.rows import (
    ChartData,
    ChartRow,
    ResultRow,
    by_names,
    chart_data,
    panel_columns,
    result_rows,
)
from balframe.charts.style import (
    BACKGROUND_OPACITY,
    BLUE,
    COUNT_FORMAT,
    GREY,
    RULE,
    SCORE_FORMAT,
    VERMILLION,
    TooltipField,
    axis,
    heading,
    segment_tooltips,
)
from balframe.charts.style import number_tooltips as tooltips
from balframe.core.array_types import FloatArray
from balframe.frames.adapter import Name
from balframe.methods.calibration.calibration import CalibrationOptions
from balframe.methods.calibration.calibration_curve import BINS
from balframe.methods.calibration.calibration_curve import calibration_curve as method
from balframe.methods.thresholds.curve import curve

_MOST = 24
_NOT_OF_CURVE = ("level", "resolution")  # options that the histogram does without
_UNIT = (0.0, 1.0)
_SIZES = ((1, 1, 400, 340), (4, 2, 270, 230), (9, 3, 180, 155), (float("inf"), 4, 130, 112))
_BARS = 40  # of the histogram of each panel
_HIGHEST = 0.15  # of the height of a panel, the highest bar
_FIELDS: list[TooltipField] = [
    ("n", "rows", COUNT_FORMAT),
    ("n_positive", "positive rows", COUNT_FORMAT),
    ("score_low", "lowest score", ".4~g"),
    ("score_high", "highest score", ".4~g"),
    ("mean_score", "mean score", SCORE_FORMAT),
    ("observed", "observed share of positives", SCORE_FORMAT),
    ("lower", "lower limit", SCORE_FORMAT),
    ("upper", "upper limit", SCORE_FORMAT),
    ("isotonic", "isotonic fit", SCORE_FORMAT),
]
_BAR: list[TooltipField] = [
    ("count", "rows", COUNT_FORMAT),
    ("from", "score from", ".4~g"),
    ("to", "score below", ".4~g"),
]


class _Options(LevelOptions, CalibrationOptions, total=False): ...


@chart_function
def calibration(
    frame: object,
    y_true: Name,
    y_score: Names,
    *,
    by: Names = None,
    bins: int = BINS,
    most: int = _MOST,
    **options: Unpack[_Options],
) -> AltairChart:
    """Return the reliability diagram of every segment.

    Each segment and model has a panel. Points are bins of scores: the mean score and the observed
    share of positive rows, with its confidence interval. The line is the isotonic fit, an
    increasing function of the score that fits the labels best. Grey bars at the bottom are the
    histogram of the scores. If scores are probabilities, the dashed diagonal is where all points
    would lie but for chance.

    Parameters
    ----------
    bins : int, default 10
        Number of bins of each segment, as in `bf.calibration_curve`.
    most : int, default 24
        Maximum number of panels to draw. If there are more, those with the most rows are drawn, and
        a line below the title states how many are left out.

    Returns
    -------
    altair chart
        You can restyle or save it: `chart.save("calibration.png")`, `chart.save("calibration.html",
        inline=True)`.

    Examples
    --------
    >>> import polars as pl
    >>> import balframe as bf
    >>> df = pl.DataFrame({"y": [0, 1, 0, 1], "p": [0.2, 0.2, 0.6, 0.6], "n": [80, 20, 60, 40]})
    >>> chart = bf.plot.calibration(df, "y", "p", counts="n")
    >>> chart.to_dict()["title"]["text"]
    'Calibration'
    """
    asked: Any = {name: one for name, one in options.items() if name not in _NOT_OF_CURVE}
    rows = result_rows(method(frame, y_true, y_score, by=by, bins=bins, **options))
    names = by_names(by, rows[0])
    drawn = chart_data(rows, names, max_panels=0)
    order, left_out = _largest(drawn, most)
    ends = _ends(rows)
    edges = np.linspace(*ends, _BARS + 1)
    counted = curve(
        frame, y_true, y_score, by=by, metrics="accuracy", thresholds=edges.tolist(), **asked
    )
    bars = _bars(chart_data(result_rows(counted), names, max_panels=0).select(order), edges)
    title = titled("Calibration", names)
    below = [f"{intervals(options['level'])} of single bins; line: isotonic fit", *left_out]
    part = Subplot(_diagrams(drawn, order, ends), [*drawn.select(order).rows, *bars])
    return assemble_chart([part], heading(title, below))


def _ends(rows: Iterable[ResultRow]) -> tuple[float, float]:
    """Find the ends of the axis of scores: those of probabilities, or of the scores there are."""
    low = min(row["score_low"] for row in rows)
    high = max(row["score_high"] for row in rows)
    if low >= 0 and high <= 1:
        return _UNIT
    beside = (high - low) / _BARS or 0.5
    return low - beside, high + beside


def _largest(drawn: ChartData, most: int) -> tuple[list[str], list[str]]:
    """Keep the panels with the most rows, in their order, and say how many are left out."""
    n = Counter[str]()
    for row in drawn.rows:
        n[row["segment"]] += row["n"]
    kept = {name for name, _ in n.most_common(most)}
    left_out = [f"The {most:,} largest of {len(n):,} segments"] if len(n) > most else []
    return [name for name in drawn.segments if name in kept], left_out


def _bars(drawn: ChartData, edges: FloatArray) -> Iterator[ChartRow]:
    """Count the rows between the edges, in the histogram of each panel."""
    reaching: dict[tuple[str, str], dict[float, int]] = {}
    for row in drawn.rows:
        of_panel = reaching.setdefault((row["segment"], row["panel"]), {})
        of_panel[row["threshold"]] = row["predicted_positive"]
    for (segment, panel), counts in reaching.items():
        n = -np.diff([counts[edge] for edge in edges.tolist()])
        n[-1] += counts[edges[-1]]
        for low, high, many in zip(edges[:-1], edges[1:], n, strict=True):
            if many:
                height = _HIGHEST * many / n.max()
                place = {"segment": segment, "panel": panel, "from": low, "to": high}
                yield {**place, "count": int(many), "height": float(height)}


def _diagrams(drawn: ChartData, order: Sequence[str], ends: tuple[float, float]) -> Chart:
    """Draw the diagrams, without their rows."""
    most, width, height = next(size for many, *size in _SIZES if len(order) <= many)
    layers = _layers(drawn, ends, max(3, width // 50))
    sized = alt.LayerChart(layer=layers).properties(width=width, height=height)
    if len(order) == 1:
        return sized
    panel = alt.Facet("segment:N", title=drawn.segment_title or None, sort=[*order])
    return sized.facet(panel, data=NO_ROWS, columns=panel_columns(len(order), most))


def _layers(drawn: ChartData, ends: tuple[float, float], n_ticks: int) -> list[alt.Chart]:
    """Draw what each panel has: histogram, diagonal, isotonic fit, limits and points."""
    scale = alt.Scale(domain=[*ends])
    x = alt.X("mean_score:Q", title="score", scale=scale, axis=axis(tickCount=n_ticks))
    y = alt.Y(
        "observed:Q",
        title="observed share of positives",
        scale=alt.Scale(domain=[*_UNIT]),
        axis=axis(tickCount=n_ticks),
    )
    tooltip = [*segment_tooltips(drawn), *tooltips(_FIELDS)]
    scores = alt.Chart().transform_filter("isValid(datum.height)")
    bars = scores.mark_bar(color=GREY, opacity=BACKGROUND_OPACITY, binSpacing=0).encode(
        x=alt.X("from:Q", scale=scale),
        x2="to:Q",
        y=alt.Y("height:Q"),
        y2=alt.datum(0),
        tooltip=[*segment_tooltips(drawn), *tooltips(_BAR)],
    )
    of_bins = alt.Chart().transform_filter("isValid(datum.bin)")
    line = of_bins.mark_line(color=VERMILLION, strokeWidth=1.5).encode(x=x, y="isotonic:Q")
    limits = of_bins.mark_rule(color=BLUE, strokeWidth=1.5).encode(
        x=x, y="lower:Q", y2="upper:Q", tooltip=tooltip
    )
    points = of_bins.mark_point(color=BLUE, filled=True, opacity=1, size=36).encode(
        x=x, y=y, tooltip=tooltip
    )
    diagonal = (
        alt.Chart(SINGLE_ROW)
        .mark_rule(strokeDash=[4, 3], color=RULE)
        .encode(x=alt.datum(0), y=alt.datum(0), x2=alt.datum(1), y2=alt.datum(1))
    )
    return [bars, *([diagonal] if ends == _UNIT else []), line, limits, points]
