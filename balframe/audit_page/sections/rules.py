"""Whether the agreed rules are met."""

from collections.abc import Iterator, Mapping, Sequence
from itertools import product
from typing import Any, NamedTuple

from balframe.api.columns import NOTE
from balframe.audit_page.baseline import baseline_cells
from balframe.audit_page.disclosure import WITHHELD
from balframe.audit_page.document import (
    Block,
    Cell,
    Head,
    Paragraph,
    RowGroup,
    Section,
    Table,
    TableRow,
    Verdict,
)
from balframe.audit_page.numbers import Estimate, bounded_scale, count
from balframe.audit_page.queries import ModelCells, Row, by_name
from balframe.audit_page.request import Request
from balframe.audit_page.results import Audit, LeftOut, ModelFigures, report_models
from balframe.audit_page.tables import estimate_cell
from balframe.audit_page.text import in_quotes, label, spell_number
from balframe.core.label_set import Label
from balframe.errors import InvalidInputError, Message, UnknownNameError
from balframe.frames.adapter import Name
from balframe.methods.gates.check import check
from balframe.methods.gates.rules import Rule, RuleSet, read_rules

QUESTION = "Are the agreed rules met?"
AGREED = "A rule says what was agreed beforehand. It is not a statement about any law."
_VERDICTS: dict[str, Verdict] = {  # in their order on the page
    "fail": "not met",
    "inconclusive": "undecided",
    "pass": "met",
}
_ORDER = tuple(_VERDICTS.values())
_RELATIVE = " Of a rule that compares with the baseline, the number is the difference from it."
_MAX_ROWS = 40  # of a rule


class Judgement(NamedTuple):
    """A rule with its row of `check`, and the by-columns in whose groups it was judged."""

    rule: Rule
    row: Row
    columns: Sequence[int]

    @property
    def verdict(self) -> Verdict:
        """Return whether the rule is met."""
        return _VERDICTS[self.row["status"]]


def figures(audit: Audit) -> list[list[Judgement]]:
    """Judge every rule in every by-column, or in the columns that it is about, for each model."""
    return [_judgements(model, audit.request) for model in audit.models]


def _judgements(model: ModelFigures, request: Request) -> list[Judgement]:
    judgements: list[Judgement] = []
    every = [columns for rule in request.rules for columns in _judged_in(rule, request.by)]
    for columns, is_relative in product(dict.fromkeys(every), (False, True)):
        rules = [
            rule
            for rule in request.rules
            if rule.is_relative == is_relative and columns in _judged_in(rule, request.by)
        ]
        if not rules:
            continue
        expected = [(values, None) for values in _expected_in(columns, rules, request)]
        try:
            rows = model.cells.query(
                check,
                rules=RuleSet(
                    read_rules([_renamed(rule, request.by) for rule in rules]),
                    tuple(expected),
                    absent_fails=request.absent_fails and bool(expected),
                ),
                by=[*map(by_name, columns)] or None,
                labels=_labels(model.cells),
                pos_label=model.cells.positive,
                min_support=request.min_support,
                level=request.level,
                **_baseline(model, columns, is_relative=is_relative),
            )
        except (UnknownNameError, InvalidInputError) as error:
            message = _with_names(error.message, columns, request.by)
            raise type(error)(message) from error
        by_text = {rule.text: rule for rule in rules}
        judgements += [Judgement(by_text[row["rule"]], row, columns) for row in rows]
    return judgements


def _labels(cells: ModelCells) -> Sequence[Label] | None:
    """Return the labels that are listed for `check`: where there are three or more, the caller's.

    It has the order of others from the columns of the cells, or none.
    """
    return cells.labels if len(cells.labels) < 3 else cells.request.options["labels"]


def _baseline(
    model: ModelFigures, columns: Sequence[int], *, is_relative: bool
) -> Mapping[str, Any]:
    """Return what rules compare with, where they do."""
    baseline = model.cells.baseline
    if not is_relative or baseline is None:
        return {}
    return {"baseline": baseline_cells(baseline, columns)}


def _judged_in(rule: Rule, by: Sequence[Name]) -> list[tuple[int, ...]]:
    """Return the columns, or combinations of columns, in whose groups a rule is judged."""
    if rule.where:
        return [tuple(list(by).index(name) for name in rule.where)]
    return [(column,) for column in range(len(by))] or [()]


def _expected_in(
    columns: Sequence[int], rules: Sequence[Rule], request: Request
) -> Iterator[list[dict[str, Any]]]:
    """Iterate over the expected segments that rules are about, with names as the cells have.

    A by-column that is not among those expected has the values that the rule applies to.
    """
    keys = {request.by[column]: by_name(column) for column in columns}
    for part in request.expected:
        names = [name for name in keys if name in part]
        rows = dict.fromkeys(zip(*(part[name] for name in names), strict=True))
        segments = [
            {keys[name]: value for name, value in zip((*names, *others), values, strict=True)}
            for rule in rules
            for others in [[name for name in keys if name not in part]]
            for row in rows
            if all(
                value in rule.where.get(name, (value,))
                for name, value in zip(names, row, strict=True)
            )
            for values in ((*row, *rest) for rest in product(*(rule.where[n] for n in others)))
        ]
        if names and segments:
            yield segments


def _renamed(rule: Rule, by: Sequence[Name]) -> dict[str, object]:
    """Return a rule as `check` reads it, with the names that columns have in the cells."""
    where = {by_name(list(by).index(name)): list(values) for name, values in rule.where.items()}
    return {"rule": rule.text, "where": where} if where else {"rule": rule.text}


def _with_names(message: Message, columns: Sequence[int], by: Sequence[Name]) -> Message:
    """Name columns in a message as the caller does, not as the cells do."""
    for column in columns:
        message = message.replace(repr(by_name(column)), repr(by[column]))
    return message


def section(audit: Audit, judgements: Sequence[Sequence[Judgement]]) -> Section | LeftOut:
    """State whether the agreed rules are met."""
    request = audit.request
    if not request.rules:
        return LeftOut(QUESTION, "no rules were given")
    blocks, brief = report_models(
        audit, lambda model, own: (_blocks(own, model), [summary(own)]), judgements
    )
    return Section("rules", QUESTION, blocks, brief)


def summary(judgements: Sequence[Judgement]) -> str:
    """Count the rules that are met everywhere, not met somewhere, and neither."""
    verdicts: dict[str, set[Verdict]] = {}
    for judgement in judgements:
        verdicts.setdefault(judgement.rule.text, set()).add(judgement.verdict)
    n_not_met = sum("not met" in own for own in verdicts.values())
    n_met = sum(own == {"met"} for own in verdicts.values())
    undecided = "cannot be decided everywhere"
    if len(verdicts) == 1:
        how = "is met everywhere" if n_met else "is not met somewhere" if n_not_met else undecided
        return f"The one rule, {in_quotes(label(next(iter(verdicts))))}, {how}."
    if n_met == len(verdicts):
        return f"All {count(n_met)} rules are met everywhere."
    n_undecided = len(verdicts) - n_met - n_not_met
    others = [
        *([f"{_number_is(n_not_met)} not met somewhere"] if n_not_met else []),
        *([f"{spell_number(n_undecided)} {undecided}"] if n_undecided else []),
    ]
    return (
        f"Of {count(len(verdicts))} rules, {_number_is(n_met)} met everywhere; "
        f"{' and '.join(others)}."
    )


def _number_is(n: int) -> str:
    return f"{spell_number(n)} {'is' if n < 2 else 'are'}"


def _blocks(judgements: Sequence[Judgement], model: ModelFigures) -> list[Block]:
    introduction = (
        "A rule counts as met, or as not met, only where the decision limits say so and not just "
        "the estimate; otherwise it is undecided, because there are too few data. "
        f"{summary(judgements)} {AGREED}"
    )
    return [Paragraph(introduction), _table(judgements, model)]


def _table(judgements: Sequence[Judgement], model: ModelFigures) -> Table:
    request = model.request
    groups = []
    for text in dict.fromkeys(rule.text for rule in request.rules):
        own = [judgement for judgement in judgements if judgement.rule.text == text]
        own.sort(key=lambda judgement: _ORDER.index(judgement.verdict))
        rows = [
            _row(judgement, request, is_withheld=is_withheld_rule(judgement, model))
            for judgement in own[:_MAX_ROWS]
        ]
        if others := [judgement.verdict for judgement in own[_MAX_ROWS:]]:
            counts = [
                f"{others.count(verdict)} {verdict}" for verdict in _ORDER if verdict in others
            ]
            heading = f"{count(len(others))} more"
            rows.append(TableRow(heading, [Cell(", ".join(counts)), Cell()]))
        groups.append(RowGroup(_heading(own[0].rule), rows))
    is_relative = any(rule.is_relative for rule in request.rules)
    heads = [
        Head("Where", "text"),
        Head("Found (decision limits)", "estimate"),
        Head("Verdict", "text"),
    ]
    return Table(
        f"{count(len(groups))} rule{'s' * (len(groups) > 1)}, judged in each column of groups",
        heads,
        groups,
        f"{request.percent_level} decision limits, which hold for all groups of a column together "
        f"and are wider than the confidence intervals elsewhere.{_RELATIVE * is_relative}",
    )


def _heading(rule: Rule) -> str:
    """Return a rule with its reason, and whether it only warns."""
    remarks = [
        *([] if rule.reason is None else [label(rule.reason)]),
        *(["only a warning"] if rule.severity == "warn" else []),
    ]
    suffix = f" ({'; '.join(remarks)})" if remarks else ""
    return label(rule.text) + suffix


def is_withheld_rule(judgement: Judgement, model: ModelFigures) -> bool:
    """Return whether the figures of the segment are withheld; those of combinations all are.

    So are differences from the baseline, whose groups may be withheld too.
    """
    if model.request.suppress is None or judgement.rule.is_over_segments:
        return False
    if len(judgement.columns) != 1 or judgement.rule.is_relative:
        return bool(judgement.columns)
    (number,) = judgement.columns
    value = judgement.row[by_name(number)]
    return any(
        group.is_withheld for group in model.groups_by_column[number] if group.value == value
    )


def _row(judgement: Judgement, request: Request, *, is_withheld: bool) -> TableRow:
    row = judgement.row
    estimate = Estimate.from_row(row, "estimate", limits="", n=None)
    if estimate.value is None:
        cell = Cell("undefined")
    elif estimate.value == estimate.lower == estimate.upper == int(estimate.value):
        cell = Cell(count(estimate.value))
    else:
        cell = estimate_cell(estimate, bounded_scale(row["bound"]))
        cell = cell if cell.limits else Cell(cell.text, "too few")
    if is_withheld:
        cell = Cell(WITHHELD)
    return TableRow(place(judgement, request), [cell, Cell(verdict=judgement.verdict)])


def place(judgement: Judgement, request: Request) -> str:
    """Return where a rule was judged: `Race: Asian`, or `Race` of all its groups together."""
    titles = [request.column_title(column) for column in judgement.columns]
    if not titles:
        return f"All {request.words.plural}"
    note = judgement.row.get(NOTE)
    suffix = "" if note is None else f" ({note})"
    if judgement.rule.is_over_segments:
        return " and ".join(titles) + suffix
    values = [label(judgement.row[by_name(column)]) for column in judgement.columns]
    pairs = zip(titles, values, strict=True)
    return ", ".join(f"{title}: {value}" for title, value in pairs) + suffix
