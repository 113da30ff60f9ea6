"""The exceptions of balframe: one family, each also the built-in kind that fits it."""

from collections.abc import Iterable
from difflib import get_close_matches
from typing import Any


class BalframeError(Exception):
    """Base of every error that balframe raises about its input."""


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
    """Shorten a text for a message, in its middle."""
    if len(text) <= most:
        return text
    return f"{text[: most // 2]} ... {text[-most // 4 :]}"


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
        raise InvalidInputError(f"{argument}={value!r} is not one of the options: {shown}.")
