"""Running a query of files, showing its answer, and saying in one line what is wrong."""

import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import NoReturn

import polars as pl
import typer
from rich.console import Console
from rich.progress import Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

from balframe.cli import inputs, outputs, standard_output
from balframe.cli.panics import without_panics
from balframe.cli.parameters import option_name
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
        kind = outputs.format_of(self.format, self.out)
        outputs.check(kind, self.out, of_rules=self.of_rules)
        return kind


@contextmanager
def running(
    files: Sequence[str], output: Output
) -> Iterator[tuple[pl.LazyFrame, Callable[[pl.LazyFrame], pl.DataFrame]]]:
    """Open files, and give the means to run a query of them and show its answer."""

    def show(query: pl.LazyFrame) -> pl.DataFrame:
        outputs.sort_columns(output.sort or [], query.collect_schema().names())
        with busy():
            answer = query.collect(engine="streaming")
        show_answer(answer, output)
        return answer

    with one_line_errors(), without_panics():
        output.checked()
        try:
            with inputs.opened(files) as rows:
                yield rows, show
        except inputs.UNREADABLE as error:
            raise inputs.unreadable(files, error) from error
        except InvalidInputError as error:
            if not isinstance(error.__cause__, inputs.OF_POLARS):
                raise
            raise inputs.unreadable(files, error.__cause__) from error


def show_answer(answer: pl.DataFrame, output: Output) -> None:
    """Sort an answer and write it, or let a closed pipe be."""
    kind, out = output.checked(), output.out
    try:
        shown = outputs.in_order(answer, output.sort or [])
        outputs.write(shown, kind, out, may_be_unknown=output.may_be_unknown)
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
        _fail(error.written(_typed).partition("\n")[0])
    except (OSError, ValueError) as error:
        _fail(str(error).partition("\n")[0])


def _typed(name: str, value: str | None) -> str:
    """Name a parameter as it is typed: --pos-label for pos_label=, --cells for cells=True."""
    option = f"--{option_name(name)}"
    return option if value in (None, "True") else f"{option} {value}"


def _fail(message: str) -> NoReturn:
    """End with a line on standard error."""
    print(f"balframe: {' '.join(message.split())}", file=sys.stderr)
    raise typer.Exit(2)


@contextmanager
def busy() -> Iterator[None]:
    """Show on a terminal that work goes on, once it takes a while."""
    console = Console(stderr=True)
    if not console.is_terminal:
        yield
        return
    columns = SpinnerColumn(), TextColumn("counting"), TimeElapsedColumn()
    progress = Progress(*columns, console=console, transient=True)
    progress.add_task("")
    begin = threading.Timer(0.5, progress.start)
    begin.start()
    try:
        yield
    finally:
        begin.cancel()
        begin.join()
        progress.stop()
