"""How often the calls are right, overall."""

from collections.abc import Callable

from balframe.audit_page.counted import CALL, TRUTH, N
from balframe.audit_page.document import (
    Block,
    Cell,
    Fact,
    Facts,
    Group,
    Head,
    Matrix,
    MatrixCell,
    Paragraph,
    Section,
    Table,
    TableRow,
)
from balframe.audit_page.numbers import PERCENT, Estimate, beside, count, percent, share
from balframe.audit_page.rates import BALANCED, Rate
from balframe.audit_page.request import Words
from balframe.audit_page.results import Audited, OfModel, of_every_model
from balframe.audit_page.text import marked, sentence, text_of
from balframe.core.label_set import Label
from balframe.frames.convert_result import row_dicts
from balframe.methods.scores.confusion import confusion

_MOST_LABELS = 12
_HALF = 0.5


def right(audited: Audited) -> Section:
    """Say how often the calls are right."""
    words = audited.asked.words
    blocks, brief = of_every_model(
        audited, lambda model: (_blocks(model, words), [in_brief(model)])
    )
    return Section("right", "How often are the calls right?", blocks, brief)


def majority(model: OfModel) -> float:
    """Find how often the most frequent label would be right."""
    return max(model.counted.n_true.values()) / model.overall.n


def in_brief(model: OfModel) -> str:
    """Say how often the calls are right, and how often one answer for all would be."""
    accuracy = model.overall.rates[model.rates.named("accuracy")]
    always = majority(model)
    than = "" if accuracy.lower is None or accuracy.lower > always else _not_more(accuracy, always)
    scale = beside(accuracy, always)
    return (
        f"{scale.written(accuracy)} of the calls were right; always giving the "
        f"{_more(model)} frequent answer would have been right for {scale.text(always)}%{than}."
    )


def _more(model: OfModel) -> str:
    return "more" if len(model.counted.labels) == 2 else "most"


def _not_more(accuracy: Estimate, always: float) -> str:
    assert accuracy.upper is not None
    if accuracy.upper < always:
        return ", more often than the calls"
    return ", and the calls are not shown to be right more often"


def _blocks(model: OfModel, words: Words) -> list[Block]:
    overall, rates = model.overall.rates, model.rates
    facts = [
        Fact(percent(overall[one].value), PERCENT.limits(overall[one]), about(one))
        for one in rates.overall
        if one.metric in ("accuracy", "recall", "specificity", "precision")
        and overall[one].is_known
    ]
    balanced = overall[rates.named(BALANCED)]
    blocks: list[Block] = [Facts(facts), Paragraph(how_much(model, balanced, words))]
    if model.counted.positive is not None or len(model.counted.labels) <= _MOST_LABELS:
        blocks.append(_matrix(model, words))
    if model.counted.positive is None:
        blocks.append(_of_labels(model))
    return blocks


def about(rate: Rate) -> str:
    """Say what a share is a share of: `of those called high risk were re-arrested`."""
    return f"of {rate.of} {rate.befell}"


def how_much(model: OfModel, balanced: Estimate, words: Words) -> str:
    """Compare the accuracy with that of one answer for all, and with the balanced accuracy."""
    accuracy = model.overall.rates[model.rates.named("accuracy")]
    n_labels = sum(n > 0 for n in model.counted.n_true.values())
    said = (
        f"Is {percent(accuracy.value)} much? Always giving the {_more(model)} frequent answer "
        f"would be right for {percent(majority(model))}. "
    )
    if n_labels < 2:
        return (
            f"{said}All rows have the same outcome, so nothing can be said of how well the calls "
            "tell outcomes apart."
        )
    scale = beside(balanced, 1 / n_labels)
    of = (
        "the second and the third number above"
        if model.counted.positive is not None
        else "the shares found of all labels"
    )
    chance = (
        ""
        if balanced.lower is None or balanced.lower > 1 / n_labels
        else " The calls are not shown to be better than guessing."
    )
    return (
        f"{said}If all outcomes count alike, however many {words.many} each is about, the calls "
        f"score {scale.written(balanced)}, where guessing scores {scale.text(1 / n_labels)}% and "
        f"being always right 100%. This is the balanced accuracy, the mean of {of}.{chance}"
    )


def _matrix(model: OfModel, words: Words) -> Matrix:
    labels = list(model.counted.labels)
    cells = row_dicts(confusion(model.counted.cells, TRUTH, CALL, cells=True))
    n = {(cell[TRUTH], cell[CALL]): cell[N] for cell in cells}
    positive = model.counted.positive
    if positive is not None:
        labels = [one for one in labels if one != positive] + [positive]
    rows = []
    for truth in labels:
        total = model.counted.n_true[truth]
        counts = [n.get((truth, call), 0) for call in labels]
        row = [
            MatrixCell(count(x), share(x, total), truth != call)
            for call, x in zip(labels, counts, strict=True)
        ]
        rows.append((_heading(words.happened, truth, positive), row))
    return Matrix(
        "All calls beside what happened",
        f"{words.counted(model.overall.n)}; shares of each row.",
        [_heading(words.called, label, positive) for label in labels],
        rows,
    )


def _heading(words: Callable[[Label], str], label: Label, positive: Label | None) -> str:
    if positive is None:
        return sentence(words(label))
    return sentence(words(positive)) if label == positive else f"Not {words(positive)}"


def _of_labels(model: OfModel) -> Table:
    """List for each label how many rows of it were missed."""
    rows = [
        TableRow(
            marked(text_of(rate.positive)),
            [
                Cell(count(model.overall.rates[rate].n)),
                Cell(
                    percent(model.overall.rates[rate].value),
                    PERCENT.limits(model.overall.rates[rate]),
                ),
            ],
        )
        for rate in model.rates.errors
    ]
    more = len(model.counted.labels) - len(rows)
    under = f"The {len(rows)} most frequent of {len(model.counted.labels)} labels." if more else ""
    return Table(
        "Missed, by label",
        [Head("Label", "text"), Head("Out of"), Head("Missed (limits)", "estimate")],
        [Group("", rows)],
        under,
    )
