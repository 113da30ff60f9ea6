"""The program: its name, its version, and its commands in the order of its help."""

from typing import Annotated

import typer

from balframe import __version__
from balframe.cli.app import Program

app = typer.Typer(
    name="balframe",
    cls=Program,
    help="How good is this classifier, for whom, and how sure are we? "
    "Each command reads files of predictions and writes a table: formatted on a terminal, CSV "
    "otherwise.",
    epilog="Start with: balframe demo",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
)


def _show_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"balframe {__version__}")
        raise typer.Exit


@app.callback()
def _options(
    version: Annotated[
        bool,
        typer.Option(
            "--version", callback=_show_version, is_eager=True, help="Show the version and exit."
        ),
    ] = False,
) -> None:
    pass
