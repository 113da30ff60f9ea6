"""The rules of a gate: what they are, how they are read, and when they are valid."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from math import isfinite
from operator import eq, ge, gt, le, lt
from os import PathLike, fspath
from pathlib import Path
from typing import Any, Literal, TypeGuard, get_args

import numpy as np

from balframe._validate import check_choice, is_iterable
from balframe.errors import (
    OPTION,
    BalframeError,
    InvalidInputError,
    Message,
    Spelled,
    UnknownNameError,
    UnsupportedTypeError,
    listed,
    not_found,
)
from balframe.frames.adapter import Name
from balframe.frames.query import Query
from balframe.methods.gates.rule_files import load_rule_file
from balframe.metrics.base import BaseMetric
from balframe.metrics.lookup import find_metric, metric_families, registered_metrics
from balframe.metrics.parametric import TYPED_NUMBER
from balframe.metrics.registry import Metric
from balframe.metrics.score_metrics import ScoreMetric, find_score_metric, score_families
from balframe.stats.base import GATE, Interval

DisparityKind = Literal["difference", "ratio"]
Severity = Literal["error", "warn"]

N_SEGMENTS = "n_segments"
_COUNTS = ("n", "n_labels", "min_support", N_SEGMENTS)
_OPERATORS = {">=": ge, ">": gt, "<=": le, "<": lt, "==": eq}
_DISPARITIES: Mapping[str, DisparityKind] = {"difference": "difference", "ratio": "ratio"}
_BASELINE = "baseline"  # the word in rules that compare with a baseline
SEVERITIES: tuple[Severity, ...] = get_args(Severity)
_KEYS = ("rule", "where", "reason", "severity")
_FILE_KEYS = ("rules", "expect", "absent_segments")
ABSENT_VERDICTS = ("inconclusive", "fail")  # of expected segments without rows
_EXAMPLE_RULES = "'recall >= 0.7', 'difference(recall) <= 0.1' or 'n >= 100'"
_ROUNDING = 1e-14


@dataclass(frozen=True, slots=True)
class Rule:
    """A condition on every segment, or on the lowest and the highest of them.

    `metric` and `score_metric` are None if the quantity is a count, and the second is given for a
    metric of scores. With `is_relative`, the bound is that of a
    difference from the baseline. `where` has the values of by-columns to which the rule applies.
    No gate fails by a rule with the severity "warn". Rules are equal if they require the same,
    whatever their text, reason and severity.
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
    severity: Severity = field(compare=False)
    score_metric: ScoreMetric | None = None

    @property
    def is_on_count(self) -> bool:
        """Whether the quantity is a count."""
        return self.metric is None and self.score_metric is None

    @property
    def is_over_segments(self) -> bool:
        """Whether it is on all segments together: their difference, ratio or number."""
        return self.disparity is not None or self.quantity == N_SEGMENTS

    def holds(self, value: Any) -> Any:  # noqa: ANN401 (an array or a number)
        """Return whether values satisfy the rule; undefined values do not.

        A score that differs from the bound only by rounding equals it: (.7 + .8 + .9) / 3 is .8.
        """
        if self.is_on_count:
            bound = int(self.bound) if self.bound.is_integer() else self.bound
            return _OPERATORS[self.operator](value, bound)
        is_same = np.abs(value - self.bound) <= _ROUNDING * max(1, abs(self.bound))
        return _OPERATORS[self.operator](np.where(is_same, self.bound, value), self.bound)


@dataclass(frozen=True, slots=True)
class RuleSet:
    """Rules, and what stands beside them: the segments that are expected, and if absence fails.

    `expect` has what every place gives, in the forms of the option, and the file that gives it.
    """

    rules: Sequence[Rule]
    expect: tuple[tuple[object, Path | None], ...] = ()
    absent_fails: bool = False

    @classmethod
    def union(cls, parts: Iterable["RuleSet"]) -> "RuleSet":
        """Put all rules and expected segments together."""
        parts = list(parts)
        return cls(
            [rule for part in parts for rule in part.rules],
            tuple(expect for part in parts for expect in part.expect),
            any(part.absent_fails for part in parts),
        )


RulesOption = (
    str
    | PathLike[str]
    | Mapping[str, Any]
    | Sequence[str | PathLike[str] | Mapping[str, Any]]
    | Sequence[Rule]
    | RuleSet
)


def read_rules(rules: object) -> list[Rule]:
    """Return the rules given in any form; an error points at the place of the fault."""
    return list(read_rule_set(rules).rules)


def read_rule_set(rules: object) -> RuleSet:
    """Return the rules given in any form, with what stands beside them."""
    if isinstance(rules, RuleSet):
        return rules
    return _read_file(rules) if is_rule_file(rules) else _parse_rules(rules)


def is_rule_file(rules: object) -> TypeGuard[str | PathLike[str]]:
    """Return whether this is the path of a file of rules, and not a rule."""
    is_name = isinstance(rules, str) and rules.lower().endswith((".toml", ".yaml", ".yml"))
    return is_name or isinstance(rules, PathLike)


def _read_file(file: str | PathLike[str]) -> RuleSet:
    path = Path(fspath(file))
    with naming_place(path):
        rule_set = _parse_rules(load_rule_file(path))
    return replace(rule_set, expect=tuple((item, path) for item, _ in rule_set.expect))


@contextmanager
def naming_place(place: object) -> Iterator[None]:
    """Put a place, such as a file, before the message of an error; None for no place."""
    try:
        yield
    except BalframeError as error:
        if place is None:
            raise
        raise type(error)("{}: {}", place, error) from error.__cause__


def _parse_rules(source: object) -> RuleSet:
    beside = RuleSet([])
    if isinstance(source, Mapping) and "rules" in source:
        beside = _parse_beside_rules(source)
        source = source["rules"]
    if isinstance(source, str):
        parsed = RuleSet([_parse_text(source)])
    elif isinstance(source, Mapping):
        is_single = "rule" in source
        parsed = RuleSet([_parse_mapping(source)] if is_single else _parse_comparisons(source))
    elif is_iterable(source):
        parsed = RuleSet.union(map(_parse_item, source))
    else:
        raise UnsupportedTypeError(
            "{rules} has the type {}; give a rule such as {}, a list of rules, a mapping, or the "
            "path of a .toml or .yaml file.",
            type(source).__qualname__,
            _EXAMPLE_RULES,
            rules=OPTION,
        )
    rules = parsed.rules
    if not rules:
        raise InvalidInputError(
            "{rules} is empty; give at least one rule, such as {}.", _EXAMPLE_RULES, rules=OPTION
        )
    for position, rule in enumerate(rules):
        if rule in rules[:position]:
            raise InvalidInputError(
                "{rules} has the rule {!r} twice; remove one of them.", rule.text, rules=OPTION
            )
    return RuleSet.union([parsed, beside])


def _parse_beside_rules(source: Mapping[Any, Any]) -> RuleSet:
    """Read the other keys of a mapping or file with the key 'rules'."""
    others = [repr(name) for name in source if name not in _FILE_KEYS]
    if others:
        raise InvalidInputError(
            f"unexpected key{'s' * (len(others) > 1)} {listed(others)} beside 'rules'; only "
            f"{listed(map(repr, _FILE_KEYS[1:]))} are allowed. Remove the others."
        )
    verdict = source.get("absent_segments", ABSENT_VERDICTS[0])
    check_choice("absent_segments", verdict, ABSENT_VERDICTS)
    expect = source.get("expect")
    return RuleSet([], () if expect is None else ((expect, None),), verdict == "fail")


def _parse_item(item: object) -> RuleSet:
    """Read an item of a list: a rule, or the path of a file, which may have several."""
    if is_rule_file(item):
        return _read_file(item)
    if isinstance(item, Rule):
        return RuleSet([item])
    return RuleSet([_parse_mapping(item) if isinstance(item, Mapping) else _parse_text(item)])


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
    """Read `{"rule": "recall >= 0.7", "where": {"group": ["a", "b"]}, "reason": "agreed"}`.

    The key `severity` has the severity, "error" by default.
    """
    for key in mapping:
        if key not in _KEYS:
            raise not_found("rule key", key, _KEYS)
    if "rule" not in mapping:
        raise InvalidInputError(
            f"the rule {dict(mapping)!r} has no key 'rule'; give its text under this key."
        )
    where, reason = mapping.get("where", {}), mapping.get("reason")
    severity = mapping.get("severity", "error")
    if not isinstance(where, Mapping):
        raise UnsupportedTypeError(
            f"'where' is {where!r}, which is not a mapping; give the values of a column, as in "
            '{"group": ["a", "b"]}.'
        )
    if reason is not None and not isinstance(reason, str):
        raise UnsupportedTypeError(f"'reason' is {reason!r}, which is not a string; give text.")
    if severity not in SEVERITIES:
        raise InvalidInputError(
            f"'severity' is {severity!r}; give {' or '.join(map(repr, SEVERITIES))}."
        )
    values = {
        name: tuple(value) if isinstance(value, (list, tuple)) else (value,)
        for name, value in where.items()
    }
    return _parse_text(mapping["rule"], values, reason, severity)


def _parse_text(
    text: object,
    where: Mapping[Name, Sequence[Any]] | None = None,
    reason: str | None = None,
    severity: Severity = "error",
) -> Rule:
    if not isinstance(text, str):
        raise UnsupportedTypeError(
            f"the rule {text!r} has the type {type(text).__qualname__}; give text such as "
            f"{_EXAMPLE_RULES}."
        )
    parser = _RuleParser(" ".join(text.split()))
    typed = TYPED_NUMBER.search(parser.text)
    if typed is not None:
        problem = f"{typed[0]!r} is not a number; write {typed[1]}, as f-strings do without '!r'"
        raise parser.error(problem, typed.start(), len(typed[0]))
    quantity, metric, disparity = parser.parse_quantity()
    score_metric = metric if isinstance(metric, ScoreMetric) else None
    operator = parser.parse_operator()
    is_relative = parser.accept_baseline(quantity, disparity, operator)
    if is_relative:
        bound = parser.parse_margin()
    else:
        bound = parser.parse_bound(metric if disparity is None else None)
    parser.expect_end()
    return Rule(
        parser.text,
        quantity,
        None if isinstance(metric, ScoreMetric) else metric,
        disparity,
        operator,
        bound,
        is_relative,
        where or {},
        reason,
        severity,
        score_metric,
    )


# The text of a rule, read from left to right.


_NAME = re.compile(r"[^\W\d]\w*")
_BRACKETS = re.compile(r"\([^()]*\)")
_OPERATOR = re.compile(r"[<>=!]+")
_SIGN = re.compile(r"[+-]")
_LEAST_PERCENTAGE = 10  # above the range of a metric, a number from which is probably in percent
_NUMBER = re.compile(r"[+-]?(\d+(\.\d*)?|\.\d+)([eE][+-]?\d+)?(?![\w.])")


@dataclass
class _RuleParser:
    """A parser of the text of a rule, from left to right."""

    text: str
    position: int = 0

    def error(
        self, problem: str | Message, at: int | None = None, width: int = 1
    ) -> InvalidInputError:
        """Return the error that points at a place, by default the next one."""
        at = self.position if at is None else at
        return InvalidInputError(
            "the rule {!r} cannot be read at position {}: {}.\n    {}\n    {}{}",
            self.text,
            at + 1,
            problem,
            self.text,
            " " * at,
            "^" * width,
        )

    def parse_quantity(self) -> tuple[str, Metric | ScoreMetric | None, DisparityKind | None]:
        """Parse a metric or a count, and how it is compared over segments, if it is."""
        name, at = self.parse_name()
        disparity: DisparityKind | None = None
        if self.accept("("):
            if name not in _DISPARITIES:
                raise self.error(f"{name!r} is neither 'difference' nor 'ratio'", at, len(name))
            disparity = _DISPARITIES[name]
            name, at = self.parse_name()
            if not self.accept(")"):
                raise self.error("')' is missing")
        metric = None if name in _COUNTS and disparity is None else self.parse_metric(name, at)
        return name, metric, disparity

    def parse_name(self) -> tuple[str, int]:
        """Parse a name, with its number if it names a family; return its position too."""
        name, at = self._expect(_NAME, "the name of a metric or a count is expected")
        if name in metric_families:
            family = metric_families[name]
            is_single = len(family.numbers.names) == 1
            numbers = "a number in brackets is" if is_single else "numbers in brackets are"
            expected = f"{numbers} expected, as in {family.example!r}"
            name += self._expect(_BRACKETS, expected)[0]
        elif name in score_families():
            brackets = _BRACKETS.match(self.text, self.position)
            if brackets is not None:
                name += brackets[0]
                self.position = brackets.end()
        return name, at

    def parse_metric(self, name: str, at: int) -> Metric | ScoreMetric:
        """Return the metric of a name that was read at this position."""
        try:
            score_metric = find_score_metric(name)
            if score_metric is not None and score_metric.method == "ranking":
                return score_metric
            return find_metric(name)
        except BalframeError as error:
            is_unknown = isinstance(error, UnknownNameError) and not self.text[:at].strip()
            problem = error.message.without_full_stop()
            if is_unknown:
                problem = Message("{}. Counts: {}", problem, listed(_COUNTS))
            raise self.error(problem, at, len(name)) from None

    def parse_operator(self) -> str:
        """Parse a comparison operator."""
        expected = f"one of {', '.join(_OPERATORS)} is expected"
        operator, at = self._expect(_OPERATOR, expected)
        if operator not in _OPERATORS:
            raise self.error(expected, at, len(operator))
        return operator

    def accept_baseline(
        self, quantity: str, disparity: DisparityKind | None, operator: str
    ) -> bool:
        """Skip the word `baseline` and return whether it was there.

        Raise if a rule on this quantity or with this operator cannot have it.
        """
        self._skip_spaces()
        match = _NAME.match(self.text, self.position)
        if match is None or match.group() != _BASELINE:
            return False
        without_baseline = None
        if disparity is not None:
            without_baseline = f"a {disparity} of segments"
        elif quantity in _COUNTS:
            without_baseline = f"the count {quantity!r}"
        if without_baseline is not None:
            problem = f"{without_baseline} is compared with a number, not with the baseline"
            raise self.error(problem, width=len(_BASELINE))
        if operator == "==":
            at = self.text.index(operator)
            raise self.error("one of >=, >, <=, < is expected before 'baseline'", at, 2)
        self.position = match.end()
        return True

    def parse_margin(self) -> float:
        """Parse the margin behind the word `baseline`, with its sign; it is 0 if there is none."""
        self._skip_spaces()
        if self.position == len(self.text):
            return 0.0
        expected = "a margin is expected, as in 'baseline - 0.02'"
        sign, _ = self._expect(_SIGN, expected)
        self._skip_spaces()
        if _SIGN.match(self.text, self.position):
            raise self.error("a number without a sign is expected")
        size = self.parse_number()
        return -size if sign == "-" else size

    def parse_number(self) -> float:
        """Parse a number."""
        digits, at = self._expect(_NUMBER, "a number is expected")
        if not isfinite(float(digits)):
            raise self.error("the number is too large", at, len(digits))
        if self.accept("%"):
            advice = f"write a percentage as a fraction: {float(digits) / 100:g}"
            raise self.error(f"unexpected '%'; {advice}", self.position - 1, 1)
        return float(digits)

    def parse_bound(self, metric: BaseMetric | None) -> float:
        """Parse a number that is not above the range of a metric, as a percentage would be."""
        self._skip_spaces()
        at, bound = self.position, self.parse_number()
        if metric is not None and bound > metric.range[1]:
            low, high = metric.range
            problem = f"{metric.name} is between {low:g} and {high:g}; give a number in this range"
            is_percentage = high == 1 and _LEAST_PERCENTAGE <= bound <= 100
            advice = f", such as {bound / 100:g}" if is_percentage else ""
            raise self.error(f"{problem}{advice}", at, self.position - at)
        return bound

    def accept(self, character: str) -> bool:
        """Skip a character and return whether it was there."""
        self._skip_spaces()
        if not self.text.startswith(character, self.position):
            return False
        self.position += len(character)
        return True

    def expect_end(self) -> None:
        """Raise if some text remains."""
        self._skip_spaces()
        if self.position < len(self.text):
            rest = len(self.text) - self.position
            raise self.error(f"unexpected {self.text[self.position :]!r}", width=rest)

    def _expect(self, pattern: re.Pattern[str], expected: str) -> tuple[str, int]:
        self._skip_spaces()
        match = pattern.match(self.text, self.position)
        if match is None:
            raise self.error(expected)
        self.position = match.end()
        return match.group(), match.start()

    def _skip_spaces(self) -> None:
        while self.position < len(self.text) and self.text[self.position].isspace():
            self.position += 1


# Whether rules suit the other options.


def check_have_baseline(rules: Iterable[Rule], baseline: object) -> None:
    """Raise if there are rules with a baseline but no baseline, or the other way round."""
    relative = [rule for rule in rules if rule.is_relative]
    if relative and baseline is None:
        raise InvalidInputError(
            "the rule {!r} compares with a baseline, but {baseline} is missing; give another "
            "column of predictions, or the rows of an earlier run, or its cells, a result of "
            "`confusion`.",
            relative[0].text,
            baseline=OPTION,
        )
    if baseline is not None and not relative:
        raise InvalidInputError(
            "{baseline} is given, but no rule compares with it; give a rule such as "
            "'balanced_accuracy >= baseline - 0.02'.",
            baseline=OPTION,
        )


BY_ESTIMATE = Spelled("level=None", "estimate", parameter="decide")


def check_have_limits(rules: Iterable[Rule], *, paired: bool, clusters: bool) -> None:
    """Raise if the metric of a rule has no confidence interval to decide it."""
    for rule in rules:
        if rule.metric is None:
            continue
        if rule.is_relative and paired:
            has_limits, purpose = _has_paired_limits, "for the difference between two models on "
            purpose += "the same rows "
            reason = "the rows that its denominators count depend on the predictions"
        elif clusters:
            has_limits, purpose = _has_cluster_limits, "for rows in clusters "
            reason = "no method for it is known"
        else:
            has_limits, purpose, reason = _has_limits, "", ""
        if has_limits(rule.metric.interval):
            continue
        metrics = [metric.name for metric in registered_metrics() if has_limits(metric.interval)]
        raise InvalidInputError(
            "metric {!r} has no confidence interval {}to decide the rule {!r}: {}. Give {decide}, "
            "or choose a metric that has one: {}.",
            rule.quantity,
            purpose,
            rule.text,
            reason if _has_limits(rule.metric.interval) else rule.metric.interval.reason,
            listed(metrics, len(metrics)),
            decide=BY_ESTIMATE,
        )


def _has_limits(interval: Interval) -> bool:
    return bool(interval.method_of(GATE))


def _has_cluster_limits(interval: Interval) -> bool:
    return bool(interval.method_of_clusters(GATE))


def _has_paired_limits(interval: Interval) -> bool:
    return interval.is_paired


def check_where(rules: Iterable[Rule], query: Query) -> None:
    """Raise if 'where' of a rule names a column that is not a by-column."""
    for rule in rules:
        for name in rule.where:
            if name not in query.by:
                error = not_found("by-column", name, query.by)
                raise UnknownNameError("'where' of the rule {!r}: {}", rule.text, error)
