"""The chart of receiver operating characteristic (ROC) curves."""

from typing import Unpack

import altair as alt

from balframe.display.annotations import ROWS, SCORE, heading, numbers, place
from balframe.display.chart_options import MOST, drawing
from balframe.display.forest import DARK
from balframe.display.lines import COLORS, ONCE, Plane, answered_lines, plane
from balframe.display.segments import Row, answered, by_names, named, ranked
from balframe.display.words import titled
from balframe.frames.library import Name
from balframe.frames.thresholds import ThresholdsOption
from balframe.verbs.curve import curve
from balframe.verbs.options import Names, Rows
from balframe.verbs.ranking import ranking

_X, _Y = "false_positive_rate", "recall"
_X_TITLE = "false positive rate"


@drawing
def roc(
    frame: object,
    y_true: Name,
    y_score: Names,
    *,
    by: Names = None,
    thresholds: ThresholdsOption = None,
    most: int = MOST,
    **options: Unpack[Rows],
) -> alt.LayerChart | alt.FacetChart:
    """Draw the ROC curve of every segment: recall against false positive rate over all thresholds.

    The area under each curve (AUC) stands in the lower right corner. The dashed diagonal is what
    scores reach that do not depend on the label. Up to seven segments share a panel; more have one
    each. Segments are ranked by these areas.

    Parameters
    ----------
    thresholds : None, int, list of floats or ("quantiles", int), optional
        The thresholds, as in `bf.curve`: by default every score, of which as many are drawn as
        can be told apart. The areas are always those of all scores.

    Returns
    -------
    altair chart
        To be restyled, or saved: `chart.save("roc.png")`, `chart.save("roc.html", inline=True)`.

    Examples
    --------
    >>> import polars as pl
    >>> import balframe as bf
    >>> df = pl.DataFrame({"y": [0, 0, 1, 0, 1], "score": [0.1, 0.3, 0.4, 0.6, 0.8]})
    >>> chart = bf.plot.roc(df, "y", "score")
    >>> chart.to_dict()["title"]["text"]
    'ROC curve'
    """
    answer = curve(
        frame, y_true, y_score, by=by, metrics=[_X, _Y], thresholds=thresholds, **options
    )
    areas = answered(ranking(frame, y_true, y_score, by=by, **options))
    rows = answered_lines(answer, _X, _Y)
    names = by_names(by, rows[0])
    of_areas = named(areas, names, most_panels=len(COLORS))
    order, left_out = ranked(of_areas, "roc_auc", most)
    of_areas = of_areas.of(order)
    on = plane(of_areas, order)
    field, lines = ("segment", order) if on.is_together else ("panel", of_areas.panels)
    step = min(13.0, 0.6 * on.height / len(lines))
    for row in of_areas.rows:
        above = len(lines) - 1 - lines.index(row[field])
        area = row["roc_auc"]
        row["text"] = "AUC undefined" if area is None else f"AUC {area:.3f}"
        row["height"] = (4 + step * above) / on.height
    drawn = named(rows, names, most_panels=len(COLORS)).of(order)
    points = [_point(row, at) for at, row in enumerate(drawn.rows)]
    title = heading(titled("ROC curve", by=names), left_out)
    layers = _layers(on, [*place(drawn), *numbers([("n", "rows", ROWS)])], step - 2)
    return on.show(layers, points + of_areas.rows, title)


def _point(row: Row, at: int) -> Row:
    """Keep what is drawn of a threshold, and its place along the curve."""
    return {name: row[name] for name in ("segment", "panel", "n", "threshold", _X, _Y)} | {"at": at}


def _layers(on: Plane, of_segment: list[alt.Tooltip], font_size: float) -> alt.LayerChart:
    rates = [("threshold", "threshold", ".4~g"), (_X, _X_TITLE, SCORE), (_Y, _Y, SCORE)]
    areas = [
        ("roc_auc", "AUC", SCORE),
        ("roc_auc_lower", "lower limit, 95%", SCORE),
        ("roc_auc_upper", "upper limit, 95%", SCORE),
    ]
    unit = alt.Scale(domain=[0, 1])
    x = alt.X(f"{_X}:Q", title=_X_TITLE, scale=unit, axis=alt.Axis(tickCount=on.n_ticks))
    y = alt.Y(f"{_Y}:Q", title=_Y, scale=unit)
    diagonal = (
        alt.Chart(ONCE)
        .mark_rule(strokeDash=[4, 3], color=DARK)
        .encode(x=alt.datum(0), y=alt.datum(0), x2=alt.datum(1), y2=alt.datum(1))
    )
    curves = (
        alt.Chart()
        .transform_filter("!isValid(datum.text)")
        .mark_line(strokeWidth=1.5)
        .encode(x=x, y=y, color=on.color, order="at:Q", tooltip=[*of_segment, *numbers(rates)])
    )
    texts = (
        alt.Chart()
        .transform_filter("isValid(datum.text)")
        .mark_text(align="right", baseline="bottom", fontSize=min(11, font_size))
        .encode(
            x=alt.datum(0.98),
            y="height:Q",
            text="text:N",
            color=on.color,
            tooltip=[*of_segment, *numbers(areas)],
        )
    )
    return alt.LayerChart(layer=[diagonal, curves, texts])
