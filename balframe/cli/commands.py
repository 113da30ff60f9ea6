"""The program: its name, its version, and its commands in the order of its help."""

from typing import Annotated

import typer
from rich.markup import escape

from balframe import __version__
from balframe.accessor import Bal, groups
from balframe.cli.audit_command import audit_command
from balframe.cli.command_classes import Command, Program
from balframe.cli.of_verbs import command_of
from balframe.cli.without_files import demo, metrics
from balframe.verbs.contents import verbs

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


_OF_PAGES = {"audit": audit_command}

for group, names in groups(Bal).items():
    for name in names:
        command = _OF_PAGES[name]() if name in _OF_PAGES else command_of(verbs()[name])
        told = escape(command.__doc__ or "")
        panel = group.title()
        app.command(name.replace("_", "-"), cls=Command, help=told, rich_help_panel=panel)(command)
for without_files in (metrics, demo):
    app.command(cls=Command, rich_help_panel="Without files")(without_files)
