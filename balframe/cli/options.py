"""The parameters of methods as options of the command line, in the panels of the help."""

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import click

from balframe.api.method import Parameter
from balframe.cli.command import CommandOption
from balframe.cli.option_parser import CommandLine, OptionSpec, Parser
from balframe.cli.parsers_by_type import OTHERS, parser_of

# the files, the library of a result that is written, and a value whose parts have options
_WITHOUT_OPTION = ("frame", "backend", "design", "words")
_SINGULAR = {  # given one by one
    "metrics": "metric",
    "labels": "label",
}
_OF_COLUMNS = "Columns"  # the panel of parameters that name columns
_PANELS: Mapping[str, Sequence[str]] = {  # of the help, with their parameters in order
    _OF_COLUMNS: (
        *("y_true", "y_pred", "outcome", "y_score", "selected", "score", "baseline", "by"),
        *("over", "cluster", "key"),
        *("sample_weight", "counts"),
    ),
    "Run": ("table", "run", "date", "model", "source", "replace"),
    "Time": ("time", "exclude", "looks"),
    "Rules": (
        *("rules", "baseline", "expect", "absent_segments", "power", "disagreement"),
        "allow_inconclusive",
    ),
    OTHERS: (),
    "Uncertainty": (
        *("interval", "level", "prior", "adjust", "dispersion", "min_support", "decide"),
        "band",
    ),
    "Page": (
        "title",
        "subtitle",
        "truth",
        "selected",
        "unit",
        "prediction_word",
        "suppress",
        "cover",
    ),
    "Rows and labels": (
        *(
            "labels",
            "absent",
            "pos_label",
            "favourable",
            "missing",
            "verdict",
            "label_probability",
            "doubt",
        ),
        *("cells", "max_cells"),
    ),
}
_PARAMETER = re.compile(r"`(\w+)(?:=\"(\w+)\")?`")  # `by`, or `margins="all"`


def option_name(parameter: str) -> str:
    """Return the name of a parameter's option, without dashes; singular if given one by one."""
    return _SINGULAR.get(parameter, parameter).replace("_", "-")


def _typed(match: re.Match[str]) -> str:
    """Return a parameter, or a parameter with its value, as it is typed."""
    name = f"--{option_name(match[1])}"
    return name if match[2] is None else f"{name} {match[2]}"


@dataclass(frozen=True, slots=True)
class ParameterOptions:
    """A parameter of a method, as options of the command line."""

    parameter: Parameter
    parser: Parser

    @property
    def panel(self) -> str:
        """The panel of the help: of `selected` and `baseline`, by what they may be."""
        if self.parser.panel:
            return self.parser.panel
        type_text = self.parameter.type_text
        names_columns = "column" in type_text and " or cells" not in type_text
        panels = (panel for panel in _PANELS if self.parameter.name in _PANELS[panel])
        return next((panel for panel in panels if names_columns or panel != _OF_COLUMNS), OTHERS)

    @property
    def place(self) -> tuple[int, int]:
        """The position of the panel, and the position in it."""
        name, names = self.parameter.name, _PANELS[self.panel]
        return list(_PANELS).index(self.panel), names.index(name) if name in names else 0

    def options(self, parameter_names: Collection[str]) -> list[CommandOption]:
        """Make the options, whose help names other parameters as they are typed."""
        description = _PARAMETER.sub(
            lambda match: _typed(match) if match[1] in parameter_names else match[0],
            self.parameter.first_sentence.replace("bf.list_metrics()", "balframe metrics"),
        )
        return [self._option(spec, description) for spec in self.parser.options]

    def _option(self, spec: OptionSpec, description: str) -> CommandOption:
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
            form=spec.form,
            parameter=self.parameter.name,
            is_replaceable=self.parameter.is_replaceable,
            is_alternative=self.parser.alternatives,
            type=spec.type,
            is_flag=is_flag or None,
            multiple=spec.is_repeatable,
            required=self.parameter.is_required
            and not (self.parser.alternatives or spec.is_optional),
            **({} if default is None else {"default": default}),  # None is a value for click
        )

    def _default(self, spec: OptionSpec) -> Any:  # noqa: ANN401
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

    @property
    def names(self) -> dict[str, bool]:
        """Return the names of the options as values have them, and whether each reads files."""
        name = option_name(self.parameter.name)
        return {
            spec.name.format(name=name).replace("-", "_"): spec.reads_file
            for spec in self.parser.options
        }

    def value(self, line: CommandLine) -> Any:  # noqa: ANN401
        """Return the value of the parameter; its default if no option is given."""
        values = [line.values[name] for name in self.names]
        absent = (None, False) if self.parameter.default is None else (None,)
        if not self.parameter.has_no_default and all(value in absent for value in values):
            return self.parameter.default
        return self.parser.parse(line, *values)


def parameter_options(parameters: Mapping[str, Parameter]) -> list[ParameterOptions]:
    """List the parameters that have options, in the order of the help."""
    every = [
        ParameterOptions(parameter, parser_of(parameter, parameters))
        for name, parameter in parameters.items()
        if name not in _WITHOUT_OPTION
    ]
    return sorted(every, key=lambda options: options.place)


def option_values(value: Any) -> list[Any]:  # noqa: ANN401
    """List the values of an option, which may be repeated, or absent."""
    if value is None:
        return []
    return value if isinstance(value, list) else [value]
