"""The charts of `confusion`, a heat map per segment, and of `report`, a forest plot."""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any, Literal, Unpack

import altair as alt

from balframe._text import chart_title, interval_phrase
from balframe._validate import check_choice
from balframe.api.columns import PREDICTED_OF_MODELS
from balframe.api.metric_selection import Metrics
from balframe.api.options import (
    DEFAULT_MIN_SUPPORT,
    AbsentLabelOptions,
    ClassWeightOptions,
    ClusterOptions,
    CorrectedRowOptions,
    LevelOptions,
    Names,
    OutcomeOptions,
    PartlyLabelledRowOptions,
)
from balframe.charts.drawn_result import DrawnResult, draws_result
from balframe.charts.facets import NO_ROWS, AltairChart, Subplot, assemble_chart
from balframe.charts.forest_plot import ForestOptions, ForestPanel, ReferenceLine, forest_plots
from balframe.charts.options import (
    DEFAULT_METRIC,
    DEFAULT_MOST,
    ChartMetric,
    chart_function,
    chart_metrics,
)
from balframe.charts.rows import (
    ChartData,
    ChartRow,
    ResultRow,
    SortOption,
    by_names,
    chart_data,
    chart_text,
    panel_columns,
    rank_segments,
    result_rows,
    value_text,
)
from balframe.charts.style import (
    BLACK,
    CLUSTERS_FIELD,
    COUNT_FORMAT,
    DARKEST,
    LIGHTEST,
    LIMIT_FIELDS,
    MIN_SUPPORT_FIELD,
    N_FIELD,
    SCORE_FORMAT,
    UNDEFINED_SHARE,
    WHITE,
    TooltipField,
    heading,
    segment_tooltips,
)
from balframe.core.strata import is_correction
from balframe.frames.adapter import Name
from balframe.frames.convert_result import collect_result, frame_from_lists, ordered_columns
from balframe.frames.query import GROUPED_BY, MODEL, ExpectedOutcome
from balframe.methods.scores.confusion import SHARE
from balframe.methods.scores.confusion import confusion as count_confusion
from balframe.methods.scores.pass_curve import pass_curve as pass_curve
from balframe.methods.scores.report import METHOD
from balframe.methods.scores.report import report as compute_report
from balframe.metrics.registry import Chance
from balframe.stats.base import IntervalOption

# Heat maps of confusion matrices


_RANKING_METRIC = "balanced_accuracy"
_SHADE_MEANINGS = {
    "true": "the share within each true label",
    "pred": "the share within each predicted label",
    "all": "the share of all rows of the segment",
}
_DARK_SHARE = 0.76  # the share from which white is easier to read than black
_TOTAL_WIDTH = 600  # pixels of all matrices side by side
_TWO_LINE_CELL = 56  # pixels of a cell that is large enough for two lines of text
_ONE_LINE_CELL = 28
# Pixels of a cell, by the largest number of labels, and of a matrix, by that of matrices
_CELL_SIZES = ((3, 60), (4, 42), (8, 34), (12, 28), (30, 14), (float("inf"), 6))
_MATRIX_SIDES = ((1, 620), (9, 320), (float("inf"), 150))


@chart_function
def confusion(
    frame: object,
    y_true: Name,
    y_pred: Names,
    *,
    by: Names = None,
    normalize: Literal["true", "pred", "all"] = "true",
    most: int = DEFAULT_MOST,
    **options: Unpack[CorrectedRowOptions],
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
        the weight. With `missing="correct"`, they are estimates for all rows, and the counts are of
        rows with a true label.

    Examples
    --------
    >>> import balframe as bf
    >>> compas = bf.datasets.compas()
    >>> chart = bf.plot.confusion(compas, "reoffended", "high_risk", by="race", counts="n")
    >>> chart.to_dict()["title"]["text"]
    'Confusion matrix by race'
    """
    check_choice("normalize", normalize, list(_SHADE_MEANINGS))
    cells = collect_result(
        count_confusion(frame, y_true, y_pred, by=by, normalize=normalize, complete=True, **options)
    )
    first = result_rows(cells)[0]
    names = by_names(by, first)
    predicted = y_pred[0] if isinstance(y_pred, list) else y_pred
    if MODEL in first and MODEL not in (*names, y_true, predicted):
        names.append(MODEL)
        predicted = PREDICTED_OF_MODELS
    is_corrected = is_correction(options["missing"])

    def scores() -> Any:  # noqa: ANN401 (a frame)
        if is_corrected:
            request: dict[str, Any] = {"by": by, "metrics": _RANKING_METRIC, **options}
            return collect_result(compute_report(frame, y_true, y_pred, **request))
        return _scores_of_cells(cells, names, y_true, predicted)

    counts = "Counts of rows with a true label" if is_corrected else "Counts"
    of_all = ", as estimated for all rows" if is_corrected else ""
    meaning = f"{counts}, shaded by {_SHADE_MEANINGS[normalize]}{of_all}"
    return _draw_cells(cells, names, (y_true, predicted), meaning, scores, most)


@draws_result("n")
def draw_confusion(result: DrawnResult, *, most: int = DEFAULT_MOST) -> AltairChart:
    """Return the chart of a result of `confusion`, whose rows are counted again, as cells."""
    named = {*result.by, *result.labels}
    names = [*result.by, *([MODEL] if MODEL in result.rows[0] and MODEL not in named else [])]
    others = {SHARE, GROUPED_BY} - {*names}
    columns = {
        str(name): [row[name] for row in result.rows]
        for name in result.rows[0]
        if name not in others
    }
    y_true, predicted = result.labels
    cells = count_confusion(
        frame_from_lists({}, columns),
        y_true,
        predicted,
        by=names or None,
        normalize="true",
        complete=True,
        cells=True,
    )
    return _draw_cells(
        cells,
        names,
        (y_true, predicted),
        f"Counts, shaded by {_SHADE_MEANINGS['true']}",
        lambda: _scores_of_cells(cells, names, y_true, predicted),
        most,
    )


def _scores_of_cells(cells: Any, names: list[Name], y_true: Name, predicted: Name) -> Any:  # noqa: ANN401 (frames)
    """Return the scores by which segments are ranked, from the cells that are drawn."""
    return compute_report(cells, y_true, predicted, by=names, cells=True, metrics=_RANKING_METRIC)


def _draw_cells(
    cells: Any,  # noqa: ANN401 (a frame of any library)
    names: list[Name],
    labels: tuple[Name, Name],
    meaning: str,
    scores: Callable[[], Any],
    most: int,
) -> AltairChart:
    """Return the heat maps of all pairs of labels of every segment.

    `meaning` is the text on what counts and shades are. `scores` returns those by which segments
    are ranked.
    """
    y_true, predicted = labels
    rows = result_rows(cells)
    # a column of labels may be called as that of models is
    of_segments = [{name: row[name] for name in row if name not in labels} for row in rows]
    data = chart_data(of_segments, names, max_panels=0)
    data = replace(
        data,
        rows=[
            {name: chart_row[name] for name in ("segment", "n", "share")}
            | {"actual": value_text(row[y_true]), "predicted": value_text(row[predicted])}
            for chart_row, row in zip(data.rows, rows, strict=True)
        ],
    )
    order, left_out = data.segments, list[str]()
    if len(order) > most:
        scored = chart_data(result_rows(scores()), names, max_panels=0)
        order, left_out = rank_segments(scored, _RANKING_METRIC, most, " in balanced accuracy")
    title = heading(
        chart_title("confusion matrix", names),
        [meaning, *left_out],
    )
    return _draw_matrices(
        data.select(order), order, title, chart_text(str(y_true)), chart_text(str(predicted))
    )


def _draw_matrices(
    data: ChartData, order: list[str], title: alt.TitleParams, actual: str, predicted: str
) -> AltairChart:
    labels = list(dict.fromkeys(row["actual"] for row in data.rows))
    size = _cell_size(len(order), len(labels))
    side = size * len(labels)
    rows = _with_titles(data.rows)
    layers = _matrix_layers(data, labels, actual, predicted, size).properties(
        width=side, height=side
    )
    if len(order) == 1:
        return assemble_chart([Subplot(layers, rows)], title)
    titles = {row["segment"]: row["title"] for row in rows}
    width = max(side, min(200, 6 * max(map(len, order))))
    header = alt.Header(
        labelExpr="split(datum.value, '\\n')", labelLimit=width + 15, labelFontWeight="bold"
    )
    sort = [titles[name] for name in order]
    panel = alt.Facet("title:N", title=data.segment_title, sort=sort, header=header)
    n_columns = panel_columns(len(order), max(1, min(6, _TOTAL_WIDTH // (width + 20))))
    spacing = alt.RowColnumber(row=20, column=width - side + 20)
    facets = layers.facet(panel, data=NO_ROWS, columns=n_columns, spacing=spacing)
    return assemble_chart([Subplot(facets, rows)], title)


def _cell_size(n_matrices: int, n_labels: int) -> int:
    """Return the pixels of a cell, which limit the size of a matrix and of all matrices."""
    size = next(
        size
        for most_labels, size in _CELL_SIZES
        if n_labels <= most_labels and (size < _TWO_LINE_CELL or n_matrices <= 9)
    )
    side = next(side for most_matrices, side in _MATRIX_SIDES if n_matrices <= most_matrices)
    return max(1, min(size, side // n_labels))


def _with_titles(rows: list[ChartRow]) -> list[ChartRow]:
    """Add titles: the name of the segment and, below it, its number of rows."""
    n_rows = Counter[str]()
    for row in rows:
        n_rows[row["segment"]] += row["n"]
    titles = {name: f"{name}\n{n:,} row{'' if n == 1 else 's'}" for name, n in n_rows.items()}
    return [row | {"title": titles[row["segment"]]} for row in rows]


def _matrix_layers(
    data: ChartData, labels: list[str], actual: str, predicted: str, size: int
) -> alt.LayerChart:
    tooltips = [
        *segment_tooltips(data),
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
        tooltip=tooltips,
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
    largest = max(row["n"] for row in data.rows)
    n_format = ",d" if largest < 10_000 else ".3~s"
    is_large = size >= _TWO_LINE_CELL
    counts = base.mark_text(fontSize=12 if is_large else 9, dy=-7 if is_large else 0).encode(
        text=alt.Text("n:Q", format=n_format), color=ink
    )
    if not is_large:
        return alt.LayerChart(layer=[cells, counts])
    defined = base.transform_filter("isValid(datum.share)")
    shares = defined.mark_text(fontSize=10, dy=9).encode(
        text=alt.Text("share:Q", format=".0%"), color=ink
    )
    return alt.LayerChart(layer=[cells, counts, shares])


# Forest plots of scores


_MAJORITY_METRIC = "no_information_rate"
_SUPPORT_FIELDS = (("n_labels", "labels present", COUNT_FORMAT), MIN_SUPPORT_FIELD)
_UNUSED_DETAILS = {column.name for column in METHOD.layouts["long"] if column.detail} - {
    field for field, *_ in _SUPPORT_FIELDS
}


class _Options(
    OutcomeOptions,
    LevelOptions,
    AbsentLabelOptions,
    ClassWeightOptions,
    ClusterOptions,
    PartlyLabelledRowOptions,
    total=False,
): ...


@chart_function
def report(
    frame: object,
    y_true: Name = None,
    y_pred: Names = None,
    *,
    by: Names = None,
    metrics: Metrics = DEFAULT_METRIC,
    interval: IntervalOption = True,
    sort: SortOption | None = None,
    numbers: bool | None = None,
    min_support: int = DEFAULT_MIN_SUPPORT,
    most: int = DEFAULT_MOST,
    **options: Unpack[_Options],
) -> AltairChart:
    """Return a forest plot of a metric of every segment with its confidence interval.

    Each segment has a row. The area of a point shows the number of rows. A solid line marks the
    score of all rows. A dashed line marks chance: the score of random guessing or, for accuracy, of
    always predicting the most frequent label. With several metrics, each has a panel, with the
    segments in the same order. Up to four models are drawn in one panel, in different colours; more
    are side by side, as are the values of the second by-column with a single model.

    Parameters
    ----------
    interval : {True, "score", "wilson", "jeffreys", "exact", "mover", "posterior"} or None
        Method of the confidence intervals, as in `bf.report`; None draws none.
    level : float, default 0.95
        Confidence level of the intervals.

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
    lacks_majority = is_correction(options["missing"]) or isinstance(y_true, ExpectedOutcome)
    request: dict[str, Any] = {
        "by": by,
        "margins": "overall" if by_names(by, {}) else False,
        "metrics": metrics if lacks_majority else _with_majority(metrics, chosen),
        **{"interval": interval, "layout": "long", "detail": True},
    }
    out: Any = compute_report(frame, y_true, y_pred, **request, **options)
    rows = result_rows(out)
    names = by_names(by, rows[0])
    has_models = MODEL in rows[0] and MODEL not in names
    segment_rows = overall_rows = rows
    if names:
        segment_rows, overall_rows = _split_overall(rows, has_models)
    result = DrawnResult(
        segment_rows, names, chosen, overall_rows, ordered=ordered_columns(out, names)
    )
    return _draw_scores(
        result,
        ForestOptions(result.sort(sort), numbers, min_support, most),
        interval_phrase(options["level"], options["cluster"]),
    )


@draws_result("n")
def draw_report(
    result: DrawnResult,
    *,
    level: float = 0.95,
    sort: SortOption | None = None,
    numbers: bool | None = None,
    min_support: int = DEFAULT_MIN_SUPPORT,
    most: int = DEFAULT_MOST,
) -> AltairChart:
    """Return the chart of a result of `report`."""
    rows, overall = (_long_rows(rows, result.metrics) for rows in (result.rows, result.overall))
    if not result.by:
        overall = rows
    return _draw_scores(
        replace(result, rows=rows, overall=overall),
        ForestOptions(result.sort(sort), numbers, min_support, most),
        interval_phrase(level),
    )


def _long_rows(rows: Sequence[ResultRow], metrics: Sequence[ChartMetric]) -> list[ResultRow]:
    """Return the rows of a report with a row for each metric."""
    if not rows or "estimate" in rows[0]:
        return list(rows)
    names = {metric.name for metric in metrics}
    limits = {f"{name}_{end}" for name in names for end in ("lower", "upper")}
    return [
        {name: value for name, value in row.items() if name not in names | limits}
        | {"metric": metric.name, "estimate": row[metric.name]}
        | {end: row.get(f"{metric.name}_{end}") for end in ("lower", "upper")}
        for row in rows
        for metric in metrics
    ]


def _draw_scores(result: DrawnResult, forest: ForestOptions, limits: str) -> AltairChart:
    """Return the forest plot of scores, in the long layout."""
    names, chosen, overall_rows = result.by, result.metrics, result.overall
    has_models = MODEL in result.rows[0] and MODEL not in names
    panels = [_panel(metric, result.rows, overall_rows, names, has_models) for metric in chosen]
    chance_texts = {_chance_text(metric.chance, overall_rows) for metric in chosen} - {""}
    lines = [
        ReferenceLine("all_rows", "all rows", (1, 0), differs=has_models),
        ReferenceLine("chance", chance_texts.pop() if len(chance_texts) == 1 else "chance", (4, 3)),
    ]
    for panel in panels:
        panel.fields.extend((line.field, line.name, SCORE_FORMAT) for line in lines)
    has_limits = any(row["lower"] is not None for panel in panels for row in panel.data.rows)
    return forest_plots(
        panels,
        forest,
        chart_title(chosen[0].title if len(chosen) == 1 else "scores", names),
        [limits] if has_limits else [],
        lines if names else lines[1:],
        "estimate",
        overlays=has_models,
    )


def _with_majority(metrics: Metrics | Mapping[str, str], chosen: Sequence[ChartMetric]) -> Any:  # noqa: ANN401 (what the method takes)
    """Add the rate that accuracy is compared with to the metrics."""
    names = [metric.name for metric in chosen]
    if _MAJORITY_METRIC in names:
        return metrics
    if isinstance(metrics, Mapping):
        return {**metrics, _MAJORITY_METRIC: _MAJORITY_METRIC}
    return [*names, _MAJORITY_METRIC]


def _split_overall(
    rows: list[ResultRow], has_models: bool
) -> tuple[list[ResultRow], list[ResultRow]]:
    """Split the rows of segments from those of the whole frame, which come last."""
    models = {_model_name(row, has_models) for row in rows}
    n_overall = len(models) * len({row["metric"] for row in rows})
    return rows[:-n_overall], rows[-n_overall:]


def _model_name(row: ResultRow, has_models: bool) -> str:
    return value_text(row[MODEL]) if has_models else ""


def _panel(
    metric: ChartMetric,
    segment_rows: Sequence[ResultRow],
    overall_rows: Sequence[ResultRow],
    names: list[Name],
    has_models: bool,
) -> ForestPanel:
    """Return the panel of a metric, whose rows also have the overall score and that of chance."""
    data = chart_data(
        [
            {name: value for name, value in row.items() if name not in _UNUSED_DETAILS}
            for row in segment_rows
            if row["metric"] == metric.name
        ],
        names,
    )
    overall, majority = (
        {_model_name(row, has_models): row for row in overall_rows if row["metric"] == name}
        for name in (metric.name, _MAJORITY_METRIC)
    )
    for row in data.rows:
        model = row["panel" if names else "segment"] if has_models else ""
        chance = metric.chance
        row["note"] = "undefined" if row["estimate"] is None else None
        row |= {"lower": row.get("lower"), "upper": row.get("upper")}
        row.setdefault("min_support", row["n"])  # of a result without details
        row["all_rows"] = overall[model]["estimate"] if overall else None
        if chance == "majority":
            row["chance"] = majority[model]["estimate"] if majority else None
        elif chance == "uniform":
            n_labels = overall[model].get("n_labels") if overall else None
            row["chance"] = 1 / n_labels if n_labels else None
        else:
            row["chance"] = chance
    fields: list[TooltipField] = [
        N_FIELD,
        *([CLUSTERS_FIELD] if segment_rows and "n_clusters" in segment_rows[0] else []),
        *(field for field in _SUPPORT_FIELDS if segment_rows and field[0] in segment_rows[0]),
        ("estimate", metric.title, SCORE_FORMAT),
        *LIMIT_FIELDS,
    ]
    return ForestPanel(metric, data, metric.title, fields)


def _chance_text(chance: Chance | None, overall_rows: Sequence[ResultRow]) -> str:
    if chance is None:
        return ""
    n_labels = {row.get("n_labels") for row in overall_rows}
    words = {
        "majority": "chance: the most frequent label",
        "uniform": f"chance, 1/{n_labels.pop() if len(n_labels) == 1 else 'labels'}",
    }
    return words.get(str(chance), f"chance, {chance}")
