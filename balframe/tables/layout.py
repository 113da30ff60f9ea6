"""The layout of a method's result as a table: what each of its columns and rows is."""

import math
from collections import Counter
from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations
from typing import Any

import numpy as np

from balframe._text import ALL, MISSING, midnights_as_dates
from balframe.api.columns import (
    DIFFERENCE,
    NOTE,
    TABLES,
    UNDECIDED,
    Column,
    Kind,
    Naming,
    Role,
)
from balframe.errors import BalframeError, InvalidInputError, UnsupportedTypeError, listed
from balframe.frames.adapter import Name
from balframe.frames.convert_result import collect_result, row_dicts
from balframe.frames.engines.inputs import unwrap
from balframe.frames.engines.registry import PANDAS, POLARS, POLARS_LAZY, PYARROW, find_engine
from balframe.frames.query import GROUPED_BY, margin_name
from balframe.methods.gates.rules import Rule, read_rules
from balframe.methods.impact.ratios import SMALL, UNKNOWN
from balframe.metrics.lookup import find_metric
from balframe.metrics.registry import Metric
from balframe.tables.recognize import recognize_result

_NUMERIC_KINDS = (Kind.INTEGER, Kind.INTEGER_OR_NULL, Kind.FLOAT)

Values = Mapping[Name, list[Any]]


def read_values(frame: Any) -> Values:  # noqa: ANN401
    """Return a frame as lists of Python values, None for null."""
    engine = find_engine(unwrap(frame)[0])
    if engine not in (PANDAS, POLARS, POLARS_LAZY, PYARROW):
        raise UnsupportedTypeError(
            f"got a frame of {engine.name}; give the result of a method as a frame of pandas, "
            "polars or pyarrow."
        )
    frame = collect_result(frame)
    names = list(frame.column_names if engine is PYARROW else frame.columns)
    duplicates = [name for name, number in Counter(names).items() if number > 1]
    if duplicates:
        raise InvalidInputError(
            "the frame has several columns of the same name: "
            f"{listed(map(repr, duplicates))}; rename them."
        )
    rows = row_dicts(frame)
    return {name: midnights_as_dates([_python_value(row[name]) for row in rows]) for name in names}


def _python_value(value: Any) -> Any:  # noqa: ANN401 (of any type)
    """Return the Python number for one of numpy, and None for NaN."""
    value = value.item() if isinstance(value, np.generic) else value
    return None if isinstance(value, float) and math.isnan(value) else value


@dataclass(frozen=True)
class ResultLayout:
    """The columns of a result by their purpose.

    `by` make the segments, `keys` identify the rows of a group, and `group_columns` are the
    headings above groups. `columns` are those that are declared, without the by-columns. Those of
    details are read, but not shown, with `hides_details`.
    """

    values: Values
    by: tuple[Name, ...]
    columns: Mapping[Name, Column]
    keys: tuple[Name, ...]
    group_columns: tuple[Name, ...]
    hides_details: bool = False

    @classmethod
    def from_values(
        cls, values: Values, method: str | None = None, *, hides_details: bool = False
    ) -> "ResultLayout":
        """Return the layout of a result, whose method is recognized by its columns or named."""
        result = recognize_result(list(values), method)
        by, columns = result.by, dict(result.columns)
        margins = {margin for margin, _ in _named_margins(by)}
        if GROUPED_BY in columns and not {*values[GROUPED_BY]} <= margins:
            by = (*by, GROUPED_BY)  # a by-column may have this name
            del columns[GROUPED_BY]
        _check_numbers(values, columns, result.method)
        key_columns = [
            column
            for column in columns.values()
            if column.role is Role.KEY
            and (column.name != GROUPED_BY or column.heading)
            and not (column.detail and hides_details)
        ]
        groups = [column for column in key_columns if column.heading]
        keys = [
            *_table_by_columns(by, groups, values),
            *(column.name for column in key_columns if not column.heading),
        ]
        if not keys and groups and groups[-1].only_with is None:
            keys.append(groups.pop().name)
        group_columns = tuple(
            column.name
            for column in groups
            if column.naming not in (Naming.METRIC, Naming.TABLE)
            or len(set(values[column.name])) > 1  # a single metric, or table, needs no heading
        )
        return cls(values, by, columns, tuple(keys), group_columns, hides_details)

    @property
    def n_rows(self) -> int:
        """The number of rows."""
        return len(next(iter(self.values.values())))

    @property
    def has_margins(self) -> bool:
        """Return whether there may be roll-ups among the rows."""
        return GROUPED_BY in self.columns

    @cached_property
    def numeric_columns(self) -> frozenset[Name]:
        """The columns that hold numbers."""
        return frozenset(name for name, values in self.values.items() if is_numeric(values))

    @property
    def has_margin_tables(self) -> bool:
        """Return whether the margins are tables of their own, none of them a roll-up."""
        return self.has_margins and bool(self.columns[GROUPED_BY].heading)

    @cached_property
    def period_column(self) -> Name | None:
        """The column of periods, of which the last ones matter most, if there is one."""
        statuses = (column.statuses for column in self.columns.values())
        last_keys = (declared.last_key for declared in statuses if declared is not None)
        return next((name for name in last_keys if name in self.values), None)

    def naming_column(self, naming: Naming) -> Name | None:
        """Return the column whose texts name metrics, rules or the like, if there is one."""
        return next(
            (name for name, column in self.columns.items() if column.naming is naming), None
        )

    def row_value(self, naming: Naming, row: int) -> Any:  # noqa: ANN401
        """Return the metric, rule or the like of a row, if there is a column of them."""
        name = self.naming_column(naming)
        return None if name is None else self.values[name][row]

    @cached_property
    def metric_names(self) -> frozenset[Any]:
        """The metrics of the rows, if there is a column of them."""
        name = self.naming_column(Naming.METRIC)
        return frozenset() if name is None else frozenset(self.values[name])

    @cached_property
    def limit_columns(self) -> dict[Name, tuple[Name, Name]]:
        """The columns of the lower and upper limit of each estimate that has both."""
        limits: dict[Name, list[Name]] = {}
        for name, column in self.columns.items():
            if column.role is Role.LIMIT and column.about in self.columns:
                limits.setdefault(column.about, []).append(name)
        return {name: (pair[0], pair[1]) for name, pair in limits.items() if len(pair) == 2}

    @property
    def limits_name(self) -> str | None:
        """What the limits of estimates that are shown are; None if there are none."""
        names = [
            self.columns[pair[0]].limits_name
            for name, pair in self.limit_columns.items()
            if name in self.value_columns
        ]
        return names[0] if names else None

    def bound_column(self, name: Name) -> Name | None:
        """Return the column of the bound that an estimate should keep, if there is one."""
        bounds = (
            column for column in self.columns.values() if column.role is Role.THRESHOLD_OR_BOUND
        )
        return next((column.name for column in bounds if column.about == name), None)

    @cached_property
    def value_columns(self) -> list[Name]:
        """The columns after the keys, without limits, which stand in the cells of scores."""
        others = {
            *self.by,
            *self.group_columns,
            *self.keys,
            GROUPED_BY if self.has_margins else None,
        }
        others |= {name for pair in self.limit_columns.values() for name in pair}
        others |= {
            name
            for name, column in self.columns.items()
            if column.heading
            or column.naming in (Naming.METHOD, Naming.ROLE)
            or self.is_omitted(name)
        }
        return [name for name in self.values if name not in others]

    def is_omitted(self, name: Name) -> bool:
        """Return whether a column is empty, repeats another, or is a detail that is not shown."""
        if name not in self.columns:
            return False
        is_empty = name in (NOTE, UNDECIDED) and all(text is None for text in self.values[name])
        return (
            is_empty or self.columns[name].hidden or (self.hides_details and self.is_detail(name))
        )

    def is_detail(self, name: Name) -> bool:
        """Return whether a column gives details only, or names the only pair or table."""
        if name not in self.columns:
            return False
        column = self.columns[name]
        return column.detail or (
            column.only_with == TABLES and self._n_named(column.only_with) <= 1
        )

    def _n_named(self, option: str) -> int:
        """Count what the columns that are there only with an option name."""
        names = [name for name, column in self.columns.items() if column.only_with == option]
        return len(set(zip(*(self.values[name] for name in names), strict=True)))

    @cached_property
    def segment_columns(self) -> list[frozenset[Name]]:
        """The by-columns that make the segment of each row."""
        margin_columns = {margin: frozenset(names) for margin, names in _named_margins(self.by)}
        all_columns = frozenset(self.by)
        margins = self.values[GROUPED_BY] if self.has_margins else [None] * self.n_rows
        return [
            frozenset() if self.has_disparity_rule(row) else margin_columns.get(margin, all_columns)
            for row, margin in enumerate(margins)
        ]

    def has_extreme(self, name: Name, row: int) -> bool:
        """Return whether there is the score that a column of extreme segments is about.

        Without the column of the score, which is a detail, the difference or ratio says so.
        """
        columns, about = self.columns, self.columns[name].about
        if about is None:
            return False
        scores = (
            other
            for other, column in columns.items()
            if column.role is Role.ESTIMATE and column.identifies
        )
        score = about if about in columns else next(scores)
        return self.values[score][row] is not None

    def is_finest(self, row: int) -> bool:
        """Return whether a row is of one segment, not of a roll-up of them."""
        return self.has_margin_tables or len(self.segment_columns[row]) == len(self.by)

    def is_unknown_category(self, row: int) -> bool:
        """Return whether a row is of people whose category is unknown."""
        return bool(self.row_value(Naming.ROLE, row) == UNKNOWN)

    def is_small_category(self, row: int) -> bool:
        """Return whether a row is of a category that is too small to be compared."""
        return bool(self.row_value(Naming.ROLE, row) == SMALL)

    def placeholder(self, name: Name, row: int) -> str | None:
        """Return the text for a by-column without a value: a null, or all values together."""
        if name not in self.segment_columns[row]:
            return "" if self.has_margin_tables else ALL
        return MISSING if self.values[name][row] is None else None

    def group_key(self, row: int) -> tuple[Any, ...]:
        """Return the values in the heading above a row."""
        return tuple(self.values[name][row] for name in self.group_columns)

    def rule(self, row: int) -> Rule | None:
        """Return the rule of a row, if there is one and its metric is still registered."""
        return self._rules.get(self.row_value(Naming.RULE, row))

    @cached_property
    def _rules(self) -> Mapping[Any, Rule | None]:
        """The rules by their texts."""
        name = self.naming_column(Naming.RULE)
        texts = set() if name is None else set(self.values[name])
        return {text: read_rule(text) for text in texts}

    def has_disparity_rule(self, row: int) -> bool:
        """Return whether a row is of a rule on the difference or ratio of segments."""
        rule = self.rule(row)
        return rule is not None and rule.is_over_segments

    def has_count_rule(self, row: int) -> bool:
        """Return whether a row is of a rule on a number of rows."""
        rule = self.rule(row)
        return rule is not None and rule.metric is None

    def metric(self, name: Name, row: int) -> Metric | None:
        """Return the metric of an estimate, if it is registered."""
        column = self.columns[name]
        if column.placeholder_value is not None:
            return lookup_metric(column.placeholder_value)
        rule = self.rule(row)
        return (
            rule.metric if rule is not None else lookup_metric(self.row_value(Naming.METRIC, row))
        )

    def tested_columns(self) -> dict[Name, Name]:
        """Return the columns whose worst segments are marked, with the column of their p-values."""
        return {
            name: column.tested_by
            for name, column in self.columns.items()
            if column.tested_by in self.columns and DIFFERENCE in self.columns
        }

    def comparison_key(self, row: int) -> tuple[Hashable, ...]:
        """Return the key that a row shares with those it is compared with, to mark the worst."""
        return tuple(
            self.values[name][row]
            for name, column in self.columns.items()
            if column.role is Role.KEY and name != GROUPED_BY and (column.heading or self.by)
        )


def _check_numbers(values: Values, columns: Mapping[Name, Column], method: str) -> None:
    for name, column in columns.items():
        if column.kind in _NUMERIC_KINDS and not is_numeric(values[name]):
            raise InvalidInputError(
                f"column {name!r} must hold numbers, as in a result of {method}."
            )


def lookup_metric(name: object) -> Metric | None:
    """Return the metric of this name, or None."""
    try:
        return find_metric(name)
    except BalframeError:
        return None


def read_rule(text: object) -> Rule | None:
    """Return the rule with this text of `check`; None if its metric is not registered."""
    try:
        return read_rules([text])[0]
    except BalframeError:
        return None


def is_numeric(values: Sequence[Any]) -> bool:
    """Return whether all values are numbers or null."""
    return all(
        value is None or (isinstance(value, (int, float)) and not isinstance(value, bool))
        for value in values
    )


def _table_by_columns(by: Sequence[Name], groups: Sequence[Column], values: Values) -> list[Name]:
    """Return the by-columns that make one of the tables; without tables, all of them."""
    if not any(column.naming is Naming.TABLE for column in groups):
        return list(by)
    tables = set(values[GROUPED_BY])
    used = {name for margin, names in _named_margins(by) if margin in tables for name in names}
    return [name for name in by if name in used or not used]


def _named_margins(by: Sequence[Name]) -> Iterator[tuple[str, tuple[Name, ...]]]:
    """Yield the name of every roll-up, as in the column `grouped_by`, with its by-columns."""
    for size in range(len(by) + 1):
        for names in combinations(by, size):
            yield margin_name(names), names
