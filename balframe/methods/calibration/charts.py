"""The chart of `calibration_curve`: reliability diagrams, one in each panel."""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, Unpack

import altair as alt
import numpy as np

from balframe._text import chart_title, interval_phrase
from balframe.api.options import LevelOptions, Names
from balframe.charts.drawn_result import DrawnResult, draws_result
from balframe.charts.facets import (
    AltairChart,
    Subplot,
    assemble_chart,
    dashed_diagonal,
    facet_by_segment,
    panel_size,
)
from balframe.charts.options import chart_function
from balframe.charts.rows import (
    ChartData,
    ChartRow,
    ResultRow,
    by_names,
    chart_data,
    highest_segments,
    result_rows,
)
from balframe.charts.style import (
    BACKGROUND_OPACITY,
    BLUE,
    COUNT_FORMAT,
    GREY,
    LIMIT_FIELDS,
    N_FIELD,
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

_DEFAULT_MOST = 24
_NOT_FOR_HISTOGRAM = ("level", "resolution")  # options that the histogram does not have
_UNIT_RANGE = (0.0, 1.0)
_PANEL_SIZES = ((1, 1, 400, 340), (4, 2, 270, 230), (9, 3, 180, 155), (float("inf"), 4, 130, 112))
_N_BARS = 40  # of the histogram of each panel
_MAX_BAR_HEIGHT = 0.15  # share of the height of a panel
_BIN_FIELDS: list[TooltipField] = [
    N_FIELD,
    ("n_positive", "positive rows", COUNT_FORMAT),
    ("score_low", "lowest score", ".4~g"),
    ("score_high", "highest score", ".4~g"),
    ("mean_score", "mean score", SCORE_FORMAT),
    ("observed", "observed share of positives", SCORE_FORMAT),
    *LIMIT_FIELDS,
    ("isotonic", "isotonic fit", SCORE_FORMAT),
]
_BAR_FIELDS: list[TooltipField] = [
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
    most: int = _DEFAULT_MOST,
    **options: Unpack[_Options],
) -> AltairChart:
    """Return the reliability diagram of every segment.

    Each segment and model has a panel. Points are bins of scores: the mean score and the observed
    share of positive rows, with its confidence interval. The line is the isotonic fit, an
    increasing function of the score that fits the labels best. Grey bars at the bottom are the
    histogram of the scores. If scores are probabilities, the dashed diagonal is where all points
    would lie apart from chance.

    Parameters
    ----------
    bins : int, default 10
        Number of bins of each segment, as in `bf.calibration_curve`.
    most : int, default 24
        Maximum number of panels to draw. If there are more, those with the most rows are drawn, and
        a line below the title states how many are left out.

    Examples
    --------
    >>> import polars as pl
    >>> import balframe as bf
    >>> df = pl.DataFrame({"y": [0, 1, 0, 1], "p": [0.2, 0.2, 0.6, 0.6], "n": [80, 20, 60, 40]})
    >>> chart = bf.plot.calibration(df, "y", "p", counts="n")
    >>> chart.to_dict()["title"]["text"]
    'Calibration'
    """
    histogram_options: Any = {
        name: value for name, value in options.items() if name not in _NOT_FOR_HISTOGRAM
    }
    rows = result_rows(method(frame, y_true, y_score, by=by, bins=bins, detail=True, **options))
    names = by_names(by, rows[0])
    edges = np.linspace(*_score_range(rows), _N_BARS + 1)
    counts = curve(
        frame,
        y_true,
        y_score,
        by=by,
        metrics="accuracy",
        thresholds=edges.tolist(),
        **histogram_options,
    )
    histogram_data = chart_data(result_rows(counts), names, max_panels=0)
    bars = list(_histogram_bars(histogram_data, edges))
    return _draw_diagrams(DrawnResult(rows, names, []), options["level"], most, bars)


@draws_result("bin", *(field for field, _, _ in _BIN_FIELDS))
def draw_calibration(
    result: DrawnResult, *, level: float = 0.95, most: int = _DEFAULT_MOST
) -> AltairChart:
    """Return the chart of a result of `calibration_curve`, without histograms of the scores."""
    return _draw_diagrams(result, level, most, [])


def _draw_diagrams(
    result: DrawnResult, level: float, most: int, bars: Sequence[ChartRow]
) -> AltairChart:
    """Return the reliability diagrams, above the bars of their histograms."""
    names, score_range = result.by, _score_range(result.rows)
    data = chart_data(result.rows, names, max_panels=0)
    segments, left_out = _largest_segments(data, most)
    title = chart_title("Calibration", names)
    subtitles = [
        f"{interval_phrase(level)} of single bins; line: isotonic fit",
        *left_out,
    ]
    size = panel_size(_PANEL_SIZES, len(segments))
    layers = _layers(data, score_range, max(3, size.width // 50))
    chart = facet_by_segment(layers, data, segments, size)
    bars = [bar for bar in bars if bar["segment"] in segments]
    subplot = Subplot(chart, [*data.select(segments).rows, *bars])
    return assemble_chart([subplot], heading(title, subtitles))


def _score_range(rows: Iterable[ResultRow]) -> tuple[float, float]:
    """Return the ends of the axis of scores: 0 and 1, or those of scores beyond these."""
    low = min(row["score_low"] for row in rows)
    high = max(row["score_high"] for row in rows)
    if low >= 0 and high <= 1:
        return _UNIT_RANGE
    margin = (high - low) / _N_BARS or 0.5
    return low - margin, high + margin


def _largest_segments(data: ChartData, most: int) -> tuple[list[str], list[str]]:
    """Return the segments with the most rows, in their order, and a line if any are left out."""
    n = Counter[str]()
    for row in data.rows:
        n[row["segment"]] += row["n"]
    return highest_segments(n, most, f"The {most:,} largest of {len(n):,} segments")


def _histogram_bars(data: ChartData, edges: FloatArray) -> Iterator[ChartRow]:
    """Yield the bars of the histogram of each panel: the rows between neighbouring edges."""
    n_reaching: dict[tuple[str, str], dict[float, int]] = {}
    for row in data.rows:
        panel_counts = n_reaching.setdefault((row["segment"], row["panel"]), {})
        panel_counts[row["threshold"]] = row["predicted_positive"]
    for (segment, panel), counts in n_reaching.items():
        n = -np.diff([counts[edge] for edge in edges.tolist()])
        n[-1] += counts[edges[-1]]
        for low, high, count in zip(edges[:-1], edges[1:], n, strict=True):
            if count:
                height = _MAX_BAR_HEIGHT * count / n.max()
                bar = {"segment": segment, "panel": panel, "from": low, "to": high}
                yield {**bar, "count": int(count), "height": float(height)}


def _layers(data: ChartData, score_range: tuple[float, float], n_ticks: int) -> list[alt.Chart]:
    """Return the layers of a panel: histogram, diagonal, isotonic fit, limits and points."""
    scale = alt.Scale(domain=[*score_range])
    x = alt.X("mean_score:Q", title="score", scale=scale, axis=axis(tickCount=n_ticks))
    y = alt.Y(
        "observed:Q",
        title="observed share of positives",
        scale=alt.Scale(domain=[*_UNIT_RANGE]),
        axis=axis(tickCount=n_ticks),
    )
    tooltip = [*segment_tooltips(data), *tooltips(_BIN_FIELDS)]
    bar_rows = alt.Chart().transform_filter("isValid(datum.height)")
    bars = bar_rows.mark_bar(color=GREY, opacity=BACKGROUND_OPACITY, binSpacing=0).encode(
        x=alt.X("from:Q", scale=scale),
        x2=alt.X2("to:Q"),
        y=alt.Y("height:Q"),
        y2=alt.Y2Datum(0),
        tooltip=[*segment_tooltips(data), *tooltips(_BAR_FIELDS)],
    )
    bin_rows = alt.Chart().transform_filter("isValid(datum.bin)")
    line = bin_rows.mark_line(color=VERMILLION, strokeWidth=1.5).encode(x=x, y=alt.Y("isotonic:Q"))
    limits = bin_rows.mark_rule(color=BLUE, strokeWidth=1.5).encode(
        x=x, y=alt.Y("lower:Q"), y2=alt.Y2("upper:Q"), tooltip=tooltip
    )
    points = bin_rows.mark_point(color=BLUE, filled=True, opacity=1, size=36).encode(
        x=x, y=y, tooltip=tooltip
    )
    diagonal = [dashed_diagonal()] if score_range == _UNIT_RANGE else []
    return [bars, *diagonal, line, limits, points]
