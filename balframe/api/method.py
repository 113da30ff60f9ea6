"""The declaration of a method: its parameters, and the columns of its result.

Names, types and defaults come from signatures, and descriptions from docstrings. Where Python runs
without docstrings (`python -OO`), the descriptions of a function's own parameters are empty.
"""

import inspect
import re
import textwrap
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, wraps
from typing import Any, TypeVar, get_args, get_type_hints

from balframe._traceback import short_traceback
from balframe._validate import builtin_scalar, check_choice
from balframe.api.checked_arguments import check_arguments, readable_signature
from balframe.api.columns import Column, ColumnBlocks, Statuses, column_blocks
from balframe.api.option_types import (
    OPTION_VALUES,
    PARTS,
    WORDS,
    OptionValue,
    parts_of_words,
    without_option_values,
)
from balframe.api.options import SHARED, Option, group_options, methods_with, reading_place
from balframe.api.outcomes import OUTCOME, call_with_outcome, or_outcome, replaced_by_outcome
from balframe.api.settings import is_within_call, settings_of_call
from balframe.api.unknown_options import unknown_option_message
from balframe.errors import Message, UnsupportedTypeError, join, parameter
from balframe.frames.engines.inputs import check_not_arrays

F = TypeVar("F", bound=Callable[..., Any])

_MISSING = "missing"
_PARAMETERS = "balframe_parameters"  # attribute of a function that `with_options` returns
_HEADING = "Parameters\n----------\n"
_NEXT_HEADING = re.compile(r"^\w+\n-{3,}$", re.MULTILINE)
_ENTRY = re.compile(
    r"^(?P<name>\w+(?:, \w+)*) : (?P<type>.*)\n(?P<text>(?:(?: {4}.*)?\n)*)", re.MULTILINE
)
RAISES = """Raises
------
BalframeError
    If an argument is invalid.

"""
_WIDTH = 100
_OF_CHARTS = ", because it draws data; a result is drawn by bf.plot(result)"


@dataclass(frozen=True, slots=True)
class Parameter:
    """A parameter of a method: its type, its default if it has one, and its description."""

    name: str
    type: Any
    default: Any
    type_text: str
    text: str
    is_positional: bool
    part_of: str = ""  # the parameter whose value has it
    is_setting: bool = False
    is_replaceable: bool = False  # by an outcome

    @property
    def is_public(self) -> bool:
        """Return whether signatures in Python have it; each call takes settings anyway."""
        return not self.part_of and not self.is_setting

    @property
    def flat_type(self) -> Any:  # noqa: ANN401 (any annotation)
        """Return the type of what the parameter has besides its parts."""
        return without_option_values(self.type)

    @property
    def is_required(self) -> bool:
        """Return whether every call has to give it, or to replace it."""
        return self.is_replaceable or self.has_no_default

    @property
    def has_no_default(self) -> bool:
        """Return whether a signature shows no default."""
        return self.default is inspect.Parameter.empty

    @property
    def first_sentence(self) -> str:
        """Return the first sentence of the description."""
        return re.split(r"(?<=\.) ", self.text, maxsplit=1)[0]

    @property
    def docstring_entry(self) -> str:
        """Return the entry of the parameter in a docstring."""
        text = textwrap.fill(self.text, _WIDTH - 4, break_on_hyphens=False)
        return f"{self.name} : {self.type_text}\n{textwrap.indent(text, '    ')}"

    @property
    def signature_parameter(self) -> inspect.Parameter:
        """Return the parameter as `inspect.signature` has it."""
        positional, keyword = (
            inspect.Parameter.POSITIONAL_OR_KEYWORD,
            inspect.Parameter.KEYWORD_ONLY,
        )
        kind = positional if self.is_positional else keyword
        return inspect.Parameter(self.name, kind, default=self.default, annotation=self.type)


@dataclass(eq=False)
class Method:
    """The declaration of a method: `layouts` are the columns that its result may have.

    `hints` are what to do in place of an option that only other methods have. `described` are
    parameters that its docstring leaves out, because their text is read from data. Called as a
    decorator of a function, it declares that function, and completes it with the shared options.
    """

    layouts: Mapping[str, tuple[Column, ...]]
    hints: Mapping[str, str] = field(default_factory=dict)
    described: Mapping[str, Option] = field(default_factory=dict)
    function: Callable[..., Any] = lambda: None
    parameters: Mapping[str, Parameter] = field(default_factory=dict)

    @classmethod
    def of(
        cls,
        *columns: Column,
        hints: Mapping[str, str] | None = None,
        described: Mapping[str, Option] | None = None,
    ) -> "Method":
        """Declare a method with one layout."""
        return cls({"": columns}, hints or {}, described or {})

    @cached_property
    def blocks(self) -> Mapping[str, ColumnBlocks]:
        """Return the columns of each layout, in the blocks that are repeated together."""
        return {name: column_blocks(columns) for name, columns in self.layouts.items()}

    @property
    def name(self) -> str:
        """Return the name of the function."""
        return self.function.__name__

    @property
    def statuses(self) -> Statuses | None:
        """Return the texts of the status that the result has; None if it has no verdicts."""
        statuses = (column.statuses for layout in self.layouts.values() for column in layout)
        return next((texts for texts in statuses if texts is not None and texts.are_verdicts), None)

    def __call__(self, function: F) -> F:
        """Add the shared options to a function, and register the declaration."""
        name = f"bf.{function.__name__}"
        shared = {**SHARED, **self.described}
        complete = with_options(function, name, shared, RAISES, self.hints)
        self.function, self.parameters = complete, function_parameters(complete)
        DECLARED[self.name] = self
        return complete


DECLARED: dict[str, Method] = {}  # the methods whose modules are loaded, by name


def with_options(
    function: F,
    public_name: str,
    shared: Mapping[str, Option],
    raises_section: str,
    hints: Mapping[str, str] | None = None,
) -> F:
    """Add the options of its group to a function's signature, docstring and calls.

    `shared` describes those of its own parameters that its docstring leaves out. `raises_section`
    is added to a docstring without one. An unknown option raises, with its hint if there is one.
    Messages name the function by its `public_name`. A function with `outcome` among its own
    parameters reads it itself.
    """
    own = inspect.signature(function).parameters
    listed = list(_complete_parameters(function, shared))
    listed.sort(key=lambda p: 0 if p.name in own else 1 + reading_place(p.name))
    parameters = {p.name: p for p in listed}
    replaced = replaced_by_outcome(parameters, own)
    is_converted = bool(replaced) and OUTCOME not in own
    for name in replaced:
        parameters[name] = replace(parameters[name], is_replaceable=True)
    defaults = {name: p.default for name, p in parameters.items() if name not in own}
    choices = [name for name, p in parameters.items() if not p.part_of]

    def run(*arguments: Any, **options: Any) -> Any:  # noqa: ANN401 (as the function's own)
        for name in options:
            if name not in parameters:
                raise UnsupportedTypeError(
                    unknown_option_message(name, choices, hints or {}, public_name)
                )
        _check_arguments(public_name, parameters, arguments, options)
        values = {name: builtin_scalar(value) for name, value in options.items()}
        if _MISSING in parameters and _MISSING in values:  # what a function calls may have more
            _check_missing(values[_MISSING], parameters)
        if is_converted and values.get(OUTCOME) is not None:
            positional = dict(zip(parameters, arguments, strict=False))
            all_defaults = {name: p.default for name, p in parameters.items()}
            return call_with_outcome(function, all_defaults, {**defaults, **positional, **values})
        values = {**defaults, **values}
        if is_converted:
            del values[OUTCOME]
        return function(*arguments, **values)

    @short_traceback
    @wraps(function)
    def complete(*arguments: Any, **options: Any) -> Any:  # noqa: ANN401
        for name in options:
            if name not in parameters or (parameters[name].part_of and not is_within_call()):
                lacking = PARTS - parameters.keys()
                raise UnsupportedTypeError(
                    unknown_option_message(name, choices, hints or {}, public_name, lacking)
                )
        with settings_of_call() as settings:
            of_method = {name: settings[name] for name in settings if name in parameters}
            return run(*arguments, **{**of_method, **flat_options(options, parameters)})

    declare_parameters(complete, parameters, inspect.signature(function).return_annotation)
    if function.__doc__ is not None:
        doc = inspect.getdoc(function) or ""
        complete.__doc__ = _complete_docstring(doc, parameters.values(), raises_section)
    return complete  # type: ignore[return-value]


def declare_parameters(
    function: Callable[..., Any],
    parameters: Mapping[str, Parameter],
    returned: Any,  # noqa: ANN401 (any annotation)
) -> None:
    """Give a function that takes any arguments these parameters, and the signature of `help`."""
    function.__signature__ = readable_signature(  # type: ignore[attr-defined]
        inspect.Signature(
            [p.signature_parameter for p in parameters.values() if p.is_public],
            return_annotation=returned,
        )
    )
    function.__dict__[_PARAMETERS] = parameters


def function_parameters(function: Callable[..., Any]) -> Mapping[str, Parameter]:
    """Return the parameters of a function that were declared for it."""
    parameters: Mapping[str, Parameter] = function.__dict__[_PARAMETERS]
    return parameters


def flat_options(options: Mapping[str, Any], parameters: Mapping[str, Parameter]) -> dict[str, Any]:
    """Return the options of a call with the parts of values in place of the values."""
    flat: dict[str, Any] = {}
    for name, value in options.items():
        kind = OPTION_VALUES.get(name)
        if isinstance(value, OptionValue):
            if value.option != name:
                raise UnsupportedTypeError(
                    f"{name}= does not take what {value.written} returns; give it as "
                    f"{value.option}=."
                )
            parts = {part: own for part, own in value.parts.items() if own is not None}
            if _MISSING in parts:
                _check_missing(parts[_MISSING], parameters)
            unknown = [part for part in parts if part not in parameters]
            if unknown:
                raise UnsupportedTypeError(
                    f"{value.written} gives {unknown[0]!r}, which this method cannot use; omit it."
                )
            flat |= parts
        elif kind is not None and not kind.has_plain_form and value is not None:
            raise UnsupportedTypeError(
                "{} is not a plan; give what {}(...) returns.", parameter(name, value), kind.written
            )
        elif name == WORDS and value is not None:
            flat |= parts_of_words(value)
        else:
            flat[name] = value
    return flat


def _check_missing(missing: object, parameters: Mapping[str, Parameter]) -> None:
    """Raise for a choice of `missing` that a method does not have, with the reason."""
    choices = get_args(parameters[_MISSING].flat_type)
    check_choice(_MISSING, missing, choices, methods_with(missing))


def docstring_parameters(function: Callable[..., Any]) -> Mapping[str, Parameter]:
    """Return the parameters of a function that is not a method, as its own docstring has them."""
    entries = {
        entry["name"]: entry
        for entry in _ENTRY.finditer(_parameters_section(inspect.getdoc(function) or ""))
    }
    for entry in list(entries.values()):  # some are described together, as `title, subtitle`
        entries |= dict.fromkeys(entry["name"].split(", "), entry)
    parameters = {}
    for name, own in inspect.signature(function).parameters.items():
        type_text, text = (
            (entries[name]["type"], " ".join(entries[name]["text"].split()))
            if name in entries
            else ("", "")
        )
        is_positional = own.kind is own.POSITIONAL_OR_KEYWORD
        parameters[name] = Parameter(
            name, function.__annotations__[name], own.default, type_text, text, is_positional
        )
    return parameters


def _check_arguments(
    public_name: str,
    parameters: Mapping[str, Parameter],
    arguments: Sequence[Any],
    options: Mapping[str, Any],
) -> None:
    """Raise for arrays in place of a frame, and for too many, repeated or missing arguments."""
    positional = [p for p in parameters.values() if p.is_positional]
    by_name = {p.name: value for p, value in zip(positional, arguments, strict=False)}
    frame, *others = positional
    columns = [p.name for p in others if "column name" in p.type_text or not p.type_text]
    check_not_arrays(public_name, {**by_name, **options}, [frame.name, *columns])
    reason: str | Message = _OF_CHARTS if public_name.startswith("bf.plot.") else ""
    replaceable = {p.name for p in parameters.values() if p.is_replaceable}
    of_call = [*parameters.values()]
    if options.get(OUTCOME) is not None:
        of_call = [replace(p, is_replaceable=False) for p in of_call]
    else:
        options = {
            name: value
            for name, value in options.items()
            if value is not None or name not in replaceable
        }
        if replaceable - by_name.keys() - options.keys():
            reason = join("", [or_outcome(), reason])
    check_arguments(public_name, of_call, arguments, options, reason)


def _complete_parameters(
    function: Callable[..., Any], shared: Mapping[str, Option]
) -> Iterator[Parameter]:
    """List the parameters of a function, with the options of its group in place of `**options`.

    A parameter is described by the function's docstring, or else by its group or by `shared`. An
    undescribed parameter raises, unless there is no docstring at all.
    """
    described = {
        entry["name"]: Option(entry["type"], " ".join(entry["text"].split()))
        for entry in _ENTRY.finditer(_parameters_section(inspect.getdoc(function) or ""))
    }
    types = get_type_hints(function)
    for name, own in inspect.signature(function).parameters.items():
        if own.kind is own.VAR_KEYWORD:
            (group,) = get_args(own.annotation)
            for option_name, (type_, option) in group_options(group).items():
                words = described.get(option_name, option)
                yield Parameter(
                    *(option_name, type_, option.default, words.type_text, words.text, False),
                    option.part_of,
                    option.is_setting,
                )
        else:
            own_option = described.get(name) or shared.get(name)
            assert own_option or function.__doc__ is None, f"{function.__name__} describes {name}"
            words = own_option or Option("", "")
            is_positional = own.kind is own.POSITIONAL_OR_KEYWORD
            yield Parameter(
                name, types[name], own.default, words.type_text, words.text, is_positional
            )


def _parameters_section(doc: str) -> str:
    """Return the section of a docstring that describes parameters, without its heading."""
    _, _, rest = doc.partition(_HEADING)
    end = _NEXT_HEADING.search(rest)
    return (rest[: end.start()] if end else rest) + "\n"


def _complete_docstring(doc: str, parameters: Iterable[Parameter], raises_section: str) -> str:
    """Return a docstring that describes all parameters, in the order of the signature."""
    own = {entry["name"]: entry[0].rstrip() for entry in _ENTRY.finditer(_parameters_section(doc))}
    entries = [own.get(p.name) or p.docstring_entry for p in parameters if p.is_public]
    if settings := [p.name for p in parameters if p.is_setting]:
        entries.append(f"{', '.join(settings)} : optional\n    As in `bf.options`, for this call.")
    head, _, rest = doc.partition(_HEADING)
    if not rest:
        head, mark, rest = doc.partition("Returns\n-------\n")
        rest = mark + rest
    after = _NEXT_HEADING.search(rest)
    rest = rest[after.start() :] if after else ""
    if "Raises\n------\n" not in rest:
        headings = list(_NEXT_HEADING.finditer(rest))
        at = headings[1].start() if len(headings) > 1 else len(rest)
        rest = rest[:at] + raises_section + rest[at:]
    return head + _HEADING + "\n".join(entries) + "\n\n" + rest
