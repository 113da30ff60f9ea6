"""Whether the agreed rules are met."""

from collections.abc import Sequence

from balframe.audit_page.document import (
    Block,
    Cell,
    Group,
    Head,
    Paragraph,
    Section,
    Table,
    TableRow,
)
from balframe.audit_page.measured_rules import Verdict
from balframe.audit_page.numbers import Scale, count
from balframe.audit_page.request import Asked
from balframe.audit_page.results import Answer, Audited, LeftOut, OfModel, of_every_model
from balframe.audit_page.tables import level_of
from balframe.audit_page.text import in_words, marked, text_of

QUESTION = "Are the agreed rules met?"
MET, NOT_MET, UNDECIDED = "met", "not met", "undecided"
_ORDER = (NOT_MET, UNDECIDED, MET)
_OPEN = "cannot be decided everywhere"
_MOST_ROWS = 40  # of a rule
AGREED = "A rule says what was agreed beforehand. It is no statement about any law."


def rules(audited: Audited) -> Answer:
    """Say whether the agreed rules are met."""
    asked = audited.asked
    if not asked.rules:
        return LeftOut(QUESTION, "no rules were given")
    blocks, brief = of_every_model(
        audited, lambda model: (_blocks(model, asked), [outcome(model.verdicts)])
    )
    return Section("rules", QUESTION, blocks, brief)


def of_rules(verdicts: Sequence[Verdict]) -> dict[str, list[str]]:
    """List the verdicts of each rule, by its text."""
    found: dict[str, list[str]] = {}
    for one in verdicts:
        found.setdefault(one.rule, []).append(one.status)
    return found


def outcome(verdicts: Sequence[Verdict]) -> str:
    """Count the rules that are met everywhere, not met somewhere, and neither."""
    found = of_rules(verdicts)
    not_met = sum(NOT_MET in one for one in found.values())
    met = sum({*one} == {MET} for one in found.values())
    undecided = len(found) - met - not_met
    if len(found) == 1:
        how = "is met everywhere" if met else "is not met somewhere" if not_met else _OPEN
        return f"The one rule {how}."
    if met == len(found):
        return f"All {count(met)} rules are met everywhere."
    others = [
        *([f"{in_words(not_met)} {_is(not_met)} not met somewhere"] if not_met else []),
        *([f"{in_words(undecided)} {_OPEN}"] if undecided else []),
    ]
    everywhere = f"{in_words(met)} {_is(met)} met everywhere"
    return f"Of {count(len(found))} rules, {everywhere}; {' and '.join(others)}."


def _is(n: int) -> str:
    return "is" if n < 2 else "are"


def _blocks(model: OfModel, asked: Asked) -> list[Block]:
    said = (
        "A rule counts as met, or as not met, only where the limits say so and not just the "
        "estimate; otherwise it is undecided, for want of data. "
        f"{outcome(model.verdicts)} {AGREED}"
    )
    return [Paragraph(said), _table(model, asked)]


def _table(model: OfModel, asked: Asked) -> Table:
    groups = []
    for text in dict.fromkeys(rule.text for rule in asked.rules):
        some = [one for one in model.verdicts if one.rule == text]
        ordered = sorted(some, key=lambda one: _ORDER.index(one.status))
        rows = [_row(one, asked) for one in ordered[:_MOST_ROWS]]
        if len(ordered) > _MOST_ROWS:
            rows.append(_more([one.status for one in ordered[_MOST_ROWS:]]))
        reason = f" ({marked(text_of(some[0].reason))})" if some[0].reason is not None else ""
        groups.append(Group(f"{marked(text_of(text))}{reason}", rows))
    heads = [Head("Where", "text"), Head("Found (limits)", "estimate"), Head("Verdict", "text")]
    n = len(of_rules(model.verdicts))
    return Table(
        f"{count(n)} rule{'s' * (n > 1)}, judged in each column of groups",
        heads,
        groups,
        f"{level_of(asked)} limits that hold for all groups of a column together.",
    )


def _more(statuses: Sequence[str]) -> TableRow:
    counts = [f"{statuses.count(one)} {one}" for one in _ORDER if one in statuses]
    return TableRow(f"{count(len(statuses))} more", [Cell(", ".join(counts)), Cell()])


def _row(one: Verdict, asked: Asked) -> TableRow:
    decimals = Scale(1.0, 2, (0.0, 1.0, one.bound))
    is_count = one.found.value == one.found.lower == one.found.upper
    if one.found.value is None:
        cell = Cell("undefined")
    elif is_count and one.found.value == int(one.found.value):
        cell = Cell(count(one.found.value))
    else:
        limits = decimals.limits(one.found) if one.found.has_limits else "too few"
        cell = Cell(decimals.estimate(one.found), limits)
    verdict = next(word for word in _ORDER if word == one.status)
    return TableRow(where(one, asked), [cell, Cell(verdict=verdict)])  # type: ignore[arg-type]


def where(one: Verdict, asked: Asked) -> str:
    """Say where a rule was judged: `Race: Asian`, or `Race` of all its groups together."""
    if not one.where:
        return f"All {asked.words.many}"
    if one.is_of_groups:
        return " and ".join(asked.title_of(column) for column, _ in one.where)
    return ", ".join(
        f"{asked.title_of(column)}: {marked(text_of(value))}" for column, value in one.where
    )
