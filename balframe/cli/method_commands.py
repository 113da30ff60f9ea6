"""Commands of the methods: each reads files, and shows the result or the verdict."""

import sys
from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any, NoReturn

import click
import polars as pl

from balframe._progress import busy
from balframe._text import escape_controls
from balframe.api.columns import Statuses
from balframe.api.method import Method
from balframe.cli.command import Command, CommandOption
from balframe.cli.exit_codes import ExitCode
from balframe.cli.file_commands import file_command, rows_and_arguments
from balframe.cli.files.open_files import Input
from balframe.cli.output import Output, output_options
from balframe.cli.run import open_query
from balframe.errors import CheckFailed
from balframe.frames.query import N
from balframe.methods import declaration

_ALLOW_INCONCLUSIVE = "allow_inconclusive"
_OUTPUT = ("format", "out", "sort", "excel_safe")
_DETAIL, _LEVEL = "detail", "level"


def method_command(name: str, panel: str) -> Command:
    """Make the command of a method."""
    method = declaration(name)
    parameters = method.parameters
    output: Sequence[CommandOption] = output_options() if method.layouts else []
    statuses = _statuses(method if method.layouts else declaration("check"))
    if not method.layouts:
        run = partial(_require, method)
    elif statuses is None:
        run = partial(_show_result, method)
    else:
        show = _show_verdicts if statuses.last_key is None else _show_alarms
        run = partial(show, statuses, method)
        parameter = declaration("require").parameters[_ALLOW_INCONCLUSIVE]
        parameters = {**parameters, _ALLOW_INCONCLUSIVE: parameter}
    note = _exit_codes(statuses)
    return file_command(method.function, run, parameters, output, panel=panel, note=note)


def _statuses(method: Method) -> Statuses | None:
    """Find the texts of the status that the result of a method has."""
    columns = [column for layout in method.layouts.values() for column in layout]
    return next((column.statuses for column in columns if column.statuses is not None), None)


def _exit_codes(statuses: Statuses | None) -> str:
    """Describe the exit codes of a command that ends with a status."""
    if statuses is None:
        return ""
    good, bad, undecided = statuses.texts
    invalid = "2 if the usage or the input is invalid."
    if statuses.last_key is not None:
        return (
            f"Exit code: {ExitCode.FAIL} if the status of any segment in the last "
            f"{statuses.last_key} is {bad}; {ExitCode.INCONCLUSIVE} if none is {bad} but any has "
            f"no rows there and is {undecided}; otherwise 0; {invalid}"
        )
    return (
        f"Exit code: 0 if every verdict is {good}; {ExitCode.FAIL} if any is {bad}; "
        f"{ExitCode.INCONCLUSIVE} if none is {bad} but any is {undecided}, or if "
        f"there are no rows to judge; {invalid}"
    )


def _call(method: Method, rows: pl.LazyFrame, values: Mapping[str, Any]) -> Any:  # noqa: ANN401
    """Call a method with the rows of files."""
    rows, arguments = rows_and_arguments(method.parameters, rows, values)
    return method.function(rows, **arguments)


def _take_output(values: dict[str, Any], **options: Any) -> Output:  # noqa: ANN401
    """Take the options of the output from those of the method, which returns all its columns."""
    options |= {name: values.pop(name) for name in _OUTPUT}
    if _DETAIL in values:
        options[_DETAIL], values[_DETAIL] = values[_DETAIL], True
    if _LEVEL in values:
        options[_LEVEL] = values[_LEVEL]
    return Output(**options)


def _show_result(method: Method, source: Input, values: dict[str, Any]) -> None:
    with open_query(source, _take_output(values)) as (opened, write):
        write(_call(method, opened.rows, values))


def _show_verdicts(
    statuses: Statuses, method: Method, source: Input, values: dict[str, Any]
) -> None:
    """Show verdicts, and end with the exit code that follows from them."""
    allow_inconclusive = values[_ALLOW_INCONCLUSIVE]
    output = _take_output(values, has_rules=True, allow_inconclusive=allow_inconclusive)
    with open_query(source, output) as (opened, write):
        verdicts = write(_call(method, opened.rows, values)).get_column("status").to_list()
    if verdicts:
        print(_tally(verdicts, statuses), file=sys.stderr)
    if statuses.bad in verdicts:
        raise click.exceptions.Exit(ExitCode.FAIL)
    if not verdicts:
        from balframe.methods.gates.require import failure_message

        _exit(failure_message([], [], 0, []), ExitCode.INCONCLUSIVE)
    if statuses.undecided in verdicts and not allow_inconclusive:
        raise click.exceptions.Exit(ExitCode.INCONCLUSIVE)


def _show_alarms(statuses: Statuses, method: Method, source: Input, values: dict[str, Any]) -> None:
    """Show a status for each period, and end with the exit code of the last period."""
    allow_inconclusive = values.pop(_ALLOW_INCONCLUSIVE)
    key = str(statuses.last_key)
    with open_query(source, _take_output(values)) as (opened, write):
        result = write(_call(method, opened.rows, values))
    latest = str(result.get_column(key).max())
    is_latest = pl.col(key).cast(pl.String) == latest
    latest_rows = result.filter(is_latest)
    in_latest = latest_rows.get_column("status").to_list()
    of_silent = latest_rows.filter(pl.col(N) == 0).get_column("status").to_list()
    in_all = result.get_column("status").to_list()
    tallies = f"last {key} {latest}: {_tally(in_latest, statuses)}; "
    print(f"{tallies}all {key}s: {_tally(in_all, statuses)}", file=sys.stderr)
    if statuses.bad in in_latest:
        raise click.exceptions.Exit(ExitCode.FAIL)
    if statuses.undecided in of_silent and not allow_inconclusive:
        raise click.exceptions.Exit(ExitCode.INCONCLUSIVE)


def _tally(verdicts: Sequence[str], statuses: Statuses) -> str:
    """Count the verdicts: 2 pass, 1 fail, 4 inconclusive."""
    return ", ".join(f"{verdicts.count(text)} {text}" for text in statuses.texts)


def _require(method: Method, source: Input, values: dict[str, Any]) -> None:
    """Write nothing where the method returns its rows."""
    with open_query(source, Output()) as (opened, _):
        try:
            with busy(opened.progress_text):
                _call(method, opened.rows, values)
        except CheckFailed as failed:
            _exit(str(failed), ExitCode.FAIL if failed.n_failed else ExitCode.INCONCLUSIVE)


def _exit(message: str, code: int) -> NoReturn:
    """End with the reason of the verdict on standard error."""
    print("\n".join(map(escape_controls, f"balframe: {message}".split("\n"))), file=sys.stderr)
    raise click.exceptions.Exit(code)
