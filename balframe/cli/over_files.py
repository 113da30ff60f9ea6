"""Commands over files: the options that Typer reads, and the values that they give parameters."""

from collections.abc import Callable, Mapping, Sequence
from inspect import Parameter as Signed
from inspect import Signature, getdoc
from typing import Any

import polars as pl

from balframe.api.method import Parameter
from balframe.cli.days_in_text import with_days
from balframe.cli.files.open_files import Input
from balframe.cli.named_columns import named_columns
from balframe.cli.options import Typed
from balframe.cli.readings import Given
from balframe.cli.streams import INPUT, Files, input_of
from balframe.cli.threshold_option import THRESHOLD, predicted

Run = Callable[[Input, dict[str, Any]], None]


def command_over_files(
    function: Callable[..., Any],
    run: Run,
    parameters: Mapping[str, Parameter],
    output: Sequence[Signed],
    note: str = "",
) -> Callable[..., None]:
    """Make the command of a function; Typer reads its signature and its docstring."""

    def command(files: list[str], **typed: Any) -> None:  # noqa: ANN401 (as each option is read)
        run(input_of(files, typed, named_columns(parameters, typed)), typed)

    files = Signed("files", Signed.POSITIONAL_OR_KEYWORD, annotation=Files)
    signature = Signature([files, *options_over_files(parameters), *INPUT, *output])
    command.__signature__ = signature  # type: ignore[attr-defined]
    summary, *_ = (getdoc(function) or "").split("\n\n")
    command.__doc__ = f"{summary}\n\n{note}".rstrip()
    return command


def options_over_files(parameters: Mapping[str, Parameter]) -> list[Signed]:
    """List the options of parameters, and that which makes predictions of scores."""
    options = [one for typed in Typed.all_of(parameters) for one in typed.options(parameters)]
    return [*options, *([THRESHOLD] if "y_pred" in parameters else [])]


def rows_and_values(
    parameters: Mapping[str, Parameter], rows: pl.LazyFrame, typed: Mapping[str, Any]
) -> tuple[pl.LazyFrame, dict[str, Any]]:
    """Give parameters their values, and rows their predictions."""
    if typed.get(THRESHOLD.name) is not None:
        columns = named_columns(parameters, typed)
        rows = predicted(rows, typed[THRESHOLD.name], typed, columns)
    given = Given(typed, with_days(rows, typed.get("time")))
    return given.rows, {one.parameter.name: one.value(given) for one in Typed.all_of(parameters)}
