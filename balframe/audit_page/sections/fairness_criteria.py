"""By which named criteria the groups are alike."""

from collections.abc import Sequence

from balframe._text import capitalize_first, metric_title
from balframe.audit_page.document import (
    Block,
    Cell,
    Group,
    Head,
    Paragraph,
    Section,
    Table,
    TableRow,
)
from balframe.audit_page.far_apart import ends, room
from balframe.audit_page.measured_criteria import CriterionOf
from balframe.audit_page.numbers import APART, percent
from balframe.audit_page.request import Asked
from balframe.audit_page.results import Answer, Audited, LeftOut, OfModel, of_every_model
from balframe.audit_page.shown_groups import MOST_COLUMNS
from balframe.audit_page.tables import level_of
from balframe.audit_page.text import given, marked, text_of

QUESTION = "By which named criteria are the groups alike?"
INTRODUCED = (
    "Each criterion asks for one rate to be equal in all groups. Shown is by how many points the "
    "furthest groups are apart, leaving out groups too small to rank, with limits that allow for "
    "having picked them."
)
EXCLUDED = (
    "equal precision and equal error rates of both kinds exclude each other, unless all of those "
    "{called}, or none of them, were {happened}. Which of them should be equal is not a question "
    "that data answer."
)


def criteria(audited: Audited) -> Answer:
    """Say how far each named criterion is from being met."""
    asked = audited.asked
    if not asked.by:
        return LeftOut(QUESTION, "no columns of groups were given")
    if audited.models[0].counted.positive is None:
        return LeftOut(QUESTION, "the criteria are about two outcomes, and there are more")
    blocks, _ = of_every_model(audited, lambda model: (_blocks(model, asked), []))
    return Section("criteria", QUESTION, blocks)


def _blocks(model: OfModel, asked: Asked) -> list[Block]:
    return [Paragraph(INTRODUCED), Paragraph(exclusion(model, asked)), _table(model, asked)]


def exclusion(model: OfModel, asked: Asked) -> str:
    """Say whether the criteria exclude each other: only where prevalences are shown to differ."""
    prevalence = model.rates.named("prevalence")
    assert model.counted.positive is not None
    happened = asked.words.happened(model.counted.positive)
    called = asked.words.called(model.counted.positive)
    shown, open_ = [], []
    for column in model.columns[:MOST_COLUMNS]:
        found, by = column.extremes[prevalence], given(str(asked.by[column.number]))
        if found.is_shown:
            shown.append(f"by {by} {ends(column, found)}")
        elif found.apart.upper is not None:
            open_.append(f"by {by} {room(found)}")
    left = (
        f"In the share {happened}, {'; '.join(open_)}, so that it stays open whether the criteria "
        "exclude each other there."
        if open_
        else ""
    )
    if not shown:
        return left or "Too few groups are large enough to compare in the share of outcomes."
    said = (
        f"They cannot all be met: where the share {happened} differs between groups "
        f"({'; '.join(shown)}), {EXCLUDED.format(called=called, happened=happened)}"
    )
    return f"{said} {left}".rstrip()


def equal_in(one: CriterionOf) -> str:
    """Say what a criterion asks to be equal, in the words of the page."""
    if one.name == "equalized_odds":
        return f"the larger gap of two, here {one.rate.share}"
    return one.rate.share


def _table(model: OfModel, asked: Asked) -> Table:
    groups = [
        Group(asked.title_of(column.number), [_row(one) for one in found] or [_NONE])
        for column, found in zip(model.columns[:MOST_COLUMNS], model.criteria, strict=False)
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
        f"In brackets: {level_of(asked)} limits, for the largest of all differences. A lower limit "
        "of 0 means that no difference is shown.",
    )


_NONE = TableRow("All criteria", [Cell("too few groups to compare"), Cell()])


def _row(one: CriterionOf) -> TableRow:
    heading, under = capitalize_first(metric_title(one.name)), equal_in(one)
    if one.apart.value is None:
        cells = [Cell("too few groups to compare"), Cell()]
    else:
        between = [f"{percent(rate)} {marked(text_of(group))}" for group, rate in _ends(one)]
        cells = [
            Cell(APART.estimate(one.apart), APART.limits(one.apart)),
            Cell(", ".join(between)),
        ]
    return TableRow(heading, cells, under=under)


def _ends(one: CriterionOf) -> Sequence[tuple[object, float | None]]:
    return [one.lowest, one.highest]
