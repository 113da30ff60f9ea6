"""What cannot be said from a page."""

from collections.abc import Sequence

from balframe.audit_page.document import Bullets, Section
from balframe.audit_page.groups import GroupFigures
from balframe.audit_page.request import Request
from balframe.audit_page.results import Audit, LeftOut, ModelFigures
from balframe.audit_page.text import first_names, in_quotes, join_words

_MAX_NAMED = 8


def section(audit: Audit, left_out: Sequence[LeftOut]) -> Section:
    """State what cannot be said, and which questions are left out."""
    request, model = audit.request, audit.models[0]
    outcome = in_quotes(model.happened if model.cells.is_binary else "the outcome")
    singular = request.words.singular
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
            f"Whether {outcome} is what it is taken for.",
            "The outcome is what was recorded. If it was recorded more often for some groups than "
            "for others, their error rates are wrong to different degrees, and no limit here shows "
            "it.",
        ),
        (
            "Anything about those who are not in the data.",
            f"The numbers are about these {request.words.rows(model.overall.n)}, and about others "
            "only as far as these are like them.",
        ),
    ]
    if small := small_groups(model):
        items.append(("Much about small groups.", small_groups_sentence(small, request)))
    if request.by:
        items.append(
            (
                "That groups are equal.",
                "Where no difference is shown, the limits say how large one may still be.",
            )
        )
    items.append(
        (
            "More than the rows carry.",
            "The limits take the rows as independent of each other. If several rows are about the "
            f"same {'person or thing' if singular == 'row' else singular}, or rows come in "
            "clusters, they are too narrow.",
        )
    )
    if left_out:
        questions = "; ".join(f"{in_quotes(one.question)} ({one.reason})" for one in left_out)
        items.append(("What is left out.", f"Left out of this page: {questions}."))
    return Section("limits", "What cannot be said from this?", [Bullets(items)])


def small_groups(model: ModelFigures) -> list[GroupFigures]:
    """Return the groups that are too small to rank in some rate."""
    return [
        group
        for group in model.groups
        if any(group.is_small(rate) for rate in model.rates.compared)
    ]


def small_groups_sentence(small: Sequence[GroupFigures], request: Request) -> str:
    """Name the small groups, and count the rows of each."""
    names = [f"{group.name(request)}, {request.words.rows(group.n)}" for group in small]
    listed = "; ".join(first_names(names, _MAX_NAMED))
    return f"{listed}. Their limits are wide, and nothing here says that all is well."


def caution(audit: Audit) -> str:
    """State below the summary how it is to be read."""
    request = audit.request
    level = request.percent_level
    sentences = [f"In brackets: the {level} confidence interval, what the data leave open."]
    if small := small_groups(audit.models[0]):
        names = [group.name(request) for group in small]
        listed = join_words(first_names(names, _MAX_NAMED))
        sentences.append(f"Of {listed} too few were examined to rank them.")
    sentences.append(
        "These numbers show whether rates differ. They do not show why, nor whether that is lawful "
        "or fair."
    )
    return " ".join(sentences)
