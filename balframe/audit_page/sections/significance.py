"""Whether differences between groups are more than chance."""

from collections.abc import Sequence

from balframe.audit_page.document import Block, Paragraph, Section
from balframe.audit_page.groups import Difference, GroupFigures
from balframe.audit_page.numbers import count, points_more
from balframe.audit_page.rates import Rate
from balframe.audit_page.results import (
    NO_GROUPS,
    Adjustment,
    Audit,
    LeftOut,
    ModelFigures,
    report_models,
)
from balframe.audit_page.sections.accuracy_by_group import compared_groups
from balframe.audit_page.tables import difference_table, side_by_side
from balframe.audit_page.text import first_names, in_quotes, join_words, spell_number

QUESTION = "Which differences are more than chance?"
ESTABLISHED = (
    "That a difference is not established does not mean that it is absent. An established "
    "difference need not matter, and this page does not say why it is there."
)
_MAX_NAMED = 12


def section(audit: Audit) -> Section | LeftOut:
    """State which differences between groups are more than chance."""
    if not audit.request.by:
        return LeftOut(QUESTION, NO_GROUPS)
    blocks, brief = report_models(
        audit, lambda model: (_blocks(model, audit.adjustment), summary(model))
    )
    return Section("chance", QUESTION, blocks, brief)


def _tested(model: ModelFigures) -> list[Difference]:
    """Return the comparisons of a group with all others in the rates that are tested."""
    return [
        difference for rate in model.rates.tested for _, difference in compared_groups(model, rate)
    ]


def summary(model: ModelFigures) -> list[str]:
    """State in brief how many comparisons are established, and for whom the harm is greater."""
    tested = _tested(model)
    if not tested:
        return ["No group could be compared with the others."]
    sentences = [_number_established(tested, model.rates.noun_with_article)]
    if (harm := model.harm) is not None:
        sentences.append(f"For whom is it worse? {harm_sentence(model, harm)}")
    return sentences


def _number_established(tested: Sequence[Difference], rate: str) -> str:
    n = sum(difference.is_significant for difference in tested)
    if len(tested) == 1:
        differ = "establishes" if n else "does not establish"
        return f"The only comparison of groups in {rate} {differ} a difference."
    differ = "establishes" if n == 1 else "establish"
    return (
        f"Of {count(len(tested))} comparisons of a group with all others in {rate}, "
        f"{spell_number(n)} {differ} a difference."
    )


def harm_sentence(model: ModelFigures, harm: Rate) -> str:
    """Name the groups that fare worse, and better, than all others of their column."""
    groups = compared_groups(model, harm)
    text = _significant_groups(groups, model, ("worse", "better"))
    if not text:
        return f"In {in_quotes(harm.caption)}, no group is established to fare worse."
    return f"In {in_quotes(harm.caption)}, compared with all other groups together: {text}."


def _blocks(model: ModelFigures, adjustment: Adjustment) -> list[Block]:
    rates = model.defined_tested
    sentences = [introduction(adjustment)]
    for rate in rates:
        text = _significant_groups(compared_groups(model, rate), model, ("more", "less"))
        text = text or "no difference of a group from all others is established"
        sentences.append(f"{rate.title}: {text}.")
    sentences.append(ESTABLISHED)
    note = (
        "Each group less all other groups of the same kind together, in percentage points; of two "
        "groups, one less the other. Diamonds, or bold: established."
    )
    tables = [difference_table(model, rate, rate.title, note) for rate in rates]
    return [*map(Paragraph, sentences), *side_by_side(tables)]


def introduction(adjustment: Adjustment) -> str:
    """State when the page calls a difference established."""
    start = "Even if all groups had the same rates, their numbers would differ a little by chance."
    if not adjustment.n_tests:
        return f"{start} Here nothing could be compared."
    if adjustment.n_tests == 1:
        return (
            f"{start} This page makes a single comparison. It calls the difference established "
            f"where its p-value is below {adjustment.alpha:g}."
        )
    return (
        f"{start} This page calls a difference established where its p-value, adjusted for all "
        f"{count(adjustment.n_tests)} comparisons on the page ({adjustment.kinds}), is below "
        f"{adjustment.alpha:g}. The confidence intervals of differences are widened for the same "
        "comparisons, so that they leave out zero exactly where the difference is established. "
        "Each group is compared with all other groups of the same kind that are large enough."
    )


def _significant_groups(
    groups: Sequence[tuple[GroupFigures, Difference]], model: ModelFigures, words: tuple[str, str]
) -> str:
    """Name the groups whose rates are significantly higher or lower; empty if there are none."""
    significant = [(group, test) for group, test in groups if test.is_significant]
    significant.sort(key=lambda pair: -(pair[1].estimate.value or 0.0))
    parts = []
    for word, sign in zip(words, (1, -1), strict=True):
        names = [
            f"{group.name(model.request)}, {points_more(test.estimate)}"
            for group, test in significant[::sign]
            if (test.estimate.value or 0.0) * sign > 0
        ]
        if names:
            listed = join_words(first_names(names, _MAX_NAMED))
            often = " often" if word in ("more", "less") else ""
            parts.append(f"{word}{often} for {listed}")
    return "; and ".join(parts)
