"""Whether the same score means the same in every group, and whether scores are probabilities."""

from collections.abc import Mapping
from typing import Any

from balframe.audit_page.document import Block, Cell, Head, Paragraph, Section, Table, TableRow
from balframe.audit_page.forest_marks import around_zero
from balframe.audit_page.groups import ColumnOf, GroupOf
from balframe.audit_page.measured_scores import OfScore, SameScore
from balframe.audit_page.numbers import APART, POINTS, count, p_value, percent
from balframe.audit_page.request import Asked
from balframe.audit_page.results import Answer, Audited, LeftOut, OfModel, of_every_model
from balframe.audit_page.scores_in_text import rounded
from balframe.audit_page.sections.probabilities_in_text import (
    are_right,
    claimed,
    on_average,
    table_of_ratios,
)
from balframe.audit_page.sections.same_scores_in_text import (
    Compared,
    Words,
    in_brief,
    meaning,
    of_column,
    of_errors,
)
from balframe.audit_page.sections.thresholds import NO_SCORE, words_of
from balframe.audit_page.shown_groups import MOST_COLUMNS, groups_of, heading_of, shown_columns
from balframe.audit_page.tables import PLOT, level_of
from balframe.audit_page.text import given, plural, sentence

QUESTION = "Does the same score mean the same for everyone?"
OF_PROBABILITIES = "Are the scores the probabilities that they may be taken for?"
ONE_OUTCOME = (
    "One of the outcomes does not occur, so nothing can be said of what different scores mean."
)


def calibrated(audited: Audited) -> Answer:
    """Say whether the same score means the same in every group, and whether it is right."""
    asked = audited.asked
    if all(one.y_score is None for one in asked.models):
        return LeftOut(QUESTION, NO_SCORE)
    scores = [model.score for model in audited.models if model.score is not None]
    if not scores:
        return LeftOut(QUESTION, "a score is of one of two outcomes, and there are more")
    if not asked.by and all(one.probabilities is None for one in scores):
        return LeftOut(QUESTION, "no columns of groups were given")
    blocks, brief = of_every_model(audited, lambda model: _of_model(model, asked))
    return Section("calibrated", QUESTION if asked.by else OF_PROBABILITIES, blocks, brief)


def _of_model(model: OfModel, asked: Asked) -> tuple[list[Block], list[str]]:
    score = model.score
    if score is None:
        return [], []
    if not all(model.counted.n_true.values()):
        return [Paragraph(ONE_OUTCOME)], []
    words = words_of(model, asked)
    blocks, brief = _same_scores(model, score, words, asked) if asked.by else ([], [])
    found, half = score.probabilities, ""
    if found is not None:
        average = on_average(found.overall, words)
        question = f"{OF_PROBABILITIES} " if asked.by else ""
        blocks.append(Paragraph(f"{question}{claimed(words)} {average}".rstrip()))
        blocks.append(Paragraph(are_right(found.overall, asked.alpha)))
        brief = brief or [one for one in [average] if one]
        half = " For the means, half a step was added to each."
        if asked.by:
            blocks.append(table_of_ratios(model, found, words, asked))
    if note := rounded(model.counted):
        blocks.append(Paragraph(note + half, is_note=True))
    return blocks, brief


def _same_scores(
    model: OfModel, score: OfScore, words: Words, asked: Asked
) -> tuple[list[Block], list[str]]:
    """Compare groups at the same scores."""
    all_groups: list[Compared] = []
    said = []
    for found in score.same:
        column = next(one for one in model.columns if one.number == found.column)
        by = given(str(asked.by[found.column]))
        groups = [
            Compared(
                by, one.value, found.groups[one.value].difference, _is_small(one, model, asked)
            )
            for one in column.groups
        ]
        said.append(of_column(by, groups, found.crossing, asked.alpha))
        all_groups += groups
    start = (
        f"How many points more or less often were {words.many} {words.happened} than others with "
        f"the same score ({level_of(asked)} limits)?"
    )
    blocks: list[Block] = [
        Paragraph(meaning(score.n_scores, words)),
        Paragraph(" ".join([start, *said])),
    ]
    prevalence = model.rates.named("prevalence")
    differing = [
        given(str(asked.by[one.number]))
        for one in model.columns[:MOST_COLUMNS]
        if one.extremes[prevalence].is_shown
    ]
    if errors := of_errors(differing, words):
        blocks.append(Paragraph(errors))
    blocks.append(_table(model, score, words, asked))
    return blocks, [in_brief(all_groups, words, asked.alpha)]


def _is_small(group: GroupOf, model: OfModel, asked: Asked) -> bool:
    """Tell whether a group has too few rows of one of the outcomes to be ranked."""
    return group.is_small(model.rates.errors[0], asked.min_support)


def _table(model: OfModel, score: OfScore, words: Words, asked: Asked) -> Table:
    shown = shown_columns(model.columns, asked)
    by_column: Mapping[int, Mapping[Any, SameScore]] = {
        one.column: one.groups for one in score.same
    }
    span = around_zero(
        by_column[one.column.number][group.value].difference.estimate
        for one in shown
        for group in one.groups
        if not _is_small(group, model, asked)
    )

    def row(column: ColumnOf, group: GroupOf) -> TableRow:
        found = by_column[column.number][group.value]
        of = found.difference.estimate
        cells = [
            Cell(count(of.n)),
            Cell(percent(found.observed)),
            Cell(percent(found.expected)),
            Cell(
                POINTS.estimate(of) if of.is_known else "undefined",
                APART.limits(of) if of.has_limits else "",
            ),
            Cell(bar=span.bar(of)),
            Cell(p_value(found.difference.adjusted, asked.alpha)),
        ]
        return TableRow(
            heading_of(group),
            cells,
            is_small=_is_small(group, model, asked),
            differs=found.difference.is_shown(asked.alpha),
        )

    heads = [
        Head("Group", "text"),
        Head("Out of"),
        Head(sentence(words.happened)),
        Head("Expected at the same scores"),
        Head(f"Points more than others ({level_of(asked)} limits)", "estimate"),
        Head(PLOT, "plot", span.axis(POINTS, 0.0)),
        Head("p"),
    ]
    n_more = len(model.columns) - len(shown)
    more = f" {plural(n_more, 'more column', 'more columns')} not examined." if n_more else ""
    under = (
        f"Expected: if {words.many} of the group were {words.happened} as often as all with the "
        "same scores. Above 0, scores of the group are low for what happened, beside those of "
        "others; below 0, high. p is adjusted. Diamonds: shown to differ. Hollow: too few "
        f"to rank.{more}"
    )
    return Table(
        "Groups beside others with the same scores", heads, groups_of(shown, asked, row), under
    )
