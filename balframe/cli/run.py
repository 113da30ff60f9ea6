"""Running a query of files, and reporting in one line what is wrong."""

import ast
import re
import sys
import warnings
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING, Any, NoReturn

import click
import polars as pl

from balframe._lazy_import import LazyModule
from balframe._progress import busy
from balframe._text import escape_controls
from balframe.cli.exit_codes import ExitCode
from balframe.cli.files.open_files import Input, OpenInput, check_not_overwritten, open_input
from balframe.cli.files.read_errors import without_panic_output
from balframe.cli.options import option_name
from balframe.cli.output import Output, Provenance, check_sort_columns
from balframe.errors import BalframeError, BalframeWarning

# Errors and warnings in the words of the command line, each in one line on standard error.


def write_parameter(name: str, value: str | None) -> str:
    """Write a parameter as it is typed: --pos-label for pos_label=, --cells for cells=True."""
    option = f"--{option_name(name)}"
    if value is None:
        return option
    try:
        literal = ast.literal_eval(value)
    except (ValueError, SyntaxError):  # no Python literal, but text to type
        return f"{option} {value}"
    if literal is True:
        return option
    if literal is None:
        return f"{option} none"
    if isinstance(literal, dict):
        literal = [f"{label}={weight}" for label, weight in literal.items()]
    if not isinstance(literal, (list, tuple)):
        return f"{option} {value}"
    if name == "thresholds":
        return f"{option} {','.join(map(str, literal))}"
    return " ".join(f"{option} {item!r}" for item in literal)


def one_line_message(message: BalframeError | BalframeWarning) -> str:
    """Return a message as the line that follows the name of the program."""
    return " ".join(message.written(write_parameter).partition("\n")[0].split())


@contextmanager
def one_line_warnings() -> Iterator[None]:
    """Write each warning of balframe in one line, and once."""
    lines: set[str] = set()

    def write(message: Warning | str, *place: Any, **options: Any) -> None:  # noqa: ANN401
        if not isinstance(message, BalframeWarning):
            original(message, *place, **options)
        elif (line := one_line_message(message)) not in lines:
            lines.add(line)
            print(f"balframe: warning: {escape_controls(line)}", file=sys.stderr)

    with warnings.catch_warnings():
        original = warnings.showwarning
        warnings.simplefilter("always", BalframeWarning)
        warnings.showwarning = write
        yield


if TYPE_CHECKING:
    from balframe.cli import gate_formats
else:
    gate_formats = LazyModule("balframe.cli.gate_formats")

Write = Callable[..., pl.DataFrame]


@contextmanager
def open_query(source: Input, output: Output) -> Iterator[tuple[OpenInput, Write]]:
    """Open files, and return the function that runs a query of them and writes its result.

    Of verdicts, it also takes what describes where they come from, and what counts their cells.
    """

    def check() -> None:
        output.check()
        for option, place in output.places():
            check_not_overwritten(source, place, option)

    def write(
        query: pl.LazyFrame,
        provenance: Provenance | None = None,
        cells: Callable[[], pl.DataFrame] | None = None,
    ) -> pl.DataFrame:
        check_sort_columns(output.sort or [], query.collect_schema().names())
        with busy(opened.progress_text):
            result = query.collect(engine="streaming")
        replace(output, provenance=provenance, cells=cells).write(result)
        return result

    gate = output.gate
    title = f"balframe {gate.command}" if gate is not None and output.format == "github" else None
    with open_checked(source, check, title) as opened:
        yield opened, write


@contextmanager
def open_checked(
    source: Input, check: Callable[[], object], annotation_title: str | None = None
) -> Iterator[OpenInput]:
    """Open files, if a check that comes first holds, and report in one line what is wrong.

    With a title, an annotation of a workflow says it too.
    """
    with one_line_errors(annotation_title), one_line_warnings(), without_panic_output():
        check()
        check_not_overwritten(source, source.out)
        with open_input(source) as opened:
            yield opened


@contextmanager
def one_line_errors(annotation_title: str | None = None) -> Iterator[None]:
    """Report in one line what is wrong with the input, and in an annotation if it has a title."""
    try:
        yield
    except BalframeError as error:
        _fail(with_origin(one_line_message(error)), annotation_title)
    except (OSError, ValueError) as error:
        _fail(str(error).partition("\n")[0], annotation_title)


def _fail(message: str, annotation_title: str | None) -> NoReturn:
    """End with a line on standard error."""
    line = escape_controls(" ".join(message.split()))
    print(f"balframe: {line}", file=sys.stderr)
    if annotation_title is not None:
        print(gate_formats.annotation("error", annotation_title, line))
    raise click.exceptions.Exit(ExitCode.ERROR)


_PLACES = "balframe.places"  # key of a context, under which the places of values are
_FIRST_OPTION = re.compile(r"--([a-z][a-z-]*)\b")


def keep_places(ctx: click.Context, places: Mapping[str, str]) -> None:
    """Keep the places of the values of a configuration, by the names of options."""
    ctx.meta[_PLACES] = places


def with_origin(message: str) -> str:
    """Return a message with the place of the value of the option with which it begins, if any."""
    ctx, match = click.get_current_context(silent=True), _FIRST_OPTION.match(message)
    if ctx is None or match is None:
        return message
    place = ctx.meta.get(_PLACES, {}).get(match[1].replace("-", "_"))
    return message if place is None else f"{message} The value of {match[0]} is that of {place}."
