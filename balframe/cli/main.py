"""The entry point of the command line."""

import errno
import re
import sys
from typing import TYPE_CHECKING

from balframe import __version__
from balframe._text import capitalize_first, escape_controls
from balframe.cli import process
from balframe.cli.exit_codes import ExitCode

if TYPE_CHECKING:
    import click

_EXTRA = ("click", "rich", "shellingham")  # packages
_TRACEBACK = "BALFRAME_TRACEBACK"  # an environment variable
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
    """Run the command line; whatever goes wrong is one line, and no verdict."""
    try:
        code = _run_program()
        sys.stdout.flush()
    except SystemExit as error:
        if not isinstance(error.__context__, BrokenPipeError):
            raise
        process.discard_output()  # click would end with 1, as a failed rule does
        code = ExitCode.OK
    except GeneratorExit:
        raise
    except KeyboardInterrupt:
        code = ExitCode.INTERRUPTED
    except BrokenPipeError:
        process.discard_output()
        code = ExitCode.OK
    except BaseException as error:  # panics of polars are not ordinary exceptions
        if isinstance(error.__cause__, KeyboardInterrupt):  # as click raises it
            return ExitCode.INTERRUPTED
        _report_crash(error)
        code = ExitCode.ERROR
    return code


def _report_crash(error: BaseException) -> None:
    """Write in one line what nothing expected; the traceback comes before it on request."""
    from balframe._traceback import shows_all_frames

    if shows_all_frames():
        import traceback

        traceback.print_exception(error)
    message = escape_controls(" ".join(_crash_message(error).split()))
    print(f"balframe: {message}", file=sys.stderr)


def _crash_message(error: BaseException) -> str:
    """Return why there is no result, and what to do."""
    text = str(error)
    if isinstance(error, MemoryError) or getattr(error, "errno", None) == errno.ENOMEM:
        detail = f": {text.rstrip('.')}" if text else ""
        return f"not enough memory{detail}. Give fewer rows or columns, or use more memory."
    if isinstance(error, OSError):  # of help and the like; commands report their own
        return str(process.output_error(error))
    if isinstance(error, ModuleNotFoundError):
        package = (error.name or "").partition(".")[0]
        if package in _EXTRA:
            return "the command line needs an extra: python -m pip install 'balframe[cli]'"
        if package:
            return f"the package {package!r} is not installed: python -m pip install {package}"
    kind = f"{type(error).__name__}: {text}".rstrip(": ").rstrip(".")
    return (
        f"internal error: {kind}. This is a bug in balframe; {_TRACEBACK}=full shows where it is."
    )


def _run_program() -> int | None:
    if sys.argv[1:] == ["--version"]:  # at once, without what commands need
        print(f"balframe {__version__}")
        return 0
    process.check_address_space()
    from click import ClickException

    from balframe.cli.app import make_program

    try:
        code: int | None = make_program().main(prog_name="balframe", standalone_mode=False)
    except ClickException as error:
        context = getattr(error, "ctx", None)
        command = "balframe" if context is None else context.command_path
        message = escape_controls(f"{_usage_message(error)} See {command} --help.")
        print(f"balframe: {message}", file=sys.stderr)
        return ExitCode.ERROR
    return code


def _usage_message(error: "click.ClickException") -> str:
    """Return what is wrong with the usage, as a sentence."""
    from click import NoSuchOption

    if isinstance(error, NoSuchOption):
        return f"No such option: {error.option_name}.{_hint(error)}"
    message = error.format_message().strip()
    for pattern, plain in _PLAIN.items():
        message = re.sub(pattern, plain, message)
    return message if message.endswith((".", "?", "!")) else f"{message}."


def _hint(error: "click.NoSuchOption") -> str:
    """Return a sentence on what is probably meant by an unknown option, if that is known."""
    from balframe.api.unknown_options import meant_options, what_to_do_instead
    from balframe.cli.options import option_name
    from balframe.errors import nearest_names

    options = [] if error.ctx is None else error.ctx.command.params
    names = {name.lstrip("-") for option in options for name in option.opts}
    misspelled = error.option_name.lstrip("-")
    word = misspelled.replace("-", "_")
    meant, addition = meant_options(word, [name.replace("-", "_") for name in names])
    near = meant or nearest_names(misspelled, sorted(names))
    if near:
        listed = " or ".join(f"--{option_name(name)}" for name in near)
        return f" Did you mean {listed}?{addition}"
    instead = what_to_do_instead(word)
    return "" if instead is None else f" {capitalize_first(instead)}"
