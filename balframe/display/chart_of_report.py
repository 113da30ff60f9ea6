"""The chart of `report`: a forest plot of a metric."""

from typing import Unpack

import altair as alt

from balframe.display.annotations import ROWS, SCORE, Field, heading, numbers, place
from balframe.display.chart_options import MOST, drawing, one_metric
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
from balframe.verbs.options import Absences, CellsOrRows, ClassWeights, Level, Names
from balframe.verbs.report import report as verb

_MAJORITY = "no_information_rate"


class _Options(Level, Absences, ClassWeights, CellsOrRows, total=False): ...


@drawing
def report(
    frame: object,
    y_true: Name,
    y_pred: Names,
    *,
    by: Names = None,
    metric: str = "balanced_accuracy",
    interval: IntervalOption = True,
    most: int = MOST,
    **options: Unpack[_Options],
) -> alt.LayerChart | alt.FacetChart:
    """Draw a metric of every segment with its limits: a forest plot.

    A row for each segment, the highest score first, with the estimate and its limits; the area of
    a point is the number of rows. A solid line is the score of all rows, a dashed one what
    guessing scores: each label alike, or for accuracy always the most frequent label. Several
    models lie side by side, or else the values of the second by-column.

    Parameters
    ----------
    interval : {True, "score", "wilson", "jeffreys", "exact", "mover", "posterior"} or None
        Method of the limits, as in `bf.report`; None draws none.
    level : float, default 0.95
        Confidence level of the limits.

    Returns
    -------
    altair chart
        To be restyled, or saved: `chart.save("report.png")`,
        `chart.save("report.html", inline=True)`.

    Examples
    --------
    >>> import balframe as bf
    >>> compas = bf.datasets.compas()
    >>> chart = bf.plot.report(compas, "reoffended", "high_risk", by="race", counts="n")
    >>> chart.to_dict()["title"]["text"]
    'Balanced accuracy by race'
    """
    level = options["level"]
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
    lines = _lines(drawn, of_all, metric, drawn_metric.chance, several=several)
    order, left_out = ranked(drawn, "estimate", most)
    has_limits = any(row["lower"] is not None for row in drawn.rows)
    below = [f"{percent(level)} limits"] if has_limits else []
    return forest(
        drawn.of(order),
        order,
        heading(titled(metric, by=names), below + left_out),
        in_words(metric),
        lines if names else lines[1:],
        [
            *place(drawn),
            *numbers([*_fields(metric), *((one.field, one.name, SCORE) for one in lines)]),
        ],
    )


def _parted(rows: list[Answered], several: bool) -> tuple[list[Answered], list[Answered]]:
    """Part the rows of segments from those of the whole frame, which come last."""
    models = {row[MODEL] for row in rows} if several else {None}
    n_of_all = len(models) * len({row["metric"] for row in rows})
    return rows[:-n_of_all], rows[-n_of_all:]


def _lines(
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
