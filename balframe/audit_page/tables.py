"""Tables of a rate, or of the difference of a rate, by group, with a forest plot."""

from collections.abc import Sequence

from balframe.audit_page.document import Cell, Head, Table, TableRow
from balframe.audit_page.forest_marks import Range, around, around_zero
from balframe.audit_page.groups import ColumnOf, GroupOf
from balframe.audit_page.numbers import APART, PERCENT, POINTS, Estimate, count, p_value, percent
from balframe.audit_page.rates import Rate
from balframe.audit_page.request import Asked
from balframe.audit_page.results import OfModel
from balframe.audit_page.shown_groups import ShownColumn, groups_of, heading_of
from balframe.audit_page.text import sentence

PLOT = "Plot of the same numbers"


def level_of(asked: Asked) -> str:
    """Write the confidence level."""
    return f"{100 * asked.level:.6g}%"


def rate_table(
    model: OfModel,
    shown: Sequence[ShownColumn],
    asked: Asked,
    rate: Rate,
    caption: str,
    under: str,
    *,
    n_head: str = "Out of",
    chance: float | None = None,
) -> Table:
    """Show a rate of every group and of all rows; the solid line is that of all rows."""
    overall = model.overall.rates[rate]
    ranked = [
        group.rates[rate]
        for one in shown
        for group in one.groups
        if not group.is_small(rate, asked.min_support)
    ]
    span = around([*ranked, overall], chance)

    def row(column: ColumnOf, group: GroupOf) -> TableRow:
        is_small = group.is_small(rate, asked.min_support)
        return TableRow(heading_of(group), _cells(group.rates[rate], span), is_small=is_small)

    heads = [
        Head("Group", "text"),
        Head(n_head),
        Head(f"{'Score' if chance is not None else 'Rate'} ({level_of(asked)} limits)", "estimate"),
        Head(PLOT, "plot", span.axis(PERCENT, overall.value, chance)),
    ]
    total = TableRow(f"All {asked.words.many}", _cells(overall, span), is_total=True)
    return Table(caption, heads, groups_of(shown, asked, row), under, total)


def _cells(of: Estimate, span: Range) -> list[Cell]:
    limits = PERCENT.limits(of) if of.has_limits else ""
    return [Cell(count(of.n)), Cell(percent(of.value), limits), Cell(bar=span.bar(of))]


def difference_table(
    shown: Sequence[ShownColumn], asked: Asked, rate: Rate, caption: str, under: str
) -> Table:
    """Show the difference of every group from all others of its column."""
    span = around_zero(
        group.differences[rate].estimate
        for one in shown
        for group in one.groups
        if not group.is_small(rate, asked.min_support)
    )

    def row(column: ColumnOf, group: GroupOf) -> TableRow:
        difference = group.differences[rate]
        of = difference.estimate
        limits = APART.limits(of) if of.has_limits else ""
        return TableRow(
            heading_of(group),
            [
                Cell(count(group.rates[rate].n)),
                Cell(POINTS.estimate(of), limits),
                Cell(bar=span.bar(of)),
                Cell(p_value(difference.adjusted, asked.alpha)),
            ],
            is_small=group.is_small(rate, asked.min_support),
            differs=difference.is_shown(asked.alpha),
        )

    heads = [
        Head("Group", "text"),
        Head("Out of"),
        Head(f"Points ({level_of(asked)} limits)", "estimate"),
        Head(PLOT, "plot", span.axis(POINTS, 0.0)),
        Head("p"),
    ]
    return Table(caption, heads, groups_of(shown, asked, row), under)


def caption_of(rate: Rate) -> str:
    """Write the caption of a table on an error."""
    return sentence(rate.caption)
