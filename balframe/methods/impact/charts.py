"""The chart of `impact`: impact ratios of categories beside the bound, a panel for each table."""

import math
from collections.abc import Iterator, Sequence
from typing import Unpack

import altair as alt

from balframe._text import intervals, titled
from balframe.api.options import Adjustment, Level, Names
from balframe.charts.facets import Charts, Part, Title, shown
from balframe.charts.forest_plot import Forest, Line, n_beside
from balframe.charts.options import MOST, drawing, has_numbers
from balframe.charts.rows import Answered, Drawn, Row, Sort, answered, by_names, named, ranked
from balframe.charts.style import ROWS, SCORE, Field, heading, place
from balframe.charts.style import numbers as tooltips
from balframe.frames.adapter import Name
from balframe.frames.query import MARGIN, MODEL, N, margin_name
from balframe.methods.comparisons.charts import PLAIN, adjusted
from balframe.methods.impact.impact import Ratios, Selected
from balframe.methods.impact.impact import impact as verb
from balframe.methods.impact.ratios import SMALL, UNKNOWN

_FIELDS: list[Field] = [
    (N, "rows", ROWS),
    ("n_selected", "selected", ROWS),
    ("rate", "selection rate", SCORE),
    ("highest", "highest selection rate", SCORE),
    ("estimate", "impact ratio", SCORE),
    ("lower", "lower limit", SCORE),
    ("upper", "upper limit", SCORE),
    ("p_adjusted", "p-value, adjusted", ".2g"),
]


class _Options(Ratios, Selected, Adjustment, Level, total=False): ...


@drawing
def impact(
    frame: object,
    selected: Names = None,
    *,
    by: Names,
    score: Names = None,
    sort: Sort = "score",
    numbers: bool | None = None,
    most: int = MOST,
    **options: Unpack[_Options],
) -> Charts:
    """Return a forest plot of the impact ratio of every category, with the bound as a line.

    Each table has a panel: that of each by-column, and that of all together. Each category has a
    row with its impact ratio and confidence interval, by default with the highest ratio on top. The
    area of a point shows the number of rows. Ratios whose adjusted p-value is below 1 - level are
    diamonds of another colour. Several models are drawn side by side. Categories that are too small
    to be compared have a row without a point; rows of unknown category are not drawn.

    Parameters
    ----------
    by : column name or list of column names
        The columns of categories, such as sex and race. The category of a row with a null is
        unknown.
    sort : {"score", "name", "n"}, default "score"
        Order of the categories of a panel: with the highest ratio on top, by name, or with the
        largest category on top.
    most : int, default 60
        Maximum number of categories to draw in a panel. If there are more, those with the highest
        and the lowest ratios are drawn, and a line below the title states how many are left out.
    level : float, default 0.95
        Confidence level of the intervals. Ratios with a p-value below 1 - level are marked.

    Returns
    -------
    altair chart
        You can restyle or save it: `chart.save("impact.png")`, `chart.save("impact.html",
        inline=True)`.

    Examples
    --------
    >>> import balframe as bf
    >>> chart = bf.plot.impact(bf.datasets.applicants(), "selected", by=["sex", "race"], counts="n")
    >>> chart.to_dict()["title"]["text"]
    'Impact ratio by sex and race'
    """
    rows = answered(verb(frame, selected, by=by, score=score, **options))
    names, alpha = by_names(by, rows[0]), 1 - options["level"]
    marks = f"p below {alpha:.6g}", PLAIN
    tables = list(_tables(rows, names))
    for row in (row for table in tables for row in table.rows):
        p = row["p_adjusted"]
        row["mark"] = marks[0] if p is not None and p < alpha else marks[1]
    found = [ranked(table, "estimate", most, sort=sort) for table in tables]
    drawn = [table.of(order) for table, (order, _) in zip(tables, found, strict=True)]
    has = has_numbers(numbers, max(len(one.rows) for one in drawn))
    n_panels = max(len(one.panels) for one in drawn)
    forests = [
        Forest(
            one,
            order,
            "impact ratio",
            [Line("bound", f"bound {options['bound']:.6g}", (1, 0))],
            [*place(one), *tooltips(_FIELDS)],
            0,
            has,
            marks,
            n_beside(n_panels, [name for names, _ in found for name in names], has),
            "impact ratio",
            together=drawn,
        )
        for one, (order, _) in zip(drawn, found, strict=True)
    ]
    is_single = len(tables) == 1
    parts = [
        Part(one.chart(alt.Undefined if is_single else _of_panel(one)), one.drawn.rows)
        for one in forests
    ]
    n_tests = sum(row["p_adjusted"] is not None for table in tables for row in table.rows)
    within = "" if is_single or not n_tests else " within each table"
    below = f"{intervals(options['level'])}{adjusted(options['adjust'], n_tests)}{within}"
    left_out = [
        line if is_single else f"By {one.by}: {line[0].lower()}{line[1:]}"
        for one, (_, lines) in zip(drawn, found, strict=True)
        for line in lines
    ]
    what = "Impact ratio" if score is None else "Impact ratio of scores above the median"
    title = titled(what, [drawn[0].by] if is_single else names)
    return shown(parts, heading(title, [below, *left_out]))


def _tables(rows: Sequence[Answered], by: Sequence[Name]) -> Iterator[Drawn]:
    """Take the rows of each table whose category is known."""
    most_panels = math.inf if MODEL in rows[0] and MODEL not in by else 0
    known = [row for row in rows if row["role"] != UNKNOWN]
    for kept in [*([name] for name in by), *([list(by)] if len(by) > 1 else [])]:
        some = [_of_table(row, by, kept) for row in known if row[MARGIN] == margin_name(kept)]
        if some:
            drawn = named(some, kept, most_panels=most_panels)
            for row in drawn.rows:
                row |= _ratio(row)
            yield drawn


def _of_table(row: Answered, by: Sequence[Name], kept: Sequence[Name]) -> Answered:
    """Leave out columns of other tables."""
    others = [*(name for name in by if name not in kept), *(f"highest_{name}" for name in by)]
    return {name: value for name, value in row.items() if name not in others}


def _ratio(row: Row) -> Row:
    """Let the impact ratio be what is drawn of a row, or say why there is none."""
    undefined = "undefined" if row["impact_ratio"] is None else None
    note = "too small to be compared" if row["role"] == SMALL else undefined
    return {"estimate": row["impact_ratio"], "min_support": row[N], "note": note}


def _of_panel(one: Forest) -> Title:
    return alt.TitleParams(
        f"By {one.drawn.by}", anchor="start", frame="group", fontSize=12, offset=8
    )
