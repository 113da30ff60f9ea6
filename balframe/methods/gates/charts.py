"""The chart of `power`: the probability that a rule fails, by how much worse the score is."""

from collections.abc import Sequence
from typing import Any, Unpack

import altair as alt
import numpy as np

from balframe._text import chart_title
from balframe.api.options import (
    CellOptions,
    ClusterOptions,
    Names,
    OutcomeOptions,
    UnweightedRowOptions,
)
from balframe.charts.facets import AltairChart, Subplot, Title, assemble_chart, dashed_rule
from balframe.charts.line_plot import LinePlot, line_plot
from balframe.charts.options import DEFAULT_MOST, chart_function
from balframe.charts.rows import (
    ChartData,
    ChartRow,
    ResultRow,
    by_names,
    chart_data,
    rank_segments,
    result_rows,
)
from balframe.charts.style import (
    LINE_COLORS,
    MIN_SUPPORT_FIELD,
    N_FIELD,
    SCORE_FORMAT,
    TooltipField,
    axis,
    heading,
    number_tooltips,
    panel_heading,
    segment_tooltips,
)
from balframe.frames.adapter import Name
from balframe.methods.gates.check import RuleOptions
from balframe.methods.gates.power import plan_rules
from balframe.methods.gates.rules import RulesOption

_POWERS = [round(float(value), 4) for value in (*np.arange(0.02, 0.98, 0.02), 0.98, 0.99, 0.995)]
_DIFFERENCE, _POWER, _ROUGH = "detectable_difference", "power", "rough"
_FIELDS: list[TooltipField] = [
    N_FIELD,
    MIN_SUPPORT_FIELD,
    ("estimate", "estimate", SCORE_FORMAT),
    (_DIFFERENCE, "worse by", SCORE_FORMAT),
    (_POWER, "probability to fail", SCORE_FORMAT),
    ("power_at_zero", "probability to pass if nothing is worse", SCORE_FORMAT),
]


class _Options(
    OutcomeOptions, RuleOptions, CellOptions, UnweightedRowOptions, ClusterOptions, total=False
): ...


@chart_function
def power(
    frame: object,
    y_true: Name = None,
    y_pred: Names = None,
    *,
    rules: RulesOption,
    by: Names = None,
    disagreement: float | None = None,
    design_effect: float | None = None,
    trials: int | None = None,
    most: int = DEFAULT_MOST,
    **options: Unpack[_Options],
) -> AltairChart:
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
    design_effect : float, optional
        The variance of the score over that of as many independent rows, as in `bf.power`.
    trials : int, optional
        The planned number of rows of each cluster, as in `bf.power`.

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
    request: dict[str, Any] = {"by": by, "power": _POWERS}
    request |= {"disagreement": disagreement, "design_effect": design_effect, "trials": trials}
    complete: dict[str, Any] = {"margins": False, "backend": None, "detail": True, **options}
    result = plan_rules(  # of which curves start at 0 where a rule already fails
        frame, y_true, y_pred, rules, complete, difference_if_failing=0.0, **request
    )
    rows = result_rows(result)
    names = by_names(by, rows[0])
    rows_by_rule: dict[str, list[ResultRow]] = {}
    for row in rows:
        rows_by_rule.setdefault(row["rule"], []).append(row)
    has_several_rules = len(rows_by_rule) > 1
    subplots, below = [], list[str]()
    for rule, rule_rows in rows_by_rule.items():
        data = chart_data(rule_rows, names, max_panels=len(LINE_COLORS))
        order, below = rank_segments(data, _DIFFERENCE, most, " in the difference detected")
        selected = data.select(order)
        lines = [*below, *_notes(selected)]
        title = panel_heading(rule, lines) if has_several_rules else alt.Undefined
        subplots.append(_rule_subplot(selected, order, title))
        below = lines
    if has_several_rules:
        return assemble_chart(subplots, heading(chart_title("power of rules", names), []))
    return assemble_chart(subplots, heading(chart_title(f"power of {rule}", names), below))


def _notes(data: ChartData) -> list[str]:
    """Return the lines on dashes and on segments without a curve."""
    has_rough = any(row["reliability"] == _ROUGH for row in data.rows)
    rough = "; dashed curves are rough" if has_rough else ""
    notes = [f"Dashed line: a power of 0.8{rough}"]
    without_curve = [
        segment for segment in data.segments if not any(_points(data.select([segment]).rows))
    ]
    if without_curve:
        listed = ", ".join(without_curve[:3]) + (
            f" and {len(without_curve) - 3} more" if without_curve[3:] else ""
        )
        notes.append(f"Never found to fail: {listed}")
    return notes


def _points(rows: Sequence[ChartRow]) -> list[ChartRow]:
    """Return the points of each curve; of those at a difference of 0, only the last."""
    points: list[ChartRow] = []
    for row in rows:
        if row[_DIFFERENCE] is None:
            continue
        is_start = points and points[-1][_DIFFERENCE] == row[_DIFFERENCE] == 0
        if is_start and points[-1]["segment"] == row["segment"]:
            points.pop()
        points.append(row)
    return points


def _rule_subplot(data: ChartData, order: list[str], title: Title) -> Subplot:
    """Draw the curves of a rule."""
    plot = line_plot(data, order)
    rows = _points(data.rows)
    curveless = [] if plot.shares_panel else _curveless_rows(data, rows)
    behind = plot.background_rows(rows, _DIFFERENCE, _POWER)
    return Subplot(
        plot.draw(_layers(plot, segment_tooltips(data)), title), rows + curveless, behind
    )


def _curveless_rows(data: ChartData, rows: Sequence[ChartRow]) -> list[ChartRow]:
    """Return a row with a note for each segment without a curve."""
    with_curve = {row["segment"] for row in rows}
    first = {row["segment"]: row for row in data.rows if row["segment"] not in with_curve}
    return [row | {"note": "never found to fail"} for row in first.values()]


def _layers(plot: LinePlot, segment_tooltip: list[alt.Tooltip]) -> list[alt.Chart]:
    ticks = axis(tickCount=plot.n_ticks)
    x = alt.X(f"{_DIFFERENCE}:Q", title="worse by", axis=ticks, scale=alt.Scale(zero=True))
    y_title = "probability to fail" if plot.height > 100 else None
    y = alt.Y(f"{_POWER}:Q", title=y_title, axis=ticks, scale=alt.Scale(domain=[0, 1]))
    rule = dashed_rule(y=alt.YDatum(0.8))
    is_rough = alt.datum.reliability == _ROUGH
    lines = (
        alt.Chart()
        .transform_filter(f"isValid(datum.{_DIFFERENCE})")
        .mark_line(strokeWidth=1.5)
        .encode(
            x=x,
            y=y,
            color=plot.color,
            strokeDash=alt.condition(is_rough, alt.value([5, 3]), alt.value([1, 0])),
            detail=alt.Detail("reliability:N"),
            order=alt.Order(f"{_POWER}:Q"),
            tooltip=[*segment_tooltip, *number_tooltips(_FIELDS)],
        )
    )
    notes = plot.note_texts(alt.Chart(), segment_tooltip)
    return [rule, *plot.background_lines(x=x, y=y), lines, notes]
