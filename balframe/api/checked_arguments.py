"""The arguments of a call, checked as those of methods are, before Python itself refuses them."""

import inspect
from collections.abc import Callable, Mapping, Sequence
from functools import wraps
from typing import Any, Protocol, TypeVar

from balframe._traceback import short_traceback
from balframe.api.readable_signature import readable_signature
from balframe.api.settings import settings_of_call
from balframe.api.unknown_options import unknown_option_message
from balframe.errors import NAME, Message, UnsupportedTypeError, join, parameter

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
