"""Where it is worst: the combinations of groups on which an error is shown to be worse."""

from collections.abc import Sequence

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
from balframe.audit_page.forest_marks import around
from balframe.audit_page.measured_slices import Search, Slice
from balframe.audit_page.numbers import (
    APART,
    PERCENT,
    POINTS,
    Estimate,
    count,
    p_value,
    percent,
    points_more,
)
from balframe.audit_page.request import Asked
from balframe.audit_page.results import Answer, Audited, LeftOut, OfModel, of_every_model
from balframe.audit_page.tables import PLOT, caption_of, level_of
from balframe.audit_page.text import in_words, marked, name, plural, sentence, text_of, together

QUESTION = "Where is it worst?"
SELECTION = (
    "The highest of many rates is high by selection alone. The p-values and limits here allow for "
    "all combinations that were tested."
)


def worst(audited: Audited) -> Answer:
    """Say on which combinations of groups an error is shown to be worse."""
    asked = audited.asked
    if not asked.by:
        return LeftOut(QUESTION, "no columns of groups were given")
    blocks, brief = of_every_model(
        audited, lambda model: (_blocks(model, asked), [in_brief(model.searches)])
    )
    return Section("worst", QUESTION, blocks, brief)


def in_brief(searches: Sequence[Search]) -> str:
    """Name the worst combination of all searches."""
    found = [(search.rate, search.found[0]) for search in searches if search.found]
    if not found:
        return "No combination of groups is shown to fare worse than all others together."
    parts = [
        f"{conditions(one)}: {percent(one.rate)} of {rate.of} {rate.befell}, against "
        f"{percent(one.rest)} of all others, {points_more(one.difference)}"
        for rate, one in found[:2]
    ]
    return f"Most clearly shown to fare worse than all others, {'; '.join(parts)}."


def conditions(one: Slice) -> str:
    """Name a combination in a sentence: `Female, “under 25”`."""
    return together([name(value) for _, value in one.conditions])


def _blocks(model: OfModel, asked: Asked) -> list[Block]:
    blocks: list[Block] = [Paragraph(" ".join(searched(one, asked) for one in model.searches))]
    tables = [_table(model, asked, one) for one in model.searches if one.found]
    return [*blocks, Paragraph(SELECTION), *tables] if tables else blocks


def searched(search: Search, asked: Asked) -> str:
    """Say what was searched, and how much was found."""
    which = (
        f"\N{LEFT DOUBLE QUOTATION MARK}{caption_of(search.rate)}\N{RIGHT DOUBLE QUOTATION MARK}"
    )
    if search.problem is not None:
        return f"For {which} nothing could be searched: {search.problem}."
    if not search.found:
        return (
            f"For {which} no combination of groups with at least "
            f"{asked.words.counted(asked.min_support)} to count, inside and outside of it, is "
            "shown to be worse than all others. Nothing here says that all is well with smaller "
            "ones."
        )
    n, n_tests = len(search.found), search.found[0].n_tests
    explained = sum(one.n_explained for one in search.found)
    left_out = (
        f" {sentence(in_words(explained))} more {'is' if explained == 1 else 'are'} left out, "
        "whose errors these explain."
        if explained
        else ""
    )
    return (
        f"For {which} {plural(n_tests, 'combination', 'combinations')} of groups with at least "
        f"{asked.words.counted(asked.min_support)} to count {'was' if n_tests == 1 else 'were'} "
        f"tested; {in_words(n)} "
        f"{'is' if n == 1 else 'are'} listed that {'is' if n == 1 else 'are'} shown to be worse "
        f"than all others.{left_out}"
    )


def _table(model: OfModel, asked: Asked, search: Search) -> Table:
    overall = model.overall.rates[search.rate]
    span = around([Estimate(one.rate, None, None) for one in search.found], overall.value)
    rows = [
        TableRow(
            ", ".join(marked(text_of(value)) for _, value in one.conditions),
            [
                Cell(count(one.n)),
                Cell(percent(one.rate)),
                Cell(bar=span.bar(Estimate(one.rate, None, None))),
                Cell(percent(one.rest)),
                Cell(
                    POINTS.estimate(one.difference),
                    APART.limits(one.difference) if one.difference.has_limits else "",
                ),
                Cell(p_value(one.p, asked.alpha)),
            ],
        )
        for one in search.found
    ]
    heads = [
        Head("Combination", "text"),
        Head("Out of"),
        Head("Rate"),
        Head(PLOT, "plot", span.axis(PERCENT, overall.value)),
        Head("Rate of all others"),
        Head(f"Points more ({level_of(asked)} limits)", "estimate"),
        Head("p"),
    ]
    under = "The limits hold for all combinations tested together. p is adjusted for their number."
    return Table(caption_of(search.rate), heads, [Group("", rows)], under)
