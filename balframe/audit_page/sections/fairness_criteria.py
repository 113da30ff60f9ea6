"""By which named criteria the groups are equal."""

from collections.abc import Sequence
from dataclasses import dataclass

from balframe._text import metric_title
from balframe.audit_page.document import (
    Block,
    Cell,
    Head,
    Paragraph,
    RowGroup,
    Section,
    Table,
    TableRow,
)
from balframe.audit_page.groups import MAX_COLUMNS, ColumnFigures, leave_out_small
from balframe.audit_page.numbers import DISTANCE, Estimate, percent
from balframe.audit_page.queries import Row, by_name
from balframe.audit_page.results import NO_GROUPS, Audit, LeftOut, ModelFigures, report_models
from balframe.audit_page.text import capitalize, label
from balframe.methods.comparisons.fairness import fairness

QUESTION = "By which named criteria are the groups equal?"
INTRODUCTION = (
    "Each criterion asks for one rate to be equal in all groups. Shown is by how many points the "
    "furthest groups are apart, leaving out groups too small to rank, with limits that allow for "
    "having picked them."
)
EXCLUSION = (
    "equal precision and equal error rates of both kinds exclude each other, unless all of those "
    "{called}, or none of them, were {happened}. Which of them should be equal is not a question "
    "that data answer."
)
CRITERIA = (  # those on shares, whose differences are points
    "demographic_parity",
    "equal_opportunity",
    "equalized_odds",
    "predictive_parity",
    "accuracy_equality",
)
_TOO_FEW = "too few groups to compare"


@dataclass(frozen=True, slots=True)
class ColumnCriteria:
    """The rows of `fairness` for the groups of a by-column that are large enough to rank."""

    column: int
    rows: Sequence[Row]


def figures(audit: Audit) -> list[list[ColumnCriteria]]:
    """Measure the criteria in the by-columns, for each model of two labels."""
    return [
        [_criteria(model, column) for column in model.columns[:MAX_COLUMNS]]
        if model.cells.is_binary
        else []
        for model in audit.models
    ]


def _criteria(model: ModelFigures, column: ColumnFigures) -> ColumnCriteria:
    cells = model.cells
    rows = cells.query(
        fairness,
        leave_out_small(cells, column.number, column.groups),
        by=by_name(column.number),
        pos_label=cells.positive,
        min_support=cells.request.min_support,
        level=cells.request.level,
    )
    return ColumnCriteria(
        column.number,
        [row for row in rows if row["measure"] == "difference" and row["criterion"] in CRITERIA],
    )


def section(audit: Audit, criteria: Sequence[Sequence[ColumnCriteria]]) -> Section | LeftOut:
    """State how far each named criterion is from being met."""
    if not audit.request.by:
        return LeftOut(QUESTION, NO_GROUPS)
    if not audit.models[0].cells.is_binary:
        return LeftOut(QUESTION, "the criteria are about two outcomes, and there are more")
    blocks, _ = report_models(audit, lambda model, own: (_blocks(model, own), []), criteria)
    return Section("criteria", QUESTION, blocks)


def _blocks(model: ModelFigures, criteria: Sequence[ColumnCriteria]) -> list[Block]:
    sentences = [INTRODUCTION, exclusion(model)]
    return [*map(Paragraph, sentences), _table(model, criteria)]


def exclusion(model: ModelFigures) -> str:
    """State whether the criteria exclude each other, which only different prevalences show."""
    prevalence = model.rates.by_metric("prevalence")
    different, undecided = [], []
    for column in model.columns[:MAX_COLUMNS]:
        extremes, by = column.extremes[prevalence], f"by {model.request.column(column.number)}"
        if extremes.is_significant:
            different.append(f"{by} {extremes.between}")
        elif extremes.distance.upper is not None:
            undecided.append(f"{by} {extremes.not_significant}")
    end = (
        f"In the share {model.happened}, {'; '.join(undecided)}, so that it stays open whether the "
        "criteria exclude each other there."
        if undecided
        else ""
    )
    if not different:
        return end or "Too few groups are large enough to compare in the share of outcomes."
    start = (
        f"They cannot all be met: where the share {model.happened} differs between groups "
        f"({'; '.join(different)}), "
        f"{EXCLUSION.format(called=model.called, happened=model.happened)}"
    )
    return f"{start} {end}".rstrip()


def _table(model: ModelFigures, criteria: Sequence[ColumnCriteria]) -> Table:
    none = TableRow("All criteria", [Cell(_TOO_FEW), Cell()])
    groups = [
        RowGroup(
            model.request.column_title(by_column.column),
            [_row(model, by_column.column, row) for row in by_column.rows] or [none],
        )
        for by_column in criteria
    ]
    heads = [
        Head("Criterion, and what would be equal", "text"),
        Head("Points apart", "estimate"),
        Head("Between", "text"),
    ]
    return Table(
        "Named criteria",
        heads,
        groups,
        f"In brackets: {model.request.percent_level} limits, for the largest of all differences. "
        "A lower limit of 0 means that no difference is shown.",
    )


def _row(model: ModelFigures, column: int, row: Row) -> TableRow:
    distance = Estimate.from_row(row, "estimate", limits="", n="n_segments")
    if not distance.is_defined:
        cells = [Cell(_TOO_FEW), Cell()]
    else:
        by = by_name(column)
        between = [
            f"{percent(row[end])} {label(row[f'{end}_{by}'])}" for end in ("lowest", "highest")
        ]
        numbers = Cell(DISTANCE.estimate(distance), DISTANCE.limits(distance))
        cells = [numbers, Cell(", ".join(between))]
    return TableRow(capitalize(metric_title(row["criterion"])), cells, note=equal_rate(model, row))


def equal_rate(model: ModelFigures, row: Row) -> str:
    """State what a criterion asks to be equal, in the words of the page."""
    share = model.rates.by_metric(row["metric"]).share
    is_of_two = row["criterion"] == "equalized_odds"
    return f"the larger gap of two, here {share}" if is_of_two else share
