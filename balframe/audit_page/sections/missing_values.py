"""Who was left out because a value is missing, and which rows have no value in a group column."""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from balframe.audit_page.disclosure import WITHHELD, withheld_parts
from balframe.audit_page.document import Cell, Head, RowGroup, Table, TableRow
from balframe.audit_page.groups import ColumnFigures, GroupFigures, largest
from balframe.audit_page.left_out_rows import LeftOutRows, Reason, RowCounts
from balframe.audit_page.numbers import count, share
from balframe.audit_page.queries import ModelCells, by_name
from balframe.audit_page.request import Words
from balframe.audit_page.results import Audit, ModelFigures
from balframe.audit_page.text import (
    capitalize,
    in_quotes,
    isolate,
    join_words,
    label,
    plural,
    quote,
)

_MAX_NOT_EXAMINED = 5  # groups of a column of which all rows were left out


def left_out_sentences(audit: Audit) -> list[str]:
    """State who was left out: of each model, or once where it is the same for all."""
    return [
        f"{name}: {left_out_sentence(model)}" if name else left_out_sentence(model)
        for name, model in _with_left_out_rows(audit)
    ]


def left_out_tables(audit: Audit) -> list[Table]:
    """Show who was left out by group, likewise."""
    return [
        left_out_table(model, name)
        for name, model in _with_left_out_rows(audit)
        if model.columns and not has_withheld_counts(model)
    ]


def _with_left_out_rows(audit: Audit) -> Iterator[tuple[str, ModelFigures]]:
    """Yield the models of which rows were left out, by name; one if it is the same for all."""
    first, *others = audit.models
    if all(_has_same_rows(first.cells, other.cells) for other in others):
        if first.cells.row_counts is not None:
            yield "", first
        return
    for model in audit.models:
        if model.cells.row_counts is not None:
            yield model.name, model


def _has_same_rows(cells: ModelCells, other: ModelCells) -> bool:
    if cells.row_counts is None or other.row_counts is None:
        return cells.row_counts is other.row_counts
    return bool(cells.row_counts.frame.equals(other.row_counts.frame))


def left_out_sentence(model: ModelFigures) -> str:
    """State how many rows were left out, why, and in which groups most and least often."""
    total, words = _row_counts(model).total, model.words
    reasons = total.reasons
    names = [reason_word(reason, words) for reason in reasons]
    if has_withheld_counts(model):
        return (
            f"Some {words.plural} were left out, because their {join_words(names, 'or')} is "
            "missing; how many is withheld."
        )
    was, their = ("was", "the") if total.n_left_out == 1 else ("were", "their")
    if len(reasons) > 1:
        pairs = zip(names, reasons, strict=True)
        names = [f"{name} ({count(total.missing[reason])})" for name, reason in pairs]
    return (
        f"{count(total.n_left_out)} of {words.rows(total.n)} "
        f"({share(total.n_left_out, total.n)}) {was} left out, because {their} "
        f"{join_words(names, 'or')} is missing{_extremes(model)}."
    )


def _row_counts(model: ModelFigures) -> RowCounts:
    assert model.cells.row_counts is not None, "there are rows that were left out"
    return model.cells.row_counts


def has_withheld_counts(model: ModelFigures) -> bool:
    """Return whether so few of all rows were left out for a reason that the page may not say so."""
    least = model.request.suppress
    return least is not None and min(_shown_counts(_row_counts(model).total, model)) < least


def _shown_counts(rows: LeftOutRows, model: ModelFigures) -> list[int]:
    """Return the counts that the table has of a group, which add up to its rows in the data."""
    reasons = _row_counts(model).total.reasons
    return [rows.n_examined, *(rows.missing[reason] for reason in reasons)]


def reason_word(reason: Reason, words: Words) -> str:
    """Return the word for a value that is missing."""
    return words.prediction if reason == "prediction" else reason


def _extremes(model: ModelFigures) -> str:
    """Name the groups that are left out most and least often, in the column of the largest gap.

    Small groups are not named.
    """
    request, text, largest_gap = model.request, "", 0.0
    for column in model.columns:
        large = [
            part.rows
            for part in column_parts(model, column)
            if part.rows.n >= request.min_support and not part.is_withheld and not part.is_rest
        ]
        least, most = (
            pick(large, key=lambda group: group.share, default=None) for pick in (min, max)
        )
        if least is not None and most is not None and most.share - least.share > largest_gap:
            largest_gap = most.share - least.share
            text = (
                f"; by {request.column(column.number)}, most often for {_name(most)}, least often "
                f"for {_name(least)}"
            )
    return text


def _name(group: LeftOutRows) -> str:
    value = "those without a value" if group.value is None else quote(group.value)
    return f"{value} ({share(group.n_left_out, group.n)})"


def left_out_table(model: ModelFigures, name: str = "") -> Table:
    """Show how many rows of each group were left out, and which value they lack."""
    words, total = model.words, _row_counts(model).total

    def cells(rows: LeftOutRows) -> list[Cell]:
        numbers = [rows.n, *_shown_counts(rows, model)]
        return [*(Cell(count(n)) for n in numbers), Cell(share(rows.n_left_out, rows.n))]

    def row(part: Part) -> TableRow:
        if part.is_withheld:
            blank = [Cell() for _ in cells(total)[1:]]
            return TableRow(part.heading, [Cell(WITHHELD), *blank], is_small=True)
        is_small = part.is_rest or part.rows.n < model.request.min_support
        return TableRow(part.heading, cells(part.rows), is_small=is_small)

    groups = [
        RowGroup(
            model.request.column_title(column.number), [*map(row, column_parts(model, column))]
        )
        for column in model.columns
    ]
    reasons = [f"Without {reason_word(reason, words)}" for reason in total.reasons]
    return Table(
        f"Left out, by group ({name})" if name else "Left out, by group",
        [Head("Group", "text"), *map(Head, ["In the data", "Examined", *reasons, "Left out"])],
        groups,
        f"Left out: the share of the {words.plural} of a group in the data. It describes who is "
        "missing; no test is made of whether groups differ in it.",
        TableRow(f"All {words.plural}", cells(total), is_total=True),
    )


class Part(NamedTuple):
    """A row of the table: a group of a column, or all that are not shown together."""

    heading: str
    rows: LeftOutRows
    is_rest: bool = False
    is_withheld: bool = False


def column_parts(model: ModelFigures, column: ColumnFigures) -> list[Part]:
    """Return the groups that other tables show, the largest not examined, and the rest."""
    groups = _row_counts(model).by_group(by_name(column.number))
    examined = {group.value for group in column.groups}
    not_examined = [group for group in groups if group.value not in examined]
    values = {group.value for group in column.largest_groups}
    values |= {
        group.value for group in largest(not_examined, _MAX_NOT_EXAMINED, lambda group: group.n)
    }
    parts = [Part(label(group.value), group) for group in groups if group.value in values]
    if rest := [group for group in groups if group.value not in values]:
        more = plural(len(rest), "more group", "more groups")
        parts.append(Part(more, _sum(rest), is_rest=True))
    return _withhold(model, column, parts)


def _withhold(model: ModelFigures, column: ColumnFigures, parts: Sequence[Part]) -> list[Part]:
    """Withhold parts with a small count, or that would reveal one, here or in another table."""
    least = model.request.suppress
    if least is None:
        return list(parts)
    named_values = {group.value for group in column.largest_groups if not group.is_withheld}
    is_known = [part.is_rest or part.rows.value in named_values for part in parts]
    counts = [  # the first is small of those that are withheld anyway
        [least if known_elsewhere else least - 1, *_shown_counts(part.rows, model)]
        for part, known_elsewhere in zip(parts, is_known, strict=True)
    ]
    withheld = withheld_parts(counts, least)
    return [part._replace(is_withheld=i in withheld) for i, part in enumerate(parts)]


def _sum(groups: Sequence[LeftOutRows]) -> LeftOutRows:
    missing = {reason: sum(g.missing[reason] for g in groups) for reason in groups[0].missing}
    return LeftOutRows(None, sum(group.n for group in groups), missing)


def left_out_limitation(audit: Audit) -> str:
    """State what the rows that were left out may change; empty without any."""
    models = [model for model in audit.models if model.cells.row_counts is not None]
    if not models:
        return ""
    totals = [_row_counts(model).total for model in models]
    most, words = max(totals, key=lambda total: total.n_left_out), audit.request.words
    is_same = len(models) == len(audit.models) and len({rows.n_left_out for rows in totals}) == 1
    who = f"{count(most.n_left_out)} of {words.rows(most.n)}"
    who = f"{who if is_same else f'Up to {who}'} {'is' if most.n_left_out == 1 else 'are'}"
    if any(map(has_withheld_counts, models)):
        who = f"Some {words.plural} are"
    return (
        f"{who} in no {audit.models[0].rates.noun}. Where values are not missing by chance, the "
        "rates of those examined may differ from the rates of all, and in some groups by more than "
        "in others."
    )


def without_group(model: ModelFigures) -> str:
    """State how many rows have no value of a column of groups; empty where all have one."""
    request, words = model.request, model.words
    parts = [
        f"{_group_size(group, words)} no value of {request.column(column.number)}"
        for column in model.columns
        for group in column.groups
        if group.value is None
    ]
    if not parts:
        return ""
    return f"{capitalize(join_words(parts))}; they are a group of their own."


def _group_size(group: GroupFigures, words: Words) -> str:
    """Return how many rows a group has, as a subject with its verb."""
    if group.is_withheld:
        return f"some {words.plural} have"
    return f"{words.rows(group.n)} {'has' if group.n == 1 else 'have'}"


def bins_sentence(model: ModelFigures) -> str:
    """State which columns were cut into bins, and what a bin includes; empty without any."""
    bins = model.cells.bins
    if not bins:
        return ""
    names = join_words([model.request.column(column) for column in bins])
    start = f"{capitalize(names)} {'is' if len(bins) == 1 else 'are'} cut into bins"
    texts_of_columns = [entry.texts for entry in bins.values() if entry.labels is None]
    inner = next((texts[1] for texts in texts_of_columns if len(texts) > 2), None)
    if inner is None:
        return f"{start}."
    low, high = map(isolate, inner.split(" to "))
    return f"{start}; {in_quotes(isolate(inner))} includes {low} and excludes {high}."
