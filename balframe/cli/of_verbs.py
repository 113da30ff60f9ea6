"""Commands from verbs: each reads files, calls its verb, and shows the answer or the verdict."""

import sys
from collections.abc import Callable, Mapping, Sequence
from inspect import Parameter as Signed
from inspect import Signature, getdoc
from typing import Any, NoReturn

import polars as pl
import typer

from balframe.cli.named_columns import named_columns
from balframe.cli.parameters import Typed
from balframe.cli.predictions import THRESHOLD, predicted
from balframe.cli.reading.inputs import Input
from balframe.cli.readings import Given
from balframe.cli.running import Output, running
from balframe.cli.streams import INPUT, OUTPUT, Files, input_of
from balframe.cli.text_tables import one_line
from balframe.errors import CheckFailed
from balframe.gates.messages import message
from balframe.gates.verdicts import STATUS
from balframe.progress import busy
from balframe.verbs.columns import Role
from balframe.verbs.contents import verbs
from balframe.verbs.declaration import Parameter, Verb

_FAILS, _UNKNOWN = 1, 3
_EXIT_CODES = (
    f"Exit code: 0 if every verdict is pass; {_FAILS} if any is fail; {_UNKNOWN} if none is fail "
    "but any is inconclusive, or if there are no rows to judge; 2 if the usage or the input is "
    "invalid."
)
_ALLOWED = "allow_inconclusive"

Run = Callable[[Verb, Input, dict[str, Any]], None]


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
        run(verb, input_of(files, typed, named_columns(parameters, typed)), typed)

    files = Signed("files", Signed.POSITIONAL_OR_KEYWORD, annotation=Files)
    options = [one for typed in Typed.all_of(parameters) for one in typed.options(parameters)]
    threshold = [THRESHOLD] if "y_pred" in parameters else []
    signature = Signature([files, *options, *threshold, *INPUT, *output])
    command.__signature__ = signature  # type: ignore[attr-defined]
    summary, *_ = (getdoc(verb.function) or "").split("\n\n")
    command.__doc__ = f"{summary}\n\n{note}".rstrip()
    return command


def _asked(verb: Verb, rows: pl.LazyFrame, typed: Mapping[str, Any]) -> Any:  # noqa: ANN401
    """Ask a verb about the rows of files."""
    if typed.get(THRESHOLD.name) is not None:
        columns = named_columns(verb.parameters, typed)
        rows = predicted(rows, typed[THRESHOLD.name], typed, columns)
    given = Given(typed, rows)
    values = {one.parameter.name: one.value(given) for one in Typed.all_of(verb.parameters)}
    return verb.function(rows, **values)


def _written(typed: dict[str, Any]) -> dict[str, Any]:
    """Take the options of the output from those of the verb."""
    return {one.name: typed.pop(one.name) for one in OUTPUT}


def _show(verb: Verb, asked: Input, typed: dict[str, Any]) -> None:
    with running(asked, Output(**_written(typed))) as (opened, show):
        show(_asked(verb, opened.rows, typed))


def _judge(verb: Verb, asked: Input, typed: dict[str, Any]) -> None:
    """Show verdicts, and end with what they come to."""
    is_allowed = typed[_ALLOWED]
    output = Output(**_written(typed), of_rules=True, may_be_unknown=is_allowed)
    with running(asked, output) as (opened, show):
        statuses = show(_asked(verb, opened.rows, typed)).get_column("status")
    if not statuses.is_empty():
        print(_tally(statuses.to_list()), file=sys.stderr)
    if "fail" in statuses:
        raise typer.Exit(_FAILS)
    if statuses.is_empty():
        _end(message([], [], 0, []), _UNKNOWN)
    if "inconclusive" in statuses and not is_allowed:
        raise typer.Exit(_UNKNOWN)


def _tally(statuses: Sequence[str]) -> str:
    """Count the verdicts: 2 pass, 1 fail, 4 inconclusive."""
    return ", ".join(f"{statuses.count(one)} {one}" for one in STATUS)


def _require(verb: Verb, asked: Input, typed: dict[str, Any]) -> None:
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
