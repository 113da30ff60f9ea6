"""Errors and warnings in the words of the command line, each in one line on standard error."""

import ast
import sys
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from balframe.cli.options import option_name
from balframe.errors import BalframeError, BalframeWarning


def typed(name: str, value: str | None) -> str:
    """Name a parameter as it is typed: --pos-label for pos_label=, --cells for cells=True."""
    option = f"--{option_name(name)}"
    if value is None:
        return option
    try:
        given = ast.literal_eval(value)
    except (ValueError, SyntaxError):  # no literal of Python, but text to type
        return f"{option} {value}"
    if given is True:
        return option
    if given is None:
        return f"{option} none"
    if isinstance(given, dict):
        given = [f"{label}={weight}" for label, weight in given.items()]
    if not isinstance(given, (list, tuple)):
        return f"{option} {value}"
    if name == "thresholds":
        return f"{option} {','.join(map(str, given))}"
    return " ".join(f"{option} {one!r}" for one in given)


def in_one_line(message: BalframeError | BalframeWarning) -> str:
    """Write a message as the line that follows the name of the program."""
    return " ".join(message.written(typed).partition("\n")[0].split())


@contextmanager
def one_line_warnings() -> Iterator[None]:
    """Write each warning of balframe in one line, and once."""
    known: set[str] = set()

    def show(message: Warning | str, *where: Any, **options: Any) -> None:  # noqa: ANN401
        if not isinstance(message, BalframeWarning):
            others(message, *where, **options)
        elif (line := in_one_line(message)) not in known:
            known.add(line)
            print(f"balframe: warning: {line}", file=sys.stderr)

    with warnings.catch_warnings():
        others = warnings.showwarning
        warnings.simplefilter("always", BalframeWarning)
        warnings.showwarning = show
        yield
