"""The chart of `curve`: a metric at every threshold of a score."""

from typing import Unpack

import altair as alt

from balframe.display.forest import DARK, NUMBER
from balframe.display.lines import ONCE, Plane, answered_lines, plane
from balframe.display.options import ScoreOptions
from balframe.display.segments import (
    MOST,
    Drawn,
    answered,
    by_names,
    check_most,
    check_options,
    named,
    ranked,
)
from balframe.display.words import in_words, percent, titled
from balframe.frames.library import Name
from balframe.frames.thresholds import ThresholdsOption
from balframe.metrics import shipped  # noqa: F401 (registers the metrics)
from balframe.metrics.registry import find
from balframe.verbs.answer import Names
from balframe.verbs.best_threshold import best_threshold
from balframe.verbs.curve import curve as verb

_BALANCED = "balanced_accuracy"


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
    **options: Unpack[ScoreOptions],
) -> alt.LayerChart | alt.FacetChart:
    """Draw a metric against the threshold of a score, for every segment.

    A line for each segment, with its best threshold as a point. Balanced accuracy has a band that
    holds it at all thresholds of a segment together, other metrics have the limits of each
    threshold alone. A dashed rule is what scores reach that do not depend on the label: a balanced
    accuracy of 1/2 at every threshold. Up to seven segments share a panel; more have one each.

    Parameters
    ----------
    frame : frame of any library that `bf.curve` reads
        The data; never changed. A lazy frame is collected, for a chart needs numbers.
    y_true : column name
        The true labels. All labels other than the positive one count as negative.
    y_score : column name or list of column names
        The scores, higher for the positive label; a list draws several models.
    by : column name or list of column names, optional
        The columns whose combinations are the segments; by default all rows are one segment.
    metric : str, default "balanced_accuracy"
        Name or alias of a metric.
    thresholds : None, int, list of floats or ("quantiles", int), optional
        The thresholds, as in `bf.curve`: by default every score, of which as many are drawn as
        can be told apart.
    level : float, default 0.95
        Confidence level of the band or the limits.
    most : int, default 60
        The most segments to draw; of more, the ones that score highest and lowest at their best
        threshold are drawn, and a line below the title says how many are left out.
    **options
        Options of `bf.curve`: `class_weight`, `sample_weight`, `counts`, `labels`, `pos_label`,
        `missing`, `max_cells`.

    Returns
    -------
    altair chart
        To be restyled, or saved: `chart.save("curve.png")`,
        `chart.save("curve.html", inline=True)`.

    Raises
    ------
    BalframeError
        If a name, an option or a value cannot be used; the message says what to do.
    MissingExtraError
        If Altair is not installed; the message has the command that installs it.

    Examples
    --------
    >>> import polars as pl
    >>> import balframe as bf
    >>> df = pl.DataFrame({"y": [0, 0, 1, 0, 1], "score": [0.1, 0.3, 0.4, 0.6, 0.8]})
    >>> chart = bf.plot.curve(df, "y", "score")
    >>> chart.to_dict()["title"]["text"]
    'Balanced accuracy at every threshold'
    """
    check_most(most)
    check_options(options, ScoreOptions.__annotations__)
    known = find(metric)
    banded = known.name == _BALANCED
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
    drawn = _curves(named(rows, names), metric, f"{_BALANCED}_band" if banded else metric)
    best = named(answered(of_best), names)
    order, left_out = ranked(best, "estimate", most)
    drawn.rows.extend(row | {"is_best": True} for row in best.rows if row["threshold"] is not None)
    band = "band of all thresholds together" if banded else "limits of each threshold alone"
    below = [f"{percent(level)} {band}; points: best thresholds"]
    chance = 0.5 if known.chance == "uniform" else known.chance
    if isinstance(chance, (int, float)):
        below.append(f"Dashed: scores that do not depend on the label, {chance:g}")
    title = alt.TitleParams(
        titled(metric, " at every threshold", by=names), subtitle=below + left_out, anchor="start"
    )
    kept = drawn.of(order)
    on = plane(kept, order)
    return on.show(_layers(kept, on, metric, chance), kept, title)


def _curves(drawn: Drawn, metric: str, limits: str) -> Drawn:
    """Keep what is drawn of each rule, but those at infinity, which no row reaches."""
    rows = [
        {
            "segment": row["segment"],
            "panel": row["panel"],
            "n": row["n"],
            "threshold": row["threshold"],
            "estimate": row[metric],
            "lower": row[f"{limits}_lower"],
            "upper": row[f"{limits}_upper"],
            "is_best": False,
        }
        for row in drawn.rows
        if row["threshold"] is not None
    ]
    return Drawn(rows, drawn.by, drawn.panels_by)


def _layers(drawn: Drawn, on: Plane, metric: str, chance: float | str | None) -> alt.LayerChart:
    panel = [] if drawn.panels_by is None else [alt.Tooltip("panel:N", title=drawn.panels_by)]
    of_segment = [
        alt.Tooltip("segment:N", title=drawn.by or "segment"),
        *panel,
        alt.Tooltip("n:Q", title="rows", format=",d"),
        alt.Tooltip("threshold:Q", format=".4~g"),
        alt.Tooltip("estimate:Q", title=in_words(metric), format=NUMBER),
    ]
    limits = [
        alt.Tooltip(f"{side}:Q", title=f"{side} limit", format=NUMBER)
        for side in ("lower", "upper")
    ]
    of_best = [
        alt.Tooltip(f"{field}:Q", title=title, format=NUMBER)
        for field, title in (
            ("midpoint", "middle of the plateau"),
            ("common_estimate", "at the common threshold"),
            ("chance_maximum", "best by chance alone"),
        )
    ]
    x = alt.X("threshold:Q", title="threshold", scale=alt.Scale(zero=False))
    y = alt.Y("estimate:Q", title=in_words(metric), scale=alt.Scale(zero=False))
    line = alt.Chart().transform_filter("!datum.is_best").encode(x=x, color=on.color)
    band = line.mark_area(opacity=0.15, interpolate="step-before", clip=True).encode(
        y=alt.Y("lower:Q", title=in_words(metric)),
        y2="upper:Q",
        color=on.color,
    )
    curves = line.mark_line(strokeWidth=1.5, interpolate="step-before").encode(
        y=y, tooltip=[*of_segment, *limits]
    )
    points = (
        alt.Chart()
        .transform_filter("datum.is_best")
        .mark_point(filled=True, opacity=1, size=60, stroke="white", strokeWidth=1)
        .encode(
            x=x,
            y=y,
            color=on.color,
            tooltip=[*of_segment, *of_best],
        )
    )
    if not isinstance(chance, (int, float)):
        return alt.LayerChart(layer=[band, curves, points])
    rule = alt.Chart(ONCE).mark_rule(strokeDash=[4, 3], color=DARK).encode(y=alt.datum(chance))
    return alt.LayerChart(layer=[rule, band, curves, points])
