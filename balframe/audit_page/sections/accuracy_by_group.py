"""For whom the predictions are right more or less often."""

from collections.abc import Sequence

from balframe.audit_page.document import Block, Paragraph, Section
from balframe.audit_page.groups import GroupFigures
from balframe.audit_page.numbers import PERCENT, points, points_more
from balframe.audit_page.rates import BALANCED, Rate
from balframe.audit_page.request import Request
from balframe.audit_page.results import NO_GROUPS, Audit, LeftOut, ModelFigures, report_models
from balframe.audit_page.tables import choose_groups, rate_table
from balframe.audit_page.text import capitalize, first_names, join_words, spell_number

QUESTION = "For whom are they right more or less often?"
_MAX_NAMED = 8


def section(audit: Audit) -> Section | LeftOut:
    """State for whom the predictions are right more or less often."""
    if not audit.request.by:
        return LeftOut(QUESTION, NO_GROUPS)
    blocks, _ = report_models(audit, lambda model: (_blocks(model), []))
    return Section("whom", QUESTION, blocks)


def _blocks(model: ModelFigures) -> list[Block]:
    request, groups = model.request, model.groups
    rate = model.rates.by_metric(BALANCED)
    n_labels = sum(n > 0 for n in model.cells.n_true.values())
    dashed = " Dashed: guessing." if n_labels > 1 else ""
    table = rate_table(
        model,
        choose_groups(model),
        rate,
        "Balanced accuracy of each group",
        f"Solid line: all {request.words.plural}.{dashed} The bar is what the data leave open "
        f"({request.percent_level} confidence interval). Hollow: too few to rank.",
        n_head="Rarest outcome",
        chance=1 / n_labels if n_labels > 1 else None,
    )
    sentences = [f"{ranking(groups, rate, request)} {differing(groups, rate, request)}"]
    kind = "outcomes" if model.cells.is_binary else "labels"
    if small := small_groups(groups, rate, request, kind):
        sentences.append(small)
    return [*map(Paragraph, sentences), table]


def ranking(groups: Sequence[GroupFigures], rate: Rate, request: Request) -> str:
    """Name the groups with the lowest and the highest score among those large enough to rank."""
    ranked = [
        (group.rates[rate], group.name(request))
        for group in groups
        if not group.is_small(rate) and group.rates[rate].is_defined
    ]
    if len(ranked) < 2:
        return "Fewer than two groups are large enough to rank."
    by_score = sorted(ranked, key=lambda pair: pair[0].value or 0.0)
    (low, lowest), (high, highest) = by_score[0], by_score[-1]
    return (
        f"Among the {len(ranked)} groups large enough to rank, {rate.term} lies between "
        f"{PERCENT.with_limits(low)}, for {lowest}, and {PERCENT.with_limits(high)}, for {highest}."
    )


def differing(groups: Sequence[GroupFigures], rate: Rate, request: Request) -> str:
    """Name the groups that differ significantly from all others of their column."""
    significant = [group for group in groups if group.differences[rate].is_significant]
    others = [group for group in groups if not group.differences[rate].is_significant]
    if not significant:
        return (
            "No group is shown to differ from all others of its column, which is not to say that "
            f"none does{_furthest_limit(groups, rate)}."
        )
    names = [
        f"{group.name(request)} by {points_more(group.differences[rate].estimate)}"
        for group in significant
    ]
    names = first_names(names, _MAX_NAMED, lambda n: f"{spell_number(n)} more")
    n = len(significant)
    subject = "One group is" if n == 1 else f"{capitalize(spell_number(n))} groups are"
    end = (
        " For the others no difference is shown, which is not to say that there is none"
        f"{_furthest_limit(others, rate)}."
        if others
        else ""
    )
    return (
        f"{subject} shown to differ from all others of the same column: {join_words(names)}.{end}"
    )


def _furthest_limit(groups: Sequence[GroupFigures], rate: Rate) -> str:
    """State how large a difference may still be, of groups whose limits are known."""
    limits = [group.differences[rate].estimate.furthest_limit for group in groups]
    furthest = max((limit for limit in limits if limit is not None), default=None)
    return "" if furthest is None else f": the limits reach up to {points(furthest)}"


def small_groups(
    groups: Sequence[GroupFigures], rate: Rate, request: Request, kind: str = "outcomes"
) -> str:
    """Name the groups of which little can be said; empty if there are none."""
    names = [group.name(request) for group in groups if group.is_small(rate)]
    if not names:
        return ""
    return (
        f"Of {join_words(first_names(names, _MAX_NAMED))} little can be said: fewer than "
        f"{request.words.rows(request.min_support)} with one of the {kind}, and limits to match."
    )
