"""The chart of `gaps`: differences of segments around zero."""

from typing import Unpack

import altair as alt

from balframe.analyses.references import ReferenceOption
from balframe.analyses.scoring import Adjust
from balframe.display.annotations import ROWS, SCORE, heading, numbers, place
from balframe.display.chart_options import MOST, drawing, one_metric
from balframe.display.forest import Line, forest
from balframe.display.segments import ALL_ROWS, Drawn, answered, by_names, named, ranked
from balframe.display.words import in_words, percent, titled
from balframe.frames.library import Name
from balframe.verbs.gaps import gaps as verb
from balframe.verbs.options import Adjustment, CellsOrRows, ClassWeights, Level, Names


class _Options(Adjustment, Level, ClassWeights, CellsOrRows, total=False): ...


@drawing
def gaps(
    frame: object,
    y_true: Name,
    y_pred: Names,
    *,
    by: Names,
    metric: str = "balanced_accuracy",
    reference: ReferenceOption = "rest",
    most: int = MOST,
    **options: Unpack[_Options],
) -> alt.LayerChart | alt.FacetChart:
    """Draw by how much every segment differs from the rest, or from another reference.

    A row for each segment, the highest difference first, with its limits; the area of a point is
    the number of rows. Differences whose adjusted p-value is below 1 - level are drawn in another
    colour and as diamonds. Several models lie side by side, or else the values of the second
    by-column.

    Parameters
    ----------
    reference : "rest", "overall", "largest", "best", "worst", a value, or a mapping
        What each segment is compared with, as in `bf.gaps`.
    level : float, default 0.95
        Confidence level of the limits; differences with a p-value below 1 - level are marked.

    Returns
    -------
    altair chart
        To be restyled, or saved: `chart.save("gaps.png")`, `chart.save("gaps.html", inline=True)`.

    Examples
    --------
    >>> import balframe as bf
    >>> chart = bf.plot.gaps(
    ...     bf.datasets.compas(), "reoffended", "high_risk", by="race", counts="n",
    ...     metric="false_positive_rate", reference="Caucasian",
    ... )
    >>> chart.to_dict()["title"]["text"]
    'False positive rate: difference from Caucasian by race'
    """
    metric = one_metric(metric).name
    rows = answered(
        verb(frame, y_true, y_pred, by=by, metrics=metric, reference=reference, **options)
    )
    names = by_names(by, rows[0])
    drawn = named(rows, names)
    level, adjust = options["level"], options["adjust"]
    alpha = 1 - level
    marked, plain = f"p below {alpha:.6g}", "others"
    for row in drawn.rows:
        p = row["p_adjusted"]
        row["mark"] = marked if p is not None and p < alpha else plain
        row["zero"] = 0
        row["note"] = "undefined" if row["difference"] is None else None
        row |= {"score": row["estimate"], "estimate": row["difference"]}
    order, left_out = ranked(drawn, "estimate", most)
    n_tests = max(row["n_tests"] for row in drawn.rows)
    fields = [
        ("n", "rows", ROWS),
        ("estimate", "difference", SCORE),
        ("lower", "lower limit", SCORE),
        ("upper", "upper limit", SCORE),
        ("score", in_words(metric), SCORE),
        ("reference_estimate", "of the reference", SCORE),
        ("p_adjusted", "p-value, adjusted" if adjust else "p-value", ".2g"),
    ]
    below = [f"{percent(level)} limits{_adjusted(adjust, n_tests)}"]
    return forest(
        drawn.of(order),
        order,
        heading(
            titled(metric, f": difference from {_against(drawn, reference)}", by=names),
            below + left_out,
        ),
        f"difference in {in_words(metric)}",
        [Line("zero", "no difference", (1, 0))],
        [*place(drawn), *numbers(fields)],
        (marked, plain),
    )


def _against(drawn: Drawn, reference: ReferenceOption) -> str:
    if reference in ("rest", "overall"):
        return "the rest" if reference == "rest" else ALL_ROWS
    references = {row["reference"] for row in drawn.rows}
    return references.pop() if len(references) == 1 else f"the {reference}"


def _adjusted(adjust: Adjust, n_tests: int) -> str:
    if n_tests == 0:
        return "; no p-values"
    names = {"bh": "Benjamini and Hochberg", "holm": "Holm"}
    how = "not adjusted" if adjust is None else f"adjusted by {names[adjust]}"
    return f"; p-values of {n_tests:,} comparisons, {how}"
