"""The label set: which values are labels, how they compare and in which order they stand."""

import datetime
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, cast

import numpy as np

from balframe.core.array_types import FloatArray, Int64Array
from balframe.errors import (
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
STANDARD_PAIRS = ({0, 1}, {-1, 1})


def label_kind(value: object, holder: str | Message = "") -> str:
    """Return the kind of a label, within which labels compare: number, string, date, datetime."""
    if isinstance(value, datetime.datetime) and value.tzinfo is not None:
        return "datetime with zone"
    for kind, types in (
        ("number", (bool, np.bool_, int, float, np.number)),
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
        "{} cannot be used as labels; labels must be booleans, integers, whole-number floats, "
        "strings, categories or dates. Cast the column to one of these types.",
        what,
    )


def check_kinds(kinds: Iterable[tuple[str | Message, str | None]]) -> None:
    """Raise unless all labels are of one kind; each pair is what holds labels, and their kind."""
    pairs = [(holder, kind) for holder, kind in kinds if kind is not None]
    if len({kind for _, kind in pairs}) > 1:
        raise InvalidInputError(
            "labels of different types never compare equal: {}. Cast one to the type of the other.",
            listed_messages(Message("{} holds {}s", holder, kind) for holder, kind in pairs),
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
            "first: {}. `curve` evaluates every threshold.",
            holder,
            _THRESHOLD,
        )
    whole = [_whole(value) for value in labels]
    is_mixed = len({isinstance(value, bool) for value in whole}) > 1
    if not is_mixed:
        return whole
    return [int(value) if isinstance(value, bool) else value for value in whole]


def _is_fraction(value: object) -> bool:
    if not isinstance(value, (float, np.floating)):
        return False
    return not (math.isfinite(value) and value == math.floor(value))


def _whole(value: object) -> Label:
    if isinstance(value, (bool, np.bool_)):
        return bool(value)
    if isinstance(value, (int, float, np.number)):
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


WHEN_DEFAULT = (  # of the positive label, for messages
    "It has a default only if the labels are among 0 and 1, -1 and 1, or false and true."
)


def is_standard_pair(labels: Iterable[object]) -> bool:
    """Return whether labels are among 0 and 1, -1 and 1, or false and true."""
    distinct = set(labels)
    return any(distinct <= pair for pair in STANDARD_PAIRS)


@dataclass(frozen=True)
class LabelSet:
    """The labels of a whole frame in their order; the code of a label is its position."""

    values: tuple[Label, ...]

    @classmethod
    def union(cls, observed: Iterable[Label], domain: Sequence[Label] | None) -> "LabelSet":
        """Sort the labels that occur: ascending, or as in the domain (ordered categories)."""
        order = {label: position for position, label in enumerate(domain or ())}
        distinct = dict.fromkeys(observed)
        return cls(tuple(sorted(distinct, key=order.__getitem__ if order else None)))

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

        It defaults to 1 or True where the labels are a subset of {0, 1}, of {-1, 1} or of
        {False, True}; None says that there is no such default.
        """
        is_standard = is_standard_pair(self.values)
        if pos_label is None:
            return self.codes([1])[0].item() if is_standard else None
        label_kind(pos_label)
        code = self.position(pos_label)
        might_occur = is_standard_pair({*self.values, pos_label})
        if code is None and not might_occur:
            raise InvalidInputError(
                "{pos_label} is not a label; give one of {}.", self, pos_label=pos_label
            )
        return -1 if code is None else code

    def weights(self, class_weight: Mapping[Any, float]) -> FloatArray:
        """Put the weights of a mapping in the order of the labels."""
        unknown = [label for label in class_weight if self.position(label) is None]
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
