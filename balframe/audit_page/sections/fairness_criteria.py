"""By which named criteria the groups are equal."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

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
from balframe.audit_page.groups import ColumnFigures, Extremes
from balframe.audit_page.numbers import DISTANCE, Estimate, percent
from balframe.audit_page.rates import Rate
from balframe.audit_page.results import NO_GROUPS, Audit, LeftOut, ModelFigures, report_models
from balframe.audit_page.text import capitalize, quote

QUESTION = "By which named criteria are the groups equal?"
INTRODUCTION = (
    "Each criterion asks for one rate to be equal in all groups. The table shows by how many "
    "points the furthest groups are apart, among those large enough to compare. A confidence "
    "interval that begins at 0 means that no difference is established. Where a section above "
    "compares the same rate, the test is the same."
)
EXCLUSION = (
    "equal precision and equal error rates of both kinds exclude each other, unless all of those "
    "{predicted}, or none of them, were {happened}. Which of them should be equal is not a "
    "question that data can answer."
)
_TOO_FEW = "too few groups to compare"


@dataclass(frozen=True, slots=True)
class Criterion:
    """A criterion, the metrics of the rates whose groups it compares, and what it asks for.

    The difference of several is the largest of theirs.
    """

    name: str
    metrics: Sequence[str]
    share: str


def criteria(model: ModelFigures) -> list[Criterion]:
    """Return the criteria on rates that the page compares groups in.

    Selection rates are compared in a section of their own, on everybody with a prediction.
    """
    shares = {rate.metric: rate.share for rate in model.rates.all}
    errors = ["false_positive_rate", "false_negative_rate"]
    return [
        Criterion("equal_opportunity", errors[1:], shares["recall"]),
        Criterion("equalized_odds", errors, f"both {shares['recall']}, and {shares[errors[0]]}"),
        Criterion("predictive_parity", ["precision"], shares["precision"]),
        Criterion("accuracy_equality", ["accuracy"], shares["accuracy"]),
    ]


def section(audit: Audit) -> Section | LeftOut:
    """State how far each named criterion is from being met."""
    if not audit.request.by:
        return LeftOut(QUESTION, NO_GROUPS)
    if not audit.models[0].cells.is_binary:
        return LeftOut(QUESTION, "the criteria are about two outcomes, and there are more")
    blocks, brief = report_models(audit, lambda model: (_blocks(model), precision_summary(model)))
    return Section("criteria", QUESTION, blocks, brief)


def precision_summary(model: ModelFigures) -> list[str]:
    """State in brief how far apart the groups of each column are in the precision."""
    rate = model.rates.by_metric("precision")
    parts = []
    for column in model.columns:
        extremes, name = column.extremes(rate), model.request.column(column.number)
        if extremes.distance.upper is None:
            continue
        text = extremes.not_significant
        if extremes.is_significant:
            text = f"{extremes.distance_text}, {extremes.between}"
        parts.append(f"by {name}, {text}")
    if not parts:
        return []
    return [f"How far apart are groups in the share {rate.share}? {capitalize('; '.join(parts))}."]


def _blocks(model: ModelFigures) -> list[Block]:
    return [*map(Paragraph, [INTRODUCTION, exclusion(model)]), _table(model)]


def exclusion(model: ModelFigures) -> str:
    """State whether the criteria exclude each other, which only different prevalences show."""
    prevalence = model.rates.by_metric("prevalence")
    different, undecided = [], []
    for column in model.columns:
        extremes = column.extremes(prevalence)
        by = f"by {model.request.column(column.number)}"
        if extremes.is_significant:
            different.append(f"{by}, {extremes.between}")
        elif extremes.distance.upper is not None:
            undecided.append(f"{by}, {extremes.not_significant}")
    end = (
        f"In the share {model.happened}, {'; '.join(undecided)}, so it is not decided whether the "
        "criteria exclude each other there. They do where groups differ in this share."
        if undecided
        else ""
    )
    if not different:
        return end or "Too few groups are large enough to compare in the share of outcomes."
    start = (
        f"They cannot all be met: where the share {model.happened} differs between groups "
        f"({'; '.join(different)}), "
        f"{EXCLUSION.format(predicted=model.predicted, happened=model.happened)}"
    )
    return f"{start} {end}".rstrip()


def _table(model: ModelFigures) -> Table:
    heads = [
        Head("Criterion, and what would be equal", "text"),
        Head("Points apart (adjusted interval)", "estimate"),
        Head("Between", "text"),
    ]
    groups = [
        RowGroup(
            model.request.column_title(column.number),
            [_row(model, column, criterion) for criterion in criteria(model)],
        )
        for column in model.columns
    ]
    return Table(
        "Named criteria",
        heads,
        groups,
        "In brackets: confidence intervals that allow for all comparisons on this page.",
    )


class Furthest(NamedTuple):
    """How far apart the groups of a column are by a criterion, and the rate that decides it."""

    distance: Estimate
    rate: Rate
    extremes: Extremes

    @property
    def ends(self) -> list[tuple[float | None, Any]]:
        """Return the lowest and the highest share that would be equal, each with its group."""
        extremes = self.extremes
        ends = [(extremes.low, extremes.lowest), (extremes.high, extremes.highest)]
        if self.rate.metric == "false_negative_rate":  # whose complement would be equal
            ends = [(None if x is None else 1 - x, value) for x, value in reversed(ends)]
        return ends


def furthest(model: ModelFigures, column: ColumnFigures, criterion: Criterion) -> Furthest | None:
    """Return how far apart groups are by a criterion; None if too few are compared in a rate."""
    rates = [model.rates.by_metric(metric) for metric in criterion.metrics]
    compared = {
        rate: extremes
        for rate in rates
        if (extremes := column.extremes(rate)).distance.upper is not None
    }
    if len(compared) < len(rates):
        return None
    rate = max(compared, key=lambda rate: compared[rate].distance.value or 0.0)
    distance = compared[rate].distance._replace(
        lower=max(extremes.distance.lower or 0.0 for extremes in compared.values()),
        upper=max(extremes.distance.upper or 0.0 for extremes in compared.values()),
    )
    return Furthest(distance, rate, compared[rate])


def _row(model: ModelFigures, column: ColumnFigures, criterion: Criterion) -> TableRow:
    cells = [Cell(_TOO_FEW), Cell()]
    apart = furthest(model, column, criterion)
    if apart is not None:
        numbers = Cell(DISTANCE.estimate(apart.distance), DISTANCE.limits(apart.distance))
        cells = [numbers, Cell(_between(apart))]
    name = capitalize(metric_title(criterion.name))
    return TableRow(name, cells, note=criterion.share)


def _between(apart: Furthest) -> str:
    """Name the groups furthest apart, each with the rate that would be equal."""
    return ", ".join(f"{percent(x)} {quote(value)}" for x, value in apart.ends)
