"""What cannot be said from a page."""

from collections.abc import Sequence

from balframe._text import format_percent
from balframe.audit_page.design import independence, weights_limitation
from balframe.audit_page.document import Bullets, Section
from balframe.audit_page.request import Request
from balframe.audit_page.results import Audit, LeftOut, ModelFigures
from balframe.audit_page.sections.missing_values import left_out_limitation
from balframe.audit_page.text import capitalize, in_quotes, spell_number
from balframe.audit_page.unlabelled_rows import limitation

_MEASURED_ALPHA = 0.05


def section(audit: Audit, left_out: Sequence[LeftOut], n_searches: int) -> Section:
    """State what cannot be said, and which questions are left out."""
    request, model = audit.request, audit.models[0]
    items = [
        (
            "Why.",
            "A difference in rates has no cause in these tables. Nothing here shows what would "
            "happen if anything were changed.",
        ),
        *(_of_outcomes(request) if request.is_of_outcomes else _of_predictions(model)),
        (
            "Anything about those who are not in the data.",
            f"The numbers are about these {request.words.rows(model.overall.n)}, and about others "
            "only as far as these are like them.",
        ),
    ]
    if some_left_out := left_out_limitation(audit):
        items.append(("Anything about those who were left out.", some_left_out))
    if n_small := small_groups(model):
        items.append(("Anything about small groups.", small_groups_sentence(n_small, request)))
    if request.by:
        items += [
            (
                "That groups are equal.",
                "Where no difference is established, the confidence interval shows how large one "
                "may still be.",
            ),
            ("That every difference is real.", error_rate(audit, n_searches)),
        ]
    items.append(("More than the rows can show.", independence(model.cells)))
    if weights := weights_limitation(model.cells):
        items.append(("Whether the weights are right.", weights))
    if request.suppress is not None:
        items.append(
            (
                "What is withheld.",
                f"Counts under {request.suppress} are withheld, so that nobody can be recognised, "
                "and so are counts that would reveal them. Groups with such counts are in no "
                "comparison.",
            )
        )
    if left_out:
        questions = "; ".join(f"{in_quotes(each.question)} ({each.reason})" for each in left_out)
        items.append(("What is left out.", f"Left out of this page: {questions}."))
    return Section("limits", "What cannot be said from this?", [Bullets(items)])


def _of_predictions(model: ModelFigures) -> list[tuple[str, str]]:
    """Return what cannot be said of predictions, and of the outcomes that they are held to."""
    outcome = in_quotes(model.happened if model.cells.is_binary else "the outcome")
    return [
        (
            "Whether it is lawful, or fair.",
            "Laws require more than rates. Which errors matter more, and to whom, has to be "
            "decided by people.",
        ),
        (
            f"Whether {outcome} is what it is taken for.",
            "The outcome is what was recorded. If it was recorded more often for some groups than "
            "for others, their error rates are wrong to different degrees, and no confidence "
            "interval here shows it.",
        ),
        limitation(model)
        if model.request.is_corrected
        else (
            "How the outcome of everybody is known.",
            f"The data have an outcome for each {model.words.singular} examined, also for those "
            "who were not selected. This page cannot say how it became known.",
        ),
    ]


def _of_outcomes(request: Request) -> list[tuple[str, str]]:
    """Return what cannot be said where rows passed or not."""
    words = request.words
    return [
        (
            "Whether it is good enough.",
            "Which pass rate is needed, and in which groups, has to be decided by people. Rules "
            "that were agreed beforehand state it.",
        ),
        (
            f"Whether {in_quotes(words.passed)} is what it is taken for.",
            f"The outcome is what was recorded for each {words.singular}. If some groups were "
            "judged more strictly than others, their pass rates differ for this alone, and no "
            "confidence interval here shows it.",
        ),
    ]


def small_groups(model: ModelFigures) -> int:
    """Count the groups that are too small to compare in some rate, and not withheld."""
    return sum(
        not group.is_withheld and any(group.is_small(rate) for rate in model.rates.compared)
        for column in model.columns
        for group in column.largest_groups
    )


def small_groups_sentence(n: int, request: Request) -> str:
    """State that nothing is said about small groups."""
    groups = "One group has" if n == 1 else f"{capitalize(spell_number(n))} groups have"
    of_rows = "" if request.is_of_outcomes else " with one of the outcomes, or in a rate"
    return (
        f"{groups} fewer than {request.words.rows(request.min_support)}{of_rows}. "
        f"That no sentence is about {'it' if n == 1 else 'them'} does not mean that all is well."
    )


def error_rate(audit: Audit, n_searches: int) -> str:
    """Return the sentence on how often a page errs if nothing differs.

    The rate of all together was measured at the level 0.95, with one model and two searches for
    errors.
    """
    request = audit.request
    alpha = format_percent(request.alpha)
    if not n_searches:
        return (
            "If no groups differed at all, the comparisons on this page together would still "
            f"report a difference in at most {alpha} of audits."
        )
    is_measured = (
        request.alpha == _MEASURED_ALPHA and len(audit.models) == 1 and not request.is_of_outcomes
    )
    together = (
        "Together, in simulated audits, they do in 7 to 10 of 100."
        if is_measured
        else "Together they do so more often."
    )
    searches = "one search" if n_searches == 1 else f"{spell_number(n_searches)} searches"
    return (
        f"This page makes comparisons, which are adjusted together, and {searches} for "
        f"combinations of groups. If no groups differed at all, each of these would still report a "
        f"difference in at most {alpha} of audits. {together}"
    )


def caution(audit: Audit, n_searches: int) -> str:
    """State below the summary how it is to be read."""
    level = audit.request.percent_level
    nor = "" if audit.request.is_of_outcomes else ", nor whether that is lawful or fair"
    searched = "; that of a combination of groups allows for its search" if n_searches else ""
    return (
        f"In brackets: the {level} confidence interval. Of a difference or a ratio it is wider, "
        f"because it allows for all comparisons on this page{searched}. A difference is "
        "established where chance alone would rarely produce it. Numbers are rounded after "
        f"differences are computed. The page shows whether rates differ, not why{nor}. Its terms "
        "are explained at its end."
    )
