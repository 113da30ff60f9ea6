"""The groups of a model: their rates, their differences from others, and those furthest apart."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Self

from balframe.audit_page.numbers import DISTANCE, UNDEFINED, Estimate, p_value, percent, points
from balframe.audit_page.queries import (
    ModelCells,
    Row,
    by_name,
    count_labels,
    leave_out,
    sum_matrix,
)
from balframe.audit_page.rates import BALANCED, Rate, Rates
from balframe.audit_page.request import Request
from balframe.audit_page.text import quote
from balframe.core.label_set import Label
from balframe.frames.convert_result import row_dicts
from balframe.methods.comparisons.disparity import disparity
from balframe.methods.comparisons.gaps import gaps
from balframe.methods.scores.report import report

MAX_COLUMNS = 6  # of which a page shows the groups


@dataclass(slots=True)
class Difference:
    """A difference with its p-value, which is adjusted over the page when all are known."""

    estimate: Estimate
    p: float | None
    p_adjusted: float | None = None
    alpha: float = 0.0

    @classmethod
    def from_row(cls, row: Row) -> Self:
        """Read the difference in a row of a result."""
        return cls(Estimate.from_row(row, "difference", limits=""), row["p_value"])

    @property
    def is_significant(self) -> bool:
        """Return whether it is more than chance explains."""
        return self.p_adjusted is not None and self.p_adjusted < self.alpha

    @property
    def p_text(self) -> str:
        """Write the adjusted p-value."""
        return p_value(self.p_adjusted, self.alpha)


@dataclass(frozen=True, slots=True)
class Extremes:
    """The groups with the lowest and the highest rate, and how far apart they are.

    The limits allow for having picked the two. Groups are values; `is_compared` is false where
    fewer than two can be compared.
    """

    is_compared: bool
    lowest: Any
    highest: Any
    low: float | None
    high: float | None
    distance: Estimate

    @property
    def is_significant(self) -> bool:
        """Return whether any two groups differ by more than chance explains."""
        return self.distance.lower is not None and self.distance.lower > 0

    @property
    def between(self) -> str:
        """Name the two groups: `from 15% for Other to 45% for African-American`."""
        return (
            f"from {percent(self.low)} for {quote(self.lowest)} to {percent(self.high)} for "
            f"{quote(self.highest)}"
        )

    @property
    def not_significant(self) -> str:
        """State how far apart groups may still be whose difference is not significant."""
        return f"no two groups are shown to differ; {compatible_difference(self.distance.upper)}"

    @property
    def distance_text(self) -> str:
        """Write the distance with its limits: `30 points (21 to 38)`."""
        return f"{points(self.distance.value)} ({DISTANCE.limits(self.distance)})"


NOT_COMPARED = Extremes(
    is_compared=False, lowest=None, highest=None, low=None, high=None, distance=UNDEFINED
)


def compatible_difference(difference: float | None) -> str:
    """State how large a difference may still be that is not significant."""
    return f"the data leave room for up to {points(difference)}"


@dataclass(frozen=True, slots=True)
class GroupFigures:
    """A group of a by-column: its value, its counts, and its rates and differences by `Rate`.

    All rows together are a group of no column. `n_rarest` counts the rows of its rarer outcome,
    None with more than two.
    """

    column: int | None
    value: Any
    n: int
    n_true: Mapping[Label, int]
    n_called: Mapping[Label, int]
    rates: Mapping[Rate, Estimate]
    differences: Mapping[Rate, Difference]
    n_rarest: int | None
    min_support: int

    def is_small(self, rate: Rate) -> bool:
        """Return whether it has too few rows to be ranked: of an outcome, or in the denominator."""
        n = self.rates[rate].n
        return (n if self.n_rarest is None else min(n, self.n_rarest)) < self.min_support

    def name(self, request: Request) -> str:
        """Return its value with its column: `Other (race)`."""
        assert self.column is not None, "all rows have no name"
        return f"{quote(self.value)} ({request.column(self.column)})"


@dataclass(frozen=True, slots=True)
class ColumnFigures:
    """The groups of a by-column, and those furthest apart by `Rate`."""

    number: int
    groups: Sequence[GroupFigures]
    extremes: Mapping[Rate, Extremes]


def measure_overall(cells: ModelCells, rates: Rates) -> GroupFigures:
    """Return the rates of all rows together."""
    return _measure_groups(cells, cells.frame, rates, None, {None: cells.matrix})[0]


def measure_column(cells: ModelCells, rates: Rates, column: int) -> ColumnFigures:
    """Return the rates of the groups of a by-column, and compare them."""
    frame, by = cells.of_column(column), by_name(column)
    by_value: dict[Any, list[Row]] = {}
    for row in row_dicts(frame):
        by_value.setdefault(row[by], []).append(row)
    counts = {value: count_labels(rows) for value, rows in by_value.items()}
    groups = _measure_groups(cells, frame, rates, column, counts)
    return ColumnFigures(column, groups, _extremes(cells, rates, column, groups))


def leave_out_small(cells: ModelCells, column: int, groups: Iterable[GroupFigures]) -> Any:  # noqa: ANN401 (a frame)
    """Return the cells of the groups that have enough rows of both of two outcomes."""
    small = [
        group.value
        for group in groups
        if group.n_rarest is not None and group.n_rarest < cells.request.min_support
    ]
    return leave_out(cells.of_column(column), column, small)


def _measure_groups(
    cells: ModelCells,
    frame: Any,  # noqa: ANN401
    rates: Rates,
    column: int | None,
    counts: Mapping[Any, Mapping[tuple[Label, Label], int]],
) -> list[GroupFigures]:
    by, level = None if column is None else by_name(column), cells.request.level
    by_label = _by_label(rates.all)
    results = [
        cells.query(
            report,
            frame,
            by=by,
            metrics=[rate.metric for rate in some],
            pos_label=label,
            interval=True,
            level=level,
        )
        for label, some in by_label.items()
    ]
    differences = {} if by is None else _differences(cells, frame, rates, by)
    groups = []
    for i, rows in enumerate(zip(*results, strict=True)):
        value = rows[0].get(by)
        n_true, n_called = sum_matrix(counts[value], cells.labels)
        estimates = {
            rate: Estimate.from_row(row, rate.metric)._replace(
                n=_support(rate, row["n"], n_true, n_called, cells)
            )
            for row, some in zip(rows, by_label.values(), strict=True)
            for rate in some
        }
        groups.append(
            GroupFigures(
                column,
                value,
                sum(n_true.values()),
                n_true,
                n_called,
                {rate: estimates[rate] for rate in rates.all},
                {rate: some[i] for rate, some in differences.items()},
                min(n_true.values()) if cells.is_binary else None,
                cells.request.min_support,
            )
        )
    return groups


def _by_label(rates: Iterable[Rate]) -> dict[Label | None, list[Rate]]:
    """Put the rates together that one call of a method returns."""
    by_label: dict[Label | None, list[Rate]] = {}
    for rate in rates:
        by_label.setdefault(rate.positive, []).append(rate)
    return by_label


def _support(
    rate: Rate,
    n: int,
    n_true: Mapping[Label, int],
    n_called: Mapping[Label, int],
    cells: ModelCells,
) -> int:
    """Count the rows in the denominator; in a mean of recalls, of the rarest label on the page."""
    if rate.metric == BALANCED:
        return min(n_true[label] for label, total in cells.n_true.items() if total)
    if rate.positive is None:
        return n
    positives = n_true[rate.positive]
    return {
        "recall": positives,
        "false_negative_rate": positives,
        "specificity": n - positives,
        "false_positive_rate": n - positives,
        "precision": n_called[rate.positive],
    }.get(rate.metric, n)


def _differences(
    cells: ModelCells,
    frame: Any,  # noqa: ANN401
    rates: Rates,
    by: str,
) -> dict[Rate, list[Difference]]:
    """Compare each group with all others of its column."""
    level = cells.request.level
    differences: dict[Rate, list[Difference]] = {}
    for label, some in _by_label(rates.compared).items():
        metrics = [rate.metric for rate in some]
        rows = cells.query(
            gaps, frame, by=by, metrics=metrics, pos_label=label, adjust=None, level=level
        )
        for rate in some:
            differences[rate] = [
                Difference.from_row(row) for row in rows if row["metric"] == rate.metric
            ]
    return differences


def _extremes(
    cells: ModelCells, rates: Rates, column: int, groups: Sequence[GroupFigures]
) -> dict[Rate, Extremes]:
    large = leave_out_small(cells, column, groups)
    if not large.height:
        return dict.fromkeys(rates.ranked, NOT_COMPARED)
    by, request = by_name(column), cells.request
    extremes: dict[Rate, Extremes] = {}
    for label, some in _by_label(rates.ranked).items():
        rows = cells.query(
            disparity,
            large,
            by=by,
            metrics=[rate.metric for rate in some],
            pos_label=label,
            min_support=request.min_support,
            level=request.level,
        )
        for rate, row in zip(some, rows, strict=True):
            extremes[rate] = Extremes(
                row["n_segments"] > 1,
                row[f"lowest_{by}"],
                row[f"highest_{by}"],
                row["lowest"],
                row["highest"],
                Estimate.from_row(row, "difference", limits="", n="n_segments"),
            )
    return extremes
