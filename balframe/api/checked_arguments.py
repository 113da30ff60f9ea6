"""The arguments of a call, checked as those of methods are, before Python itself refuses them."""

import inspect
from collections.abc import Callable, Collection, Hashable, Iterable, Mapping, Sequence
from functools import wraps
from types import NoneType, UnionType
from typing import Any, Literal, Protocol, TypeVar, Union, get_args, get_origin

from numpy.typing import ArrayLike

from balframe._traceback import short_traceback
from balframe.api.settings import settings_of_call
from balframe.api.unknown_options import unknown_option_message
from balframe.core.label_set import Label
from balframe.errors import NAME, Message, UnsupportedTypeError, join, parameter

_NAMES: dict[Any, str] = {
    Hashable: "str",  # the name of a column, which pandas lets be more
    Sequence: "list",
    Collection: "list",
    Iterable: "list",
    Mapping: "dict",
    NoneType: "None",
    None: "None",
    object: "Frame",  # of any library
    ...: "...",
}
_MAX_CHOICES = 5  # that a signature shows; the docstring has the others
_UNIONS = {"Label": get_args(Label), "ArrayLike": get_args(ArrayLike)}  # by the name they go by


class TypeText(str):
    """A type in words, which signatures print as it is, without quotes."""

    __slots__ = ()
    __repr__ = str.__str__


def type_text(type_: Any) -> TypeText:  # noqa: ANN401 (any annotation)
    """Return a type in words: without modules, and with builtins for abstract collections."""
    return TypeText(" | ".join(_alternatives(type_)))


def _alternatives(type_: Any) -> list[str]:  # noqa: ANN401
    """Return the alternatives of a type in words, each once."""
    origin, arguments = get_origin(type_), get_args(type_)
    if origin in (Union, UnionType):
        named = [
            name for name, members in _UNIONS.items() if members and {*members} <= {*arguments}
        ]
        members = {member for name in named for member in _UNIONS[name]}
        others = (argument for argument in arguments if argument not in members)
        return [*dict.fromkeys(named + [text for other in others for text in _alternatives(other)])]
    if origin is Literal and len(arguments) > _MAX_CHOICES:
        return [*dict.fromkeys(type_text(type(choice)) for choice in arguments)]
    if origin is Literal:
        return [f"Literal[{', '.join(map(repr, arguments))}]"]
    if isinstance(type_, list):  # the arguments of a callable
        return [f"[{', '.join(map(type_text, type_))}]"]
    if isinstance(type_, str):
        return [type_]
    if isinstance(type_, TypeVar):
        return [type_.__name__.removesuffix("T")]
    named_type = type_ if origin is None else origin
    name = _NAMES.get(named_type) or named_type.__name__
    return [f"{name}[{', '.join(map(type_text, arguments))}]" if arguments else name]


def readable_signature(signature: inspect.Signature) -> inspect.Signature:
    """Return a signature with its types in words."""
    parameters = [
        parameter.replace(annotation=type_text(parameter.annotation))
        for parameter in signature.parameters.values()
    ]
    return signature.replace(
        parameters=parameters, return_annotation=type_text(signature.return_annotation)
    )


F = TypeVar("F", bound=Callable[..., Any])


class CallParameter(Protocol):
    """What is checked of a parameter."""

    @property
    def name(self) -> str:
        """The name of the parameter."""
        ...

    @property
    def is_positional(self) -> bool:
        """Whether it may be given by position."""
        ...

    @property
    def is_required(self) -> bool:
        """Whether every call has to give it."""
        ...


def check_arguments(
    public_name: str,
    parameters: Sequence[CallParameter],
    arguments: Sequence[Any],
    options: Mapping[str, Any],
    reason: str | Message = "",
) -> None:
    """Raise for too many, repeated or missing arguments; `reason` is why one is needed."""
    positional = [p.name for p in parameters if p.is_positional]
    by_keyword = [p.name for p in parameters if not p.is_positional]
    by_name = dict(zip(positional, arguments, strict=False))
    if len(arguments) > len(positional):
        named = [name for name in ("by", "baseline") if name in by_keyword] or by_keyword[:1]
        raise UnsupportedTypeError(
            "{} takes {} by position, but {} given; {}.",
            public_name,
            ", ".join(positional) or "nothing",
            "1 positional argument was"
            if len(arguments) == 1
            else f"{len(arguments)} positional arguments were",
            "omit the others"
            if not named
            else join(
                "",
                ["give the others by keyword, such as ", join(" or ", map(parameter, named))],
            ),
        )
    repeated = [name for name in by_name if name in options]
    if repeated:
        raise UnsupportedTypeError(
            "{} is given by position and by keyword; give it once.", parameter(repeated[0], NAME)
        )
    required = [p for p in parameters if p.is_required]
    missing = [p.name for p in required if p.name not in by_name and p.name not in options]
    if missing:
        raise UnsupportedTypeError(
            "{} needs {}{}. Call {}({}).",
            public_name,
            join(" and ", (parameter(name, NAME) for name in missing)),
            reason,
            public_name,
            ", ".join(p.name if p.is_positional else f"{p.name}=..." for p in required),
        )


class _OwnParameter:
    """A parameter of a function that is not a method."""

    def __init__(self, own: inspect.Parameter) -> None:
        self.name = own.name
        self.is_positional = own.kind is own.POSITIONAL_OR_KEYWORD
        self.is_required = own.default is own.empty


def checked_arguments(function: F) -> F:
    """Let a public function that is not a method refuse arguments and show errors as methods do."""
    signature = inspect.signature(function)
    parameters = [_OwnParameter(own) for own in signature.parameters.values()]
    names, public_name = [p.name for p in parameters], f"bf.{function.__name__}"

    @short_traceback
    @wraps(function)
    def checked(*arguments: Any, **options: Any) -> Any:  # noqa: ANN401 (as the function's own)
        for name in options:
            if name not in names:
                raise UnsupportedTypeError(unknown_option_message(name, names, {}, public_name))
        check_arguments(public_name, parameters, arguments, options)
        with settings_of_call():
            return function(*arguments, **options)

    checked.__signature__ = readable_signature(signature)  # type: ignore[attr-defined]
    return checked  # type: ignore[return-value]
