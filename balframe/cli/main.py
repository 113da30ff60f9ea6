"""The entry point of the command line."""

import sys

from balframe import __version__
from balframe.cli import interrupts, standard_output


def main() -> None:
    """Run the command line: its exit code."""
    standard_output.open_closed()
    with standard_output.buffered():
        sys.exit(_run())


def _run() -> int | None:
    """Run it; wrong usage is one line, and so is a missing extra."""
    try:
        code = _command()
        sys.stdout.flush()
    except KeyboardInterrupt:
        code = 130
    except BrokenPipeError:
        standard_output.drop()
        code = 0
    except OSError as error:  # of help and the like; answers see to it themselves
        print(f"balframe: {standard_output.lost(error)}", file=sys.stderr)
        code = 2
    except Exception as error:
        if not hasattr(error, "format_message"):  # of Click, or of Typer's own copy of it
            raise
        if message := error.format_message().replace("Value error, ", "").strip():
            end = "" if message.endswith((".", "?", "!")) else "."
            context = getattr(error, "ctx", None)
            command = context.command_path if context is not None else "balframe"
            print(f"balframe: {message}{end} See {command} --help.", file=sys.stderr)
        code = 2
    return code


def _command() -> int | None:
    if sys.argv[1:] == ["--version"]:  # at once, without what commands need
        print(f"balframe {__version__}")
        return 0
    try:
        from typer.main import get_command

        from balframe.cli.commands import app
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] not in ("typer", "rich"):
            raise
        sys.exit("The command line needs an extra: python -m pip install 'balframe[cli]'")
    with interrupts.raised():
        code: int | None = get_command(app)(prog_name="balframe", standalone_mode=False)
    return code
