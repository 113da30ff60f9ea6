"""The charts of `gaps` and `compare`: forest plots of differences."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal, Unpack

from balframe._text import chart_title, interval_phrase
from balframe.api.columns import BETTER, NOT_DECIDED, WORSE
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
    RowOptions,
)
from balframe.api.value_naming import ValueNaming
from balframe.charts.drawn_result import UNKNOWN, DrawnResult, draws_result
from balframe.charts.facets import AltairChart
from balframe.charts.forest_plot import (
    ForestOptions,
    ForestPanel,
    Mark,
    ReferenceLine,
    forest_plots,
)
from balframe.charts.options import (
    DEFAULT_METRIC,
    DEFAULT_MOST,
    DEFAULT_SCORE_METRIC,
    ChartMetric,
    chart_function,
    chart_metrics,
    score_chart_metrics,
)
from balframe.charts.rows import (
    ResultRow,
    SortOption,
    by_names,
    chart_data,
    chart_text,
    result_rows,
    segment_text,
)
from balframe.charts.style import (
    BLUE,
    CLUSTERS_FIELD,
    GREY,
    LIMIT_FIELDS,
    MIN_SUPPORT_FIELD,
    N_FIELD,
    OLIVE,
    PINK,
    SCORE_FORMAT,
    VERMILLION,
    TooltipField,
)
from balframe.frames.adapter import Name
from balframe.frames.convert_result import ordered_columns
from balframe.frames.query import MODEL
from balframe.methods.comparisons.compare import compare as compare_models
from balframe.methods.comparisons.gaps import gaps as method

_NOT_TESTED = "not tested"


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
    sort: SortOption | None = None,
    numbers: bool | None = None,
    min_support: int = DEFAULT_MIN_SUPPORT,
    most: int = DEFAULT_MOST,
    **options: Unpack[_Options],
) -> AltairChart:
    """Return a forest plot of the difference of every segment from the rest or another reference.

    Each segment has a row with the difference and its confidence interval. The area of a point
    shows the number of rows. Its colour and shape show the verdict, as in the result: better, worse
    or not decided. With several metrics, each has a panel, with the segments in the same order.
    Several models are drawn side by side; with a single model, the values of the second by-column
    are.

    Parameters
    ----------
    reference : "rest", "overall", "largest", "best", "worst", a value, or a mapping
        What each segment is compared with, as in `bf.gaps`.
    level : float, default 0.95
        Confidence level of the intervals, and of the verdicts.

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
    out: Any = method(
        frame,
        y_true,
        y_pred,
        by=by,
        metrics=metrics,
        reference=reference,
        detail=True,
        **options,
    )
    rows = result_rows(out)
    names = by_names(by, rows[0])
    result = DrawnResult(rows, names, chosen, ordered=ordered_columns(out, names))
    return _draw_differences(
        result,
        ForestOptions(result.sort(sort), numbers, min_support, most),
        _of_segments(rows, reference),
        interval_phrase(options["level"], options["cluster"]),
        options["adjust"],
    )


@draws_result("estimate", "difference", "lower", "upper", "p_adjusted", "verdict")
def draw_gaps(
    result: DrawnResult,
    *,
    level: float = 0.95,
    sort: SortOption | None = None,
    numbers: bool | None = None,
    min_support: int = DEFAULT_MIN_SUPPORT,
    most: int = DEFAULT_MOST,
) -> AltairChart:
    """Return the chart of a result of `gaps`."""
    references = {row.get("reference") for row in result.rows}
    reference = references.pop() if len(references) == 1 else None
    forest = ForestOptions(result.sort(sort), numbers, min_support, most)
    sides = _of_segments(result.rows, reference or "reference")
    return _draw_differences(result, forest, sides, interval_phrase(level), UNKNOWN)


class _ModelOptions(
    OutcomeOptions, AdjustmentOptions, LevelOptions, ClusterOptions, RowOptions, total=False
): ...


@chart_function
def compare(
    frame: object,
    y_true: Name = None,
    y_pred: Names = None,
    *,
    y_score: Names = None,
    by: Names = None,
    metrics: Metrics = None,
    baseline: Name = None,
    sort: SortOption | None = None,
    numbers: bool | None = None,
    min_support: int = DEFAULT_MIN_SUPPORT,
    most: int = DEFAULT_MOST,
    **options: Unpack[_ModelOptions],
) -> AltairChart:
    """Return a forest plot of the difference of each model from the baseline, by segment.

    It shows which model is better, and for whom. Each segment has a row with the score of the model
    less that of the baseline and its confidence interval. The area of a point shows the number of
    rows. Its colour and shape show which model is better, or that this is not decided. With several
    metrics, each has a panel. Models beside the baseline are drawn side by side if there are
    several.

    Parameters
    ----------
    y_pred, y_score : list of column names
        The predicted labels, or the scores, of at least two models, or of one and `baseline`.
    metrics : str or list of str, optional
        One or several metrics, each drawn in its own panel; by default "balanced_accuracy", or
        "roc_auc" of scores.
    baseline : column name, optional
        The model that the others are compared with. By default, it is the first.
    level : float, default 0.95
        Confidence level of the intervals, and of the verdicts.

    Examples
    --------
    >>> import balframe as bf
    >>> compas = bf.datasets.compas().with_columns(never=0)
    >>> chart = bf.plot.compare(
    ...     compas, "reoffended", ["never", "high_risk"], by="race", counts="n", metrics="accuracy"
    ... )
    >>> chart.to_dict()["title"]["text"]
    'Accuracy: high_risk compared with never by race'
    """
    if y_score is None:
        metrics = DEFAULT_METRIC if metrics is None else metrics
        chosen = chart_metrics(metrics, None)
    else:
        metrics = DEFAULT_SCORE_METRIC if metrics is None else metrics
        chosen = score_chart_metrics(metrics)
    out: Any = compare_models(
        frame,
        y_true,
        y_pred,
        y_score=y_score,
        by=by,
        metrics=metrics,
        baseline=baseline,
        detail=True,
        **options,
    )
    rows = result_rows(out)
    names = by_names(by, rows[0])
    result, sides = _of_models(
        DrawnResult(rows, names, chosen, ordered=ordered_columns(out, names))
    )
    return _draw_differences(
        result,
        ForestOptions(result.sort(sort), numbers, min_support, most),
        sides,
        interval_phrase(options["level"], options["cluster"]),
        options["adjust"],
    )


@draws_result(
    *("model", "baseline", "estimate", "baseline_estimate", "difference", "lower", "upper"),
    *("p_adjusted", "verdict"),
)
def draw_compare(
    result: DrawnResult,
    *,
    level: float = 0.95,
    sort: SortOption | None = None,
    numbers: bool | None = None,
    min_support: int = DEFAULT_MIN_SUPPORT,
    most: int = DEFAULT_MOST,
) -> AltairChart:
    """Return the chart of a result of `compare`."""
    drawn, sides = _of_models(result)
    forest = ForestOptions(result.sort(sort), numbers, min_support, most)
    return _draw_differences(drawn, forest, sides, interval_phrase(level), UNKNOWN)


@dataclass(frozen=True, slots=True)
class _Sides:
    """What is compared with what: the title, the score of the other side, and the verdicts.

    `other` is the field of that score, and its title. `words` are the legend's words for verdicts
    that have others there than in the result. `note` begins the line below the title.
    """

    title: str
    other: tuple[str, str]
    note: str = ""
    words: Mapping[str, str] = field(default_factory=dict)


def _of_segments(rows: Sequence[ResultRow], reference: ReferenceOption) -> _Sides:
    """Return the sides of `gaps`."""
    title = f"difference from {_reference_text(rows, reference)}"
    return _Sides(title, ("reference_estimate", "score of the reference"))


def _of_models(result: DrawnResult) -> tuple[DrawnResult, _Sides]:
    """Return the result of `compare`, without the name of a single model, and its sides."""
    models, baselines = (
        list(dict.fromkeys(chart_text(str(row[name])) for row in result.rows))
        for name in (MODEL, "baseline")
    )
    baseline = " or ".join(baselines)
    rows = [{name: row[name] for name in row if name != "baseline"} for row in result.rows]
    model = "model" if len(models) > 1 else models[0]
    words = {BETTER: f"{model} is better", WORSE: f"{baseline} is better"}
    words |= {"higher": f"{model} is higher", "lower": f"{baseline} is higher"}
    if len(models) == 1:
        rows = [{name: row[name] for name in row if name != MODEL} for row in rows]
    title = f"{'models' if len(models) > 1 else model} compared with {baseline}"
    sides = _Sides(
        title if len(result.metrics) == 1 else f"scores: {title}",
        ("baseline_estimate", f"score of {baseline}"),
        f"Difference: {model} less {baseline}; ",
        words,
    )
    return replace(result, rows=rows), sides


def _draw_differences(
    result: DrawnResult,
    forest: ForestOptions,
    sides: _Sides,
    limits: str,
    adjust: Adjust | Literal["unknown"],
) -> AltairChart:
    """Return the forest plot of differences."""
    chosen = result.metrics
    panels = [_panel(metric, result.rows, result.by, sides, forest, adjust) for metric in chosen]
    names = {row["mark"] for panel in panels for row in panel.data.rows}
    tested = Counter(row["metric"] for row in result.rows if row["p_adjusted"] is not None)
    n_tests = {row.get("n_tests", tested[row["metric"]]) for row in result.rows}
    title = f"{chosen[0].title}: {sides.title}" if len(chosen) == 1 else sides.title
    return forest_plots(
        panels,
        forest,
        chart_title(title, result.by),
        [f"{sides.note}{limits}{adjustment_text(adjust, max(n_tests))}"],
        [ReferenceLine("zero", "no difference", (1, 0))],
        "difference",
        [mark for mark in _verdict_marks(sides) if mark.name in names],
    )


def _verdict_marks(sides: _Sides) -> list[Mark]:
    """Return the marks of the verdicts, and of rows without a test."""
    styles = {
        BETTER: (BLUE, "square"),
        WORSE: (VERMILLION, "diamond"),
        "higher": (OLIVE, "square"),
        "lower": (PINK, "diamond"),
        NOT_DECIDED: (GREY, "circle"),
        _NOT_TESTED: (GREY, "cross"),
    }
    return [Mark(sides.words.get(word, word), *style) for word, style in styles.items()]


def _panel(
    metric: ChartMetric,
    rows: Sequence[ResultRow],
    names: list[Name],
    sides: _Sides,
    forest: ForestOptions,
    adjust: Adjust | Literal["unknown"],
) -> ForestPanel:
    """Return the panel of the differences of a metric, with marks by their verdicts."""
    data = chart_data([row for row in rows if row["metric"] == metric.name], names)
    for row in data.rows:
        verdict = row["verdict"] or _NOT_TESTED
        row["mark"] = sides.words.get(verdict, verdict)
        row["zero"] = 0
        row["note"] = "undefined" if row["difference"] is None else None
        row.setdefault("min_support", forest.min_support)  # unknown, so no point is hollow
        row |= {"score": row["estimate"], "estimate": row["difference"]}
    field_of_other, other = sides.other
    fields: list[TooltipField] = [
        N_FIELD,
        CLUSTERS_FIELD,
        MIN_SUPPORT_FIELD,
        ("difference", "difference", SCORE_FORMAT),
        *LIMIT_FIELDS,
        ("score", metric.title, SCORE_FORMAT),
        (field_of_other, other, SCORE_FORMAT),
        ("p_adjusted", "p-value, adjusted" if adjust else "p-value", ".2g"),
    ]
    fields_of_rows = {*rows[0], "score"}
    tooltips = [tooltip for tooltip in fields if tooltip[0] in fields_of_rows]
    return ForestPanel(metric, data, f"difference in {metric.title}", tooltips)


def _reference_text(rows: Sequence[ResultRow], reference: ReferenceOption) -> str:
    if reference in ("rest", "overall"):
        return "the rest" if reference == "rest" else "all rows"
    if isinstance(reference, Mapping):
        naming = ValueNaming.of({name: [row[name] for row in rows] for name in reference})
        return segment_text([*reference], [*reference.values()], naming)
    references = {row.get("reference", "the reference") for row in rows}
    return references.pop() if len(references) == 1 else f"the {reference}"


def adjustment_text(adjust: Adjust | Literal["unknown"], n_tests: int) -> str:
    """Return the text that says how many p-values there are and how they are adjusted, if known."""
    if n_tests == 0:
        return "; no p-values"
    names = {"bh": "Benjamini-Hochberg", "holm": "Holm's method"}
    method = "not adjusted" if adjust is None else f"adjusted by {names.get(adjust)}"
    tests = "p-value of 1 comparison" if n_tests == 1 else f"p-values of {n_tests:,} comparisons"
    return f"; {tests}" + ("" if adjust == UNKNOWN else f", {method}")
