"""The chart of `power`: the probability that a rule fails, by how much worse the score is.

If only some rows have a true label: the probability that it passes, by how many have one.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Unpack

import altair as alt
import numpy as np

from balframe._text import chart_title
from balframe.api.options import Names
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
from balframe.core.strata import is_correction
from balframe.frames.adapter import Name
from balframe.methods.gates.power import PlanOptions, plan_labels, plan_rules
from balframe.methods.gates.rules import RulesOption

_POWERS = [round(float(value), 4) for value in (*np.arange(0.02, 0.98, 0.02), 0.98, 0.99, 0.995)]
_DIFFERENCE, _LABELS, _POWER, _ROUGH = "detectable_difference", "labels_needed", "power", "rough"
_EXISTING = "n_labelled"  # of a point, null on a line


@dataclass(frozen=True, slots=True)
class _Curves:
    """What the curves show: their axes, tooltips, the order of segments, and notes."""

    x: str
    x_title: str
    y_title: str
    ranked_by: str
    ranked_in: str
    line: str
    without_curve: str
    fields: Sequence[TooltipField]


_DIFFERENCES = _Curves(
    _DIFFERENCE,
    "worse by",
    "probability to fail",
    _DIFFERENCE,
    " in the difference detected",
    "Dashed line: a power of 0.8",
    "never found to fail",
    (
        N_FIELD,
        MIN_SUPPORT_FIELD,
        ("estimate", "estimate", SCORE_FORMAT),
        (_DIFFERENCE, "worse by", SCORE_FORMAT),
        (_POWER, "probability to fail", SCORE_FORMAT),
        ("power_at_zero", "probability to pass if nothing is worse", SCORE_FORMAT),
    ),
)
_OF_LABELS = _Curves(
    _LABELS,
    "rows with a true label",
    "probability to pass",
    "power_at_zero",
    " in the probability to pass",
    "Dashed line: a power of 0.8; points: the existing labels",
    "no labels suffice",
    (
        N_FIELD,
        ("estimate", "estimate", SCORE_FORMAT),
        (_LABELS, "rows with a true label", ",d"),
        (_POWER, "probability to pass", SCORE_FORMAT),
    ),
)


@chart_function
def power(
    frame: object,
    y_true: Name = None,
    y_pred: Names = None,
    *,
    rules: RulesOption,
    by: Names = None,
    most: int = DEFAULT_MOST,
    **options: Unpack[PlanOptions],
) -> AltairChart:
    """Return a chart of the probability that a rule fails, with a line for each segment.

    The horizontal axis shows how much worse the score is than its estimate. A dashed line marks a
    power of 0.8. Curves of rough probabilities are dashed, too. Up to four segments
    share a panel. With more, each has its own panel, with the others in grey behind it. Segments
    are ranked by the difference that they detect, with the largest first. Several rules are drawn
    one below the other.

    With `missing="correct"`, the chart shows the probability that a rule passes if the estimate is
    true. The horizontal axis shows how many rows of the segment have a true label, drawn from the
    strata as `bf.power` plans them. A point shows the existing labels, which may have been drawn
    otherwise.

    Parameters
    ----------
    rules : str, list, mapping or path
        The rules to plan, in any of the forms that `bf.check` reads.

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
    complete: dict[str, Any] = {"margins": False, "backend": None, "detail": True, **options}
    if is_correction(complete["missing"]):
        curves = _OF_LABELS
        result = plan_labels(frame, y_true, y_pred, rules, complete, by, _POWERS)
    else:
        curves = _DIFFERENCES
        result = plan_rules(  # of which curves start at 0 where a rule already fails
            frame,
            y_true,
            y_pred,
            rules,
            complete,
            by=by,
            power=_POWERS,
            difference_if_failing=0.0,
        )
    rows = result_rows(result)
    names = by_names(by, rows[0])
    if curves is _OF_LABELS:
        rows = _rows_of_segments(rows, names)
    rows_by_rule: dict[str, list[ResultRow]] = {}
    for row in rows:
        rows_by_rule.setdefault(row["rule"], []).append(row)
    has_several_rules = len(rows_by_rule) > 1
    subplots, below = [], list[str]()
    for rule, rule_rows in rows_by_rule.items():
        data = chart_data(rule_rows, names, max_panels=len(LINE_COLORS))
        order, below = rank_segments(data, curves.ranked_by, most, curves.ranked_in)
        selected = data.select(order)
        lines = [*below, *_notes(selected, curves)]
        title = panel_heading(rule, lines) if has_several_rules else alt.Undefined
        subplots.append(_rule_subplot(selected, order, curves, title))
        below = lines
    if has_several_rules:
        return assemble_chart(subplots, heading(chart_title("power of rules", names), []))
    return assemble_chart(subplots, heading(chart_title(f"power of {rule}", names), below))


def _rows_of_segments(rows: Sequence[ResultRow], by: Sequence[Name]) -> list[ResultRow]:
    """Return the labels of all strata of a segment together, and a row for the existing ones.

    Labels of strata that the rule does not concern, of which none are needed, do not count.
    """
    plans: dict[tuple[Any, ...], list[ResultRow]] = {}
    for row in rows:
        key = (row["rule"], *(row[name] for name in by), row[_POWER])
        plans.setdefault(key, []).append(row)
    segments = dict[tuple[Any, ...], list[ResultRow]]()
    for key, strata in plans.items():
        of_segment = segments.setdefault(key[:-1], [])
        labels = [row[_LABELS] for row in strata]
        total = None if None in labels else sum(labels)
        columns = (*by, "rule", "estimate", "power_at_zero", _POWER)  # none of one stratum only
        shared = {name: strata[0][name] for name in columns}
        shared |= {"n": sum(row["n"] for row in strata), _LABELS: total, _EXISTING: None}
        if total is not None and not of_segment:
            existing = sum(row[_EXISTING] for row in strata if row[_LABELS])
            point = {_LABELS: existing, _EXISTING: existing, _POWER: shared["power_at_zero"]}
            of_segment.append(shared | point)
        of_segment.append(shared)
    return [row for of_segment in segments.values() for row in of_segment]


def _notes(data: ChartData, curves: _Curves) -> list[str]:
    """Return the lines on dashes and on segments without a curve."""
    has_rough = any(row.get("reliability") == _ROUGH for row in data.rows)
    rough = "; dashed curves are rough" if has_rough else ""
    notes = [f"{curves.line}{rough}"]
    without_curve = [
        segment
        for segment in data.segments
        if not any(_points(data.select([segment]).rows, curves.x))
    ]
    if without_curve:
        listed = ", ".join(without_curve[:3]) + (
            f" and {len(without_curve) - 3} more" if without_curve[3:] else ""
        )
        notes.append(f"{curves.without_curve.capitalize()}: {listed}")
    return notes


def _points(rows: Sequence[ChartRow], x: str) -> list[ChartRow]:
    """Return the points of each curve; of those at the same place, only the last."""
    points: list[ChartRow] = []
    for row in rows:
        if row[x] is None or row.get(_EXISTING):
            continue
        if points and points[-1][x] == row[x] and points[-1]["segment"] == row["segment"]:
            points.pop()
        points.append(row)
    return points


def _rule_subplot(data: ChartData, order: list[str], curves: _Curves, title: Title) -> Subplot:
    """Draw the curves of a rule."""
    plot = line_plot(data, order)
    rows = _points(data.rows, curves.x)
    others = [row for row in data.rows if row.get(_EXISTING)]
    if not plot.shares_panel:
        others += _curveless_rows(data, rows, curves)
    behind = plot.background_rows(rows, curves.x, _POWER)
    layers = _layers(plot, segment_tooltips(data), curves)
    return Subplot(plot.draw(layers, title), rows + others, behind)


def _curveless_rows(data: ChartData, rows: Sequence[ChartRow], curves: _Curves) -> list[ChartRow]:
    """Return a row with a note for each segment without a curve."""
    with_curve = {row["segment"] for row in rows}
    first = {row["segment"]: row for row in data.rows if row["segment"] not in with_curve}
    return [row | {"note": curves.without_curve} for row in first.values()]


def _layers(plot: LinePlot, segment_tooltip: list[alt.Tooltip], curves: _Curves) -> list[alt.Chart]:
    ticks = axis(tickCount=plot.n_ticks)
    x = alt.X(f"{curves.x}:Q", title=curves.x_title, axis=ticks, scale=alt.Scale(zero=True))
    y_title = curves.y_title if plot.height > 100 else None
    y = alt.Y(f"{_POWER}:Q", title=y_title, axis=ticks, scale=alt.Scale(domain=[0, 1]))
    rule = dashed_rule(y=alt.YDatum(0.8))
    is_rough = alt.datum.reliability == _ROUGH
    tooltip = [*segment_tooltip, *number_tooltips(curves.fields)]
    drawn = alt.Chart().transform_filter(f"isValid(datum.{curves.x})")
    lines = (
        drawn.transform_filter(f"!isValid(datum.{_EXISTING})")
        .mark_line(strokeWidth=1.5)
        .encode(
            x=x,
            y=y,
            color=plot.color,
            strokeDash=alt.condition(is_rough, alt.value([5, 3]), alt.value([1, 0])),
            detail=alt.Detail("reliability:N"),
            order=alt.Order(f"{_POWER}:Q"),
            tooltip=tooltip,
        )
    )
    points = (
        drawn.transform_filter(f"isValid(datum.{_EXISTING})")
        .mark_point(filled=True, opacity=1)
        .encode(x=x, y=y, color=plot.color, tooltip=tooltip)
    )
    has_points = [points] if curves is _OF_LABELS else []
    notes = plot.note_texts(alt.Chart(), segment_tooltip)
    return [rule, *plot.background_lines(x=x, y=y), lines, *has_points, notes]
