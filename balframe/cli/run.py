"""Running a query of files, and reporting in one line what is wrong."""

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import NoReturn

import click
import polars as pl

from balframe._progress import busy
from balframe._text import escape_controls
from balframe.cli.error_messages import one_line_message, one_line_warnings
from balframe.cli.exit_codes import ExitCode
from balframe.cli.files.open_files import (
    Input,
    OpenInput,
    check_not_overwritten,
    open_input,
)
from balframe.cli.files.read_errors import without_panic_output
from balframe.cli.output import Output, check_sort_columns
from balframe.errors import BalframeError

Write = Callable[[pl.LazyFrame], pl.DataFrame]


@contextmanager
def open_query(source: Input, output: Output) -> Iterator[tuple[OpenInput, Write]]:
    """Open files, and return the function that runs a query of them and writes its result."""

    def write(query: pl.LazyFrame) -> pl.DataFrame:
        check_sort_columns(output.sort or [], query.collect_schema().names())
        with busy(opened.progress_text):
            result = query.collect(engine="streaming")
        output.write(result)
        return result

    with open_checked(source, output.check) as opened:
        yield opened, write


@contextmanager
def open_checked(source: Input, check: Callable[[], object]) -> Iterator[OpenInput]:
    """Open files, if a check that comes first holds, and report in one line what is wrong."""
    with one_line_errors(), one_line_warnings(), without_panic_output():
        check()
        check_not_overwritten(source)
        with open_input(source) as opened:
            yield opened


@contextmanager
def one_line_errors() -> Iterator[None]:
    """Report in one line what is wrong with the input."""
    try:
        yield
    except BalframeError as error:
        _fail(one_line_message(error))
    except (OSError, ValueError) as error:
        _fail(str(error).partition("\n")[0])


def _fail(message: str) -> NoReturn:
    """End with a line on standard error."""
    print(f"balframe: {escape_controls(' '.join(message.split()))}", file=sys.stderr)
    raise click.exceptions.Exit(ExitCode.ERROR)
