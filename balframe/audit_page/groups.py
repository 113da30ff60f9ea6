"""What verbs answer about the groups of a model: rates, differences, and the groups far apart."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from balframe.audit_page.counted import CALL, TRUTH, Counted, N, key_of
from balframe.audit_page.numbers import Estimate
from balframe.audit_page.queries import Asking
from balframe.audit_page.rates import BALANCED, Rate, Rates
from balframe.audit_page.request import Asked
from balframe.core.label_set import Label
from balframe.methods.comparisons.disparity import disparity
from balframe.methods.comparisons.gaps import gaps
from balframe.methods.scores.confusion import confusion
from balframe.methods.scores.report import report


@dataclass(slots=True)
class Difference:
    """A difference between a group and others, with its p-value, adjusted over the page later."""

    estimate: Estimate
    p: float | None
    adjusted: float | None = None

    def is_shown(self, alpha: float) -> bool:
        """Tell whether it is more than chance explains."""
        return self.adjusted is not None and self.adjusted < alpha


@dataclass(frozen=True, slots=True)
class Extremes:
    """The groups with the lowest and the highest rate, and how far apart they are.

    The limits allow for having picked the two. Groups are positions; None where fewer than two can
    be compared.
    """

    lowest: int | None
    highest: int | None
    low: float | None
    high: float | None
    apart: Estimate

    @property
    def is_shown(self) -> bool:
        """Tell whether any two groups are shown to differ."""
        return self.apart.lower is not None and self.apart.lower > 0


NOT_COMPARED = Extremes(None, None, None, None, Estimate(None, None, None))


@dataclass(frozen=True, slots=True)
class GroupOf:
    """A group of a column: its value, its counts, and its rates and differences by `Rate`.

    `n_rarest` counts the rows of its rarer outcome, None with more than two.
    """

    value: Any
    n: int
    n_true: Mapping[Label, int]
    n_called: Mapping[Label, int]
    rates: Mapping[Rate, Estimate]
    differences: Mapping[Rate, Difference]
    n_rarest: int | None

    def is_small(self, rate: Rate, least: int) -> bool:
        """Tell whether it has too few rows to be ranked: of an outcome, or in the denominator."""
        n = self.rates[rate].n
        return (n if self.n_rarest is None else min(n, self.n_rarest)) < least


@dataclass(frozen=True, slots=True)
class ColumnOf:
    """The groups of a by-column, and those furthest apart by `Rate`."""

    number: int
    groups: Sequence[GroupOf]
    extremes: Mapping[Rate, Extremes]


def overall_of(asking: Asking, rates: Rates) -> GroupOf:
    """Measure all rows together."""
    return _groups(asking, rates, None)[0]


def column_of(asking: Asking, rates: Rates, column: int) -> ColumnOf:
    """Measure the groups of a by-column, and compare them."""
    of_column = asking.of_column(column)
    groups = _groups(of_column, rates, column)
    large = of_column.without(column, too_small(groups, asking.asked))
    return ColumnOf(column, groups, _extremes(large, rates, column, groups))


def too_small(groups: Iterable[GroupOf], asked: Asked) -> list[Any]:
    """List the values of the groups that have too few rows of one of two outcomes."""
    return [
        group.value
        for group in groups
        if group.n_rarest is not None and group.n_rarest < asked.min_support
    ]


def _groups(asking: Asking, rates: Rates, column: int | None) -> list[GroupOf]:
    by = None if column is None else key_of(column)
    counts = _counts(asking, by)
    level = asking.asked.level
    found: dict[Rate, list[Estimate]] = {}
    for positive, some in _by_positive(rates.every):
        metrics = [one.metric for one in some]
        rows = asking.rows(report, positive, by=by, metrics=metrics, interval=True, level=level)
        for rate in some:
            found[rate] = [
                Estimate(
                    row[rate.metric],
                    row[f"{rate.metric}_lower"],
                    row[f"{rate.metric}_upper"],
                    _support(rate, row["n"], *counts[row.get(by)], asking.counted),
                )
                for row in rows
            ]
    compared = {} if by is None else _differences(asking, rates, by)
    values = [row.get(by) for row in rows]
    return [
        GroupOf(
            value,
            sum(counts[value][0].values()),
            *counts[value],
            {rate: estimates[at] for rate, estimates in found.items()},
            {rate: some[at] for rate, some in compared.items()},
            min(counts[value][0].values()) if asking.counted.positive is not None else None,
        )
        for at, value in enumerate(values)
    ]


def _by_positive(rates: Iterable[Rate]) -> list[tuple[Label | None, list[Rate]]]:
    """Put the rates together that one call of a verb can answer."""
    found: dict[Label | None, list[Rate]] = {}
    for rate in rates:
        found.setdefault(rate.positive, []).append(rate)
    return list(found.items())


def _counts(asking: Asking, by: str | None) -> dict[Any, tuple[dict[Label, int], dict[Label, int]]]:
    """Count the rows of each group by what happened and by what was called."""
    cells = asking.rows(confusion, by=by)
    found: dict[Any, tuple[dict[Label, int], dict[Label, int]]] = {}
    for cell in cells:
        truth, called = found.setdefault(
            cell.get(by),
            (dict.fromkeys(asking.counted.labels, 0), dict.fromkeys(asking.counted.labels, 0)),
        )
        truth[cell[TRUTH]] += cell[N]
        called[cell[CALL]] += cell[N]
    return found


def _support(
    rate: Rate, n: int, truth: Mapping[Label, int], called: Mapping[Label, int], counted: Counted
) -> int:
    """Count the rows in the denominator; in a mean of recalls, of the rarest label on the page."""
    if rate.metric == BALANCED:
        return min(truth[label] for label, total in counted.n_true.items() if total)
    if rate.positive is None:
        return n
    positives = truth[rate.positive]
    return {
        "recall": positives,
        "false_negative_rate": positives,
        "specificity": n - positives,
        "false_positive_rate": n - positives,
        "precision": called[rate.positive],
    }.get(rate.metric, n)


def _differences(asking: Asking, rates: Rates, by: str) -> dict[Rate, list[Difference]]:
    """Compare each group with all others of its column."""
    found: dict[Rate, list[Difference]] = {}
    for positive, some in _by_positive(rates.compared):
        metrics = [one.metric for one in some]
        rows = asking.rows(
            gaps, positive, by=by, metrics=metrics, adjust=None, level=asking.asked.level
        )
        for rate in some:
            found[rate] = [
                Difference(
                    Estimate(row["difference"], row["lower"], row["upper"], row["n"]),
                    row["p_value"],
                )
                for row in rows
                if row["metric"] == rate.metric
            ]
    return found


def _extremes(
    asking: Asking, rates: Rates, column: int, groups: Sequence[GroupOf]
) -> dict[Rate, Extremes]:
    if not asking.cells.height:
        return dict.fromkeys(rates.ranked, NOT_COMPARED)
    by = key_of(column)
    position = {group.value: at for at, group in enumerate(groups)}
    found: dict[Rate, Extremes] = {}
    for positive, some in _by_positive(rates.ranked):
        rows = asking.rows(
            disparity,
            positive,
            by=by,
            metrics=[one.metric for one in some],
            min_support=asking.asked.min_support,
            level=asking.asked.level,
        )
        for rate, row in zip(some, rows, strict=True):
            is_compared = row["n_segments"] > 1
            found[rate] = Extremes(
                position[row[f"lowest_{by}"]] if is_compared else None,
                position[row[f"highest_{by}"]] if is_compared else None,
                row["lowest"],
                row["highest"],
                Estimate(
                    row["difference"],
                    row["difference_lower"],
                    row["difference_upper"],
                    row["n_segments"],
                ),
            )
    return found
