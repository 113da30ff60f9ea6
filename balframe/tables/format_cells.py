"""What every cell and heading of a table says."""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from balframe.api.columns import ESTIMATE, Kind, Naming, Role, Span
from balframe.frames.adapter import Name
from balframe.tables import table_cells as cells
from balframe.tables.layout import Layout
from balframe.tables.row_selection import Choice
from balframe.tables.table_cells import HIGHEST, LOWEST, Axis, Score
from balframe.tables.worst import Family, compared, worst_cells

_UNIT = Axis(0, 1)


@dataclass(frozen=True)
class Pen:
    """Writes a table: the layout and choice of its rows, and how they are asked to look."""

    layout: Layout
    choice: Choice
    decimals: int
    bars: bool
    worst: int
    min_support: int

    @cached_property
    def compared(self) -> list[Family]:
        """List the scores among which the worst are marked."""
        return compared(self.layout)

    @cached_property
    def marks(self) -> Mapping[tuple[Name, int], str]:
        """Find the cells of the worst segments, and the sign that each gets."""
        found = worst_cells(self.compared, self.worst, self.min_support)
        return {cell: LOWEST if better == "higher" else HIGHEST for cell, better in found.items()}

    @cached_property
    def scores(self) -> list[Name]:
        """List the columns that hold scores, which may have bars."""
        columns = self.layout.columns
        return [
            name
            for name in self.layout.shown
            if name in columns and columns[name].role is Role.ESTIMATE
        ]

    def cell(self, name: Name, row: int) -> str:
        """Write a cell."""
        value = self.layout.values[name][row]
        if name in self.layout.by:
            return self._of_by(name, row)
        column = self.layout.columns.get(name)
        if column is None:
            return self._added(name, value)
        if column.naming not in (None, Naming.RULE):
            return cells.safe(cells.words(value))
        if column.kind is Kind.BY:
            return self._of_extreme(value, column.about, row)
        if column.role is Role.COUNT:
            return self._counted(name, value)
        if column.role is Role.ESTIMATE:
            return self._estimate(name, row)
        if column.is_as_given:
            has_none = value is None and column.about is not None
            return "" if has_none else cells.number(value, None)
        if column.role is Role.TEST:
            return cells.p_value(value, self.decimals)
        if column.kind is Kind.FLOAT:
            return cells.number(value, self.decimals)
        if column.statuses is not None:
            return cells.status(value, column.statuses.texts)
        if column.kind is Kind.FLAG_OR_NULL:
            return cells.flag(value)
        return "" if value is None and column.role is Role.NOTE else cells.isolated(value)

    def _of_by(self, name: Name, row: int) -> str:
        text = self.layout.placeholder(name, row)
        return (
            cells.isolated(self.layout.values[name][row])
            if text is None
            else cells.placeholder(text)
        )

    def _of_extreme(self, value: object, score: Name, row: int) -> str:
        """Name the segment of an extreme score; a null is a segment, unless there is no score."""
        if value is not None:
            return cells.isolated(value)
        values = self.layout.values
        if score not in values:
            return ""
        return cells.UNDEFINED if values[score][row] is None else cells.isolated(None)

    def _counted(self, name: Name, value: float | None) -> str:
        """Write a count; a sum of weights may have decimals."""
        known = [one for one in self.layout.values[name] if one is not None]
        is_whole = all(float(one).is_integer() for one in known)
        return cells.count(value) if is_whole else cells.number(value, self.decimals)

    def _added(self, name: Name, value: Any) -> str:  # noqa: ANN401 (a value of the user's)
        """Write a value of a column that is not declared."""
        if name not in self.layout.numbers:
            return "" if value is None else cells.isolated(value)
        known = [one for one in self.layout.values[name] if one is not None]
        if any(isinstance(one, float) for one in known):
            return cells.number(value, self.decimals)
        return cells.count(value)

    def _estimate(self, name: Name, row: int) -> str:
        """Write an estimate with its limits, or the count that a rule is on."""
        values, limits = self.layout.values, self.layout.limits.get(name)
        if self.layout.is_of_rows(row):
            return cells.count(values[name][row])
        lower, upper = (None, None) if limits is None else (values[one][row] for one in limits)
        bound = self.layout.bound(name)
        one = Score(
            values[name][row],
            lower,
            upper,
            self.axis(name, row),
            self.marks.get((name, row), ""),
            None if bound is None else values[bound][row],
        )
        return cells.score(one, self.decimals)

    def axis(self, name: Name, row: int) -> Axis | None:
        """Find what the bar of a cell spans; None where it has no bar."""
        span = self._span(name, row)
        if not self.bars or span is None or self.layout.values[name][row] is None:
            return None
        if span is Span.UNIT:
            return _UNIT
        if span is Span.AROUND_ZERO:
            return self._around_zero[name].get(self._measured(row))
        metric = self.layout.metric(name, row)
        if metric is None:
            return None
        low, high = metric.range
        if not math.isfinite(high - low):
            return None
        return Axis(0, high - low) if span is Span.EXTREMES else Axis(min(low, 0), max(high, 0))

    def _span(self, name: Name, row: int) -> Span | None:
        span = self.layout.columns[name].span
        if span is not Span.AS_MEASURED:
            return span
        rule = self.layout.rule(row)
        if rule is not None and rule.is_relative:
            return Span.AROUND_ZERO
        measure = self.layout.named(Naming.MEASURE, row) if rule is None else rule.over
        spans = {"difference": Span.EXTREMES, "ratio": Span.UNIT}
        return spans.get(str(measure), Span.METRIC)

    @cached_property
    def _around_zero(self) -> Mapping[Name, Mapping[object, Axis | None]]:
        """Make the axes that the differences of a metric have in common, for each such column."""
        return {
            name: self._of_differences(name)
            for name, one in self.layout.columns.items()
            if one.span in (Span.AROUND_ZERO, Span.AS_MEASURED)
        }

    def _measured(self, row: int) -> object:
        """Name the metric, or the rule on a difference, whose rows have an axis in common."""
        rule = self.layout.named(Naming.RULE, row)
        return self.layout.named(Naming.METRIC, row) if rule is None else rule

    def _of_differences(self, name: Name) -> Mapping[object, Axis | None]:
        values, bound = self.layout.values, self.layout.bound(name)
        drawn = [name, *self.layout.limits.get(name, ()), *([] if bound is None else [bound])]
        found: dict[object, list[float | None]] = {}
        for row in self.choice.rows:
            if self._span(name, row) is Span.AROUND_ZERO:
                found.setdefault(self._measured(row), []).extend(values[one][row] for one in drawn)
        return {name: cells.symmetric(some) for name, some in found.items()}

    def heading(self, row: int) -> str:
        """Write what stands above the rows of a group."""
        text = ""
        for name, value in zip(self.layout.groups, self.layout.group(row), strict=True):
            column = self.layout.columns[name]
            is_ours = column.naming not in (None, Naming.RULE, Naming.TABLE)
            shown = cells.safe(cells.words(value)) if is_ours else cells.isolated(value)
            shown = f"By {shown}" if column.naming is Naming.TABLE else shown
            text += column.heading + shown if text else shown
        return text

    def label(self, name: Name) -> str:
        """Write the label of a column."""
        column = self.layout.columns.get(name)
        is_of_data = column is not None and column.kind is Kind.LABEL and column.of is not None
        if name in self.layout.by or is_of_data:
            return cells.isolated(name)
        return cells.safe(self.words(name))

    def words(self, name: Name) -> str:
        """Name a column in words; the estimates of one metric by the metric."""
        metrics, of_rows = self.layout.metrics, self.layout.naming(Naming.METRIC)
        is_heading = of_rows is not None and self.layout.columns[of_rows].heading
        if name == ESTIMATE and len(metrics) == 1 and is_heading:
            return cells.words(*metrics)
        return cells.words(name)
