"""The HTML of the cells and headings of a table: text, numbers and bars."""

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from html import escape
from typing import Any

from balframe._text import MISSING, capitalize_first, metric_title, quote_placeholder
from balframe.api.columns import ESTIMATE, Kind, Naming, Role, Span
from balframe.frames.adapter import Name
from balframe.tables.layout import ResultLayout
from balframe.tables.row_selection import ComparedScores, RowSelection, compared_scores, worst_cells

UNDEFINED = "\N{EM DASH}"
LOWEST_MARK, HIGHEST_MARK = "\N{BLACK DOWN-POINTING TRIANGLE}", "\N{BLACK UP-POINTING TRIANGLE}"

_BAR_WIDTH, _BAR_HEIGHT, _BAR_MARGIN = 132, 12, 4
_MAX_UNWRAPPED = 32  # characters
_MAX_MORE_DECIMALS = 6  # of thresholds than of scores
_DATE_LENGTH = 10  # characters of 2026-03-31, which pandas continues with a time
_TRACK, _FILL, _INK, _WORST = "#d5dae1", "#bcd7ec", "#0b4a7d", "#c04a00"
_MUTED = "color:#59636e"
_SECONDARY = f"{_MUTED};font-size:88%"
_PLACEHOLDER = f"{_MUTED};font-style:italic"
_STATUS_STYLES = (  # good, bad and undecided
    ("\N{CHECK MARK}", "color:#00635a"),
    ("\N{BALLOT X}", "color:#a83c00;font-weight:bold"),
    ("?", "color:#5f5500"),
)
_TITLES = {
    "n": "n",
    "min_support": "Smallest support",
    "n_missing": "Missing rows",
    "n_labels": "Labels",
    "n_clusters": "Clusters",
    "n_positive": "Positives",
    "n_segments": "Segments",
    "n_left_out": "Segments left out",
    "n_explained": "Slices explained",
    "n_tests": "Tests",
    "power_at_zero": "Probability to pass",
    "p_value": "p",
    "p_value_recalls": "p (equal recalls)",
    "p_adjusted": "Adjusted p",
    "p_above": "Probability above",
    "n_favourable": "Favourable",
    "oe_ratio": "O/E",
    "bin": "Bin",
    "kuiper_p_value": "p (Kuiper)",
    "p_value_all": "p (all segments)",
    "p_value_crossing": "p (crossing)",
    "unknown_lower": "Lowest with unknown",
    "unknown_upper": "Highest with unknown",
    "roc_auc": "ROC AUC",
    "ks_statistic": "KS statistic",
}
_BRACES = str.maketrans({"{": "&#123;", "}": "&#125;"})  # great_tables reads them as units
_CONTROLS = re.compile("[\x00-\x1f\x7f-\x9f\u2028\u2029]")


@dataclass(frozen=True, slots=True)
class BarAxis:
    """The values at both ends of the track of a bar; bars begin at 0."""

    low: float
    high: float

    def position(self, value: float) -> float:
        """Return where a value is drawn, in pixels from the left."""
        share = (min(max(value, self.low), self.high) - self.low) / (self.high - self.low)
        return _BAR_MARGIN + share * (_BAR_WIDTH - 2 * _BAR_MARGIN)


@dataclass(frozen=True, slots=True)
class ScoreCell:
    """An estimate with its limits, the mark of the worst, and the bound of its rule."""

    value: float | None
    lower: float | None
    upper: float | None
    axis: BarAxis | None
    mark: str = ""
    bound: float | None = None


def escape_text(text: object) -> str:
    """Return text of the data escaped for HTML, with control characters written out."""
    visible = _CONTROLS.sub(lambda match: repr(match[0])[1:-1], str(text))
    return escape(visible).translate(_BRACES)


def column_title(name: object) -> str:
    """Return the name of a column or metric in words."""
    text = str(name)
    if text in _TITLES:
        return _TITLES[text]
    if len(text) <= 3 and text.isascii():
        return text.upper()
    return capitalize_first(metric_title(text))


def format_value(value: object) -> str:
    """Return a value of the data, isolated from the direction of the text around it."""
    if value is None:
        return format_placeholder(MISSING)
    if isinstance(value, float):
        return format_number(value, None)
    text = escape_text(quote_placeholder(str(value)))
    style = ' style="white-space:nowrap"' if len(text) <= _MAX_UNWRAPPED else ""
    return f"<bdi{style}>{text}</bdi>"


def format_placeholder(text: str) -> str:
    """Return text that is not a value of the data, in a style that shows this."""
    return f'<span style="{_PLACEHOLDER};white-space:nowrap">{escape_text(text)}</span>'


def is_undefined(value: object) -> bool:
    """Return whether a value is null or NaN."""
    return value is None or (isinstance(value, float) and math.isnan(value))


def format_number(value: float | None, decimals: int | None) -> str:
    """Return a number with so many decimals, or unrounded for None."""
    if value is None or math.isnan(value):
        return UNDEFINED
    if math.isinf(value):
        text = "\N{INFINITY}"
    elif decimals is None:
        text = f"{abs(value):.15g}"
    else:
        text = f"{abs(value):,.{decimals}f}"
    is_negative = value < 0 and any(digit in "123456789\N{INFINITY}" for digit in text)
    return f"\N{MINUS SIGN}{text}" if is_negative else text


def distinct_decimals(values: Sequence[Any], least: int) -> int:
    """Return the number of decimals, at least `least`, with which values stay distinct and not 0.

    It is limited, because values that differ by less are the same to a reader.
    """
    distinct = {value for value in values if value and not is_undefined(value)}
    for decimals in range(least, least + _MAX_MORE_DECIMALS):
        texts = {format_number(value, decimals) for value in distinct}
        if len(texts) == len(distinct) and format_number(0, decimals) not in texts:
            return decimals
    return least + _MAX_MORE_DECIMALS


def format_threshold(value: float | None, decimals: int) -> str:
    """Return a threshold with at most so many decimals."""
    rounded, exact = format_number(value, decimals).replace(",", ""), format_number(value, None)
    if len(exact) <= len(rounded):
        return exact
    return rounded.rstrip("0").rstrip(".") if "." in rounded else rounded


def format_count(value: float | None) -> str:
    """Return a whole number with separators of thousands."""
    return UNDEFINED if value is None else f"{int(value):,}".replace("-", "\N{MINUS SIGN}")


def format_p_value(value: float | None, decimals: int) -> str:
    """Return a p-value, as less than the smallest number with these decimals if it is small."""
    if value is not None and 0 <= value < 10**-decimals:
        return f'<span style="white-space:nowrap">&lt;{10**-decimals:.{decimals}f}</span>'
    return format_number(value, decimals)


def format_status(value: object, statuses: Sequence[str]) -> str:
    """Return a status, with a sign for those who do not see its colour."""
    if value not in statuses:
        return format_value(value)
    sign, style = _STATUS_STYLES[statuses.index(str(value))]
    return f'<span style="{style};white-space:nowrap">{sign} {value}</span>'


def format_flag(value: object) -> str:
    """Return yes or no, or an em dash for null."""
    return UNDEFINED if value is None else "yes" if value else "no"


def format_score(score: ScoreCell, decimals: int) -> str:
    """Return an estimate, its limits in brackets, and a bar of both below."""
    if is_undefined(score.value):
        return UNDEFINED
    text = format_number(score.value, decimals)
    if score.mark:
        sign = f'<span role="img" aria-label="worst" title="worst">{score.mark}</span>'
        text = f'<strong style="color:{_WORST}">{sign} {text}</strong>'
    if not is_undefined(score.lower) and not is_undefined(score.upper):
        limits = f"[{format_number(score.lower, decimals)}, {format_number(score.upper, decimals)}]"
        text += f' <span style="{_SECONDARY}">{limits}</span>'
    if score.axis is None:
        return f'<span style="white-space:nowrap">{text}</span>'
    return f'<div style="white-space:nowrap">{text}</div>{_bar_svg(score, score.axis)}'


def format_secondary(value: float | None, decimals: int) -> str:
    """Return a number in the smaller, grey style of limits."""
    return f'<span style="{_SECONDARY}">{format_number(value, decimals)}</span>'


def _bar_svg(score: ScoreCell, axis: BarAxis) -> str:
    """Return the estimate as a bar from 0 with a dot, and its limits as a line with ends."""
    middle, ink = _BAR_HEIGHT / 2, _WORST if score.mark else _INK
    zero, end = axis.position(0), axis.position(score.value or 0)
    parts = [
        _svg_line(_BAR_MARGIN, middle, _BAR_WIDTH - _BAR_MARGIN, middle, _TRACK, 1),
        f'<rect x="{min(zero, end):.1f}" y="{middle - 3:g}" width="{abs(end - zero):.1f}" '
        f'height="6" fill="{_FILL}"/>',
    ]
    if axis.low < 0:
        parts.append(_svg_line(zero, 1, zero, _BAR_HEIGHT - 1, "#8b949e", 1))
    if score.bound is not None and axis.low <= score.bound <= axis.high:
        x = axis.position(score.bound)
        parts.append(_svg_line(x, 0, x, _BAR_HEIGHT, "#24292f", 1.5))
    if not is_undefined(score.lower) and not is_undefined(score.upper):
        low, high = (
            axis.position(limit) for limit in (score.lower, score.upper) if limit is not None
        )
        parts.append(_svg_line(low, middle, high, middle, ink, 1.5))
        parts += [_svg_line(x, middle - 3, x, middle + 3, ink, 1.5) for x in (low, high)]
    parts.append(f'<circle cx="{end:.1f}" cy="{middle:g}" r="2.8" fill="{ink}"/>')
    return (
        f'<svg width="{_BAR_WIDTH}" height="{_BAR_HEIGHT}" '
        f'viewBox="0 0 {_BAR_WIDTH} {_BAR_HEIGHT}" '
        f'aria-hidden="true" style="display:block;margin:2px 0 0 auto">{"".join(parts)}</svg>'
    )


def _svg_line(x1: float, y1: float, x2: float, y2: float, stroke: str, width: float) -> str:
    return (
        f'<line x1="{x1:.1f}" y1="{y1:g}" x2="{x2:.1f}" y2="{y2:g}" stroke="{stroke}" '
        f'stroke-width="{width:g}"/>'
    )


def symmetric_axis(values: Sequence[Any]) -> BarAxis | None:
    """Return an axis around 0 that holds all values and ends at a round number, or None."""
    largest = max((abs(value) for value in values if not is_undefined(value)), default=0.0)
    if not 0 < largest < math.inf:
        return None
    unit = 10.0 ** math.floor(math.log10(largest))
    end = next(step * unit for step in (1, 1.5, 2, 3, 4, 5, 6, 8, 10) if step * unit >= largest)
    return BarAxis(-end, end)


_UNIT_AXIS = BarAxis(0, 1)


@dataclass(frozen=True)
class CellFormatter:
    """Formats the cells and headings of the selected rows, with the options of `table`."""

    layout: ResultLayout
    selection: RowSelection
    decimals: int
    bars: bool
    worst: int
    min_support: int

    @cached_property
    def compared_scores(self) -> list[ComparedScores]:
        """The scores among which the worst are marked."""
        return compared_scores(self.layout)

    @cached_property
    def marks(self) -> Mapping[tuple[Name, int], str]:
        """The signs in the cells of the worst segments."""
        worst = worst_cells(self.compared_scores, self.worst, self.min_support)
        return {
            cell: LOWEST_MARK if better == "higher" else HIGHEST_MARK
            for cell, better in worst.items()
        }

    @cached_property
    def score_columns(self) -> list[Name]:
        """The columns of scores, which may have bars."""
        columns = self.layout.columns
        return [
            name
            for name in self.layout.value_columns
            if name in columns and columns[name].role is Role.ESTIMATE
        ]

    def cell(self, name: Name, row: int) -> str:
        """Return the HTML of a cell."""
        value = self.layout.values[name][row]
        if name in self.layout.by:
            return self._by_value(name, row)
        column = self.layout.columns.get(name)
        if column is None:
            return self._user_value(name, value)
        if column.naming not in (None, Naming.RULE):
            return escape_text(column_title(value))
        if column.kind is Kind.BY:
            return self._extreme_segment(name, row)
        if column.role is Role.COUNT:
            return self._row_count(name, value)
        if column.role is Role.ESTIMATE:
            return self._estimate(name, row)
        if column.is_bound:
            return "" if value is None else format_number(value, None)
        if column.is_threshold:
            return format_threshold(value, self._threshold_decimals[name])
        if column.role is Role.TEST:
            return format_p_value(value, self.decimals)
        if column.kind is Kind.FLOAT:
            return format_number(value, self.decimals)
        if column.statuses is not None:
            return format_status(value, column.statuses.texts)
        if column.kind is Kind.DATE_OR_NULL:
            return "" if value is None else format_value(str(value)[:_DATE_LENGTH])
        if column.kind is Kind.FLAG_OR_NULL:
            return format_flag(value)
        return "" if value is None and column.role is Role.NOTE else format_value(value)

    @cached_property
    def _threshold_decimals(self) -> Mapping[Name, int]:
        """The decimals of each column of thresholds."""
        layout, rows = self.layout, self.selection.rows
        return {
            name: distinct_decimals([layout.values[name][row] for row in rows], self.decimals)
            for name, column in layout.columns.items()
            if column.is_threshold
        }

    def _by_value(self, name: Name, row: int) -> str:
        placeholder = self.layout.placeholder(name, row)
        if placeholder is None:
            return format_value(self.layout.values[name][row])
        return format_placeholder(placeholder)

    def _extreme_segment(self, name: Name, row: int) -> str:
        """Return the segment of an extreme score; null is a segment, unless there is no score."""
        value = self.layout.values[name][row]
        if value is None and not self.layout.has_extreme(name, row):
            return UNDEFINED
        return format_value(value)

    def _row_count(self, name: Name, value: float | None) -> str:
        """Return a count; a sum of weights may have decimals."""
        defined = (count for count in self.layout.values[name] if count is not None)
        is_whole = all(float(count).is_integer() for count in defined)
        return format_count(value) if is_whole else format_number(value, self.decimals)

    def _user_value(self, name: Name, value: Any) -> str:  # noqa: ANN401 (a value of the user's)
        """Return a value of a column that is not declared."""
        if name not in self.layout.numeric_columns:
            return "" if value is None else format_value(value)
        if any(isinstance(number, float) for number in self.layout.values[name]):
            return format_number(value, self.decimals)
        return format_count(value)

    def _estimate(self, name: Name, row: int) -> str:
        """Return an estimate with its limits, or the count that a rule is on."""
        values, limits = self.layout.values, self.layout.limit_columns.get(name)
        if self.layout.has_count_rule(row):
            return format_count(values[name][row])
        lower, upper = (None, None) if limits is None else (values[limit][row] for limit in limits)
        bound = self.layout.bound_column(name)
        score = ScoreCell(
            values[name][row],
            lower,
            upper,
            self.bar_axis(name, row),
            self.marks.get((name, row), ""),
            None if bound is None else values[bound][row],
        )
        return format_score(score, self.decimals)

    def bar_axis(self, name: Name, row: int) -> BarAxis | None:
        """Return the axis of the bar of a cell, or None if it has no bar."""
        span = self._bar_span(name, row)
        if not self.bars or span is None or self.layout.values[name][row] is None:
            return None
        if span is Span.UNIT:
            return _UNIT_AXIS
        if span is Span.AROUND_ZERO:
            return self._difference_axes[name].get(self._axis_key(row))
        metric = self.layout.metric(name, row)
        if metric is None:
            return None
        low, high = metric.range
        if not math.isfinite(high - low):
            return None
        if span is Span.EXTREMES:
            return BarAxis(0, high - low)
        return BarAxis(min(low, 0), max(high, 0))

    def _bar_span(self, name: Name, row: int) -> Span | None:
        span = self.layout.columns[name].span
        if span is not Span.BY_ROW:
            return span
        rule = self.layout.rule(row)
        if rule is not None and rule.is_relative:
            return Span.AROUND_ZERO
        measure = self.layout.row_value(Naming.MEASURE, row) if rule is None else rule.disparity
        spans = {"difference": Span.EXTREMES, "ratio": Span.UNIT}
        return spans.get(str(measure), Span.METRIC)

    @cached_property
    def _difference_axes(self) -> Mapping[Name, Mapping[object, BarAxis | None]]:
        """The common axes of the differences of each metric or rule, for each such column."""
        return {
            name: self._column_axes(name)
            for name, column in self.layout.columns.items()
            if column.span in (Span.AROUND_ZERO, Span.BY_ROW)
        }

    def _axis_key(self, row: int) -> object:
        """Return the metric, or the rule on a difference, whose rows have a common axis."""
        rule = self.layout.row_value(Naming.RULE, row)
        return self.layout.row_value(Naming.METRIC, row) if rule is None else rule

    def _column_axes(self, name: Name) -> Mapping[object, BarAxis | None]:
        values, bound = self.layout.values, self.layout.bound_column(name)
        columns = [
            name,
            *self.layout.limit_columns.get(name, ()),
            *([] if bound is None else [bound]),
        ]
        axis_values: dict[object, list[float | None]] = {}
        for row in self.selection.rows:
            if self._bar_span(name, row) is Span.AROUND_ZERO:
                axis_values.setdefault(self._axis_key(row), []).extend(
                    values[column][row] for column in columns
                )
        return {key: symmetric_axis(numbers) for key, numbers in axis_values.items()}

    def heading(self, row: int) -> str:
        """Return the heading above the rows of a group."""
        text = ""
        for name, value in zip(self.layout.group_columns, self.layout.group_key(row), strict=True):
            column = self.layout.columns[name]
            has_title = column.naming not in (None, Naming.RULE, Naming.TABLE)
            part = escape_text(column_title(value)) if has_title else format_value(value)
            part = f"By {part}" if column.naming is Naming.TABLE else part
            text += column.heading + part if text else part
        return text

    def column_label(self, name: Name) -> str:
        """Return the HTML of the label of a column."""
        column = self.layout.columns.get(name)
        has_data_name = name in self.layout.by or (
            column is not None
            and column.kind is Kind.LABEL
            and column.placeholder_value is not None
        )
        if has_data_name:
            return format_value(name)
        return escape_text(self.column_title(name))

    def column_title(self, name: Name) -> str:
        """Return the name of a column in words; for estimates of one metric, that of the metric."""
        metrics, metric_column = self.layout.metric_names, self.layout.naming_column(Naming.METRIC)
        is_heading = metric_column is not None and self.layout.columns[metric_column].heading
        if name == ESTIMATE and len(metrics) == 1 and is_heading:
            return column_title(*metrics)
        return column_title(name)
