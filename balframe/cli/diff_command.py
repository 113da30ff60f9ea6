"""The commands that compare two files: the first is the old run, the second the new one."""

import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import click
import polars as pl

from balframe._text import escape_controls, escape_markdown
from balframe.api.columns import BETTER, NOT_DECIDED, PREDICTED_OF_MODELS, VERDICTS, WORSE
from balframe.api.method import Method
from balframe.cli.command import Command, CommandOption
from balframe.cli.exit_codes import ExitCode
from balframe.cli.file_commands import file_command, rows_and_arguments
from balframe.cli.files.open_files import Input
from balframe.cli.output import Output, Summary, output_options
from balframe.cli.run import one_line_errors, open_query
from balframe.errors import BalframeError, InvalidInputError, Message, UnknownNameError, listed
from balframe.frames.query import N
from balframe.methods import declaration
from balframe.methods.comparisons.baseline_input import cell_labels

_FAIL_ON_WORSE = "fail_on_worse"
_ONE_FILE = "With --baseline, which names the old run, there is one file, the new run."


def diff_command(panel: str) -> Command:
    """Make the command of two runs in segments."""
    fail_on_worse = CommandOption(
        "--fail-on-worse",
        panel="Output",
        help=f"End with exit code {ExitCode.FAIL} if any verdict is {WORSE}.",
        is_flag=True,
    )
    note = (
        "FILES are OLD and NEW: the rows or the cells of the old run, or a run of a Delta table, "
        f"as in runs@last, and the rows of the new one. {_ONE_FILE} Exit code: 0; with "
        f"--fail-on-worse, {ExitCode.FAIL} if any verdict is {WORSE}; {ExitCode.ERROR} if the "
        "usage or the input is invalid."
    )
    return _command("diff", Summary(tally, worst_first), [fail_on_worse], panel, note)


def diff_slices_command(panel: str) -> Command:
    """Make the command that searches slices of two runs."""
    note = f"FILES are OLD and NEW: the rows of the old and of the new run. {_ONE_FILE}"
    summary = Summary(
        lambda result: f"{result.height} slice{'' if result.height == 1 else 's'} listed",
        lambda result: result,
    )
    return _command("diff_slices", summary, [], panel, note)


def _command(
    name: str, summary: Summary, options: Sequence[CommandOption], panel: str, note: str
) -> Command:
    """Make a command whose baseline is the first file or the option."""
    method = declaration(name)
    baseline = replace(method.parameters["baseline"], default=None)
    return file_command(
        method.function,
        partial(_show, method, summary),
        {**method.parameters, "baseline": baseline},
        [*output_options(), *options],
        panel=panel,
        note=note,
    )


def _show(method: Method, summary: Summary, source: Input, values: dict[str, Any]) -> None:
    fails = values.pop(_FAIL_ON_WORSE, False)
    with one_line_errors():
        runs = _Runs.of(method, source, values)
    names = ("format", "out", "sort", "excel_safe", "detail")
    options = {name: values[name] for name in names}
    values = {name: value for name, value in values.items() if name not in names[:-1]}
    values |= {"baseline": runs.old, "detail": True}

    def line(result: pl.DataFrame) -> str:
        return f"{runs.title}: {summary.line(result)}"

    markdown = replace(summary, line=lambda result: escape_markdown(line(result)))
    output = Output(**options, summary=markdown)
    with open_query(runs.source, output) as (opened, write), runs.naming_files():
        runs.check_new(opened.rows.collect_schema(), values)
        rows, arguments = rows_and_arguments(method.parameters, opened.rows, values)
        runs = runs.in_columns(values["y_pred"], arguments["baseline"])
        result = write(method.function(rows, **arguments))
    print(escape_controls(line(result)), file=sys.stderr)
    if fails and WORSE in result.get_column("verdict").to_list():
        raise click.exceptions.Exit(ExitCode.FAIL)


@dataclass(frozen=True, slots=True)
class _Runs:
    """The input of the new run, and the names of both as results and messages have them.

    With `are_files`, the files are OLD and NEW. Otherwise, the option names the old run.
    """

    source: Input
    new: str
    old: str
    are_files: bool

    @classmethod
    def of(cls, method: Method, source: Input, values: dict[str, Any]) -> "_Runs":
        """Separate the options of the new run from those of the earlier one."""
        baseline, names = values["baseline"], source.names
        command = method.name.replace("_", "-")
        if baseline is None and len(names) == 2:
            old, new = names
            source = replace(source, names=[new], others=[*source.others, old])
            return cls(source, new, old, are_files=True)
        if baseline is None:
            raise InvalidInputError(
                f"{command} compares two files, OLD and NEW, but the files are: {listed(names)}. "
                "Give two, or name the old run with --baseline, such as a column of predictions of "
                "the same rows."
            )
        if len(names) > 1:
            raise InvalidInputError(
                f"{command} compares two runs, but --baseline {baseline!r} names the old one, and "
                f"the files are: {listed(names)}. Give two files, OLD and NEW, without --baseline, "
                "or one with it. For a new run in several files, give their folder, or a pattern "
                "in quotes."
            )
        return cls(source, names[0], baseline, are_files=False)

    @property
    def title(self) -> str:
        """Return which run is compared with which."""
        return f"{self.new} against {self.old}"

    def in_columns(self, y_pred: str | Sequence[str], baseline: object) -> "_Runs":
        """Return the runs with names of columns, if both are columns of the same rows."""
        if not isinstance(baseline, str):
            return self
        return replace(self, new=y_pred if isinstance(y_pred, str) else listed(y_pred))

    def check_new(self, schema: pl.Schema, values: dict[str, Any]) -> None:
        """Raise if the new one of two files has cells, as if the files were swapped."""
        y_true, y_pred = values["y_true"], values["y_pred"]
        labels = cell_labels(schema.names(), y_true, y_pred)
        predictions = y_pred if isinstance(y_pred, list) else [y_pred]
        forms = ([y_true, *predictions], [y_true, PREDICTED_OF_MODELS])
        are_cells = labels in forms and schema[N].is_numeric()
        if not (self.are_files and are_cells) or values.get("cells") or values.get("counts"):
            return
        advice = ", or --cells if it is the new run" if "cells" in values else ""
        raise InvalidInputError(
            f"{self.new!r}, the second file, has cells, with columns {labels[0]!r}, {labels[1]!r} "
            f"and {N!r} as balframe confusion writes them, but the second file is the new run, "
            f"which needs rows. Give the old run first, as in {self.new} {self.old}{advice}."
        )

    @contextmanager
    def naming_files(self) -> Iterator[None]:
        """Name the file of two that an error is about."""
        try:
            yield
        except BalframeError as error:
            if not self.are_files:
                raise
            message = error.message.with_text("baseline", self.old)
            if isinstance(error, UnknownNameError) and str(error).startswith("column "):
                message = Message("in {}: {}", self.new, message)
            raise type(error)(message) from error


def tally(result: pl.DataFrame) -> str:
    """Count the verdicts: 2 better, 1 worse, 5 not decided."""
    verdicts = result.get_column("verdict").to_list()
    always = (BETTER, WORSE, NOT_DECIDED)
    listed = [text for text in VERDICTS if text in always or text in verdicts]
    tallies = [f"{verdicts.count(text)} {text}" for text in listed]
    n_untested = verdicts.count(None)
    return ", ".join([*tallies, *([f"{n_untested} not tested"] if n_untested else [])])


def worst_first(result: pl.DataFrame) -> pl.DataFrame:
    """Sort rows by their verdict: worse, better, a change without a direction, not decided."""
    order: Sequence[str | None] = (WORSE, BETTER, "higher", "lower", NOT_DECIDED, None)
    rank = pl.Series(list(map(order.index, result.get_column("verdict"))), dtype=pl.Int64)
    return result[rank.arg_sort(nulls_last=True).to_list()] if result.height else result
