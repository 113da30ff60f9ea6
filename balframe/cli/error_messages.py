"""Errors and warnings in the words of the command line, each in one line on standard error."""

import ast
import sys
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from balframe._text import escape_controls
from balframe.cli.options import option_name
from balframe.errors import BalframeError, BalframeWarning


def write_parameter(name: str, value: str | None) -> str:
    """Write a parameter as it is typed: --pos-label for pos_label=, --cells for cells=True."""
    option = f"--{option_name(name)}"
    if value is None:
        return option
    try:
        literal = ast.literal_eval(value)
    except (ValueError, SyntaxError):  # no Python literal, but text to type
        return f"{option} {value}"
    if literal is True:
        return option
    if literal is None:
        return f"{option} none"
    if isinstance(literal, dict):
        literal = [f"{label}={weight}" for label, weight in literal.items()]
    if not isinstance(literal, (list, tuple)):
        return f"{option} {value}"
    if name == "thresholds":
        return f"{option} {','.join(map(str, literal))}"
    return " ".join(f"{option} {item!r}" for item in literal)


def one_line_message(message: BalframeError | BalframeWarning) -> str:
    """Return a message as the line that follows the name of the program."""
    return " ".join(message.written(write_parameter).partition("\n")[0].split())


@contextmanager
def one_line_warnings() -> Iterator[None]:
    """Write each warning of balframe in one line, and once."""
    lines: set[str] = set()

    def write(message: Warning | str, *place: Any, **options: Any) -> None:  # noqa: ANN401
        if not isinstance(message, BalframeWarning):
            original(message, *place, **options)
        elif (line := one_line_message(message)) not in lines:
            lines.add(line)
            print(f"balframe: warning: {escape_controls(line)}", file=sys.stderr)

    with warnings.catch_warnings():
        original = warnings.showwarning
        warnings.simplefilter("always", BalframeWarning)
        warnings.showwarning = write
        yield
