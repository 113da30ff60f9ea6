"""The chart of `confusion`: a heat map of each segment."""

from collections import Counter
from typing import Literal, Unpack

import altair as alt

from balframe.display.options import CellOptions
from balframe.display.segments import (
    MOST,
    Drawn,
    answered,
    by_names,
    check_most,
    check_options,
    columns,
    named,
    ranked,
    text_of,
)
from balframe.errors import check_choice
from balframe.frames.deliver import collected
from balframe.frames.library import Name
from balframe.frames.query import MODEL
from balframe.verbs.answer import Names
from balframe.verbs.confusion import PREDICTED
from balframe.verbs.confusion import confusion as verb
from balframe.verbs.report import report

_RANK = "balanced_accuracy"
_SHADES = {
    "true": "the share of each true label",
    "pred": "the share of each predicted label",
    "all": "the share of all rows of the segment",
}
_WIDTH = 620
_LARGE, _TEXT = 56, 28  # pixels of a cell that has room for two lines of text, and for one
_SIZES = ((3, 60), (4, 42), (8, 34), (12, 28), (30, 14), (float("inf"), 6))  # up to many labels


def confusion(
    frame: object,
    y_true: Name,
    y_pred: Names,
    *,
    by: Names = None,
    normalize: Literal["true", "pred", "all"] = "true",
    most: int = MOST,
    **options: Unpack[CellOptions],
) -> alt.LayerChart | alt.FacetChart:
    """Draw the confusion matrix of every segment: shares as shades, counts in the cells.

    Parameters
    ----------
    frame : frame of any library that `bf.confusion` reads
        The data; never changed. A lazy frame is collected, for a chart needs numbers.
    y_true : column name
        The true labels, one row of cells each.
    y_pred : column name or list of column names
        The predicted labels, one column of cells each; a list draws several models.
    by : column name or list of column names, optional
        The columns whose combinations are the segments; by default all rows are one segment.
    normalize : {"true", "pred", "all"}, default "true"
        What the shades are shares of: the rows with the true label, so that the diagonal shows the
        recalls; those with the predicted label; or all rows of the segment. Under weights they
        are shares of weight.
    most : int, default 60
        The most matrices to draw; of more, those with the highest and the lowest balanced accuracy
        are drawn, and a line below the title says how many are left out.
    **options
        Options of `bf.confusion`: `sample_weight`, `counts`, `cells`, `labels`, `pos_label`,
        `missing`, `max_cells`.

    Returns
    -------
    altair chart
        To be restyled, or saved: `chart.save("confusion.png")`,
        `chart.save("confusion.html", inline=True)`.

    Raises
    ------
    BalframeError
        If a name, an option or a value cannot be used; the message says what to do.
    MissingExtraError
        If Altair is not installed; the message has the command that installs it.

    Examples
    --------
    >>> import balframe as bf
    >>> compas = bf.datasets.compas()
    >>> chart = bf.plot.confusion(compas, "reoffended", "high_risk", by="race", counts="n")
    >>> chart.to_dict()["title"]["text"]
    'Confusion matrix by race'
    """
    check_most(most)
    check_choice("normalize", normalize, list(_SHADES))
    check_options(options, CellOptions.__annotations__)
    answer = collected(
        verb(frame, y_true, y_pred, by=by, normalize=normalize, complete=True, **options)
    )
    rows = answered(answer)
    names = by_names(by, rows[0])
    if MODEL in rows[0] and MODEL not in names:
        names.append(MODEL)
        predicted = PREDICTED
    else:
        predicted = y_pred[0] if isinstance(y_pred, list) else y_pred
    drawn = named(rows, names, in_panels=False)
    n = Counter[str]()
    for row, found in zip(drawn.rows, rows, strict=True):
        n[row["segment"]] += row["n"]
        row |= {"actual": text_of(found[y_true]), "predicted": text_of(found[predicted])}
    order, left_out = drawn.segments, list[str]()
    if len(order) > most:
        scores = report(answer, y_true, predicted, by=names, cells=True, metrics=_RANK)
        order, left_out = ranked(named(answered(scores), names, in_panels=False), _RANK, most)
        left_out = [f"By balanced accuracy: {line}" for line in left_out]
    kept = drawn.of(order)
    for row in kept.rows:
        row["title"] = f"{row['segment']} ({n[row['segment']]:,})"
    by_words = f" by {' and '.join(map(str, names))}" if names else ""
    title = alt.TitleParams(
        "Confusion matrix" + by_words,
        subtitle=[f"Counts, shaded by {_SHADES[normalize]}", *left_out],
        anchor="start",
    )
    titles = [f"{name} ({n[name]:,})" for name in order]
    return _show(kept, titles, title, str(y_true), str(predicted))


def _show(
    drawn: Drawn, titles: list[str], title: alt.TitleParams, actual: str, predicted: str
) -> alt.LayerChart | alt.FacetChart:
    labels = list(dict.fromkeys(row["actual"] for row in drawn.rows))
    size = next(
        size for many, size in _SIZES if len(labels) <= many and (size < _LARGE or len(titles) <= 9)
    )
    layers = _layers(drawn, labels, actual, predicted, size)
    sized = layers.properties(width=size * len(labels), height=size * len(labels))
    data = alt.InlineData(values=drawn.rows)
    if len(titles) == 1:
        return sized.properties(data=data, title=title)
    most = max(1, min(6, _WIDTH // (size * len(labels) + 30)))
    header = alt.Header(labelLimit=max(size * len(labels) + 20, 90), labelFontWeight="bold")
    panel = alt.Facet("title:N", title=drawn.by, sort=titles, header=header)
    return sized.facet(panel, data=data, columns=columns(len(titles), most), title=title)


def _layers(
    drawn: Drawn, labels: list[str], actual: str, predicted: str, size: int
) -> alt.LayerChart:
    of_cell = [
        alt.Tooltip("segment:N", title=drawn.by or "segment"),
        alt.Tooltip("actual:N", title=actual),
        alt.Tooltip("predicted:N", title=predicted),
        alt.Tooltip("n:Q", title="rows", format=",d"),
        alt.Tooltip("share:Q", format=".1%"),
    ]
    is_short = max(map(len, labels)) * 7 < size
    axis = alt.Axis(labelLimit=90, ticks=False, domain=False)
    below = alt.Axis(labelLimit=90, ticks=False, domain=False, labelAngle=0 if is_short else -90)
    base = alt.Chart().encode(
        x=alt.X("predicted:N", sort=labels, title=predicted, axis=below),
        y=alt.Y("actual:N", sort=labels, title=actual, axis=axis),
        tooltip=of_cell,
    )
    shade = alt.Color(
        "share:Q",
        title="share",
        scale=alt.Scale(scheme="blues", domain=[0, 1]),
        legend=alt.Legend(format=".0%"),
    )
    cells = base.mark_rect(stroke="white", strokeWidth=1).encode(color=shade)
    if size < _TEXT:
        return alt.LayerChart(layer=[cells])
    ink = alt.when("datum.share > 0.55").then(alt.value("white")).otherwise(alt.value("#222222"))
    largest = max(row["n"] for row in drawn.rows)
    form = ",d" if largest < 10_000 else ".3~s"
    is_large = size >= _LARGE
    counts = base.mark_text(fontSize=12 if is_large else 9, dy=-7 if is_large else 0).encode(
        text=alt.Text("n:Q", format=form), color=ink
    )
    if not is_large:
        return alt.LayerChart(layer=[cells, counts])
    shares = base.mark_text(fontSize=10, dy=9).encode(
        text=alt.Text("share:Q", format=".0%"), color=ink
    )
    return alt.LayerChart(layer=[cells, counts, shares])
