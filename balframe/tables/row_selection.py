"""Which rows of an answer a table shows, and in which order."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from typing import Any

from balframe.api.columns import MIN_SUPPORT, Kind, Role
from balframe.frames.adapter import Name
from balframe.frames.query import N
from balframe.metrics.registry import Metric
from balframe.tables.layout import ResultLayout, lookup_metric

# The segments that score worst, among those with enough rows to tell.


DEFAULT_MIN_SUPPORT = 10  # rows, as `bf.table` and terminals ask for

CellKey = tuple[Name, int]


class SupportKind(Enum):
    """What is known of the rows behind a score."""

    DENOMINATOR = "smallest denominator"
    RAREST_LABEL = "rarest label"
    SEGMENT = "segment"
    UNKNOWN = ""


@dataclass(frozen=True, slots=True)
class ComparedScores:
    """The scores of one column and metric that are compared, by row, and the rows behind each."""

    name: Name
    better: str
    values: Mapping[int, float]
    support_kind: SupportKind
    support: Mapping[int, float | None]

    def with_min_support(self, least: int) -> dict[int, float]:
        """Keep the scores that have enough rows behind them, as far as that is known."""
        return {
            row: value
            for row, value in self.values.items()
            if not least or (self.support.get(row) or 0) >= least
        }


def compared_scores(layout: ResultLayout) -> list[ComparedScores]:
    """List the scores in which segments are compared, where one direction is better."""
    families: dict[object, list[int]] = {}
    for row in filter(layout.is_finest, range(layout.n_rows)):
        families.setdefault(layout.comparison_key(row), []).append(row)
    found = []
    for name in layout.marked_columns():
        for rows in families.values():
            metric = layout.metric(name, rows[0])
            if metric is not None and metric.better is not None:
                values = {row: layout.values[name][row] for row in rows}
                scores = {row: value for row, value in values.items() if value is not None}
                known, support = _support(layout, name, metric)
                behind = {row: support[row] for row in rows} if support else {}
                found.append(ComparedScores(name, metric.better, scores, known, behind))
    return found


def worst_cells(families: Sequence[ComparedScores], most: int, least: int) -> dict[CellKey, str]:
    """Find the cells of the worst segments, and which direction is better in each."""
    return {
        (one.name, row): one.better
        for one in families
        for row in _worst_rows(one.with_min_support(least), one.better, most)
    }


def _support(
    layout: ResultLayout, name: Name, metric: Metric
) -> tuple[SupportKind, Sequence[float | None]]:
    """Count the rows of the smallest denominator; of the segment where the answer has no others."""
    column, values, least = layout.columns[name], layout.values, metric.interval.least_count
    support = N if least == N else column.support
    if support in layout.columns and support != N:
        known = (
            SupportKind.RAREST_LABEL
            if support == MIN_SUPPORT and least is None
            else SupportKind.DENOMINATOR
        )
        return known, _rest_support(layout, support) if column.counts_rest else values[support]
    if N in layout.columns:
        return SupportKind.DENOMINATOR if least == N else SupportKind.SEGMENT, values[N]
    return SupportKind.UNKNOWN, ()


def _rest_support(layout: ResultLayout, name: Name) -> list[float]:
    """Count the rows of the other labels of each segment."""
    columns = layout.columns.items()
    keys = [key for key, one in columns if one.role is Role.KEY and one.kind is not Kind.LABEL]
    parts = zip(*(layout.values[one] for one in [*layout.by, *keys]), strict=True)
    segments = list(parts) or [()] * layout.n_rows
    counts = layout.values[name]
    wholes: dict[object, float] = {}
    for segment, value in zip(segments, counts, strict=True):
        wholes[segment] = wholes.get(segment, 0) + value
    return [wholes[segment] - value for segment, value in zip(segments, counts, strict=True)]


def _worst_rows(values: Mapping[int, float], better: str, most: int) -> set[int]:
    """Find the rows with the worst values, ties with them; none where that would be all."""
    if not most or not values:
        return set()
    ordered = sorted(values.values(), reverse=better == "lower")
    last = ordered[min(most, len(ordered)) - 1]
    found = {r for r, v in values.items() if (v <= last if better == "higher" else v >= last)}
    return found if len(found) < len(values) else set()


@dataclass(frozen=True, slots=True)
class RowSelection:
    """The rows shown, in their order; `cuts` are the first ones behind rows left out.

    Rows of unknown category are neither shown nor left out: a note is on them.
    """

    rows: list[int]
    cuts: set[int]
    n_omitted: int
    ranked_by: str | None


def select_rows(layout: ResultLayout, most: int | None) -> RowSelection:
    """Put rows below their headings, roll-ups last, and leave out what is between the extremes."""
    groups: dict[tuple[Any, ...], list[int]] = {}
    known = [row for row in range(layout.n_rows) if not layout.is_unknown_category(row)]
    for row in known:
        groups.setdefault(layout.group_key(row), []).append(row)
    finest = [[row for row in rows if layout.is_finest(row)] for rows in groups.values()]
    n_finest = sum(map(len, finest))
    by = _ranking_column(layout)
    quota = None if most is None or n_finest <= most else max(most // len(groups), 2)
    shown: list[int] = []
    cuts: set[int] = set()
    for rows, segments in zip(groups.values(), finest, strict=True):
        if quota is not None and len(segments) > quota:
            segments = _extreme_rows(layout, by, segments, quota)
            cuts |= set() if by is None else {segments[(quota + 1) // 2]}
        shown += [*segments, *(row for row in rows if not layout.is_finest(row))]
    left_out = len(known) - len(shown)
    return RowSelection(shown, cuts, left_out, None if by is None else str(by))


def _extreme_rows(layout: ResultLayout, by: Name | None, rows: list[int], quota: int) -> list[int]:
    """Take the worst and the best rows, worst first; without a score to rank by, the first.

    Of periods the last ones are taken, as many as there is room for.
    """
    if layout.period_column is not None:
        return _latest_rows(layout.values[layout.period_column], rows, quota)
    if by is None:
        return rows[:quota]
    ranks = {row: _rank_key(layout, by, row) for row in rows}
    known = sorted(
        (row for row in rows if ranks[row] is not None), key=lambda row: ranks[row] or ()
    )
    if len(known) < quota:
        known += [row for row in rows if ranks[row] is None]
    return known[: (quota + 1) // 2] + known[len(known) - quota // 2 :]


def _latest_rows(periods: Sequence[Any], rows: list[int], quota: int) -> list[int]:
    """Take all rows of the last periods, and of one period at least."""
    n = Counter(periods[row] for row in rows)
    kept, n_kept = set[Any](), 0
    for period in sorted(n, reverse=True):
        n_kept += n[period]
        if kept and n_kept > quota:
            break
        kept.add(period)
    return [row for row in rows if periods[row] in kept]


def _rank_key(layout: ResultLayout, by: Name, row: int) -> tuple[float, float] | None:
    """Give a number that is smaller the worse a row is."""
    value = layout.values[by][row]
    if value is None:
        return None
    found = ((name, one.statuses) for name, one in layout.columns.items())
    statuses = [(name, one) for name, one in found if one is not None]
    if statuses:
        rule = layout.rule(row)
        sign = -1 if rule is not None and rule.operator.startswith("<") else 1
        name, declared = statuses[0]
        worst_first = (declared.bad, declared.undecided, declared.good)
        status = layout.values[name][row]
        place = worst_first.index(status) if status in worst_first else len(worst_first)
        return place, sign * value
    metric = layout.metric(by, row)
    return 0, -value if metric is not None and metric.better == "lower" else value


def _ranking_column(layout: ResultLayout) -> Name | None:
    """Name the first column to rank by; of those named by metrics, one that has a direction."""
    metrics = {
        name: lookup_metric(one.placeholder_value)
        for name, one in layout.columns.items()
        if one.ranks_rows
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
