"""What was examined: how many rows, of which groups, and what is missing."""

from balframe.audit_page.design import design_sentences, design_values, label_shares
from balframe.audit_page.document import Block, Cell, Head, Paragraph, Section, Table
from balframe.audit_page.groups import MAX_GROUPS, GroupFigures
from balframe.audit_page.numbers import count, percent
from balframe.audit_page.request import Words
from balframe.audit_page.results import Audit, ModelFigures
from balframe.audit_page.sections.limitations import small_groups
from balframe.audit_page.sections.missing_values import (
    bins_sentence,
    left_out_sentences,
    left_out_tables,
    without_group,
)
from balframe.audit_page.tables import columns_not_shown, group_rows, groups_not_shown, total_row
from balframe.audit_page.text import caller_text, capitalize, join_words, plural
from balframe.audit_page.unlabelled_rows import (
    assumption,
    few_labels,
    labelled_clause,
    labelled_share,
)
from balframe.core.label_set import Label

_MAX_LABELS = 4


def section(audit: Audit) -> Section:
    """State what was examined: the rows once, and the predictions of each model."""
    words = audit.request.words
    first, *others = audit.models
    sentences = [f"{model.name}: {predicted_summary(model, words)}" for model in others]
    if not first.cells.is_binary:
        sentences = []
    left_out, no_group = left_out_sentences(audit), without_group(first)
    blocks = [*_blocks(audit), *map(Paragraph, [*sentences, *left_out]), *left_out_tables(audit)]
    start = [summary(first, words), *([assumption(first)] if audit.request.is_corrected else [])]
    brief = [*start, *sentences, *left_out, *([no_group] if no_group else [])]
    return Section("examined", "What was examined?", blocks, brief)


def summary(model: ModelFigures, words: Words) -> str:
    """State in a sentence how many rows there are, and how often both outcomes occur."""
    overall = model.overall
    start = f"{examined(overall.n, words)}{labelled_clause(overall, model.request)}"
    if not model.cells.is_binary:
        return f"{start}, with {plural(len(model.cells.labels), 'label', 'labels')}."
    shares = label_shares(model.cells, overall)
    happened, predicted = percent(shares.true[model.positive]), _percent_predicted(model)
    by = f" by {model.name}" if model.name else ""
    were = "are estimated to be" if model.request.is_corrected else "were"
    return (
        f"{start}; {happened} {were} {model.happened}, and {predicted} had been "
        f"{model.predicted}{by}{not_compared(model)}."
    )


def examined(n: int, words: Words) -> str:
    """Return how many rows were examined: `720 runs were examined`."""
    return f"{capitalize(words.rows(n))} {'was' if n == 1 else 'were'} examined"


def not_compared(model: ModelFigures) -> str:
    """Count the groups that are small or withheld: `; 2 of 6 groups are too small to compare`."""
    n_small, n_withheld = small_groups(model), _count_withheld(model)
    n, n_groups = n_small + n_withheld, sum(len(column.largest_groups) for column in model.columns)
    if not n:
        return ""
    reasons = ["too small to compare"] * (n_small > 0) + ["withheld"] * (n_withheld > 0)
    groups = f"{n:,} of {n_groups:,} groups {'is' if n == 1 else 'are'}"
    return f"; {'the only group is' if n_groups == 1 else groups} {' or '.join(reasons)}"


def _count_withheld(model: ModelFigures) -> int:
    return sum(group.is_withheld for column in model.columns for group in column.largest_groups)


def predicted_summary(model: ModelFigures, words: Words) -> str:
    """State in a sentence how often one of several models predicts the positive label."""
    return (
        f"{_percent_predicted(model)} of {words.rows(model.overall.n)} had been {model.predicted}."
    )


def _percent_predicted(model: ModelFigures) -> str:
    return percent(label_shares(model.cells, model.overall).predicted[model.positive])


def _blocks(audit: Audit) -> list[Block]:
    model = audit.models[0]
    blocks: list[Block] = [Paragraph(" ".join(_sentences(audit)))]
    if model.columns:
        blocks += [_table(model), *group_notes(model)]
    return blocks


def group_notes(model: ModelFigures) -> list[Paragraph]:
    """State which groups are too small to compare, and which are not shown."""
    least = model.words.rows(model.request.min_support)
    of_one, of_each = _sides(model)
    n_withheld = _count_withheld(model)
    withheld = ", and groups whose figures are withheld" if n_withheld else ""
    small = (
        f"In italics: groups with fewer than {least}{of_one}{withheld}. They are in no "
        "comparison, and no sentence on rates is about them."
    )
    if not small_groups(model) + n_withheld:
        small = f"Every group has at least {least}{of_each}, so all are compared."
    few = few_labels(model) if model.request.is_corrected else ""
    notes = [small, few, groups_left_out(model), columns_not_shown(model.request)]
    return [Paragraph(note, is_note=True) for note in notes if note]


def _sides(model: ModelFigures) -> tuple[str, str]:
    """Return of which rows a group needs enough: those of one outcome, or of a label, or all."""
    if model.request.is_of_outcomes:
        return "", ""
    whose = " whose outcome is known," if model.request.is_corrected else ""
    if model.cells.is_binary:
        return f"{whose} on one side of the outcome", f"{whose} on each side of the outcome"
    return f"{whose} of a label", f"{whose} of each label"


def groups_left_out(model: ModelFigures) -> str:
    """State which columns have more groups than the page shows; empty if none has."""
    columns = [
        f"{more} of {model.request.column(column.number)}"
        for column in model.columns
        if (more := groups_not_shown(column, model))
    ]
    if not columns:
        return ""
    return (
        f"The page shows the {MAX_GROUPS} largest groups of a column, and compares only these. Not "
        f"shown: {'; '.join(columns)}."
    )


def _table(model: ModelFigures) -> Table:
    labels, words, is_corrected = _frequent_labels(model), model.words, model.request.is_corrected
    titles = [words.happened(label) for label in labels]
    if model.cells.is_binary:
        titles.append(model.predicted)
    if is_corrected:
        titles = ["outcome known", *titles]

    def cells(group: GroupFigures) -> list[Cell]:
        shares = label_shares(model.cells, group)
        parts = [(group.n, percent(shares.of_all))]
        if is_corrected:
            parts.append((group.n_labelled, labelled_share(group)))
        for label in labels:
            parts.append((group.n_true[label], percent(shares.true[label])))
            if model.cells.is_binary:
                parts.append((group.n_predicted[label], percent(shares.predicted[label])))
        return [Cell(text) for n, part in parts for text in (count(n), part)]

    named = join_words([words.happened(label) for label in labels])
    estimated = f"{capitalize(named)}: known, and the estimated share of all. " * is_corrected
    return Table(
        f"{capitalize(words.plural)} examined, by group",
        [
            Head("Group", "text"),
            *(Head(capitalize(title), span=2) for title in [words.plural, *titles]),
        ],
        group_rows(model, model.rates.compared, cells, n_column=0),
        estimated.rstrip(),
        total=total_row(model, cells(model.overall)),
    )


def _frequent_labels(model: ModelFigures) -> list[Label]:
    """Return the labels that the table counts: the positive one of two, or the most frequent."""
    if model.cells.is_binary:
        return [model.positive]
    labels, n_true = model.cells.labels, model.cells.n_true
    frequent = sorted(labels, key=lambda label: -n_true[label])[:_MAX_LABELS]
    return [label for label in labels if label in frequent]


def _sentences(audit: Audit) -> list[str]:
    """State how many rows there are, how often what happened, and whether nothing is missing."""
    model = audit.models[0]
    words, overall = model.words, model.overall
    n = capitalize(words.rows(overall.n))
    if model.request.is_corrected:
        sentences = _of_labelled_rows(model)
    elif not model.cells.is_binary:
        n_labels = plural(len(model.cells.labels), "label", "labels")
        sentences = [
            f"{n}, each with what happened and the {words.prediction}, one of {n_labels}.",
            most_frequent(model, words),
        ]
    else:
        happened, predicted = model.happened, model.predicted
        n_true, n_predicted = overall.n_true[model.positive], overall.n_predicted[model.positive]
        shares = label_shares(model.cells, overall)
        sentences = [
            f"{n}, each with what happened ({happened}, or not) and the {words.prediction} "
            f"({predicted}, or not).",
            f"{count(n_true)} of them ({percent(shares.true[model.positive])}) were {happened}; "
            f"{count(n_predicted)} ({percent(shares.predicted[model.positive])}) had been "
            f"{predicted}.",
        ]
    sentences += design_sentences(model.cells)
    sentences += filter(None, [bins_sentence(model), without_group(model), nothing_missing(audit)])
    if model.cells.step is not None:
        but = "" if model.cells.scored is None else ", except for scoring rates"
        sentences.append(
            f"There are very many different scores; they were rounded down to multiples of "
            f"{model.cells.step:g}{but}."
        )
    return sentences


def _of_labelled_rows(model: ModelFigures) -> list[str]:
    """State of how many rows the outcome is known, and what that says of all."""
    words, overall = model.words, model.overall
    predicted = happened = ""
    if model.cells.is_binary:
        predicted, happened = f" ({model.predicted}, or not)", f" ({model.happened}, or not)"
    sentences = [
        f"{capitalize(words.rows(overall.n))}, each with the {words.prediction}{predicted}. What "
        f"happened{happened} is known of {count(overall.n_labelled)} of them "
        f"({labelled_share(overall)}).",
        assumption(model),
    ]
    if model.cells.is_binary:
        shares = label_shares(model.cells, overall)
        sentences.append(
            f"So {percent(shares.true[model.positive])} are estimated to be {model.happened}; "
            f"{count(overall.n_predicted[model.positive])} ({_percent_predicted(model)}) had been "
            f"{model.predicted}."
        )
    return sentences


def most_frequent(model: ModelFigures, words: Words) -> str:
    """Name the most frequent label of several."""
    n_true = model.cells.n_true
    label = max(model.cells.labels, key=lambda label: n_true[label])
    share = label_shares(model.cells, model.overall).true[label]
    return (
        f"The most frequent: {count(n_true[label])} ({percent(share)}) "
        f"were {words.happened(label)}."
    )


def nothing_missing(audit: Audit) -> str:
    """State that no value is missing; empty if rows were left out."""
    request, model = audit.request, audit.models[0]
    if any(other.cells.n_missing for other in audit.models):
        return ""
    columns = [] if without_group(model) else [*map(caller_text, request.by)]
    names = [f"of {join_words(columns)}"] if columns else []
    names += [] if request.is_corrected else ["of the outcome"]
    names += [] if request.is_of_outcomes else [f"of the {model.words.prediction}"]
    names += ["of the score"] if model.scores else []
    names += design_values(model.cells)
    return f"No value {join_words(names, 'or')} is missing."
