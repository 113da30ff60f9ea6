"""The chart of a result: `bf.plot(result)`, whose method is recognized as `bf.table` does."""

from collections.abc import Callable, Mapping
from inspect import Parameter, signature
from typing import TYPE_CHECKING, Any

from balframe._text import metric_title
from balframe.api.checked_arguments import checked_arguments
from balframe.api.columns import Kind, Naming, Role
from balframe.charts.drawn_result import DrawnResult, check_drawn_columns
from balframe.charts.options import ChartMetric, check_chart_options
from balframe.charts.rows import ResultRow, SortOption, require_rows
from balframe.errors import InvalidInputError, UnsupportedTypeError
from balframe.frames.adapter import Name
from balframe.frames.convert_result import ordered_columns
from balframe.frames.engines.registry import check_installed
from balframe.methods import CHARTS, METHODS, load_drawing, names_in_groups
from balframe.metrics.score_metrics import find_score_metric
from balframe.tables.layout import ResultLayout, lookup_metric, read_values
from balframe.tables.recognize import recognize_result

if TYPE_CHECKING:
    from altair import ConcatChart, FacetChart, LayerChart

CHART_OF_RESULT = {  # of each method with a chart that needs no more than the result
    **{
        name: name
        for name in names_in_groups(METHODS)
        if name in names_in_groups(CHARTS) and name not in ("power", "calibration")
    },
    "calibration_curve": "calibration",
}
_FROM_DATA = {"ranking": "roc", "best_threshold": "curve", "power": "power"}


@checked_arguments
def plot(
    frame: Any,  # noqa: ANN401 (a frame of pandas, polars or pyarrow)
    *,
    method: str | None = None,
    level: float | None = None,
    sort: SortOption | None = None,
    numbers: bool | None = None,
    min_support: int | None = None,
    most: int | None = None,
) -> "LayerChart | FacetChart | ConcatChart":
    """Return the chart of a result, such as `report` returns.

    `bf.plot.report(df, "y", "yhat", by="group")` calls the method and draws its result, as
    `df.bal.plot.report("y", "yhat", by="group")` does. The chart of a result is the same. It may
    need the columns of details: call the method with `detail=True`. What a result does not have is
    not drawn: the score of all rows without `margins="overall"`, best thresholds in that of
    `curve`, histograms in that of `calibration_curve`. Roll-ups of some of the by-columns are left
    out.

    Parameters
    ----------
    frame : pandas, polars or pyarrow frame
        The result of `report`, `confusion`, `gaps`, `compare`, `slices`, `impact`, `monitor`,
        `curve` or `calibration_curve`. Keep the order of its columns.
    method : str, optional
        The method that returned the frame, as in "report". By default it follows from the columns.
    level : float, optional
        The confidence level with which the method was called, 0.95 by default. The result does not
        contain it. Points are marked as significant at 1 - level.
    sort, numbers, min_support, most : optional
        The options of the method's chart, as in `bf.plot.report`, with its defaults.

    Returns
    -------
    altair chart
        You can restyle or save it: `chart.save("chart.png")`,
        `chart.save("chart.html", inline=True)`.

    Raises
    ------
    MissingExtraError
        If Altair is not installed; the message has the command that installs it.
    BalframeError
        If the frame is not the result of a method with a chart, or lacks columns that the chart
        needs, or an option cannot be used. The message says what to do.

    Examples
    --------
    >>> import balframe as bf
    >>> compas = bf.datasets.compas()
    >>> out = compas.bal.gaps(
    ...     "reoffended", "high_risk", by="race", counts="n", metrics="recall", detail=True
    ... )
    >>> chart = bf.plot(out)
    >>> chart.to_dict()["title"]["text"]
    'Recall: difference from the rest by race'
    """
    check_installed("altair", "plot", "charts")
    values = read_values(frame)
    method = recognize_result(list(values), method, "bf.plot cannot draw").method
    chart_name = CHART_OF_RESULT.get(method)
    if chart_name is None:
        raise InvalidInputError(_no_chart_message(method))
    draw = load_drawing(chart_name)
    options = {"level": level, "sort": sort, "numbers": numbers, "min_support": min_support}
    chart_options = {
        name: value for name, value in {**options, "most": most}.items() if value is not None
    }
    _check_options(draw, chart_options, chart_name)
    check_drawn_columns(draw, list(values), method, chart_name)
    result = _drawn_result(ResultLayout.from_values(values, method), frame)
    require_rows(result.rows)
    chart: LayerChart | FacetChart | ConcatChart = draw(result, **chart_options)
    return chart


def _no_chart_message(method: str) -> str:
    """Return why a result has no chart, and how to draw one."""
    start = f"bf.plot cannot draw a result of {method}"
    if method in _FROM_DATA:
        chart = _FROM_DATA[method]
        return f"{start}, which lacks the curve; draw the data with bf.plot.{chart}(frame, ...)."
    return (
        f"{start}, which has no chart; give a result of {', '.join(sorted(CHART_OF_RESULT))}, or "
        "show it with bf.table."
    )


def _check_options(draw: Callable[..., Any], chart_options: Mapping[str, Any], chart: str) -> None:
    """Raise for options that the chart does not have, and for values that it cannot use."""
    parameters = signature(draw).parameters.values()
    names = [own.name for own in parameters if own.kind is Parameter.KEYWORD_ONLY]
    unused = [name for name in chart_options if name not in names]
    if unused:
        raise UnsupportedTypeError(
            f"option {unused[0]!r} is not one of the chart of {chart}; it has {', '.join(names)}."
        )
    check_chart_options(chart_options)


def _drawn_result(layout: ResultLayout, frame: object) -> DrawnResult:
    """Return what a chart draws of a result."""
    rows: list[ResultRow] = [
        {str(name): values[row] for name, values in layout.values.items()}
        for row in range(layout.n_rows)
    ]
    finest = [row for at, row in enumerate(rows) if layout.is_finest(at)]
    overall = [
        row
        for at, row in enumerate(rows)
        if layout.by and not layout.is_finest(at) and not layout.segment_columns[at]
    ]
    labels = [str(name) for name, column in layout.columns.items() if column.kind is Kind.LABEL]
    by: list[Name] = [str(name) for name in layout.by]
    ordered = [str(name) for name in ordered_columns(frame, layout.by)]
    return DrawnResult(finest, by, _metrics(layout), overall, labels, ordered)


def _metrics(layout: ResultLayout) -> list[ChartMetric]:
    """Return the metrics of a result in their order, from a column of them or from the names."""
    name = layout.naming_column(Naming.METRIC)
    names = (
        [
            column.placeholder_value
            for column in layout.columns.values()
            if column.role is Role.ESTIMATE and column.placeholder_value is not None
        ]
        if name is None
        else layout.values[name]
    )
    metrics = []
    for text in dict.fromkeys(names):
        metric = lookup_metric(text) or find_score_metric(text)
        if metric is None:
            raise InvalidInputError(
                f"column {text!r} is not the name of a metric, so a chart of the result cannot "
                "read it; draw the data with bf.plot, which takes a mapping of metrics."
            )
        metrics.append(ChartMetric(str(text), metric_title(metric.name), metric))
    return metrics
