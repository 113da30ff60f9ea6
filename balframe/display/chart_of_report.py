"""The chart of `report`: a forest plot of a metric."""

from typing import Unpack

import altair as alt

from balframe.display.annotations import ROWS, SCORE, Field, heading, numbers, place
from balframe.display.chart_options import MOST, LabelOptions, check_options, one_metric
from balframe.display.forest import Line, forest
from balframe.display.segments import (
    ALL_ROWS,
    Answered,
    Drawn,
    answered,
    by_names,
    named,
    ranked,
    text_of,
)
from balframe.display.words import in_words, percent, titled
from balframe.frames.library import Name
from balframe.frames.query import MODEL
from balframe.intervals.request import IntervalOption
from balframe.metrics.registry import Chance
from balframe.verbs.options import Names
from balframe.verbs.report import report as verb

_MAJORITY = "no_information_rate"


def report(
    frame: object,
    y_true: Name,
    y_pred: Names,
    *,
    by: Names = None,
    metric: str = "balanced_accuracy",
    interval: IntervalOption = True,
    level: float = 0.95,
    most: int = MOST,
    **options: Unpack[LabelOptions],
) -> alt.LayerChart | alt.FacetChart:
    """Draw a metric of every segment with its limits: a forest plot.

    A row for each segment, the highest score first, with the estimate and its limits; the area of
    a point is the number of rows. A solid rule is the score of all rows, a dashed one what
    guessing scores: each label alike, or for accuracy always the most frequent label. Several
    models lie side by side, or else the values of the second by-column.

    Parameters
    ----------
    frame : pandas, polars or pyarrow frame, or one of Dask, PySpark, DuckDB, Ibis, SQLFrame
        The data; never changed. A lazy frame is collected, for a chart needs numbers.
    y_true : column name
        The true labels.
    y_pred : column name or list of column names
        The predicted labels; a list draws a panel for each model.
    by : column name or list of column names, optional
        The columns whose combinations are the segments; by default all rows are one segment.
    metric : str, default "balanced_accuracy"
        Name or alias of a metric.
    interval : {True, "score", "wilson", "jeffreys", "exact", "mover", "posterior"} or None
        Method of the limits, as in `bf.report`; None draws none.
    level : float, default 0.95
        Confidence level of the limits.
    most : int, default 60
        The most segments to draw; of more, the highest and the lowest are drawn, and a line below
        the title says how many are left out.
    **options : optional
        Options of `bf.report`: `absent`, `class_weight`, `sample_weight`, `counts`, `cells`,
        `labels`, `pos_label`, `missing`, `max_cells`.

    Returns
    -------
    altair chart
        To be restyled, or saved: `chart.save("report.png")`,
        `chart.save("report.html", inline=True)`.

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
    >>> chart = bf.plot.report(compas, "reoffended", "high_risk", by="race", counts="n")
    >>> chart.to_dict()["title"]["text"]
    'Balanced accuracy by race'
    """
    check_options(report, most, options, LabelOptions)
    drawn_metric = one_metric(metric)
    metric = drawn_metric.name
    rows = answered(
        verb(
            frame,
            y_true,
            y_pred,
            by=by,
            metrics=list(dict.fromkeys([metric, _MAJORITY])),
            interval=interval,
            level=level,
            layout="long",
            margins="overall" if by_names(by, {}) else False,
            **options,
        )
    )
    names = by_names(by, rows[0])
    several = MODEL in rows[0] and MODEL not in names
    of_segments, of_all = _parted(rows, several) if names else (rows, rows)
    drawn = named([row for row in of_segments if row["metric"] == metric], names)
    for row in drawn.rows:
        row["note"] = "undefined" if row["estimate"] is None else None
        row |= {"lower": row.get("lower"), "upper": row.get("upper")}
    rules = _rules(drawn, of_all, metric, drawn_metric.chance, several=several)
    order, left_out = ranked(drawn, "estimate", most)
    has_limits = any(row["lower"] is not None for row in drawn.rows)
    below = [f"{percent(level)} limits"] if has_limits else []
    return forest(
        drawn.of(order),
        order,
        heading(titled(metric, by=names), below + left_out),
        in_words(metric),
        rules if names else rules[1:],
        [*place(drawn), *numbers([*_fields(metric), *((r.field, r.name, SCORE) for r in rules)])],
    )


def _parted(rows: list[Answered], several: bool) -> tuple[list[Answered], list[Answered]]:
    """Part the rows of segments from those of the whole frame, which come last."""
    models = {row[MODEL] for row in rows} if several else {None}
    n_of_all = len(models) * len({row["metric"] for row in rows})
    return rows[:-n_of_all], rows[-n_of_all:]


def _rules(
    drawn: Drawn, of_all: list[Answered], metric: str, chance: Chance | None, *, several: bool
) -> list[Line]:
    """Put into every row what all rows score, of the same model, and what guessing does."""
    of_models = {(text_of(row[MODEL]) if several else "", row["metric"]): row for row in of_all}
    for row in drawn.rows:
        model = row["panel"] if several else ""
        of_metric, of_majority = of_models[model, metric], of_models[model, _MAJORITY]
        row["all_rows"] = of_metric["estimate"]
        if chance == "majority":
            row["chance"] = of_majority["estimate"]
        elif chance == "uniform":
            row["chance"] = 1 / of_metric["n_labels"] if of_metric["n_labels"] else None
        else:
            row["chance"] = chance
    n_labels = {row["n_labels"] for row in of_all}
    words = {
        "majority": "always the most frequent label",
        "uniform": f"chance, 1/{n_labels.pop() if len(n_labels) == 1 else 'labels'}",
    }
    return [
        Line("all_rows", ALL_ROWS, (1, 0)),
        Line("chance", words.get(str(chance), f"chance, {chance}"), (4, 3)),
    ]


def _fields(metric: str) -> list[Field]:
    return [
        ("n", "rows", ROWS),
        ("n_labels", "labels present", ROWS),
        ("estimate", in_words(metric), SCORE),
        ("lower", "lower limit", SCORE),
        ("upper", "upper limit", SCORE),
    ]
