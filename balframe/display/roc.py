"""The chart of receiver operating characteristic (ROC) curves."""

from typing import Unpack

import altair as alt

from balframe.display.forest import DARK, NUMBER
from balframe.display.lines import ONCE, answered_lines, plane
from balframe.display.options import RowOptions
from balframe.display.segments import (
    MOST,
    Drawn,
    Row,
    answered,
    by_names,
    check_most,
    check_options,
    named,
    ranked,
)
from balframe.display.words import titled
from balframe.frames.library import Name
from balframe.frames.thresholds import ThresholdsOption
from balframe.verbs.answer import Names
from balframe.verbs.curve import curve
from balframe.verbs.ranking import ranking

_X, _Y = "false_positive_rate", "recall"


def roc(
    frame: object,
    y_true: Name,
    y_score: Names,
    *,
    by: Names = None,
    thresholds: ThresholdsOption = None,
    most: int = MOST,
    **options: Unpack[RowOptions],
) -> alt.LayerChart | alt.FacetChart:
    """Draw the ROC curve of every segment: recall against false positive rate over all thresholds.

    The area under each curve (AUC) stands in the lower right corner. The dashed diagonal is what
    scores reach that do not depend on the label. Up to seven segments share a panel; more have one
    each.

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
    thresholds : None, int, list of floats or ("quantiles", int), optional
        The thresholds, as in `bf.curve`: by default every score, of which as many are drawn as
        can be told apart. The areas are always those of all scores.
    most : int, default 60
        The most segments to draw; of more, those with the largest and the smallest areas are
        drawn, and a line below the title says how many are left out.
    **options
        Options of `bf.curve`: `sample_weight`, `counts`, `labels`, `pos_label`, `missing`,
        `max_cells`.

    Returns
    -------
    altair chart
        To be restyled, or saved: `chart.save("roc.png")`, `chart.save("roc.html", inline=True)`.

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
    >>> chart = bf.plot.roc(df, "y", "score")
    >>> chart.to_dict()["title"]["text"]
    'ROC curve'
    """
    check_most(most)
    check_options(options, RowOptions.__annotations__)
    answer = curve(
        frame, y_true, y_score, by=by, metrics=[_X, _Y], thresholds=thresholds, **options
    )
    areas = answered(ranking(frame, y_true, y_score, by=by, **options))
    rows = answered_lines(answer, _X, _Y)
    names = by_names(by, rows[0])
    of_areas = named(areas, names)
    order, left_out = ranked(of_areas, "roc_auc", most)
    drawn = named(rows, names).of(order)
    for place, row in enumerate(drawn.rows):
        row["place"] = place
    on = plane(drawn, order)
    field, names_of_lines = ("segment", order) if on.is_together else ("panel", drawn.panels)
    for row in of_areas.of(order).rows:
        place = len(names_of_lines) - 1 - names_of_lines.index(row[field])
        drawn.rows.append(row | _area(row["roc_auc"], place, on.height))
    title = alt.TitleParams(titled("ROC curve", by=names), subtitle=left_out, anchor="start")
    return on.show(_layers(drawn, on.color), drawn, title)


def _area(area: float | None, place: int, height: int) -> Row:
    """Say the area in the lower right corner, one line above the other."""
    text = "no AUC: one label" if area is None else f"AUC {area:.3f}"
    return {"text": text, "height": (4 + 13 * place) / height}


def _layers(drawn: Drawn, color: alt.Color) -> alt.LayerChart:
    panel = [] if drawn.panels_by is None else [alt.Tooltip("panel:N", title=drawn.panels_by)]
    of_segment = [
        alt.Tooltip("segment:N", title=drawn.by or "segment"),
        *panel,
        alt.Tooltip("n:Q", title="rows", format=",d"),
    ]
    rates = [
        alt.Tooltip("threshold:Q", format=".4~g"),
        alt.Tooltip(f"{_X}:Q", title="false positive rate", format=NUMBER),
        alt.Tooltip(f"{_Y}:Q", title="recall", format=NUMBER),
    ]
    areas = [
        alt.Tooltip(f"{name}:Q", title=title, format=NUMBER)
        for name, title in (
            ("roc_auc", "AUC"),
            ("roc_auc_lower", "lower limit, 95%"),
            ("roc_auc_upper", "upper limit, 95%"),
        )
    ]
    unit = alt.Scale(domain=[0, 1])
    x = alt.X(f"{_X}:Q", title="false positive rate", scale=unit)
    y = alt.Y(f"{_Y}:Q", title="recall", scale=unit)
    diagonal = (
        alt.Chart(ONCE)
        .mark_rule(strokeDash=[4, 3], color=DARK)
        .encode(x=alt.datum(0), y=alt.datum(0), x2=alt.datum(1), y2=alt.datum(1))
    )
    curves = (
        alt.Chart()
        .transform_filter("!isValid(datum.text)")
        .mark_line(strokeWidth=1.5)
        .encode(x=x, y=y, color=color, order="place:Q", tooltip=[*of_segment, *rates])
    )
    texts = (
        alt.Chart()
        .transform_filter("isValid(datum.text)")
        .mark_text(align="right", baseline="bottom")
        .encode(
            x=alt.datum(0.98),
            y="height:Q",
            text="text:N",
            color=color,
            tooltip=[*of_segment, *areas],
        )
    )
    return alt.LayerChart(layer=[diagonal, curves, texts])
