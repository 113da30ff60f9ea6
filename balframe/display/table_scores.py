"""What every cell, heading and note of a table says."""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from balframe.display import table_cells as cells
from balframe.display.table_cells import HIGHEST, LOWEST, Axis, Score
from balframe.display.table_layout import Choice, Layout, worst_of
from balframe.frames.library import Name
from balframe.verbs.columns import ESTIMATE, Kind, Naming, Role, Span

_UNIT = Axis(0, 1)


@dataclass(frozen=True)
class Pen:
    """Writes a table: the layout and choice of its rows, and how they are asked to look."""

    layout: Layout
    choice: Choice
    decimals: int
    bars: bool
    worst: int

    @cached_property
    def marks(self) -> Mapping[tuple[Name, int], str]:
        """Find the cells of the worst segments, and the sign that each gets."""
        found: dict[tuple[Name, int], str] = {}
        families: dict[object, list[int]] = {}
        for row in filter(self.layout.is_finest, range(self.layout.n_rows)):
            families.setdefault(self.layout.family(row), []).append(row)
        for name in self.layout.compared():
            for rows in families.values():
                metric = self.layout.metric(name, rows[0])
                column = self.layout.values[name]
                known = {row: column[row] for row in rows if column[row] is not None}
                better = None if metric is None else metric.better
                sign = HIGHEST if better == "lower" else LOWEST
                found |= {(name, row): sign for row in worst_of(known, better, self.worst)}
        return found

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
        if column.role is Role.STATUS:
            return cells.status(value)
        return "" if value is None and column.role is Role.NOTE else cells.isolated(value)

    def _of_by(self, name: Name, row: int) -> str:
        kept = self.layout.kept[row]
        if name in kept:
            return cells.isolated(self.layout.values[name][row])
        is_overall = not kept and self.layout.has_margins and name == self.layout.by[0]
        is_of_many = self.layout.is_of_many(row)
        return cells.rolled_up("overall" if is_overall and not is_of_many else "all")

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
            return self._around_zero[name].get(self.layout.named(Naming.METRIC, row))
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
        measure = self.layout.named(Naming.MEASURE, row) if rule is None else rule.over
        spans = {"difference": Span.EXTREMES, "ratio": Span.UNIT}
        return spans.get(str(measure), Span.METRIC)

    @cached_property
    def _around_zero(self) -> Mapping[Name, Mapping[object, Axis | None]]:
        """Make the axes that the differences of a metric have in common, for each such column."""
        return {
            name: self._of_differences(name)
            for name, one in self.layout.columns.items()
            if one.span is Span.AROUND_ZERO
        }

    def _of_differences(self, name: Name) -> Mapping[object, Axis | None]:
        values, limits = self.layout.values, self.layout.limits.get(name, ())
        found: dict[object, list[float | None]] = {}
        for row in self.choice.rows:
            metric = self.layout.named(Naming.METRIC, row)
            found.setdefault(metric, []).extend(values[one][row] for one in (name, *limits))
        return {name: cells.symmetric(some) for name, some in found.items()}

    def heading(self, row: int) -> str:
        """Write what stands above the rows of a group."""
        text = ""
        for name, value in zip(self.layout.groups, self.layout.group(row), strict=True):
            column = self.layout.columns[name]
            is_ours = column.naming not in (None, Naming.RULE)
            shown = cells.safe(cells.words(value)) if is_ours else cells.isolated(value)
            text += column.heading + shown if text else shown
        return text

    def label(self, name: Name) -> str:
        """Write the label of a column."""
        return cells.isolated(name) if name in self.layout.by else cells.safe(self._words(name))

    def _words(self, name: Name) -> str:
        """Name a column in words; the estimates of one metric by the metric."""
        metrics, of_rows = self.layout.metrics, self.layout.naming(Naming.METRIC)
        is_heading = of_rows is not None and self.layout.columns[of_rows].heading
        if name == ESTIMATE and len(metrics) == 1 and is_heading:
            return cells.words(*metrics)
        return cells.words(name)

    def notes(self) -> list[str]:
        """Write what a reader has to know of the cells that are shown."""
        found = [self._left_out(), self._limits(), self._worst(), self._axes()]
        shown = {self.cell(name, row) for name in self.layout.shown for row in self.choice.rows}
        if cells.UNDEFINED in shown:
            found.append(f"{cells.UNDEFINED}: undefined.")
        return [note for note in found if note]

    def _left_out(self) -> str:
        n, by = self.choice.n_left_out, self.choice.ranked_by
        if not n:
            return ""
        each = " of each group" if self.layout.groups else ""
        which = f"the first{each}" if by is None else f"the worst and the best{each}"
        ranked = "" if by is None else f" by {cells.safe(cells.words(by)).lower()}, worst first"
        return (
            f"{cells.count(n)} of {cells.count(self.layout.n_rows)} rows are left out; shown are "
            f"{which}{ranked}."
        )

    def _limits(self) -> str:
        if not set(self.layout.limits) & set(self.layout.shown):
            return ""
        column = self.layout.naming(Naming.METHOD)
        values = () if column is None else self.layout.values[column]
        methods = {str(one) for one in values if one is not None}
        by = f", by the method {cells.safe(' and '.join(sorted(methods)))}" if methods else ""
        return f"In brackets: the lower and the upper limit{by}."

    def _worst(self) -> str:
        rows = set(self.choice.rows)
        signs = {sign for (_, row), sign in self.marks.items() if row in rows}
        ends = {LOWEST: "lowest", HIGHEST: "highest"}
        marked = [f"{sign} the {ends[sign]}" for sign in ends if sign in signs]
        return f"Worst by the metric: {', '.join(marked)}." if marked else ""

    def _axes(self) -> str:
        """Say what bars span, and which, if not all of them span the same."""
        names: dict[Axis, list[str]] = {}
        for name in self.scores:
            for row in self.choice.rows:
                axis = self.axis(name, row)
                what = self._drawn(name, row)
                if axis is not None and what not in names.setdefault(axis, []):
                    names[axis].append(what)
        spans = [
            f"from {_end(axis.low)} to {_end(axis.high)}"
            + (f" ({cells.safe(', '.join(drawn))})" if len(names) > 1 else "")
            for axis, drawn in names.items()
        ]
        bound = (
            "; the dark line across is the bound"
            if any(map(self.layout.bound, self.scores))
            else ""
        )
        return f"Bars span the range {', '.join(spans)}{bound}." if spans else ""

    def _drawn(self, name: Name, row: int) -> str:
        """Name what a bar is drawn of."""
        rule, metric = (self.layout.named(one, row) for one in (Naming.RULE, Naming.METRIC))
        if rule is not None:
            return str(rule)
        if metric is None or self.layout.columns[name].of or len(self.layout.metrics) == 1:
            return self._words(name)
        of = cells.words(metric)
        return of if name == ESTIMATE else f"{of}: {cells.words(name).lower()}"


def _end(value: float) -> str:
    return cells.number(value, None)
