"""What was examined of outcomes: how many rows, how many passed, and what is missing."""

from balframe.audit_page.design import design_sentences, label_shares
from balframe.audit_page.document import Block, Cell, Head, Paragraph, Section, Table
from balframe.audit_page.groups import GroupFigures
from balframe.audit_page.numbers import count, percent
from balframe.audit_page.results import Audit, ModelFigures
from balframe.audit_page.sections.missing_values import (
    bins_sentence,
    left_out_sentences,
    left_out_tables,
    without_group,
)
from balframe.audit_page.sections.what_was_examined import (
    examined,
    group_notes,
    not_compared,
    nothing_missing,
)
from balframe.audit_page.tables import group_rows, total_row
from balframe.audit_page.text import capitalize


def section(audit: Audit) -> Section:
    """State what was examined: the rows once, and how many passed of each model."""
    first, words = audit.models[0], audit.request.words
    left_out, no_group = left_out_sentences(audit), without_group(first)
    blocks: list[Block] = [Paragraph(" ".join(_sentences(audit)))]
    if first.columns:
        blocks += [_table(first), *group_notes(first)]
    blocks += [*map(Paragraph, left_out), *left_out_tables(audit)]
    start = f"{examined(first.overall.n, words)}{not_compared(first)}."
    brief = [start, *left_out, *([no_group] if no_group else [])]
    return Section("examined", "What was examined?", blocks, brief)


def _sentences(audit: Audit) -> list[str]:
    """State how many rows there are, how many passed, and whether nothing is missing."""
    model = audit.models[0]
    n = model.overall.n
    each = "with its outcome" if len(audit.models) == 1 else "with an outcome of each model"
    return [
        f"{capitalize(model.words.rows(n))}, each {each}: {model.words.passed}, or not.",
        *map(n_passed, audit.models),
        *design_sentences(model.cells),
        *filter(None, [bins_sentence(model), without_group(model), nothing_missing(audit)]),
    ]


def n_passed(model: ModelFigures) -> str:
    """State how many rows passed."""
    overall, words = model.overall, model.words
    n, share = overall.n_predicted[model.positive], label_shares(model.cells, overall).predicted
    return (
        f"{f'{model.name}: ' * bool(model.name)}{count(n)} of {words.rows(overall.n)} "
        f"({percent(share[model.positive])}) {words.passed}."
    )


def _table(model: ModelFigures) -> Table:
    """Show how many rows each group has."""

    def cells(group: GroupFigures) -> list[Cell]:
        return [Cell(count(group.n)), Cell(percent(label_shares(model.cells, group).of_all))]

    title = capitalize(model.words.plural)
    return Table(
        f"{title} examined, by group",
        [Head("Group", "text"), Head(title, span=2)],
        group_rows(model, model.rates.compared, cells, n_column=0),
        total=total_row(model, cells(model.overall)),
    )
