"""Commands from verbs: each reads files, calls its verb, and shows the answer or the verdict."""

import sys
from collections.abc import Callable, Mapping
from inspect import Parameter as Signed
from inspect import Signature, getdoc
from typing import Any, NoReturn

import polars as pl
import typer

from balframe.cli.parameters import Given, Typed
from balframe.cli.running import Output, busy, running
from balframe.cli.streams import OUTPUT, Files
from balframe.cli.text_tables import one_line
from balframe.errors import CheckFailed
from balframe.gates.messages import message
from balframe.verbs.columns import Role
from balframe.verbs.contents import verbs
from balframe.verbs.declaration import Parameter, Verb

_FAILS, _UNKNOWN = 1, 3
_EXIT_CODES = (
    f"Exit code 0: all pass; {_FAILS}: one fails; {_UNKNOWN}: one is inconclusive, or there is no "
    "row to judge."
)
_ALLOWED = "allow_inconclusive"

Run = Callable[[Verb, list[str], dict[str, Any]], None]


def command_of(verb: Verb) -> Callable[..., None]:
    """Make the command of a verb; Typer reads its signature and its docstring."""
    columns = [column for layout in verb.layouts.values() for column in layout]
    if not columns:
        return _command(verb, _require, verb.parameters, [], _EXIT_CODES)
    if any(column.role is Role.STATUS for column in columns):
        allowed = verbs()["require"].parameters[_ALLOWED]
        parameters = {**verb.parameters, _ALLOWED: allowed}
        return _command(verb, _judge, parameters, OUTPUT, _EXIT_CODES)
    return _command(verb, _show, verb.parameters, OUTPUT)


def _command(
    verb: Verb, run: Run, parameters: Mapping[str, Parameter], output: list[Signed], note: str = ""
) -> Callable[..., None]:
    def command(files: list[str], **typed: Any) -> None:  # noqa: ANN401 (as each option is read)
        run(verb, files, typed)

    files = Signed("files", Signed.POSITIONAL_OR_KEYWORD, annotation=Files)
    options = [one for typed in Typed.all_of(parameters) for one in typed.options(parameters)]
    signature = Signature([files, *options, *output])
    command.__signature__ = signature  # type: ignore[attr-defined]
    summary, *_ = (getdoc(verb.function) or "").split("\n\n")
    command.__doc__ = f"{summary}\n\n{note}".rstrip()
    return command


def _asked(verb: Verb, rows: pl.LazyFrame, typed: Mapping[str, Any]) -> Any:  # noqa: ANN401
    """Ask a verb about the rows of files."""
    given = Given(typed, rows)
    values = {one.parameter.name: one.value(given) for one in Typed.all_of(verb.parameters)}
    return verb.function(rows, **values)


def _written(typed: dict[str, Any]) -> dict[str, Any]:
    """Take the options of the output from those of the verb."""
    return {one.name: typed.pop(one.name) for one in OUTPUT}


def _show(verb: Verb, files: list[str], typed: dict[str, Any]) -> None:
    with running(files, Output(**_written(typed))) as (rows, show):
        show(_asked(verb, rows, typed))


def _judge(verb: Verb, files: list[str], typed: dict[str, Any]) -> None:
    """Show verdicts, and end with what they come to."""
    is_allowed = typed[_ALLOWED]
    output = Output(**_written(typed), of_rules=True, may_be_unknown=is_allowed)
    with running(files, output) as (rows, show):
        statuses = show(_asked(verb, rows, typed)).get_column("status")
    if "fail" in statuses:
        raise typer.Exit(_FAILS)
    if statuses.is_empty():
        _end(message([], [], 0, []), _UNKNOWN)
    if "inconclusive" in statuses and not is_allowed:
        raise typer.Exit(_UNKNOWN)


def _require(verb: Verb, files: list[str], typed: dict[str, Any]) -> None:
    """Say nothing where the verb gives back what it was given."""
    with running(files, Output()) as (rows, _):
        try:
            with busy():
                _asked(verb, rows, typed)
        except CheckFailed as failed:
            _end(str(failed), _FAILS if failed.n_failed else _UNKNOWN)


def _end(message: str, code: int) -> NoReturn:
    """Say on standard error why the verdict is what it is."""
    print("\n".join(map(one_line, f"balframe: {message}".split("\n"))), file=sys.stderr)
    raise typer.Exit(code)
