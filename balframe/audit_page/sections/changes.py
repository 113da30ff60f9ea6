"""What has changed since the baseline, in all rows and in each group."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from balframe.audit_page.baseline import compare_with_baseline
from balframe.audit_page.design import design_of_baseline
from balframe.audit_page.document import (
    Block,
    Cell,
    Head,
    Paragraph,
    RowGroup,
    Section,
    Table,
    TableRow,
)
from balframe.audit_page.groups import (
    ColumnFigures,
    Difference,
    GroupFigures,
    measure_groups,
    measure_overall,
    possible_difference,
)
from balframe.audit_page.numbers import PERCENT, Estimate, count, points_more
from balframe.audit_page.queries import ModelCells
from balframe.audit_page.rates import Rate
from balframe.audit_page.results import Audit, LeftOut, ModelFigures, report_models
from balframe.audit_page.tables import (
    Range,
    column_rows,
    difference_cells,
    difference_heads,
    difference_range,
    estimate_cell,
    side_by_side,
    withheld_row,
)
from balframe.audit_page.text import (
    capitalize,
    first_names,
    in_quotes,
    join_words,
    label,
    more_groups,
    plural,
    quote,
)
from balframe.core.label_set import Label

QUESTION = "What has changed since the last audit?"
NO_BASELINE = "no baseline was given (`baseline`)"
_OVERALL = ("accuracy", "precision", "selection_rate", "prevalence")  # beside the errors
_NOTE = "Change: now less then, in percentage points. Diamonds: established."
_MAX_NAMED = 8


@dataclass(frozen=True, slots=True)
class Change:
    """A group, or all rows, in the data and in the baseline, and the differences by `Rate`.

    `before` is None where the baseline has no rows of the group. A rate of few rows, then or now,
    has no difference.
    """

    now: GroupFigures
    before: GroupFigures | None
    differences: Mapping[Rate, Difference]

    @property
    def withheld(self) -> GroupFigures | None:
        """Return the figures of a group that are withheld, now or then; None if both are shown."""
        both = [self.now, *([] if self.before is None else [self.before])]
        return next((group for group in both if group.is_withheld), None)


@dataclass(frozen=True, slots=True)
class ModelChanges:
    """The changes of a model: of all rows, and of the groups of each by-column.

    `gone` are the groups of each by-column that only the baseline has.
    """

    overall: Change
    columns: Sequence[Sequence[Change]]
    gone: Sequence[Sequence[Any]]

    @property
    def changes(self) -> list[Change]:
        """Return the changes of all rows and of all groups."""
        return [self.overall, *(change for column in self.columns for change in column)]


def measure(audit: Audit, level: float) -> list[ModelChanges]:
    """Compare each model with its baseline, with limits at a level."""
    return [
        _measure(model, model.cells.baseline, level)
        for model in audit.models
        if model.cells.baseline is not None
    ]


def _measure(model: ModelFigures, baseline: ModelCells, level: float) -> ModelChanges:
    rates, cells = model.rates, model.cells
    names = {rate.metric for rate in rates.overall}.intersection(_OVERALL)
    overall = [*(rates.by_metric(name) for name in _OVERALL if name in names), *rates.tested]
    before = measure_overall(baseline, rates)
    changes, gone = [], []
    for column in model.columns:
        groups = {group.value: group for group in measure_groups(baseline, rates, column.number)}
        changes.append(
            [
                _compare(cells, baseline, group, groups.get(group.value), rates.tested, level)
                for group in column.largest_groups
            ]
        )
        values = {group.value for group in column.groups}
        gone.append([value for value in groups if value not in values])
    return ModelChanges(
        _compare(cells, baseline, model.overall, before, overall, level), changes, gone
    )


def _compare(
    cells: ModelCells,
    baseline: ModelCells,
    now: GroupFigures,
    before: GroupFigures | None,
    rates: Sequence[Rate],
    level: float,
) -> Change:
    """Compare a group, or all rows, in the rates that have enough rows then and now."""
    if before is None:
        return Change(now, before, {})
    together: dict[Label | None, list[Rate]] = {}
    for rate in rates:
        if min(now.rates[rate].n, before.rates[rate].n) >= now.min_support:
            together.setdefault(rate.positive, []).append(rate)
    place = None if now.column is None else (now.column, now.value)
    differences: dict[Rate, Difference] = {}
    for positive, some in together.items():
        metrics = [rate.metric for rate in some]
        rows = compare_with_baseline(cells, baseline, metrics, positive, level, place)
        differences |= {
            rate: Difference.from_row(row) for rate, row in zip(some, rows, strict=True)
        }
    return Change(now, before, differences)


def differences(models: Sequence[ModelChanges]) -> Iterator[Difference]:
    """Return the differences whose p-values are adjusted with all others."""
    for changes in models:
        for change in changes.changes:
            yield from change.differences.values()


def section(audit: Audit, changes: Sequence[ModelChanges]) -> Section | LeftOut:
    """State what has changed since the baseline."""
    if not changes:
        return LeftOut(QUESTION, NO_BASELINE, is_listed=False)
    blocks, brief = report_models(
        audit, lambda model, own: (_blocks(model, own), [summary(model, own)]), changes
    )
    return Section("changes", QUESTION, blocks, brief)


def summary(model: ModelFigures, changes: ModelChanges) -> str:
    """State in brief which rates of all rows have changed."""
    significant = _significant(changes.overall)
    if not significant:
        return (
            f"Since the baseline, no change in a rate of all {model.words.plural} is established"
            f"{_limit(test.estimate for test in changes.overall.differences.values())}."
        )
    names = [
        f"{in_quotes(_rate_text(model, rate))} {points_more(test.estimate)}"
        for rate, test in significant
    ]
    return f"Since the baseline: {join_words(names)}."


def _significant(change: Change) -> list[tuple[Rate, Difference]]:
    return [pair for pair in change.differences.items() if pair[1].is_significant]


def _limit(estimates: Iterable[Estimate]) -> str:
    """State how large changes may still be that are not established."""
    limits = [estimate.furthest_limit for estimate in estimates]
    furthest = max((limit for limit in limits if limit is not None), default=None)
    return "" if furthest is None else f"; {possible_difference(furthest)}"


def _blocks(model: ModelFigures, changes: ModelChanges) -> list[Block]:
    before = changes.overall.before
    assert before is not None, "a baseline has rows"
    words = model.words
    who = "which" if model.request.is_of_outcomes else "who"
    introduction = (
        f"The baseline has {words.rows(before.n)}, and the data have "
        f"{words.rows(model.overall.n)}. A change is the rate now less the rate then, in "
        f"percentage points. Other {words.plural} were examined then, so that a change may come "
        f"from {who} they are.{design_of_baseline(model.cells)}"
    )
    sentences = [introduction, summary(model, changes)]
    rates = model.defined_tested
    if model.columns:
        sentences += [f"{rate.title}: {group_sentence(model, changes, rate)}." for rate in rates]
    sentences += _only_then(model, changes)
    tables = [_group_table(model, changes, rate) for rate in rates if model.columns]
    overall = _overall_table(model, changes.overall)
    return [*map(Paragraph, sentences), overall, *side_by_side(tables)]


def group_sentence(model: ModelFigures, changes: ModelChanges, rate: Rate) -> str:
    """Name the groups in which a rate has become higher, and lower; count the others."""
    compared = [
        (change.now, change.differences[rate])
        for column in changes.columns
        for change in column
        if rate in change.differences
    ]
    significant = [(group, test.estimate) for group, test in compared if test.is_significant]
    others = [test.estimate for _, test in compared if not test.is_significant]
    parts = []
    for word, sign in (("more", 1), ("less", -1)):
        names = [
            f"{group.name(model.request)}, {points_more(estimate)}"
            for group, estimate in significant
            if (estimate.value or 0.0) * sign > 0
        ]
        if names:
            parts.append(f"{word} often than then for {join_words(first_names(names, _MAX_NAMED))}")
    text = "; and ".join(parts)
    if not others:
        return text or "no group is large enough to compare, then and now"
    whom = f"for {plural(len(others), 'other group', 'other groups')} " if text else ""
    where = "" if text else " in a group"
    rest = f"{whom}no change{where} is established{_limit(others)}"
    return f"{text}; {rest}" if text else rest


def _only_then(model: ModelFigures, changes: ModelChanges) -> list[str]:
    """Name the groups that only the baseline has, and those that it does not have."""
    sentences = []
    for column, rows, gone in zip(model.columns, changes.columns, changes.gone, strict=True):
        new = [change.now.value for change in rows if change.before is None]
        for values, where in ((gone, "only the baseline has rows of"), (new, "there were none of")):
            if values:
                names = first_names([*map(quote, values)], _MAX_NAMED, more_groups)
                by = model.request.column(column.number)
                sentences.append(f"By {by}, {where} {join_words(names)}.")
    return sentences


def _overall_table(model: ModelFigures, change: Change) -> Table:
    span = difference_range(test.estimate for test in change.differences.values())
    assert change.before is not None, "a baseline has rows"
    rows = [
        TableRow(
            capitalize(_rate_text(model, rate)),
            [
                estimate_cell(change.before.rates[rate], PERCENT),
                estimate_cell(change.now.rates[rate], PERCENT),
                *difference_cells(test, span),
            ],
            differs=test.is_significant,
        )
        for rate, test in change.differences.items()
    ]
    heads = [
        Head("Rate", "text"),
        Head(f"Then ({model.request.percent_level} interval)", "estimate"),
        Head("Now", "estimate"),
        *difference_heads("Change", span),
    ]
    return Table(f"All {model.words.plural}, then and now", heads, [RowGroup("", rows)], _NOTE)


def _rate_text(model: ModelFigures, rate: Rate) -> str:
    if rate.metric == "prevalence":
        return f"{model.happened}, of all"
    return rate.share or rate.caption or rate.term


def _group_table(model: ModelFigures, changes: ModelChanges, rate: Rate) -> Table:
    span = difference_range(
        change.differences[rate].estimate
        for column in changes.columns
        for change in column
        if rate in change.differences
    )

    def rows(column: ColumnFigures) -> list[TableRow]:
        return [_group_row(change, rate, span) for change in changes.columns[column.number]]

    heads = [
        Head("Group", "text"),
        Head("Out of"),
        Head("Then", "estimate"),
        Head("Now", "estimate"),
        *difference_heads("Change", span),
    ]
    note = f"Share of {rate.among}. {_NOTE} Italics: too few to compare, then or now."
    return Table(rate.title, heads, column_rows(model, rows), note)


def _group_row(change: Change, rate: Rate, span: Range) -> TableRow:
    if change.withheld is not None:
        return withheld_row(change.withheld, 6)
    difference = change.differences.get(rate)
    then = (
        Cell("none") if change.before is None else estimate_cell(change.before.rates[rate], PERCENT)
    )
    now = change.now.rates[rate]
    return TableRow(
        label(change.now.value),
        [
            Cell(count(now.n)),
            then,
            estimate_cell(now, PERCENT),
            *difference_cells(difference, span),
        ],
        is_small=difference is None,
        differs=difference is not None and difference.is_significant,
    )
