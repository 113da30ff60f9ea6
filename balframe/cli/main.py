"""The entry point of the command line."""

import os
import sys

from balframe import __version__


def main() -> None:
    """Run the command line; wrong usage is one line, and so is a missing extra."""
    for name in ("stdout", "stderr"):
        if getattr(sys, name) is None:  # closed by whoever started this
            setattr(sys, name, open(os.devnull, "w"))  # noqa: SIM115
    if sys.argv[1:] == ["--version"]:  # at once, without what commands need
        print(f"balframe {__version__}")
        return
    try:
        from typer.main import get_command

        from balframe.cli.commands import app
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] not in ("typer", "rich"):
            raise
        sys.exit("The command line needs an extra: python -m pip install 'balframe[cli]'")
    try:
        code = get_command(app)(prog_name="balframe", standalone_mode=False)
    except KeyboardInterrupt:
        code = 130
    except Exception as error:
        if not hasattr(error, "format_message"):  # of Click, or of Typer's own copy of it
            raise
        if message := error.format_message().replace("Value error, ", "").strip():
            end = "" if message.endswith((".", "?", "!")) else "."
            context = getattr(error, "ctx", None)
            command = context.command_path if context is not None else "balframe"
            print(f"balframe: {message}{end} See {command} --help.", file=sys.stderr)
        code = 2
    sys.exit(code)
