"""The entry point of the command line."""

import re
import sys
from typing import TYPE_CHECKING

from balframe import __version__
from balframe.cli import process

if TYPE_CHECKING:
    import click

_EXTRA = ("click", "rich", "shellingham")  # packages
_PLAIN = {  # patterns of click's words, and plainer ones
    r"requires an argument": "needs a value",
    r"extra arguments? \(": "extra argument(s) (",
}


def main() -> None:
    """Run the command line, and exit with its code."""
    process.prepare()
    process.open_closed_streams()
    with process.buffered_output():
        try:
            sys.exit(_exit_code())
        finally:
            process.resume_collection()


def _exit_code() -> int | None:
    """Run the command line; wrong usage is one line, and so is a missing extra."""
    try:
        code = _run_program()
        sys.stdout.flush()
    except KeyboardInterrupt:
        code = 130
    except BrokenPipeError:
        process.discard_output()
        code = 0
    except OSError as error:  # of help and the like; commands report their own
        print(f"balframe: {process.output_error(error)}", file=sys.stderr)
        code = 2
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] not in _EXTRA:
            raise
        sys.exit("The command line needs an extra: python -m pip install 'balframe[cli]'")
    return code


def _run_program() -> int | None:
    if sys.argv[1:] == ["--version"]:  # at once, without what commands need
        print(f"balframe {__version__}")
        return 0
    from click import ClickException

    from balframe.cli.app import make_program

    try:
        code: int | None = make_program().main(prog_name="balframe", standalone_mode=False)
    except ClickException as error:
        context = getattr(error, "ctx", None)
        command = "balframe" if context is None else context.command_path
        print(f"balframe: {_usage_message(error)} See {command} --help.", file=sys.stderr)
        return 2
    return code


def _usage_message(error: "click.ClickException") -> str:
    """Return what is wrong with the usage, as a sentence."""
    from click import NoSuchOption

    if isinstance(error, NoSuchOption):
        from difflib import get_close_matches

        message = f"No such option: {error.option_name}."
        names = {name.lstrip("-"): name for name in error.possibilities or ()}
        near = get_close_matches(error.option_name.lstrip("-"), names, n=1, cutoff=0.7)
        return f"{message} Did you mean {names[near[0]]}?" if near else message
    message = error.format_message().strip()
    for pattern, plain in _PLAIN.items():
        message = re.sub(pattern, plain, message)
    return message if message.endswith((".", "?", "!")) else f"{message}."
