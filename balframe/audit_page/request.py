"""What a caller asks of an audit: columns, models, rules, and the words of the page."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from balframe.audit_page.text import given, name
from balframe.core.label_set import Label
from balframe.frames.adapter import Name
from balframe.methods.gates.rules import Rule


@dataclass(frozen=True, slots=True)
class Model:
    """A column of calls, and the column of scores that they come from, if there is one."""

    y_pred: Name
    y_score: Name | None


@dataclass(frozen=True, slots=True)
class Words:
    """The words of a page: of what happened, of the call, and of what a row is about."""

    truth: str | None
    call: str | None
    one: str
    many: str

    def happened(self, label: Label) -> str:
        """Say what happened: `re-arrested within two years`, or `labelled spam`."""
        return _of_label(self.truth, "labelled", label)

    def called(self, label: Label) -> str:
        """Say what was called."""
        return _of_label(self.call, "predicted", label)

    def counted(self, n: int) -> str:
        """Write a number of rows: `7,214 people`."""
        return f"{n:,} {self.one if n == 1 else self.many}"


def _of_label(words: str | None, default: str, label: Label) -> str:
    return f"{default} {name(label)}" if words is None else given(words)


@dataclass(frozen=True, slots=True)
class Asked:
    """What a caller asks for, checked. `options` are those that verbs share."""

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

    @property
    def alpha(self) -> float:
        """Give the level of the tests, which is 0.05 where 1 - 0.95 is a little more."""
        return round(1 - self.level, 12)

    def title_of(self, column: int) -> str:
        """Give the name of a by-column as a heading."""
        return given(str(self.by[column])[:1].upper() + str(self.by[column])[1:])
