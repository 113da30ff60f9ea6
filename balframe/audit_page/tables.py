"""Tables of groups that sections share: which groups they show, their rows, and forest plots."""

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from balframe.audit_page.disclosure import WITHHELD
from balframe.audit_page.document import (
    Axis,
    Bar,
    Block,
    Cell,
    Head,
    RowGroup,
    SideBySide,
    Table,
    TableRow,
)
from balframe.audit_page.groups import MAX_COLUMNS, ColumnFigures, Difference, GroupFigures
from balframe.audit_page.numbers import PERCENT, POINTS, Estimate, Scale, count
from balframe.audit_page.rates import Rate
from balframe.audit_page.request import Request
from balframe.audit_page.results import ModelFigures
from balframe.audit_page.text import caller_text, capitalize, label, plural

NOT_COMPARED_TEXT = "not compared"
_STEPS = (0.01, 0.02, 0.05, 0.1, 0.2, 0.25, 0.5, 1.0)  # between ticks
_RATIO_STEPS = (0.05, 0.1, 0.25, 0.5)
_LARGEST_RATIO = 4  # on an axis
_MAX_TICKS = 5

# Which groups and columns a table shows


def groups_not_shown(column: ColumnFigures, model: ModelFigures) -> str:
    """Count the groups of a column that no table shows; empty if all are shown."""
    n_more = len(column.groups) - len(column.largest_groups)
    if not n_more:
        return ""
    n = sum(group.n for group in column.groups) - sum(group.n for group in column.largest_groups)
    more, least = plural(n_more, "more group", "more groups"), model.request.suppress
    return more if least is not None and n < least else f"{more}, {model.words.rows(n)}"


def columns_not_shown(request: Request) -> str:
    """State which by-columns are not examined on their own; empty if all are."""
    names = [*map(caller_text, request.by[MAX_COLUMNS:])]
    if not names:
        return ""
    n_more = len(names) - MAX_COLUMNS
    listed = ", ".join(names[:MAX_COLUMNS]) + (f" and {count(n_more)} more" if n_more > 0 else "")
    columns = "more column is" if len(names) == 1 else "more columns are"
    return (
        f"{count(len(names))} {columns} only searched for combinations of groups, and not shown on "
        f"{'its' if len(names) == 1 else 'their'} own: {listed}."
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


def difference_cells(difference: Difference | None, span: Range) -> list[Cell]:
    """Write a difference in points, its mark, and its adjusted p-value."""
    if difference is None:
        return [Cell(NOT_COMPARED_TEXT), Cell(), Cell()]
    return [
        estimate_cell(difference.estimate, POINTS),
        Cell(bar=span.bar(difference.estimate)),
        Cell(difference.p_text),
    ]


def difference_heads(title: str, span: Range) -> list[Head]:
    """Return the headings of these cells."""
    return [
        Head(f"{title} (adjusted interval)", "estimate"),
        plot_head(span.axis(POINTS, 0.0)),
        Head("p"),
    ]


def plot_head(axis: Axis) -> Head:
    """Return the heading of the marks of a forest plot."""
    return Head("Plot of the same numbers", "plot", axis)


def large_groups(model: ModelFigures, rate: Rate) -> list[GroupFigures]:
    """Return the groups that are large enough to compare in a rate."""
    return [group for column in model.columns for group in column.compared(rate)]


def group_rows(
    model: ModelFigures,
    rates: Iterable[Rate],
    cells: Callable[[GroupFigures], list[Cell]],
    n_column: int | None = None,
) -> list[RowGroup]:
    """Make the rows of a table, those of each column under its name.

    Small groups are those with too few rows for one of the rates. `n_column` is the position of the
    sizes of groups, if the table has them.
    """
    rates = list(rates)

    def row(group: GroupFigures) -> TableRow:
        if group.is_withheld:
            return withheld_row(group, len(cells(group)), n_column)
        is_small = any(group.is_small(rate) for rate in rates)
        return TableRow(label(group.value), cells(group), is_small=is_small)

    return column_rows(model, lambda column: [*map(row, column.largest_groups)])


def column_rows(
    model: ModelFigures, rows_of: Callable[[ColumnFigures], Sequence[TableRow]]
) -> list[RowGroup]:
    """Put the rows of each column under its name, and count the groups that are not shown."""
    row_groups = []
    for column in model.columns:
        rows = list(rows_of(column))
        if more := groups_not_shown(column, model):
            rows.append(TableRow(more, [Cell() for _ in rows[0].cells], is_small=True))
        row_groups.append(RowGroup(model.request.column_title(column.number), rows))
    return row_groups


def compared_groups(
    column: ColumnFigures, rate: Rate, differences: Mapping[Any, object]
) -> list[tuple[GroupFigures, str]]:
    """Return the groups of a table of differences, with their headings.

    Of two that are compared with each other, it is the one that has the difference, whose heading
    names both. Small groups have rows of their own.
    """
    compared = column.compared(rate)
    groups = []
    for group in column.largest_groups:
        heading, has_difference = label(group.value), group.value in differences
        if len(compared) == 2 and has_difference:
            (other,) = (other for other in compared if other is not group)
            heading = f"{heading} less {label(other.value)}"
        if len(differences) != 1 or has_difference or group.is_small(rate):
            groups.append((group, heading))
    return groups


def withheld_row(group: GroupFigures, n_cells: int, n_column: int | None = None) -> TableRow:
    """Return the row of a group whose figures are withheld, with its size where a column has it."""
    cells = [
        Cell(group.n_text if i == n_column else WITHHELD if i == (n_column is not None) else "")
        for i in range(n_cells)
    ]
    return TableRow(label(group.value), cells, is_small=True)


# Tables


def side_by_side(tables: Sequence[Table]) -> list[Block]:
    """Put tables beside each other in pairs; a single one has the whole width."""
    if len(tables) == 1:
        return [*tables]
    return [SideBySide(tables[i : i + 2]) for i in range(0, len(tables), 2)]


def out_of(model: ModelFigures) -> str:
    """Return the heading of the numbers of rows that rates are of, or are estimated from."""
    return "Known outcomes" if model.request.is_corrected else "Out of"


def rate_table(
    model: ModelFigures,
    rate: Rate,
    caption: str,
    note: str,
    *,
    n_head: str | None = None,
    chance: float | None = None,
) -> Table:
    """Show a rate of every group and of all rows; the solid line is that of all rows."""
    overall = model.overall.rates[rate]
    span = share_range(
        [*(group.rates[rate] for group in large_groups(model, rate)), overall], chance
    )

    def cells(group: GroupFigures) -> list[Cell]:
        estimate = group.rates[rate]
        number = estimate_cell(estimate, PERCENT)
        return [Cell(count(estimate.n)), number, Cell(bar=span.bar(estimate))]

    title = capitalize(rate.term) if chance is not None else "Rate"
    heads = [
        Head("Group", "text"),
        Head(out_of(model) if n_head is None else n_head),
        Head(f"{title} ({model.request.percent_level} interval)", "estimate"),
        plot_head(span.axis(PERCENT, overall.value, chance)),
    ]
    total = total_row(model, cells(model.overall))
    return Table(caption, heads, group_rows(model, [rate], cells), note, total)


def total_row(model: ModelFigures, cells: Sequence[Cell]) -> TableRow:
    """Return the row of all rows of the data together."""
    return TableRow(f"All {model.words.plural}", cells, is_total=True)


def difference_table(model: ModelFigures, rate: Rate, caption: str, note: str) -> Table:
    """Show the difference of every group from all others; of two groups, that of one of them."""
    span = difference_range(
        difference.estimate
        for column in model.columns
        for difference in column.comparisons[rate].differences.values()
    )
    heads = [Head("Group", "text"), Head(out_of(model)), *difference_heads("Points", span)]

    def rows(column: ColumnFigures) -> list[TableRow]:
        differences = column.comparisons[rate].differences
        return [
            _difference_row(group, heading, differences.get(group.value), rate, span)
            for group, heading in compared_groups(column, rate, differences)
        ]

    return Table(caption, heads, column_rows(model, rows), note)


def _difference_row(
    group: GroupFigures, heading: str, difference: Difference | None, rate: Rate, span: Range
) -> TableRow:
    if group.is_withheld:
        return withheld_row(group, len(difference_cells(None, span)) + 1)
    return TableRow(
        heading,
        [Cell(count(group.rates[rate].n)), *difference_cells(difference, span)],
        is_small=difference is None,
        differs=difference is not None and difference.is_significant,
    )
