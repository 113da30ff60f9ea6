"""Expressions of GitHub Actions, evaluated as far as workflows of this repository use them."""

import json
import math
import re
from collections.abc import Mapping

_TOKEN = re.compile(
    r"\s*(?:(?P<text>'(?:[^']|'')*')|(?P<number>-?\d+(?:\.\d+)?)|(?P<name>[A-Za-z_][\w-]*)"
    r"|(?P<mark>&&|\|\||==|!=|<=|>=|[!<>().,\[\]]))"
)
_EXPRESSION = re.compile(r"\$\{\{(.*?)\}\}", re.DOTALL)
_WORDS = {"true": True, "false": False, "null": None}
STATUS_FUNCTIONS = ("success", "failure", "always", "cancelled")


class ExpressionError(ValueError):
    """What is no expression, or has what is not interpreted here."""


def is_true(value):
    return not (value is None or value is False or value == "" or value == 0)


def as_text(value):
    if value is None:
        return ""
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, (int, float)):
        return f"{value:g}"
    if isinstance(value, str):
        return value
    return "Object" if isinstance(value, Mapping) else "Array"


def _as_number(value):
    if value is None or isinstance(value, (bool, int, float)):
        return float(value or 0)
    try:
        return float(value.strip() or 0)
    except (AttributeError, ValueError):
        return math.nan


def _equal(left, right):
    if isinstance(left, str) and isinstance(right, str):
        return left.lower() == right.lower()
    if type(left) is type(right):
        return left == right
    return _as_number(left) == _as_number(right)


def _contains(whole, part):
    if isinstance(whole, list):
        return any(_equal(item, part) for item in whole)
    return as_text(part).lower() in as_text(whole).lower()


def _format(template, *values):
    return re.sub(r"\{(\d+)\}", lambda match: as_text(values[int(match[1])]), template)


_FUNCTIONS = {
    "contains": _contains,
    "startswith": lambda text, start: as_text(text).lower().startswith(as_text(start).lower()),
    "format": _format,
    "fromjson": json.loads,
}


class _Parser:
    """A parser that evaluates from left to right; `status` has the functions of the status."""

    def __init__(self, text, contexts, status):
        self.tokens = []
        position = 0
        while text[position:].strip():
            match = _TOKEN.match(text, position)
            if match is None:
                raise ExpressionError(f"{text!r} at {position}")
            self.tokens.append((match.lastgroup, match[match.lastgroup]))
            position = match.end()
        self.text, self.contexts, self.status = text, contexts, status
        self.position = 0

    def peek(self):
        return self.tokens[self.position][1] if self.position < len(self.tokens) else None

    def take(self, *marks):
        if self.peek() in marks and self.tokens[self.position][0] == "mark":
            self.position += 1
            return self.tokens[self.position - 1][1]
        return None

    def expect(self, mark):
        if self.take(mark) is None:
            raise ExpressionError(f"{self.text!r}: {mark} is expected, not {self.peek()}")

    def whole(self):
        value = self.either()
        if self.peek() is not None:
            raise ExpressionError(f"{self.text!r}: {self.peek()} is too much")
        return value

    def either(self):
        value = self.both()
        while self.take("||"):
            other = self.both()
            value = value if is_true(value) else other
        return value

    def both(self):
        value = self.comparison()
        while self.take("&&"):
            other = self.comparison()
            value = other if is_true(value) else value
        return value

    def comparison(self):
        value = self.negation()
        while mark := self.take("==", "!=", "<", ">", "<=", ">="):
            other = self.negation()
            if mark in ("==", "!="):
                value = _equal(value, other) == (mark == "==")
            else:
                left, right = _as_number(value), _as_number(other)
                is_less, is_same = left < right, left == right
                is_more = left > right
                value = {"<": is_less, ">": is_more}.get(
                    mark, is_same or (is_less if mark == "<=" else is_more)
                )
        return value

    def negation(self):
        if self.take("!"):
            return not is_true(self.negation())
        return self.value()

    def value(self):
        if self.take("("):
            value = self.either()
            self.expect(")")
            return value
        if self.position == len(self.tokens):
            raise ExpressionError(f"{self.text!r} ends too early")
        kind, token = self.tokens[self.position]
        self.position += 1
        if kind == "text":
            return token[1:-1].replace("''", "'")
        if kind == "number":
            return float(token)
        if kind != "name":
            raise ExpressionError(f"{self.text!r}: {token} is no value")
        if token in _WORDS:
            return _WORDS[token]
        return self.call(token) if self.peek() == "(" else self.context(token)

    def call(self, name):
        self.expect("(")
        arguments = []
        while not self.take(")"):
            arguments.append(self.either())
            self.take(",")
        functions = {**_FUNCTIONS, **self.status}
        if name.lower() not in functions:
            raise ExpressionError(f"{self.text!r}: the function {name} is not interpreted")
        return functions[name.lower()](*arguments)

    def context(self, name):
        if name not in self.contexts:
            raise ExpressionError(f"{self.text!r}: the context {name} is not there")
        value = self.contexts[name]
        while mark := self.take(".", "["):
            if mark == "[":
                key = self.either()
                self.expect("]")
            else:
                key = self.tokens[self.position][1]
                self.position += 1
            value = value.get(key) if isinstance(value, Mapping) else None
        return value


def evaluate(text, contexts, status=None):
    """Evaluate what stands between the braces."""
    return _Parser(text, contexts, status or {}).whole()


def interpolate(text, contexts):
    """Replace the expressions of a text by their values."""
    if not isinstance(text, str):
        return as_text(text)
    return _EXPRESSION.sub(lambda match: as_text(evaluate(match[1], contexts)), text)


def is_met(condition, contexts, status):
    """Evaluate the condition of a step, which needs success unless it says otherwise."""
    text = "success()" if condition is None else as_text(condition).strip()
    whole = _EXPRESSION.fullmatch(text)
    text = whole[1] if whole else text
    if not re.search(rf"\b({'|'.join(STATUS_FUNCTIONS)})\(\)", text):
        text = f"success() && ({text})"
    return is_true(evaluate(text, contexts, status))
