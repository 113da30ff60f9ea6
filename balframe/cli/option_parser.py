"""Parsers of parameters: what is typed, as options for click, and how their values are read."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, get_args, get_origin

import click
import polars as pl

from balframe.api.options import methods_with
from balframe.cli import parse_values
from balframe.cli.command import Complete, either
from balframe.cli.files.open_files import Input
from balframe.cli.toml import forms

_MAX_CHOICES_LENGTH = 14  # characters of choices that are shown beside the option


@dataclass(frozen=True, slots=True)
class CommandLine:
    """The values that click has read, by the names of options, and the rows they are about.

    Files `beside` the rows are read as these say.
    """

    values: Mapping[str, Any]
    rows: pl.LazyFrame
    beside: Input

    def names(self, option: str) -> list[str]:
        """List the columns that an option names, which may be repeated, or absent."""
        value = self.values.get(option) or []
        return [value] if isinstance(value, str) else list(value)

    @property
    def by(self) -> list[str]:
        """List the by-columns."""
        return self.names("by")

    def label(self, text: str) -> Any:  # noqa: ANN401
        """Read a label as a value of the column that has labels."""
        return parse_values.label(text, self.rows, self._label_column)

    def labels(self, texts: Sequence[str]) -> list[Any]:
        """Read labels as values of the column that has labels."""
        return parse_values.values(texts, self.rows, self._label_column, "label")

    @property
    def _label_column(self) -> str:
        """The column of true labels, or without one of predictions."""
        names = self.values.get("y_true") or self.values.get("selected") or [""]
        return names if isinstance(names, str) else str(names[0])


@dataclass(frozen=True, slots=True)
class OptionSpec:
    """An option for click.

    `help` and `name` may contain {description} and {name}, those of the parameter.
    """

    type: "click.ParamType[Any]"
    metavar: str = ""
    help: str = "{description}"
    name: str = "{name}"
    complete: Complete | None = None
    is_repeatable: bool = False
    is_optional: bool = False  # even if the parameter is required
    is_negatable: bool = False  # a flag that --no-... takes back
    reads_file: bool = False  # the value may be the path of a file
    form: forms.Form | None = None  # of the value in a configuration, if it is not only text


@dataclass(frozen=True, slots=True)
class Parser:
    """The options of a parameter, and how their values become that of the parameter.

    `panel` is that of the help, if it does not follow from the name. Options that are
    `alternatives` replace each other: one on the command line, another of a configuration.
    """

    options: Sequence[OptionSpec]
    parse: Callable[..., Any] = lambda line, value: value
    panel: str = ""
    alternatives: bool = False


def choices_of(of_type: Any) -> tuple[Any, ...]:  # noqa: ANN401
    """List the values of a type that has nothing but named values."""
    if of_type is type(None):
        return (None,)
    if get_origin(of_type) is Literal:
        return get_args(of_type)
    choices = [choices_of(member) for member in get_args(of_type)]
    return sum(choices, ()) if all(choices) else ()


class _Choice(click.Choice):  # type: ignore[type-arg]  # no class of click 8.1 is generic
    """One of some words; an error says why other methods have more."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:  # noqa: ANN401
        try:
            return super().convert(value, param, ctx)
        except click.BadParameter as error:
            reason = methods_with(value) if param is not None and param.name == "missing" else ""
            raise click.BadParameter(error.message + reason, ctx, param) from None


def choice_parser(choices: Sequence[Any], default: Any) -> Parser:  # noqa: ANN401
    """Read one of the words, and `none` as None where that is not the default."""
    words = [choice for choice in choices if isinstance(choice, str)]
    if None in choices and default is not None:
        words.append("none")
    metavar, text = "|".join(words), "{description}"
    if len(metavar) > _MAX_CHOICES_LENGTH:
        metavar, text = "CHOICE", f"{{description}} Give {either(words)}."
    return Parser(
        [OptionSpec(_Choice(words), metavar, text)],
        lambda line, word: word if word in choices else None,
    )
