"""The chart of `slices`: a forest plot of the slices, with the score of the rest."""

from typing import Any, Unpack

from balframe._text import capitalize_first, format_percent
from balframe.api.options import CellOrRowOptions, ClassWeightOptions, LevelOptions, OutcomeOptions
from balframe.charts.drawn_result import DrawnResult, draws_result
from balframe.charts.facets import AltairChart, Subplot, assemble_chart
from balframe.charts.forest_plot import ForestPlot
from balframe.charts.options import chart_function, chart_metrics, shows_numbers
from balframe.charts.rows import ResultRow, chart_data
from balframe.charts.style import (
    COUNT_FORMAT,
    N_FIELD,
    SCORE_FORMAT,
    TooltipField,
    heading,
    segment_tooltips,
)
from balframe.charts.style import number_tooltips as tooltips
from balframe.errors import InvalidInputError
from balframe.frames.adapter import Name
from balframe.frames.convert_result import collect_result, row_dicts
from balframe.methods.slices.slices import SearchOptions
from balframe.methods.slices.slices import slices as method

_MAX_LINE_LENGTH = 40  # characters of a slice in one line
_DIFFERENCE_FIELDS = ("difference", "difference_lower", "difference_upper")
_UNCHANGED = (
    *("slice", "n", "min_support", "wrong", "estimate", "rest", "difference", "p_adjusted"),
    "n_explained",
)
_FIELDS: list[TooltipField] = [
    N_FIELD,
    ("wrong", "wrong rows", COUNT_FORMAT),
    ("estimate", "score", SCORE_FORMAT),
    ("rest", "score of the rest", SCORE_FORMAT),
    ("difference", "difference", SCORE_FORMAT),
    ("difference_lower", "lower limit of the difference", SCORE_FORMAT),
    ("difference_upper", "upper limit of the difference", SCORE_FORMAT),
    ("p_adjusted", "p-value, adjusted", ".2g"),
    ("n_explained", "slices explained", COUNT_FORMAT),
]


class _Options(
    OutcomeOptions, SearchOptions, LevelOptions, ClassWeightOptions, CellOrRowOptions, total=False
): ...


@chart_function
def slices(
    frame: object,
    y_true: Name = None,
    y_pred: Name = None,
    *,
    numbers: bool | None = None,
    **options: Unpack[_Options],
) -> AltairChart:
    """Return a chart of the slices listed by `bf.slices`, each compared with the rest of the rows.

    Each slice has a row with its score, the worst on top. A tick shows the score of the rest. The
    interval has the limits of the difference, added to the score of the rest. It does not extend
    beyond the tick, because every slice in the chart is significantly worse. The area of a point
    shows the number of rows.

    Parameters
    ----------
    y_pred : column name
        The predicted class labels of one model.
    numbers : bool, optional
        Write the difference, its confidence interval and the number of rows beside each point. By
        default, this is done for up to 20 slices.

    Raises
    ------
    BalframeError
        As `bf.slices` raises, and if no slice is listed.

    Examples
    --------
    >>> import polars as pl
    >>> import balframe as bf
    >>> people = pl.DataFrame(
    ...     {
    ...         "site": ["a", "a", "b", "b", "c", "c"],
    ...         "y": [1] * 6,
    ...         "yhat": [1, 0] * 3,
    ...         "n": [90, 10, 92, 8, 60, 40],
    ...     }
    ... )
    >>> chart = bf.plot.slices(people, "y", "yhat", over="site", metrics="recall", counts="n")
    >>> chart.to_dict()["title"]["text"]
    'Recall: the worst slices of 3'
    """
    rows = row_dicts(collect_result(method(frame, y_true, y_pred, detail=True, **options)))
    if not rows:
        raise InvalidInputError(
            "no slice is listed, so there is nothing to draw; call bf.slices to see how many were "
            "tested."
        )
    chosen = chart_metrics(options["metrics"], options["class_weight"])
    return draw_slices(DrawnResult(rows, [], chosen), level=options["level"], numbers=numbers)


@draws_result(*_UNCHANGED, "n_tests", "lower", "upper")
def draw_slices(
    result: DrawnResult, *, level: float = 0.95, numbers: bool | None = None
) -> AltairChart:
    """Return the chart of a result of `slices`."""
    rows, (metric,) = result.rows, result.metrics
    data = chart_data([_chart_row(row) for row in rows], ["slice"])
    plot = ForestPlot(
        data,
        data.segments,
        capitalize_first(metric.title),
        [],
        [*segment_tooltips(data), *tooltips(_FIELDS)],
        0,
        shows_numbers(numbers, len(rows)),
        numbers_title="difference",
        tick_field="rest",
        number_fields=_DIFFERENCE_FIELDS,
        wraps_labels=max(map(len, data.segments)) > _MAX_LINE_LENGTH,
    )
    title = f"{capitalize_first(metric.title)}: the worst slices of {rows[0]['n_tests']:,}"
    subtitles = ["Ticks: the rest of the rows"]
    if any(row["lower"] is not None for row in rows):
        percent = format_percent(level)
        limits = f"Limits: difference from the rest, each {percent} confidence for all slices"
        subtitles[0] += f". {limits}"
    return assemble_chart([Subplot(plot.draw(), data.rows)], heading(title, subtitles))


def _chart_row(row: ResultRow) -> ResultRow:
    """Return a row whose limits of the difference are added to the score of the rest."""
    values: dict[Name, Any] = {name: row[name] for name in _UNCHANGED}
    for name, limit in zip(_DIFFERENCE_FIELDS[1:], ("lower", "upper"), strict=True):
        values[name] = row[limit]
        values[limit] = None if row[limit] is None else row["rest"] + row[limit]
    return {**values, "note": None}
