"""Tables of groups that sections share: which groups they show, their rows, and forest plots."""

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import TypeVar

from balframe.audit_page.document import Axis, Bar, Cell, Head, RowGroup, Table, TableRow
from balframe.audit_page.groups import MAX_COLUMNS, ColumnFigures, Difference, GroupFigures
from balframe.audit_page.numbers import PERCENT, POINTS, Estimate, Scale, count
from balframe.audit_page.rates import Rate
from balframe.audit_page.request import Request
from balframe.audit_page.results import ModelFigures
from balframe.audit_page.text import label, plural

MAX_GROUPS = 20
_MIN_GROUPS = 5
_MAX_ROWS = 1_200  # of all tables, which keeps a page under half a megabyte
_STEPS = (0.01, 0.02, 0.05, 0.1, 0.2, 0.25, 0.5, 1.0)  # between ticks
_RATIO_STEPS = (0.05, 0.1, 0.25, 0.5)
_LARGEST_RATIO = 4  # on an axis
_MAX_TICKS = 5

T = TypeVar("T")

# Which groups and columns a table shows


@dataclass(frozen=True, slots=True)
class ColumnRows:
    """A by-column with the groups that tables show, in their order; `more` counts the others."""

    column: ColumnFigures
    title: str
    groups: Sequence[GroupFigures]
    more: str


def choose_groups(model: ModelFigures, n_tables: int = 8) -> list[ColumnRows]:
    """Choose the first columns, and the groups of each with the most rows."""
    columns = model.columns[:MAX_COLUMNS]
    n_rows = _MAX_ROWS // max(len(columns) * n_tables, 1)
    limit = min(max(n_rows, _MIN_GROUPS), MAX_GROUPS)
    chosen = []
    for column in columns:
        groups = largest(column.groups, limit, lambda group: group.n)
        ids = {*map(id, groups)}
        others = [group for group in column.groups if id(group) not in ids]
        n = sum(group.n for group in others)
        more = f"{plural(len(others), 'more group', 'more groups')}, {model.words.rows(n)}"
        title = model.request.column_title(column.number)
        chosen.append(ColumnRows(column, title, groups, more if others else ""))
    return chosen


def largest(items: Sequence[T], limit: int, size: Callable[[T], float]) -> list[T]:
    """Return the largest items, in their order."""
    by_size = sorted(range(len(items)), key=lambda i: -size(items[i]))
    return [items[i] for i in sorted(by_size[:limit])]


def left_out_columns(model: ModelFigures) -> str:
    """State which columns are not shown; empty if all are."""
    names = [model.request.column(column.number) for column in model.columns[MAX_COLUMNS:]]
    if not names:
        return ""
    n_more = len(names) - MAX_COLUMNS
    listed = ", ".join(names[:MAX_COLUMNS]) + (f" and {count(n_more)} more" if n_more > 0 else "")
    were = "more column was" if len(names) == 1 else "more columns were"
    are = "is" if len(names) == 1 else "are"
    return (
        f"{count(len(names))} {were} examined in the same way and {are} not shown: "
        f"{listed}. Their comparisons count in the adjustment for multiple testing."
    )


# Axes of forest plots


@dataclass(frozen=True, slots=True)
class Range:
    """The ends of an axis, and the distance between its ticks."""

    low: float
    high: float
    step: float

    def place(self, value: float | None) -> float | None:
        """Return where a number lies, 0 at the low end and 1 at the high one."""
        return None if value is None else (value - self.low) / (self.high - self.low)

    def bar(self, estimate: Estimate) -> Bar:
        """Return the mark of an estimate."""
        return Bar(*map(self.place, estimate[:3]))

    def axis(self, scale: Scale, line: float | None = None, dashed: float | None = None) -> Axis:
        """Return the axis, with ticks at whole steps."""
        n = round((self.high - self.low) / self.step)
        values = [self.low + i * self.step for i in range(n + 1)]
        ticks = [
            (float(self.place(value) or 0.0), f"{scale.number(value)}{scale.unit}")
            for value in values
        ]
        return Axis(ticks, self.place(line), self.place(dashed))


def share_range(estimates: Iterable[Estimate], *others: float | None) -> Range:
    """Choose a range within 0 and 1 that holds estimates with their limits, and other numbers."""
    values = _values(estimates)
    values += [value for value in others if value is not None]
    low, high = (min(values), max(values)) if values else (0.0, 1.0)
    step = next((step for step in _STEPS if (high - low) / step <= _MAX_TICKS - 2), 0.25)
    start, end = math.floor(low / step + 1e-9), math.ceil(high / step - 1e-9)
    start, end = max(start, 0), min(max(end, start + 1), round(1 / step))
    return Range(min(start, end - 1) * step, end * step, step)


def difference_range(estimates: Iterable[Estimate]) -> Range:
    """Choose a range as far on both sides of 0 that holds estimates with their limits."""
    furthest = max(map(abs, _values(estimates)), default=0.0)
    step = next((step for step in _STEPS if furthest <= 2 * step), 1.0)
    return Range(-2 * step, 2 * step, step)


def ratio_range(ratios: Iterable[Estimate]) -> Range:
    """Choose a range around 1 that holds ratios with their limits, up to a largest one."""
    values = _values(ratios)
    furthest = max((abs(value - 1) for value in values), default=0.0)
    step = next((step for step in _RATIO_STEPS if furthest <= 2 * step), None)
    if step is not None:
        return Range(1 - 2 * step, 1 + 2 * step, step)
    high = min(math.ceil(max(values)), _LARGEST_RATIO)
    return Range(0.0, float(max(high, 2)), 0.5 if high <= 2 else 1.0)


def _values(estimates: Iterable[Estimate]) -> list[float]:
    return [x for estimate in estimates for x in estimate[:3] if x is not None]


# Cells and rows


def estimate_cell(estimate: Estimate, scale: Scale) -> Cell:
    """Write an estimate, and its limits if it has any."""
    limits = scale.limits(estimate) if estimate.has_limits else ""
    return Cell(scale.with_unit(estimate), limits)


def difference_cells(difference: Difference, span: Range) -> list[Cell]:
    """Write a difference in points, its mark, and its adjusted p-value."""
    return [
        estimate_cell(difference.estimate, POINTS),
        Cell(bar=span.bar(difference.estimate)),
        Cell(difference.p_text),
    ]


def difference_heads(title: str, span: Range, request: Request) -> list[Head]:
    """Return the headings of these cells."""
    return [
        Head(f"{title} ({request.percent_level} limits)", "estimate"),
        plot_head(span.axis(POINTS, 0.0)),
        Head("p"),
    ]


def plot_head(axis: Axis) -> Head:
    """Return the heading of the marks of a forest plot."""
    return Head("Plot of the same numbers", "plot", axis)


def large_groups(chosen: Sequence[ColumnRows], rate: Rate) -> list[GroupFigures]:
    """Return the groups that a table shows and that are large enough to rank."""
    return [group for rows in chosen for group in rows.groups if not group.is_small(rate)]


def group_rows(
    chosen: Sequence[ColumnRows],
    rates: Iterable[Rate],
    cells: Callable[[GroupFigures], list[Cell]],
    difference: Callable[[GroupFigures], Difference] | None = None,
) -> list[RowGroup]:
    """Make the rows of a table, those of each column under its name.

    Small groups are those with too few rows for one of the rates.
    """
    rates, row_groups = list(rates), []
    for column_rows in chosen:
        rows = [
            TableRow(
                label(group.value),
                cells(group),
                is_small=any(group.is_small(rate) for rate in rates),
                differs=difference is not None and difference(group).is_significant,
            )
            for group in column_rows.groups
        ]
        if column_rows.more:
            blank = [Cell() for _ in rows[0].cells]
            rows.append(TableRow(column_rows.more, blank, is_small=True))
        row_groups.append(RowGroup(column_rows.title, rows))
    return row_groups


# Tables


def rate_table(
    model: ModelFigures,
    chosen: Sequence[ColumnRows],
    rate: Rate,
    caption: str,
    note: str,
    *,
    n_head: str = "Out of",
    chance: float | None = None,
) -> Table:
    """Show a rate of every group and of all rows; the solid line is that of all rows."""
    overall = model.overall.rates[rate]
    ranked = [group.rates[rate] for group in large_groups(chosen, rate)]
    span = share_range([*ranked, overall], chance)

    def cells(group: GroupFigures) -> list[Cell]:
        estimate = group.rates[rate]
        number = estimate_cell(estimate, PERCENT)
        return [Cell(count(estimate.n)), number, Cell(bar=span.bar(estimate))]

    title = "Score" if chance is not None else "Rate"
    heads = [
        Head("Group", "text"),
        Head(n_head),
        Head(f"{title} ({model.request.percent_level} limits)", "estimate"),
        plot_head(span.axis(PERCENT, overall.value, chance)),
    ]
    total = total_row(model, cells(model.overall))
    return Table(caption, heads, group_rows(chosen, [rate], cells), note, total)


def total_row(model: ModelFigures, cells: Sequence[Cell]) -> TableRow:
    """Return the row of all rows of the data together."""
    return TableRow(f"All {model.words.plural}", cells, is_total=True)


def difference_table(
    model: ModelFigures, chosen: Sequence[ColumnRows], rate: Rate, caption: str, note: str
) -> Table:
    """Show the difference of every group from all others of its column."""
    large = large_groups(chosen, rate)
    span = difference_range(group.differences[rate].estimate for group in large)

    def difference(group: GroupFigures) -> Difference:
        return group.differences[rate]

    def cells(group: GroupFigures) -> list[Cell]:
        return [Cell(count(group.rates[rate].n)), *difference_cells(difference(group), span)]

    columns = difference_heads("Points", span, model.request)
    heads = [Head("Group", "text"), Head("Out of"), *columns]
    return Table(caption, heads, group_rows(chosen, [rate], cells, difference), note)
