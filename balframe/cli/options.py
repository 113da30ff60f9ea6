"""The parameters of methods as options of the command line: what is typed, and how it is read."""

import re
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from types import UnionType
from typing import Any, Literal, Union, get_args, get_origin

import click
import polars as pl

from balframe.api.method import Parameter
from balframe.api.metric_selection import ClassWeight, Metrics
from balframe.api.option_types import (
    REFERENCE_KEYWORDS,
    BaselineOption,
    ExcludeOption,
    ExpectOption,
    ReferenceOption,
    StreamBaselineOption,
)
from balframe.cli import completion, parse_values
from balframe.cli.baseline_files import read_baseline, read_expect, read_stream_baseline
from balframe.cli.command import FILE, FLOAT, INTEGER, CommandOption, Complete, either
from balframe.core.label_set import Label
from balframe.frames.slice_binning import BinsOption
from balframe.frames.thresholds import ThresholdsOption
from balframe.methods.gates.rules import RulesOption
from balframe.stats.base import IntervalMethod, IntervalOption

_WITHOUT_OPTION = ("frame", "backend")  # the files, and the library of a result that is written
_SINGULAR = {"metrics": "metric", "labels": "label"}  # given one by one
_OTHERS = "What to compute"  # the panel of parameters that no panel names
_PANELS: Mapping[str, Sequence[str]] = {  # of the help, with their parameters in order
    "Columns": (
        *("y_true", "y_pred", "y_score", "selected", "score", "by", "over", "cluster"),
        *("sample_weight", "counts"),
    ),
    "Time": ("time", "every", "exclude", "looks"),
    "Rules": (
        *("rules", "baseline", "expect", "absent_segments", "power", "disagreement"),
        "allow_inconclusive",
    ),
    _OTHERS: (),
    "Uncertainty": (
        *("interval", "level", "prior", "adjust", "dispersion", "min_support", "decide"),
        "band",
    ),
    "Page": ("title", "subtitle", "truth", "call", "unit"),
    "Rows and labels": ("labels", "pos_label", "missing", "cells", "max_cells"),
}
_PARAMETER_NAME = re.compile(r"`(\w+)`")
_MAX_CHOICES_LENGTH = 14  # characters of choices that are shown beside the option


@dataclass(frozen=True, slots=True)
class CommandLine:
    """The values that click has read, by the names of options, and the rows they are about."""

    values: Mapping[str, Any]
    rows: pl.LazyFrame

    @property
    def null_words(self) -> Sequence[str]:
        """Return the texts that mean that there is no value."""
        return self.values.get("null") or ()

    def label(self, text: str) -> Any:  # noqa: ANN401
        """Read a label as a value of the column of true labels, or without one of predictions."""
        names = self.values.get("y_true") or self.values.get("selected") or [None]
        return parse_values.label(text, self.rows, names if isinstance(names, str) else names[0])


@dataclass(frozen=True, slots=True)
class _OptionSpec:
    """An option for click.

    `help` and `name` may contain {description} and {name}, those of the parameter.
    """

    type: "click.ParamType[Any]"
    metavar: str = ""
    help: str = "{description}"
    name: str = "{name}"
    complete: Complete | None = None
    is_repeatable: bool = False
    is_negatable: bool = False  # a flag that --no-... takes back
    reads_file: bool = False  # the value may be the path of a file


@dataclass(frozen=True, slots=True)
class _Parser:
    """The options of a parameter, and how their values become that of the parameter.

    `panel` is that of the help, if it does not follow from the name.
    """

    options: Sequence[_OptionSpec]
    parse: Callable[..., Any] = lambda line, value: value
    panel: str = ""


def _interval(line: CommandLine, is_given: bool, method: IntervalMethod | None) -> IntervalOption:
    return method if method is not None else (True if is_given else None)


def _reference(line: CommandLine, text: str) -> Any:  # noqa: ANN401
    by = line.values["by"] or []
    if text in REFERENCE_KEYWORDS or len(by) != 1:
        return text
    return parse_values.label(text, line.rows, by[0])


_COLUMN = _Parser([_OptionSpec(click.STRING, "COLUMN", complete=completion.complete_column)])
_COLUMNS = _Parser(
    [
        _OptionSpec(
            click.STRING,
            "COLUMN",
            "{description} Repeat for several: --{name} a --{name} b.",
            complete=completion.complete_column,
            is_repeatable=True,
        )
    ],
    lambda line, names: parse_values.one_or_more(names),
)
_RULES = _Parser(
    [
        _OptionSpec(
            click.STRING,
            "RULE",
            "A rule that every segment must satisfy, such as 'recall >= 0.7' or "
            "'difference(recall) <= 0.1'. Repeat for several.",
            name="rule",
            is_repeatable=True,
        ),
        _OptionSpec(
            FILE,
            "FILE",
            "Read the rules from a .toml or .yaml file, instead of --rule. Repeat for several.",
            name="rules",
            is_repeatable=True,
            reads_file=True,
        ),
    ],
    lambda line, texts, files: parse_values.rules(texts, files),
)
_BY_TYPE_TEXT = {  # where the type does not say enough: the type as docstrings have it
    "column name": _COLUMN,
    "column name or list of column names": _COLUMNS,
    "list of column names": _COLUMNS,
    "label": _Parser([_OptionSpec(click.STRING, "LABEL")], lambda line, text: line.label(text)),
    "length": _Parser([_OptionSpec(click.STRING, "LENGTH")]),
    "str": _Parser([_OptionSpec(click.STRING, "METRIC", complete=completion.complete_metric)]),
    "text": _Parser([_OptionSpec(click.STRING, "TEXT")]),
}
_BY_TYPE: Mapping[Any, _Parser] = {
    bool: _Parser([_OptionSpec(click.BOOL)]),
    int: _Parser([_OptionSpec(INTEGER, "NUMBER")]),
    float: _Parser([_OptionSpec(FLOAT, "NUMBER")]),
    tuple[str, str]: _Parser(
        [
            _OptionSpec(
                click.STRING,
                "ONE,MANY",
                "{description} Separate them by a comma, as in person,people.",
            )
        ],
        lambda line, text: parse_values.pair(text),
    ),
    Metrics: _Parser(
        [
            _OptionSpec(
                click.STRING,
                "METRIC",
                "{description} Repeat for several; acc=accuracy shows accuracy as acc. `balframe "
                "metrics` lists all metrics.",
                complete=completion.complete_metric,
                is_repeatable=True,
            )
        ],
        lambda line, names: parse_values.metrics(names),
    ),
    Sequence[Label]: _Parser(
        [
            _OptionSpec(
                click.STRING,
                "LABEL",
                "{description} Repeat for each label.",
                is_repeatable=True,
            )
        ],
        lambda line, texts: [line.label(text) for text in texts],
    ),
    ClassWeight | None: _Parser(
        [
            _OptionSpec(
                click.STRING,
                "LABEL=NUMBER",
                "{description} Repeat for each label, as in yes=0.8, or give balanced or "
                "prevalence.",
                is_repeatable=True,
            )
        ],
        lambda line, texts: parse_values.class_weights(texts, line.rows, line.values["y_true"]),
    ),
    IntervalOption: _Parser(
        [
            _OptionSpec(click.BOOL, is_negatable=True),
            _OptionSpec(
                click.Choice(get_args(IntervalMethod)),
                "METHOD",
                "Add confidence intervals by this method: "
                f"{either(get_args(IntervalMethod))}. Implies --{{name}}.",
                name="{name}-method",
            ),
        ],
        _interval,
    ),
    ThresholdsOption: _Parser(
        [
            _OptionSpec(
                click.STRING,
                "THRESHOLDS",
                "{description} Give all for every distinct score, 101 for 101 thresholds from 0 to "
                "1, 0.2,0.5 for these two, or quantiles,10 for 10 quantiles of the scores.",
            )
        ],
        lambda line, text: parse_values.thresholds(text),
    ),
    BinsOption: _Parser(
        [
            _OptionSpec(
                click.STRING,
                "BINS",
                "{description} Give 4, none to take each value on its own, or either of them or "
                "edges for a column: age=4, age=18,25,45. Repeat for several columns.",
                is_repeatable=True,
            )
        ],
        lambda line, texts: parse_values.bins(texts),
    ),
    BaselineOption: _Parser(
        [
            _OptionSpec(
                click.STRING,
                "COLUMN|FILE",
                "{description} Give another column of predictions, or a file with the cells of an "
                "earlier run, as balframe confusion writes them.",
                complete=completion.complete_column,
                reads_file=True,
            )
        ],
        lambda line, text: read_baseline(text, line.rows, line.null_words),
    ),
    ExpectOption: _Parser(
        [
            _OptionSpec(
                click.STRING,
                "COLUMN=VALUES|FILE",
                "The segments that must have rows: a by-column with its values, as in "
                "race=White,Black, or a file with the by-columns, such as the result of last "
                "month. Quote a value that has a comma, as in 'race=\"Black, other\",White'; an "
                "empty one is null. Repeat for several columns.",
                is_repeatable=True,
                reads_file=True,
            )
        ],
        lambda line, texts: read_expect(texts, line.rows, line.values["by"] or [], line.null_words),
    ),
    float | Sequence[float]: _Parser(
        [_OptionSpec(FLOAT, "NUMBER", "{description} Repeat for several.", is_repeatable=True)],
        lambda line, numbers: numbers if len(numbers) > 1 else numbers[0],
    ),
    ExcludeOption: _Parser(
        [
            _OptionSpec(
                click.STRING,
                "DATE",
                "{description} Repeat for several, as in 2026-12-25.",
                is_repeatable=True,
            )
        ]
    ),
    StreamBaselineOption: _Parser(
        [
            _OptionSpec(
                click.STRING,
                "DATE|FILE",
                "What every period is compared with: the rows up to and including a day, as in "
                "2026-03-31, or a file with the cells of a run, such as that of the launch, as "
                "balframe confusion writes them.",
                reads_file=True,
            )
        ],
        lambda line, text: read_stream_baseline(text, line.values["time"], line.null_words),
        panel=_OTHERS,
    ),
    ReferenceOption: _Parser(
        [_OptionSpec(click.STRING, "SEGMENT", complete=completion.complete_reference)],
        _reference,
    ),
    RulesOption: _RULES,
    RulesOption | None: _RULES,
}

_BY_NAME: Mapping[str, _Parser] = {
    "detail": _Parser(
        [
            _OptionSpec(
                click.BOOL,
                help="{description} It is for tables and Markdown; other formats have all columns.",
            )
        ]
    )
}


def _without_none(of_type: Any) -> Any:  # noqa: ANN401
    """Take None off a type that has only one other member."""
    members = [member for member in get_args(of_type) if member is not type(None)]
    is_union = get_origin(of_type) in (Union, UnionType)
    return members[0] if is_union and len(members) == 1 else of_type


def _choices(of_type: Any) -> tuple[Any, ...]:  # noqa: ANN401
    """List the values of a type that has nothing but named values."""
    if of_type is type(None):
        return (None,)
    if get_origin(of_type) is Literal:
        return get_args(of_type)
    choices = [_choices(member) for member in get_args(of_type)]
    return sum(choices, ()) if all(choices) else ()


def _choice_parser(choices: Sequence[Any], default: Any) -> _Parser:  # noqa: ANN401
    """Read one of the words, and `none` as None where that is not the default."""
    words = [choice for choice in choices if isinstance(choice, str)]
    if None in choices and default is not None:
        words.append("none")
    metavar, text = "|".join(words), "{description}"
    if len(metavar) > _MAX_CHOICES_LENGTH:
        metavar, text = "CHOICE", f"{{description}} Give {either(words)}."
    return _Parser(
        [_OptionSpec(click.Choice(words), metavar, text)],
        lambda line, word: word if word in choices else None,
    )


def _parser(parameter: Parameter) -> _Parser:
    """Choose the parser of a parameter: by its name, its type, or the type in its docstring."""
    if parameter.name in _BY_NAME:
        return _BY_NAME[parameter.name]
    type_text = parameter.type_text.partition(",")[0]
    parser = _BY_TYPE.get(_without_none(parameter.type)) or _BY_TYPE_TEXT.get(type_text)
    if parser is None:
        choices = _choices(parameter.type)
        assert choices, f"{parameter.name}: the command line has no parser for {parameter.type}"
        parser = _choice_parser(choices, parameter.default)
    return parser


def option_name(parameter: str) -> str:
    """Return the name of a parameter's option, without dashes; singular if given one by one."""
    return _SINGULAR.get(parameter, parameter).replace("_", "-")


@dataclass(frozen=True, slots=True)
class ParameterOptions:
    """A parameter of a method, as options of the command line."""

    parameter: Parameter
    parser: _Parser

    @property
    def panel(self) -> str:
        """The panel of the help."""
        name = self.parameter.name
        if self.parser.panel:
            return self.parser.panel
        return next((panel for panel in _PANELS if name in _PANELS[panel]), _OTHERS)

    @property
    def place(self) -> tuple[int, int]:
        """The position of the panel, and the position in it."""
        name, names = self.parameter.name, _PANELS[self.panel]
        return list(_PANELS).index(self.panel), names.index(name) if name in names else 0

    def options(self, parameter_names: Collection[str]) -> list[CommandOption]:
        """Make the options, whose help names other parameters as they are typed."""
        description = _PARAMETER_NAME.sub(
            lambda match: f"--{option_name(match[1])}" if match[1] in parameter_names else match[0],
            self.parameter.first_sentence.replace("bf.list_metrics()", "balframe metrics"),
        )
        return [self._option(spec, description) for spec in self.parser.options]

    def _option(self, spec: _OptionSpec, description: str) -> CommandOption:
        own_name = option_name(self.parameter.name)
        name = spec.name.format(name=own_name)
        default = self._default(spec)
        is_flag = spec.type is click.BOOL
        is_negatable = spec.is_negatable or default is True
        if is_flag:
            default_text = name if default else ""
        else:
            values = default if isinstance(default, tuple) else (default,)
            default_text = "" if default is None else ", ".join(map(str, values))
        return CommandOption(
            f"--{name}/--no-{name}" if is_negatable else f"--{name}",
            panel=self.panel,
            help=spec.help.format(description=description, name=own_name),
            metavar=spec.metavar,
            default_text=default_text,
            complete=spec.complete,
            reads_file=spec.reads_file,
            type=spec.type,
            is_flag=is_flag or None,
            multiple=spec.is_repeatable,
            required=self.parameter.is_required and len(self.parser.options) == 1,
            **({} if default is None else {"default": default}),  # None is a value for click
        )

    def _default(self, spec: _OptionSpec) -> Any:  # noqa: ANN401
        """Return the default that the help shows; None where the option is only absent."""
        default = self.parameter.default
        if self.parameter.is_required:
            return None
        if spec.type is click.BOOL:
            return default is True
        if spec.is_repeatable and default is not None:
            return default if isinstance(default, tuple) else (default,)
        if isinstance(default, tuple):
            return ",".join(default)
        return None if isinstance(default, bool) else default

    def value(self, line: CommandLine) -> Any:  # noqa: ANN401
        """Return the value of the parameter; its default if no option is given."""
        name = option_name(self.parameter.name)
        names = [spec.name.format(name=name).replace("-", "_") for spec in self.parser.options]
        values = [line.values[name] for name in names]
        if not self.parameter.is_required and all(value is None for value in values):
            return self.parameter.default
        return self.parser.parse(line, *values)


def parameter_options(parameters: Mapping[str, Parameter]) -> list[ParameterOptions]:
    """List the parameters that have options, in the order of the help."""
    every = [
        ParameterOptions(parameter, _parser(parameter))
        for name, parameter in parameters.items()
        if name not in _WITHOUT_OPTION
    ]
    return sorted(every, key=lambda options: options.place)
