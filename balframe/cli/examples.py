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
    "time": "--time day --every 1mo",
    "baseline": "--baseline 2026-06-30",
    "table": "--table runs",
    "run": "--run 2026-11-01",
    "rules": "--rule 'accuracy >= 0.7'",
}
_FILES: Mapping[str, str] = {
    "diff": "old.csv new.csv",
    "diff-slices": "old.csv new.csv",
}
_OF_COMMANDS: Mapping[str, str] = {  # what declarations do not show
    "compare": "--y-pred other",
    "impact": "--selected predicted",
    "slices": "--over group --over age",
    "diff-slices": "--over group --over age",
}
_PAIRS: Mapping[str, tuple[str, str]] = {  # commands that return no table: what each example adds
    "audit": ("--by group --out audit.html", "--by group --rule 'accuracy >= 0.7' --out audit.md"),
    "store": ("--by group --date 2026-11-01", "--by group --time day --replace"),
}
_OUT: Mapping[str, str] = {"check": "verdicts.md", "diff": "diff.md"}


def command_examples(
    name: str,
    parameters: Mapping[str, Parameter],
    options: Sequence[CommandOption],
    output: Sequence[CommandOption],
) -> list[str]:
    """Return the shortest use of a command, and one with more options."""
    needed = [text for key, text in _NEEDED.items() if _is_needed(parameters, key)]
    files, own = _FILES.get(name, _FILE), _OF_COMMANDS.get(name)
    words = [f"balframe {name} {files}", *needed, *([] if own is None else [own])]
    if name in _PAIRS:
        return [" ".join([*words, added]) for added in _PAIRS[name]]
    more = []
    if "by" in parameters and not parameters["by"].is_required:
        more.append(_NEEDED["by"])
    if any(option.name == "interval" and option.is_flag for option in options):
        more.append("--interval")
    if any(option.name == "out" for option in output):
        more.append(f"--out {_OUT.get(name, f'{name}.csv')}")
    return [" ".join(words), " ".join([*words, *more])]


def _is_needed(parameters: Mapping[str, Parameter], name: str) -> bool:
    """Return whether a parameter is required; of predictions or scores, these are predictions."""
    if name not in parameters:
        return False
    return parameters[name].is_required or (name == "y_pred" and "y_score" in parameters)
