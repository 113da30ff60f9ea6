"""The text of a rule, read from left to right."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from math import isfinite
from operator import eq, ge, gt, le, lt
from typing import Literal

from balframe.errors import BalframeError, InvalidInputError, UnknownNameError, listed, marked
from balframe.metrics.lookup import families, find
from balframe.metrics.registry import Metric

Over = Literal["difference", "ratio"]

BASELINE = "baseline"  # the word of rules that compare with one
COUNTS = ("n", "n_labels", "min_support")
OPERATORS = {">=": ge, ">": gt, "<=": le, "<": lt, "==": eq}
_OVER: Mapping[str, Over] = {"difference": "difference", "ratio": "ratio"}
_NAME = re.compile(r"[^\W\d]\w*")
_BRACKETS = re.compile(r"\([^()]*\)")
_OPERATOR = re.compile(r"[<>=!]+")
_SIGN = re.compile(r"[+-]")
_NUMBER = re.compile(r"[+-]?(\d+(\.\d*)?|\.\d+)([eE][+-]?\d+)?(?![\w.])")


@dataclass
class Parser:
    """Reads the text of a rule from left to right."""

    text: str
    position: int = 0

    def wrong(self, what: str, at: int | None = None, width: int = 1) -> InvalidInputError:
        """Point at a place, the next one by default."""
        at = self.position if at is None else at
        return InvalidInputError(
            f"the rule {self.text!r} cannot be read at position {at + 1}: {what}.\n"
            f"    {self.text}\n    {' ' * at}{'^' * width}"
        )

    def quantity(self) -> tuple[str, Metric | None, Over | None]:
        """Take a metric or a count, and whether it is compared over the segments."""
        name, at = self.name()
        over: Over | None = None
        if self.takes("("):
            if name not in _OVER:
                raise self.wrong(f"{name!r} is neither 'difference' nor 'ratio'", at, len(name))
            over = _OVER[name]
            name, at = self.name()
            if not self.takes(")"):
                raise self.wrong("')' is missing")
        metric = None if name in COUNTS and over is None else self.metric(name, at)
        return name, metric, over

    def name(self) -> tuple[str, int]:
        """Take a name, with its number if it names a family, and return its position."""
        name, at = self._next(_NAME, "the name of a metric or a count is expected")
        if name in families:
            name += self._next(_BRACKETS, f"a number in brackets is expected, as in '{name}(2)'")[0]
        return name, at

    def metric(self, name: str, at: int) -> Metric:
        """Look up a metric by its name, which stood there."""
        try:
            return find(name)
        except BalframeError as error:
            is_unknown = isinstance(error, UnknownNameError) and not self.text[:at].strip()
            others = f" Counts: {listed(COUNTS)}." if is_unknown else ""
            raise self.wrong(
                f"{marked(error).rstrip('.')}.{others}".rstrip("."), at, len(name)
            ) from None

    def operator(self) -> str:
        """Take a comparison."""
        expected = f"one of {', '.join(OPERATORS)} is expected"
        found, at = self._next(_OPERATOR, expected)
        if found not in OPERATORS:
            raise self.wrong(expected, at, len(found))
        return found

    def takes_baseline(self, quantity: str, over: Over | None, operator: str) -> bool:
        """Take the word `baseline` if it is there, and the rule may be about it."""
        self._skip()
        found = _NAME.match(self.text, self.position)
        if found is None or found.group() != BASELINE:
            return False
        what = None
        if over is not None:
            what = f"a {over} of segments"
        elif quantity in COUNTS:
            what = f"the count {quantity!r}"
        if what is not None:
            wrong = f"{what} is compared with a number, not with the baseline"
            raise self.wrong(wrong, width=len(BASELINE))
        if operator == "==":
            at = self.text.index(operator)
            raise self.wrong("one of >=, >, <=, < is expected before 'baseline'", at, 2)
        self.position = found.end()
        return True

    def margin(self) -> float:
        """Take the margin behind the word `baseline`, with its sign; 0 where there is none."""
        self._skip()
        if self.position == len(self.text):
            return 0.0
        expected = "a margin is expected, as in 'baseline - 0.02'"
        sign, _ = self._next(_SIGN, expected)
        self._skip()
        if _SIGN.match(self.text, self.position):
            raise self.wrong("a number without a sign is expected")
        size = self.number()
        return -size if sign == "-" else size

    def number(self) -> float:
        """Take a number."""
        found, at = self._next(_NUMBER, "a number is expected")
        if not isfinite(float(found)):
            raise self.wrong("the number is too large", at, len(found))
        return float(found)

    def takes(self, mark: str) -> bool:
        """Take a mark if it is there."""
        self._skip()
        if not self.text.startswith(mark, self.position):
            return False
        self.position += len(mark)
        return True

    def end(self) -> None:
        """Raise if text is left."""
        self._skip()
        if self.position < len(self.text):
            rest = len(self.text) - self.position
            raise self.wrong(f"unexpected {self.text[self.position :]!r}", width=rest)

    def _next(self, pattern: re.Pattern[str], expected: str) -> tuple[str, int]:
        self._skip()
        found = pattern.match(self.text, self.position)
        if found is None:
            raise self.wrong(expected)
        self.position = found.end()
        return found.group(), found.start()

    def _skip(self) -> None:
        while self.position < len(self.text) and self.text[self.position].isspace():
            self.position += 1
