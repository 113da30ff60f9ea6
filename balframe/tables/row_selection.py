"""Which rows of an answer a table shows, and in which order."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from balframe.frames.adapter import Name
from balframe.tables.layout import Layout, known_metric


@dataclass(frozen=True, slots=True)
class Choice:
    """The rows shown, in their order; `cuts` are the first ones behind rows left out.

    Rows of unknown category are neither shown nor left out: a note is on them.
    """

    rows: list[int]
    cuts: set[int]
    n_left_out: int
    ranked_by: str | None


def choose(layout: Layout, most: int | None) -> Choice:
    """Put rows below their headings, roll-ups last, and leave out what is between the extremes."""
    groups: dict[tuple[Any, ...], list[int]] = {}
    known = [row for row in range(layout.n_rows) if not layout.is_unknown(row)]
    for row in known:
        groups.setdefault(layout.group(row), []).append(row)
    finest = [[row for row in rows if layout.is_finest(row)] for rows in groups.values()]
    n_finest = sum(map(len, finest))
    by = _ranking_column(layout)
    quota = None if most is None or n_finest <= most else max(most // len(groups), 2)
    shown: list[int] = []
    cuts: set[int] = set()
    for rows, segments in zip(groups.values(), finest, strict=True):
        if quota is not None and len(segments) > quota:
            segments = _extremes(layout, by, segments, quota)
            cuts |= set() if by is None else {segments[(quota + 1) // 2]}
        shown += [*segments, *(row for row in rows if not layout.is_finest(row))]
    left_out = len(known) - len(shown)
    return Choice(shown, cuts, left_out, None if by is None else str(by))


def _extremes(layout: Layout, by: Name | None, rows: list[int], quota: int) -> list[int]:
    """Take the worst and the best rows, worst first; without a score to rank by, the first.

    Of periods the last ones are taken, as many as there is room for.
    """
    if layout.time is not None:
        return _latest(layout.values[layout.time], rows, quota)
    if by is None:
        return rows[:quota]
    ranks = {row: _rank(layout, by, row) for row in rows}
    known = sorted(
        (row for row in rows if ranks[row] is not None), key=lambda row: ranks[row] or ()
    )
    if len(known) < quota:
        known += [row for row in rows if ranks[row] is None]
    return known[: (quota + 1) // 2] + known[len(known) - quota // 2 :]


def _latest(periods: Sequence[Any], rows: list[int], quota: int) -> list[int]:
    """Take all rows of the last periods, and of one period at least."""
    n = Counter(periods[row] for row in rows)
    kept, n_kept = set[Any](), 0
    for period in sorted(n, reverse=True):
        n_kept += n[period]
        if kept and n_kept > quota:
            break
        kept.add(period)
    return [row for row in rows if periods[row] in kept]


def _rank(layout: Layout, by: Name, row: int) -> tuple[float, float] | None:
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


def _ranking_column(layout: Layout) -> Name | None:
    """Name the first column to rank by; of those named by metrics, one that has a direction."""
    metrics = {name: known_metric(one.of) for name, one in layout.columns.items() if one.ranks}
    return next(
        (
            name
            for name, metric in metrics.items()
            if layout.columns[name].of is None or (metric is not None and metric.better)
        ),
        None,
    )
