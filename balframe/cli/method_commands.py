"""Commands from verbs: each reads files, calls its verb, and shows the answer or the verdict."""

import sys
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any, NoReturn

import polars as pl
import typer

from balframe._progress import busy
from balframe._text import one_line
from balframe.api.columns import Statuses
from balframe.api.method import Method
from balframe.cli.files.open_files import Input
from balframe.cli.over_files import command_over_files, rows_and_values
from balframe.cli.run import Output, running
from balframe.cli.streams import OUTPUT
from balframe.errors import CheckFailed
from balframe.methods import declaration_of

_FAILS, _UNKNOWN = 1, 3
_ALLOWED = "allow_inconclusive"


def command_of(name: str) -> Callable[..., None]:
    """Make the command of a verb; Typer reads its signature and its docstring."""
    verb = declaration_of(name)
    parameters, output = verb.parameters, OUTPUT
    statuses = _statuses(verb if verb.layouts else declaration_of("check"))
    if not verb.layouts:
        run, output = partial(_require, verb), []
    elif statuses is None:
        run = partial(_show, verb)
    elif statuses.last_of is not None:
        run = partial(_alarm, statuses, verb)
    else:
        run = partial(_judge, statuses, verb)
        parameters = {**parameters, _ALLOWED: declaration_of("require").parameters[_ALLOWED]}
    return command_over_files(verb.function, run, parameters, output, _exit_codes(statuses))


def _statuses(verb: Method) -> Statuses | None:
    """Find the texts of the status that the answer of a verb has."""
    columns = [column for layout in verb.layouts.values() for column in layout]
    return next((column.statuses for column in columns if column.statuses is not None), None)


def _exit_codes(statuses: Statuses | None) -> str:
    """Say what the exit codes of a command mean that ends with a status."""
    if statuses is None:
        return ""
    good, bad, undecided = statuses.texts
    invalid = "2 if the usage or the input is invalid."
    if statuses.last_of is not None:
        return (
            f"Exit code: {_FAILS} if the status of any segment in the last {statuses.last_of} is "
            f"{bad}; 0 if that of all is {good} or {undecided}; {invalid}"
        )
    return (
        f"Exit code: 0 if every verdict is {good}; {_FAILS} if any is {bad}; {_UNKNOWN} if none is "
        f"{bad} but any is {undecided}, or if there are no rows to judge; {invalid}"
    )


def _asked(verb: Method, rows: pl.LazyFrame, typed: Mapping[str, Any]) -> Any:  # noqa: ANN401
    """Ask a verb about the rows of files."""
    rows, values = rows_and_values(verb.parameters, rows, typed)
    return verb.function(rows, **values)


def _written(typed: dict[str, Any]) -> dict[str, Any]:
    """Take the options of the output from those of the verb."""
    return {one.name: typed.pop(one.name) for one in OUTPUT}


def _show(verb: Method, asked: Input, typed: dict[str, Any]) -> None:
    with running(asked, Output(**_written(typed))) as (opened, show):
        show(_asked(verb, opened.rows, typed))


def _judge(declared: Statuses, verb: Method, asked: Input, typed: dict[str, Any]) -> None:
    """Show verdicts, and end with what they come to."""
    is_allowed = typed[_ALLOWED]
    output = Output(**_written(typed), of_rules=True, may_be_unknown=is_allowed)
    with running(asked, output) as (opened, show):
        statuses = show(_asked(verb, opened.rows, typed)).get_column("status")
    if not statuses.is_empty():
        print(_tally(statuses.to_list(), declared), file=sys.stderr)
    if "fail" in statuses:
        raise typer.Exit(_FAILS)
    if statuses.is_empty():
        from balframe.methods.gates.require import message

        _end(message([], [], 0, []), _UNKNOWN)
    if "inconclusive" in statuses and not is_allowed:
        raise typer.Exit(_UNKNOWN)


def _alarm(declared: Statuses, verb: Method, asked: Input, typed: dict[str, Any]) -> None:
    """Show a status for each period, and end with what those of the last one come to."""
    key = str(declared.last_of)
    with running(asked, Output(**_written(typed))) as (opened, show):
        answer = show(_asked(verb, opened.rows, typed))
    latest = str(answer.get_column(key).max())
    last = answer.filter(pl.col(key).cast(pl.String) == latest).get_column("status").to_list()
    every = answer.get_column("status").to_list()
    told = f"last {key} {latest}: {_tally(last, declared)}; all {key}s: {_tally(every, declared)}"
    print(told, file=sys.stderr)
    if declared.bad in last:
        raise typer.Exit(_FAILS)


def _tally(statuses: Sequence[str], declared: Statuses) -> str:
    """Count the verdicts: 2 pass, 1 fail, 4 inconclusive."""
    return ", ".join(f"{statuses.count(one)} {one}" for one in declared.texts)


def _require(verb: Method, asked: Input, typed: dict[str, Any]) -> None:
    """Say nothing where the verb gives back what it was given."""
    with running(asked, Output()) as (opened, _):
        try:
            with busy(opened.counting):
                _asked(verb, opened.rows, typed)
        except CheckFailed as failed:
            _end(str(failed), _FAILS if failed.n_failed else _UNKNOWN)


def _end(message: str, code: int) -> NoReturn:
    """Say on standard error why the verdict is what it is."""
    print("\n".join(map(one_line, f"balframe: {message}".split("\n"))), file=sys.stderr)
    raise typer.Exit(code)
