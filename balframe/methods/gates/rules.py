"""The rules of a gate: read from text, mappings and files."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from os import PathLike, fspath
from pathlib import Path
from typing import Any

import numpy as np

from balframe.core.array_types import Int64Array, is_iterable
from balframe.errors import (
    BalframeError,
    InvalidInputError,
    MissingExtraError,
    UnknownNameError,
    UnsupportedTypeError,
    listed,
    marked,
    not_found,
    parameter,
)
from balframe.frames.adapter import Name
from balframe.frames.counted_frame import CountedFrame
from balframe.frames.query import Query
from balframe.methods.gates.rule_parser import OPERATORS, Over, Parser
from balframe.metrics.registry import Metric

_ROUNDING = 1e-14
_KEYS = ("rule", "where", "reason")
_EXAMPLES = "'recall >= 0.7', 'difference(recall) <= 0.1' or 'n >= 100'"


@dataclass(frozen=True, slots=True)
class Rule:
    """A condition on every segment, or on the segments furthest apart.

    `metric` is None if the quantity is a count. The bound of a rule that `is_relative` is one of
    the difference from the baseline. `where` names the values of by-columns to which the rule
    applies. Rules are equal if they require the same, whatever their text and reason.
    """

    text: str = field(compare=False)
    quantity: str
    metric: Metric | None
    over: Over | None
    operator: str
    bound: float
    is_relative: bool
    where: Mapping[Name, Sequence[Any]]
    reason: str | None = field(compare=False)

    def holds(self, value: Any) -> Any:  # noqa: ANN401 (an array or a number)
        """Return whether values satisfy the rule; undefined values do not.

        A score that differs from the bound only by rounding equals it: (.7 + .8 + .9) / 3 is .8.
        """
        if self.metric is None:
            bound = int(self.bound) if self.bound.is_integer() else self.bound
            return OPERATORS[self.operator](value, bound)
        is_same = np.abs(value - self.bound) <= _ROUNDING * max(1, abs(self.bound))
        return OPERATORS[self.operator](np.where(is_same, self.bound, value), self.bound)


RulesOption = (
    str | PathLike[str] | Mapping[str, Any] | Sequence[str | Mapping[str, Any]] | Sequence[Rule]
)


def read_rules(given: object) -> list[Rule]:
    """Read rules in any form; an error points at the place of the fault."""
    if isinstance(given, PathLike) or (isinstance(given, str) and _is_path(given)):
        path = Path(fspath(given))
        try:
            return _listed(_loaded(path))
        except BalframeError as error:
            raise type(error)(f"{path}: {marked(error)}") from error.__cause__
    return _listed(given)


def _is_path(text: str) -> bool:
    return text.lower().endswith((".toml", ".yaml", ".yml"))


def _loaded(path: Path) -> object:
    try:
        text = path.read_text("utf-8-sig")
        if path.suffix.lower() == ".toml":
            import tomllib

            return tomllib.loads(text)
        return _yaml(text)
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or error
        raise InvalidInputError(f"the rules cannot be read: {reason}.") from error


def _yaml(text: str) -> object:
    try:
        import yaml
    except ModuleNotFoundError as error:
        raise MissingExtraError(
            "rules in YAML need pyyaml, which is not installed: "
            "python -m pip install 'balframe[yaml]'"
        ) from error
    try:
        _check_keys(yaml.compose(text, yaml.SafeLoader))
        return yaml.safe_load(text) or []
    except yaml.YAMLError as error:
        raise ValueError(str(error)) from error


def _check_keys(root: Any) -> None:  # noqa: ANN401 (a node of a library that may be missing)
    """Raise if a mapping has a key twice: YAML would drop the first silently."""
    nodes, seen = [root], set()
    while nodes:
        node = nodes.pop()
        if id(node) in seen or not isinstance(getattr(node, "value", None), list):
            continue
        seen.add(id(node))
        keys = [one[0] for one in node.value if isinstance(one, tuple)]
        names = [key.value for key in keys if isinstance(key.value, str)]
        for key in keys:
            if names.count(key.value) > 1:
                line = key.start_mark.line + 1
                raise ValueError(f"duplicate key {key.value!r}, first in line {line}")
        nodes += [one[1] if isinstance(one, tuple) else one for one in node.value]


def _listed(given: object) -> list[Rule]:
    if isinstance(given, Mapping) and "rules" in given:
        others = [repr(name) for name in given if name != "rules"]
        if others:
            raise InvalidInputError(
                f"unexpected key{'s' * (len(others) > 1)} {listed(others)} beside 'rules'; only "
                "'rules' is allowed. Remove the others."
            )
        given = given["rules"]
    if isinstance(given, str):
        rules = [_rule(given)]
    elif isinstance(given, Mapping):
        rules = [_of_mapping(given)] if "rule" in given else _of_names(given)
    elif is_iterable(given):
        rules = [_of_item(one) for one in given]
    else:
        raise UnsupportedTypeError(
            f"{parameter('rules')} has the type {type(given).__qualname__}; give a rule such as "
            f"{_EXAMPLES}, a list of rules, a mapping, or the path of a .toml or .yaml file."
        )
    if not rules:
        raise InvalidInputError(
            f"{parameter('rules')} is empty; give at least one rule, such as {_EXAMPLES}."
        )
    for position, rule in enumerate(rules):
        if rule in rules[:position]:
            raise InvalidInputError(
                f"{parameter('rules')} has the rule {rule.text!r} twice; remove one of them."
            )
    return rules


def _of_item(given: object) -> Rule:
    if isinstance(given, Rule):
        return given
    return _of_mapping(given) if isinstance(given, Mapping) else _rule(given)


def _of_names(given: Mapping[Any, Any]) -> list[Rule]:
    """Read `{"recall": ">= 0.7", "n": [">= 100", "< 1e6"]}`."""
    return [
        _rule(f"{name} {one}")
        for name, comparisons in given.items()
        for one in ([comparisons] if isinstance(comparisons, str) else _as_list(name, comparisons))
    ]


def _as_list(name: object, comparisons: object) -> list[object]:
    if not isinstance(comparisons, (list, tuple)):
        raise UnsupportedTypeError(
            f"the rule for {name!r} is {comparisons!r}; give a comparison such as '>= 0.7', or a "
            "list of comparisons."
        )
    return list(comparisons)


def _of_mapping(given: Mapping[Any, Any]) -> Rule:
    """Read `{"rule": "recall >= 0.7", "where": {"group": ["a", "b"]}, "reason": "agreed"}`."""
    for key in given:
        if key not in _KEYS:
            raise not_found("rule key", key, _KEYS)
    if "rule" not in given:
        raise InvalidInputError(
            f"the rule {dict(given)!r} has no key 'rule'; give its text under this key."
        )
    where, reason = given.get("where", {}), given.get("reason")
    if not isinstance(where, Mapping):
        raise UnsupportedTypeError(
            f"'where' is {where!r}, which is not a mapping; give the values of a column, as in "
            '{"group": ["a", "b"]}.'
        )
    if reason is not None and not isinstance(reason, str):
        raise UnsupportedTypeError(f"'reason' is {reason!r}, which is not a string; give text.")
    values = {
        name: tuple(some) if isinstance(some, (list, tuple)) else (some,)
        for name, some in where.items()
    }
    return _rule(given["rule"], values, reason)


def _rule(
    text: object, where: Mapping[Name, Sequence[Any]] | None = None, reason: str | None = None
) -> Rule:
    if not isinstance(text, str):
        raise UnsupportedTypeError(
            f"the rule {text!r} has the type {type(text).__qualname__}; give text such as "
            f"{_EXAMPLES}."
        )
    parser = Parser(" ".join(text.split()))
    quantity, metric, over = parser.quantity()
    operator = parser.operator()
    is_relative = parser.takes_baseline(quantity, over, operator)
    bound = parser.margin() if is_relative else parser.number()
    parser.end()
    return Rule(
        parser.text, quantity, metric, over, operator, bound, is_relative, where or {}, reason
    )


# The segments that a rule applies to.


def segments_of(rule: Rule, reading: CountedFrame) -> Int64Array:
    """List the segments that a rule applies to, in order."""
    return np.sort(np.concatenate([np.zeros(0, np.int64), *groups_of(rule, reading)]))


def groups_of(rule: Rule, reading: CountedFrame) -> list[Int64Array]:
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
