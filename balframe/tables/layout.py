"""How the answer of a method is laid out as a table: what each of its columns and rows is."""

from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations
from typing import Any

from balframe._text import ALL, MISSING
from balframe.api.columns import NOTE, Column, Kind, Naming, Role
from balframe.errors import BalframeError, InvalidInputError
from balframe.frames.adapter import Name
from balframe.frames.query import MARGIN, margin_name
from balframe.methods.gates.rules import Rule, read_rules
from balframe.methods.impact.ratios import SMALL, UNKNOWN
from balframe.metrics.lookup import find_metric
from balframe.metrics.registry import Metric
from balframe.tables.recognize import recognize_result

_NUMERIC_KINDS = (Kind.INTEGER, Kind.INTEGER_OR_NULL, Kind.FLOAT)

Values = Mapping[Name, list[Any]]


@dataclass(frozen=True)
class ResultLayout:
    """The columns of an answer by what they are for.

    `by` make the segments, `keys` tell the rows of a group apart, `groups` are the headings.
    `columns` are those that are declared, but for the by-columns.
    """

    values: Values
    by: tuple[Name, ...]
    columns: Mapping[Name, Column]
    keys: tuple[Name, ...]
    group_columns: tuple[Name, ...]

    @classmethod
    def from_values(cls, values: Values, method: str | None = None) -> "ResultLayout":
        """Find out which method's answer this is, and what its columns are."""
        found = recognize_result(list(values), method)
        by, columns = found.by, dict(found.columns)
        if MARGIN in columns and not _are_margins(values[MARGIN], by):
            by = (*by, MARGIN)  # a by-column may have this name
            del columns[MARGIN]
        _check_numbers(values, columns, found.method)
        keys = [one for one in columns.values() if one.role is Role.KEY]
        keys = [one for one in keys if one.name != MARGIN or one.heading]
        groups = [one for one in keys if one.heading]
        rows = [
            *_table_by_columns(by, groups, values),
            *(one.name for one in keys if not one.heading),
        ]
        if not rows and groups and groups[-1].only_with is None:
            rows.append(groups.pop().name)
        groups = [  # a single metric, or table, needs no heading
            one
            for one in groups
            if one.naming not in (Naming.METRIC, Naming.TABLE) or len(set(values[one.name])) > 1
        ]
        return cls(values, by, columns, tuple(rows), tuple(one.name for one in groups))

    @property
    def n_rows(self) -> int:
        """Count the rows."""
        return len(next(iter(self.values.values())))

    @property
    def has_margins(self) -> bool:
        """Tell whether there may be roll-ups among the rows."""
        return MARGIN in self.columns

    @cached_property
    def numeric_columns(self) -> frozenset[Name]:
        """Name the columns that hold numbers."""
        return frozenset(name for name, values in self.values.items() if is_numeric(values))

    @property
    def has_margin_tables(self) -> bool:
        """Tell whether the margins are tables of their own, none of them a roll-up."""
        return self.has_margins and bool(self.columns[MARGIN].heading)

    @cached_property
    def period_column(self) -> Name | None:
        """Name the column of periods, of which the last ones matter most, if there is one."""
        declared = (one.statuses for one in self.columns.values() if one.statuses is not None)
        return next((one.last_key for one in declared if one.last_key in self.values), None)

    def naming_column(self, what: Naming) -> Name | None:
        """Name the column whose texts name metrics, rules or the like, if there is one."""
        return next((name for name, one in self.columns.items() if one.naming is what), None)

    def row_value(self, what: Naming, row: int) -> Any:  # noqa: ANN401
        """Give the metric, rule or the like that a row is of, if there is a column of them."""
        name = self.naming_column(what)
        return None if name is None else self.values[name][row]

    @cached_property
    def metric_names(self) -> frozenset[Any]:
        """Name the metrics of the rows, where there is a column of them."""
        name = self.naming_column(Naming.METRIC)
        return frozenset() if name is None else frozenset(self.values[name])

    @cached_property
    def limit_columns(self) -> dict[Name, tuple[Name, Name]]:
        """Name the columns of limits, by the column that they are limits of."""
        return limits_among(self.columns)

    def bound_column(self, name: Name) -> Name | None:
        """Name the column of the bound that an estimate should keep, if there is one."""
        places = (one for one in self.columns.values() if one.role is Role.THRESHOLD_OR_BOUND)
        return next((one.name for one in places if one.about == name), None)

    @cached_property
    def value_columns(self) -> list[Name]:
        """List the columns beside the keys: without limits, which stand in the cells of scores."""
        elsewhere = {
            *self.by,
            *self.group_columns,
            *self.keys,
            MARGIN if self.has_margins else None,
        }
        elsewhere |= {one for pair in self.limit_columns.values() for one in pair}
        elsewhere |= {
            name
            for name, one in self.columns.items()
            if one.heading or one.naming in (Naming.METHOD, Naming.ROLE)
        }
        elsewhere |= {name for name in self.columns if self.is_omitted(name)}
        return [name for name in self.values if name not in elsewhere]

    def is_omitted(self, name: Name) -> bool:
        """Tell whether a column says nothing, or what another one says."""
        if name not in self.columns:
            return False
        is_empty = name == NOTE and all(one is None for one in self.values[name])
        return is_empty or self.columns[name].hidden

    @cached_property
    def segment_columns(self) -> list[frozenset[Name]]:
        """Tell for each row which by-columns make its segment."""
        known = {text: frozenset(some) for text, some in _named_margins(self.by)}
        every = frozenset(self.by)
        margins = self.values[MARGIN] if self.has_margins else [None] * self.n_rows
        return [
            frozenset() if self.has_disparity_rule(row) else known.get(margin, every)
            for row, margin in enumerate(margins)
        ]

    def is_finest(self, row: int) -> bool:
        """Tell whether a row is of one segment, not of a roll-up of them."""
        return self.has_margin_tables or len(self.segment_columns[row]) == len(self.by)

    def is_unknown_category(self, row: int) -> bool:
        """Tell whether a row is of people whose category is unknown."""
        return bool(self.row_value(Naming.ROLE, row) == UNKNOWN)

    def is_small_category(self, row: int) -> bool:
        """Tell whether a row is of a category too small to be compared."""
        return bool(self.row_value(Naming.ROLE, row) == SMALL)

    def placeholder(self, name: Name, row: int) -> str | None:
        """Give what stands for a value of a by-column: of null, and of all values together."""
        if name not in self.segment_columns[row]:
            return "" if self.has_margin_tables else ALL
        return MISSING if self.values[name][row] is None else None

    def group_key(self, row: int) -> tuple[Any, ...]:
        """Give what the heading above a row says."""
        return tuple(self.values[name][row] for name in self.group_columns)

    def rule(self, row: int) -> Rule | None:
        """Read the rule of a row, if there is one and its metric is still known."""
        return self._rules.get(self.row_value(Naming.RULE, row))

    @cached_property
    def _rules(self) -> Mapping[Any, Rule | None]:
        """Read every rule once."""
        name = self.naming_column(Naming.RULE)
        texts = set() if name is None else set(self.values[name])
        return {text: read_rule(text) for text in texts}

    def has_disparity_rule(self, row: int) -> bool:
        """Tell whether a row is of a rule on the difference or ratio of segments."""
        rule = self.rule(row)
        return rule is not None and rule.disparity is not None

    def has_count_rule(self, row: int) -> bool:
        """Tell whether a row is of a rule on a number of rows."""
        rule = self.rule(row)
        return rule is not None and rule.metric is None

    def metric(self, name: Name, row: int) -> Metric | None:
        """Find the metric that an estimate is of."""
        column = self.columns[name]
        if column.placeholder_value is not None:
            return lookup_metric(column.placeholder_value)
        rule = self.rule(row)
        return (
            rule.metric if rule is not None else lookup_metric(self.row_value(Naming.METRIC, row))
        )

    def marked_columns(self) -> list[Name]:
        """List the columns in which segments are compared, to mark the worst."""
        return [name for name, one in self.columns.items() if one.marks_worst]

    def comparison_key(self, row: int) -> tuple[Hashable, ...]:
        """Tell which rows a row is compared with, to find the worst of them."""
        keys = [one for one in self.columns.values() if one.role is Role.KEY and one.name != MARGIN]
        return tuple(self.values[one.name][row] for one in keys if one.heading or self.by)


def limits_among(columns: Mapping[Name, Column]) -> dict[Name, tuple[Name, Name]]:
    """Name the columns of limits, by the column that they are limits of, where all are there."""
    found: dict[Name, list[Name]] = {}
    for name, one in columns.items():
        if one.role is Role.LIMIT and one.about in columns:
            found.setdefault(one.about, []).append(name)
    return {name: (some[0], some[1]) for name, some in found.items() if len(some) == 2}


def _check_numbers(values: Values, columns: Mapping[Name, Column], method: str) -> None:
    for name, one in columns.items():
        if one.kind in _NUMERIC_KINDS and not is_numeric(values[name]):
            raise InvalidInputError(
                f"column {name!r} must hold numbers, as in a result of {method}."
            )


def lookup_metric(name: object) -> Metric | None:
    """Look a metric up; None where there is none of that name."""
    try:
        return find_metric(name)
    except BalframeError:
        return None


def read_rule(text: object) -> Rule | None:
    """Read a rule as `check` names it; None where its metric is not known any more."""
    try:
        return read_rules([text])[0]
    except BalframeError:
        return None


def is_numeric(values: Sequence[Any]) -> bool:
    """Tell whether a column holds numbers, or nothing at all."""
    known = [one for one in values if one is not None]
    return all(isinstance(one, (int, float)) and not isinstance(one, bool) for one in known)


def _are_margins(texts: Sequence[object], by: Sequence[Name]) -> bool:
    return set(texts) <= {text for text, _ in _named_margins(by)}


def _table_by_columns(by: Sequence[Name], groups: Sequence[Column], values: Values) -> list[Name]:
    """List the by-columns that make one of the tables; without tables all of them."""
    if not any(one.naming is Naming.TABLE for one in groups):
        return list(by)
    shown = set(values[MARGIN])
    made = {name for text, some in _named_margins(by) if text in shown for name in some}
    return [name for name in by if name in made or not made]


def _named_margins(by: Sequence[Name]) -> Iterator[tuple[str, tuple[Name, ...]]]:
    """Name every roll-up as the methods do."""
    for size in range(len(by) + 1):
        for some in combinations(by, size):
            yield margin_name(some), some
