"""Who is selected, and how often beside the group that is selected most often."""

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
from balframe.audit_page.forest_marks import Range
from balframe.audit_page.measured_criteria import Selected, Selections
from balframe.audit_page.numbers import PERCENT, RATIO, Estimate, Scale, count, p_value, percent
from balframe.audit_page.request import Asked
from balframe.audit_page.results import Answer, Audited, LeftOut, OfModel, of_every_model
from balframe.audit_page.shown_groups import MOST_COLUMNS
from balframe.audit_page.tables import PLOT, level_of
from balframe.audit_page.text import given, in_words, marked, name, text_of, together

QUESTION = "Who is called how often, beside the group called most often?"
_MOST_GROUPS = 20
_AXIS = Range(0.0, 1.2, 0.2)


def selections(audited: Audited) -> Answer:
    """Say how often each group is called, beside the group that is called most often."""
    asked = audited.asked
    if not asked.by:
        return LeftOut(QUESTION, "no columns of groups were given")
    if audited.models[0].counted.positive is None:
        return LeftOut(QUESTION, "ratios are about one of two calls, and there are more")
    if not any(one is not None for model in audited.models for one in model.selections):
        return LeftOut(
            QUESTION, "no two groups could be compared: nobody was called, or all are of one group"
        )
    blocks, brief = of_every_model(
        audited, lambda model: (_blocks(model, asked), in_brief(model, asked))
    )
    return Section("selections", QUESTION, blocks, brief)


def in_brief(model: OfModel, asked: Asked) -> list[str]:
    """Name the group with the lowest ratio of all columns, and count those below the bound."""
    found = [one for one in model.selections[:MOST_COLUMNS] if one is not None]
    ratios = [
        (selection, one)
        for selection in found
        for one in selection.categories
        if one.ratio.value is not None and one.value != selection.highest
    ]
    if not ratios:
        return []
    selection, lowest = min(ratios, key=lambda one: one[1].ratio.value or 0.0)
    return [f"The lowest ratio: {how_often(lowest, selection, model, asked)}."]


def how_often(one: Selected, selection: Selections, model: OfModel, asked: Asked) -> str:
    """Say how often a group is called beside the highest: `0.36 times as often as ...`."""
    assert model.counted.positive is not None
    called = asked.words.called(model.counted.positive)
    column = given(str(asked.by[selection.column]))
    shown = "" if one.difference.is_shown(asked.alpha) else "; a difference is not shown"
    return (
        f"{name(one.value)} ({column}) had been {called} "
        f"{written(one.ratio, selection.bound)} times as often as {name(selection.highest)}{shown}"
    )


def written(ratio: Estimate, bound: float) -> str:
    """Write a ratio with its limits, none rounded onto 1 or the bound."""
    return Scale(1.0, 2, (0.0, 1.0, bound)).written(ratio)


def beside_bound(selection: Selections) -> str:
    """Count the ratios whose limits are below the bound, above it, and on both sides."""
    compared = [
        one
        for one in selection.categories
        if one.ratio.has_limits and one.value != selection.highest
    ]
    below = [one for one in compared if (one.ratio.upper or 0.0) < selection.bound]
    above = [one for one in compared if (one.ratio.lower or 0.0) >= selection.bound]
    n_open = len(compared) - len(below) - len(above)
    where = {
        f"lie below {selection.bound:g}": len(below),
        f"lie at or above {selection.bound:g}": len(above),
        f"include {selection.bound:g}": n_open,
    }
    counted = [(what, n) for what, n in where.items() if n]
    if not counted:
        return "no ratio has limits."
    nouns = ["ratio" if counted[0][1] == 1 else "ratios", *[""] * len(counted)]
    said = [
        f"of {in_words(n)} {noun} {what}".replace("  ", " ")
        for noun, (what, n) in zip(nouns, counted, strict=False)
    ]
    return f"the limits {together(said)}."


def _blocks(model: OfModel, asked: Asked) -> list[Block]:
    assert model.counted.positive is not None
    called = asked.words.called(model.counted.positive)
    found = [one for one in model.selections[:MOST_COLUMNS] if one is not None]
    if not found:
        return [
            Paragraph("Nobody was called, or all are of one group: there is nothing to compare.")
        ]
    said = [
        f"How often had the {asked.words.many} of a group been {called}, as a multiple of the "
        "group of the same column for which it is highest? A ratio of 1 means as often. No outcome "
        "is needed for this, so that it does not say whether the calls are right.",
        *(f"{asked.title_of(one.column)}: {beside_bound(one)}" for one in found),
    ]
    return [*map(Paragraph, said), _table(model, found, asked)]


def _table(model: OfModel, found: list[Selections], asked: Asked) -> Table:
    heads = [
        Head("Group", "text"),
        Head("Called"),
        Head("Of all"),
        Head(f"Share ({level_of(asked)} limits)", "estimate"),
        Head("Ratio (limits)", "estimate"),
        Head(PLOT, "plot", _AXIS.axis(RATIO, 1.0, found[0].bound)),
        Head("p"),
    ]
    groups = [
        Group(
            asked.title_of(one.column),
            [_row(category, one, asked) for category in _shown(one)],
        )
        for one in found
    ]
    return Table(
        "Share called, and its ratio to the highest",
        heads,
        groups,
        f"Solid line: as often as the highest. Dashed: {found[0].bound:g} of it, a bound that some "
        "rules name. The limits allow for having picked the highest. Groups with less than 2% of "
        f"all {asked.words.many}, or of unknown value, have no ratio.",
    )


def _shown(selection: Selections) -> list[Selected]:
    by_size = sorted(selection.categories, key=lambda one: -one.rate.n)[:_MOST_GROUPS]
    return [one for one in selection.categories if any(one is kept for kept in by_size)]


def _row(one: Selected, selection: Selections, asked: Asked) -> TableRow:
    scale = Scale(1.0, 2, (0.0, 1.0, selection.bound))
    has_ratio = one.ratio.value is not None
    is_highest = one.value == selection.highest and one.role == "compared"
    return TableRow(
        marked(text_of(one.value)),
        [
            Cell(count(one.n_selected)),
            Cell(count(one.rate.n)),
            Cell(percent(one.rate.value), PERCENT.limits(one.rate) if one.rate.has_limits else ""),
            Cell(
                scale.estimate(one.ratio) if has_ratio else "\N{EN DASH}",
                "" if is_highest or not one.ratio.has_limits else scale.limits(one.ratio),
            ),
            Cell(bar=_AXIS.bar(one.ratio)),
            Cell(p_value(one.difference.adjusted, asked.alpha)),
        ],
        is_small=one.role != "compared",
        differs=one.difference.is_shown(asked.alpha),
    )
