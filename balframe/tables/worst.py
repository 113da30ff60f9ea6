"""The segments that score worst, among those with enough rows to tell."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import Enum

from balframe.api.columns import MIN_SUPPORT, Kind, Role
from balframe.frames.adapter import Name
from balframe.frames.query import N
from balframe.metrics.registry import Metric
from balframe.tables.layout import Layout

LEAST = 10  # rows, as `bf.table` and terminals ask for

Cell = tuple[Name, int]


class Of(Enum):
    """What is known of the rows behind a score."""

    DENOMINATOR = "smallest denominator"
    RAREST = "rarest label"
    SEGMENT = "segment"
    NOTHING = ""


@dataclass(frozen=True, slots=True)
class Family:
    """The scores of one column and metric that are compared, by row, and the rows behind each."""

    name: Name
    better: str
    values: Mapping[int, float]
    known: Of
    support: Mapping[int, float | None]

    def large(self, least: int) -> dict[int, float]:
        """Keep the scores that have enough rows behind them, as far as that is known."""
        return {
            row: value
            for row, value in self.values.items()
            if not least or (self.support.get(row) or 0) >= least
        }


def compared(layout: Layout) -> list[Family]:
    """List the scores in which segments are compared, where one direction is better."""
    families: dict[object, list[int]] = {}
    for row in filter(layout.is_finest, range(layout.n_rows)):
        families.setdefault(layout.family(row), []).append(row)
    found = []
    for name in layout.compared():
        for rows in families.values():
            metric = layout.metric(name, rows[0])
            if metric is not None and metric.better is not None:
                values = {row: layout.values[name][row] for row in rows}
                scores = {row: value for row, value in values.items() if value is not None}
                known, support = _support(layout, name, metric)
                behind = {row: support[row] for row in rows} if support else {}
                found.append(Family(name, metric.better, scores, known, behind))
    return found


def worst_cells(families: Sequence[Family], most: int, least: int) -> dict[Cell, str]:
    """Find the cells of the worst segments, and which direction is better in each."""
    return {
        (one.name, row): one.better
        for one in families
        for row in _worst(one.large(least), one.better, most)
    }


def _support(layout: Layout, name: Name, metric: Metric) -> tuple[Of, Sequence[float | None]]:
    """Count the rows of the smallest denominator; of the segment where the answer has no others."""
    column, values, least = layout.columns[name], layout.values, metric.interval.least_count
    support = N if least == N else column.support
    if support in layout.columns and support != N:
        known = Of.RAREST if support == MIN_SUPPORT and least is None else Of.DENOMINATOR
        return known, _of_rest(layout, support) if column.of_rest else values[support]
    if N in layout.columns:
        return Of.DENOMINATOR if least == N else Of.SEGMENT, values[N]
    return Of.NOTHING, ()


def _of_rest(layout: Layout, name: Name) -> list[float]:
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


def _worst(values: Mapping[int, float], better: str, most: int) -> set[int]:
    """Find the rows with the worst values, ties with them; none where that would be all."""
    if not most or not values:
        return set()
    ordered = sorted(values.values(), reverse=better == "lower")
    last = ordered[min(most, len(ordered)) - 1]
    found = {r for r, v in values.items() if (v <= last if better == "higher" else v >= last)}
    return found if len(found) < len(values) else set()
