"""The program: its name and its version."""

from typing import Annotated

import typer

from balframe import __version__

app = typer.Typer(
    name="balframe",
    help="How good is this classifier, for whom, and how sure are we? "
    "Every command reads files of predictions and shows a table: csv where its output is piped.",
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
        typer.Option("--version", callback=_show_version, is_eager=True, help="Show the version."),
    ] = False,
) -> None:
    pass
