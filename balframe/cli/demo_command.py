"""The command `demo`, which reads no files."""

import shlex
from pathlib import Path
from typing import Annotated

import polars as pl
import typer

from balframe.cli import output
from balframe.cli.run import Output, one_line_errors, show_answer
from balframe.cli.streams import Format, Out, Sort
from balframe.data import datasets
from balframe.errors import InvalidInputError, listed
from balframe.methods.scores.report import report

_TITLE = 'COMPAS two-year recidivism, "high risk" = medium or high score (ProPublica 2016)\n'
_FILE = Path("compas.csv")
_KINDS = ("csv", "ndjson", "parquet")  # that commands read
_COLUMNS = "--y-true reoffended --y-pred high_risk --by race --counts n"
_NEXT = (  # to type after the demo, with a file in the place of {0}
    f"balframe report {{0}} {_COLUMNS} --interval",
    f"balframe gaps {{0}} {_COLUMNS} --metric false_positive_rate",
    f"balframe check {{0}} {_COLUMNS} --rule 'balanced_accuracy >= 0.6'",
    f"balframe audit {{0}} {_COLUMNS} --title COMPAS --unit person,people --out audit.html",
)

Data = Annotated[
    Path | None,
    typer.Option(
        help="Also write the demo data to this file (.csv, .ndjson or .parquet), to use with other "
        "commands.",
        rich_help_panel="Output",
        metavar="FILE",
    ),
]


def demo_command(
    data: Data = None, format: Format = None, out: Out = None, sort: Sort = None
) -> None:
    """Score published data: the COMPAS recidivism scores, by race."""
    with one_line_errors():
        destination = Output(format, out, sort)
        is_read_by_people = destination.checked() == "table" and out is None
        table = datasets.compas()
        if data is not None:
            _write(table, data)
        if is_read_by_people:
            print(_TITLE)
        answer = report(
            table,
            "reoffended",
            "high_risk",
            by="race",
            counts="n",
            metrics=["accuracy", "balanced_accuracy", "false_positive_rate", "false_negative_rate"],
            margins="overall",
            interval=True,
        )
        show_answer(answer, destination)
        if is_read_by_people:
            print(_what_next(data))


def _write(table: pl.DataFrame, data: Path) -> None:
    """Write the data to a file that commands can read."""
    kind = data.suffix.lower().removeprefix(".")
    if kind not in _KINDS:
        raise InvalidInputError(
            f"--data {str(data)!r} does not have a supported file extension; use one of: "
            f"{listed(_KINDS)}."
        )
    output.check(kind, data, of_rules=False, option="--data")
    try:
        output.write(table, kind, data, may_be_unknown=False)
    except OSError as error:
        raise InvalidInputError(
            f"--data {str(data)!r} cannot be written: {error.strerror}."
        ) from error


def _what_next(data: Path | None) -> str:
    """List commands to type next, on the file of the data."""
    first = [] if data is not None else [f"balframe demo --data {_FILE}"]
    path = shlex.quote(str(data or _FILE))
    return "\n  ".join(["\nTry next:", *first, *(one.format(path) for one in _NEXT)])
