"""The groups of a model: their rates, and how those of a column compare."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import compress
from typing import Any, Protocol, Self, TypeVar

from balframe.audit_page.disclosure import small_count, withheld_parts
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

MAX_COLUMNS = 6  # of which a page compares the groups
MAX_GROUPS = 20  # of a column that a page shows and compares

T = TypeVar("T")


class _Estimated(Protocol):
    @property
    def estimate(self) -> Estimate: ...


EstimatedT = TypeVar("EstimatedT", bound=_Estimated)


@dataclass(slots=True)
class Difference:
    """A difference with its p-value, which is adjusted over the page when all are known.

    The limits of all differences of a page have one level, at which they exclude 0 exactly where
    the adjusted p-value is below alpha.
    """

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
        """Return whether it is more than chance explains, which the page calls established."""
        return self.p_adjusted is not None and self.p_adjusted < self.alpha

    @property
    def p_text(self) -> str:
        """Write the adjusted p-value."""
        return p_value(self.p_adjusted, self.alpha)


@dataclass(frozen=True, slots=True)
class Extremes:
    """The groups with the lowest and the highest rate, and how far apart they are.

    The limits allow for having picked the two, and for all comparisons of the page. Groups are
    values; `is_compared` is false where fewer than two can be compared.
    """

    is_compared: bool
    lowest: Any
    highest: Any
    low: float | None
    high: float | None
    distance: Estimate

    @property
    def is_significant(self) -> bool:
        """Return whether any groups of the column differ by more than chance explains."""
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
        return f"no difference is established; {possible_difference(self.distance.upper)}"

    @property
    def distance_text(self) -> str:
        """Write the distance with its limits: `30 points (21 to 38)`."""
        return f"{points(self.distance.value)} ({DISTANCE.limits(self.distance)})"


NOT_COMPARED = Extremes(
    is_compared=False, lowest=None, highest=None, low=None, high=None, distance=UNDEFINED
)


def possible_difference(difference: float | None) -> str:
    """State how large a difference may still be that is not significant."""
    return f"it may be up to {points(difference)}"


@dataclass(frozen=True, slots=True)
class Comparison:
    """How the groups of a column compare in a rate.

    `differences` are those of each group from all others together, by value; of two groups, that
    of the one with the higher rate from the other. `spread` is the test that any two differ, which
    of two groups is the same test. `furthest` are the two groups furthest apart.
    """

    differences: Mapping[Any, Difference]
    spread: Difference | None
    furthest: Extremes

    @property
    def tests(self) -> Iterator[Difference]:
        """Return the tests whose p-values are adjusted, each once."""
        yield from self.differences.values()
        if self.spread is not None:
            yield self.spread

    @property
    def extremes(self) -> Extremes:
        """Return the groups furthest apart, with limits that agree with all tests of the rate.

        Those of a group that differs from all others together lie as far apart as these two or
        further, so the lower limit of that difference is one of the distance as well.
        """
        furthest = self.furthest
        if furthest.distance.upper is None:
            return furthest
        lower = max(
            [furthest.distance.lower or 0.0, *map(_nearer_limit, self.differences.values())]
        )
        upper = max(furthest.distance.upper, lower)
        return replace(furthest, distance=furthest.distance._replace(lower=lower, upper=upper))


def _nearer_limit(difference: Difference) -> float:
    """Return how far the limit that is nearer to 0 lies from it; 0 where they include it."""
    lower, upper = difference.estimate.lower, difference.estimate.upper
    if lower is None or upper is None:
        return 0.0
    return max(lower, -upper, 0.0)


@dataclass(frozen=True, slots=True)
class GroupFigures:
    """A group of a by-column: its value, its counts, and its rates by `Rate`.

    All rows together are a group of no column. `n_true` counts rows with a true label, which may
    be fewer than `n`. `n_rarest` counts the rows of its rarer outcome, None with more than two, or
    without a truth. A group that is withheld has no figures but perhaps `n_text`.
    """

    column: int | None
    value: Any
    n: int
    n_true: Mapping[Label, int]
    n_predicted: Mapping[Label, int]
    rates: Mapping[Rate, Estimate]
    n_rarest: int | None
    min_support: int
    is_withheld: bool = False
    n_text: str = ""

    def is_small(self, rate: Rate) -> bool:
        """Return whether it has too few rows to compare: of an outcome, or in the denominator."""
        if self.is_withheld or not self.rates[rate].is_defined:
            return True
        n = self.rates[rate].n
        return (n if self.n_rarest is None else min(n, self.n_rarest)) < self.min_support

    @property
    def n_labelled(self) -> int:
        """Return how many rows have a true label."""
        return sum(self.n_true.values())

    def name(self, request: Request) -> str:
        """Return its value with its column: `Other (race)`."""
        assert self.column is not None, "all rows have no name"
        return f"{quote(self.value)} ({request.column(self.column)})"


@dataclass(frozen=True, slots=True)
class ColumnFigures:
    """The groups of a by-column, those that tables show, and their comparisons by `Rate`."""

    number: int
    groups: Sequence[GroupFigures]
    largest_groups: Sequence[GroupFigures]
    comparisons: Mapping[Rate, Comparison]

    def compared(self, rate: Rate) -> list[GroupFigures]:
        """Return the groups that are shown and large enough to compare in a rate."""
        return [group for group in self.largest_groups if not group.is_small(rate)]

    def difference(self, group: GroupFigures, rate: Rate) -> Difference | None:
        """Return the difference of a group from all others; None where it is not compared."""
        return self.comparisons[rate].differences.get(group.value)

    def extremes(self, rate: Rate) -> Extremes:
        """Return the groups furthest apart in a rate."""
        return self.comparisons[rate].extremes


def measure_overall(cells: ModelCells, rates: Rates) -> GroupFigures:
    """Return the rates of all rows together."""
    return _measure_groups(cells, cells.of_column(None), rates, None, {None: cells.matrix})[0]


def measure_groups(cells: ModelCells, rates: Rates, column: int) -> list[GroupFigures]:
    """Return the rates of the groups of a by-column."""
    frame, by = cells.of_column(column), by_name(column)
    by_value: dict[Any, list[Row]] = {}
    for row in row_dicts(frame):
        by_value.setdefault(row[by], []).append(row)
    counts = {value: count_labels(rows) for value, rows in by_value.items()}
    groups = _measure_groups(cells, frame, rates, column, counts)
    least = cells.request.suppress
    return groups if least is None else _withhold(groups, counts, cells.pairs, least)


def _withhold(
    groups: Sequence[GroupFigures],
    counts: Mapping[Any, Mapping[tuple[Label, Label], int]],
    pairs: Sequence[tuple[Label, Label]],
    least: int,
) -> list[GroupFigures]:
    """Take the figures from groups that have a small count, or that would reveal one."""
    matrices = [[counts[group.value].get(pair, 0) for pair in pairs] for group in groups]
    withheld = withheld_parts(matrices, least)
    of_size = withheld_parts([[group.n] for group in groups], least)
    return [
        replace(
            group,
            is_withheld=True,
            n_text=small_count(group.n, least) if i in of_size else f"{group.n:,}",
            n_true=dict.fromkeys(group.n_true, 0),
            n_predicted=dict.fromkeys(group.n_predicted, 0),
            rates=dict.fromkeys(group.rates, UNDEFINED),
        )
        if i in withheld
        else group
        for i, group in enumerate(groups)
    ]


def compare_groups(
    cells: ModelCells, rates: Rates, column: int, groups: Sequence[GroupFigures], level: float
) -> ColumnFigures:
    """Compare the largest groups of a by-column in all rates, with limits at a level."""
    largest_groups = largest(groups, MAX_GROUPS, lambda group: group.n)
    together: dict[Any, list[Rate]] = {}  # what one call of a method compares
    for rate in rates.ranked:
        is_large = tuple(not group.is_small(rate) for group in largest_groups)
        together.setdefault((rate.positive, is_large), []).append(rate)
    comparisons: dict[Rate, Comparison] = {}
    for (_, is_large), some in together.items():
        compared = [group.value for group in compress(largest_groups, is_large)]
        if len(compared) < 2:
            comparisons |= dict.fromkeys(some, Comparison({}, None, NOT_COMPARED))
            continue
        others = [group.value for group in groups if group.value not in compared]
        frame = leave_out(cells.of_column(column), column, others)
        by_value = {group.value: group for group in largest_groups}
        comparisons |= _compare(cells, frame, column, some, level, by_value)
    return ColumnFigures(column, groups, largest_groups, comparisons)


def largest(items: Sequence[T], limit: int, size: Callable[[T], float]) -> list[T]:
    """Return the largest items, in their order."""
    by_size = sorted(range(len(items)), key=lambda i: -size(items[i]))
    return [items[i] for i in sorted(by_size[:limit])]


def _compare(
    cells: ModelCells,
    frame: Any,  # noqa: ANN401
    column: int,
    rates: Sequence[Rate],
    level: float,
    groups: Mapping[Any, GroupFigures],
) -> dict[Rate, Comparison]:
    """Compare groups, by their values, in rates at the same positive label."""
    by = by_name(column)
    options = {"by": by, "pos_label": rates[0].positive, "level": level}
    with_gaps = [rate for rate in rates if rate.is_compared]
    differences: dict[Rate, dict[Any, Difference]] = {rate: {} for rate in rates}
    if with_gaps:
        metrics = [rate.metric for rate in with_gaps]
        rows = cells.query(gaps, frame, metrics=metrics, adjust=None, **options)
        for rate in with_gaps:
            differences[rate] = {
                row[by]: Difference.from_row(row) for row in rows if row["metric"] == rate.metric
            }
    with_spread = [rate for rate in rates if rate.metric != BALANCED]
    spreads: dict[Rate, Row] = {}
    if with_spread:
        metrics = [rate.metric for rate in with_spread]
        options |= {"min_support": 1, "detail": False}  # details would take twice as long
        rows = cells.query(disparity, frame, metrics=metrics, **options)
        spreads = dict(zip(with_spread, rows, strict=True))
    comparisons = {}
    for rate in rates:
        row, furthest = spreads.get(rate), NOT_COMPARED
        if row is not None and row["difference"] is not None:
            furthest = _furthest(row, rate, by, groups)
        comparisons[rate] = _comparison(differences[rate], row, furthest)
    return comparisons


def _furthest(row: Row, rate: Rate, by: str, groups: Mapping[Any, GroupFigures]) -> Extremes:
    """Return the groups that a row of `disparity` names."""
    lowest, highest = row[f"lowest_{by}"], row[f"highest_{by}"]
    low, high = (groups[value].rates[rate].value for value in (lowest, highest))
    distance = Estimate.from_row(row, "difference", limits="", n=None)
    return Extremes(True, lowest, highest, low, high, distance)


def one_of_two(differences: Mapping[Any, EstimatedT]) -> Mapping[Any, EstimatedT]:
    """Return differences by group; of two groups, which differ by the same, the higher one's."""
    if len(differences) != 2:
        return differences
    higher = max(differences, key=lambda value: differences[value].estimate.value or 0.0)
    return {higher: differences[higher]}


def _comparison(
    differences: Mapping[Any, Difference], row: Row | None, furthest: Extremes
) -> Comparison:
    is_of_two = len(differences) == 2
    differences = one_of_two(differences)
    if row is None or is_of_two:
        return Comparison(differences, None, furthest)
    return Comparison(differences, Difference(furthest.distance, row["p_value"]), furthest)


def _measure_groups(
    cells: ModelCells,
    frame: Any,  # noqa: ANN401
    rates: Rates,
    column: int | None,
    counts: Mapping[Any, Mapping[tuple[Label, Label], int]],
) -> list[GroupFigures]:
    by, level = None if column is None else by_name(column), cells.request.level
    has_truth = not cells.request.is_of_outcomes
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
    groups = []
    for rows in zip(*results, strict=True):
        value = rows[0].get(by)
        matrix = counts[value]
        n_true, n_predicted = sum_matrix(matrix, cells.labels)
        support = _supports(matrix, cells)
        estimates = {
            rate: Estimate.from_row(row, rate.metric)._replace(n=support(rate))
            for row, some in zip(rows, by_label.values(), strict=True)
            for rate in some
        }
        groups.append(
            GroupFigures(
                column,
                value,
                sum(matrix.values()),
                n_true,
                n_predicted,
                {rate: estimates[rate] for rate in rates.all},
                min(n_true.values()) if cells.is_binary and has_truth else None,
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


def _supports(
    matrix: Mapping[tuple[Label, Label], int], cells: ModelCells
) -> Callable[[Rate], int]:
    """Return a function that counts the rows in the denominator of a rate.

    In a mean of recalls, these are of the rarest label on the page. Only a selection rate counts
    rows without a true label.
    """
    labelled = {pair: n for pair, n in matrix.items() if pair[0] is not None}
    n_true, n_predicted = sum_matrix(labelled, cells.labels)
    n_labelled, n = sum(labelled.values()), sum(matrix.values())

    def support(rate: Rate) -> int:
        if rate.metric == BALANCED:
            return min(n_true[label] for label, total in cells.n_true.items() if total)
        if rate.positive is None:
            return n_labelled
        positives = n_true[rate.positive]
        return {
            "recall": positives,
            "false_negative_rate": positives,
            "specificity": n_labelled - positives,
            "false_positive_rate": n_labelled - positives,
            "precision": n_predicted[rate.positive],
            "selection_rate": n,
        }.get(rate.metric, n_labelled)

    return support
