"""What `check` answers: whether the agreed rules are met."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from balframe.audit_page.counted import key_of
from balframe.audit_page.numbers import Estimate
from balframe.audit_page.queries import Asking, Row
from balframe.audit_page.request import Asked
from balframe.errors import InvalidInputError, UnknownNameError, bare_parameter, marked, parameter
from balframe.frames.adapter import Name
from balframe.methods.gates.check import check
from balframe.methods.gates.rules import Rule

VERDICTS = {"pass": "met", "fail": "not met", "inconclusive": "undecided"}


@dataclass(frozen=True, slots=True)
class Verdict:
    """Whether a rule is met by a group, or by the groups of a by-column together.

    `where` are the conditions (column, value) of the group; without a value, all groups of the
    column are meant, and without any all rows.
    """

    rule: str
    reason: str | None
    where: Sequence[tuple[int, Any]]
    is_of_groups: bool
    found: Estimate
    bound: float
    status: str


def check_rules(rules: Sequence[Rule], by: Sequence[Name]) -> None:
    """Raise where a rule needs a baseline, or is about a column that is not audited."""
    for rule in rules:
        if rule.is_relative:
            raise InvalidInputError(
                f"rule {rule.text!r} compares with a baseline, which an audit does not have. Leave "
                f"it out of {parameter('rules')}, and judge it with `check`."
            )
        for name in rule.where:
            if name not in by:
                raise UnknownNameError(
                    f"rule {rule.text!r} is about values of {name!r}, which is not in "
                    f"{bare_parameter('by')}. Name the column there, or leave the rule out."
                )


def verdicts_of(asking: Asking) -> list[Verdict]:
    """Judge every rule in every by-column, or in the columns that it is about."""
    asked = asking.asked
    found: list[Verdict] = []
    for columns in _judged_in(asked):
        keys = [key_of(column) for column in columns]
        some = [rule for rule in asked.rules if columns in _columns_of(rule, asked.by)]
        try:
            rows = asking.rows(
                check,
                asking.counted.positive,
                rules=[_given(rule, asked.by) for rule in some],
                by=keys or None,
                min_support=asked.min_support,
                level=asked.level,
            )
        except UnknownNameError as error:
            raise UnknownNameError(_with_names(marked(error), columns, asked.by)) from error
        by_text = {rule.text: rule for rule in some}
        found += [_verdict(by_text[row["rule"]], row, columns) for row in rows]
    return found


def _with_names(message: str, columns: Sequence[int], by: Sequence[Name]) -> str:
    """Name columns in a message as the caller does, not as the cells do."""
    for column in columns:
        message = message.replace(repr(key_of(column)), repr(by[column]))
    return message


def _columns_of(rule: Rule, by: Sequence[Name]) -> list[list[int]]:
    """List the columns, or combinations of columns, in whose groups a rule is judged."""
    if rule.where:
        return [[list(by).index(name) for name in rule.where]]
    return [[column] for column in range(len(by))] or [[]]


def _judged_in(asked: Asked) -> list[list[int]]:
    """List all such columns and combinations, each once."""
    every = [columns for rule in asked.rules for columns in _columns_of(rule, asked.by)]
    return [one for at, one in enumerate(every) if one not in every[:at]]


def _given(rule: Rule, by: Sequence[Name]) -> Mapping[str, Any]:
    """Write a rule as `check` reads it, with the names that columns have in the cells."""
    where = {key_of(list(by).index(name)): list(values) for name, values in rule.where.items()}
    return {"rule": rule.text, "where": where} if where else {"rule": rule.text}


def _verdict(rule: Rule, row: Row, columns: Sequence[int]) -> Verdict:
    is_of_groups = rule.over is not None
    where = [(at, None if is_of_groups else row[key_of(at)]) for at in columns]
    found = Estimate(row["estimate"], row["lower"], row["upper"])
    bound: float = row["bound"]
    return Verdict(
        rule.text, rule.reason, where, is_of_groups, found, bound, VERDICTS[row["status"]]
    )
