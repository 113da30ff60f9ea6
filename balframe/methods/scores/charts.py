"""The chart of `report`: a forest plot of one metric or several."""

from collections.abc import Mapping, Sequence
from typing import Any, Unpack

from balframe._text import intervals, titled
from balframe.api.metric_selection import Metrics
from balframe.api.options import Absences, CellsOrRows, ClassWeights, Clustering, Level, Names
from balframe.charts.annotations import CLUSTERS, ROWS, SCORE, Field
from balframe.charts.facets import Charts
from balframe.charts.forest_plot import Line
from balframe.charts.forests import Rows, Shown, forests
from balframe.charts.options import METRIC, MOST, SMALL, DrawnMetric, drawing, drawn_metrics
from balframe.charts.rows import Answered, Sort, answered, by_names, named, text_of
from balframe.frames.adapter import Name
from balframe.frames.query import MODEL
from balframe.methods.scores.report import report as verb
from balframe.metrics.registry import Chance
from balframe.stats.request import IntervalOption

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
        verb(
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
