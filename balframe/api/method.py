"""The declaration of a method: its parameters and the columns of its answer."""

import inspect
import re
import textwrap
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property, wraps
from typing import Any, TypeVar, get_args, get_type_hints

from balframe.api.columns import Blocks, Column, blocks
from balframe.api.options import SHARED, Option, options_of
from balframe.errors import BalframeError, UnsupportedTypeError, not_found, parameter
from balframe.frames.engines.inputs import check_not_arrays

F = TypeVar("F", bound=Callable[..., Any])

_PARAMETERS = "balframe_parameters"  # the attribute of a function
_HEADING = "Parameters\n----------\n"
_NEXT_HEADING = re.compile(r"^\w+\n-{3,}$", re.MULTILINE)
_ENTRY = re.compile(r"^(?P<name>\w+) : (?P<kind>.*)\n(?P<text>(?:(?: {4}.*)?\n)*)", re.MULTILINE)
RAISES = """Raises
------
BalframeError
    If a name, an option or a value is invalid. The message says what to do.

"""
_WIDTH = 100


@dataclass(frozen=True, slots=True)
class Parameter:
    """A parameter of a method: its type, its default if it has one, and its description."""

    name: str
    type: Any
    default: Any
    kind: str
    text: str
    is_positional: bool

    @property
    def is_required(self) -> bool:
        """Tell whether a call has to give it."""
        return self.default is inspect.Parameter.empty

    @property
    def first_sentence(self) -> str:
        """Say in one line what it does."""
        return re.split(r"(?<=\.) ", self.text, maxsplit=1)[0]

    @property
    def in_words(self) -> str:
        """Describe it as docstrings do."""
        text = textwrap.fill(self.text, _WIDTH - 4, break_on_hyphens=False)
        return f"{self.name} : {self.kind}\n{textwrap.indent(text, '    ')}"

    @property
    def in_signature(self) -> inspect.Parameter:
        """Show it as signatures do."""
        one = inspect.Parameter
        kind = one.POSITIONAL_OR_KEYWORD if self.is_positional else one.KEYWORD_ONLY
        return one(self.name, kind, default=self.default, annotation=self.type)


@dataclass(eq=False)
class Method:
    """What is declared of a method: `layouts` are the columns that its answer may have.

    `instead` says what to do in place of an option that only other methods have. Called with a
    function, it makes that the method, with all options in its signature.
    """

    layouts: Mapping[str, tuple[Column, ...]]
    instead: Mapping[str, str] = field(default_factory=dict)
    function: Callable[..., Any] = lambda: None
    parameters: Mapping[str, Parameter] = field(default_factory=dict)

    @classmethod
    def of(cls, *columns: Column, instead: Mapping[str, str] | None = None) -> "Method":
        """Declare a method with one layout."""
        return cls({"": columns}, instead or {})

    @cached_property
    def blocks(self) -> Mapping[str, Blocks]:
        """Give the columns of each layout in the blocks that are repeated together."""
        return {name: blocks(declared) for name, declared in self.layouts.items()}

    @property
    def name(self) -> str:
        """Give the name that the method's function has."""
        return self.function.__name__

    def __call__(self, function: F) -> F:
        """Give a function all options: in its signature, its docstring, and when it is called."""
        complete = with_options(function, SHARED, RAISES, UnsupportedTypeError, self.instead)
        self.function, self.parameters = complete, parameters_of(complete)
        DECLARED[self.name] = self
        return complete


DECLARED: dict[str, Method] = {}  # the methods whose files are loaded, by name


def with_options(
    function: F,
    words: Mapping[str, Option],
    raises: str,
    refusal: type[BalframeError],
    instead: Mapping[str, str] | None = None,
) -> F:
    """Put the options of its group into a function's signature, docstring and calls.

    `words` are those of its own parameters that it leaves out, and `raises` what it says of errors
    where it says nothing; an unknown option is refused by a `refusal`, with the words of `instead`
    if it has some.
    """
    own = inspect.signature(function)
    parameters = {one.name: one for one in _parameters(function, words)}
    shared = {n: one.default for n, one in parameters.items() if n not in own.parameters}

    @wraps(function)
    def complete(*given: Any, **options: Any) -> Any:  # noqa: ANN401 (as the function's own)
        for name in options:
            if name not in parameters:
                raise refusal(_unknown(name, parameters.values(), instead or {}))
        _check_positions(function, parameters, given, options)
        return function(*given, **{**shared, **options})

    known = [one.in_signature for one in parameters.values()]
    complete.__signature__ = own.replace(parameters=known)  # type: ignore[attr-defined]
    complete.__dict__[_PARAMETERS] = parameters
    doc = inspect.getdoc(function) or ""
    complete.__doc__ = _documented(doc, parameters.values(), raises)
    return complete  # type: ignore[return-value]


def parameters_of(function: Callable[..., Any]) -> Mapping[str, Parameter]:
    """Give the parameters of a function that has its options from `with_options`."""
    parameters: Mapping[str, Parameter] = function.__dict__[_PARAMETERS]
    return parameters


def _unknown(name: str, parameters: Iterable[Parameter], instead: Mapping[str, str]) -> str:
    """Say that there is no option of this name, and what to do."""
    if name in instead:
        return f"option {name!r} not found: {instead[name]}"
    return str(not_found("option", name, (o.name for o in parameters if o.name != "frame")))


def _check_positions(
    function: Callable[..., Any],
    parameters: Mapping[str, Parameter],
    given: Sequence[Any],
    options: Mapping[str, Any],
) -> None:
    """Raise where a call gives arrays in place of a frame, or too much by position."""
    positional = [one.name for one in parameters.values() if one.is_positional]
    is_chart = "chart" in function.__module__.rpartition(".")[2]
    name = f"bf.{'plot.' * is_chart}{function.__name__}"
    check_not_arrays(name, {**dict(zip(positional, given, strict=False)), **options}, positional)
    if len(given) > len(positional):
        named = "by" if "by" in parameters else next(n for n in parameters if n not in positional)
        raise UnsupportedTypeError(
            f"{name} takes {', '.join(positional)} by position, but {len(given)} positional "
            f"arguments were given; give the others by keyword, such as {parameter(named)}."
        )


def _parameters(function: Callable[..., Any], words: Mapping[str, Option]) -> Iterator[Parameter]:
    """List the parameters of a function, the options of its group in the place of `**options`."""
    own = {
        found["name"]: Option(found["kind"], " ".join(found["text"].split()))
        for found in _ENTRY.finditer(_section(inspect.getdoc(function) or ""))
    }
    types = get_type_hints(function)
    for name, one in inspect.signature(function).parameters.items():
        if one.kind is one.VAR_KEYWORD:
            (group,) = get_args(one.annotation)
            for shared, (of_type, option) in options_of(group).items():
                said = own.get(shared, option)
                yield Parameter(shared, of_type, option.default, said.kind, said.text, False)
        else:
            said = own.get(name) or words[name]
            is_positional = one.kind is one.POSITIONAL_OR_KEYWORD
            yield Parameter(name, types[name], one.default, said.kind, said.text, is_positional)


def _section(doc: str) -> str:
    """Take the entries of the parameters that a docstring describes itself."""
    _, _, rest = doc.partition(_HEADING)
    end = _NEXT_HEADING.search(rest)
    return (rest[: end.start()] if end else rest) + "\n"


def _documented(doc: str, parameters: Iterable[Parameter], raises: str) -> str:
    """Describe all parameters in a docstring, in the order of the signature."""
    own = {found["name"]: found[0].rstrip() for found in _ENTRY.finditer(_section(doc))}
    entries = [own.get(one.name) or one.in_words for one in parameters]
    head, _, rest = doc.partition(_HEADING)
    if not rest:
        head, mark, rest = doc.partition("Returns\n-------\n")
        rest = mark + rest
    after = _NEXT_HEADING.search(rest)
    rest = rest[after.start() :] if after else ""
    if "Raises\n------\n" not in rest:
        at = next((found.start() for found in list(_NEXT_HEADING.finditer(rest))[1:]), len(rest))
        rest = rest[:at] + raises + rest[at:]
    return head + _HEADING + "\n".join(entries) + "\n\n" + rest
