"""The chart of `confusion`: a heat map of each segment."""

from collections import Counter
from dataclasses import replace
from typing import Literal, Unpack

import altair as alt

from balframe._text import titled
from balframe.api.columns import OF_SEVERAL
from balframe.api.options import CellsOrRows, Names
from balframe.charts.annotations import ROWS, heading, place
from balframe.charts.facets import NO_ROWS, Charts, Part, shown
from balframe.charts.options import MOST, drawing
from balframe.charts.rows import (
    Drawn,
    Row,
    answered,
    by_names,
    columns,
    inert,
    named,
    ranked,
    text_of,
)
from balframe.charts.style import BLACK, DARKEST, LIGHTEST, NO_SHARE, WHITE
from balframe.errors import check_choice
from balframe.frames.adapter import Name
from balframe.frames.convert_result import collected
from balframe.frames.query import MODEL
from balframe.methods.scores.confusion import confusion as verb
from balframe.methods.scores.report import report

_RANK = "balanced_accuracy"
_SHADES = {
    "true": "the share within each true label",
    "pred": "the share within each predicted label",
    "all": "the share of all rows of the segment",
}
_DARK = 0.76  # the share from which white is easier to read than black
_WIDTH = 600  # pixels of all matrices side by side
_LARGE, _TEXT = 56, 28  # pixels of a cell that has room for two lines of text, and for one
_SIZES = ((3, 60), (4, 42), (8, 34), (12, 28), (30, 14), (float("inf"), 6))  # up to many labels
_SIDES = ((1, 620), (9, 320), (float("inf"), 150))  # pixels of a matrix, up to many of them


@drawing
def confusion(
    frame: object,
    y_true: Name,
    y_pred: Names,
    *,
    by: Names = None,
    normalize: Literal["true", "pred", "all"] = "true",
    most: int = MOST,
    **options: Unpack[CellsOrRows],
) -> Charts:
    """Return a chart of every segment's confusion matrix: shares as shades, counts in the cells.

    If there are too many segments to draw, those with the highest and the lowest balanced
    accuracy are drawn.

    Parameters
    ----------
    y_true : column name
        The true labels; each has a row of cells.
    normalize : {"true", "pred", "all"}, default "true"
        What the shares, shown as shades, are divided by. With "true", it is the rows with the true
        label, so that the diagonal shows the recalls. With "pred", it is the rows with the
        predicted label; with "all", it is all rows of the segment. With weights, they are shares of
        the weight.

    Returns
    -------
    altair chart
        You can restyle or save it: `chart.save("confusion.png")`,
        `chart.save("confusion.html", inline=True)`.

    Examples
    --------
    >>> import balframe as bf
    >>> compas = bf.datasets.compas()
    >>> chart = bf.plot.confusion(compas, "reoffended", "high_risk", by="race", counts="n")
    >>> chart.to_dict()["title"]["text"]
    'Confusion matrix by race'
    """
    check_choice("normalize", normalize, list(_SHADES))
    answer = collected(
        verb(frame, y_true, y_pred, by=by, normalize=normalize, complete=True, **options)
    )
    rows = answered(answer)
    names = by_names(by, rows[0])
    predicted = y_pred[0] if isinstance(y_pred, list) else y_pred
    if MODEL in rows[0] and MODEL not in names:
        names.append(MODEL)
        predicted = OF_SEVERAL
    segments = named(rows, names, most_panels=0)
    drawn = replace(
        segments,
        rows=[
            {name: row[name] for name in ("segment", "n", "share")}
            | {"actual": text_of(found[y_true]), "predicted": text_of(found[predicted])}
            for row, found in zip(segments.rows, rows, strict=True)
        ],
    )
    order, left_out = drawn.segments, list[str]()
    if len(order) > most:
        scores = report(answer, y_true, predicted, by=names, cells=True, metrics=_RANK)
        of_segments = named(answered(scores), names, most_panels=0)
        order, left_out = ranked(of_segments, _RANK, most, " in balanced accuracy")
    title = heading(
        titled("confusion matrix", names),
        [f"Counts, shaded by {_SHADES[normalize]}", *left_out],
    )
    return _show(drawn.of(order), order, title, inert(str(y_true)), inert(str(predicted)))


def _show(
    drawn: Drawn, order: list[str], title: alt.TitleParams, actual: str, predicted: str
) -> Charts:
    labels = list(dict.fromkeys(row["actual"] for row in drawn.rows))
    size = _size(len(order), len(labels))
    side = size * len(labels)
    rows = _titled(drawn.rows)
    layers = _layers(drawn, labels, actual, predicted, size).properties(width=side, height=side)
    if len(order) == 1:
        return shown([Part(layers, rows)], title)
    titles = {row["segment"]: row["title"] for row in rows}
    needed = max(side, min(200, 6 * max(map(len, order))))
    header = alt.Header(
        labelExpr="split(datum.value, '\\n')", labelLimit=needed + 15, labelFontWeight="bold"
    )
    sort = [titles[name] for name in order]
    panel = alt.Facet("title:N", title=drawn.by, sort=sort, header=header)
    wide = columns(len(order), max(1, min(6, _WIDTH // (needed + 20))))
    spacing = alt.RowColnumber(row=20, column=needed - side + 20)
    facets = layers.facet(panel, data=NO_ROWS, columns=wide, spacing=spacing)
    return shown([Part(facets, rows)], title)


def _size(n_matrices: int, n_labels: int) -> int:
    """Choose the pixels of a cell, so that neither a matrix nor all of them grow without end."""
    size = next(
        size for many, size in _SIZES if n_labels <= many and (size < _LARGE or n_matrices <= 9)
    )
    side = next(side for many, side in _SIDES if n_matrices <= many)
    return max(1, min(size, side // n_labels))


def _titled(rows: list[Row]) -> list[Row]:
    """Write the number of rows below the name of each segment."""
    n = Counter[str]()
    for row in rows:
        n[row["segment"]] += row["n"]
    written = {name: f"{name}\n{many:,} row{'' if many == 1 else 's'}" for name, many in n.items()}
    return [row | {"title": written[row["segment"]]} for row in rows]


def _layers(
    drawn: Drawn, labels: list[str], actual: str, predicted: str, size: int
) -> alt.LayerChart:
    of_cell = [
        *place(drawn),
        alt.Tooltip("actual:N", title=actual),
        alt.Tooltip("predicted:N", title=predicted),
        alt.Tooltip("n:Q", title="rows", format=ROWS),
        alt.Tooltip("share:Q", format=".1%"),
    ]
    is_short = max(map(len, labels)) * 7 < size
    font_size = 10 if size >= 10 else 8
    axis = alt.Axis(
        labelLimit=90, labelOverlap=True, labelFontSize=font_size, ticks=False, domain=False
    )
    below, left = axis.copy(), axis.copy()
    below.labelAngle = 0 if is_short else -90
    left.titlePadding = 12
    scale = alt.Scale(domain=labels)
    base = alt.Chart().encode(
        x=alt.X("predicted:N", scale=scale, title=predicted, axis=below),
        y=alt.Y("actual:N", scale=scale, title=actual, axis=left),
        tooltip=of_cell,
    )
    ramp = alt.Scale(range=[LIGHTEST, DARKEST], domain=[0, 1], interpolate="rgb")
    shade = alt.Color("share:Q", title="share", scale=ramp, legend=alt.Legend(format=".0%"))
    fill = alt.when("!isValid(datum.share)").then(alt.value(NO_SHARE)).otherwise(shade)
    cells = base.mark_rect(invalid=None, stroke=WHITE, strokeWidth=1 if size > 8 else 0).encode(
        color=fill
    )
    if size < _TEXT:
        return alt.LayerChart(layer=[cells])
    ink = alt.when(f"datum.share > {_DARK}").then(alt.value(WHITE)).otherwise(alt.value(BLACK))
    largest = max(row["n"] for row in drawn.rows)
    form = ",d" if largest < 10_000 else ".3~s"
    is_large = size >= _LARGE
    counts = base.mark_text(fontSize=12 if is_large else 9, dy=-7 if is_large else 0).encode(
        text=alt.Text("n:Q", format=form), color=ink
    )
    if not is_large:
        return alt.LayerChart(layer=[cells, counts])
    known = base.transform_filter("isValid(datum.share)")
    shares = known.mark_text(fontSize=10, dy=9).encode(
        text=alt.Text("share:Q", format=".0%"), color=ink
    )
    return alt.LayerChart(layer=[cells, counts, shares])
