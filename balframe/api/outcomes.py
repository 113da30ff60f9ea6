"""Calls with `outcome` in place of a truth and predictions."""

from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any

from balframe.api.columns import PREDICTED_OF_MODELS
from balframe.core.label_set import Label
from balframe.core.strata import concerns_unlabelled
from balframe.errors import NAME, OPTION, BalframeError, InvalidInputError, Message, parameter
from balframe.frames.adapter import Name
from balframe.frames.engines.inputs import InputFrame, read_streams, unwrap
from balframe.frames.engines.registry import is_frame
from balframe.frames.outcomes import (
    add_expected,
    expect_outcome,
    expect_outcome_of_cells,
    without_truth,
)
from balframe.frames.query import ExpectedOutcome, N, name_list
from balframe.metrics.registry import PRESETS

OUTCOME, METRICS, RATE = "outcome", "metrics", "rate"
_REPLACED = ("y_true", "y_pred", "y_score")


def replaced_by_outcome(names: Collection[str], own: Collection[str]) -> tuple[str, ...]:
    """Return which of these parameters a call needs, unless it gives an outcome.

    Scores may take the place of predictions too, but not where a function has `outcome` among its
    `own` parameters.
    """
    if OUTCOME not in names or "y_true" not in names:
        return ()
    has_scores_instead = "y_score" in names and OUTCOME not in own
    return ("y_true",) if has_scores_instead else ("y_true", "y_pred")


def or_outcome() -> Message:
    """Return the end of a sentence about missing parameters."""
    return Message(", or {}", parameter(OUTCOME, NAME))


def call_with_outcome(
    function: Callable[..., Any], defaults: Mapping[str, Any], arguments: Mapping[str, Any]
) -> Any:  # noqa: ANN401 (as the function's own)
    """Call a method with the column of expected outcomes as its truth.

    `defaults` are those of its parameters, and `arguments` those of the call, by their names.
    """
    values = as_predictions(arguments)
    default = defaults.get(METRICS)
    if METRICS in defaults and arguments.get(METRICS, default) in (default, *PRESETS):
        values[METRICS] = RATE
    return without_truth(function(**values), values["y_true"])


def as_predictions(arguments: Mapping[str, Any]) -> dict[str, Any]:
    """Return the arguments of a call with the outcomes as predictions, and their truth.

    The truth is a column of expected outcomes, which the frame has then, and an earlier run.
    """
    replaced = [name for name in _REPLACED if arguments.get(name) is not None]
    if replaced:
        raise InvalidInputError(
            "{outcome} takes the place of {y_true} and {y_pred}, but {} is given too; omit one.",
            parameter(replaced[0], NAME),
            outcome=NAME,
            y_true=NAME,
            y_pred=NAME,
        )
    if concerns_unlabelled(arguments.get("missing")):
        raise InvalidInputError(
            "{outcome} has no true labels that could be missing, so {missing} does not apply. "
            "Give the verdicts of a judge as {y_pred}, and those of people as {y_true}: "
            "'prevalence' is then the rate of rows that passed.",
            outcome=NAME,
            missing=arguments["missing"],
            y_pred=OPTION,
            y_true=OPTION,
        )
    outcome, pos_label = arguments[OUTCOME], arguments.get("pos_label")
    outcomes = name_list(outcome)
    frame, expected = expect_outcome(arguments["frame"], outcomes, pos_label)
    others = {name: value for name, value in arguments.items() if name not in (OUTCOME, *_REPLACED)}
    values = others | {"frame": frame, "y_true": expected, "y_pred": outcome}
    baseline = arguments.get("baseline")
    if is_frame(unwrap(baseline)[0]):
        values["baseline"] = _earlier_run(baseline, outcomes, expected, pos_label)
    return values


def _earlier_run(
    baseline: Any,  # noqa: ANN401 (a frame)
    outcomes: Sequence[Name],
    expected: ExpectedOutcome,
    pos_label: Label | None,
) -> Any:  # noqa: ANN401
    """Return the cells or rows of an earlier run, with the column of expected outcomes."""
    baseline = read_streams(baseline)
    names = InputFrame.open(baseline).column_names
    if N not in names:  # rows
        try:
            return add_expected(baseline, expected, outcomes, pos_label)
        except BalframeError as error:
            raise type(error)(Message("in {baseline}: {}", error, baseline=NAME)) from error
    of_cells = [name for name in (outcomes[0], PREDICTED_OF_MODELS) if name in names]
    if not of_cells:
        return baseline  # which is refused where it is read
    return expect_outcome_of_cells(baseline, of_cells[0], expected, pos_label)
