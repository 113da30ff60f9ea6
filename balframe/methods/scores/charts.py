"""The chart of `report`: a forest plot of one metric or several."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, Literal, Unpack

import altair as alt

from balframe._text import intervals, titled
from balframe.api.columns import OF_SEVERAL
from balframe.api.metric_selection import Metrics
from balframe.api.options import Absences, CellsOrRows, ClassWeights, Clustering, Level, Names
from balframe.charts.facets import NO_ROWS, Charts, Part, shown
from balframe.charts.forest_plot import Line, Rows, Shown, forests
from balframe.charts.options import METRIC, MOST, SMALL, DrawnMetric, drawing, drawn_metrics
from balframe.charts.rows import (
    Answered,
    Drawn,
    Row,
    Sort,
    answered,
    by_names,
    columns,
    inert,
    named,
    ranked,
    text_of,
)
from balframe.charts.style import (
    BLACK,
    CLUSTERS,
    DARKEST,
    LIGHTEST,
    NO_SHARE,
    ROWS,
    SCORE,
    WHITE,
    Field,
    heading,
    place,
)
from balframe.errors import check_choice
from balframe.frames.adapter import Name
from balframe.frames.convert_result import collected
from balframe.frames.query import MODEL
from balframe.methods.scores.confusion import confusion as count_confusion
from balframe.methods.scores.report import report as compute_report
from balframe.metrics.registry import Chance
from balframe.stats.base import IntervalOption

# The chart of `confusion`: a heat map of each segment.


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
        count_confusion(frame, y_true, y_pred, by=by, normalize=normalize, complete=True, **options)
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
        scores = compute_report(answer, y_true, predicted, by=names, cells=True, metrics=_RANK)
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


_MAJORITY = "no_information_rate"


class _Options(Level, Absences, ClassWeights, Clustering, CellsOrRows, total=False): ...


@drawing
def report(
    frame: object,
    y_true: Name,
    y_pred: Names,
    *,
    by: Names = None,
    metrics: Metrics = METRIC,
    interval: IntervalOption = True,
    sort: Sort = "score",
    numbers: bool | None = None,
    min_support: int = SMALL,
    most: int = MOST,
    **options: Unpack[_Options],
) -> Charts:
    """Return a forest plot of a metric of every segment with its confidence interval.

    Each segment has a row, by default with the highest score on top. The area of a point shows the
    number of rows. A solid line marks the score of all rows. A dashed line marks chance: the score
    of random guessing or, for accuracy, of always predicting the most frequent label. With several
    metrics, each has a panel, with the segments in the same order. Several models are drawn side by
    side; with a single model, the values of the second by-column are.

    Parameters
    ----------
    interval : {True, "score", "wilson", "jeffreys", "exact", "mover", "posterior"} or None
        Method of the confidence intervals, as in `bf.report`; None draws none.
    level : float, default 0.95
        Confidence level of the intervals.

    Returns
    -------
    altair chart
        You can restyle or save it: `chart.save("report.png")`,
        `chart.save("report.html", inline=True)`.

    Examples
    --------
    >>> import balframe as bf
    >>> compas = bf.datasets.compas()
    >>> chart = bf.plot.report(compas, "reoffended", "high_risk", by="race", counts="n")
    >>> chart.to_dict()["title"]["text"]
    'Balanced accuracy by race'
    >>> rates = ["selection_rate", "recall", "false_positive_rate"]
    >>> chart = bf.plot.report(
    ...     compas, "reoffended", "high_risk", by="race", counts="n", metrics=rates
    ... )
    >>> [panel["title"]["text"] for panel in chart.to_dict()["concat"]]
    ['Selection rate', 'Recall', 'False positive rate']
    """
    chosen = drawn_metrics(metrics, options["class_weight"])
    rows = answered(
        compute_report(
            frame,
            y_true,
            y_pred,
            by=by,
            metrics=_with_majority(metrics, chosen),
            interval=interval,
            layout="long",
            margins="overall" if by_names(by, {}) else False,
            **options,
        )
    )
    names = by_names(by, rows[0])
    several = MODEL in rows[0] and MODEL not in names
    of_segments, of_all = _parted(rows, several) if names else (rows, rows)
    of_majority = {_model(row, several): row for row in of_all if row["metric"] == _MAJORITY}
    plots = [_shown(one, of_segments, of_all, of_majority, names, several) for one in chosen]
    words = {_chance_in_words(one.metric.chance, of_all) for one in chosen} - {""}
    lines = [
        Line("all_rows", "all rows", (1, 0)),
        Line("chance", words.pop() if len(words) == 1 else "chance", (4, 3)),
    ]
    for plot in plots:
        plot.fields.extend((line.field, line.name, SCORE) for line in lines)
    has_limits = any(row["lower"] is not None for plot in plots for row in plot.drawn.rows)
    limits = intervals(options["level"], options["cluster"])
    return forests(
        plots,
        Rows(sort, numbers, min_support, most),
        titled(chosen[0].title if len(chosen) == 1 else "scores", names),
        [limits] if has_limits else [],
        lines if names else lines[1:],
        "estimate",
    )


def _with_majority(metrics: Metrics | Mapping[str, str], chosen: Sequence[DrawnMetric]) -> Any:  # noqa: ANN401 (what the verb takes)
    """Ask also for what accuracy is compared with."""
    names = [one.name for one in chosen]
    if _MAJORITY in names:
        return metrics
    if isinstance(metrics, Mapping):
        return {**metrics, _MAJORITY: _MAJORITY}
    return [*names, _MAJORITY]


def _parted(rows: list[Answered], several: bool) -> tuple[list[Answered], list[Answered]]:
    """Part the rows of segments from those of the whole frame, which come last."""
    models = {_model(row, several) for row in rows}
    n_of_all = len(models) * len({row["metric"] for row in rows})
    return rows[:-n_of_all], rows[-n_of_all:]


def _model(row: Answered, several: bool) -> str:
    return text_of(row[MODEL]) if several else ""


def _shown(
    one: DrawnMetric,
    of_segments: list[Answered],
    of_all: list[Answered],
    of_majority: Mapping[str, Answered],
    names: list[Name],
    several: bool,
) -> Shown:
    """Put into every row what all rows score, of the same model, and what guessing does."""
    drawn = named([row for row in of_segments if row["metric"] == one.name], names)
    of_models = {_model(row, several): row for row in of_all if row["metric"] == one.name}
    for row in drawn.rows:
        model = row["panel"] if several else ""
        whole, chance = of_models[model], one.metric.chance
        row["note"] = "undefined" if row["estimate"] is None else None
        row |= {"lower": row.get("lower"), "upper": row.get("upper")}
        row["all_rows"] = whole["estimate"]
        if chance == "majority":
            row["chance"] = of_majority[model]["estimate"]
        elif chance == "uniform":
            row["chance"] = 1 / whole["n_labels"] if whole["n_labels"] else None
        else:
            row["chance"] = chance
    has_clusters = "n_clusters" in of_segments[0] if of_segments else False
    return Shown(one, drawn, one.title, _fields(one.title, has_clusters=has_clusters))


def _chance_in_words(chance: Chance | None, of_all: list[Answered]) -> str:
    if chance is None:
        return ""
    n_labels = {row["n_labels"] for row in of_all}
    words = {
        "majority": "chance: the most frequent label",
        "uniform": f"chance, 1/{n_labels.pop() if len(n_labels) == 1 else 'labels'}",
    }
    return words.get(str(chance), f"chance, {chance}")


def _fields(title: str, *, has_clusters: bool) -> list[Field]:
    return [
        ("n", "rows", ROWS),
        *([CLUSTERS] if has_clusters else []),
        ("n_labels", "labels present", ROWS),
        ("min_support", "rows of the rarest label", ROWS),
        ("estimate", title, SCORE),
        ("lower", "lower limit", SCORE),
        ("upper", "upper limit", SCORE),
    ]
