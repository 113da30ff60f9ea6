"""The parser of the text of a rule."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from math import isfinite
from operator import eq, ge, gt, le, lt
from typing import Literal

from balframe.errors import BalframeError, InvalidInputError, UnknownNameError, listed, marked
from balframe.metrics.lookup import find_metric, metric_families
from balframe.metrics.registry import Metric

DisparityKind = Literal["difference", "ratio"]

BASELINE_WORD = "baseline"  # the word in rules that compare with a baseline
COUNTS = ("n", "n_labels", "min_support")
OPERATORS = {">=": ge, ">": gt, "<=": le, "<": lt, "==": eq}
_DISPARITIES: Mapping[str, DisparityKind] = {"difference": "difference", "ratio": "ratio"}
_NAME = re.compile(r"[^\W\d]\w*")
_BRACKETS = re.compile(r"\([^()]*\)")
_OPERATOR = re.compile(r"[<>=!]+")
_SIGN = re.compile(r"[+-]")
_NUMBER = re.compile(r"[+-]?(\d+(\.\d*)?|\.\d+)([eE][+-]?\d+)?(?![\w.])")


@dataclass
class _RuleParser:
    """A parser of the text of a rule, from left to right."""

    text: str
    position: int = 0

    def error(self, problem: str, at: int | None = None, width: int = 1) -> InvalidInputError:
        """Return the error that points at a place, by default the next one."""
        at = self.position if at is None else at
        return InvalidInputError(
            f"the rule {self.text!r} cannot be read at position {at + 1}: {problem}.\n"
            f"    {self.text}\n    {' ' * at}{'^' * width}"
        )

    def parse_quantity(self) -> tuple[str, Metric | None, DisparityKind | None]:
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
        metric = None if name in COUNTS and disparity is None else self.parse_metric(name, at)
        return name, metric, disparity

    def parse_name(self) -> tuple[str, int]:
        """Parse a name, with its number if it names a family; return its position too."""
        name, at = self._expect(_NAME, "the name of a metric or a count is expected")
        if name in metric_families:
            expected = f"a number in brackets is expected, as in '{name}(2)'"
            name += self._expect(_BRACKETS, expected)[0]
        return name, at

    def parse_metric(self, name: str, at: int) -> Metric:
        """Return the metric of a name that was read at this position."""
        try:
            return find_metric(name)
        except BalframeError as error:
            is_unknown = isinstance(error, UnknownNameError) and not self.text[:at].strip()
            others = f" Counts: {listed(COUNTS)}." if is_unknown else ""
            raise self.error(
                f"{marked(error).rstrip('.')}.{others}".rstrip("."), at, len(name)
            ) from None

    def parse_operator(self) -> str:
        """Parse a comparison operator."""
        expected = f"one of {', '.join(OPERATORS)} is expected"
        operator, at = self._expect(_OPERATOR, expected)
        if operator not in OPERATORS:
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
        if match is None or match.group() != BASELINE_WORD:
            return False
        without_baseline = None
        if disparity is not None:
            without_baseline = f"a {disparity} of segments"
        elif quantity in COUNTS:
            without_baseline = f"the count {quantity!r}"
        if without_baseline is not None:
            problem = f"{without_baseline} is compared with a number, not with the baseline"
            raise self.error(problem, width=len(BASELINE_WORD))
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
        return float(digits)

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
