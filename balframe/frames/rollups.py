"""Roll-ups of cells or ties: over all rows, or over every subset of the by-columns."""

from collections.abc import Sequence
from typing import Protocol, Self, TypeVar

from balframe.core.array_types import Int64Array
from balframe.core.column_subsets import groupings
from balframe.frames.adapter import Adapter, Name, Series
from balframe.frames.query import MARGIN, Query, margin_name


class _Sums(Protocol):
    """Sums by segment, of cells or of ties."""

    @property
    def by(self) -> tuple[Int64Array, ...]: ...

    def rolled_up(self, kept: Sequence[int], codes: Sequence[int | None]) -> Self: ...

    def sorted_by(self, columns: Sequence[int]) -> Self: ...

    def labelled(self, code: int, *, first: bool) -> Self: ...

    @classmethod
    def concat(cls, parts: Sequence[Self]) -> Self: ...


_SumsT = TypeVar("_SumsT", bound=_Sums)


def with_margins(
    cells: _SumsT, levels: dict[Name, Series], library: Adapter, query: Query
) -> tuple[_SumsT, dict[Name, Series]]:
    """Add the roll-ups asked for, finest first, and a column of the by-columns that make each."""
    if query.margins is False:
        return cells, levels
    subsets = margin_subsets(query)
    rolled: list[int | None] = [len(levels[name]) for name in query.by]
    rolled += [None] * (len(cells.by) - len(rolled))
    parts = [
        cells.rolled_up(kept, rolled).labelled(margin, first=True)
        for margin, kept in enumerate(subsets)
    ]
    names = [margin_name([query.by[i] for i in kept]) for kept in subsets]
    return type(cells).concat(parts), {MARGIN: library.text(names), **levels}


def with_clusters(
    cells: _SumsT, levels: dict[Name, Series], library: Adapter, query: Query
) -> tuple[_SumsT, dict[Name, Series], _SumsT | None]:
    """Add the roll-ups, and give the sums of each cluster too, where rows are in clusters.

    Their column stands behind the by-columns that the caller named; in the sums of clusters it is
    the last, and all others are added up over it.
    """
    if query.cluster is None:
        return *with_margins(cells, levels, library, query), None
    at = len(query.by)
    others = [column for column in range(len(cells.by)) if column != at]
    levels = {name: one for name, one in levels.items() if name != query.cluster}
    clusters, levels = with_margins(cells.sorted_by([*others, at]), levels, library, query)
    return clusters.sorted_by(range(len(clusters.by) - 1)), levels, clusters


def margin_subsets(query: Query) -> list[tuple[int, ...]]:
    """List the positions of the by-columns that each margin keeps, the finest first.

    Where each column is one of them, it comes before all together.
    """
    n = len(query.by)
    if query.margins == "each":
        return groupings(n, sorted({1, n}))
    sizes = {False: {n}, "overall": {n, 0}, "all": {*range(n + 1)}}[query.margins]
    return groupings(n, sorted(sizes, reverse=True))
