"""The chart of `gaps`: a forest plot of differences."""

from collections.abc import Mapping, Sequence
from typing import Literal, Unpack

from balframe._text import chart_title, interval_phrase
from balframe.api.metric_selection import Adjust, Metrics
from balframe.api.option_types import THE_REST, ReferenceOption
from balframe.api.options import (
    DEFAULT_MIN_SUPPORT,
    AdjustmentOptions,
    ClassWeightOptions,
    ClusterOptions,
    LevelOptions,
    Names,
    OutcomeOptions,
    PartlyLabelledRowOptions,
)
from balframe.api.value_naming import ValueNaming
from balframe.charts.drawn_result import UNKNOWN, DrawnResult, draws_result
from balframe.charts.facets import AltairChart
from balframe.charts.forest_plot import ForestOptions, ForestPanel, ReferenceLine, forest_plots
from balframe.charts.options import (
    DEFAULT_METRIC,
    DEFAULT_MOST,
    ChartMetric,
    chart_function,
    chart_metrics,
)
from balframe.charts.rows import (
    ChartRow,
    ResultRow,
    SortOption,
    by_names,
    chart_data,
    result_rows,
    segment_text,
)
from balframe.charts.style import (
    CLUSTERS_FIELD,
    LIMIT_FIELDS,
    MIN_SUPPORT_FIELD,
    N_FIELD,
    SCORE_FORMAT,
    TooltipField,
)
from balframe.frames.adapter import Name
from balframe.methods.comparisons.gaps import gaps as method

_NOT_SIGNIFICANT = "not significant"


class _Options(
    OutcomeOptions,
    AdjustmentOptions,
    LevelOptions,
    ClassWeightOptions,
    ClusterOptions,
    PartlyLabelledRowOptions,
    total=False,
): ...


@chart_function
def gaps(
    frame: object,
    y_true: Name = None,
    y_pred: Names = None,
    *,
    by: Names,
    metrics: Metrics = DEFAULT_METRIC,
    reference: ReferenceOption = THE_REST,
    sort: SortOption = "score",
    numbers: bool | None = None,
    min_support: int = DEFAULT_MIN_SUPPORT,
    most: int = DEFAULT_MOST,
    **options: Unpack[_Options],
) -> AltairChart:
    """Return a forest plot of the difference of every segment from the rest or another reference.

    Each segment has a row with the difference and its confidence interval, by default with the
    highest difference on top. The area of a point shows the number of rows. Differences whose
    adjusted p-value is below 1 - level are diamonds of another colour. With several metrics, each
    has a panel, with the segments in the same order. Several models are drawn side by side; with a
    single model, the values of the second by-column are.

    Parameters
    ----------
    reference : "rest", "overall", "largest", "best", "worst", a value, or a mapping
        What each segment is compared with, as in `bf.gaps`.
    level : float, default 0.95
        Confidence level of the intervals. Differences with a p-value below 1 - level are marked.

    Returns
    -------
    altair chart
        You can restyle or save it: `chart.save("gaps.png")`, `chart.save("gaps.html",
        inline=True)`.

    Examples
    --------
    >>> import balframe as bf
    >>> chart = bf.plot.gaps(
    ...     bf.datasets.compas(), "reoffended", "high_risk", by="race", counts="n",
    ...     metrics="false_positive_rate", reference="Caucasian",
    ... )
    >>> chart.to_dict()["title"]["text"]
    'False positive rate: difference from Caucasian by race'
    """
    chosen = chart_metrics(metrics, options["class_weight"])
    rows = result_rows(
        method(
            frame,
            y_true,
            y_pred,
            by=by,
            metrics=metrics,
            reference=reference,
            detail=True,
            **options,
        )
    )
    return _draw_differences(
        DrawnResult(rows, by_names(by, rows[0]), chosen),
        ForestOptions(sort, numbers, min_support, most),
        _reference_text(rows, reference),
        interval_phrase(options["level"], options["cluster"]),
        1 - options["level"],
        options["adjust"],
    )


@draws_result(
    *("estimate", "difference", "lower", "upper", "p_adjusted", "n"),
    *("reference", "reference_estimate", "min_support", "n_tests"),
)
def draw_gaps(
    result: DrawnResult,
    *,
    level: float = 0.95,
    sort: SortOption = "score",
    numbers: bool | None = None,
    min_support: int = DEFAULT_MIN_SUPPORT,
    most: int = DEFAULT_MOST,
) -> AltairChart:
    """Return the chart of a result of `gaps`."""
    references = {row["reference"] for row in result.rows}
    reference = references.pop() if len(references) == 1 else "reference"
    return _draw_differences(
        result,
        ForestOptions(sort, numbers, min_support, most),
        _reference_text(result.rows, reference),
        interval_phrase(level),
        1 - level,
        UNKNOWN,
    )


def _draw_differences(
    result: DrawnResult,
    forest: ForestOptions,
    reference: str,
    limits: str,
    alpha: float,
    adjust: Adjust | Literal["unknown"],
) -> AltairChart:
    """Return the forest plot of differences."""
    chosen = result.metrics
    panels = [_panel(metric, result.rows, result.by, alpha, adjust) for metric in chosen]
    title = f"difference from {reference}"
    n_tests = {row["n_tests"] for row in result.rows}
    return forest_plots(
        panels,
        forest,
        chart_title(f"{chosen[0].title}: {title}" if len(chosen) == 1 else title, result.by),
        [f"{limits}{adjustment_text(adjust, max(n_tests))}"],
        [ReferenceLine("zero", "no difference", (1, 0))],
        "difference",
        significance_marks(alpha),
    )


def _panel(
    metric: ChartMetric,
    rows: Sequence[ResultRow],
    names: list[Name],
    alpha: float,
    adjust: Adjust | Literal["unknown"],
) -> ForestPanel:
    """Return the panel of the differences of a metric, with marks on significant ones."""
    data = chart_data([row for row in rows if row["metric"] == metric.name], names)
    mark_significant(data.rows, alpha)
    for row in data.rows:
        row["zero"] = 0
        row["note"] = "undefined" if row["difference"] is None else None
        row |= {"score": row["estimate"], "estimate": row["difference"]}
    fields: list[TooltipField] = [
        N_FIELD,
        *([CLUSTERS_FIELD] if rows and "n_clusters" in rows[0] else []),
        MIN_SUPPORT_FIELD,
        ("estimate", "difference", SCORE_FORMAT),
        *LIMIT_FIELDS,
        ("score", metric.title, SCORE_FORMAT),
        ("reference_estimate", "score of the reference", SCORE_FORMAT),
        ("p_adjusted", "p-value, adjusted" if adjust else "p-value", ".2g"),
    ]
    return ForestPanel(metric, data, f"difference in {metric.title}", fields)


def _reference_text(rows: Sequence[ResultRow], reference: ReferenceOption) -> str:
    if reference in ("rest", "overall"):
        return "the rest" if reference == "rest" else "all rows"
    if isinstance(reference, Mapping):
        naming = ValueNaming.of({name: [row[name] for row in rows] for name in reference})
        return segment_text([*reference], [*reference.values()], naming)
    references = {row["reference"] for row in rows}
    return references.pop() if len(references) == 1 else f"the {reference}"


def significance_marks(alpha: float) -> tuple[str, str]:
    """Return the names of the marks of significant rows and of others."""
    return f"p below {alpha:.6g}", _NOT_SIGNIFICANT


def mark_significant(rows: Sequence[ChartRow], alpha: float) -> None:
    """Add to each row the mark that says whether its adjusted p-value is below alpha."""
    significant, other = significance_marks(alpha)
    for row in rows:
        p = row["p_adjusted"]
        row["mark"] = significant if p is not None and p < alpha else other


def adjustment_text(adjust: Adjust | Literal["unknown"], n_tests: int) -> str:
    """Return the text that says how many p-values there are and how they are adjusted, if known."""
    if n_tests == 0:
        return "; no p-values"
    names = {"bh": "Benjamini-Hochberg", "holm": "Holm's method"}
    method = "not adjusted" if adjust is None else f"adjusted by {names.get(adjust)}"
    tests = "p-value of 1 comparison" if n_tests == 1 else f"p-values of {n_tests:,} comparisons"
    return f"; {tests}" + ("" if adjust == UNKNOWN else f", {method}")
