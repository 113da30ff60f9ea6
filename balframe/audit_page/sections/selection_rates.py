"""How often each group is selected, beside the group with the highest rate of its table."""

from collections.abc import Sequence
from typing import NamedTuple

from balframe.audit_page.document import Block, Heading, Paragraph, Section
from balframe.audit_page.numbers import PERCENT, score_text, share
from balframe.audit_page.results import NO_GROUPS, Audit, LeftOut, ModelFigures, report_models
from balframe.audit_page.sections.impact_figures import (
    BOUND,
    Category,
    ImpactFigures,
    ImpactTable,
    ScoringRates,
)
from balframe.audit_page.sections.impact_tables import (
    TableWords,
    category_name,
    column_names,
    impact_table,
    ratio_scale,
)
from balframe.audit_page.text import OPEN, capitalize, first_names

QUESTION = "How often is each group selected?"
FAVOURABLE_QUESTION = "How often does each group have the favourable result?"
FOUR_FIFTHS = (
    f"By the four-fifths rule (29 CFR 1607.4(D)), a ratio below {BOUND:g} is generally regarded as "
    "evidence of adverse impact. The rule was written for hiring in the United States; elsewhere "
    f"it is a yardstick. This page calls a ratio below {BOUND:g}, or above it, only if its whole "
    "confidence interval is; otherwise it is not decided, since chance may explain the side. What "
    "a law requires does not follow from a ratio alone."
)
MARKS = (
    "Solid line of the plots: as often as the highest rate.{dashed} Diamonds, or bold: established "
    "to differ from the highest rate. In italics: no sentence counts the group. The confidence "
    "interval of a ratio allows for having picked the highest rate."
)
_NOT_ESTABLISHED = "; no difference is established"
_MAX_NAMED = 6


class _Compared(NamedTuple):
    """A category that is large enough for a sentence, and its table."""

    category: Category
    table: ImpactTable


def section(audit: Audit, models: Sequence[ImpactFigures]) -> Section | LeftOut:
    """State how often each group is selected, beside the group with the highest rate."""
    if not audit.request.by:
        return LeftOut(QUESTION, NO_GROUPS)
    first = audit.models[0]
    if not first.cells.is_binary:
        return LeftOut(
            QUESTION, f"ratios are about one of two {first.words.predictions}, and there are more"
        )
    if not any(figures.tables for figures in models):
        return LeftOut(QUESTION, _nothing_to_compare(first))
    blocks, brief = report_models(
        audit, lambda model, own: (_blocks(model, own), summary(model, own)), models
    )
    question = QUESTION if audit.request.favourable is None else FAVOURABLE_QUESTION
    return Section("selections", question, blocks, brief)


def _nothing_to_compare(model: ModelFigures) -> str:
    whom = "everybody" if model.request.favourable == "not selected" else "nobody"
    return (
        f"no two groups could be compared: {whom} had been {model.predicted}, or all are of one "
        "group"
    )


def _happened(model: ModelFigures) -> str:
    """Return what is measured: `had been called high risk`, or `had not been` if that is good."""
    is_not = "not " if model.request.favourable == "not selected" else ""
    return f"had {is_not}been {model.predicted}"


# The sentence in brief


def summary(model: ModelFigures, figures: ImpactFigures) -> list[str]:
    """Return how the ratios of each table are beside the four-fifths line, and those of scores.

    Without a favourable side, return the lowest ratio.
    """
    single = [table for table in figures.tables if len(table.columns) == 1]
    if model.request.favourable is None:
        return _lowest(model, single)
    start = f"By the four-fifths rule, on how often groups {_happened(model)}"
    sentences = [_rule_sentence(model, table) for table in single]
    joint = [table for table in figures.tables if len(table.columns) > 1]
    sentences.append(bound_counts(model, joint, "combinations of groups"))
    parts = [part for part in sentences if part]
    brief = [f"{start}: {' '.join(map(_sentence, parts))}"] if parts else []
    if figures.scoring is not None:
        counts = bound_counts(model, figures.scoring.tables, "groups and combinations")
        brief += (
            [f"By the four-fifths rule, on scores relative to the median: {counts}"]
            if counts
            else []
        )
    return brief


def _rule_sentence(model: ModelFigures, table: ImpactTable) -> str:
    """Return the ratios of a column beside the line, and what they are compared with."""
    comparison = bound_comparison(model, table)
    if not comparison:
        return ""
    return f"by {column_names(table.columns, model.request)}, {comparison}"


def _lowest(model: ModelFigures, tables: Sequence[ImpactTable]) -> list[str]:
    """Name the group with the lowest ratio of all columns."""
    compared = _compared(model, tables)
    if not compared:
        return []
    lowest = min(compared, key=_ratio)
    columns = column_names(lowest.table.columns, model.request)
    is_significant = lowest.category.difference.is_significant
    return [
        f"The lowest ratio: {category_name(lowest.category)} ({columns}) {_happened(model)} "
        f"{_times_as_often(model, lowest)}"
        f"{'' if is_significant else _NOT_ESTABLISHED}."
    ]


# Ratios in sentences


def _compared(model: ModelFigures, tables: Sequence[ImpactTable]) -> list[_Compared]:
    """Return the categories that are compared with another one and may stand in a sentence."""
    return [
        _Compared(category, table)
        for table in tables
        for category in table.others(model.request.min_support)
    ]


def _ratio(compared: _Compared) -> float:
    return compared.category.ratio.value or 0.0


def _times_as_often(model: ModelFigures, compared: _Compared) -> str:
    """Write a ratio: `0.64 (0.58 to 0.71) times as often as Other`."""
    times = f"{ratio_scale(model.request).with_limits(compared.category.ratio)} times as often"
    return f"{times} as {_highest_name(model, compared.table)}"


def _highest_name(model: ModelFigures, table: ImpactTable) -> str:
    highest = table.highest
    is_small = highest.is_small(model.request.min_support)
    return "the highest" if is_small else category_name(highest)


def _named(model: ModelFigures, compared: Sequence[_Compared]) -> str:
    """Name categories with their ratios, the lowest first."""
    scale = ratio_scale(model.request)
    names = [
        f"{category_name(row.category)} {scale.with_limits(row.category.ratio)}"
        for row in sorted(compared, key=_ratio)
    ]
    return ", ".join(first_names(names, _MAX_NAMED, lambda n: f"{n} more"))


def _sentence(text: str) -> str:
    """Begin with a capital letter, but leave a name of the data as it is."""
    return text if text.startswith(OPEN) else capitalize(text)


def bound_sides(
    compared: Sequence[_Compared],
) -> tuple[list[_Compared], list[_Compared], list[_Compared]]:
    """Return the ratios whose intervals lie below the bound, include it, and lie above it."""
    below = [row for row in compared if (row.category.ratio.upper or 0.0) < BOUND]
    above = [row for row in compared if (row.category.ratio.lower or 0.0) > BOUND]
    return below, [row for row in compared if row not in below and row not in above], above


def estimates_below(model: ModelFigures, table: ImpactTable) -> list[str]:
    """Return a sentence on the number of ratios below the bound, if intervals do not decide all."""
    compared = _compared(model, [table])
    n_below, n = sum(_ratio(row) < BOUND for row in compared), len(compared)
    below, _, _ = bound_sides(compared)
    if n_below == len(below):
        return []
    if n == 1:
        return [f"Without its confidence interval, the ratio is below {BOUND:g}."]
    are = "is" if n_below == 1 else "are"
    return [f"Without their confidence intervals, {n_below} of {n} ratios {are} below {BOUND:g}."]


def bound_comparison(model: ModelFigures, table: ImpactTable) -> str:
    """Name the ratios of a table on each side of the bound; empty where there is none."""
    sides = zip(
        (f"below {BOUND:g}", "not decided", f"above {BOUND:g}"),
        bound_sides(_compared(model, [table])),
        strict=True,
    )
    parts = [f"{side}: {_named(model, some)}" for side, some in sides if some]
    if not parts:
        return ""
    return f"compared with {_highest_name(model, table)}, {'; '.join(parts)}."


def bound_counts(model: ModelFigures, tables: Sequence[ImpactTable], noun: str) -> str:
    """Count the ratios of tables on each side of the bound; empty where there is none."""
    compared = _compared(model, tables)
    if not compared:
        return ""
    below, undecided, above = map(len, bound_sides(compared))
    lowest = min(compared, key=_ratio)
    ratio = f"{category_name(lowest.category)} {_times_as_often(model, lowest)}"
    if len(compared) == 1:
        side = "not decided" if undecided else f"{'below' if below else 'above'} {BOUND:g}"
        return f"{ratio}, which is {side}."
    return (
        f"of {len(compared)} {noun}, {below} below {BOUND:g}, {undecided} not decided, "
        f"{above} above {BOUND:g}; the lowest: {ratio}."
    )


def neutral_comparison(model: ModelFigures, table: ImpactTable) -> str:
    """Name the groups that are established to have a lower rate than the highest."""
    compared = _compared(model, [table])
    less = [row for row in compared if row.category.difference.is_significant]
    n_open = len(compared) - len(less)
    if not compared:
        return ""
    if len(compared) == 1:
        (category, _) = compared[0]
        times = f"{ratio_scale(model.request).with_limits(category.ratio)} times as often"
        return f"{category_name(category)}: {times}{'' if less else _NOT_ESTABLISHED}."
    if not less:
        return f"of {len(compared)} other groups, none is established to have a lower rate."
    still_open = f"; for {n_open} no difference is established" if n_open else ""
    return (
        f"{len(less)} of {len(compared)} other groups {_happened(model)} less often "
        f"(ratios: {_named(model, less)}){still_open}."
    )


# Blocks


def _blocks(model: ModelFigures, figures: ImpactFigures) -> list[Block]:
    if not figures.tables:
        return [Paragraph(f"{capitalize(_nothing_to_compare(model))}.")]
    sentences = [
        f"{_definition(model)}{_only_selected(model)}",
        _about_favourable(model),
        *(_table_sentences(model, table) for table in figures.tables),
        *(
            f"By {column_names(columns, model.request)} no two groups could be compared."
            for columns in figures.not_compared
        ),
    ]
    words = _selection_words(model)
    dashed = "" if model.request.favourable is None else f" Dashed line: {BOUND:g}."
    marks = Paragraph(MARKS.format(dashed=dashed), is_note=True)
    tables = [impact_table(model, table, words) for table in figures.tables]
    scoring = [] if figures.scoring is None else _scoring_blocks(model, figures.scoring)
    return [*map(Paragraph, sentences), marks, *tables, *scoring]


def _definition(model: ModelFigures) -> str:
    words = model.words
    if model.request.favourable == "not selected":
        start = (
            f"Not to be {model.predicted} is favourable. So the rate of a group is here the share "
            f"of its {words.plural} that {_happened(model)}."
        )
    else:
        start = (
            f"The selection rate of a group is the share of its {words.plural} that "
            f"{_happened(model)}."
        )
    return (
        f"{start} Its impact ratio is this rate divided by the highest one of the groups in the "
        f"same table that have at least 2% of the {words.plural}; 1 means equally often. No "
        f"outcome is needed, so ratios do not show whether the {words.predictions} are right."
    )


def _about_favourable(model: ModelFigures) -> str:
    """Return what the four-fifths rule says, or what would be needed to compare with it."""
    if model.request.favourable is not None:
        return FOUR_FIFTHS
    return (
        f"Whether to be {model.predicted} is good or bad for a {model.words.singular} is not "
        "stated (`favourable`). If it were, ratios would be those of the good side, and would "
        "be compared with the four-fifths rule."
    )


def _only_selected(model: ModelFigures) -> str:
    """Return a sentence on the rows that only this section counts, if there are any."""
    n = model.cells.n_only_selected
    if not n:
        return ""
    missing = "outcome or score" if model.scores else "outcome"
    predicate = "is counted" if n == 1 else "are counted"
    least = model.request.suppress
    if least is not None and n < least:
        return f" Fewer than {model.words.rows(least)} without {missing} are counted here too."
    return f" {capitalize(model.words.rows(n))} without {missing} {predicate} here too."


def _table_sentences(model: ModelFigures, table: ImpactTable) -> str:
    """Return what is to be said of a table: its ratios, and how many are of unknown category."""
    names, highest = column_names(table.columns, model.request), table.highest
    comparison = (
        neutral_comparison(model, table)
        if model.request.favourable is None
        else bound_comparison(model, table)
    )
    if highest.is_small(model.request.min_support):
        start = f"By {names}, the highest rate is that of a group too small to name."
    else:
        rate = PERCENT.with_limits(highest.rate)
        start = f"By {names}, the highest rate is that of {category_name(highest)}, {rate}."
    if any((row.rate.value or 0.0) > (highest.rate.value or 0.0) for row in table.excluded):
        start += (
            " Groups under 2% are not compared. Some of them have a higher rate, relative to "
            "which all ratios would be lower."
        )
    sentences = [start, _sentence(comparison) or "No other group is large enough to name."]
    if model.request.favourable is not None:
        sentences += estimates_below(model, table)
    if table.n_unknown:
        either = column_names(table.columns, model.request, "or")
        unknown = f"The {either} of {model.words.rows(table.n_unknown)} is unknown"
        sentences.append(f"{unknown}, so no group includes them.")
    return " ".join(sentences)


def _selection_words(model: ModelFigures) -> TableWords:
    whose = f"share of the {model.words.plural} of a group that {_happened(model)}"
    if model.request.favourable == "not selected":
        return TableWords(
            f"Not {model.predicted}: rates and impact ratios",
            f"Not {model.predicted}",
            "Rate",
            f"Rate: {whose}, which is 1 minus the selection rate.",
        )
    return TableWords(
        "Selection rates and impact ratios",
        capitalize(model.predicted),
        "Selection rate",
        f"Selection rate: {whose}.",
    )


# Scoring rates


def _scoring_blocks(model: ModelFigures, scoring: ScoringRates) -> list[Block]:
    words, rows = model.score_words, model.words.plural
    median = score_text(scoring.median)
    above = (
        f"The scoring rate of a group is the share of its {rows} whose {words.score} is above the "
        f"median of all {rows}, {median} (6 RCNY 5-300). Of all {rows}, "
        f"{share(scoring.n_above, scoring.n)} are above it."
    )
    if model.request.favourable == "not selected":
        above += (
            f" Since it is favourable not to be {model.predicted}, the tables have the others: the "
            "share at or below the median, which is 1 minus the scoring rate."
        )
    sentences = [above]
    if model.cells.n_missing:
        sentences.append(
            f"Counted are the {model.words.rows(scoring.n)} that have an outcome, a "
            f"{model.words.prediction} and a score."
        )
    if not scoring.tables:
        sentences.append("So no two groups can be compared in it.")
    counts = bound_counts(model, scoring.tables, "groups and combinations")
    return [
        Heading("Scoring rates"),
        Paragraph(" ".join(sentences)),
        *([Paragraph(f"By the four-fifths rule, {counts}")] if counts else []),
        *(impact_table(model, table, _scoring_words(model, median)) for table in scoring.tables),
    ]


def _scoring_words(model: ModelFigures, median: str) -> TableWords:
    score = model.score_words.score
    if model.request.favourable == "not selected":
        return TableWords(
            f"{capitalize(score)} at or below the median: rates and impact ratios",
            "At or below the median",
            "Rate",
            f"Rate: share with a {score} at or below {median}, which is 1 minus the scoring rate.",
        )
    return TableWords(
        "Scoring rates and impact ratios",
        "Above the median",
        "Scoring rate",
        f"Scoring rate: share with a {score} above the median, {median}.",
    )
