"""What a caller asks of an audit, checked: columns, models, rules, and the words of the page."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import combinations
from typing import Any, cast, get_args

from balframe._validate import check_choice, check_level, check_min_support, is_whole_number
from balframe.api.options import Names
from balframe.api.outcomes import OUTCOME
from balframe.audit_page.cover import Cover, read_cover
from balframe.audit_page.text import caller_text, quote
from balframe.core.label_set import Label
from balframe.core.strata import is_correction
from balframe.errors import (
    NAME,
    OPTION,
    InvalidInputError,
    Message,
    UnknownNameError,
    join,
    listed,
    parameter,
)
from balframe.frames.adapter import PERIOD_ENTRY, Name
from balframe.frames.by_entries import INTERSECTION_ENTRY, Bins, Intersection, Period, entry_name
from balframe.frames.expected_segments import ExpectedValues
from balframe.frames.partly_labelled import check_correction
from balframe.frames.query import ExpectedOutcome, InputSpec, check_entries, name_list
from balframe.methods.gates.expect import all_expected_values, check_some_are_expected
from balframe.methods.gates.rules import Rule, RuleSet, read_rule_set
from balframe.methods.impact.impact import Favourable

_OWN = (
    "y_true",
    "y_pred",
    "outcome",
    "by",
    "y_score",
    "rules",
    "cover",
    "level",
    "min_support",
    "unit",
    "prediction_word",
    "favourable",
    "suppress",
    "baseline",
    "verdict",
    "label_probability",
)
_TEXTS = ("title", "subtitle", "truth", "selected")
PREDICTIONS = ("prediction", "predictions")  # their words by default
_ON_PREDICTIONS = ("y_score", "selected", "favourable", "prediction_word")
_NOT_CORRECTED = ("y_score", "baseline", "cluster", "sample_weight", "suppress")
_MAX_COLUMNS_IN_PAIRS = 3  # up to which all pairs of by-columns are intersections by default


@dataclass(frozen=True, slots=True)
class Model:
    """A column of predictions, and the column of scores that they come from, if there is one.

    A column of outcomes is `y_pred` too.
    """

    y_pred: Name
    y_score: Name | None


@dataclass(frozen=True, slots=True)
class Words:
    """The words of a page: of what happened, of being selected, of a row, and of a prediction."""

    truth: str | None
    selected: str | None
    singular: str
    plural: str
    prediction: str = PREDICTIONS[0]
    predictions: str = PREDICTIONS[1]

    @property
    def passed(self) -> str:
        """Return what rows did whose outcome is good: `solved the task`."""
        return "passed" if self.truth is None else caller_text(self.truth)

    def happened(self, label: Label) -> str:
        """Return what happened: `re-arrested within two years`, or `labelled spam`."""
        return _label_words(self.truth, "labelled", label)

    def predicted(self, label: Label) -> str:
        """Return what was predicted."""
        return _label_words(self.selected, "predicted", label)

    def rows(self, n: int) -> str:
        """Write a number of rows: `7,214 people`."""
        return f"{n:,} {self.singular if n == 1 else self.plural}"


def _label_words(words: str | None, default: str, label: Label) -> str:
    return f"{default} {quote(label)}" if words is None else caller_text(words)


@dataclass(frozen=True, slots=True)
class Request:
    """What a caller requests. `options` are those that methods share, `call` repeats it all.

    `intersections` are positions of by-columns.
    """

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
    favourable: Favourable | None = None
    suppress: int | None = None
    cover: Cover = field(default_factory=Cover)
    baseline: Any = None  # a frame of rows, or cells
    period: Period | None = None
    bins: Mapping[Name, Bins] = field(default_factory=dict)
    intersections: Sequence[Sequence[int]] = ()
    verdicts: Sequence[Name] = ()  # columns of all rows, for correcting those without a true label
    label_probability: Name | None = None

    @property
    def is_of_outcomes(self) -> bool:
        """Return whether rows passed or not, without a truth and predictions."""
        return isinstance(self.y_true, ExpectedOutcome)

    @property
    def is_corrected(self) -> bool:
        """Return whether rows without a true label are corrected for."""
        return is_correction(self.options.get("missing"))

    @property
    def cluster(self) -> Name | None:
        """Return the column that identifies rows that belong together."""
        return self.options.get("cluster")

    @property
    def sample_weight(self) -> Name | None:
        """Return the column of the weights of rows."""
        return self.options.get("sample_weight")

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


def check_without_predictions(options: Mapping[str, Any]) -> None:
    """Raise where options of a call with outcomes are on predictions."""
    no_values: Collection[object] = (None, PREDICTIONS, [*PREDICTIONS])
    names = [parameter(name, NAME) for name in _ON_PREDICTIONS if options[name] not in no_values]
    if any(isinstance(entry, Intersection) for entry in name_list(options["by"])):
        names.append(Message("{}", INTERSECTION_ENTRY))
    if names:
        is_one = len(names) == 1
        raise InvalidInputError(
            "{} {} about predictions, but {outcome} has rows that passed or not, without a truth "
            "and predictions. Omit {}.",
            join(" and ", names),
            "is" if is_one else "are",
            "it" if is_one else "them",
            outcome=OPTION,
        )


def check_request(options: Mapping[str, Any], call: str) -> Request:
    """Check the options of a call, all of them by name."""
    check_level(options["level"])
    check_min_support(options["min_support"], least=1)
    _check_missing(options)
    has_outcome = isinstance(options["y_true"], ExpectedOutcome)
    role = OUTCOME if has_outcome else "y_pred"
    models = _models(role, options["y_pred"], options["y_score"])
    entries = name_list(options["by"])
    check_entries(entries, InputSpec(has_intersections=True))
    period = next((entry for entry in entries if isinstance(entry, Period)), None)
    by = [entry_name(entry) for entry in entries if not isinstance(entry, (Period, Intersection))]
    intersections = [entry.columns for entry in entries if isinstance(entry, Intersection)]
    if period is not None and is_correction(options["missing"]):
        raise _not_corrected(Message("{}", PERIOD_ENTRY))
    _check_roles(role, options, by, models)
    rule_set = RuleSet([]) if options["rules"] is None else read_rule_set(options["rules"])
    check_rules(rule_set.rules, by, options)
    check_some_are_expected(rule_set.absent_fails, rule_set.expect)
    title, subtitle, truth, selected = (_text(name, options[name]) for name in _TEXTS)
    return Request(
        y_true=options["y_true"],
        models=models,
        by=by,
        rules=rule_set.rules,
        expected=all_expected_values(rule_set.expect, by),
        absent_fails=rule_set.absent_fails,
        title=title or "",
        subtitle=subtitle or "",
        words=Words(
            truth,
            selected,
            *_nouns("unit", options["unit"], ("person", "people")),
            *_nouns("prediction_word", options["prediction_word"], ("decision", "decisions")),
        ),
        favourable=_favourable(options["favourable"]),
        suppress=_suppress(options["suppress"]),
        baseline=options["baseline"],
        period=period,
        bins={entry.name: entry for entry in entries if isinstance(entry, Bins)},
        intersections=_intersections(intersections, by),
        verdicts=name_list(options["verdict"]),
        label_probability=options["label_probability"],
        level=options["level"],
        min_support=options["min_support"],
        options={name: value for name, value in options.items() if name not in (*_OWN, *_TEXTS)},
        call=call,
        cover=read_cover(options["cover"]),
    )


def _check_missing(options: Mapping[str, Any]) -> None:
    """Raise for a correction of rows without a true label that a page does not have."""
    check_correction(options)
    if not is_correction(options["missing"]):
        return
    for name in _NOT_CORRECTED:
        if options[name] is not None:
            raise _not_corrected(parameter(name, NAME))


def _not_corrected(option: Message) -> InvalidInputError:
    return InvalidInputError(
        "{} cannot be combined with {missing}: pages that correct for rows without a true label "
        "are without it. Omit one.",
        option,
        missing="correct",
    )


def _models(role: str, y_pred: Names, y_score: Names) -> Sequence[Model]:
    """Pair the columns of predictions, or of outcomes, with those of scores."""
    predictions, scores = name_list(y_pred), name_list(y_score)
    if not predictions:
        raise InvalidInputError("{} names no column; name at least one.", parameter(role, NAME))
    _check_distinct(role, predictions)
    if y_score is not None and len(scores) != len(predictions):
        raise InvalidInputError(
            "{y_score} names {} and {y_pred} {}; give one column of scores for each column of "
            "predictions, in the same order.",
            _columns(scores),
            _columns(predictions),
            y_score=NAME,
            y_pred=NAME,
        )
    pairs = zip(predictions, scores or [None] * len(predictions), strict=True)
    return [Model(*pair) for pair in pairs]


def _columns(names: Sequence[Name]) -> str:
    return f"{len(names)} column{'s' * (len(names) != 1)}"


def _check_roles(
    role: str, options: Mapping[str, Any], by: Sequence[Name], models: Sequence[Model]
) -> None:
    """Raise where a column is named twice, or in two roles; `role` is that of the models."""
    _check_distinct("by", by)
    roles = {
        "y_true": [options["y_true"]],
        role: [model.y_pred for model in models],
        "y_score": [model.y_score for model in models if model.y_score is not None],
        "by": by,
        "sample_weight": name_list(options["sample_weight"]),
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


def _intersections(
    intersections: Sequence[tuple[Name, ...]], by: Sequence[Name]
) -> list[tuple[int, ...]]:
    """Return the positions of the by-columns of each intersection, by default of all pairs."""
    if not intersections:
        is_default = len(by) <= _MAX_COLUMNS_IN_PAIRS
        return list(combinations(range(len(by)), 2)) if is_default else []
    if intersections == [()]:
        return []
    positions = [_intersection(names, by) for names in intersections]
    for columns, others in combinations(positions, 2):
        if set(columns) == set(others):
            raise InvalidInputError(
                "{by} has the intersection of the columns {} twice; name each intersection once.",
                listed(repr(by[column]) for column in others),
                by=NAME,
            )
    return positions


def _intersection(names: tuple[Name, ...], by: Sequence[Name]) -> tuple[int, ...]:
    """Return the positions of the by-columns of an intersection."""
    for name in names:
        if name not in by:
            raise UnknownNameError(
                "{!r} names {!r}, which is not in {by}. Name the column there, or leave the "
                "intersection out.",
                Intersection(names),
                name,
                by=NAME,
            )
    if len(names) < 2 or len({*names}) < len(names):
        raise InvalidInputError(
            "{!r} needs at least two different columns of {by}.", Intersection(names), by=NAME
        )
    return tuple(list(by).index(name) for name in names)


def check_rules(rules: Sequence[Rule], by: Sequence[Name], options: Mapping[str, Any]) -> None:
    """Raise where a rule lacks its baseline, or is about a column that is not audited."""
    for rule in rules:
        if rule.is_relative and options["baseline"] is None:
            raise InvalidInputError(
                "rule {!r} compares with a baseline; give earlier data as {baseline}, or leave the "
                "rule out of {rules}.",
                rule.text,
                baseline=OPTION,
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
        "{} is not text; give words for the page, or omit it.", parameter(option, text)
    )


def _nouns(option: str, nouns: object, example: tuple[str, str]) -> tuple[str, str]:
    """Check a noun in the singular and in the plural."""
    words = [*nouns] if isinstance(nouns, (list, tuple)) else []
    if len(words) != 2 or not all(isinstance(word, str) and word.strip() for word in words):
        raise InvalidInputError(
            '{} is not a pair of words; give the singular and the plural, such as ("{}", "{}").',
            parameter(option, nouns),
            example[0],
            example[1],
        )
    return words[0], words[1]


def _suppress(suppress: object) -> int | None:
    """Check the least count that the page may show."""
    if suppress is None:
        return None
    if not is_whole_number(suppress, 2):
        raise InvalidInputError(
            "{suppress} is not a count; give a whole number of at least 2, under which counts are "
            "withheld, or omit it.",
            suppress=suppress,
        )
    return int(suppress)


def _favourable(favourable: object) -> Favourable | None:
    """Check what is good for the people that a page is about."""
    if favourable is not None:
        check_choice("favourable", favourable, get_args(Favourable))
    return cast("Favourable | None", favourable)
