"""The chart of `report`: a forest plot of one metric or several."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, Literal, Unpack

import altair as alt

from balframe._text import intervals, titled
from balframe.api.columns import OF_SEVERAL
from balframe.api.metric_selection import Metrics
from balframe.api.options import (
    AbsentLabelOptions,
    CellOrRowOptions,
    ClassWeightOptions,
    ClusterOptions,
    LevelOptions,
    Names,
)
from balframe.charts.facets import NO_ROWS, AltairChart, Subplot, assemble_chart
from balframe.charts.forest_plot import ReferenceLine, ForestOptions, ForestPanel, forest_plots
from balframe.charts.options import DEFAULT_METRIC, DEFAULT_MOST, DEFAULT_MIN_SUPPORT, ChartMetric, chart_function, chart_metrics
from balframe.charts.rows import (
    ResultRow,
    ChartData,
    ChartRow,
    SortOption,
    result_rows,
    by_names,
    panel_columns,
    escape_tags,
    chart_data,
    rank_segments,
    value_text,
)
from balframe.charts.style import (
    BLACK,
    CLUSTERS_FIELD,
    DARKEST,
    LIGHTEST,
    UNDEFINED_SHARE,
    COUNT_FORMAT,
    SCORE_FORMAT,
    WHITE,
    TooltipField,
    heading,
    segment_tooltips,
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


_RANKING_METRIC = "balanced_accuracy"
_SHADE_MEANINGS = {
    "true": "the share within each true label",
    "pred": "the share within each predicted label",
    "all": "the share of all rows of the segment",
}
_DARK_SHARE = 0.76  # the share from which white is easier to read than black
_TOTAL_WIDTH = 600  # pixels of all matrices side by side
_TWO_LINE_CELL, _ONE_LINE_CELL = (
    56,
    28,
)  # pixels of a cell that has room for two lines of text, and for one
_CELL_SIZES = (
    (3, 60),
    (4, 42),
    (8, 34),
    (12, 28),
    (30, 14),
    (float("inf"), 6),
)  # up to many labels
_MATRIX_SIDES = ((1, 620), (9, 320), (float("inf"), 150))  # pixels of a matrix, up to many of them


@chart_function
def confusion(
    frame: object,
    y_true: Name,
    y_pred: Names,
    *,
    by: Names = None,
    normalize: Literal["true", "pred", "all"] = "true",
    most: int = DEFAULT_MOST,
    **options: Unpack[CellOrRowOptions],
) -> AltairChart:
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
    check_choice("normalize", normalize, list(_SHADE_MEANINGS))
    answer = collected(
        count_confusion(frame, y_true, y_pred, by=by, normalize=normalize, complete=True, **options)
    )
    rows = result_rows(answer)
    names = by_names(by, rows[0])
    predicted = y_pred[0] if isinstance(y_pred, list) else y_pred
    if MODEL in rows[0] and MODEL not in names:
        names.append(MODEL)
        predicted = OF_SEVERAL
    segments = chart_data(rows, names, max_panels=0)
    drawn = replace(
        segments,
        rows=[
            {name: row[name] for name in ("segment", "n", "share")}
            | {"actual": value_text(found[y_true]), "predicted": value_text(found[predicted])}
            for row, found in zip(segments.rows, rows, strict=True)
        ],
    )
    order, left_out = drawn.segments, list[str]()
    if len(order) > most:
        scores = compute_report(
            answer, y_true, predicted, by=names, cells=True, metrics=_RANKING_METRIC
        )
        of_segments = chart_data(result_rows(scores), names, max_panels=0)
        order, left_out = rank_segments(of_segments, _RANKING_METRIC, most, " in balanced accuracy")
    title = heading(
        titled("confusion matrix", names),
        [f"Counts, shaded by {_SHADE_MEANINGS[normalize]}", *left_out],
    )
    return _draw_matrices(drawn.select(order), order, title, escape_tags(str(y_true)), escape_tags(str(predicted)))


def _draw_matrices(
    drawn: ChartData, order: list[str], title: alt.TitleParams, actual: str, predicted: str
) -> AltairChart:
    labels = list(dict.fromkeys(row["actual"] for row in drawn.rows))
    size = _cell_size(len(order), len(labels))
    side = size * len(labels)
    rows = _with_titles(drawn.rows)
    layers = _matrix_layers(drawn, labels, actual, predicted, size).properties(
        width=side, height=side
    )
    if len(order) == 1:
        return assemble_chart([Subplot(layers, rows)], title)
    titles = {row["segment"]: row["title"] for row in rows}
    needed = max(side, min(200, 6 * max(map(len, order))))
    header = alt.Header(
        labelExpr="split(datum.value, '\\n')", labelLimit=needed + 15, labelFontWeight="bold"
    )
    sort = [titles[name] for name in order]
    panel = alt.Facet("title:N", title=drawn.segment_title, sort=sort, header=header)
    wide = panel_columns(len(order), max(1, min(6, _TOTAL_WIDTH // (needed + 20))))
    spacing = alt.RowColnumber(row=20, column=needed - side + 20)
    facets = layers.facet(panel, data=NO_ROWS, columns=wide, spacing=spacing)
    return assemble_chart([Subplot(facets, rows)], title)


def _cell_size(n_matrices: int, n_labels: int) -> int:
    """Choose the pixels of a cell, so that neither a matrix nor all of them grow without end."""
    size = next(
        size
        for many, size in _CELL_SIZES
        if n_labels <= many and (size < _TWO_LINE_CELL or n_matrices <= 9)
    )
    side = next(side for many, side in _MATRIX_SIDES if n_matrices <= many)
    return max(1, min(size, side // n_labels))


def _with_titles(rows: list[ChartRow]) -> list[ChartRow]:
    """Write the number of rows below the name of each segment."""
    n = Counter[str]()
    for row in rows:
        n[row["segment"]] += row["n"]
    written = {name: f"{name}\n{many:,} row{'' if many == 1 else 's'}" for name, many in n.items()}
    return [row | {"title": written[row["segment"]]} for row in rows]


def _matrix_layers(
    drawn: ChartData, labels: list[str], actual: str, predicted: str, size: int
) -> alt.LayerChart:
    of_cell = [
        *segment_tooltips(drawn),
        alt.Tooltip("actual:N", title=actual),
        alt.Tooltip("predicted:N", title=predicted),
        alt.Tooltip("n:Q", title="rows", format=COUNT_FORMAT),
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
    fill = alt.when("!isValid(datum.share)").then(alt.value(UNDEFINED_SHARE)).otherwise(shade)
    cells = base.mark_rect(invalid=None, stroke=WHITE, strokeWidth=1 if size > 8 else 0).encode(
        color=fill
    )
    if size < _ONE_LINE_CELL:
        return alt.LayerChart(layer=[cells])
    ink = (
        alt.when(f"datum.share > {_DARK_SHARE}").then(alt.value(WHITE)).otherwise(alt.value(BLACK))
    )
    largest = max(row["n"] for row in drawn.rows)
    form = ",d" if largest < 10_000 else ".3~s"
    is_large = size >= _TWO_LINE_CELL
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


_MAJORITY_METRIC = "no_information_rate"


class _Options(
    LevelOptions,
    AbsentLabelOptions,
    ClassWeightOptions,
    ClusterOptions,
    CellOrRowOptions,
    total=False,
): ...


@chart_function
def report(
    frame: object,
    y_true: Name,
    y_pred: Names,
    *,
    by: Names = None,
    metrics: Metrics = DEFAULT_METRIC,
    interval: IntervalOption = True,
    sort: SortOption = "score",
    numbers: bool | None = None,
    min_support: int = DEFAULT_MIN_SUPPORT,
    most: int = DEFAULT_MOST,
    **options: Unpack[_Options],
) -> AltairChart:
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
    chosen = chart_metrics(metrics, options["class_weight"])
    rows = result_rows(
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
    of_segments, of_all = _split_overall(rows, several) if names else (rows, rows)
    of_majority = {
        _model_name(row, several): row for row in of_all if row["metric"] == _MAJORITY_METRIC
    }
    plots = [_panel(one, of_segments, of_all, of_majority, names, several) for one in chosen]
    words = {_chance_text(one.metric.chance, of_all) for one in chosen} - {""}
    lines = [
        ReferenceLine("all_rows", "all rows", (1, 0)),
        ReferenceLine("chance", words.pop() if len(words) == 1 else "chance", (4, 3)),
    ]
    for plot in plots:
        plot.fields.extend((line.field, line.name, SCORE_FORMAT) for line in lines)
    has_limits = any(row["lower"] is not None for plot in plots for row in plot.data.rows)
    limits = intervals(options["level"], options["cluster"])
    return forest_plots(
        plots,
        ForestOptions(sort, numbers, min_support, most),
        titled(chosen[0].title if len(chosen) == 1 else "scores", names),
        [limits] if has_limits else [],
        lines if names else lines[1:],
        "estimate",
    )


def _with_majority(metrics: Metrics | Mapping[str, str], chosen: Sequence[ChartMetric]) -> Any:  # noqa: ANN401 (what the method takes)
    """Ask also for what accuracy is compared with."""
    names = [one.name for one in chosen]
    if _MAJORITY_METRIC in names:
        return metrics
    if isinstance(metrics, Mapping):
        return {**metrics, _MAJORITY_METRIC: _MAJORITY_METRIC}
    return [*names, _MAJORITY_METRIC]


def _split_overall(rows: list[ResultRow], several: bool) -> tuple[list[ResultRow], list[ResultRow]]:
    """Part the rows of segments from those of the whole frame, which come last."""
    models = {_model_name(row, several) for row in rows}
    n_of_all = len(models) * len({row["metric"] for row in rows})
    return rows[:-n_of_all], rows[-n_of_all:]


def _model_name(row: ResultRow, several: bool) -> str:
    return value_text(row[MODEL]) if several else ""


def _panel(
    one: ChartMetric,
    of_segments: list[ResultRow],
    of_all: list[ResultRow],
    of_majority: Mapping[str, ResultRow],
    names: list[Name],
    several: bool,
) -> ForestPanel:
    """Put into every row what all rows score, of the same model, and what guessing does."""
    drawn = chart_data([row for row in of_segments if row["metric"] == one.name], names)
    of_models = {_model_name(row, several): row for row in of_all if row["metric"] == one.name}
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
    return ForestPanel(one, drawn, one.title, _tooltip_fields(one.title, has_clusters=has_clusters))


def _chance_text(chance: Chance | None, of_all: list[ResultRow]) -> str:
    if chance is None:
        return ""
    n_labels = {row["n_labels"] for row in of_all}
    words = {
        "majority": "chance: the most frequent label",
        "uniform": f"chance, 1/{n_labels.pop() if len(n_labels) == 1 else 'labels'}",
    }
    return words.get(str(chance), f"chance, {chance}")


def _tooltip_fields(title: str, *, has_clusters: bool) -> list[TooltipField]:
    return [
        ("n", "rows", COUNT_FORMAT),
        *([CLUSTERS_FIELD] if has_clusters else []),
        ("n_labels", "labels present", COUNT_FORMAT),
        ("min_support", "rows of the rarest label", COUNT_FORMAT),
        ("estimate", title, SCORE_FORMAT),
        ("lower", "lower limit", SCORE_FORMAT),
        ("upper", "upper limit", SCORE_FORMAT),
    ]
