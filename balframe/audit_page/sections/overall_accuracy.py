"""How often the predictions are right, overall."""

from collections.abc import Callable

from balframe.audit_page.document import (
    Block,
    Cell,
    Fact,
    Facts,
    Head,
    Matrix,
    MatrixCell,
    Paragraph,
    RowGroup,
    Section,
    Table,
    TableRow,
)
from balframe.audit_page.numbers import PERCENT, Estimate, comparison_scale, count, percent, share
from balframe.audit_page.rates import BALANCED
from balframe.audit_page.results import Audit, ModelFigures, report_models
from balframe.audit_page.text import capitalize, label
from balframe.core.label_set import Label

_MAX_LABELS = 12  # of a matrix
_FACTS = ("accuracy", "recall", "specificity", "precision")


def section(audit: Audit) -> Section:
    """State how often the predictions are right."""
    blocks, brief = report_models(audit, lambda model: (_blocks(model), [summary(model)]))
    return Section("right", "How often are the calls right?", blocks, brief)


def majority_share(model: ModelFigures) -> float:
    """Return how often the most frequent label would be right."""
    return max(model.cells.n_true.values()) / model.overall.n


def summary(model: ModelFigures) -> str:
    """State how often the predictions are right, and how often one answer for all would be."""
    accuracy = model.overall.rates[model.rates.by_metric("accuracy")]
    always = majority_share(model)
    scale = comparison_scale(accuracy, always)
    return (
        f"{scale.with_limits(accuracy)} of the calls were right; always giving the "
        f"{_more(model)} frequent answer would have been right for "
        f"{scale.number(always)}%{_not_better(accuracy, always)}."
    )


def _more(model: ModelFigures) -> str:
    return "more" if len(model.cells.labels) == 2 else "most"


def _not_better(accuracy: Estimate, always: float) -> str:
    if accuracy.lower is None or accuracy.lower > always:
        return ""
    assert accuracy.upper is not None
    if accuracy.upper < always:
        return ", more often than the calls"
    return ", and the calls are not shown to be right more often"


def _blocks(model: ModelFigures) -> list[Block]:
    overall, cells = model.overall.rates, model.cells
    facts = [
        Fact(
            percent(overall[rate].value),
            PERCENT.limits(overall[rate]),
            f"of {rate.among} {rate.event}",
        )
        for rate in model.rates.overall
        if rate.metric in _FACTS and overall[rate].is_defined
    ]
    balanced = overall[model.rates.by_metric(BALANCED)]
    blocks: list[Block] = [Facts(facts), Paragraph(assessment(model, balanced))]
    if cells.is_binary or len(cells.labels) <= _MAX_LABELS:
        blocks.append(_matrix(model))
    if not cells.is_binary:
        blocks.append(_missed_table(model))
    return blocks


def assessment(model: ModelFigures, balanced: Estimate) -> str:
    """Compare the accuracy with that of one answer for all, and with the balanced accuracy."""
    accuracy = model.overall.rates[model.rates.by_metric("accuracy")]
    n_labels = sum(n > 0 for n in model.cells.n_true.values())
    start = (
        f"Is {percent(accuracy.value)} much? Always giving the {_more(model)} frequent answer "
        f"would be right for {percent(majority_share(model))}. "
    )
    if n_labels < 2:
        return (
            f"{start}All rows have the same outcome, so nothing can be said of how well the calls "
            "tell outcomes apart."
        )
    chance = 1 / n_labels
    scale = comparison_scale(balanced, chance)
    rates = (
        "the second and the third number above"
        if model.cells.is_binary
        else "the shares found of all labels"
    )
    is_better = balanced.lower is None or balanced.lower > chance
    end = "" if is_better else " The calls are not shown to be better than guessing."
    return (
        f"{start}If all outcomes count equally, however many {model.words.plural} each is about, "
        f"the calls score {scale.with_limits(balanced)}, where guessing scores "
        f"{scale.number(chance)}% and being always right 100%. This is the balanced accuracy, "
        f"the mean of {rates}.{end}"
    )


def _matrix(model: ModelFigures) -> Matrix:
    cells, words, positive = model.cells, model.words, model.cells.positive
    labels = sorted(cells.labels, key=lambda label: label == positive)
    rows = []
    for truth in labels:
        row = []
        for call in labels:
            n = cells.matrix.get((truth, call), 0)
            row.append(MatrixCell(count(n), share(n, cells.n_true[truth]), truth != call))
        rows.append((_matrix_heading(words.happened, truth, positive), row))
    return Matrix(
        "All calls beside what happened",
        f"{words.rows(model.overall.n)}; shares of each row.",
        [_matrix_heading(words.called, call, positive) for call in labels],
        rows,
    )


def _matrix_heading(words: Callable[[Label], str], label: Label, positive: Label | None) -> str:
    if positive is None:
        return capitalize(words(label))
    return capitalize(words(positive)) if label == positive else f"Not {words(positive)}"


def _missed_table(model: ModelFigures) -> Table:
    """List for each label how many rows of it were missed."""
    rows = []
    for rate in model.rates.errors:
        missed = model.overall.rates[rate]
        cells = [Cell(count(missed.n)), Cell(percent(missed.value), PERCENT.limits(missed))]
        rows.append(TableRow(label(rate.positive), cells))
    n_labels = len(model.cells.labels)
    return Table(
        "Missed, by label",
        [Head("Label", "text"), Head("Out of"), Head("Missed (limits)", "estimate")],
        [RowGroup("", rows)],
        f"The {len(rows)} most frequent of {n_labels} labels." if len(rows) < n_labels else "",
    )
