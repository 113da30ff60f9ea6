"""How often the predictions are right, overall."""

from collections.abc import Callable
from itertools import product

from balframe.audit_page.design import outcome_shares
from balframe.audit_page.disclosure import WITHHELD, small_count, withheld_crossings
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
from balframe.audit_page.queries import sum_matrix
from balframe.audit_page.rates import BALANCED
from balframe.audit_page.results import Audit, ModelFigures, report_models
from balframe.audit_page.tables import out_of
from balframe.audit_page.text import capitalize, label
from balframe.core.label_set import Label

MAX_MATRIX_LABELS = 12  # of a matrix
_FACTS = ("accuracy", "recall", "specificity", "precision")


def section(audit: Audit) -> Section:
    """State how often the predictions are right."""
    blocks, brief = report_models(audit, lambda model: (_blocks(model), [summary(model)]))
    question = f"How often are the {audit.request.words.predictions} right?"
    return Section("right", question, blocks, brief)


def majority_share(model: ModelFigures) -> float:
    """Return how often the most frequent label would be right."""
    return max(share or 0.0 for share in outcome_shares(model.cells))


def summary(model: ModelFigures) -> str:
    """State how often the predictions are right, and how often one answer for all would be."""
    accuracy = model.overall.rates[model.rates.by_metric("accuracy")]
    always = majority_share(model)
    scale = comparison_scale(accuracy, always)
    return (
        f"{scale.with_limits(accuracy)} of the {model.words.predictions} were right; always giving "
        f"the {_more(model)} frequent answer would have been right for "
        f"{scale.number(always)}%{_not_better(accuracy, always, model.words.predictions)}."
    )


def _more(model: ModelFigures) -> str:
    return "more" if len(model.cells.labels) == 2 else "most"


def _not_better(accuracy: Estimate, always: float, predictions: str) -> str:
    if accuracy.lower is None or accuracy.lower > always:
        return ""
    assert accuracy.upper is not None
    if accuracy.upper < always:
        return f", more often than the {predictions}"
    return f", and the {predictions} are not established to be right more often"


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
    if cells.is_binary or len(cells.labels) <= MAX_MATRIX_LABELS:
        blocks.append(_matrix(model))
    if not cells.is_binary:
        blocks.append(_missed_table(model))
    return blocks


def assessment(model: ModelFigures, balanced: Estimate) -> str:
    """Compare the accuracy with that of one answer for all, and with the balanced accuracy."""
    accuracy = model.overall.rates[model.rates.by_metric("accuracy")]
    n_labels = sum(bool(share) for share in outcome_shares(model.cells))
    start = (
        f"{percent(accuracy.value)} must be compared with a simple rule: always giving the "
        f"{_more(model)} frequent answer would be right for {percent(majority_share(model))}. "
    )
    if n_labels < 2:
        return (
            f"{start}All {model.words.plural} have the same outcome, so nothing can be said of how "
            f"well the {model.words.predictions} separate outcomes."
        )
    chance = 1 / n_labels
    scale = comparison_scale(balanced, chance)
    rates = (
        "the second and the third number above"
        if model.cells.is_binary
        else "the share of each label that was found"
    )
    is_more = balanced.lower is None or balanced.lower > chance
    end = "" if is_more else " That this is more than guessing is not established."
    return (
        f"{start}The balanced accuracy gives each outcome the same weight, however many "
        f"{model.words.plural} it is about: it is the mean of {rates}. It is "
        f"{scale.with_limits(balanced)}; guessing has {scale.number(chance)}%, and being always "
        f"right 100%.{end}"
    )


def _matrix(model: ModelFigures) -> Matrix:
    cells, words, positive = model.cells, model.words, model.cells.positive
    labels = sorted(cells.labels, key=lambda label: label == positive)
    weights = cells.weights_of(None)[None]
    totals = sum_matrix(weights, cells.labels)[0]
    withheld = withheld_cells(model)
    rows = []
    for truth in labels:
        row = []
        for prediction in labels:
            n = cells.matrix.get((truth, prediction), 0)
            number = count(n)
            part = share(weights.get((truth, prediction), 0), totals[truth])
            if (truth, prediction) in withheld:
                number, part = small_count(n, withheld[truth, prediction]), WITHHELD
            row.append(MatrixCell(number, part, truth != prediction))
        rows.append((_matrix_heading(words.happened, truth, positive), row))
    return Matrix(
        f"{capitalize(words.predictions)} and what happened",
        _matrix_note(model),
        [_matrix_heading(words.predicted, label, positive) for label in labels],
        rows,
    )


def _matrix_note(model: ModelFigures) -> str:
    """State of how many rows a matrix is, and what its shares are."""
    if model.request.is_corrected:
        labelled = model.words.rows(model.overall.n_labelled)
        return f"{labelled} with a known outcome; estimated shares of each row, of all."
    weighted = "weighted " * model.cells.is_weighted
    return f"{model.words.rows(model.overall.n)}; {weighted}shares of each row."


def withheld_cells(model: ModelFigures) -> dict[tuple[Label, Label], int]:
    """Return the cells of a confusion matrix that are withheld, with the least count shown."""
    least, labels = model.request.suppress, model.cells.labels
    if least is None:
        return {}
    pairs = list(product(labels, labels))
    counts = [[model.cells.matrix.get(pair, 0)] for pair in pairs]
    lines = [
        [i for i, pair in enumerate(pairs) if pair[end] == label]
        for end in (0, 1)
        for label in labels
    ]
    return {pairs[i]: least for i in withheld_crossings(counts, lines, least)}


def _matrix_heading(words: Callable[[Label], str], label: Label, positive: Label | None) -> str:
    if positive is None:
        return capitalize(words(label))
    return capitalize(words(positive)) if label == positive else f"Not {words(positive)}"


def _missed_table(model: ModelFigures) -> Table:
    """List for each label how many rows of it were missed."""
    rows, withheld = [], withheld_cells(model)
    for rate in model.rates.errors:
        missed = model.overall.rates[rate]
        if (rate.positive, rate.positive) in withheld:
            rows.append(TableRow(label(rate.positive), [Cell(WITHHELD), Cell()]))
            continue
        cells = [Cell(count(missed.n)), Cell(percent(missed.value), PERCENT.limits(missed))]
        rows.append(TableRow(label(rate.positive), cells))
    n_labels = len(model.cells.labels)
    return Table(
        "Missed, by label",
        [Head("Label", "text"), Head(out_of(model)), Head("Missed (interval)", "estimate")],
        [RowGroup("", rows)],
        f"The {len(rows)} most frequent of {n_labels} labels." if len(rows) < n_labels else "",
    )
