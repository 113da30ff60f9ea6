"""The exceptions of balframe: one family, in which each is also a built-in exception.

A message names a parameter with a mark: `f"{parameter('level', 1.2)} must be below 1"`. The error
reads the marks: it knows its parameters, and can write them in other words than Python's, such as
the options of a command line.
"""

import json
import os
import re
import sys
import warnings
from collections.abc import Callable, Iterable, Mapping
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

    def written(self, write: Callable[[str, str | None], str]) -> str:
        """Write it in other words; a value alone is typed as it is."""
        return write(self.name, self.value) if self.name else str(self.value)


def parameter(name: str, *value: object) -> str:
    """Name a parameter in a message: `counts=`, or with the value given, `level=1.2`."""
    shown = repr(value[0]) if value else None
    return _Parameter(name, shown, f"{name}={shown or ''}").marked()


def bare_parameter(name: str) -> str:
    """Name a parameter without an equals sign, as the subject of a sentence: `by`."""
    return _Parameter(name, None, name).marked()


def advised(name: str, word: str) -> str:
    """Name a parameter with a value to give: `missing="drop"`."""
    return _Parameter(name, word, f'{name}="{word}"').marked()


def in_python(text: str, name: str, word: str | None) -> str:
    """Say in Python's words what is option `name` of the command line: `score >= 0.5`."""
    return _Parameter(name, word, text).marked()


def spelled(in_python: str, typed: str) -> str:
    """Give a value that is spelled differently in Python and on a command line."""
    return _Parameter("", typed, in_python).marked()


class _Written(Exception):  # noqa: N818 (an error or a warning)
    """A message that knows its parameters."""

    def __init__(self, message: str = "") -> None:
        self._parts = _parts(message)  # in __dict__, where copies and pickles take it from
        super().__init__(_in_python(self._parts))

    @property
    def parameters(self) -> tuple[str, ...]:
        """Names of the parameters that the message is about."""
        named = (
            part.name
            for part in self._parts
            if isinstance(part, _Parameter) and part.text.startswith(part.name)  # in Python too
        )
        return tuple(dict.fromkeys(filter(None, named)))

    def written(self, write: Callable[[str, str | None], str]) -> str:
        """Return the message with its parameters as `write(name, value)` writes them."""
        return "".join(
            part if isinstance(part, str) else part.written(write) for part in self._parts
        )


class BalframeError(_Written):
    """Base of every error that balframe raises about its input.

    The message names parameters as Python does. `error.written(write)` returns the message with
    other names, such as those of a command line. `write` takes the name of a parameter and its
    value: text as Python shows it, or None if the message has no value.

    Attributes
    ----------
    parameters : tuple[str, ...]
        Names of the parameters in the message, each once, in the order of the message.

    Examples
    --------
    >>> import balframe as bf
    >>> try:
    ...     bf.report(bf.datasets.compas(), "reoffended", "high_risk", level=1.2)
    ... except bf.BalframeError as error:
    ...     print(error)
    ...     print(error.parameters)
    ...     print(error.written(lambda name, value: f"--{name} {value}"))
    level=1.2 is not a confidence level; give a number between 0 and 1, such as 0.95.
    ('level',)
    --level 1.2 is not a confidence level; give a number between 0 and 1, such as 0.95.
    """


class BalframeWarning(_Written, UserWarning):
    """Data that balframe can use, but that are probably not what was meant.

    It is issued if most rows of `y_pred` have class labels that never occur in `y_true`, or the
    other way round. It has the attributes and methods of `BalframeError`.

    Examples
    --------
    >>> import warnings
    >>> import balframe as bf
    >>> import polars as pl
    >>> df = pl.DataFrame({"y": ["No", "Yes"] * 5, "yhat": ["no", "yes"] * 5})
    >>> with warnings.catch_warnings(record=True) as caught:
    ...     warnings.simplefilter("always")
    ...     _ = df.bal.report("y", "yhat")
    >>> print(str(caught[0].message).partition(". ")[0])
    10 of 10 predictions in column 'yhat' never occur in column 'y': 'no', 'yes'
    """


def warn(message: str) -> None:
    """Warn whoever called balframe, at the line of the call."""
    level, frame = 1, sys._getframe().f_back
    while frame is not None and frame.f_globals.get("__name__", "").startswith(f"{__package__}."):
        level, frame = level + 1, frame.f_back
    warnings.warn(BalframeWarning(message), stacklevel=level + 1)


def marked(error: BalframeError) -> str:
    """Return the message of an error with its marks, for use in the message of another error."""
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
    """A value in the data or among the arguments is invalid."""


class UnknownNameError(BalframeError, KeyError):
    """A column, metric or option does not exist."""

    def __str__(self) -> str:
        """Return the message as it is; a plain KeyError would quote it."""
        return str(self.args[0])


class UnsupportedTypeError(BalframeError, TypeError):
    """A frame, column or argument has an unsupported type."""


class MissingExtraError(BalframeError, ImportError):
    """A library that an extra of balframe installs is not installed."""


class CheckFailed(BalframeError, AssertionError):  # noqa: N818 (it says what happened)
    """A rule fails, or is inconclusive because there are too few rows.

    `frame` is the result of `check`. `n_failed` and `n_inconclusive` count its rows with these
    verdicts.
    """

    def __init__(self, message: str, frame: Any, n_failed: int, n_inconclusive: int) -> None:  # noqa: ANN401
        super().__init__(message)
        self.frame = frame
        self.n_failed = n_failed
        self.n_inconclusive = n_inconclusive

    def __reduce__(self) -> tuple[Any, ...]:
        """Keep the attributes in copies and in other processes, not only the message."""
        given = (*self.args, self.frame, self.n_failed, self.n_inconclusive)
        return type(self), given, self.__dict__


def not_found(
    kind: str, name: object, known: Iterable[object], aliases: Mapping[str, str] | None = None
) -> UnknownNameError:
    """Say which name is unknown, which known ones are near to it, and which there are.

    Near ones may be aliases too, which are given with the names that they stand for.
    """
    names = [str(one) for one in known]
    meanings = {**dict(zip(names, names, strict=True)), **(aliases or {})}
    text, folded = clipped(str(name)), {one.casefold(): one for one in meanings}
    candidates = get_close_matches(text, meanings, n=9, cutoff=0.6)
    candidates += [folded[one] for one in get_close_matches(text.casefold(), folded, n=9)]
    nearest: dict[str, str] = {}  # a single name for each meaning
    for one in candidates:
        nearest.setdefault(meanings[one], one)
    near = list(nearest.values())[:3]
    meant = f"; did you mean {' or '.join(map(repr, near))}?" if near else "."
    plural = kind.capitalize() + "s"
    return UnknownNameError(f"{kind} {name!r} not found{meant} {plural}: {listed(names)}.")


def clipped(text: str, most: int = 200) -> str:
    """Shorten a text for a message in its middle; it loses its marks."""
    plain = text if len(text) <= most else _in_python(_parts(text))
    if len(plain) <= most:
        return text
    return f"{plain[: most // 2]} ... {plain[-most // 4 :]}"


def first_line(error: object) -> str:
    """Take the first line of the message of another library's error, without its full stop."""
    return str(error).strip().partition("\n")[0].rstrip(".")


def listed(values: Iterable[object], most: int = 20) -> str:
    """Join values for a message, the first `most` of them."""
    texts = [clipped(str(value)) for value in values]
    rest = f", ... ({len(texts) - most:,} more)" if len(texts) > most else ""
    return ", ".join(texts[:most]) + rest if texts else "none"


def check_choice(argument: str, value: object, allowed: Iterable[object]) -> None:
    """Raise unless the value is one of those allowed (1 is not False)."""
    options = list(allowed)
    if not any(type(value) is type(option) and value == option for option in options):
        shown = ", ".join(map(repr, options))
        raise InvalidInputError(f"{parameter(argument, value)} is not one of the options: {shown}.")
