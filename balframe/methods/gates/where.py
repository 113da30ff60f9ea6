"""The segments that a rule applies to."""

from collections.abc import Iterable

import numpy as np

from balframe.core.array_types import Int64Array
from balframe.errors import UnknownNameError, marked, not_found
from balframe.frames.counted_frame import Reading
from balframe.frames.query import Query
from balframe.methods.gates.rules import Rule


def segments_of(rule: Rule, reading: Reading) -> Int64Array:
    """List the segments that a rule applies to, in order."""
    return np.sort(np.concatenate([np.zeros(0, np.int64), *groups_of(rule, reading)]))


def groups_of(rule: Rule, reading: Reading) -> list[Int64Array]:
    """List the segments that a rule applies to, by group; every value named must occur."""
    if not len(reading.cells.n):
        return []
    codes = {
        name: [reading.code_of(name, value) for value in values]
        for name, values in rule.where.items()
    }
    _, first = reading.cells.segments
    for name, of_values in codes.items():
        for value, code in zip(rule.where[name], of_values, strict=True):
            if code not in reading.codes[name]:
                raise UnknownNameError(
                    f"the rule {rule.text!r} applies where {name!r} is {value!r}, which does not "
                    "occur in the data. Check its spelling, or remove it from 'where'."
                )
    found = []
    for group in reading.groups():
        if not set(codes) <= set(group.by) or (rule.over is not None and not group.by):
            continue
        applies = np.ones(len(group.segments), np.bool_)
        for name, of_values in codes.items():
            applies &= np.isin(reading.codes[name][first[group.segments]], of_values)
        if applies.any():
            found.append(group.segments[applies])
    if not found:
        wanted = {name: list(values) for name, values in rule.where.items()}
        raise UnknownNameError(
            f"the rule {rule.text!r} applies where {wanted}, and no segment has these values. "
            "Check 'where' of the rule."
        )
    return found


def check_where(rules: Iterable[Rule], query: Query) -> None:
    """Raise if 'where' of a rule names a column that is not a by-column."""
    for rule in rules:
        for name in rule.where:
            if name not in query.by:
                error = not_found("by-column", name, query.by)
                raise UnknownNameError(f"'where' of the rule {rule.text!r}: {marked(error)}")
