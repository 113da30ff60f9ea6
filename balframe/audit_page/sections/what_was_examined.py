"""What was examined: how many rows, of which groups, and what is missing."""

from collections.abc import Sequence

from balframe.audit_page.document import Block, Cell, Head, Paragraph, Section, Table
from balframe.audit_page.groups import GroupFigures
from balframe.audit_page.numbers import count, percent, share
from balframe.audit_page.request import Words
from balframe.audit_page.results import Audit, ModelFigures
from balframe.audit_page.tables import (
    ColumnRows,
    choose_groups,
    group_rows,
    left_out_columns,
    total_row,
)
from balframe.audit_page.text import caller_text, capitalize, join_words, plural
from balframe.core.label_set import Label

_MAX_LABELS = 4


def section(audit: Audit) -> Section:
    """State what was examined: the rows once, and the predictions of each model."""
    words = audit.request.words
    first, *others = audit.models
    blocks, brief = _blocks(first), [summary(first, words)]
    if first.cells.is_binary:
        sentences = [f"{model.name}: {called_summary(model, words)}" for model in others]
        blocks += map(Paragraph, sentences)
        brief += sentences
    return Section("examined", "What was examined?", blocks, brief)


def summary(model: ModelFigures, words: Words) -> str:
    """State in a sentence how many rows there are, and how often both outcomes occur."""
    overall = model.overall
    start = f"{capitalize(words.rows(overall.n))} {_were(overall.n)} examined"
    if not model.cells.is_binary:
        return f"{start}, with {plural(len(model.cells.labels), 'label', 'labels')}."
    happened = share(overall.n_true[model.positive], overall.n)
    called = share(overall.n_called[model.positive], overall.n)
    by = f" by {model.name}" if model.name else ""
    return f"{start}; {happened} were {model.happened}, and {called} had been {model.called}{by}."


def called_summary(model: ModelFigures, words: Words) -> str:
    """State in a sentence how often one of several models predicts the positive label."""
    called = share(model.overall.n_called[model.positive], model.overall.n)
    return f"{called} of {words.rows(model.overall.n)} had been {model.called}."


def _were(n: int) -> str:
    return "was" if n == 1 else "were"


def _blocks(model: ModelFigures) -> list[Block]:
    chosen = choose_groups(model)
    blocks: list[Block] = [Paragraph(" ".join(_sentences(model)))]
    if chosen:
        side = "on one side of the outcome" if model.cells.is_binary else "of a label"
        least = model.words.rows(model.request.min_support)
        small = (
            f"In grey italics: groups with fewer than {least} {side}. Their rates are shown and "
            "not ranked."
        )
        blocks += [_table(model, chosen), Paragraph(small, is_note=True)]
        if left_out := left_out_columns(model):
            blocks.append(Paragraph(left_out, is_note=True))
    return blocks


def _table(model: ModelFigures, chosen: Sequence[ColumnRows]) -> Table:
    labels, words = _frequent_labels(model), model.words
    titles = [words.happened(label) for label in labels]
    if model.cells.is_binary:
        titles.append(model.called)

    def cells(group: GroupFigures) -> list[Cell]:
        parts = [(group.n, model.overall.n)]
        for label in labels:
            parts.append((group.n_true[label], group.n))
            if model.cells.is_binary:
                parts.append((group.n_called[label], group.n))
        return [Cell(text) for n, whole in parts for text in (count(n), share(n, whole))]

    return Table(
        f"{capitalize(words.plural)} examined, by group",
        [
            Head("Group", "text"),
            *(Head(capitalize(title), span=2) for title in [words.plural, *titles]),
        ],
        group_rows(chosen, model.rates.compared, cells),
        total=total_row(model, cells(model.overall)),
    )


def _frequent_labels(model: ModelFigures) -> list[Label]:
    """Return the labels that the table counts: the positive one of two, or the most frequent."""
    if model.cells.is_binary:
        return [model.positive]
    labels, n_true = model.cells.labels, model.cells.n_true
    frequent = sorted(labels, key=lambda label: -n_true[label])[:_MAX_LABELS]
    return [label for label in labels if label in frequent]


def _sentences(model: ModelFigures) -> list[str]:
    """State how many rows there are, how often what happened, and what is missing."""
    words, overall = model.words, model.overall
    n = capitalize(words.rows(overall.n))
    if not model.cells.is_binary:
        n_labels = plural(len(model.cells.labels), "label", "labels")
        sentences = [
            f"{n}, each with what happened and with the call that was made, one of {n_labels}.",
            most_frequent(model, words),
        ]
    else:
        happened, called = model.happened, model.called
        n_true, n_called = overall.n_true[model.positive], overall.n_called[model.positive]
        sentences = [
            f"{n}, each with what happened ({happened}, or not) and with the call that was made "
            f"({called}, or not).",
            f"{count(n_true)} of them ({share(n_true, overall.n)}) were {happened}; "
            f"{count(n_called)} ({share(n_called, overall.n)}) had been {called}.",
        ]
    sentences += missing(model)
    if model.cells.step is not None:
        sentences.append(
            f"There are very many different scores; they were rounded down to multiples of "
            f"{model.cells.step:g}."
        )
    return sentences


def most_frequent(model: ModelFigures, words: Words) -> str:
    """Name the most frequent label of several."""
    n_true = model.cells.n_true
    label = max(model.cells.labels, key=lambda label: n_true[label])
    return (
        f"The most frequent: {count(n_true[label])} ({percent(n_true[label] / model.overall.n)}) "
        f"were {words.happened(label)}."
    )


def missing(model: ModelFigures) -> list[str]:
    """State what is missing: values of groups, and rows that were left out."""
    request, words, sentences = model.request, model.words, []
    without_value = [
        f"{words.rows(group.n)} {'has' if group.n == 1 else 'have'} no value of "
        f"{request.column(column.number)}"
        for column in model.columns
        for group in column.groups
        if group.value is None
    ]
    others = ["of the outcome", "of the call", *(["of the score"] if model.scores else [])]
    if without_value:
        sentences.append(f"{capitalize(join_words(without_value))}; they are a group of their own.")
    if n := model.cells.n_missing:
        sentences.append(
            f"{capitalize(words.rows(n))} without a value {join_words(others, 'or')} "
            f"{_were(n)} left out."
        )
    elif without_value:
        sentences.append(f"No value {join_words(others, 'or')} is missing.")
    else:
        columns = [f"of {join_words([*map(caller_text, request.by)])}"] if request.by else []
        sentences.append(f"No value {join_words([*columns, *others], 'or')} is missing.")
    return sentences
