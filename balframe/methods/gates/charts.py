"""The chart of `power`: how likely a rule is to fail, against how much worse the score is."""

from collections.abc import Sequence
from typing import Any, Unpack

import altair as alt
import numpy as np

from balframe._text import titled
from balframe.api.options import Cells, Counted, Names
from balframe.charts.facets import ONCE, Charts, Part, Title, shown
from balframe.charts.line_plot import Plane, plane
from balframe.charts.options import MOST, drawing
from balframe.charts.rows import Answered, Drawn, Row, answered, by_names, named, ranked
from balframe.charts.style import (
    INK,
    LINES,
    ROWS,
    RULE,
    SCORE,
    Field,
    axis,
    heading,
    numbers,
    place,
)
from balframe.frames.adapter import Name
from balframe.methods.gates.check import Families
from balframe.methods.gates.power import power as verb
from balframe.methods.gates.rules import RulesOption

_POWERS = [round(float(one), 4) for one in (*np.arange(0.02, 0.98, 0.02), 0.98, 0.99, 0.995)]
_FALL, _POWER, _ROUGH = "min_detectable_difference", "power", "rough"
_FIELDS: list[Field] = [
    ("n", "rows", ROWS),
    ("min_support", "rows of the rarest label", ROWS),
    ("estimate", "estimate", SCORE),
    (_FALL, "worse by", SCORE),
    (_POWER, "probability to fail", SCORE),
    ("probability_pass", "probability to pass if nothing changes", SCORE),
]


class _Options(Families, Cells, Counted, total=False): ...


@drawing
def power(
    frame: object,
    y_true: Name,
    y_pred: Names,
    *,
    rules: RulesOption,
    by: Names = None,
    disagreement: float | None = None,
    most: int = MOST,
    **options: Unpack[_Options],
) -> Charts:
    """Return a chart of the probability that a rule fails, with a line for each segment.

    The horizontal axis shows how much worse the score is than its estimate. A dashed line marks a
    power of 0.8. Curves of rough probabilities are dashed, too. Up to four segments
    share a panel. With more, each has its own panel, with the others in grey behind it. Segments
    are ranked by the difference that they detect, with the largest first. Several rules are drawn
    one below the other.

    Parameters
    ----------
    rules : str, list, mapping or path
        The rules to plan, in any of the forms that `bf.check` reads.
    disagreement : float, optional
        The expected share of the rows of each label that only one of two models gets right, as in
        `bf.power`.

    Returns
    -------
    altair chart
        You can restyle or save it: `chart.save("power.png")`,
        `chart.save("power.html", inline=True)`.

    Raises
    ------
    BalframeError
        As `bf.power` raises.

    Examples
    --------
    >>> import polars as pl
    >>> import balframe as bf
    >>> cases = pl.DataFrame({"y": [1, 1], "yhat": [1, 0], "n": [92, 8]})
    >>> chart = bf.plot.power(cases, "y", "yhat", counts="n", rules="recall >= 0.85")
    >>> chart.to_dict()["title"]["text"]
    'Power of recall >= 0.85'
    """
    asked: dict[str, Any] = {"rules": rules, "by": by, "disagreement": disagreement, **options}
    rows = answered(verb(frame, y_true, y_pred, power=_POWERS, **asked))
    names = by_names(by, rows[0])
    of_rules: dict[str, list[Answered]] = {}
    for row in rows:
        of_rules.setdefault(row["rule"], []).append(row)
    several = len(of_rules) > 1
    parts, below = [], list[str]()
    for rule, own in of_rules.items():
        drawn = named(own, names, most_panels=len(LINES))
        order, below = ranked(drawn, _FALL, most, " in the difference detected")
        kept = drawn.of(order)
        lines = [*below, *_notes(kept)]
        title = heading(rule, lines, fontSize=12, offset=8) if several else alt.Undefined
        parts.append(_part(kept, order, title))
        below = lines
    if several:
        return shown(parts, heading(titled("power of rules", names), []))
    return shown(parts, heading(titled(f"power of {rule}", names), below))


def _notes(drawn: Drawn) -> list[str]:
    """Say what dashes stand for, and which segments have no line."""
    rough = "; dashed curves are rough" if _has_rough(drawn.rows) else ""
    notes = [f"Dashed line: a power of 0.8{rough}"]
    without = [one for one in drawn.segments if not any(_points(drawn.of([one]).rows))]
    if without:
        listed = ", ".join(without[:3]) + (f" and {len(without) - 3} more" if without[3:] else "")
        notes.append(f"Never found to fail: {listed}")
    return notes


def _has_rough(rows: Sequence[Row]) -> bool:
    return any(row["reliability"] == _ROUGH for row in rows)


def _points(rows: Sequence[Row]) -> list[Row]:
    """Keep the points of each line: of those without a fall, which fail anyhow, the last."""
    points: list[Row] = []
    for row in rows:
        if row[_FALL] is None:
            continue
        is_start = points and points[-1][_FALL] == row[_FALL] == 0
        if is_start and points[-1]["segment"] == row["segment"]:
            points.pop()
        points.append(row)
    return points


def _part(drawn: Drawn, order: list[str], title: Title) -> Part:
    """Draw a rule."""
    on = plane(drawn, order)
    rows = _points(drawn.rows)
    empty = [] if on.is_together else _empty(drawn, rows)
    behind = on.thinned(rows, _FALL, _POWER)
    return Part(on.chart(_layers(on, place(drawn)), title), rows + empty, behind)


def _empty(drawn: Drawn, rows: Sequence[Row]) -> list[Row]:
    """Say in the panel of a segment that it has no line."""
    known = {row["segment"] for row in rows}
    first = {row["segment"]: row for row in drawn.rows if row["segment"] not in known}
    return [row | {"note": "never found to fail"} for row in first.values()]


def _layers(on: Plane, of_segment: list[alt.Tooltip]) -> list[alt.Chart]:
    ticks = axis(tickCount=on.n_ticks)
    x = alt.X(f"{_FALL}:Q", title="worse by", axis=ticks, scale=alt.Scale(zero=True))
    y_title = "probability to fail" if on.height > 100 else None
    y = alt.Y(f"{_POWER}:Q", title=y_title, axis=ticks, scale=alt.Scale(domain=[0, 1]))
    rule = alt.Chart(ONCE).mark_rule(strokeDash=[4, 3], color=RULE).encode(y=alt.datum(0.8))
    is_rough = alt.datum.reliability == _ROUGH
    lines = (
        alt.Chart()
        .transform_filter(f"isValid(datum.{_FALL})")
        .mark_line(strokeWidth=1.5)
        .encode(
            x=x,
            y=y,
            color=on.color,
            strokeDash=alt.condition(is_rough, alt.value([5, 3]), alt.value([1, 0])),
            detail="reliability:N",
            order=f"{_POWER}:Q",
            tooltip=[*of_segment, *numbers(_FIELDS)],
        )
    )
    notes = (
        alt.Chart()
        .transform_filter("isValid(datum.note)")
        .mark_text(color=INK, fontStyle="italic")
        .encode(x=alt.value(on.width / 2), y=alt.value(12), text="note:N", tooltip=of_segment)
    )
    return [rule, *on.behind(x=x, y=y), lines, notes]
