"""Roll-ups of cells or ties: over all rows, or over every subset of the by-columns."""

from collections.abc import Sequence
from typing import Protocol, Self, TypeVar

from balframe.core.array_types import Int64Array
from balframe.core.column_subsets import column_subsets
from balframe.errors import NAME, Advice, InvalidInputError, parameter
from balframe.frames.adapter import Adapter, Name, Series
from balframe.frames.query import GROUPED_BY, Query, margin_name


class _Sums(Protocol):
    """Sums by segment, of cells or of ties."""

    @property
    def by(self) -> tuple[Int64Array, ...]: ...

    def rolled_up(self, kept: Sequence[int], codes: Sequence[int | None]) -> Self: ...

    def sorted_by(self, columns: Sequence[int]) -> Self: ...

    def with_constant_column(self, code: int, *, first: bool) -> Self: ...

    @classmethod
    def concat(cls, parts: Sequence[Self]) -> Self: ...


_SumsT = TypeVar("_SumsT", bound=_Sums)


def add_margins(
    cells: _SumsT, levels: dict[Name, Series], adapter: Adapter, query: Query
) -> tuple[_SumsT, dict[Name, Series]]:
    """Add the requested roll-ups, finest first, and a column that names their by-columns."""
    if query.margins is False:
        return cells, levels
    subsets = margin_subsets(query)
    codes: list[int | None] = [len(levels[name]) for name in query.by]
    codes += [None] * (len(cells.by) - len(codes))
    parts, n_cells = list[_SumsT](), 0
    for margin, kept in enumerate(subsets):
        part = cells.rolled_up(kept, codes).with_constant_column(margin, first=True)
        parts.append(part)
        n_cells += len(part.by[0])
        if query.margins == "all" and n_cells > query.max_cells:
            raise _too_many_cells_error(query, margin + 1, len(subsets))
    names = [margin_name([query.by[i] for i in kept]) for kept in subsets]
    return type(cells).concat(parts), {GROUPED_BY: adapter.text_series(names), **levels}


def _too_many_cells_error(query: Query, n_done: int, n_subsets: int) -> InvalidInputError:
    """Return the error for roll-ups that together have more cells than a frame should."""
    return InvalidInputError(
        "the first {:,} of {:,} roll-ups of {margins} have more cells than {max_cells}. Give {}, "
        "or fewer columns per call, or put their values into fewer groups; with enough memory, "
        "raise {}. To find the combinations that score worst, call slices.",
        n_done,
        n_subsets,
        parameter("margins", Advice("overall")),
        parameter("max_cells", NAME),
        margins=Advice("all"),
        max_cells=query.max_cells,
    )


def add_margins_by_cluster(
    cells: _SumsT, levels: dict[Name, Series], adapter: Adapter, query: Query
) -> tuple[_SumsT, dict[Name, Series], _SumsT | None]:
    """Add the roll-ups; return the sums of each cluster too, if rows are in clusters.

    The column of clusters comes after the by-columns that the caller named. In the sums of clusters
    it is the last; the other sums are added up over it.
    """
    if query.cluster is None:
        return *add_margins(cells, levels, adapter, query), None
    position = len(query.by)
    others = [column for column in range(len(cells.by)) if column != position]
    levels = {name: series for name, series in levels.items() if name != query.cluster}
    clusters, levels = add_margins(cells.sorted_by([*others, position]), levels, adapter, query)
    return clusters.sorted_by(range(len(clusters.by) - 1)), levels, clusters


def margin_subsets(query: Query) -> list[tuple[int, ...]]:
    """Return the positions of the by-columns that each margin keeps, the finest first.

    With margins "each", every column alone comes before all together.
    """
    n = len(query.by)
    if query.margins == "each":
        return column_subsets(n, sorted({1, n}))
    sizes = {False: {n}, "overall": {n, 0}, "all": {*range(n + 1)}}[query.margins]
    return column_subsets(n, sorted(sizes, reverse=True))
