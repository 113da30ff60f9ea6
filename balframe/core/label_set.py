"""The label set: which values are labels, how they compare and in which order they stand."""

import datetime
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from typing import Any, cast

import numpy as np

from balframe.core.array_types import FloatArray, Int64Array
from balframe.errors import (
    CAST,
    NAME,
    OPTION,
    InvalidInputError,
    Message,
    Spelled,
    UnsupportedTypeError,
    listed,
    listed_messages,
)

Label = bool | int | float | str | datetime.date | datetime.datetime  # a float is a whole number

_THRESHOLD = Spelled("`score >= 0.5`", "0.5", parameter="threshold")
# The negative and the positive label where there is a default; of words in any case.
_NUMBER_PAIRS = ((0, 1), (-1, 1))  # False and True equal 0 and 1
WORD_PAIRS = (("no", "yes"), ("n", "y"), ("false", "true"), ("negative", "positive"))
DEFAULT_POS_LABEL = (
    "1 or True beside 0, -1 or False, and the second word of "
    f"{', '.join(map('/'.join, WORD_PAIRS))}, in any case"
)


def label_kind(value: object, holder: str | Message = "") -> str:
    """Return the kind of a label, within which labels compare: number, string, date, datetime."""
    if isinstance(value, datetime.datetime) and value.tzinfo is not None:
        return "datetime with zone"
    for kind, types in (
        ("number", (bool, np.bool_, int, float, Decimal, np.number)),
        ("string", (str,)),
        ("datetime", (datetime.datetime, np.datetime64)),
        ("date", (datetime.date,)),
    ):
        if isinstance(value, types):
            return kind
    what = f"{value!r} of type {type(value).__name__}"
    raise unusable_labels_error(Message("{} ({})", holder, what) if holder else what)


def unusable_labels_error(what: str | Message) -> UnsupportedTypeError:
    """Describe what can be used as labels."""
    return UnsupportedTypeError(
        "{} cannot be used as labels; labels must be booleans, integers, whole-number floats "
        "or decimals, strings, categories or dates. Cast the column to one of these types.",
        what,
    )


def check_kinds(kinds: Iterable[tuple[str | Message, str | None]]) -> None:
    """Raise unless all labels are of one kind; each pair is what holds labels, and their kind."""
    pairs = [(holder, kind) for holder, kind in kinds if kind is not None]
    if len({kind for _, kind in pairs}) > 1:
        raise InvalidInputError(
            "labels of different types never compare equal: {}. {}",
            listed_messages(Message("{} holds {}s", holder, kind) for holder, kind in pairs),
            CAST,
        )


def as_labels(values: Iterable[object], holder: str | Message) -> list[Label]:
    """Turn values into labels that compare as in scikit-learn: 1, True and 1.0 are equal."""
    labels = list(values)
    one_of_each = {label_kind(value, holder): value for value in labels}
    if len(one_of_each) > 1:
        check_kinds(
            (Message("{} ({!r})", holder, value), kind) for kind, value in one_of_each.items()
        )
    if any(map(_is_fraction, labels)):
        raise InvalidInputError(
            "{} holds numbers that are not whole: scores are not labels. Turn them into labels "
            "first: {}. `curve` evaluates every threshold; compare and audit take {y_score}.",
            holder,
            _THRESHOLD,
            y_score=OPTION,
        )
    whole = [_whole(value) for value in labels]
    is_mixed = len({isinstance(value, bool) for value in whole}) > 1
    if not is_mixed:
        return whole
    return [int(value) if isinstance(value, bool) else value for value in whole]


def _is_fraction(value: object) -> bool:
    if not isinstance(value, (float, Decimal, np.floating)):
        return False
    return not (math.isfinite(value) and value == math.floor(value))


def _whole(value: object) -> Label:
    if isinstance(value, (bool, np.bool_)):
        return bool(value)
    if isinstance(value, (int, float, Decimal, np.number)):
        return int(value)
    return cast(Label, value)


def as_numbers(labels: Sequence[Label]) -> Sequence[int]:
    """Take labels as the numbers that they are, for a column of numbers."""
    return cast(Sequence[int], labels)


def mixed_labels_error(labels: Sequence[Label]) -> InvalidInputError:
    """Return the error for labels that cannot stand in one column."""
    return InvalidInputError(
        "the columns of labels have different dtypes, and no single dtype can hold all labels: "
        f"{listed(map(repr, labels))}. Cast them to one dtype first."
    )


_PAIRS = [f"{negative} and {positive}" for negative, positive in (*_NUMBER_PAIRS, *WORD_PAIRS)]
_WHEN_DEFAULT = (
    f"It has a default only if the labels are among {', '.join(_PAIRS[:-1])}, or {_PAIRS[-1]}, in "
    "upper or lower case."
)
_SEVERAL_CASES = (
    "Labels that differ only in case, such as {!r} and {!r}, are different labels, and then it has "
    "no default. If they mean the same, write them in the same case."
)


def standard_pair(labels: Iterable[object]) -> tuple[Label, Label] | None:
    """Return the negative and the positive label if there is a default for labels among them.

    A word that does not occur has the case of the one that does. Words that occur in more than one
    case are different labels, so they have no default.
    """
    distinct = set(labels)
    for pair in _NUMBER_PAIRS:
        if distinct <= {*pair}:
            return pair
    words = {label.lower(): label for label in distinct if isinstance(label, str)}
    if len(words) < len(distinct):
        return None
    for negative, positive in WORD_PAIRS:
        if {*words} <= {negative, positive}:
            occurring = next(iter(words.values()))
            no, yes = (_in_case_of(occurring, word) for word in (negative, positive))
            return words.get(negative, no), words.get(positive, yes)
    return None


def _in_case_of(model: str, word: str) -> str:
    """Write a word in the case of another."""
    if model.isupper():
        return word.upper()
    return word.capitalize() if model[0].isupper() else word


def why_no_default(labels: "LabelSet", of_several: str = _WHEN_DEFAULT) -> str:
    """Return why the positive label has no default: `of_several` if there are more than two."""
    by_word: dict[str, list[str]] = {}
    for label in labels.values:
        if isinstance(label, str):
            by_word.setdefault(label.lower(), []).append(label)
    cases = next((spelled for spelled in by_word.values() if len(spelled) > 1), None)
    if cases is not None and standard_pair(by_word) is not None:
        return _SEVERAL_CASES.format(*cases)
    return of_several if len(labels) > 2 else _WHEN_DEFAULT


@dataclass(frozen=True, slots=True)
class Categories:
    """The labels that the type of a column declares, and whether their order has a meaning."""

    labels: tuple[Label, ...]
    is_ordered: bool


@dataclass(frozen=True)
class LabelSet:
    """The labels of a whole frame in their order; the code of a label is its position.

    `is_ordered` says that distances between the positions have a meaning. `declared` are labels
    that may be absent.
    """

    values: tuple[Label, ...]
    is_ordered: bool = True
    declared: frozenset[Label] = frozenset()

    @classmethod
    def union(
        cls, observed: Iterable[Label], categories: Sequence[Categories | None]
    ) -> "LabelSet":
        """Sort the labels that occur: as in the categories of the columns, or ascending.

        Of three or more texts, only ordered categories know the order.
        """
        distinct = set(observed)
        order, is_ordered = category_order(categories)
        position = {label: i for i, label in enumerate(order)}
        ascending = sorted(distinct)
        values = sorted(distinct, key=position.__getitem__) if order else ascending
        if not is_ordered:
            are_texts = any(isinstance(label, str) for label in distinct)
            is_ordered = values == ascending and not are_texts
        declared = frozenset(label for each in categories if each for label in each.labels)
        return cls(tuple(values), is_ordered or len(values) < 3, declared)

    @classmethod
    def from_list(cls, labels: Sequence[Label], observed: Iterable[Label]) -> "LabelSet":
        """Take the labels as the caller lists them; one outside that list is an error."""
        outside = sorted(set(observed) - set(labels))
        if outside:
            raise InvalidInputError(
                "the data have the label{} {}, which {labels} does not contain; add {}, or drop "
                "those rows.",
                "s" * (len(outside) > 1),
                listed(map(repr, outside)),
                "them" if len(outside) > 1 else "it",
                labels=list(labels),
            )
        return cls(tuple(labels))

    def declaring(self, labels: Iterable[Label]) -> "LabelSet":
        """Return the same labels, beside which others may be absent, such as an earlier run's."""
        return replace(self, declared=self.declared | {*labels})

    def __len__(self) -> int:
        """Count the labels."""
        return len(self.values)

    def codes(self, values: Iterable[Label | None]) -> Int64Array:
        """Look up the codes of values, -1 for those that are not labels."""
        code: dict[Label | None, int] = {label: i for i, label in enumerate(self.values)}
        return np.array([code.get(value, -1) for value in values], np.int64)

    def position(self, label: object) -> int | None:
        """Look up the code of one label that a caller gave; None where it is not a label."""
        return self.values.index(label) if label in self.values else None

    def positive(self, pos_label: object) -> int | None:
        """Find the code of the positive label, -1 where it does not occur.

        It defaults to the positive label of a standard pair; None says that there is no default.
        """
        if pos_label is None:
            pair = standard_pair(self.values)
            return None if pair is None else self.codes([pair[1]])[0].item()
        label_kind(pos_label)
        code = self.position(pos_label)
        if code is None and not self._may_be_absent(pos_label):
            absent = sorted(self.declared.difference(self.values))
            raise InvalidInputError(
                "{pos_label} is not a label; give one of {}, or add it to {labels} if it may be "
                "absent.",
                listed(map(repr, (*self.values, *absent))),
                pos_label=pos_label,
                labels=OPTION,
            )
        return -1 if code is None else code

    def _may_be_absent(self, label: object) -> bool:
        """Return whether a label is declared, or the other of a pair, in the case of its words."""
        labels = self.declared.union(self.values)
        if isinstance(label, str):
            return label in labels or label in (standard_pair(labels) or ())
        return label in labels or standard_pair({*labels, label}) is not None

    def weights(self, class_weight: Mapping[Any, float]) -> FloatArray:
        """Put the weights of a mapping in the order of the labels."""
        labels = self.declared.union(self.values)
        unknown = [label for label in class_weight if label not in labels]
        without = [label for label in self.values if label not in class_weight]
        if self.values and unknown:
            raise InvalidInputError(
                "{class_weight} has a weight for {}, which is not among the labels: {}. Remove it, "
                "or add it to {labels} if it may be absent.",
                listed(map(repr, unknown)),
                self,
                class_weight=NAME,
                labels=OPTION,
            )
        if without:
            raise InvalidInputError(
                "{class_weight} has no weight for {}; give one for each of the labels: {}. A "
                "weight of 0 excludes a label from the mean.",
                listed(map(repr, without)),
                self,
                class_weight=NAME,
            )
        weights = np.array([class_weight[label] for label in self.values], np.float64)
        return np.asarray(weights / weights.max(initial=0), np.float64)

    def __str__(self) -> str:
        """List the labels for a message."""
        return listed(map(repr, self.values))


def category_order(categories: Sequence[Categories | None]) -> tuple[Sequence[Label], bool]:
    """Return the order on which all columns agree, and whether it has a meaning; or none."""
    declared = [each for each in categories if each is not None]
    are_ordered = {each.is_ordered for each in declared}
    if not declared or len(declared) < len(categories) or len(are_ordered) > 1:
        return (), False
    longest = max((each.labels for each in declared), key=len)
    if are_ordered == {True}:
        agree = all(_is_subsequence(each.labels, longest) for each in declared)
    else:
        agree = all({*each.labels} == {*longest} for each in declared)
    return (longest, agree and are_ordered == {True}) if agree else ((), False)


def _is_subsequence(short: Sequence[Label], long: Sequence[Label]) -> bool:
    rest = iter(long)
    return all(label in rest for label in short)
