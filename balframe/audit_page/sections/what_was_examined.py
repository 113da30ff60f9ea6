"""What was examined: how many rows, of which groups, and what is missing."""

from collections.abc import Sequence

from balframe.audit_page.document import Block, Cell, Head, Paragraph, Section, Table, TableRow
from balframe.audit_page.groups import ColumnOf, GroupOf
from balframe.audit_page.numbers import count, percent, share
from balframe.audit_page.request import Words
from balframe.audit_page.results import Audited, OfModel
from balframe.audit_page.shown_groups import groups_of, heading_of, not_shown, shown_columns
from balframe.audit_page.text import given, plural, sentence, together
from balframe.core.label_set import Label

_MOST_LABELS = 4


def examined(audited: Audited) -> Section:
    """Say what was examined: the rows once, and the calls of each model."""
    words = audited.asked.words
    first, *others = audited.models
    blocks, brief = _blocks(first, audited), [in_brief(first, words)]
    if first.counted.positive is not None:
        said = [f"{model.name}: {called_in_brief(model, words)}" for model in others]
        blocks += [Paragraph(one) for one in said]
        brief += said
    return Section("examined", "What was examined?", blocks, brief)


def in_brief(model: OfModel, words: Words) -> str:
    """Say in a sentence how many rows there are, and how often both outcomes occur."""
    overall, counted = model.overall, model.counted
    said = f"{sentence(words.counted(overall.n))} {_were(overall.n)} examined"
    if counted.positive is None:
        return f"{said}, with {plural(len(counted.labels), 'label', 'labels')}."
    happened = share(overall.n_true[counted.positive], overall.n)
    called = share(overall.n_called[counted.positive], overall.n)
    return (
        f"{said}; {happened} were {words.happened(counted.positive)}, and {called} had been "
        f"{words.called(counted.positive)}" + (f" by {model.name}." if model.name else ".")
    )


def called_in_brief(model: OfModel, words: Words) -> str:
    """Say in a sentence how often the calls of one of several models occur."""
    overall, positive = model.overall, model.counted.positive
    assert positive is not None, "there are two labels"
    called = share(overall.n_called[positive], overall.n)
    return f"{called} of {words.counted(overall.n)} had been {words.called(positive)}."


def _were(n: int) -> str:
    return "was" if n == 1 else "were"


def _blocks(model: OfModel, audited: Audited) -> list[Block]:
    asked = audited.asked
    shown = shown_columns(model.columns, asked)
    blocks: list[Block] = [Paragraph(" ".join(_sentences(model, audited)))]
    if shown:
        labels = _labels_shown(model)
        words = asked.words
        heads = [Head("Group", "text"), Head(sentence(words.many), span=2)]
        if model.counted.positive is not None:
            (positive,) = labels
            heads += [
                Head(sentence(words.happened(positive)), span=2),
                Head(sentence(words.called(positive)), span=2),
            ]
        else:
            heads += [Head(sentence(words.happened(label)), span=2) for label in labels]

        def row(column: ColumnOf, group: GroupOf) -> TableRow:
            is_small = any(group.is_small(one, asked.min_support) for one in model.rates.compared)
            return TableRow(heading_of(group), _cells(model, group, labels), is_small=is_small)

        table = Table(
            f"{sentence(words.many)} examined, by group",
            heads,
            groups_of(shown, asked, row),
            total=TableRow(
                f"All {words.many}", _cells(model, model.overall, labels), is_total=True
            ),
        )
        blocks += [table, Paragraph(_of_small(asked.min_support, model, words), is_note=True)]
        if more := not_shown(model.columns, asked):
            blocks.append(Paragraph(more, is_note=True))
    return blocks


def _of_small(least: int, model: OfModel, words: Words) -> str:
    side = "on one side of the outcome" if model.counted.positive is not None else "of a label"
    return (
        f"In grey italics: groups with fewer than {words.counted(least)} {side}. Their rates are "
        "shown and not ranked."
    )


def _labels_shown(model: OfModel) -> list[Label]:
    counted = model.counted
    if counted.positive is not None:
        return [counted.positive]
    n_true = counted.n_true
    frequent = sorted(counted.labels, key=lambda one: -n_true[one])[:_MOST_LABELS]
    return [one for one in counted.labels if one in frequent]


def _cells(model: OfModel, group: GroupOf, labels: Sequence[Label]) -> list[Cell]:
    numbers = [(group.n, model.overall.n)]
    for label in labels:
        numbers.append((group.n_true[label], group.n))
        if model.counted.positive is not None:
            numbers.append((group.n_called[label], group.n))
    return [Cell(text) for n, of in numbers for text in (count(n), share(n, of))]


def _sentences(model: OfModel, audited: Audited) -> list[str]:
    """Say how many rows there are, how often what happened, and what is missing."""
    words, counted, overall = audited.asked.words, model.counted, model.overall
    n = words.counted(overall.n)
    if counted.positive is None:
        n_labels = plural(len(counted.labels), "label", "labels")
        said = [
            f"{sentence(n)}, each with what happened and with the call that was made, one of "
            f"{n_labels}.",
            most_frequent(model, words),
        ]
    else:
        happened, called = words.happened(counted.positive), words.called(counted.positive)
        n_true, n_called = overall.n_true[counted.positive], overall.n_called[counted.positive]
        said = [
            f"{sentence(n)}, each with what happened ({happened}, or not) and with the call that "
            f"was made ({called}, or not).",
            f"{count(n_true)} of them ({share(n_true, overall.n)}) were {happened}; "
            f"{count(n_called)} ({share(n_called, overall.n)}) had been {called}.",
        ]
    said += missing(model, audited)
    if counted.step is not None:
        said.append(
            f"There are very many different scores; they were rounded down to multiples of "
            f"{counted.step:g}."
        )
    return said


def most_frequent(model: OfModel, words: Words) -> str:
    """Name the most frequent label of several."""
    n_true, n = model.counted.n_true, model.overall.n
    label = max(model.counted.labels, key=lambda one: n_true[one])
    return (
        f"The most frequent: {count(n_true[label])} ({percent(n_true[label] / n)}) were "
        f"{words.happened(label)}."
    )


def missing(model: OfModel, audited: Audited) -> list[str]:
    """Say what is missing: values of groups, and rows that were left out."""
    asked, said = audited.asked, []
    without = [
        (asked.by[column.number], group.n)
        for column in model.columns
        for group in column.groups
        if group.value is None
    ]
    named = [
        f"{asked.words.counted(n)} {'has' if n == 1 else 'have'} no value of {given(str(name))}"
        for name, n in without
    ]
    of_by = [given(str(name)) for name in asked.by]
    rest = ["of the outcome", "of the call", *(["of the score"] if model.score is not None else [])]
    if named:
        said.append(f"{sentence(together(named))}; they are a group of their own.")
    if model.counted.n_missing:
        n = model.counted.n_missing
        said.append(
            f"{sentence(asked.words.counted(n))} without a value {together(rest, 'or')} "
            f"{_were(n)} left out."
        )
    elif named:
        said.append(f"No value {together(rest, 'or')} is missing.")
    else:
        groups = [f"of {together(of_by)}"] if of_by else []
        said.append(f"No value {together([*groups, *rest], 'or')} is missing.")
    return said
