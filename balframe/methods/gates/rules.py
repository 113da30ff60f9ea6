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
from balframe.methods.gates.rule_parser import OPERATORS, DisparityKind, _RuleParser
from balframe.metrics.registry import Metric

_ROUNDING = 1e-14
_KEYS = ("rule", "where", "reason")
_EXAMPLE_RULES = "'recall >= 0.7', 'difference(recall) <= 0.1' or 'n >= 100'"


@dataclass(frozen=True, slots=True)
class Rule:
    """A condition on every segment, or on the lowest and the highest of them.

    `metric` is None if the quantity is a count. With `is_relative`, the bound is that of a
    difference from the baseline. `where` has the values of by-columns to which the rule applies.
    Rules are equal if they require the same, whatever their text and reason.
    """

    text: str = field(compare=False)
    quantity: str
    metric: Metric | None
    disparity: DisparityKind | None
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


def read_rules(rules: object) -> list[Rule]:
    """Return the rules given in any form; an error points at the place of the fault."""
    if isinstance(rules, PathLike) or (isinstance(rules, str) and _names_file(rules)):
        path = Path(fspath(rules))
        try:
            return _parse_rules(_load_file(path))
        except BalframeError as error:
            raise type(error)(f"{path}: {marked(error)}") from error.__cause__
    return _parse_rules(rules)


def _names_file(text: str) -> bool:
    return text.lower().endswith((".toml", ".yaml", ".yml"))


def _load_file(path: Path) -> object:
    try:
        text = path.read_text("utf-8-sig")
        if path.suffix.lower() == ".toml":
            import tomllib

            return tomllib.loads(text)
        return _load_yaml(text)
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or error
        raise InvalidInputError(f"the rules cannot be read: {reason}.") from error


def _load_yaml(text: str) -> object:
    try:
        import yaml
    except ModuleNotFoundError as error:
        raise MissingExtraError(
            "rules in YAML need pyyaml, which is not installed: "
            "python -m pip install 'balframe[yaml]'"
        ) from error
    try:
        _check_duplicate_keys(yaml.compose(text, yaml.SafeLoader))
        return yaml.safe_load(text) or []
    except yaml.YAMLError as error:
        raise ValueError(str(error)) from error


def _check_duplicate_keys(root: Any) -> None:  # noqa: ANN401 (a node of a library that may be missing)
    """Raise if a mapping has a key twice, of which YAML would drop the first silently."""
    nodes, seen = [root], set()
    while nodes:
        node = nodes.pop()
        if id(node) in seen or not isinstance(getattr(node, "value", None), list):
            continue
        seen.add(id(node))
        keys = [item[0] for item in node.value if isinstance(item, tuple)]
        names = [key.value for key in keys if isinstance(key.value, str)]
        for key in keys:
            if names.count(key.value) > 1:
                line = key.start_mark.line + 1
                raise ValueError(f"duplicate key {key.value!r}, first in line {line}")
        nodes += [item[1] if isinstance(item, tuple) else item for item in node.value]


def _parse_rules(source: object) -> list[Rule]:
    if isinstance(source, Mapping) and "rules" in source:
        others = [repr(name) for name in source if name != "rules"]
        if others:
            raise InvalidInputError(
                f"unexpected key{'s' * (len(others) > 1)} {listed(others)} beside 'rules'; only "
                "'rules' is allowed. Remove the others."
            )
        source = source["rules"]
    if isinstance(source, str):
        rules = [_parse_text(source)]
    elif isinstance(source, Mapping):
        rules = [_parse_mapping(source)] if "rule" in source else _parse_comparisons(source)
    elif is_iterable(source):
        rules = [_parse_item(item) for item in source]
    else:
        raise UnsupportedTypeError(
            f"{parameter('rules')} has the type {type(source).__qualname__}; give a rule such as "
            f"{_EXAMPLE_RULES}, a list of rules, a mapping, or the path of a .toml or .yaml file."
        )
    if not rules:
        raise InvalidInputError(
            f"{parameter('rules')} is empty; give at least one rule, such as {_EXAMPLE_RULES}."
        )
    for position, rule in enumerate(rules):
        if rule in rules[:position]:
            raise InvalidInputError(
                f"{parameter('rules')} has the rule {rule.text!r} twice; remove one of them."
            )
    return rules


def _parse_item(item: object) -> Rule:
    if isinstance(item, Rule):
        return item
    return _parse_mapping(item) if isinstance(item, Mapping) else _parse_text(item)


def _parse_comparisons(comparisons_by_name: Mapping[Any, Any]) -> list[Rule]:
    """Read `{"recall": ">= 0.7", "n": [">= 100", "< 1e6"]}`."""
    return [
        _parse_text(f"{name} {comparison}")
        for name, comparisons in comparisons_by_name.items()
        for comparison in (
            [comparisons] if isinstance(comparisons, str) else _as_list(name, comparisons)
        )
    ]


def _as_list(name: object, comparisons: object) -> list[object]:
    if not isinstance(comparisons, (list, tuple)):
        raise UnsupportedTypeError(
            f"the rule for {name!r} is {comparisons!r}; give a comparison such as '>= 0.7', or a "
            "list of comparisons."
        )
    return list(comparisons)


def _parse_mapping(mapping: Mapping[Any, Any]) -> Rule:
    """Read `{"rule": "recall >= 0.7", "where": {"group": ["a", "b"]}, "reason": "agreed"}`."""
    for key in mapping:
        if key not in _KEYS:
            raise not_found("rule key", key, _KEYS)
    if "rule" not in mapping:
        raise InvalidInputError(
            f"the rule {dict(mapping)!r} has no key 'rule'; give its text under this key."
        )
    where, reason = mapping.get("where", {}), mapping.get("reason")
    if not isinstance(where, Mapping):
        raise UnsupportedTypeError(
            f"'where' is {where!r}, which is not a mapping; give the values of a column, as in "
            '{"group": ["a", "b"]}.'
        )
    if reason is not None and not isinstance(reason, str):
        raise UnsupportedTypeError(f"'reason' is {reason!r}, which is not a string; give text.")
    values = {
        name: tuple(value) if isinstance(value, (list, tuple)) else (value,)
        for name, value in where.items()
    }
    return _parse_text(mapping["rule"], values, reason)


def _parse_text(
    text: object, where: Mapping[Name, Sequence[Any]] | None = None, reason: str | None = None
) -> Rule:
    if not isinstance(text, str):
        raise UnsupportedTypeError(
            f"the rule {text!r} has the type {type(text).__qualname__}; give text such as "
            f"{_EXAMPLE_RULES}."
        )
    parser = _RuleParser(" ".join(text.split()))
    quantity, metric, disparity = parser.parse_quantity()
    operator = parser.parse_operator()
    is_relative = parser.accept_baseline(quantity, disparity, operator)
    bound = parser.parse_margin() if is_relative else parser.parse_number()
    parser.expect_end()
    return Rule(
        parser.text, quantity, metric, disparity, operator, bound, is_relative, where or {}, reason
    )


# The segments that a rule applies to.


def rule_segments(rule: Rule, counted_frame: CountedFrame) -> Int64Array:
    """List the segments that a rule applies to, in order."""
    return np.sort(np.concatenate([np.zeros(0, np.int64), *rule_groups(rule, counted_frame)]))


def rule_groups(rule: Rule, counted_frame: CountedFrame) -> list[Int64Array]:
    """List the segments that a rule applies to, by group.

    Raise if a value of 'where' does not occur.
    """
    if not len(counted_frame.cells.n):
        return []
    codes = {
        name: [counted_frame.level_code(name, value) for value in values]
        for name, values in rule.where.items()
    }
    _, first = counted_frame.cells.segments
    for name, value_codes in codes.items():
        for value, code in zip(rule.where[name], value_codes, strict=True):
            if code not in counted_frame.codes[name]:
                raise UnknownNameError(
                    f"the rule {rule.text!r} applies where {name!r} is {value!r}, which does not "
                    "occur in the data. Check its spelling, or remove it from 'where'."
                )
    segments_by_group = []
    for group in counted_frame.groups():
        if not set(codes) <= set(group.by) or (rule.disparity is not None and not group.by):
            continue
        is_selected = np.ones(len(group.segments), np.bool_)
        for name, value_codes in codes.items():
            is_selected &= np.isin(counted_frame.codes[name][first[group.segments]], value_codes)
        if is_selected.any():
            segments_by_group.append(group.segments[is_selected])
    if not segments_by_group:
        conditions = {name: list(values) for name, values in rule.where.items()}
        raise UnknownNameError(
            f"the rule {rule.text!r} applies where {conditions}, and no segment has these values. "
            "Check 'where' of the rule."
        )
    return segments_by_group


def check_where(rules: Iterable[Rule], query: Query) -> None:
    """Raise if 'where' of a rule names a column that is not a by-column."""
    for rule in rules:
        for name in rule.where:
            if name not in query.by:
                error = not_found("by-column", name, query.by)
                raise UnknownNameError(f"'where' of the rule {rule.text!r}: {marked(error)}")
