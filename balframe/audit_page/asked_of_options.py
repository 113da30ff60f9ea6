"""From the options of a call to what is asked of an audit: each checked, or refused."""

from collections.abc import Mapping, Sequence
from itertools import combinations
from typing import Any

from balframe._validate import check_min_support
from balframe.api.options import Names
from balframe.audit_page.measured_rules import check_rules
from balframe.audit_page.request import Asked, Model, Words
from balframe.errors import InvalidInputError, bare_parameter, listed, parameter
from balframe.frames.adapter import Name
from balframe.methods.gates.rules import read_rules
from balframe.stats.base import check_level

OWN = ("y_true", "y_pred", "by", "y_score", "rules", "level", "min_support")
WORDS = ("title", "subtitle", "truth", "call", "unit")


def asked_of(given: Mapping[str, Any], call: str) -> Asked:
    """Check options, all of them by name; `call` repeats them for a reader."""
    check_level(given["level"])
    check_min_support(given["min_support"], least=1)
    models = _models(given["y_pred"], given["y_score"])
    columns = names_of(given["by"])
    _check_roles(given["y_true"], columns, models)
    rules = [] if given["rules"] is None else read_rules(given["rules"])
    check_rules(rules, columns)
    title, subtitle, truth, call_words = (_text(name, given[name]) for name in WORDS[:-1])
    shared = {name: one for name, one in given.items() if name not in (*OWN, *WORDS)}
    return Asked(
        given["y_true"],
        models,
        columns,
        rules,
        title or "",
        subtitle or "",
        Words(truth, call_words, *_unit(given["unit"])),
        given["level"],
        given["min_support"],
        shared,
        call,
    )


def names_of(given: Names) -> list[Name]:
    """List the names of columns, of which there may be one or none."""
    if given is None:
        return []
    return list(given) if isinstance(given, (list, tuple)) else [given]


def _models(y_pred: Names, y_score: Names) -> Sequence[Model]:
    """Pair the columns of calls with those of scores."""
    calls, scores = names_of(y_pred), names_of(y_score)
    if not calls:
        raise InvalidInputError(f"{bare_parameter('y_pred')} names no column; name at least one.")
    _check_distinct("y_pred", calls)
    if y_score is not None and len(scores) != len(calls):
        raise InvalidInputError(
            f"{bare_parameter('y_score')} names {_columns(scores)} and {bare_parameter('y_pred')} "
            f"{_columns(calls)}; give one column of scores for each column of calls, in the same "
            "order."
        )
    return [Model(*pair) for pair in zip(calls, scores or [None] * len(calls), strict=True)]


def _columns(names: Sequence[Name]) -> str:
    return f"{len(names)} column{'s' * (len(names) != 1)}"


def _check_roles(y_true: Name, by: Sequence[Name], models: Sequence[Model]) -> None:
    """Raise where a column is given twice, or in two roles."""
    _check_distinct("by", by)
    scores = [one.y_score for one in models if one.y_score is not None]
    calls = [one.y_pred for one in models]
    roles = {"y_true": [y_true], "y_pred": calls, "y_score": scores, "by": by}
    for (first, names), (second, others) in combinations(roles.items(), 2):
        for name in names:
            if name in others:
                raise InvalidInputError(
                    f"column {name!r} is given as {bare_parameter(first)} and as "
                    f"{bare_parameter(second)}; leave it out of one of them, or give a copy of it "
                    "under another name."
                )


def _check_distinct(option: str, names: Sequence[Name]) -> None:
    if any(name in names[:at] for at, name in enumerate(names)):
        raise InvalidInputError(
            f"{bare_parameter(option)} names a column twice: {listed(map(repr, names))}; name each "
            "column once."
        )


def _text(name: str, given: object) -> str | None:
    if given is not None and (not isinstance(given, str) or not given.strip()):
        raise InvalidInputError(
            f"{parameter(name, given)} is no text; give words for the page, or omit it."
        )
    return given


def _unit(given: object) -> tuple[str, str]:
    words = [*given] if isinstance(given, (list, tuple)) else []
    if len(words) != 2 or not all(isinstance(one, str) and one.strip() for one in words):
        raise InvalidInputError(
            f"{parameter('unit', given)} is no pair of words; give the singular and the plural, "
            'such as ("person", "people").'
        )
    return words[0], words[1]
