"""The exceptions of balframe: one family, each also the built-in kind that fits it.

A message names a parameter with a mark: `f"{parameter('level', 1.2)} has to be below 1"`. The
error reads the marks, so that it knows its parameters and can name them in other words than
Python's, as the options of a command line.
"""

import json
import os
import re
from collections.abc import Callable, Iterable
from difflib import get_close_matches
from typing import Any, NamedTuple

_MARK = f"\N{NULL}{os.urandom(8).hex()}"  # of this process, so that no data can hold it
_MARKED = re.compile(f"{_MARK}(.*?){_MARK}")


class _Parameter(NamedTuple):
    """A parameter in a message: its name, its value if that is said, and both in Python's words."""

    name: str
    value: str | None
    text: str

    def marked(self) -> str:
        """Write it for a message, between marks."""
        return f"{_MARK}{json.dumps(self)}{_MARK}"


def parameter(name: str, *value: object) -> str:
    """Name a parameter in a message: `counts=`, or with the value given, `level=1.2`."""
    shown = repr(value[0]) if value else None
    return _Parameter(name, shown, f"{name}={shown or ''}").marked()


def bare_parameter(name: str) -> str:
    """Name a parameter without an equals sign, as the subject of a sentence: `by`."""
    return _Parameter(name, None, name).marked()


def advised(name: str, word: str) -> str:
    """Name a parameter with a word to give for it: `missing="drop"`."""
    return _Parameter(name, word, f'{name}="{word}"').marked()


class BalframeError(Exception):
    """Base of every error that balframe raises about its input.

    The message is in Python's words. `error.written(write)` returns it in other words, as those of
    a command line: `write` takes the name of a parameter and its value. The value is text as Python
    shows it, or None where the message gives no value.

    Attributes
    ----------
    parameters : tuple[str, ...]
        Names of the parameters that the message is about, each once, in the order of the message.

    Examples
    --------
    >>> import balframe as bf
    >>> try:
    ...     bf.report(bf.datasets.compas(), "reoffended", "high_risk", level=1.2)
    ... except bf.BalframeError as error:
    ...     print(error)
    ...     print(error.parameters)
    ...     print(error.written(lambda name, value: f"--{name} {value}"))
    level=1.2 has to be a number between 0 and 1, as 0.95 is.
    ('level',)
    --level 1.2 has to be a number between 0 and 1, as 0.95 is.
    """

    def __init__(self, message: str = "") -> None:
        self._parts = _parts(message)  # in __dict__, where copies and pickles take it from
        super().__init__(_in_python(self._parts))

    @property
    def parameters(self) -> tuple[str, ...]:
        """Names of the parameters that the message is about."""
        named = (part.name for part in self._parts if isinstance(part, _Parameter))
        return tuple(dict.fromkeys(named))

    def written(self, write: Callable[[str, str | None], str]) -> str:
        """Return the message with its parameters as `write(name, value)` writes them."""
        return "".join(
            part if isinstance(part, str) else write(part.name, part.value) for part in self._parts
        )


def marked(error: BalframeError) -> str:
    """Return the message of an error for that of another one, which then names its parameters."""
    return "".join(part if isinstance(part, str) else part.marked() for part in error._parts)


def _parts(message: str) -> tuple[str | _Parameter, ...]:
    """Take a message apart at its marks."""
    return tuple(
        _Parameter(*json.loads(part)) if position % 2 else part
        for position, part in enumerate(_MARKED.split(str(message)))
    )


def _in_python(parts: Iterable[str | _Parameter]) -> str:
    return "".join(part if isinstance(part, str) else part.text for part in parts)


class InvalidInputError(BalframeError, ValueError):
    """A value, in the data or among the arguments, that cannot be used."""


class UnknownNameError(BalframeError, KeyError):
    """A column, metric or option that does not exist."""

    def __str__(self) -> str:
        """Give the message as it is; a plain KeyError would quote it."""
        return str(self.args[0])


class UnsupportedTypeError(BalframeError, TypeError):
    """A frame, column or argument of a type that cannot be used."""


class MissingExtraError(BalframeError, ImportError):
    """A library that an extra of balframe installs, and that is not there."""


class CheckFailed(BalframeError, AssertionError):  # noqa: N818 (it says what happened)
    """Rules that do not hold, or that too few rows can tell of.

    `frame` is the result of `check`, `n_failed` and `n_inconclusive` count its rows.
    """

    def __init__(self, message: str, frame: Any, n_failed: int, n_inconclusive: int) -> None:  # noqa: ANN401
        super().__init__(message)
        self.frame = frame
        self.n_failed = n_failed
        self.n_inconclusive = n_inconclusive

    def __reduce__(self) -> tuple[Any, ...]:
        """Let copies and other processes have all of it, not the message alone."""
        given = (*self.args, self.frame, self.n_failed, self.n_inconclusive)
        return type(self), given, self.__dict__


def not_found(kind: str, name: object, known: Iterable[object]) -> UnknownNameError:
    """Say which name is unknown, which known ones are near to it, and which there are."""
    names = [str(one) for one in known]
    near = get_close_matches(clipped(str(name)), names, n=3, cutoff=0.6)
    meant = f"; did you mean {' or '.join(map(repr, near))}?" if near else "."
    plural = kind.capitalize() + "s"
    return UnknownNameError(f"{kind} {name!r} not found{meant} {plural}: {listed(names)}.")


def clipped(text: str, most: int = 200) -> str:
    """Shorten a text for a message, in its middle, where it loses its marks."""
    plain = text if len(text) <= most else _in_python(_parts(text))
    if len(plain) <= most:
        return text
    return f"{plain[: most // 2]} ... {plain[-most // 4 :]}"


def first_line(error: object) -> str:
    """Take the first line of what an error of another library says, without its full stop."""
    return str(error).strip().partition("\n")[0].rstrip(".")


def listed(values: Iterable[object], most: int = 20) -> str:
    """Join values for a message, the first `most` of them."""
    texts = [clipped(str(value)) for value in values]
    rest = f", ... ({len(texts) - most} more)" if len(texts) > most else ""
    return ", ".join(texts[:most]) + rest if texts else "none"


def check_choice(argument: str, value: object, allowed: Iterable[object]) -> None:
    """Raise unless the value is one of those allowed (1 is not False)."""
    options = list(allowed)
    if not any(type(value) is type(option) and value == option for option in options):
        shown = ", ".join(map(repr, options))
        raise InvalidInputError(f"{parameter(argument, value)} is not one of the options: {shown}.")
