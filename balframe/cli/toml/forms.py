"""Values of TOML as what is typed: the forms that options take in a configuration.

A form is a function of a value that is not a list. It returns the text, or raises ValueError with
what it expects in words.
"""

import csv
import io
import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, time
from os import PathLike
from pathlib import Path
from typing import Any, Protocol

import click

from balframe.cli.files.paths import is_url
from balframe.cli.toml.variables import ExpandedText
from balframe.methods.gates.rules import is_rule_file

Convert = Callable[[Any], str]


@dataclass(frozen=True, slots=True)
class Source:
    """Where a value is: its folder, its table, its file, and the run that the table is for."""

    folder: str
    table: str
    file: str
    run: str | None = None


@dataclass(frozen=True, slots=True)
class Form:
    """How a value becomes what is typed, beyond the type that click has.

    `item` reads a value, or each of a list. `of_list` reads a whole list as one text, and
    `of_table` a table as several. `may_be_file` says that a text may be the path of a file.
    `spread` returns values of several options by their names, or None where it is as usual.
    """

    item: Convert
    of_list: Callable[[Sequence[Any]], str] | None = None
    of_table: Callable[[Mapping[str, Any]], list[str]] | None = None
    may_be_file: bool = False
    spread: Callable[[Any, Source], dict[str, Any] | None] | None = None


@dataclass(frozen=True, slots=True)
class InlineRules:
    """Rules that a configuration contains, in a form that `check` reads, and where they are."""

    rules: Any
    source: Source

    @property
    def files(self) -> list[Path]:
        """List the files of rules that are among them."""
        items = self.rules if isinstance(self.rules, list) else [self.rules]
        return [item for item in items if isinstance(item, Path)]


def named_files(value: Any) -> list[Any]:  # noqa: ANN401 (of an option)
    """List the files that a value of an option names; inline rules may name some."""
    return value.files if isinstance(value, InlineRules) else [value]


def run_of_rules(value: Any) -> str | None:  # noqa: ANN401 (of an option)
    """Return the run of a configuration whose rules are the value of an option, if it is one."""
    items = value if isinstance(value, (list, tuple)) else []
    runs = (item.source.run for item in items if isinstance(item, InlineRules))
    return next(runs, None)


def text(value: Any) -> str:  # noqa: ANN401 (any value of TOML)
    """Return a text as it is."""
    if not isinstance(value, str):
        raise ValueError("text")
    return str(value)


def data_value(value: Any) -> str:  # noqa: ANN401
    """Return a value that columns may contain as it is typed."""
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, (str, int, date, time)):
        return str(value)
    if isinstance(value, float):  # of which 1.10 and 1.1 are the same in TOML
        raise ValueError("a number with a point as text, in quotes")
    raise ValueError("text, a whole number, true, false or a date")


def text_or_date(value: Any) -> str:  # noqa: ANN401
    """Return a text, or a date as it is typed."""
    if not isinstance(value, (str, date)):
        raise ValueError("a date, or text")
    return str(value)


def text_or_number(value: Any) -> str:  # noqa: ANN401
    """Return a text, or a number as it is typed."""
    if isinstance(value, bool) or not isinstance(value, (str, int, float)):
        raise ValueError("a number, or text")
    return str(value)


def names_in_one(value: Any) -> str:  # noqa: ANN401
    """Return names that are separated by commas: a text, or a list."""
    if isinstance(value, list):
        return _csv_line(map(text, value))
    return text(value)


def _csv_line(fields: Any) -> str:  # noqa: ANN401 (an iterable of texts)
    line = io.StringIO()
    csv.writer(line, lineterminator="").writerow(list(fields))
    return line.getvalue()


def _numbers(values: Sequence[Any]) -> str:
    """Return a list of numbers as one text, in which a single number is not a count."""
    if any(isinstance(value, bool) or not isinstance(value, (int, float)) for value in values):
        raise ValueError("a list of numbers")
    return ",".join(repr(float(value)) for value in values)


def _edges(value: Any) -> str:  # noqa: ANN401
    """Return the bins of a column: a number of them, none, or edges."""
    if isinstance(value, list):
        edges = [text_or_number(edge) for edge in value]
        return f"{','.join(edges)}{',' if len(edges) == 1 else ''}"
    return text_or_number(value)


def _pairs(of_value: Callable[[Any], str]) -> Callable[[Mapping[str, Any]], list[str]]:
    """Return a function from a table to texts: name=value."""
    return lambda table: [f"{name}={of_value(value)}" for name, value in table.items()]


def _facts(table: Mapping[str, Any]) -> list[str]:
    """Return each fact of a cover as a text: key=value; a list has several."""
    return [
        f"{key}={data_value(item)}"
        for key, value in table.items()
        for item in (value if isinstance(value, list) else [value])
    ]


def _expected(value: Any) -> str:  # noqa: ANN401
    values = value if isinstance(value, list) else [value]
    return _csv_line(map(data_value, values))


TEXT = Form(text)
DATA_VALUE = Form(data_value)
DATE = Form(text_or_date)
DATE_OR_FILE = Form(text_or_date, may_be_file=True)
TEXT_OR_FILE = Form(text, may_be_file=True)
METRICS = Form(text, of_table=_pairs(text))
TYPES = Form(text, of_table=_pairs(text))
CLASS_WEIGHTS = Form(text, of_table=_pairs(text_or_number))
THRESHOLDS = Form(text_or_number, of_list=_numbers)
BINS = Form(text_or_number, of_table=_pairs(_edges))
EXPECT = Form(text, of_table=_pairs(_expected), may_be_file=True)
TWO_WORDS = Form(text, of_list=names_in_one)
COLUMNS_IN_ONE = Form(names_in_one)
FACTS = Form(text, of_table=_facts)


class _Option(Protocol):
    """What is read of an option, whose class itself uses forms."""

    name: str
    type: Any
    multiple: bool
    is_flag: bool
    form: Form | None


def typed_value(option: _Option, value: Any, folder: str) -> Any:  # noqa: ANN401
    """Return a value as click takes it for an option; raise ValueError if it does not suit.

    Paths are those from `folder`.
    """
    form = option.form or TEXT
    if isinstance(value, Mapping) and form.of_table is not None:
        return form.of_table(value)
    is_list = isinstance(value, list)
    if is_list and not option.multiple:
        if form.of_list is None:
            raise ValueError(f"{_expectation(option, form)}, not a list")
        return form.of_list(value)
    items = value if is_list else [value]
    typed = [_typed_item(option, form, item, folder) for item in items]
    return typed if option.multiple else typed[0]


def _expectation(option: _Option, form: Form) -> str:
    """Return in words what an option takes."""
    try:
        _typed_item(option, form, object(), "")
    except ValueError as error:
        return str(error)
    raise AssertionError(f"{option.name} takes any value")


def _typed_item(option: _Option, form: Form, value: Any, folder: str) -> Any:  # noqa: ANN401
    kind = option.type
    if isinstance(value, InlineRules):
        return value
    if isinstance(value, ExpandedText) and not isinstance(kind, click.Path):
        value = _expanded_item(kind, value)
    if option.is_flag:
        if not isinstance(value, bool):
            raise ValueError("true or false")
        return value
    if isinstance(kind, click.Choice):
        if value not in [*kind.choices] or not isinstance(value, str):
            raise ValueError(f"one of {', '.join(map(repr, kind.choices))}")
        return value
    if isinstance(kind, click.Path):
        return path_from(folder, text(value))
    number = getattr(kind, "number_type", None)
    if number is not None:
        return _number(number, value)
    typed = form.item(value)
    if form.may_be_file and os.path.exists(path_from(folder, typed)):
        return path_from(folder, typed)
    return typed


def _number(number_type: type, value: Any) -> Any:  # noqa: ANN401
    allowed = (int,) if number_type is int else (int, float)
    if isinstance(value, bool) or not isinstance(value, allowed):
        raise ValueError("a whole number" if number_type is int else "a number")
    return number_type(value)


def _expanded_item(kind: Any, value: str) -> Any:  # noqa: ANN401 (of click)
    """Read a text that had variables as typed options are read, where that is not text."""
    if isinstance(kind, click.types.BoolParamType) or hasattr(kind, "number_type"):
        try:
            return kind.convert(value, None, None)
        except click.UsageError:
            return value
    return value


def path_from(folder: str, name: str | PathLike[str]) -> str:
    """Return a path that is written in a file of a folder; URLs and - stay as they are."""
    path = os.fspath(name)
    if path == "-" or is_url(path):
        return path
    path = os.path.expanduser(path)
    if folder in ("", "."):
        return path
    from glob import escape, has_magic

    return os.path.join(escape(folder) if has_magic(path) else folder, path)


# Values that stand for another option, or for several.


def spread_rules(value: Any, source: Source) -> dict[str, Any]:  # noqa: ANN401
    """Return the options for rules: texts, files, or both and tables, which are inline."""
    items = value if isinstance(value, list) else [value]
    if not all(isinstance(item, (str, Mapping)) for item in items):
        raise ValueError("rules such as 'recall >= 0.7', tables of rules, or paths of files")
    n_files = sum(map(is_rule_file, items))
    if all(isinstance(item, str) for item in items) and n_files in (0, len(items)):
        return {"rules" if n_files else "rule": items}
    inline = [
        Path(path_from(source.folder, item)) if is_rule_file(item) else _without_marks(item)
        for item in items
    ]
    return {"rules": [InlineRules(inline if isinstance(value, list) else inline[0], source)]}


def _without_marks(value: Any) -> Any:  # noqa: ANN401
    """Return a value whose texts are plain ones, whether they had variables or not."""
    if isinstance(value, list):
        return [_without_marks(item) for item in value]
    if isinstance(value, Mapping):
        return {key: _without_marks(item) for key, item in value.items()}
    return str(value) if isinstance(value, str) else value


def spread_interval(value: Any, source: Source) -> dict[str, Any] | None:  # noqa: ANN401
    """Return the option for the method of intervals, if it is a text."""
    is_method = isinstance(value, str) and not isinstance(value, ExpandedText)
    return {"interval_method": value} if is_method else None


def spread_cover(value: Any, source: Source) -> dict[str, Any] | None:  # noqa: ANN401
    """Return the option for the facts of a cover, if it is a table of them."""
    return {"note": value} if isinstance(value, Mapping) else None


RULE_TEXTS = Form(text, spread=spread_rules)
RULE_FILES = Form(text, spread=spread_rules)
INTERVAL = Form(text, spread=spread_interval)
COVER = Form(text, spread=spread_cover)
