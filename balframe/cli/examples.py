"""Examples in the help of commands, made of what the parameters declare."""

from collections.abc import Mapping, Sequence

from balframe.api.method import Parameter
from balframe.cli.command import CommandOption

_FILE = "predictions.csv"
_NEEDED: Mapping[str, str] = {  # where a parameter is required
    "y_true": "--y-true actual",
    "y_pred": "--y-pred predicted",
    "y_score": "--y-score score",
    "by": "--by group",
    "time": "--time day",
    "every": "--every 1mo",
    "baseline": "--baseline 2026-06-30",
    "rules": "--rule 'accuracy >= 0.7'",
}
_OF_COMMANDS: Mapping[str, str] = {  # what declarations do not show
    "compare": "--y-pred other",
    "impact": "--selected predicted",
    "slices": "--over group --over age",
}
_OUT: Mapping[str, str] = {"audit": "audit.html", "check": "verdicts.md"}


def command_examples(
    name: str,
    parameters: Mapping[str, Parameter],
    options: Sequence[CommandOption],
    output: Sequence[CommandOption],
) -> list[str]:
    """Return the shortest use of a command, and one with more options."""
    needed = [text for key, text in _NEEDED.items() if _is_required(parameters, key)]
    words = [f"balframe {name} {_FILE}", *needed, *filter(None, [_OF_COMMANDS.get(name)])]
    more = []
    if "by" in parameters and not parameters["by"].is_required:
        more.append(_NEEDED["by"])
    if any(option.name == "interval" and option.is_flag for option in options):
        more.append("--interval")
    if any(option.name == "out" for option in output):
        more.append(f"--out {_OUT.get(name, f'{name}.csv')}")
    first, second = " ".join(words), " ".join([*words, *more])
    return [second] if name == "audit" else [first, second]  # a page is not for a terminal


def _is_required(parameters: Mapping[str, Parameter], name: str) -> bool:
    return name in parameters and parameters[name].is_required
