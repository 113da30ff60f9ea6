"""How functions and docstrings are read: as they are when the package runs, choices as written.

A method has its options from groups, which its source names only by `**options`: signature and
docstring are those of the function. A choice `{"a", "b"}` is turned into words, for Griffe would
take the first of the options for the default, whatever the signature says.
"""

import inspect
import re
from importlib import import_module

from griffe import Class, Extension, Function, Module, Object, Parameter, ParameterKind, Parameters

from balframe.api.method import Parameter as MethodParameter

_CHOICE = re.compile(r"^( *\w+ : )\{(.+?)\}", re.MULTILINE)


class AtRunTime(Extension):
    """Describe functions as they are at run time, and turn choices into words."""

    def on_class(self, *, cls: Class, **_: object) -> None:
        """Leave out base classes that are private."""
        cls.bases = [base for base in cls.bases if not str(base).startswith("_")]

    def on_object(self, *, obj: Object, **_: object) -> None:
        """Rewrite what is shown of an object, before its docstring is parsed."""
        if obj.docstring is None:
            return
        if isinstance(obj, Function) and isinstance(obj.parent, Module):
            function = getattr(import_module(obj.parent.path), obj.name)
            known = [*inspect.signature(function).parameters.values()]
            known += [p.signature_parameter for p in _settings(function)]
            obj.parameters = Parameters(*map(_parameter, known))
            obj.docstring.value = inspect.getdoc(function) or ""
        obj.docstring.value = _CHOICE.sub(_in_words, obj.docstring.value)


def _settings(function: object) -> list[MethodParameter]:
    """Return the settings that calls of a method take, which its signature leaves out."""
    parameters = getattr(function, "balframe_parameters", {}).values()
    return [parameter for parameter in parameters if parameter.is_setting]


def _parameter(one: inspect.Parameter) -> Parameter:
    default = None if one.default is one.empty else _in_code(one.default)
    return Parameter(one.name, kind=ParameterKind(one.kind.description), default=default)


def _in_code(value: object) -> str:
    return f'"{value}"' if isinstance(value, str) else repr(value)


def _in_words(choice: re.Match[str]) -> str:
    several = "one of " if "," in choice[2] else "only "
    return choice[1] + several + choice[2]
