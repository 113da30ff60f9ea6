"""The gate of a test: it judges rules, records the verdicts, and fails the test."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import count
from pathlib import Path
from typing import Any

import pytest

from balframe._traceback import short_traceback, shows_all_frames
from balframe._validate import check_choice
from balframe.api.checked_arguments import check_arguments
from balframe.api.method import Parameter
from balframe.api.unknown_options import unknown_option_message
from balframe.errors import OPTION, UnknownNameError, UnsupportedTypeError
from balframe.frames.convert_result import collect_result
from balframe.methods.gates.check import METHOD, check
from balframe.pytest_plugin.judgement import Judgement
from balframe.pytest_plugin.report_files import write_report

_NAME = "balframe_gate"
_FILES = (".csv", ".json", ".ndjson", ".parquet")  # that `--baseline` of the program reads
_ALLOW = "allow_inconclusive"
_MARKED = ", in the call or in @pytest.mark.balframe"


def gate_of_test(
    test: pytest.Item, folder: Path | None, add_record: Callable[[Mapping[str, Any]], None]
) -> Callable[..., Any]:
    """Return the function that a test calls, whose calls are numbered.

    Each call adds a record, with the names of the files that it wrote if there is a folder.
    """
    numbers = count(1)

    @short_traceback
    def balframe_gate(*arguments: Any, **options: Any) -> Any:  # noqa: ANN401 (as `check` has them)
        __tracebackhide__ = not shows_all_frames()
        values = call_values(arguments, options, test.iter_markers("balframe"))
        allow_inconclusive = values.pop(_ALLOW)
        frame = values.pop("frame")
        try:
            verdicts = collect_result(check(frame, **values))
        except UnknownNameError as error:
            baseline = values.get("baseline")
            if isinstance(baseline, str) and Path(baseline).suffix in _FILES:
                raise UnsupportedTypeError(
                    "{baseline} is not a column, and paths are not read; give a frame with the "
                    "cells of an earlier run, which polars.read_parquet({!r}) reads.",
                    baseline,
                    baseline=baseline,
                ) from error
            raise
        judgement = Judgement.of(
            test.nodeid, next(numbers), values, verdicts, allow_inconclusive=allow_inconclusive
        )
        files = {} if folder is None else write_report(judgement, frame, folder)
        add_record({**judgement.record(), **files})
        if not judgement.is_passed:
            pytest.fail(judgement.failure_text())
        return verdicts

    return balframe_gate


def call_values(
    arguments: Sequence[Any], options: Mapping[str, Any], marks: Iterable[pytest.Mark]
) -> dict[str, Any]:
    """Return the values of a call by their names, completed by marks, of which the first counts."""
    defaults = {"detail": True, _ALLOW: False} | _marked_values(marks)
    parameters: list[Parameter] = list(METHOD.parameters.values())
    positional = [parameter.name for parameter in parameters if parameter.is_positional]
    names = [each.name for each in parameters if not each.part_of] + [_ALLOW]
    for name in [*options, *defaults]:
        if name not in names:
            raise UnsupportedTypeError(unknown_option_message(name, names, {}, "bf.require"))
    by_position = dict(zip(positional, arguments, strict=False))
    by_mark = {name: value for name, value in defaults.items() if name not in by_position}
    check_arguments(_NAME, parameters, arguments, {**by_mark, **options}, _MARKED)
    values = {**by_mark, **options, **by_position}
    check_choice(_ALLOW, values[_ALLOW], (False, True))
    return values


def _marked_values(marks: Iterable[pytest.Mark]) -> dict[str, Any]:
    """Return the options of marks: those of a test come before those of its class and module."""
    values: dict[str, Any] = {}
    for mark in marks:
        if mark.args:
            raise UnsupportedTypeError(
                "@pytest.mark.balframe takes nothing by position; give its options by keyword, "
                "such as {rules}.",
                rules=OPTION,
            )
        values = {**mark.kwargs, **values}
    return values
