"""The rows of a result that a table shows, in their order, and those to mark as the worst."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from typing import Any

from balframe.api.columns import MIN_SUPPORT, WORSE
from balframe.frames.adapter import Name
from balframe.frames.query import N
from balframe.metrics.registry import Metric
from balframe.tables.layout import ResultLayout, lookup_metric

CellKey = tuple[Name, int]


@dataclass(frozen=True, slots=True)
class RowSelection:
    """The rows that are shown, in their order; `cuts` are those that follow omitted rows.

    Rows of unknown category are neither shown nor counted as omitted: a note is on them.
    """

    rows: list[int]
    cuts: set[int]
    n_omitted: int
    ranked_by: str | None


def select_rows(layout: ResultLayout, max_rows: int | None) -> RowSelection:
    """Return the rows of each group, roll-ups last, without those between the extremes."""
    groups: dict[tuple[Any, ...], list[int]] = {}
    candidates = [row for row in range(layout.n_rows) if not layout.is_unknown_category(row)]
    for row in candidates:
        groups.setdefault(layout.group_key(row), []).append(row)
    finest = [[row for row in rows if layout.is_finest(row)] for rows in groups.values()]
    n_finest = sum(map(len, finest))
    by = _ranking_column(layout)
    quota = None if max_rows is None or n_finest <= max_rows else max(max_rows // len(groups), 2)
    selected: list[int] = []
    cuts: set[int] = set()
    for rows, segments in zip(groups.values(), finest, strict=True):
        if quota is not None and len(segments) > quota:
            segments = _extreme_rows(layout, by, segments, quota)
            cuts |= set() if by is None else {segments[(quota + 1) // 2]}
        selected += [*segments, *(row for row in rows if not layout.is_finest(row))]
    n_omitted = len(candidates) - len(selected)
    return RowSelection(selected, cuts, n_omitted, None if by is None else str(by))


def _extreme_rows(layout: ResultLayout, by: Name | None, rows: list[int], quota: int) -> list[int]:
    """Return the worst and the best rows, worst first; without a score to rank by, the first.

    Of periods, it returns the last ones, as many as the quota allows.
    """
    if layout.period_column is not None:
        return _latest_rows(layout.values[layout.period_column], rows, quota)
    if by is None:
        return rows[:quota]
    ranks = {row: _rank_key(layout, by, row) for row in rows}
    ranked = sorted(
        (row for row in rows if ranks[row] is not None), key=lambda row: ranks[row] or ()
    )
    if len(ranked) < quota:
        ranked += [row for row in rows if ranks[row] is None]
    return ranked[: (quota + 1) // 2] + ranked[len(ranked) - quota // 2 :]


def _latest_rows(periods: Sequence[Any], rows: list[int], quota: int) -> list[int]:
    """Return all rows of the last periods, and of one period at least."""
    n = Counter(periods[row] for row in rows)
    kept, n_kept = set[Any](), 0
    for period in sorted(n, reverse=True):
        n_kept += n[period]
        if kept and n_kept > quota:
            break
        kept.add(period)
    return [row for row in rows if periods[row] in kept]


def _rank_key(layout: ResultLayout, by: Name, row: int) -> tuple[float, float] | None:
    """Return a key that is smaller the worse a row is, or None if its score is undefined."""
    value = layout.values[by][row]
    if value is None:
        return None
    for name, column in layout.columns.items():
        if column.statuses is not None:
            rule = layout.rule(row)
            sign = -1 if rule is not None and rule.operator.startswith("<") else 1
            worst_first = (column.statuses.bad, column.statuses.undecided, column.statuses.good)
            status = layout.values[name][row]
            rank = worst_first.index(status) if status in worst_first else len(worst_first)
            return rank, sign * value
    metric = layout.metric(by, row)
    return 0, -value if metric is not None and metric.better == "lower" else value


def _ranking_column(layout: ResultLayout) -> Name | None:
    """Return the first column to rank by; of those named by metrics, one that has a direction."""
    metrics = {
        name: lookup_metric(column.placeholder_value)
        for name, column in layout.columns.items()
        if column.ranks_rows
    }
    return next(
        (
            name
            for name, metric in metrics.items()
            if layout.columns[name].placeholder_value is None
            or (metric is not None and metric.better)
        ),
        None,
    )


class SupportKind(Enum):
    """Which rows the support of a score counts."""

    DENOMINATOR = "smallest denominator"
    RAREST_LABEL = "rarest label"
    SEGMENT = "segment"
    UNKNOWN = ""


@dataclass(frozen=True, slots=True)
class ComparedScores:
    """The scores of one column and metric whose verdict is that they are worse; their supports."""

    name: Name
    better: str
    values: Mapping[int, float]
    support_kind: SupportKind
    support: Mapping[int, float | None]

    def with_min_support(self, min_support: int) -> dict[int, float]:
        """Return the scores whose support is known and at least this large; for 0, all."""
        return {
            row: value
            for row, value in self.values.items()
            if not min_support or (self.support.get(row) or 0) >= min_support
        }


def compared_scores(layout: ResultLayout) -> list[ComparedScores]:
    """Return the scores that are compared with a reference, where one direction is better."""
    families: dict[object, list[int]] = {}
    for row in filter(layout.is_finest, range(layout.n_rows)):
        families.setdefault(layout.comparison_key(row), []).append(row)
    compared = []
    for name, verdicts in layout.tested_columns().items():
        for rows in families.values():
            metric = layout.metric(name, rows[0])
            if metric is not None and metric.better is not None:
                scores = {
                    row: layout.values[name][row]
                    for row in rows
                    if layout.values[verdicts][row] == WORSE
                }
                kind, counts = _support(layout, name, metric)
                support = {row: counts[row] for row in rows} if counts else {}
                compared.append(ComparedScores(name, metric.better, scores, kind, support))
    return compared


def worst_cells(
    compared: Sequence[ComparedScores], n_worst: int, min_support: int
) -> dict[CellKey, str]:
    """Return the cells of the worst segments, with the direction that is better in each."""
    return {
        (scores.name, row): scores.better
        for scores in compared
        for row in _worst_rows(scores.with_min_support(min_support), scores.better, n_worst)
    }


def _support(
    layout: ResultLayout, name: Name, metric: Metric
) -> tuple[SupportKind, Sequence[float | None]]:
    """Return the rows of the smallest denominator, or those of the segment in its place."""
    column, values, least = layout.columns[name], layout.values, metric.interval.least_count
    support = N if least == N else column.support
    if support in layout.columns and support != N:
        is_rarest = support == MIN_SUPPORT and least is None
        return SupportKind.RAREST_LABEL if is_rarest else SupportKind.DENOMINATOR, values[support]
    if N in layout.columns:
        return SupportKind.DENOMINATOR if least == N else SupportKind.SEGMENT, values[N]
    return SupportKind.UNKNOWN, ()


def _worst_rows(values: Mapping[int, float], better: str, n_worst: int) -> set[int]:
    """Return the rows with the worst values and their ties."""
    if not n_worst or not values:
        return set()
    ordered = sorted(values.values(), reverse=better == "lower")
    last = ordered[min(n_worst, len(ordered)) - 1]
    return {r for r, v in values.items() if (v <= last if better == "higher" else v >= last)}
