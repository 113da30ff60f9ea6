"""How parameters of each type are typed on the command line, and read."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import UnionType
from typing import Any, Literal, Union, cast, get_args, get_origin

import polars as pl

from balframe.api.method import Parameter
from balframe.api.metric_selection import ClassWeight, Metrics
from balframe.api.option_types import (
    REFERENCE_KEYWORDS,
    BaselineOption,
    ReferenceOption,
    StreamReferenceOption,
)
from balframe.cli import completion, parse_values
from balframe.cli.baseline_files import baseline, reference
from balframe.core.label_set import Label
from balframe.frames.slice_binning import BinsOption
from balframe.frames.thresholds import ThresholdsOption
from balframe.methods.gates.rules import RulesOption
from balframe.stats.base import IntervalMethod, IntervalOption

Values = Mapping[str, Any]

_SHORT = 14  # characters of choices that are shown beside the option


@dataclass(frozen=True, slots=True)
class Given:
    """What was typed, by the names of parameters as Typer knows them, and the rows it is about."""

    typed: Values
    rows: pl.LazyFrame

    def label(self, text: str) -> Any:  # noqa: ANN401
        """Read a label as a value of the column of true labels, or without one of predictions."""
        holders = self.typed.get("y_true") or self.typed.get("selected") or [None]
        holder = holders if isinstance(holders, str) else holders[0]
        return parse_values.label(text, self.rows, holder)


@dataclass(frozen=True, slots=True)
class Option:
    """An option as Typer parses it; `says` may hold the words of the parameter, and its name."""

    parsed: Any
    metavar: str = ""
    says: str = "{words}"
    name: str = "{name}"
    completes: Callable[..., Any] | None = None
    has_no: bool = False  # a flag that can be taken back


@dataclass(frozen=True, slots=True)
class Reading:
    """How a parameter is typed, and how what was typed becomes its value."""

    options: Sequence[Option]
    value: Callable[..., Any] = lambda given, typed: typed


def _either(words: Sequence[str]) -> str:
    return f"{', '.join(words[:-1])} or {words[-1]}"


def _interval(given: Given, is_wanted: bool, method: IntervalMethod | None) -> IntervalOption:
    return method if method is not None else (True if is_wanted else None)


def _reference(given: Given, text: str) -> Any:  # noqa: ANN401
    by = given.typed["by"] or []
    return (
        text
        if text in REFERENCE_KEYWORDS or len(by) != 1
        else parse_values.label(text, given.rows, by[0])
    )


_COLUMN: Mapping[str, Any] = {
    "metavar": "COLUMN",
    "completes": completion.columns,
}
_COLUMNS = Reading(
    [Option(list[str], says="{words} Repeat for several: --{name} a --{name} b.", **_COLUMN)],
    lambda given, names: parse_values.one_or_more(names),
)
_RULES = Reading(
    [
        Option(
            list[str],
            "RULE",
            "A rule that every segment must satisfy, such as 'recall >= 0.7' or "
            "'difference(recall) <= 0.1'. Repeat for several.",
            name="rule",
        ),
        Option(
            Path,
            "FILE",
            "Read the rules from a .toml or .yaml file, instead of --rule.",
            name="rules",
        ),
    ],
    lambda given, texts, file: parse_values.rules(texts, file),
)
_BY_KIND = {  # where the type does not say enough: the kind as docstrings have it
    "column name": Reading([Option(str, **_COLUMN)]),
    "column name or list of column names": _COLUMNS,
    "list of column names": _COLUMNS,
    "label": Reading([Option(str, "LABEL")], lambda given, text: given.label(text)),
    "length": Reading([Option(str, "LENGTH")]),
    "str": Reading([Option(str, "METRIC", completes=completion.metrics)]),
    "text": Reading([Option(str, "TEXT")]),
}
_BY_TYPE: Mapping[Any, Reading] = {
    bool: Reading([Option(bool)]),
    int: Reading([Option(int, "NUMBER")]),
    float: Reading([Option(float, "NUMBER")]),
    tuple[str, str]: Reading(
        [Option(str, "ONE,MANY", "{words} Separate them by a comma, as in person,people.")],
        lambda given, text: parse_values.pair(text),
    ),
    Metrics: Reading(
        [
            Option(
                list[str],
                "METRIC",
                "{words} Repeat for several; acc=accuracy shows accuracy as acc. `balframe "
                "metrics` lists all metrics.",
                completes=completion.metrics,
            )
        ],
        lambda given, names: parse_values.metrics(names),
    ),
    Sequence[Label]: Reading(
        [Option(list[str], "LABEL", "{words} Repeat for each label.")],
        lambda given, texts: [given.label(text) for text in texts],
    ),
    ClassWeight | None: Reading(
        [
            Option(
                list[str],
                "LABEL=NUMBER",
                "{words} Repeat for each label, as in yes=0.8, or give balanced or prevalence.",
            )
        ],
        lambda given, texts: parse_values.class_weights(texts, given.rows, given.typed["y_true"]),
    ),
    IntervalOption: Reading(
        [
            Option(bool, has_no=True),
            Option(
                IntervalMethod,
                "METHOD",
                "Add confidence intervals by this method: "
                f"{_either(get_args(IntervalMethod))}. Implies --{{name}}.",
                name="{name}-method",
            ),
        ],
        _interval,
    ),
    ThresholdsOption: Reading(
        [
            Option(
                str,
                "THRESHOLDS",
                "{words} Give 101 for 101 thresholds from 0 to 1, 0.2,0.5 for these two, or "
                "quantiles,10 for 10 quantiles of the scores.",
            )
        ],
        lambda given, text: parse_values.thresholds(text),
    ),
    BinsOption: Reading(
        [
            Option(
                list[str],
                "BINS",
                "{words} Give 4, none to take each value on its own, or either of them or edges "
                "for a column: age=4, age=18,25,45. Repeat for several columns.",
            )
        ],
        lambda given, texts: parse_values.bins(texts),
    ),
    BaselineOption: Reading(
        [
            Option(
                str,
                "COLUMN|FILE",
                "{words} Give another column of predictions, or a file with the cells of an "
                "earlier run, as balframe confusion writes them.",
                completes=completion.columns,
            )
        ],
        lambda given, text: baseline(text, given.rows),
    ),
    float | Sequence[float]: Reading(
        [Option(list[float], "NUMBER", "{words} Repeat for several.")],
        lambda given, numbers: list(numbers) if len(numbers) > 1 else numbers[0],
    ),
    Sequence[int]: Reading(
        [Option(list[int], "NUMBER", "{words} Repeat for several.")],
        lambda given, numbers: list(numbers),
    ),
    StreamReferenceOption: Reading(
        [
            Option(
                str,
                "FILE",
                "A file with the cells that every period is compared with, such as those of the "
                "launch, as balframe confusion writes them.",
            ),
            Option(
                str,
                "DATE",
                "Compare with the rows up to this day, instead of --reference, as in 2026-03-31.",
                name="until",
            ),
        ],
        lambda given, file, until: reference(file, until, given.typed["time"]),
    ),
    ReferenceOption: Reading([Option(str, "SEGMENT", completes=completion.references)], _reference),
    RulesOption: _RULES,
    RulesOption | None: _RULES,
}


def _given(of_type: Any) -> Any:  # noqa: ANN401
    """Take None off a type that has only one other member."""
    members = [one for one in get_args(of_type) if one is not type(None)]
    is_union = get_origin(of_type) in (Union, UnionType)
    return members[0] if is_union and len(members) == 1 else of_type


def _choices(of_type: Any) -> tuple[Any, ...]:  # noqa: ANN401
    """List the values of a type that has nothing but named values."""
    if of_type is type(None):
        return (None,)
    if get_origin(of_type) is Literal:
        return get_args(of_type)
    listed = [_choices(member) for member in get_args(of_type)]
    return sum(listed, ()) if all(listed) else ()


def _choice(choices: Sequence[Any], default: Any) -> Reading:  # noqa: ANN401
    """Let one of the words be typed, and `none` for None where that is not the default."""
    words = [one for one in choices if isinstance(one, str)]
    if None in choices and default is not None:
        words.append("none")
    parsed = cast(Any, Literal)[tuple(words)]
    metavar, says = "|".join(words), "{words}"
    if len(metavar) > _SHORT:
        metavar, says = "CHOICE", f"{{words}} Give {_either(words)}."
    option = Option(parsed, metavar, says)
    return Reading([option], lambda given, word: word if word in choices else None)


def reading_of(parameter: Parameter) -> Reading:
    """Choose the reading of a parameter by its type, or by its kind."""
    kind = parameter.kind.partition(",")[0]
    reading = _BY_TYPE.get(_given(parameter.type)) or _BY_KIND.get(kind)
    if reading is None:
        choices = _choices(parameter.type)
        assert choices, f"{parameter.name}: the command line has no reading for {parameter.type}"
        reading = _choice(choices, parameter.default)
    return reading
