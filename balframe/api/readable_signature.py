"""Signatures as `help` shows them: types in words that callers write.

The annotations of the functions themselves stay as they are, for type checkers and for programs.
"""

import inspect
from collections.abc import Collection, Hashable, Iterable, Mapping, Sequence
from types import NoneType, UnionType
from typing import Any, Literal, TypeVar, Union, get_args, get_origin

from numpy.typing import ArrayLike

from balframe.core.label_set import Label

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
