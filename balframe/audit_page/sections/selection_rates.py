"""Who is selected, and how often beside the group that is selected most often."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

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
from balframe.audit_page.groups import MAX_COLUMNS, Difference
from balframe.audit_page.numbers import (
    PERCENT,
    RATIO,
    Estimate,
    bounded_scale,
    count,
)
from balframe.audit_page.queries import CALL, N, Row, by_name, query
from balframe.audit_page.request import Request
from balframe.audit_page.results import NO_GROUPS, Audit, LeftOut, ModelFigures, report_models
from balframe.audit_page.tables import MAX_GROUPS, Range, estimate_cell, largest, plot_head
from balframe.audit_page.text import capitalize, join_words, label, quote, spell_number
from balframe.errors import InvalidInputError
from balframe.methods.impact.impact import impact

QUESTION = "Who is called how often, beside the group called most often?"
_AXIS = Range(0.0, 1.2, 0.2)


class Category(NamedTuple):
    """A group with its row of `impact`; the difference is that of the test on its ratio."""

    value: Any
    row: Row
    difference: Difference

    @property
    def ratio(self) -> Estimate:
        """Return how often it is selected, as a multiple of the most selected one."""
        return self.difference.estimate

    @property
    def is_compared(self) -> bool:
        """Return whether it is neither too small nor unknown."""
        return bool(self.row["role"] == "compared")


@dataclass(frozen=True, slots=True)
class ImpactRatios:
    """The categories of a by-column, the one that is selected most often, and a bound."""

    column: int
    categories: Sequence[Category]
    highest: Any
    bound: float


def figures(audit: Audit) -> list[list[ImpactRatios]]:
    """Measure impact ratios in the by-columns in which there are any, for each model."""
    ratios = []
    for model in audit.models:
        numbers = range(len(model.columns))[:MAX_COLUMNS] if model.cells.is_binary else ()
        by_column = [_impact_ratios(model, number) for number in numbers]
        ratios.append([column for column in by_column if column is not None])
    return ratios


def _impact_ratios(model: ModelFigures, column: int) -> ImpactRatios | None:
    by, cells = by_name(column), model.cells
    frame, labels = cells.of_column(column), list(cells.labels)
    if cells.selections is not None:
        frame = cells.selections
        labels += [call for call in frame[CALL].unique().sort() if call not in labels]
    try:
        rows = query(
            impact,
            frame,
            CALL,
            by=by,
            counts=N,
            labels=labels,
            pos_label=cells.positive,
            adjust=None,
            level=cells.request.level,
        )
    except InvalidInputError:  # nobody is selected, or there is one category
        return None
    categories = [
        Category(
            row[by],
            row,
            Difference(Estimate.from_row(row, "impact_ratio", limits=""), row["p_value"]),
        )
        for row in rows
    ]
    compared = next((category.row for category in categories if category.is_compared), None)
    if compared is None:
        return None
    return ImpactRatios(column, categories, compared[f"highest_{by}"], compared["bound"])


def differences(ratios: Sequence[Sequence[ImpactRatios]]) -> Iterator[Difference]:
    """Return the differences whose p-values are adjusted with all others."""
    for model_ratios in ratios:
        for column in model_ratios:
            yield from (category.difference for category in column.categories)


def section(audit: Audit, ratios: Sequence[Sequence[ImpactRatios]]) -> Section | LeftOut:
    """State how often each group is called, beside the group that is called most often."""
    if not audit.request.by:
        return LeftOut(QUESTION, NO_GROUPS)
    if not audit.models[0].cells.is_binary:
        return LeftOut(QUESTION, "ratios are about one of two calls, and there are more")
    if not any(ratios):
        return LeftOut(
            QUESTION, "no two groups could be compared: nobody was called, or all are of one group"
        )
    blocks, brief = report_models(
        audit,
        lambda model, own: (_blocks(model, own), summary(model, own)),
        ratios,
    )
    return Section("selections", QUESTION, blocks, brief)


def summary(model: ModelFigures, ratios: Sequence[ImpactRatios]) -> list[str]:
    """Name the group with the lowest ratio of all columns."""
    others = [
        (column, category)
        for column in ratios
        for category in column.categories
        if category.ratio.is_defined and category.value != column.highest
    ]
    if not others:
        return []
    request = model.request
    column, lowest = min(others, key=lambda pair: pair[1].ratio.value or 0.0)
    is_significant = lowest.difference.is_significant
    return [
        f"The lowest ratio: {quote(lowest.value)} ({request.column(column.column)}) had been "
        f"{model.called} {bounded_scale(column.bound).with_limits(lowest.ratio)} times as often as "
        f"{quote(column.highest)}{'' if is_significant else '; a difference is not shown'}."
    ]


def bound_comparison(column: ImpactRatios) -> str:
    """Count the ratios whose limits are below the bound, above it, and on both sides."""
    bound = f"{column.bound:g}"
    limits = [
        (category.ratio.lower or 0.0, category.ratio.upper or 0.0)
        for category in column.categories
        if category.ratio.has_limits and category.value != column.highest
    ]
    n_below = sum(upper < column.bound for _, upper in limits)
    n_above = sum(lower >= column.bound for lower, _ in limits)
    counts = {
        f"lie below {bound}": n_below,
        f"lie at or above {bound}": n_above,
        f"include {bound}": len(limits) - n_below - n_above,
    }
    positive = [(what, n) for what, n in counts.items() if n]
    if not positive:
        return "no ratio has limits."
    (what, n), *others = positive
    parts = [f"of {spell_number(n)} {'ratio' if n == 1 else 'ratios'} {what}"]
    parts += [f"of {spell_number(n)} {what}" for what, n in others]
    return f"the limits {join_words(parts)}."


def _blocks(model: ModelFigures, ratios: Sequence[ImpactRatios]) -> list[Block]:
    if not ratios:
        return [
            Paragraph("Nobody was called, or all are of one group: there is nothing to compare.")
        ]
    sentences = [
        f"How often had the {model.words.plural} of a group been {model.called}, as a multiple "
        "of the group of the same column for which it is highest? A ratio of 1 means as often. No "
        "outcome is needed for this, so that it does not say whether the calls are right."
        f"{_only_selected(model)}",
        *(
            f"{model.request.column_title(column.column)}: {bound_comparison(column)}"
            for column in ratios
        ),
    ]
    return [*map(Paragraph, sentences), _table(ratios, model.request)]


def _only_selected(model: ModelFigures) -> str:
    """Return a sentence on the rows that only this section counts, if there are any."""
    n = model.cells.n_only_selected
    if not n:
        return ""
    missing = "outcome or score" if model.scores else "outcome"
    counted = "is counted" if n == 1 else "are counted"
    return f" {capitalize(model.words.rows(n))} without {missing} {counted} here too."


def _table(ratios: Sequence[ImpactRatios], request: Request) -> Table:
    bound = ratios[0].bound
    heads = [
        Head("Group", "text"),
        Head("Called"),
        Head("Of all"),
        Head(f"Share ({request.percent_level} limits)", "estimate"),
        Head("Ratio (limits)", "estimate"),
        plot_head(_AXIS.axis(RATIO, 1.0, bound)),
        Head("p"),
    ]
    groups = [
        RowGroup(
            request.column_title(column.column),
            [
                _row(category, column)
                for category in largest(
                    column.categories, MAX_GROUPS, lambda category: category.row["n"]
                )
            ],
        )
        for column in ratios
    ]
    return Table(
        "Share called, and its ratio to the highest",
        heads,
        groups,
        f"Solid line: as often as the highest. Dashed: {bound:g} of it, a bound that some rules "
        "name. Limits of each row alone, which allow for having picked the highest; p is adjusted "
        f"with all others on this page. Groups with less than 2% of all "
        f"{request.words.plural}, or of unknown value, have no ratio.",
    )


def _row(category: Category, column: ImpactRatios) -> TableRow:
    row, ratio = category.row, category.ratio
    is_highest = category.is_compared and category.value == column.highest
    ratio_cell = estimate_cell(ratio, bounded_scale(column.bound))
    if not ratio.is_defined:
        ratio_cell = Cell("\N{EN DASH}", ratio_cell.limits)
    elif is_highest:
        ratio_cell = Cell(ratio_cell.text)
    return TableRow(
        label(category.value),
        [
            Cell(count(row["n_selected"])),
            Cell(count(row["n"])),
            estimate_cell(Estimate.from_row(row, "rate"), PERCENT),
            ratio_cell,
            Cell(bar=_AXIS.bar(ratio)),
            Cell(category.difference.p_text),
        ],
        is_small=not category.is_compared,
        differs=category.difference.is_significant,
    )
