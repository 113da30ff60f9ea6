"""Whether differences between groups are more than chance."""

from collections.abc import Sequence

from balframe.audit_page.document import Block, Paragraph, Section, SideBySide
from balframe.audit_page.groups import Difference, GroupFigures
from balframe.audit_page.numbers import POINTS, count
from balframe.audit_page.rates import Rate
from balframe.audit_page.results import NO_GROUPS, Audit, LeftOut, ModelFigures, report_models
from balframe.audit_page.tables import choose_groups, difference_table
from balframe.audit_page.text import first_names, join_words, quote, spell_number

QUESTION = "Is it more than chance?"
NOT_SHOWN = (
    "That a difference is not shown does not mean that it is absent. That it is shown does not "
    "mean that it matters, or why it is there."
)
_MAX_NAMED = 12


def section(audit: Audit) -> Section | LeftOut:
    """State which differences between groups are more than chance."""
    if not audit.request.by:
        return LeftOut(QUESTION, NO_GROUPS)
    blocks, brief = report_models(audit, lambda model: (_blocks(model), [summary(_tested(model))]))
    return Section("chance", QUESTION, blocks, brief)


def _tested(model: ModelFigures) -> list[Difference]:
    """Return the comparisons of error rates that have a p-value."""
    return [
        group.differences[rate]
        for group in model.groups
        for rate in model.rates.errors
        if group.differences[rate].p_adjusted is not None
    ]


def _n_significant(tested: Sequence[Difference]) -> int:
    return sum(difference.is_significant for difference in tested)


def summary(tested: Sequence[Difference]) -> str:
    """Return the answer in one sentence: how many comparisons differ by more than chance."""
    if not tested:
        return "No group could be compared with the others of its column."
    start = f"Of {count(len(tested))} comparisons of a group with all others in an error rate"
    n = _n_significant(tested)
    if not n:
        return f"{start}, none is shown to differ by more than chance explains."
    differ = "differs" if n == 1 else "differ"
    return f"{start}, {spell_number(n)} {differ} by more than chance explains."


def _blocks(model: ModelFigures) -> list[Block]:
    rates, tested = model.defined_errors, _tested(model)
    chosen = choose_groups(model, 4 + 2 * len(rates))
    sentences = [
        introduction(len(tested), _n_significant(tested)),
        *(f"{rate.title}: {significant_groups(model.groups, rate)}." for rate in rates),
        NOT_SHOWN,
    ]
    note = (
        "Each group less all others of its column, in percentage points. p is adjusted. "
        "Diamonds: shown to differ."
    )
    tables = [difference_table(model, chosen, rate, rate.title, note) for rate in rates]
    pairs = [SideBySide(tables[i : i + 2]) for i in range(0, len(tables), 2)]
    return [*map(Paragraph, sentences), *pairs]


def introduction(n: int, n_significant: int) -> str:
    """Return the first paragraph: what is compared, and how often a difference is significant."""
    if not n:
        return (
            "Groups nearly always differ in a table. Here none could be compared with the others."
        )
    compared = "one comparison" if n == 1 else f"{count(n)} comparisons"
    result = (
        f"In {spell_number(n_significant)} of them the difference is"
        if n_significant
        else "In none of them the difference is shown to be"
    )
    return (
        "Groups nearly always differ in a table. Here each group is compared with all others of "
        f"its column, in every error rate: {compared}, with p-values adjusted together "
        f"with all others on this page (Benjamini and Hochberg). {result} more than chance "
        "explains."
    )


def significant_groups(groups: Sequence[GroupFigures], rate: Rate) -> str:
    """Return the sentence on one error: the groups in which it is made more often, and less."""
    significant = [
        (quote(group.value), group.differences[rate].estimate)
        for group in groups
        if group.differences[rate].is_significant
    ]
    if not significant:
        return "no group is shown to differ from the others"
    significant.sort(key=lambda pair: -(pair[1].value or 0.0))
    parts = []
    for word, sign in (("more", 1), ("less", -1)):
        names = [
            f"{name} ({POINTS.estimate(estimate)}, {POINTS.limits(estimate)})"
            for name, estimate in significant
            if (estimate.value or 0.0) * sign > 0
        ]
        if names:
            parts.append(f"{word} often for {join_words(first_names(names, _MAX_NAMED))}")
    return "; ".join(parts)
