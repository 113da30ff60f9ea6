"""The chart of `gaps`: differences of segments around zero."""

from collections.abc import Mapping
from typing import Unpack

from balframe._text import intervals, titled
from balframe.api.metric_selection import Adjust, Metrics
from balframe.api.option_types import ReferenceOption
from balframe.api.options import Adjustment, CellsOrRows, ClassWeights, Clustering, Level, Names
from balframe.charts.facets import Charts
from balframe.charts.forest_plot import Line, Rows, Shown, forests
from balframe.charts.options import METRIC, MOST, SMALL, DrawnMetric, drawing, drawn_metrics
from balframe.charts.rows import Answered, Sort, answered, by_names, named, text_of
from balframe.charts.style import CLUSTERS, ROWS, SCORE, Field
from balframe.frames.adapter import Name
from balframe.methods.comparisons.gaps import gaps as verb

PLAIN = "not significant"


class _Options(Adjustment, Level, ClassWeights, Clustering, CellsOrRows, total=False): ...


@drawing
def gaps(
    frame: object,
    y_true: Name,
    y_pred: Names,
    *,
    by: Names,
    metrics: Metrics = METRIC,
    reference: ReferenceOption = "rest",
    sort: Sort = "score",
    numbers: bool | None = None,
    min_support: int = SMALL,
    most: int = MOST,
    **options: Unpack[_Options],
) -> Charts:
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
    chosen = drawn_metrics(metrics, options["class_weight"])
    rows = answered(
        verb(frame, y_true, y_pred, by=by, metrics=metrics, reference=reference, **options)
    )
    names = by_names(by, rows[0])
    level, adjust = options["level"], options["adjust"]
    marks = f"p below {1 - level:.6g}", PLAIN
    plots = [_shown(one, rows, names, 1 - level, adjust, marks) for one in chosen]
    title = f"difference from {_against(rows, reference)}"
    n_tests = {row["n_tests"] for row in rows}
    return forests(
        plots,
        Rows(sort, numbers, min_support, most),
        titled(f"{chosen[0].title}: {title}" if len(chosen) == 1 else title, names),
        [f"{intervals(level, options['cluster'])}{adjusted(adjust, max(n_tests))}"],
        [Line("zero", "no difference", (1, 0))],
        "difference",
        marks,
    )


def _shown(
    one: DrawnMetric,
    rows: list[Answered],
    names: list[Name],
    alpha: float,
    adjust: Adjust,
    marks: tuple[str, str],
) -> Shown:
    """Mark the significant differences of a metric; the difference is what is drawn."""
    drawn = named([row for row in rows if row["metric"] == one.name], names)
    for row in drawn.rows:
        p = row["p_adjusted"]
        row["mark"] = marks[0] if p is not None and p < alpha else marks[1]
        row["zero"] = 0
        row["note"] = "undefined" if row["difference"] is None else None
        row |= {"score": row["estimate"], "estimate": row["difference"]}
    fields: list[Field] = [
        ("n", "rows", ROWS),
        *([CLUSTERS] if rows and "n_clusters" in rows[0] else []),
        ("min_support", "rows of the rarest label", ROWS),
        ("estimate", "difference", SCORE),
        ("lower", "lower limit", SCORE),
        ("upper", "upper limit", SCORE),
        ("score", one.title, SCORE),
        ("reference_estimate", "score of the reference", SCORE),
        ("p_adjusted", "p-value, adjusted" if adjust else "p-value", ".2g"),
    ]
    return Shown(one, drawn, f"difference in {one.title}", fields)


def _against(rows: list[Answered], reference: ReferenceOption) -> str:
    if reference in ("rest", "overall"):
        return "the rest" if reference == "rest" else "all rows"
    if isinstance(reference, Mapping):
        return ", ".join(map(text_of, reference.values()))
    references = {row["reference"] for row in rows}
    return references.pop() if len(references) == 1 else f"the {reference}"


def adjusted(adjust: Adjust, n_tests: int) -> str:
    """Say how many p-values there are, and how they are adjusted."""
    if n_tests == 0:
        return "; no p-values"
    names = {"bh": "Benjamini-Hochberg", "holm": "Holm's method"}
    how = "not adjusted" if adjust is None else f"adjusted by {names[adjust]}"
    of = "p-value of 1 comparison" if n_tests == 1 else f"p-values of {n_tests:,} comparisons"
    return f"; {of}, {how}"
