"""In which groups the pass rate is higher or lower."""

from balframe.audit_page.document import Block, Paragraph, Section
from balframe.audit_page.groups import ColumnFigures, possible_difference
from balframe.audit_page.numbers import DISTANCE, points
from balframe.audit_page.results import NO_GROUPS, Audit, LeftOut, ModelFigures, report_models
from balframe.audit_page.sections.accuracy_by_group import differing, ranking, small_groups
from balframe.audit_page.sections.errors_by_group import INTERVALS, column_distance
from balframe.audit_page.tables import large_groups, rate_table

QUESTION = "Is the pass rate the same in all groups?"


def section(audit: Audit) -> Section | LeftOut:
    """State in which groups the pass rate is higher or lower."""
    if not audit.request.by:
        return LeftOut(QUESTION, NO_GROUPS)
    blocks, brief = report_models(audit, lambda model: (_blocks(model), _summary(model)))
    return Section("whom", QUESTION, blocks, brief)


def _summary(model: ModelFigures) -> list[str]:
    return [
        column_summary(model, column, model.request.column_title(column.number))
        for column in model.columns
    ]


def column_summary(model: ModelFigures, column: ColumnFigures, title: str) -> str:
    """State how far apart the groups of a column are."""
    rate = model.rates.main
    extremes = column.extremes(rate)
    distance = extremes.distance
    if not extremes.is_compared or distance.upper is None:
        return f"{title}: fewer than two groups are large enough to compare."
    if not extremes.is_significant:
        return (
            f"{title}: no difference in {rate.term} is established; "
            f"{possible_difference(distance.upper)}."
        )
    return (
        f"{title}: {rate.term} {extremes.between}, {points(distance.value)} apart "
        f"({DISTANCE.limits(distance)})."
    )


def _blocks(model: ModelFigures) -> list[Block]:
    request, rate = model.request, model.rates.main
    sentences = [
        f"{ranking(large_groups(model, rate), rate, request)} {differing(model, rate)}".rstrip(),
        distances(model),
        small_groups(model, rate),
    ]
    table = rate_table(
        model,
        rate,
        "Pass rate of each group",
        f"Solid line: all {request.words.plural}. The bar is the {request.percent_level} "
        "confidence interval of each row alone. Hollow: too few to compare.",
    )
    return [
        *(Paragraph(text) for text in sentences if text),
        Paragraph(INTERVALS, is_note=True),
        table,
    ]


def distances(model: ModelFigures) -> str:
    """State how far apart the groups of each column are."""
    rate = model.rates.main
    sentences = [
        column_distance(model.request.column(column.number), column.extremes(rate))
        for column in model.columns
    ]
    return f"How far apart are the groups in {rate.term}? {' '.join(sentences)}"
