"""For whom the calls are right more or less often."""

from collections.abc import Sequence

from balframe.audit_page.document import Block, Paragraph, Section
from balframe.audit_page.groups import ColumnOf, GroupOf
from balframe.audit_page.numbers import PERCENT, points, points_more
from balframe.audit_page.rates import BALANCED, Rate
from balframe.audit_page.request import Asked
from balframe.audit_page.results import Answer, Audited, LeftOut, OfModel, of_every_model
from balframe.audit_page.shown_groups import shown_columns
from balframe.audit_page.tables import level_of, rate_table
from balframe.audit_page.text import given, in_words, more_groups, name, sentence, together

QUESTION = "For whom are they right more or less often?"
_MOST_NAMED = 8

Member = tuple[ColumnOf, GroupOf]


def whom(audited: Audited) -> Answer:
    """Say for whom the calls are right more or less often."""
    asked = audited.asked
    if not asked.by:
        return LeftOut(QUESTION, "no columns of groups were given")
    blocks, _ = of_every_model(audited, lambda model: (_blocks(model, asked), []))
    return Section("whom", QUESTION, blocks)


def _blocks(model: OfModel, asked: Asked) -> list[Block]:
    rate = model.rates.named(BALANCED)
    shown = shown_columns(model.columns, asked)
    members = [(column, group) for column in model.columns for group in column.groups]
    n_labels = sum(n > 0 for n in model.counted.n_true.values())
    chance = 1 / max(n_labels, 1)
    dashed = " Dashed: guessing." if n_labels > 1 else ""
    table = rate_table(
        model,
        shown,
        asked,
        rate,
        "Balanced accuracy of each group",
        f"Solid line: all {asked.words.many}.{dashed} The bar is what the data leave open "
        f"({level_of(asked)} limits). Hollow: too few to rank.",
        n_head="Rarest outcome",
        chance=chance if n_labels > 1 else None,
    )
    said = [f"{ranking(members, rate, asked)} {differing(members, rate, asked)}"]
    kind = "outcomes" if model.counted.positive is not None else "labels"
    if small := small_groups(members, rate, asked, kind):
        said.append(small)
    return [*map(Paragraph, said), table]


def of_column(member: Member, asked: Asked) -> str:
    """Name a group with its column: `Other (race)`."""
    column, group = member
    return f"{name(group.value)} ({given(str(asked.by[column.number]))})"


def ranking(members: Sequence[Member], rate: Rate, asked: Asked) -> str:
    """Name the groups with the lowest and the highest score among those large enough to rank."""
    ranked = [
        one
        for one in members
        if not one[1].is_small(rate, asked.min_support) and one[1].rates[rate].is_known
    ]
    if len(ranked) < 2:
        return "Fewer than two groups are large enough to rank."
    by_score = sorted(ranked, key=lambda one: one[1].rates[rate].value or 0.0)
    lowest, highest = by_score[0], by_score[-1]
    return (
        f"Among the {len(ranked)} groups large enough to rank, {rate.term} lies between "
        f"{PERCENT.written(lowest[1].rates[rate])}, for {of_column(lowest, asked)}, and "
        f"{PERCENT.written(highest[1].rates[rate])}, for {of_column(highest, asked)}."
    )


def differing(members: Sequence[Member], rate: Rate, asked: Asked) -> str:
    """Name the groups that are shown to differ from all others of their column."""
    shown = [one for one in members if one[1].differences[rate].is_shown(asked.alpha)]
    if not shown:
        return (
            "No group is shown to differ from all others of its column, which is not to say that "
            f"none does{_room(members, rate)}."
        )
    listed = [
        f"{of_column(one, asked)} by {points_more(one[1].differences[rate].estimate)}"
        for one in shown[:_MOST_NAMED]
    ]
    if len(shown) > len(listed):
        listed.append(f"{in_words(len(shown) - len(listed))} more")
    subject = "One group is" if len(shown) == 1 else f"{sentence(in_words(len(shown)))} groups are"
    rest = [one for one in members if one not in shown]
    others = (
        " For the others no difference is shown, which is not to say that there is none"
        f"{_room(rest, rate)}."
        if rest
        else ""
    )
    return (
        f"{subject} shown to differ from all others of the same column: {together(listed)}.{others}"
    )


def _room(members: Sequence[Member], rate: Rate) -> str:
    """Say how large a difference may still be, of groups whose limits are known."""
    ends = [
        abs(end)
        for _, group in members
        for estimate in [group.differences[rate].estimate]
        for end in (estimate.lower, estimate.upper)
        if end is not None
    ]
    return f": the limits reach up to {points(max(ends))}" if ends else ""


def small_groups(
    members: Sequence[Member], rate: Rate, asked: Asked, kind: str = "outcomes"
) -> str:
    """Name the groups of which little can be said; empty if there are none."""
    small = [one for one in members if one[1].is_small(rate, asked.min_support)]
    if not small:
        return ""
    listed = [of_column(one, asked) for one in small[:_MOST_NAMED]]
    if len(small) > len(listed):
        listed.append(more_groups(len(small) - len(listed)))
    return (
        f"Of {together(listed)} little can be said: fewer than "
        f"{asked.words.counted(asked.min_support)} with one of the {kind}, and limits to match."
    )
