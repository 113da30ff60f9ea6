"""What a caller asks of an audit, checked: columns, models, rules, and the words of the page."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any

from balframe._validate import check_level, check_min_support
from balframe.api.options import Names
from balframe.audit_page.text import caller_text, quote
from balframe.core.label_set import Label
from balframe.errors import (
    NAME,
    OPTION,
    InvalidInputError,
    UnknownNameError,
    listed,
    parameter,
)
from balframe.frames.adapter import Name
from balframe.frames.expected_segments import ExpectedValues
from balframe.methods.gates.expect import all_expected_values, check_some_are_expected
from balframe.methods.gates.rules import Rule, RuleSet, read_rule_set

_OWN = ("y_true", "y_pred", "by", "y_score", "rules", "level", "min_support")
_TEXTS = ("title", "subtitle", "truth", "call")


@dataclass(frozen=True, slots=True)
class Model:
    """A column of predictions, and the column of scores that they come from, if there is one."""

    y_pred: Name
    y_score: Name | None


@dataclass(frozen=True, slots=True)
class Words:
    """The words of a page: of what happened, of the prediction, and of what a row is about."""

    truth: str | None
    call: str | None
    singular: str
    plural: str

    def happened(self, label: Label) -> str:
        """Return what happened: `re-arrested within two years`, or `labelled spam`."""
        return _label_words(self.truth, "labelled", label)

    def called(self, label: Label) -> str:
        """Return what was predicted."""
        return _label_words(self.call, "predicted", label)

    def rows(self, n: int) -> str:
        """Write a number of rows: `7,214 people`."""
        return f"{n:,} {self.singular if n == 1 else self.plural}"


def _label_words(words: str | None, default: str, label: Label) -> str:
    return f"{default} {quote(label)}" if words is None else caller_text(words)


@dataclass(frozen=True, slots=True)
class Request:
    """What a caller asks for. `options` are those that methods share, `call` repeats it all."""

    y_true: Name
    models: Sequence[Model]
    by: Sequence[Name]
    rules: Sequence[Rule]
    title: str
    subtitle: str
    words: Words
    level: float
    min_support: int
    options: Mapping[str, Any]
    call: str
    expected: Sequence[ExpectedValues] = ()  # segments of the rules
    absent_fails: bool = False

    @property
    def alpha(self) -> float:
        """Return the level of the tests, which is 0.05 where 1 - 0.95 is a little more."""
        return round(1 - self.level, 12)

    @property
    def percent_level(self) -> str:
        """Return the confidence level as text: `95%`."""
        return f"{100 * self.level:.6g}%"

    def column(self, number: int) -> str:
        """Return the name of a by-column in a sentence."""
        return caller_text(self.by[number])

    def column_title(self, number: int) -> str:
        """Return the name of a by-column as a heading."""
        name = str(self.by[number])
        return caller_text(name[:1].upper() + name[1:])


def check_request(options: Mapping[str, Any], call: str) -> Request:
    """Check the options of a call, all of them by name."""
    check_level(options["level"])
    check_min_support(options["min_support"], least=1)
    models = _models(options["y_pred"], options["y_score"])
    by = _names(options["by"])
    _check_roles(options["y_true"], by, models)
    rule_set = RuleSet([]) if options["rules"] is None else read_rule_set(options["rules"])
    check_rules(rule_set.rules, by)
    check_some_are_expected(rule_set.absent_fails, rule_set.expect)
    title, subtitle, truth, call_words = (_text(name, options[name]) for name in _TEXTS)
    return Request(
        y_true=options["y_true"],
        models=models,
        by=by,
        rules=rule_set.rules,
        expected=all_expected_values(rule_set.expect, by),
        absent_fails=rule_set.absent_fails,
        title=title or "",
        subtitle=subtitle or "",
        words=Words(truth, call_words, *_unit(options["unit"])),
        level=options["level"],
        min_support=options["min_support"],
        options={
            name: value for name, value in options.items() if name not in (*_OWN, *_TEXTS, "unit")
        },
        call=call,
    )


def _names(names: Names) -> list[Name]:
    if names is None:
        return []
    return list(names) if isinstance(names, (list, tuple)) else [names]


def _models(y_pred: Names, y_score: Names) -> Sequence[Model]:
    """Pair the columns of predictions with those of scores."""
    predictions, scores = _names(y_pred), _names(y_score)
    if not predictions:
        raise InvalidInputError("{y_pred} names no column; name at least one.", y_pred=NAME)
    _check_distinct("y_pred", predictions)
    if y_score is not None and len(scores) != len(predictions):
        raise InvalidInputError(
            "{y_score} names {} and {y_pred} {}; give one column of scores for each column of "
            "calls, in the same order.",
            _columns(scores),
            _columns(predictions),
            y_score=NAME,
            y_pred=NAME,
        )
    pairs = zip(predictions, scores or [None] * len(predictions), strict=True)
    return [Model(*pair) for pair in pairs]


def _columns(names: Sequence[Name]) -> str:
    return f"{len(names)} column{'s' * (len(names) != 1)}"


def _check_roles(y_true: Name, by: Sequence[Name], models: Sequence[Model]) -> None:
    """Raise where a column is named twice, or in two roles."""
    _check_distinct("by", by)
    roles = {
        "y_true": [y_true],
        "y_pred": [model.y_pred for model in models],
        "y_score": [model.y_score for model in models if model.y_score is not None],
        "by": by,
    }
    for (first, names), (second, others) in combinations(roles.items(), 2):
        for name in names:
            if name in others:
                raise InvalidInputError(
                    "column {!r} is given as {} and as {}; leave it out of one of them, or give a "
                    "copy of it under another name.",
                    name,
                    parameter(first, NAME),
                    parameter(second, NAME),
                )


def _check_distinct(option: str, names: Sequence[Name]) -> None:
    if any(name in names[:i] for i, name in enumerate(names)):
        raise InvalidInputError(
            "{} names a column twice: {}; name each column once.",
            parameter(option, NAME),
            listed(map(repr, names)),
        )


def check_rules(rules: Sequence[Rule], by: Sequence[Name]) -> None:
    """Raise where a rule needs a baseline, or is about a column that is not audited."""
    for rule in rules:
        if rule.is_relative:
            raise InvalidInputError(
                "rule {!r} compares with a baseline, which an audit does not have. Leave it out of "
                "{rules}, and judge it with `check`.",
                rule.text,
                rules=OPTION,
            )
        for name in rule.where:
            if name not in by:
                raise UnknownNameError(
                    "rule {!r} is about values of {!r}, which is not in {by}. Name the column "
                    "there, or leave the rule out.",
                    rule.text,
                    name,
                    by=NAME,
                )


def _text(option: str, text: object) -> str | None:
    if text is None or (isinstance(text, str) and text.strip()):
        return text
    raise InvalidInputError(
        "{} is no text; give words for the page, or omit it.", parameter(option, text)
    )


def _unit(unit: object) -> tuple[str, str]:
    words = [*unit] if isinstance(unit, (list, tuple)) else []
    if len(words) != 2 or not all(isinstance(word, str) and word.strip() for word in words):
        raise InvalidInputError(
            '{unit} is no pair of words; give the singular and the plural, such as ("person", '
            '"people").',
            unit=unit,
        )
    return words[0], words[1]
