"""The parameters of verbs as options of the command line: what is shown and parsed of each."""

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from inspect import Parameter as Signed
from typing import Annotated, Any, get_args, get_origin

import typer

from balframe.api.method import Parameter
from balframe.cli.markup import literal
from balframe.cli.readings import Given, Option, Reading, reading_of

_WITHOUT = ("frame", "backend")  # the files, and the library of an answer that is written
_ONE_BY_ONE = {"metrics": "metric", "labels": "label", "windows": "window"}
_PANELS: Mapping[str, Sequence[str]] = {  # of the help, with their parameters in order
    "Columns": (
        *("y_true", "y_pred", "y_score", "selected", "score", "by", "over", "cluster"),
        *("sample_weight", "counts"),
    ),
    "Time": ("time", "every", "windows", "looks"),
    "Rules": ("rules", "baseline", "power", "disagreement", "allow_inconclusive"),
    "What to compute": (),  # and all others
    "Uncertainty": (
        *("interval", "level", "prior", "alpha", "adjust", "dispersion", "min_support", "decide"),
        "band",
    ),
    "Page": ("title", "subtitle", "truth", "call", "unit"),
    "Rows and labels": ("labels", "pos_label", "missing", "cells", "max_cells"),
}
_WORD = re.compile(r"`(\w+)`")


def option_name(parameter: str) -> str:
    """Name the option of a parameter, without its dashes; one given for each value is singular."""
    return _ONE_BY_ONE.get(parameter, parameter).replace("_", "-")


@dataclass(frozen=True, slots=True)
class Typed:
    """A parameter of a verb as options: what Typer reads of them, and the value that they give."""

    parameter: Parameter
    reading: Reading

    @classmethod
    def all_of(cls, parameters: Mapping[str, Parameter]) -> "list[Typed]":
        """List the parameters that have options, in the order of the help."""
        every = [cls(o, reading_of(o)) for name, o in parameters.items() if name not in _WITHOUT]
        return sorted(every, key=lambda one: one.place)

    @property
    def panel(self) -> str:
        """Name the panel of the help."""
        name = self.parameter.name
        return next((one for one in _PANELS if name in _PANELS[one]), "What to compute")

    @property
    def place(self) -> tuple[int, int]:
        """Give the position of the panel, and the position in it."""
        names = _PANELS[self.panel]
        name = self.parameter.name
        return list(_PANELS).index(self.panel), names.index(name) if name in names else 0

    def options(self, known: Collection[str]) -> list[Signed]:
        """Make the options, whose words name other parameters as they are typed."""
        words = _WORD.sub(
            lambda found: f"--{option_name(found[1])}" if found[1] in known else found[0],
            self.parameter.first_sentence.replace("bf.list_metrics()", "balframe metrics"),
        )
        return [self._option(one, words) for one in self.reading.options]

    def _option(self, option: Option, words: str) -> Signed:
        own = option_name(self.parameter.name)
        name = option.name.format(name=own)
        default = self._default(option)
        flag = f"--{name}/--no-{name}" if option.has_no or default is True else f"--{name}"
        info = typer.Option(
            flag,
            help=literal(option.says.format(words=words, name=own)),
            rich_help_panel=self.panel,
            metavar=option.metavar,
            show_default=default is not False,
            autocompletion=option.completes,
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
        if get_origin(option.parsed) is list and default is not None:
            values = default if isinstance(default, tuple) else (default,)
            (of_type,) = get_args(option.parsed)
            return [of_type(one) for one in values]
        if isinstance(default, tuple):
            return ",".join(default)
        return None if isinstance(default, bool) else default

    def value(self, given: Given) -> Any:  # noqa: ANN401
        """Give the parameter its value; its default where nothing was typed."""
        name = option_name(self.parameter.name)
        names = [one.name.format(name=name).replace("-", "_") for one in self.reading.options]
        typed = [given.typed[one] for one in names]
        if not self.parameter.is_required and all(one is None or one == [] for one in typed):
            return self.parameter.default
        return self.reading.value(given, *typed)
