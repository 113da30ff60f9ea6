"""The program: its name, its version, and its commands in the order of its help."""

from typing import Annotated

import typer
from rich.markup import escape

from balframe import __version__
from balframe.accessor import Bal, groups
from balframe.cli.of_verbs import command_of
from balframe.cli.without_files import demo, metrics
from balframe.verbs.contents import verbs

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


for group, names in groups(Bal).items():
    for name in names:
        command = command_of(verbs()[name])
        told = escape(command.__doc__ or "")
        app.command(name.replace("_", "-"), help=told, rich_help_panel=group.title())(command)
for without_files in (metrics, demo):
    app.command(rich_help_panel="Without files")(without_files)
