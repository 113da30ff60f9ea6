"""The chart of `curve`: a metric at every threshold of a score."""

from typing import Unpack

import altair as alt

from balframe.display.annotations import ROWS, SCORE, heading, numbers, place
from balframe.display.chart_options import MOST, drawing, one_metric
from balframe.display.forest import DARK, GREY
from balframe.display.lines import COLORS, ONCE, Plane, answered_lines, plane
from balframe.display.segments import Row, answered, by_names, named, ranked
from balframe.display.words import in_words, percent, titled
from balframe.frames.library import Name
from balframe.frames.query import MODEL
from balframe.frames.thresholds import ThresholdsOption
from balframe.verbs.best_threshold import best_threshold
from balframe.verbs.curve import curve as verb
from balframe.verbs.options import ClassWeights, Names, Rows

_BALANCED = "balanced_accuracy"


class _Options(ClassWeights, Rows, total=False): ...


@drawing
def curve(
    frame: object,
    y_true: Name,
    y_score: Names,
    *,
    by: Names = None,
    metric: str = _BALANCED,
    thresholds: ThresholdsOption = None,
    level: float = 0.95,
    most: int = MOST,
    **options: Unpack[_Options],
) -> alt.LayerChart | alt.FacetChart:
    """Draw a metric against the threshold of a score, for every segment.

    A line for each segment, with its best threshold as a point. Balanced accuracy has a band that
    holds it at all thresholds of a segment together, other metrics have the limits of each
    threshold alone. A dashed line is what scores reach that do not depend on the label: a balanced
    accuracy of 1/2 at every threshold. Up to seven segments share a panel; more have one each.
    Segments are ranked by their scores at the best threshold.
    Several models lie side by side, each with thresholds of its own scale.

    Parameters
    ----------
    thresholds : None, int, list of floats or ("quantiles", int), optional
        The thresholds, as in `bf.curve`: by default every score, of which as many are drawn as
        can be told apart.
    level : float, default 0.95
        Confidence level of the band or the limits.

    Returns
    -------
    altair chart
        To be restyled, or saved: `chart.save("curve.png")`,
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
    known = one_metric(metric)
    metric = known.name
    banded = metric == _BALANCED
    answer = verb(
        frame,
        y_true,
        y_score,
        by=by,
        metrics=metric,
        thresholds=thresholds,
        level=level,
        band=banded,
        interval=None if banded else True,
        **options,
    )
    of_best = best_threshold(
        frame, y_true, y_score, by=by, metric=metric, thresholds=thresholds, **options
    )
    rows = answered_lines(answer, "threshold", metric)
    names = by_names(by, rows[0])
    limits = f"{metric}_band" if banded else metric
    best = named(answered(of_best), names, most_panels=len(COLORS))
    order, left_out = ranked(best, "estimate", most)
    best = best.of(order)
    on = plane(best, order)
    drawn = named(rows, names, most_panels=len(COLORS)).of(order)
    points = [_point(row, metric, limits) for row in drawn.rows if row["threshold"] is not None]
    band = "band of all thresholds together" if banded else "limits of each threshold alone"
    below = [f"{percent(level)} {band}; points: best thresholds"]
    chance = 0.5 if known.chance == "uniform" else known.chance
    if isinstance(chance, (int, float)):
        below.append(f"Dashed: scores that do not depend on the label, {chance:g}")
    title = heading(titled(metric, " at every threshold", by=names), below + left_out)
    layers = _layers(on, place(drawn), in_words(metric))
    if isinstance(chance, (int, float)):
        line = alt.Chart(ONCE).mark_rule(strokeDash=[4, 3], color=DARK)
        layers.insert(0, line.encode(y=alt.datum(chance)))
    points += [_best(row, on) for row in best.rows]
    chart = on.show(alt.LayerChart(layer=layers), points, title)
    is_of_models = on.is_together and drawn.panels_by == MODEL
    return chart.resolve_scale(x="independent") if is_of_models else chart


def _point(row: Row, metric: str, limits: str) -> Row:
    """Keep what is drawn of a threshold."""
    return {name: row[name] for name in ("segment", "panel", "n", "threshold")} | {
        "estimate": row[metric],
        "lower": row[f"{limits}_lower"],
        "upper": row[f"{limits}_upper"],
    }


def _best(row: Row, on: Plane) -> Row:
    """Mark a best threshold; a panel of its own says so where there is none."""
    has_none = row["estimate"] is None and not on.is_together
    return row | {"is_best": True, "note": "no best threshold" if has_none else None}


def _layers(on: Plane, of_segment: list[alt.Tooltip], name: str) -> list[alt.Chart]:
    at_threshold = [
        ("n", "rows", ROWS),
        ("threshold", "threshold", ".4~g"),
        ("estimate", name, SCORE),
    ]
    limits = [("lower", "lower limit", SCORE), ("upper", "upper limit", SCORE)]
    of_best = [
        ("midpoint", "middle of the plateau", ".4~g"),
        ("common_estimate", "at the common threshold", SCORE),
        ("chance_maximum", "95% point by chance alone", SCORE),
    ]
    axis = alt.Axis(tickCount=on.n_ticks)
    x = alt.X("threshold:Q", title="threshold", scale=alt.Scale(zero=False), axis=axis)
    y = alt.Y("estimate:Q", title=name, scale=alt.Scale(zero=False))
    line = alt.Chart().transform_filter("!datum.is_best").encode(x=x, color=on.color)
    band = line.mark_area(opacity=0.15, interpolate="step-before").encode(
        y=alt.Y("lower:Q", title=name), y2="upper:Q"
    )
    curves = line.mark_line(strokeWidth=1.5, interpolate="step-before").encode(
        y=y, tooltip=[*of_segment, *numbers([*at_threshold, *limits])]
    )
    best = alt.Chart().transform_filter("datum.is_best")
    points = (
        best.transform_filter("isValid(datum.threshold)")
        .mark_point(filled=True, opacity=1, size=60, stroke="white", strokeWidth=1)
        .encode(
            x=x, y=y, color=on.color, tooltip=[*of_segment, *numbers([*at_threshold, *of_best])]
        )
    )
    notes = (
        best.transform_filter("isValid(datum.note)")
        .mark_text(color=GREY, fontStyle="italic")
        .encode(x=alt.value(on.width / 2), y=alt.value(12), text="note:N", tooltip=list(of_segment))
    )
    return [band, curves, points, notes]
