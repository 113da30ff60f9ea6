"""In which groups balanced accuracy is higher or lower."""

from collections.abc import Iterable, Sequence

from balframe.audit_page.document import Block, Paragraph, Section
from balframe.audit_page.groups import Difference, GroupFigures, possible_difference
from balframe.audit_page.numbers import PERCENT, points_more
from balframe.audit_page.rates import BALANCED, Rate
from balframe.audit_page.request import Request
from balframe.audit_page.results import NO_GROUPS, Audit, LeftOut, ModelFigures, report_models
from balframe.audit_page.tables import large_groups, rate_table
from balframe.audit_page.text import capitalize, first_names, join_words, spell_number

QUESTION = "Is balanced accuracy the same in all groups?"
_MAX_NAMED = 8


def section(audit: Audit) -> Section | LeftOut:
    """State in which groups balanced accuracy is higher or lower."""
    if not audit.request.by:
        return LeftOut(QUESTION, NO_GROUPS)
    blocks, _ = report_models(audit, lambda model: (_blocks(model), []))
    return Section("whom", QUESTION, blocks)


def _blocks(model: ModelFigures) -> list[Block]:
    request, rate = model.request, model.rates.by_metric(BALANCED)
    n_labels = sum(n > 0 for n in model.cells.n_true.values())
    dashed = " Dashed: guessing." if n_labels > 1 else ""
    table = rate_table(
        model,
        rate,
        "Balanced accuracy of each group",
        f"Solid line: all {request.words.plural}.{dashed} The bar is the {request.percent_level} "
        "confidence interval of each row alone. Hollow: too few to compare.",
        n_head="Rarest outcome",
        chance=1 / n_labels if n_labels > 1 else None,
    )
    sentences = [
        f"{ranking(large_groups(model, rate), rate, request)} {differing(model, rate)}".rstrip()
    ]
    if small := small_groups(model, rate):
        sentences.append(small)
    return [*map(Paragraph, sentences), table]


def ranking(groups: Sequence[GroupFigures], rate: Rate, request: Request) -> str:
    """Name the groups with the lowest and the highest score among those that are compared."""
    if len(groups) < 2:
        return "Fewer than two groups are large enough to compare."
    by_score = sorted(groups, key=lambda group: group.rates[rate].value or 0.0)
    ends = [
        f"{PERCENT.with_limits(group.rates[rate])} for {group.name(request)}"
        for group in (by_score[0], by_score[-1])
    ]
    return (
        f"Among the {len(groups)} groups large enough to compare, {rate.subject} lies between "
        f"{join_words(ends)}."
    )


def differing(model: ModelFigures, rate: Rate) -> str:
    """Name the groups whose difference from all others together is established."""
    pairs = compared_groups(model, rate)
    if not pairs:
        return ""
    significant = [(group, test) for group, test in pairs if test.is_significant]
    others = [test for _, test in pairs if not test.is_significant]
    if not significant:
        return (
            "No difference of a group from all other groups together is established; "
            f"{furthest_limit(others)}."
        )
    names = [
        f"{group.name(model.request)} by {points_more(test.estimate)}"
        for group, test in significant
    ]
    n = len(significant)
    subject = "one group" if n == 1 else f"{spell_number(n)} groups"
    end = (
        f" For the others no difference is established; {furthest_limit(others)}." if others else ""
    )
    listed = join_words(first_names(names, _MAX_NAMED, lambda n: f"{spell_number(n)} more"))
    return (
        f"A difference from all other groups together is established for {subject}: {listed}.{end}"
    )


def compared_groups(model: ModelFigures, rate: Rate) -> list[tuple[GroupFigures, Difference]]:
    """Return the groups with their differences from all others; of two groups, one of them."""
    return [
        (group, difference)
        for column in model.columns
        for group in column.largest_groups
        if (difference := column.difference(group, rate)) is not None
        and difference.p_adjusted is not None
    ]


def furthest_limit(differences: Iterable[Difference]) -> str:
    """State how large a difference may still be, of groups whose limits are known."""
    limits = [difference.estimate.furthest_limit for difference in differences]
    return possible_difference(max((limit for limit in limits if limit is not None), default=None))


def small_groups(model: ModelFigures, rate: Rate) -> str:
    """Count the groups that are too small to compare; empty if there are none."""
    n = sum(
        group.is_small(rate) and not group.is_withheld
        for column in model.columns
        for group in column.largest_groups
    )
    if not n:
        return ""
    kind = "outcomes" if model.cells.is_binary else "labels"
    of_each = "" if model.request.is_of_outcomes else f" with one of the {kind}"
    least = model.words.rows(model.request.min_support)
    subject = "One group has" if n == 1 else f"{capitalize(spell_number(n))} groups have"
    they = "it is" if n == 1 else "they are"
    return (
        f"{subject} fewer than {least}{of_each}. The tables show the figures; "
        f"{they} in no comparison and in no sentence."
    )
