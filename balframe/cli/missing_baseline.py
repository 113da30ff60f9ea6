"""The first run, which has no baseline yet, and the cells that it leaves for the second."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from difflib import get_close_matches
from pathlib import Path
from typing import Any

import polars as pl

from balframe.cli.baseline_files import is_file, is_stored_run
from balframe.cli.command import CommandOption
from balframe.core.strata import KEEP, is_correction
from balframe.errors import InvalidInputError, warn
from balframe.frames.history.run_table import is_table
from balframe.methods import declaration
from balframe.methods.gates.rules import RuleSet, read_rule_set

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
