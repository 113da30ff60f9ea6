"""The entry point of the command line."""

import sys
from difflib import get_close_matches
from typing import Any

from balframe import __version__
from balframe.cli import garbage, standard_output

_PLAIN = {  # words of Typer, and better ones
    "requires an argument": "needs a value",
    "Input should be a valid integer, unable to parse string as an integer": "give a whole number",
    "Input should be a valid number, unable to parse string as a number": "give a number",
    "is not a valid integer": "is not a whole number",
    "is not a valid float": "is not a number",
}


def main() -> None:
    """Run the command line: its exit code."""
    standard_output.open_closed()
    with standard_output.buffered():
        try:
            sys.exit(_run())
        finally:
            garbage.resume()


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
        if message := _usage(error):
            context = getattr(error, "ctx", None)
            command = "balframe" if context is None else context.command_path
            print(f"balframe: {message} See {command} --help.", file=sys.stderr)
        code = 2
    return code


def _usage(error: Any) -> str:  # noqa: ANN401 (of Click, or of Typer's own copy of it)
    """Say what is wrong with the usage, in a sentence."""
    if near := getattr(error, "possibilities", None):  # of the option that does not exist
        words = {one.lstrip("-"): one for one in near}
        nearest = get_close_matches(error.option_name.lstrip("-"), words, n=1, cutoff=0.7)
        meant = f" Did you mean {words[nearest[0]]}?" if nearest else ""
        return f"{error.message}.{meant}"
    message: str = error.format_message().replace("Value error, ", "").strip()
    for text, plain in _PLAIN.items():
        message = message.replace(text, plain)
    return message if message.endswith((".", "?", "!")) or not message else f"{message}."


def _command() -> int | None:
    if sys.argv[1:] == ["--version"]:  # at once, without what commands need
        print(f"balframe {__version__}")
        return 0
    try:
        from typer.main import get_command

        from balframe.cli.program_options import app
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] not in ("typer", "rich"):
            raise
        sys.exit("The command line needs an extra: python -m pip install 'balframe[cli]'")
    code: int | None = get_command(app)(prog_name="balframe", standalone_mode=False)
    return code
