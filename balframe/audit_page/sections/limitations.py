"""What cannot be said from a page."""

from collections.abc import Sequence

from balframe.audit_page.document import Bullets, Section
from balframe.audit_page.request import Asked
from balframe.audit_page.results import Audited, LeftOut, OfModel
from balframe.audit_page.sections.accuracy_by_group import Member, of_column
from balframe.audit_page.text import more_groups, together

_MOST_NAMED = 8


def limits(audited: Audited, left_out: Sequence[LeftOut]) -> Section:
    """Say what cannot be said."""
    asked = audited.asked
    model = audited.models[0]
    items = [
        (
            "Why.",
            "A difference in rates has no cause in these tables. Nothing here says what would "
            "happen if anything were changed.",
        ),
        (
            "Whether it is lawful, or fair.",
            "Laws ask for more than rates. Which errors matter more, and to whom, has to be "
            "decided by people.",
        ),
        (
            f"Whether {_outcome(model, asked)} is what it is taken for.",
            "The outcome is what was recorded. If it was recorded more often for some groups than "
            "for others, their error rates are wrong to different degrees, and no limit here shows "
            "it.",
        ),
        (
            "Anything about those who are not in the data.",
            f"The numbers are about these {asked.words.counted(model.overall.n)}, and about others "
            "only as far as these are like them.",
        ),
    ]
    small = small_members(model, asked)
    if small:
        items.append(("Much about small groups.", of_small(small, asked)))
    if asked.by:
        items.append(
            (
                "That groups are alike.",
                "Where no difference is shown, the limits say how large one may still be.",
            )
        )
    items.append(
        (
            "More than the rows carry.",
            "The limits take the rows as independent of each other. If several rows are about the "
            f"same {_thing(asked)}, or rows come in clusters, they are too narrow.",
        )
    )
    if left_out:
        listed = "; ".join(
            f"\N{LEFT DOUBLE QUOTATION MARK}{one.question}\N{RIGHT DOUBLE QUOTATION MARK} "
            f"({one.why})"
            for one in left_out
        )
        items.append(("What was not asked.", f"Left out of this page: {listed}."))
    return Section("limits", "What cannot be said from this?", [Bullets(items)])


def _thing(asked: Asked) -> str:
    return "person or thing" if asked.words.one == "row" else asked.words.one


def _outcome(model: OfModel, asked: Asked) -> str:
    positive = model.counted.positive
    words = "the outcome" if positive is None else asked.words.happened(positive)
    return f"\N{LEFT DOUBLE QUOTATION MARK}{words}\N{RIGHT DOUBLE QUOTATION MARK}"


def small_members(model: OfModel, asked: Asked) -> list[Member]:
    """List the groups that are too small to rank in some rate."""
    return [
        (column, group)
        for column in model.columns
        for group in column.groups
        if any(group.is_small(rate, asked.min_support) for rate in model.rates.compared)
    ]


def of_small(small: Sequence[Member], asked: Asked) -> str:
    """Name the small groups, and count the rows of each."""
    listed = [
        f"{of_column(one, asked)}, {asked.words.counted(one[1].n)}" for one in small[:_MOST_NAMED]
    ]
    if len(small) > len(listed):
        listed.append(more_groups(len(small) - len(listed)))
    return f"{'; '.join(listed)}. Their limits are wide, and nothing here says that all is well."


def caution(audited: Audited) -> str:
    """Say below the summary how it is to be read."""
    asked = audited.asked
    said = [f"In brackets: {100 * asked.level:.6g}% limits, what the data leave open."]
    small = small_members(audited.models[0], asked)
    if small:
        listed = [of_column(one, asked) for one in small[:_MOST_NAMED]]
        if len(small) > len(listed):
            listed.append(more_groups(len(small) - len(listed)))
        said.append(f"Of {together(listed)} too few were examined to rank them.")
    said.append(
        "These numbers show whether rates differ. They do not show why, nor whether that is lawful "
        "or fair."
    )
    return " ".join(said)
