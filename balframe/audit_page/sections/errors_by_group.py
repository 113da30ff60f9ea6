"""Which errors are made, and on whom they fall."""

from collections.abc import Sequence

from balframe.audit_page import far_apart
from balframe.audit_page.document import (
    Beside,
    Block,
    Cell,
    Head,
    Paragraph,
    Section,
    Table,
    TableRow,
)
from balframe.audit_page.groups import ColumnOf, GroupOf
from balframe.audit_page.numbers import PERCENT, percent
from balframe.audit_page.rates import Rate
from balframe.audit_page.request import Asked
from balframe.audit_page.results import Audited, OfModel, of_every_model
from balframe.audit_page.shown_groups import (
    MOST_COLUMNS,
    ShownColumn,
    groups_of,
    heading_of,
    shown_columns,
)
from balframe.audit_page.tables import caption_of, level_of, rate_table
from balframe.audit_page.text import given, sentence

_ORDINALS = ("first", "second")


def errors(audited: Audited) -> Section:
    """Say which errors are made, and on whom they fall."""
    asked = audited.asked
    blocks, brief = of_every_model(
        audited, lambda model: (_blocks(model, asked), _in_brief(model, asked))
    )
    on_whom = ", and on whom do they fall" if asked.by else ""
    return Section("errors", f"Which errors are made{on_whom}?", blocks, brief)


def _in_brief(model: OfModel, asked: Asked) -> list[str]:
    rates = model.rates.errors
    said = [overall_in_brief(model)]
    return said + [
        far_apart.in_brief(column, asked.title_of(column.number), rates)
        for column in model.columns[:MOST_COLUMNS]
    ]


def overall_in_brief(model: OfModel) -> str:
    """Say how often each error is made; of many labels, the one that is missed most often."""
    found = model.overall.rates
    rates = [rate for rate in model.rates.errors if found[rate].is_known]
    if not rates:
        return "No error rate is defined: one of the outcomes does not occur."
    if model.counted.positive is None:
        worst = max(rates, key=lambda rate: found[rate].value or 0.0)
        return f"The label missed most often: {how_often(worst, model)}."
    return f"{', and '.join(how_often(rate, model) for rate in rates)}."


def how_often(rate: Rate, model: OfModel) -> str:
    """Say how often an error is made: `32% (31 to 34) of those not re-arrested had been called`."""
    return f"{PERCENT.written(model.overall.rates[rate])} of {rate.of} {rate.befell}"


def _blocks(model: OfModel, asked: Asked) -> list[Block]:
    rates = [rate for rate in model.rates.errors if model.overall.rates[rate].is_known]
    shown = shown_columns(model.columns, asked, 4 + 2 * len(rates))
    blocks: list[Block] = [Paragraph(kinds(model, asked))]
    if not shown:
        return blocks
    for rate in rates:
        blocks.append(Paragraph(apart(model, asked, rate, rates.index(rate))))
    if rates:
        blocks.append(Paragraph(ALLOWED, is_note=True))
    tables = [
        rate_table(
            model,
            shown,
            asked,
            rate,
            caption_of(rate),
            f"Share of {rate.of}. {sentence(rate.term)}.",
        )
        for rate in rates
    ]
    blocks += [Beside(tables[at : at + 2]) for at in range(0, len(tables), 2)]
    if model.counted.positive is not None:
        blocks.append(_what_else(model, shown, asked))
    return blocks


ALLOWED = "These limits allow for having picked the two groups furthest apart."


def kinds(model: OfModel, asked: Asked) -> str:
    """Say which errors there are, and how often they are made."""
    rates = [rate for rate in model.rates.errors if model.overall.rates[rate].is_known]
    in_groups = "Calls can be right equally often in two groups, and wrong in different ways. "
    start = in_groups if asked.by else "Calls can be wrong in different ways. "
    if model.counted.positive is None:
        listed = "; ".join(how_often(rate, model) for rate in rates)
        n_labels = len(model.counted.labels)
        some = (
            "" if len(model.rates.errors) == n_labels else f", here the {len(rates)} most frequent"
        )
        return f"{start}For each label{some}, an error is to miss it. {listed}."
    first, second = (rate.caption for rate in model.rates.errors)
    found = ". ".join(sentence(how_often(rate, model)) for rate in rates) or (
        "One of the outcomes does not occur, so that one of the errors cannot be made"
    )
    return f"{start}There are two errors: {first}; and {second}. {found}."


def apart(model: OfModel, asked: Asked, rate: Rate, at: int) -> str:
    """Say how far apart the groups of each column are in an error."""
    if model.counted.positive is None:
        start = f"How far apart are the groups in missing {rate.of}?"
    elif at == 0:
        start = "How far apart are the groups in the first?"
    else:
        start = f"And in the {_ORDINALS[at]}?"
    said = [
        far_apart.in_section(column, given(str(asked.by[column.number])), column.extremes[rate])
        for column in model.columns[:MOST_COLUMNS]
    ]
    return f"{start} {' '.join(said)}"


def _what_else(model: OfModel, shown: Sequence[ShownColumn], asked: Asked) -> Table:
    """Show the rates that go with errors."""
    rates = [model.rates.named(one) for one in ("prevalence", "selection_rate", "precision")]
    words, positive = asked.words, model.counted.positive
    assert positive is not None
    happened, called = sentence(words.happened(positive)), sentence(words.called(positive))
    heads = [
        Head("Group", "text"),
        Head(f"{happened}, of all", "estimate"),
        Head(f"{called}, of all", "estimate"),
        Head(f"{happened}, of those {words.called(positive)}", "estimate"),
    ]

    def row(column: ColumnOf, group: GroupOf) -> TableRow:
        is_small = any(group.is_small(one, asked.min_support) for one in model.rates.errors)
        return TableRow(heading_of(group), _rates(group, rates), is_small=is_small)

    total = TableRow(f"All {words.many}", _rates(model.overall, rates), is_total=True)
    return Table(
        "What else goes with it",
        heads,
        groups_of(shown, asked, row),
        f"In brackets: {level_of(asked)} limits. Where the first column differs between groups, "
        "the shares of the third column and both error rates can hardly all be equal.",
        total,
    )


def _rates(group: GroupOf, rates: Sequence[Rate]) -> list[Cell]:
    return [
        Cell(percent(of.value), PERCENT.limits(of) if of.has_limits else "")
        for of in (group.rates[rate] for rate in rates)
    ]
