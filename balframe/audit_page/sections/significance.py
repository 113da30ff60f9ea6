"""Whether differences between groups are more than chance."""

from collections.abc import Sequence

from balframe.audit_page.document import Beside, Block, Paragraph, Section
from balframe.audit_page.groups import Difference, GroupOf
from balframe.audit_page.numbers import APART, POINTS, count
from balframe.audit_page.rates import Rate
from balframe.audit_page.request import Asked
from balframe.audit_page.results import Answer, Audited, LeftOut, OfModel, of_every_model
from balframe.audit_page.shown_groups import shown_columns
from balframe.audit_page.tables import caption_of, difference_table
from balframe.audit_page.text import in_words, more_groups, name, together

QUESTION = "Is it more than chance?"
NOT_SHOWN = (
    "That a difference is not shown does not mean that it is absent. That it is shown does not "
    "mean that it matters, or why it is there."
)
_MOST_NAMED = 12


def chance(audited: Audited) -> Answer:
    """Say which differences between groups are more than chance."""
    asked = audited.asked
    if not asked.by:
        return LeftOut(QUESTION, "no columns of groups were given")
    blocks, brief = of_every_model(
        audited, lambda model: (_blocks(model, asked), [in_brief(_tested(model), asked)])
    )
    return Section("chance", QUESTION, blocks, brief)


def _tested(model: OfModel) -> list[Difference]:
    """List the comparisons of error rates that have a p-value."""
    return [
        group.differences[rate]
        for column in model.columns
        for group in column.groups
        for rate in model.rates.errors
        if group.differences[rate].adjusted is not None
    ]


def in_brief(tested: Sequence[Difference], asked: Asked) -> str:
    """Count the comparisons, and those that differ by more than chance explains."""
    n_shown = sum(one.is_shown(asked.alpha) for one in tested)
    if not tested:
        return "No group could be compared with the others of its column."
    of = f"Of {count(len(tested))} comparisons of a group with all others in an error rate"
    if not n_shown:
        return f"{of}, none is shown to differ by more than chance explains."
    differ = "differs" if n_shown == 1 else "differ"
    return f"{of}, {in_words(n_shown)} {differ} by more than chance explains."


def _blocks(model: OfModel, asked: Asked) -> list[Block]:
    rates = [rate for rate in model.rates.errors if model.overall.rates[rate].is_known]
    tested = _tested(model)
    n_shown = sum(one.is_shown(asked.alpha) for one in tested)
    shown = shown_columns(model.columns, asked, 4 + 2 * len(rates))
    blocks: list[Block] = [Paragraph(introduced(len(tested), n_shown))]
    members = [group for column in model.columns for group in column.groups]
    blocks += [Paragraph(f"{caption_of(rate)}: {listed(members, rate, asked)}.") for rate in rates]
    blocks.append(Paragraph(NOT_SHOWN))
    tables = [
        difference_table(
            shown,
            asked,
            rate,
            caption_of(rate),
            "Each group less all others of its column, in percentage points. p is adjusted. "
            "Diamonds: shown to differ.",
        )
        for rate in rates
    ]
    return [*blocks, *(Beside(tables[at : at + 2]) for at in range(0, len(tables), 2))]


def introduced(n: int, n_shown: int) -> str:
    """Say what is compared, and how often the difference is more than chance explains."""
    if not n:
        return (
            "Groups nearly always differ in a table. Here none could be compared with the others."
        )
    found = f"In {in_words(n_shown)} of them" if n_shown else "In none of them"
    compared = "one comparison" if n == 1 else f"{count(n)} comparisons"
    return (
        "Groups nearly always differ in a table. Here each group is compared with all others of "
        f"its column, in every error rate: {compared}, with p-values adjusted together "
        f"with all others on this page (Benjamini and Hochberg). {found} the difference is "
        f"{'' if n_shown else 'shown to be '}more than chance explains."
    )


def listed(members: Sequence[GroupOf], rate: Rate, asked: Asked) -> str:
    """Name the groups in which an error is shown to be made more often, and less often."""
    shown = [
        (name(group.value), group.differences[rate].estimate)
        for group in members
        if group.differences[rate].is_shown(asked.alpha)
    ]
    if not shown:
        return "no group is shown to differ from the others"
    shown.sort(key=lambda one: -(one[1].value or 0.0))
    parts = []
    for word, sign in (("more", 1), ("less", -1)):
        some = [
            f"{group} ({POINTS.estimate(of)}, {APART.limits(of)})"
            for group, of in shown
            if (of.value or 0.0) * sign > 0
        ]
        if len(some) > _MOST_NAMED:
            some = [*some[:_MOST_NAMED], more_groups(len(some) - _MOST_NAMED)]
        if some:
            parts.append(f"{word} often for {together(some)}")
    return "; ".join(parts)
