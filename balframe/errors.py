"""The exceptions of balframe: one family, in which each is also a built-in exception.

A message names parameters in fields: `InvalidInputError("{level} must be below 1", level=1.2)`. The
error knows its parameters, and can write them in other words than Python's, such as the options of
a command line.
"""

import re
import sys
import traceback
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from enum import Enum
from string import Formatter
from types import TracebackType
from typing import Any

__all__ = [  # for callers; the rest is for the package
    "BalframeError",
    "BalframeWarning",
    "CheckFailed",
    "InvalidInputError",
    "MissingExtraError",
    "UnknownNameError",
    "UnsupportedTypeError",
]


class Form(Enum):
    """How a message names a parameter without its value: as an option, `by=`, or as `by`."""

    OPTION = "{}="
    NAME = "{}"


OPTION, NAME = Form.OPTION, Form.NAME
MAX_CHARACTERS = 200  # of one text of the data in a message
MAX_LISTED = 8  # names that a message about an unknown name lists; more would hide it
_MAX_NEAREST = 3


@dataclass(frozen=True, slots=True)
class Advice:
    """A value to give to a parameter: `missing="drop"`."""

    word: str


@dataclass(frozen=True, slots=True)
class Spelled:
    """Text that is spelled differently in Python and on a command line.

    With a `parameter`, the command line writes that option, with the text as its value if any.
    """

    python: str
    shell: str | None
    parameter: str = ""


@dataclass(frozen=True, slots=True)
class _Parameter:
    """A parameter in a message: its name, its value if any, and both in Python's words."""

    name: str
    value: str | None
    text: str

    @classmethod
    def of(cls, name: str, value: object) -> "_Parameter":
        if isinstance(value, Form):
            return cls(name, None, value.value.format(name))
        if isinstance(value, Advice):
            return cls(name, value.word, f'{name}="{value.word}"')
        if isinstance(value, Spelled):
            return cls(name or value.parameter, value.shell, value.python)
        return cls(name, repr(value), f"{name}={value!r}")

    def written(self, write: Callable[[str, str | None], str]) -> str:
        """Write it in other words; a value alone is written as it is."""
        return write(self.name, self.value) if self.name else str(self.value)


# What to do about a column whose values have another type than those that they are compared with.
CAST = Spelled(
    "Cast one to the type of the other.",
    "Give them one type: --type COLUMN=int if they are numbers, or --type COLUMN=str for names.",
)


class Message:
    """A text with fields: `{level}` for a parameter that is given by name, `{}` for other values.

    The value of a parameter is shown with its name, `level=1.2`; `OPTION` and `NAME` stand for a
    parameter without a value, and `Advice` for a value that is advised. The other values may be
    messages and errors themselves, whose parameters the message then has. A text without values has
    no fields: braces stay as they are.

    Examples
    --------
    >>> message = Message("{level} is not below {}.", 1, level=1.2)
    >>> str(message)
    'level=1.2 is not below 1.'
    >>> message.written(lambda name, value: f"--{name} {value}")
    '--level 1.2 is not below 1.'
    """

    __slots__ = ("parts",)

    def __init__(self, template: "str | Message", /, *values: object, **parameters: object) -> None:
        self.parts: tuple[str | _Parameter, ...]
        if isinstance(template, Message):
            self.parts = template.parts
        elif values or parameters:
            self.parts = tuple(_filled(template, values, parameters))
        else:
            self.parts = (str(template),)

    @classmethod
    def from_parts(cls, parts: "Iterable[str | _Parameter]") -> "Message":
        """Return the message of texts and parameters, in this order."""
        message = cls("")
        message.parts = tuple(parts)
        return message

    def replace(self, old: str, new: str) -> "Message":
        """Return the message with `new` in place of `old`, outside its parameters."""
        return Message.from_parts(
            part.replace(old, new) if isinstance(part, str) else part for part in self.parts
        )

    def with_text(self, name: str, text: str) -> "Message":
        """Return the message with a text in place of the name of a parameter without a value."""
        return Message.from_parts(
            text if isinstance(part, _Parameter) and part.text == name else part
            for part in self.parts
        )

    def without_full_stop(self) -> "Message":
        """Return the message without the full stop at its end, to go on after it."""
        *parts, last = self.parts
        return Message.from_parts([*parts, last.rstrip(".") if isinstance(last, str) else last])

    def __str__(self) -> str:
        """Return the message with its parameters as Python has them."""
        return "".join(part if isinstance(part, str) else part.text for part in self.parts)

    def written(self, write: Callable[[str, str | None], str]) -> str:
        """Return the message with its parameters as `write(name, value)` writes them."""
        return "".join(
            part if isinstance(part, str) else part.written(write) for part in self.parts
        )


def _filled(
    template: str, values: tuple[object, ...], parameters: Mapping[str, object]
) -> Iterator[str | _Parameter]:
    """Yield the parts of a message: texts between the fields, and what fills these."""
    parsed = list(Formatter().parse(template))
    fields = [field for _, field, _, _ in parsed if field is not None]
    if fields.count("") != len(values) or {*fields} - {""} != {*parameters}:
        raise ValueError(f"{template!r} does not have the fields of {values} and {[*parameters]}.")
    rest = iter(values)
    for text, field, spec, conversion in parsed:
        yield text
        if field is None:
            continue
        if field:
            yield _Parameter.of(field, parameters[field])
            continue
        value = next(rest)
        if isinstance(value, BalframeError):
            value = value.message
        if isinstance(value, Message):
            yield from value.parts
        elif isinstance(value, Spelled):
            yield _Parameter.of("", value)
        else:
            yield format(repr(value) if conversion == "r" else value, spec or "")


def parameter(name: str, value: object = OPTION) -> Message:
    """Return a message of one parameter, for a name that is not known beforehand."""
    return Message(f"{{{name}}}", **{name: value})


def join(separator: str, messages: Iterable[str | Message]) -> Message:
    """Return the messages as one, with a separator between them."""
    parts: list[str | _Parameter] = []
    for message in messages:
        parts += [separator, *Message(message).parts]
    return Message.from_parts(parts[1:])


class _Written(Exception):  # noqa: N818 (an error or a warning)
    """An exception whose message knows its parameters."""

    def __init__(
        self, message: str | Message = "", /, *values: object, **parameters: object
    ) -> None:
        self.message = Message(message, *values, **parameters)  # in __dict__: copies have it too
        super().__init__(str(self.message))

    @property
    def parameters(self) -> tuple[str, ...]:
        """Names of the parameters that the message is about."""
        names = (
            part.name
            for part in self.message.parts
            if isinstance(part, _Parameter) and part.text.startswith(part.name)  # in Python too
        )
        return tuple(dict.fromkeys(filter(None, names)))

    def written(self, write: Callable[[str, str | None], str]) -> str:
        """Return the message with its parameters as `write(name, value)` writes them."""
        return self.message.written(write)


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

    def _render_traceback_(self) -> list[str]:
        """Return what IPython shows, which calls this: all but the frames that hide themselves.

        IPython itself shows the last frame even if it hides itself.
        """
        shell = sys.modules["IPython"].get_ipython()
        error = type(self), self, without_hidden_frames(self.__traceback__)
        if shell is None:
            return traceback.format_exception(*error)
        lines: list[str] = shell.InteractiveTB.structured_traceback(*error)
        return lines


def without_hidden_frames(frames: TracebackType | None) -> TracebackType | None:
    """Return a traceback without the frames whose local `__tracebackhide__` is True."""
    if frames is None:
        return None
    rest = without_hidden_frames(frames.tb_next)
    if frames.tb_frame.f_locals.get("__tracebackhide__") is True:
        return rest
    return TracebackType(rest, frames.tb_frame, frames.tb_lasti, frames.tb_lineno)


class BalframeWarning(_Written, UserWarning):
    """Data that balframe can use, but that are probably not what was meant.

    It is issued if most rows of `y_pred` have class labels that never occur in `y_true`, or the
    other way round. `require` issues it for rules that only warn. It has the attributes and methods
    of `BalframeError`.

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


_BETWEEN = f"{__package__}.", "polars.", "narwhals."  # modules between the caller and a warning


def warn(message: str | Message, /, *values: object, **parameters: object) -> None:
    """Warn the caller of balframe, at the line of the call or of the `collect`.

    Python shows a warning once for each line; at a line of polars, later results would lack theirs.
    """
    level, frame = 1, sys._getframe().f_back
    while frame is not None and frame.f_globals.get("__name__", "").startswith(_BETWEEN):
        level, frame = level + 1, frame.f_back
    warnings.warn(BalframeWarning(message, *values, **parameters), stacklevel=level + 1)


class InvalidInputError(BalframeError, ValueError):
    """A value in the data or among the arguments is invalid."""


class UnknownNameError(BalframeError, KeyError):
    """A column, metric or method does not exist; that of a method is an AttributeError."""

    def __str__(self) -> str:
        """Return the message as it is; a plain KeyError would quote it."""
        return str(self.args[0])


class UnknownAttributeError(UnknownNameError, AttributeError):
    """`df.bal`, `bf`, `bf.plot` or `bf.table` has no such attribute."""


class UnsupportedTypeError(BalframeError, TypeError):
    """A frame, column or argument has an unsupported type, or an option does not exist."""


class MissingExtraError(BalframeError, ImportError):
    """A library that an extra of balframe installs is not installed."""


class CheckFailed(BalframeError, AssertionError):  # noqa: N818 (it says what happened)
    """A rule fails, or is inconclusive because there are too few rows.

    `frame` is the result of `check`. `n_failed` and `n_inconclusive` count its rows with these
    verdicts, without those of rules that only warn.
    """

    def __init__(
        self,
        message: str | Message,
        frame: Any,  # noqa: ANN401
        n_failed: int,
        n_inconclusive: int,
    ) -> None:
        super().__init__(message)
        self.frame = frame
        self.n_failed = n_failed
        self.n_inconclusive = n_inconclusive

    def __reduce__(self) -> tuple[Any, ...]:
        """Keep the attributes in copies and in other processes, not only the message."""
        arguments = (*self.args, self.frame, self.n_failed, self.n_inconclusive)
        return type(self), arguments, self.__dict__


def not_found(
    kind: str,
    name: object,
    choices: Iterable[object],
    aliases: Mapping[str, str] | None = None,
    listing: "str | Spelled" = "",
) -> UnknownNameError:
    """Return the error for a name that does not exist, with the nearest names.

    Near names may be aliases. A short list of choices is written out; `listing` is the call or the
    command that lists more.
    """
    names = [str(choice) for choice in choices]
    near = nearest_names(name, names, aliases)
    return UnknownNameError(
        "{} {!r} not found{}{}",
        kind,
        name,
        did_you_mean(near),
        choices_text(kind, names, near, listing),
    )


def nearest_names(
    name: object, names: Iterable[str], aliases: Mapping[str, str] | None = None
) -> list[str]:
    """Return the names or aliases that are most like a name, each of another meaning."""
    text = clipped(str(name))
    meanings = {**{choice: choice for choice in names}, **(aliases or {})}
    folded = {meaning.casefold(): meaning for meaning in meanings}
    candidates = get_close_matches(text, meanings, n=9, cutoff=0.6)
    candidates += [folded[match] for match in get_close_matches(text.casefold(), folded, n=9)]
    nearest: dict[str, str] = {}
    for candidate in candidates:
        nearest.setdefault(meanings[candidate], candidate)
    return list(nearest.values())[:_MAX_NEAREST]


def did_you_mean(near: Sequence[str]) -> str:
    """Return how a message goes on after what is not found."""
    return f"; did you mean {' or '.join(map(repr, near))}?" if near else "."


def choices_text(
    kind: str, names: Sequence[str], near: Sequence[str], listing: "str | Spelled" = ""
) -> Message:
    """Return the sentence on what there is: short lists in full, of long ones how to list them.

    Where nothing lists them, a message without near names has the first.
    """
    noun, of, rest = kind.partition(" of ")
    plural = f"{noun}s{of}{rest}"
    if len(names) > MAX_LISTED and listing:
        return Message(" {} lists the {}.", listing, plural)
    if len(names) > MAX_LISTED and near:
        return Message("")
    return Message(" {}: {}.", plural.capitalize(), listed(names, MAX_LISTED))


def no_attribute(owner: str, name: str, choices: Iterable[str]) -> AttributeError:
    """Return the error for an attribute that does not exist, with the nearest names.

    Names with an underscore, for which programs look in every object, get Python's own error.
    """
    if name.startswith("_"):
        return AttributeError(f"{owner!r} has no attribute {name!r}")
    names = [choice for choice in choices if not choice.startswith("_")]
    near = nearest_names(name, names)
    error = UnknownAttributeError(
        "{!r} has no attribute {!r}{}{}",
        owner,
        name,
        did_you_mean(near),
        choices_text("attribute", names, near, f"dir({owner})"),
    )
    error.name = name  # without it, Python adds the nearest name once more
    return error


def clipped(text: str, most: int = MAX_CHARACTERS) -> str:
    """Return a text for a message, shortened in its middle."""
    return text if len(text) <= most else f"{text[: most // 2]} ... {text[-most // 4 :]}"


def panic_reason(panic: BaseException) -> str:
    """Return what is wrong, from a panic of polars, without the words of its language."""
    text = str(panic)
    inner = re.search(r'ErrString\("(.*?)(\.\s|\.?\\n|\.?"\))', text)
    return clipped(inner[1] if inner else first_line(text), 200)


def first_line(error: object) -> str:
    """Take the first line of the message of another library's error, without its full stop."""
    return str(error).strip().partition("\n")[0].rstrip(".")


def listed(values: Iterable[object], most: int = 20) -> str:
    """Join values for a message, the first `most` of them."""
    return str(listed_messages(map(str, values), most))


def listed_messages(messages: Iterable[str | Message], most: int = 20) -> Message:
    """Join messages, the first `most` of them; one that is too long loses its parameters."""
    texts = [
        message if len(str(message)) <= MAX_CHARACTERS else clipped(str(message))
        for message in messages
    ]
    rest = [f"... ({len(texts) - most:,} more)"] if len(texts) > most else []
    return join(", ", [*texts[:most], *rest] or ["none"])


def __dir__() -> list[str]:
    return list(__all__)
