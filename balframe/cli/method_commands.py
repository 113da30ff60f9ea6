"""Commands of the methods: each reads files, and shows the result or the verdict."""

import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, NoReturn

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
from balframe.cli.output import Output, cells_option, output_options
from balframe.cli.run import open_query
from balframe.errors import CheckFailed
from balframe.methods import declaration

if TYPE_CHECKING:
    from balframe.cli.gate import Gate
import re
from dataclasses import replace
from difflib import get_close_matches
from pathlib import Path

from balframe.cli.baseline_files import is_file, is_stored_run
from balframe.core.strata import KEEP, is_correction
from balframe.errors import InvalidInputError, warn
from balframe.frames.history.run_table import is_table
from balframe.methods.gates.rules import RuleSet, read_rule_set

_ALLOW_INCONCLUSIVE = "allow_inconclusive"
_OUTPUT = ("format", "out", "also", "cells_out", "sort", "excel_safe")
_WITH_FIRST_RUN = ("check", "require")  # whose baseline may be missing
_DETAIL, _TIMESTAMP = "detail", "timestamp"


def method_command(name: str, panel: str) -> Command:
    """Make the command of a method."""
    method = declaration(name)
    parameters = method.parameters
    statuses = (method if method.layouts else declaration("check")).statuses
    output: Sequence[CommandOption] = (
        output_options(has_verdicts=statuses is not None) if method.layouts else []
    )
    if not method.layouts:
        run = partial(_require, method)
    elif statuses is None:
        run = partial(_show_result, method)
    else:
        run = partial(_show_verdicts, statuses, method)
        parameter = declaration("require").parameters[_ALLOW_INCONCLUSIVE]
        parameters = {**parameters, _ALLOW_INCONCLUSIVE: parameter}
    if name in _WITH_FIRST_RUN:
        output = [*output, *([cells_option()] if method.layouts else []), missing_baseline_option()]
    note = _exit_codes(statuses)
    return file_command(method.function, run, parameters, output, panel=panel, note=note)


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
        f"there are no rows to judge; {invalid} Rules that only warn do not count."
    )


@dataclass(frozen=True, slots=True)
class _Call:
    """A call of a method with the rows of files: its result, and what it was computed from.

    `arguments` are those that the options give, which may name a baseline that does not exist.
    """

    result: Any
    rows: pl.LazyFrame
    arguments: Mapping[str, Any]


def _call(method: Method, rows: pl.LazyFrame, values: Mapping[str, Any]) -> _Call:
    """Call a method with the rows of files."""
    missing = missing_baseline(rows, values)
    if missing is None:
        rows, arguments = rows_and_arguments(method.parameters, rows, values)
        return _Call(method.function(rows, **arguments), rows, arguments)
    rows, arguments = rows_and_arguments(method.parameters, rows, {**values, "baseline": None})
    result = method.function(rows, **without_baseline(rows, arguments, missing))
    return _Call(result, rows, {**arguments, "baseline": missing})


def _take_output(values: dict[str, Any], gate: "Gate | None" = None) -> Output:
    """Take the options of the output from those of the method, which returns all its columns."""
    options = {name: values.pop(name) for name in (*_OUTPUT, _TIMESTAMP) if name in values}
    if _DETAIL in values:
        options[_DETAIL], values[_DETAIL] = values[_DETAIL], True
    return Output(**options, gate=gate)


def _show_result(method: Method, source: Input, values: dict[str, Any]) -> None:
    with open_query(source, _take_output(values)) as (opened, write):
        result = write(_call(method, opened.rows, values).result)
    if values.get("missing") == "drop" and "n" in result and len(result) > 0 == result["n"].sum():
        _exit("--missing drop leaves no row to count, as none has all values.", ExitCode.ERROR)


def _show_verdicts(
    statuses: Statuses, method: Method, source: Input, values: dict[str, Any]
) -> None:
    """Show verdicts, and end with the exit code that follows from those that decide."""
    from balframe.cli.gate import Gate, Outcome

    gate = Gate(method.name, statuses, values.pop(_ALLOW_INCONCLUSIVE))
    with open_query(source, _take_output(values, gate)) as (opened, write):
        call = _call(method, opened.rows, values)

        def provenance(result: pl.DataFrame) -> dict[str, Any]:
            from balframe.cli.provenance import describe_verdicts

            return describe_verdicts(result, method, opened.files, call.arguments)

        result = write(call.result, provenance, lambda: count_cells(call.rows, call.arguments))
    if not result.is_empty():
        print(_tallies(result, gate), file=sys.stderr)
    outcomes = gate.outcomes(result)
    if Outcome.FAILED in outcomes:
        raise click.exceptions.Exit(ExitCode.FAIL)
    if not gate.has_judged_rows(result):
        from balframe.methods.gates.require import NO_VERDICT

        _exit(NO_VERDICT, ExitCode.INCONCLUSIVE)
    if Outcome.UNDECIDED in outcomes:
        raise click.exceptions.Exit(ExitCode.INCONCLUSIVE)


def _tallies(result: pl.DataFrame, gate: "Gate") -> str:
    """Count the verdicts, and those that decide."""
    key = gate.statuses.last_key
    warned, others = gate.split_warnings(result)
    in_all = _tally(others, gate.statuses)
    if not warned.is_empty():
        return f"{in_all}; rules that only warn: {_tally(warned, gate.statuses)}"
    if key is None:
        return in_all
    in_last = _tally(gate.deciding_rows(result), gate.statuses)
    return f"last {key} {gate.last_value(result)}: {in_last}; all {key}s: {in_all}"


def _tally(result: pl.DataFrame, statuses: Statuses) -> str:
    """Count the verdicts: 2 pass, 1 fail, 4 inconclusive."""
    verdicts = result.get_column("status").to_list()
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


_LIKE = 0.85  # similarity of words from which one is the other, misspelled
_NUMBER, _WORD = re.compile(r"\d+"), re.compile(r"[^\W\d_]+")
_BASELINE, _ALLOW = "baseline", "allow_missing_baseline"
_NOT_OF_CELLS = ("margins",)  # options of `confusion` that a baseline is without


def missing_baseline_option() -> CommandOption:
    """Make the option."""
    return CommandOption(
        "--allow-missing-baseline",
        panel="Rules",
        help="If the file of --baseline does not exist, as in the first run, judge its rules as "
        "warnings, which are inconclusive. Without this option, that is an error.",
        is_flag=True,
    )


def missing_baseline(rows: pl.LazyFrame, values: Mapping[str, Any]) -> str | None:
    """Return the name of a baseline that does not exist, if this is allowed.

    Raise if something else has almost its name, which is rather a misspelled name than a first run.
    """
    text: str | None = values.get(_BASELINE)
    if text is None or not values.get(_ALLOW):
        return None
    columns = rows.collect_schema().names()
    if text in columns or is_stored_run(text) or is_file(text):
        return None
    near = _near_name(text, columns)
    if near is not None:
        raise InvalidInputError(
            f"--baseline {text!r} does not exist; did you mean {near!r}? --allow-missing-baseline "
            "is for a first run, not for a misspelled name. Correct it, or give a name that is "
            "less like the other."
        )
    return text


def _near_name(text: str, columns: Sequence[str]) -> str | None:
    """Return the file, the run of a table or the column that has almost this name, if any."""
    table, mark, run = text.rpartition("@") if "@" in text else (text, "", "")
    path = Path(table)
    try:
        names = sorted(entry.name for entry in path.parent.iterdir())
    except OSError:  # a folder that does not exist yet
        names = []
    for name in names:
        if _is_misspelled(path.name, name) and (not mark or is_table(path.parent / name)):
            return f"{path.with_name(name)}{mark}{run}"
    return next((name for name in columns if _is_misspelled(text, name)), None)


def _is_misspelled(name: str, other: str) -> bool:
    """Return whether a name is rather the other one misspelled than a name of its own.

    Only words are compared. Names with other numbers, or with more words, are names of their own.
    """
    if _NUMBER.findall(name) != _NUMBER.findall(other):
        return False
    words, others = _WORD.findall(name.casefold()), _WORD.findall(other.casefold())
    if "".join(words) == "".join(others):
        return True
    pairs = zip(words, others, strict=False)
    return len(words) == len(others) and all(
        sorted(word) == sorted(similar) or get_close_matches(word, [similar], cutoff=_LIKE)
        for word, similar in pairs
    )


def without_baseline(rows: pl.LazyFrame, arguments: Mapping[str, Any], name: str) -> dict[str, Any]:
    """Return arguments with a baseline that has no cells, and whose rules only warn."""
    warn(
        f"--baseline {name!r} does not exist, so rules that compare with it only warn, and are "
        "inconclusive."
    )
    rule_set = read_rule_set(arguments["rules"])
    rules = [
        replace(rule, severity="warn") if rule.is_relative else rule for rule in rule_set.rules
    ]
    no_cells = count_cells(rows.head(0), {**arguments, _BASELINE: None})
    return {
        **arguments,
        "rules": RuleSet(rules, rule_set.expect, rule_set.absent_fails),
        _BASELINE: no_cells,
    }


def count_cells(rows: pl.LazyFrame, arguments: Mapping[str, Any]) -> pl.DataFrame:
    """Return the cells of the rows that a method judges with these arguments."""
    confusion = declaration("confusion")
    options = {
        name: value
        for name, value in arguments.items()
        if name in confusion.parameters and name not in _NOT_OF_CELLS
    }
    if is_correction(options["missing"]):  # which the cells will be read with
        options["missing"] = KEEP
    cells: pl.DataFrame = confusion.function(rows, **options).collect(engine="streaming")
    return cells
