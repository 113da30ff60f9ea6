"""The parameters of verbs on the command line: how each type is typed, shown and read."""

import re
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from inspect import Parameter as Signed
from pathlib import Path
from types import UnionType
from typing import Annotated, Any, Literal, Union, cast, get_args, get_origin

import polars as pl
import typer
from rich.markup import escape

from balframe.analyses.references import KEYWORDS, ReferenceOption
from balframe.analyses.scoring import ClassWeight, Metrics
from balframe.cli import inputs
from balframe.core.labels import Label
from balframe.errors import InvalidInputError
from balframe.frames.thresholds import ThresholdsOption
from balframe.gates.rules import RulesOption
from balframe.intervals.request import IntervalOption, Method
from balframe.verbs.declaration import Parameter

Values = Mapping[str, Any]

_WITHOUT = ("frame", "backend")  # the files, and the library of an answer that is written
_ONE_BY_ONE = {"metrics": "metric", "labels": "label"}
_OF_DATA = ("cells", "missing")  # beside the columns
_WORD = re.compile(r"`(\w+)`")


@dataclass(frozen=True, slots=True)
class Given:
    """What was typed, by the names of parameters as Typer knows them, and the rows it is about."""

    typed: Values
    rows: pl.LazyFrame

    def label(self, text: str) -> Any:  # noqa: ANN401
        """Read a label as a value of the column of true labels."""
        return inputs.label(text, self.rows, self.typed["y_true"])


@dataclass(frozen=True, slots=True)
class Option:
    """An option as Typer parses it; `says` may hold the words of the parameter, and its name."""

    parsed: Any
    metavar: str | None = None
    says: str = "{words}"
    name: str = "{name}"
    panel: str = "How"


@dataclass(frozen=True, slots=True)
class Reading:
    """How a parameter is typed, and how what was typed becomes its value."""

    options: Sequence[Option]
    value: Callable[..., Any] = lambda given, typed: typed


def option_name(parameter: str) -> str:
    """Name the option of a parameter, without its dashes; one given for each value is singular."""
    return _ONE_BY_ONE.get(parameter, parameter).replace("_", "-")


def _interval(given: Given, is_wanted: bool, method: Method | None) -> IntervalOption:
    return method if method is not None else (True if is_wanted else None)


def _reference(given: Given, text: str) -> Any:  # noqa: ANN401
    by = given.typed["by"] or []
    return text if text in KEYWORDS or len(by) != 1 else inputs.label(text, given.rows, by[0])


def _rules(given: Given, texts: list[str] | None, file: Path | None) -> list[str] | Path:
    if (not texts) == (file is None):
        raise InvalidInputError(
            "give rules either one by one, --rule 'recall >= 0.7', or in a file, --rules gate.toml."
        )
    return file if file is not None else list(texts or [])


def _one_or_more(given: Given, names: Sequence[str]) -> Any:  # noqa: ANN401
    return list(names) if len(names) > 1 else names[0]


_COLUMNS = Reading(
    [Option(list[str], "COLUMN", "{words} Again for more: --{name} a --{name} b.", panel="Data")],
    _one_or_more,
)
_BY_KIND = {  # where the type is that of any value: the kind as docstrings have it
    "column name": Reading([Option(str, "COLUMN", panel="Data")]),
    "column name or list of column names": _COLUMNS,
    "list of column names": _COLUMNS,
    "label": Reading([Option(str, "LABEL")], lambda given, text: given.label(text)),
}
_BY_TYPE: Mapping[Any, Reading] = {
    bool: Reading([Option(bool)]),
    int: Reading([Option(int)]),
    float: Reading([Option(float)]),
    str: Reading([Option(str)]),
    Metrics: Reading(
        [Option(list[str], "NAME", "{words} Again for more; `balframe metrics` lists them.")],
        lambda given, names: "all" if names == ["all"] else names,
    ),
    Sequence[Label]: Reading(
        [Option(list[str], "LABEL", "{words} Again for each label.")],
        lambda given, texts: [given.label(text) for text in texts],
    ),
    ClassWeight | None: Reading(
        [
            Option(
                list[str],
                "LABEL=NUMBER",
                "{words} As in yes=0.8, again for each label; or balanced, or prevalence.",
            )
        ],
        lambda given, texts: inputs.class_weights(texts, given.rows, given.typed["y_true"]),
    ),
    IntervalOption: Reading(
        [
            Option(bool),
            Option(
                Method,
                says="Add limits by this method, with or without --{name}.",
                name="{name}-method",
            ),
        ],
        _interval,
    ),
    ThresholdsOption: Reading(
        [
            Option(
                str,
                "HOW",
                "{words} Typed as 101, for that many from 0 to 1, as 0.2,0.5 or as quantiles,10.",
            )
        ],
        lambda given, text: inputs.thresholds(text),
    ),
    ReferenceOption: Reading([Option(str, "SEGMENT")], _reference),
    RulesOption: Reading(
        [
            Option(
                list[str],
                "RULE",
                "{words} One of them, as in 'recall >= 0.7' or 'difference(recall) <= 0.1'; again "
                "for more.",
                name="rule",
            ),
            Option(Path, says="{words} All of them, from a .toml or .yaml file.", name="rules"),
        ],
        _rules,
    ),
}


def _given(of_type: Any) -> Any:  # noqa: ANN401
    """Take None off a type that has only one other member."""
    members = [one for one in get_args(of_type) if one is not type(None)]
    is_union = get_origin(of_type) in (Union, UnionType)
    return members[0] if is_union and len(members) == 1 else of_type


def _choices(of_type: Any) -> tuple[Any, ...]:  # noqa: ANN401
    """List the values of a type that has nothing but named values."""
    if of_type is type(None):
        return (None,)
    if get_origin(of_type) is Literal:
        return get_args(of_type)
    listed = [_choices(member) for member in get_args(of_type)]
    return sum(listed, ()) if all(listed) else ()


def _choice(choices: Sequence[Any], default: Any) -> Reading:  # noqa: ANN401
    """Let one of the words be typed, and `none` for None where that is not the default."""
    words = [one for one in choices if isinstance(one, str)]
    if None in choices and default is not None:
        words.append("none")
    parsed = cast(Any, Literal)[tuple(words)]
    return Reading([Option(parsed)], lambda given, word: word if word in choices else None)


def reading_of(parameter: Parameter) -> Reading:
    """Choose the reading of a parameter by its type, or by its kind where any value will do."""
    kind = parameter.kind.partition(",")[0]
    reading = _BY_TYPE.get(_given(parameter.type)) or _BY_KIND.get(kind)
    if reading is None:
        choices = _choices(parameter.type)
        assert choices, f"{parameter.name}: the command line has no reading for {parameter.type}"
        reading = _choice(choices, parameter.default)
    return reading


@dataclass(frozen=True, slots=True)
class Typed:
    """A parameter of a verb as options: what Typer reads of them, and the value that they give."""

    parameter: Parameter
    reading: Reading

    @classmethod
    def all_of(cls, parameters: Mapping[str, Parameter]) -> "list[Typed]":
        """List the parameters that have options."""
        return [cls(o, reading_of(o)) for name, o in parameters.items() if name not in _WITHOUT]

    def options(self, known: Collection[str]) -> list[Signed]:
        """Make the options, whose words name other parameters as they are typed."""
        words = _WORD.sub(
            lambda found: f"--{option_name(found[1])}" if found[1] in known else found[0],
            self.parameter.first_sentence,
        )
        return [self._option(one, words) for one in self.reading.options]

    def _option(self, option: Option, words: str) -> Signed:
        own = option_name(self.parameter.name)
        name = option.name.format(name=own)
        default = self._default(option)
        flag = f"--{name}/--no-{name}" if default is True else f"--{name}"
        info = typer.Option(
            flag,
            help=escape(option.says.format(words=words, name=own)),
            rich_help_panel="Data" if self.parameter.name in _OF_DATA else option.panel,
            metavar=option.metavar,
        )
        parsed = option.parsed | None if default is None else option.parsed
        return Signed(
            name.replace("-", "_"),
            Signed.KEYWORD_ONLY,
            default=default,
            annotation=Annotated[parsed, info],
        )

    def _default(self, option: Option) -> Any:  # noqa: ANN401
        """Give what Typer shows as the default; None where nothing typed is nothing given."""
        if self.parameter.is_required:
            return Signed.empty if len(self.reading.options) == 1 else None
        default = self.parameter.default
        if option.parsed is bool:
            return default is True
        return None if isinstance(default, bool) else default

    def value(self, given: Given) -> Any:  # noqa: ANN401
        """Give the parameter its value; its default where nothing was typed."""
        name = option_name(self.parameter.name)
        names = [one.name.format(name=name).replace("-", "_") for one in self.reading.options]
        typed = [given.typed[one] for one in names]
        if not self.parameter.is_required and all(one is None or one == [] for one in typed):
            return self.parameter.default
        return self.reading.value(given, *typed)
