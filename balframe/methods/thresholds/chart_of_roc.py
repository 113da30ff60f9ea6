"""The chart of receiver operating characteristic (ROC) curves."""

from collections.abc import Sequence
from typing import Any, Unpack

import altair as alt
import numpy as np

from balframe._text import percent, titled
from balframe.api.options import Clustering, Names, Rows
from balframe.charts.annotations import ROWS, SCORE, axis, heading, numbers, place
from balframe.charts.facets import ONCE, Charts, Part, shown
from balframe.charts.line_plot import Plane, answered_lines, plane
from balframe.charts.options import MOST, drawing
from balframe.charts.rows import Drawn, Row, answered, by_names, named, ranked
from balframe.charts.style import INK, LINES, RULE
from balframe.core.array_types import FloatArray
from balframe.frames.adapter import Name
from balframe.frames.convert_result import collected
from balframe.frames.thresholds import ThresholdsOption
from balframe.methods.thresholds.curve import curve
from balframe.methods.thresholds.labels_of_lines import free_place
from balframe.methods.thresholds.ranking import ranking

_X, _Y = "false_positive_rate", "recall"
_X_TITLE = "false positive rate"
_LEVEL = 0.95  # of the limits of an area, as in `bf.ranking`
_LONG = 24  # letters of a name; longer ones are in a legend
_WIDE, _HIGH = 0.6, 1.35  # of a letter and of a line of text, by the size of the font
_SYMBOL = 20  # pixels


class _Options(Rows, Clustering, total=False): ...


@drawing
def roc(
    frame: object,
    y_true: Name,
    y_score: Names,
    *,
    by: Names = None,
    thresholds: ThresholdsOption = None,
    most: int = MOST,
    **options: Unpack[_Options],
) -> Charts:
    """Return a chart of the ROC curve of every segment: recall against false positive rate.

    The areas under the curves (AUC) are listed in the free corner of each panel, each beside a
    sample of its line. The dashed diagonal marks chance. Up to four segments share a panel. With
    more, each has its own panel, with the others in grey behind it. Segments are ranked by these
    areas. Several models are shown by colours or in panels.

    Parameters
    ----------
    thresholds : None, int, list of floats or ("quantiles", int), optional
        The thresholds, as in `bf.curve`. By default every distinct score is a threshold; points too
        close to be distinguished are left out. The areas always use all scores.

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
    of_rows: Any = {name: value for name, value in options.items() if name != "cluster"}
    answer = curve(
        frame, y_true, y_score, by=by, metrics=[_X, _Y], thresholds=thresholds, **of_rows
    )
    areas = answered(ranking(frame, y_true, y_score, by=by, **options))
    rows = answered_lines(collected(answer), _X, _Y)
    names = by_names(by, rows[0])
    of_areas = named(areas, names, most_panels=len(LINES))
    order, left_out = ranked(of_areas, "roc_auc", most)
    of_areas = of_areas.of(order)
    drawn = named(rows, names, most_panels=len(LINES)).of(order)
    is_labelled = max(map(len, order)) <= _LONG and len(order) <= len(LINES)
    on = plane(of_areas, order, is_labelled=is_labelled)
    points = [_point(row, at) for at, row in enumerate(drawn.rows)]
    _label(of_areas, points, order, on)
    below = ["Dashed: chance", *left_out]
    layers = _layers(on, [*place(drawn), *numbers([("n", "rows", ROWS)])])
    part = Part(on.chart(layers), points + of_areas.rows, on.thinned(points, _X, _Y))
    return shown([part], heading(titled("ROC curve", names), below))


def _point(row: Row, at: int) -> Row:
    """Keep what is drawn of a threshold, and its place along the curve."""
    return {name: row[name] for name in ("segment", "panel", "n", "threshold", _X, _Y)} | {"at": at}


def _label(areas: Drawn, points: Sequence[Row], order: list[str], on: Plane) -> None:
    """Write the areas of each panel as a list, in its free corner.

    The list names its lines where no legend does.
    """
    field, panel = ("segment", "panel") if on.is_together else ("panel", "segment")
    rank = {name: at for at, name in enumerate(order if on.is_together else areas.panels)}
    has_names = on.is_together and len(order) > 1 and not on.has_legend
    room, diagonal = (on.width, on.height), np.array([[0.0, on.height], [on.width, 0.0]])
    lines: dict[tuple[str, str], list[Row]] = {}
    for point in points:
        lines.setdefault((point["panel"], point["segment"]), []).append(point)
    for name in {row[panel] for row in areas.rows}:
        rows = sorted(
            (row for row in areas.rows if row[panel] == name), key=lambda row: rank[row[field]]
        )
        for row in rows:
            area = "AUC undefined" if row["roc_auc"] is None else f"AUC {row['roc_auc']:.3f}"
            row["text"] = f"{row[field]}: {area}" if has_names else area
        curves = [_in_pixels(lines.get((row["panel"], row["segment"]), []), on) for row in rows]
        width = _SYMBOL + _WIDE * on.font_size * max(len(row["text"]) for row in rows)
        step = _HIGH * on.font_size
        left, top = free_place(curves, diagonal, (width, step * len(rows)), room)
        for at, row in enumerate(rows):
            row |= {"left": left / on.width, "height": 1 - (top + step * (at + 0.5)) / on.height}


def _in_pixels(points: Sequence[Row], on: Plane) -> FloatArray:
    """Place the points of a curve, from the upper left corner."""
    known = [(row[_X], 1 - row[_Y]) for row in points if None not in (row[_X], row[_Y])]
    return np.array(known, float).reshape(-1, 2) * (on.width, on.height)


def _layers(on: Plane, of_segment: list[alt.Tooltip]) -> list[alt.Chart]:
    rates = [("threshold", "threshold", ".4~g"), (_X, _X_TITLE, SCORE), (_Y, _Y, SCORE)]
    areas = [
        ("roc_auc", "AUC", SCORE),
        ("roc_auc_lower", f"lower limit, {percent(_LEVEL)}", SCORE),
        ("roc_auc_upper", f"upper limit, {percent(_LEVEL)}", SCORE),
    ]
    unit = alt.Scale(domain=[0, 1])
    x = alt.X(f"{_X}:Q", title=_X_TITLE, scale=unit, axis=axis(tickCount=on.n_ticks))
    y = alt.Y(f"{_Y}:Q", title=_Y, scale=unit, axis=axis(tickCount=on.n_ticks))
    diagonal = (
        alt.Chart(ONCE)
        .mark_rule(strokeDash=[4, 3], color=RULE)
        .encode(x=alt.datum(0), y=alt.datum(0), x2=alt.datum(1), y2=alt.datum(1))
    )
    line = alt.Chart().transform_filter("!isValid(datum.text)").encode(x=x, y=y, order="at:Q")
    curves = line.mark_line(strokeWidth=1.5 if on.is_together else 2).encode(
        color=on.color, tooltip=[*of_segment, *numbers(rates)]
    )
    label = (
        alt.Chart()
        .transform_filter("isValid(datum.text)")
        .encode(x="left:Q", y="height:Q", tooltip=[*of_segment, *numbers(areas)])
    )
    symbols = label.mark_point(shape="stroke", opacity=1, size=150, strokeWidth=2, xOffset=8)
    texts = label.mark_text(align="left", color=INK, fontSize=on.font_size, dx=_SYMBOL)
    return [
        *on.behind(x=x, y=y),
        diagonal,
        curves,
        symbols.encode(color=on.color),
        texts.encode(text="text:N"),
    ]
