"""Running a query of files, showing its answer, and saying in one line what is wrong."""

import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import NoReturn

import polars as pl
import typer

from balframe._progress import busy
from balframe._text import one_line
from balframe.cli import output, standard_output
from balframe.cli.error_messages import in_one_line, one_line_warnings
from balframe.cli.files import open_files
from balframe.cli.files.open_files import Input, Opened
from balframe.cli.panics import without_panics
from balframe.errors import BalframeError, InvalidInputError


@dataclass(frozen=True, slots=True)
class Output:
    """How an answer is written: the options, and what is known of verdicts."""

    format: str | None = None
    out: Path | None = None
    sort: Sequence[str] | None = None
    of_rules: bool = False
    may_be_unknown: bool = False

    def checked(self) -> str:
        """Choose the format, and refuse what could not be written."""
        kind = output.format_of(self.format, self.out)
        output.check(kind, self.out, of_rules=self.of_rules)
        return kind


@contextmanager
def running(
    asked: Input, destination: Output
) -> Iterator[tuple[Opened, Callable[[pl.LazyFrame], pl.DataFrame]]]:
    """Open files, and give the means to run a query of them and show its answer."""

    def show(query: pl.LazyFrame) -> pl.DataFrame:
        output.sort_columns(destination.sort or [], query.collect_schema().names())
        with busy(opened.counting):
            answer = query.collect(engine="streaming")
        show_answer(answer, destination)
        return answer

    with opened_files(asked, destination.checked) as opened:
        yield opened, show


@contextmanager
def opened_files(asked: Input, check: Callable[[], object]) -> Iterator[Opened]:
    """Open files, if what is checked first holds, and say in one line what is wrong."""
    with one_line_errors(), one_line_warnings(), without_panics():
        check()
        with open_files.opened(asked) as opened:
            yield opened


def show_answer(answer: pl.DataFrame, destination: Output) -> None:
    """Sort an answer and write it."""
    kind, out = destination.checked(), destination.out
    with written_to(out):
        shown = output.in_order(answer, destination.sort or [])
        output.write(shown, kind, out, may_be_unknown=destination.may_be_unknown)


@contextmanager
def written_to(out: Path | None) -> Iterator[None]:
    """Say what cannot be written, or let a closed pipe be."""
    try:
        yield
    except BrokenPipeError:  # whoever reads has seen enough; what is said after it is lost too
        standard_output.drop()
    except OSError as error:
        if out is None:
            raise standard_output.lost(error) from error
        message = f"--out {str(out)!r} cannot be written: {error.strerror}."
        raise InvalidInputError(message) from error


@contextmanager
def one_line_errors() -> Iterator[None]:
    """Say in one line what is wrong with the input."""
    try:
        yield
    except BalframeError as error:
        _fail(in_one_line(error))
    except (OSError, ValueError) as error:
        _fail(str(error).partition("\n")[0])


def _fail(message: str) -> NoReturn:
    """End with a line on standard error."""
    print(f"balframe: {one_line(' '.join(message.split()))}", file=sys.stderr)
    raise typer.Exit(2)
