"""Which errors are made, and on whom they fall."""

from collections.abc import Mapping, Sequence

from balframe.audit_page.document import Block, Cell, Head, Paragraph, Section, Table
from balframe.audit_page.groups import ColumnFigures, Extremes, GroupFigures, possible_difference
from balframe.audit_page.numbers import DISTANCE, PERCENT, points
from balframe.audit_page.rates import Rate
from balframe.audit_page.results import Audit, ModelFigures, report_models
from balframe.audit_page.tables import (
    estimate_cell,
    group_rows,
    rate_table,
    side_by_side,
    total_row,
)
from balframe.audit_page.text import capitalize, in_quotes, join_words, spell_number

INTERVALS = (
    "Differences are computed before rounding. Their confidence intervals allow for all "
    "comparisons on this page, and for having picked the two groups furthest apart."
)
_MAX_ERRORS = 2  # that a sentence in brief spells out


def section(audit: Audit) -> Section:
    """State which errors are made, and on whom they fall."""
    blocks, brief = report_models(audit, lambda model: (_blocks(model), _summary(model)))
    on_whom = ", and on whom do they fall" if audit.request.by else ""
    return Section("errors", f"Which errors are made{on_whom}?", blocks, brief)


def _summary(model: ModelFigures) -> list[str]:
    return [
        overall_summary(model),
        *(
            column_summary(column, model.request.column_title(column.number), model.rates.errors)
            for column in model.columns
        ),
    ]


def overall_summary(model: ModelFigures) -> str:
    """State how often each error is made; of many labels, the one that is missed most often."""
    rates = model.defined_errors
    if not rates:
        return "No error rate is defined: one of the outcomes does not occur."
    if not model.cells.is_binary:
        worst = max(rates, key=lambda rate: model.overall.rates[rate].value or 0.0)
        return f"The label missed most often: {frequency(worst, model)}."
    return f"{', and '.join(frequency(rate, model) for rate in rates)}."


def frequency(rate: Rate, model: ModelFigures) -> str:
    """State how often an error is made: `32% (31 to 34) of those not re-arrested had been ...`."""
    return f"{PERCENT.with_limits(model.overall.rates[rate])} of {rate.among} {rate.event}"


def column_summary(column: ColumnFigures, title: str, errors: Sequence[Rate]) -> str:
    """State how far apart the groups of a column are in all errors."""
    extremes = {rate: column.extremes(rate) for rate in errors}
    compared = {rate: x for rate, x in extremes.items() if x.distance.upper is not None}
    if not compared:
        return f"{title}: fewer than two groups are large enough to compare."
    significant = [rate for rate, extreme in compared.items() if extreme.is_significant]
    others = [rate for rate in compared if rate not in significant]
    if not significant:
        differences = _possible_differences(compared)
        return f"{title}: no difference in these errors is established; {differences}."
    by_distance = sorted(significant, key=lambda rate: -(compared[rate].distance.value or 0))
    furthest = by_distance[:_MAX_ERRORS]
    parts = [
        f"of {rate.among}, {compared[rate].between} {rate.event}, "
        f"{points(compared[rate].distance.value)} apart "
        f"({DISTANCE.limits(compared[rate].distance)})"
        for rate in errors
        if rate in furthest
    ]
    if n_more := len(significant) - len(furthest):
        parts.append(f"in {spell_number(n_more)} more of the errors a difference is established")
    if others:
        where = f"of {others[0].among}, " if len(others) == 1 else "in the other errors "
        differences = _possible_differences({rate: compared[rate] for rate in others})
        parts.append(f"{where}no difference is established; {differences}")
    return f"{title}: {'; '.join(parts)}."


def _possible_differences(extremes: Mapping[Rate, Extremes]) -> str:
    """State how large differences may still be that are not significant."""
    uppers = {rate: x.distance.upper or 0.0 for rate, x in extremes.items()}
    if len(uppers) != _MAX_ERRORS:
        return possible_difference(max(uppers.values()))
    parts = [f"{points(upper)} for {rate.among}" for rate, upper in uppers.items()]
    return f"it may be up to {join_words(parts)}"


def _blocks(model: ModelFigures) -> list[Block]:
    rates = model.defined_errors
    blocks: list[Block] = [Paragraph(kinds(model))]
    if not model.columns:
        return blocks
    blocks += [Paragraph(distances(model, rate)) for rate in rates]
    if rates:
        blocks.append(Paragraph(INTERVALS, is_note=True))
    tables = []
    for rate in rates:
        note = f"Share of {rate.among}. {capitalize(rate.term)}."
        tables.append(rate_table(model, rate, rate.title, note))
    blocks += side_by_side(tables)
    if model.cells.is_binary:
        blocks.append(_other_rates(model))
    return blocks


def kinds(model: ModelFigures) -> str:
    """State which errors there are, how often they are made, and which of them is a harm."""
    rates, predictions = model.defined_errors, capitalize(model.words.predictions)
    start = (
        f"{predictions} can be right equally often in two groups, and wrong in different ways. "
        if model.request.by
        else f"{predictions} can be wrong in different ways. "
    )
    frequencies = [frequency(rate, model) for rate in rates]
    if not model.cells.is_binary:
        is_all = len(model.rates.errors) == len(model.cells.labels)
        some = "" if is_all else f", here the {len(rates)} most frequent"
        listed = "; ".join(frequencies)
        return f"{start}For each label{some}, an error is to miss it. {listed}."
    first, second = (rate.caption for rate in model.rates.errors)
    overall = ". ".join(map(capitalize, frequencies)) or (
        "One of the outcomes does not occur, so one of the errors cannot be made"
    )
    return f"{start}There are two errors: {first}; and {second}. {overall}.{_harm(model)}"


def _harm(model: ModelFigures) -> str:
    """State which error is to the disadvantage of a person, if that is known."""
    harm = next((rate for rate in model.rates.errors if rate.is_harm), None)
    if harm is None:
        return ""
    good = model.predicted if model.request.favourable == "selected" else f"not {model.predicted}"
    return (
        f" The favourable result for a {model.words.singular} is {in_quotes(good)}, as was stated "
        f"for this audit. So the page counts {in_quotes(harm.caption)} as the error that harms: "
        "a group fares worse where it is more frequent. The other error may harm others."
    )


def distances(model: ModelFigures, rate: Rate) -> str:
    """State how far apart the groups of each column are in an error."""
    sentences = [
        column_distance(model.request.column(column.number), column.extremes(rate))
        for column in model.columns
    ]
    return f"How far apart are the groups in {in_quotes(rate.caption)}? {' '.join(sentences)}"


def column_distance(column: str, extremes: Extremes) -> str:
    """State how far apart the groups of a column are in one rate."""
    if not extremes.is_compared or extremes.distance.upper is None:
        return f"By {column}, fewer than two groups are large enough to compare."
    if not extremes.is_significant:
        return f"By {column}, {extremes.not_significant}."
    return f"By {column}, {extremes.distance_text}, {extremes.between}."


def _other_rates(model: ModelFigures) -> Table:
    """Show the rates that go with errors."""
    rates = [model.rates.by_metric(x) for x in ("prevalence", "selection_rate", "precision")]
    happened, predicted = capitalize(model.happened), capitalize(model.predicted)
    titles = (
        f"{happened}, of all",
        f"{predicted}, of all",
        f"{happened}, of those {model.predicted}",
    )

    def cells(group: GroupFigures) -> list[Cell]:
        return [estimate_cell(group.rates[rate], PERCENT) for rate in rates]

    return Table(
        "Rates that go with the errors",
        [Head("Group", "text"), *(Head(title, "estimate") for title in titles)],
        group_rows(model, model.rates.errors, cells),
        f"In brackets: {model.request.percent_level} confidence intervals of each row alone.",
        total_row(model, cells(model.overall)),
    )
