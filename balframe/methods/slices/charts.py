"""The chart of `slices`: each slice beside the rest of the rows."""

from typing import Any, Unpack

from balframe._text import percent, sentence
from balframe.api.options import CellsOrRows, ClassWeights, Level
from balframe.charts.facets import Charts, Part, shown
from balframe.charts.forest_plot import Forest
from balframe.charts.options import drawing, drawn_metrics, has_numbers
from balframe.charts.rows import Answered, named
from balframe.charts.style import ROWS, SCORE, Field, heading, place
from balframe.charts.style import numbers as tooltips
from balframe.errors import InvalidInputError
from balframe.frames.adapter import Name
from balframe.frames.convert_result import collected, rows_of
from balframe.methods.slices.slices import Searches
from balframe.methods.slices.slices import slices as verb

_LONG = 40  # characters of a slice that has room in one line
_DIFFERENCE = ("difference", "difference_lower", "difference_upper")
_KEPT = (
    *("slice", "n", "min_support", "wrong", "estimate", "rest", "difference", "p_adjusted"),
    "n_explained",
)
_FIELDS: list[Field] = [
    ("n", "rows", ROWS),
    ("wrong", "wrong rows", ROWS),
    ("estimate", "score", SCORE),
    ("rest", "score of the rest", SCORE),
    ("difference", "difference", SCORE),
    ("difference_lower", "lower limit of the difference", SCORE),
    ("difference_upper", "upper limit of the difference", SCORE),
    ("p_adjusted", "p-value, adjusted", ".2g"),
    ("n_explained", "slices explained", ROWS),
]


class _Options(Searches, Level, ClassWeights, CellsOrRows, total=False): ...


@drawing
def slices(
    frame: object,
    y_true: Name,
    y_pred: Name,
    *,
    numbers: bool | None = None,
    **options: Unpack[_Options],
) -> Charts:
    """Return a chart of the slices listed by `bf.slices`, each beside the rest of the rows.

    Each slice has a row with its score, the worst on top. A tick shows the score of the rest. The
    interval is the confidence interval of the difference, added to the score of the rest: where it
    does not reach the tick, the slice is shown to be worse. The area of a point shows the number of
    rows.

    Parameters
    ----------
    y_pred : column name
        The predicted class labels of one model.
    numbers : bool, optional
        Write the difference, its confidence interval and the number of rows beside each point. By
        default, this is done for up to 20 slices.

    Returns
    -------
    altair chart
        You can restyle or save it: `chart.save("slices.png")`, `chart.save("slices.html",
        inline=True)`.

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
    >>> chart = bf.plot.slices(people, "y", "yhat", over="site", metric="recall", counts="n")
    >>> chart.to_dict()["title"]["text"]
    'Recall: the worst slices of 3'
    """
    rows = rows_of(collected(verb(frame, y_true, y_pred, **options)))
    if not rows:
        raise InvalidInputError(
            "no slice is listed, so there is nothing to draw; bf.slices says how many were tested."
        )
    (metric,) = drawn_metrics(options["metric"], options["class_weight"])
    drawn = named([_beside_rest(row) for row in rows], ["slice"])
    forest = Forest(
        drawn,
        drawn.segments,
        sentence(metric.title),
        [],
        [*place(drawn), *tooltips(_FIELDS)],
        0,
        has_numbers(numbers, len(rows)),
        title_of_numbers="difference",
        at="rest",
        numbers_of=_DIFFERENCE,
        folded=max(map(len, drawn.segments)) > _LONG,
    )
    title = f"{sentence(metric.title)}: the worst slices of {rows[0]['n_tests']:,}"
    below = ["Ticks: the rest of the rows"]
    if any(row["lower"] is not None for row in rows):
        level = percent(options["level"])
        below[0] += f". Intervals: difference from the rest, {level} confidence for all slices"
    return shown([Part(forest.chart(), drawn.rows)], heading(title, below))


def _beside_rest(row: Answered) -> Answered:
    """Put the limits of the difference around the score."""
    drawn: dict[Name, Any] = {name: row[name] for name in _KEPT}
    for name, limit in zip(_DIFFERENCE[1:], ("lower", "upper"), strict=True):
        drawn[name] = row[limit]
        drawn[limit] = None if row[limit] is None else row["rest"] + row[limit]
    return {**drawn, "note": None}
