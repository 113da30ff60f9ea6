"""The rows whose slices are searched: those that a metric counts, with their conditions."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from balframe.api.metric_selection import Scoring
from balframe.core.array_types import BoolArray, Int64Array, RowIndex
from balframe.errors import InvalidInputError, parameter
from balframe.frames.slice_features import Searched
from balframe.methods.slices.conditions import Conditions, Conjunctions, Rows
from balframe.methods.slices.conjunctions import Search
from balframe.methods.slices.strata import OUTSIDE, Strata, strata_of
from balframe.metrics.registry import Metric

_MOST_LEFT_OUT = 0.5  # share of rows in small levels past which a column is reported


@dataclass(frozen=True)
class Population:
    """Rows in their strata, with the conditions on each column.

    A slice and its rest have at least `least` rows of every stratum. `levels` lists the codes of
    the levels that are conditions, by column, and `n_all` counts rows by outcome.
    """

    searched: Searched
    strata: Strata
    least: int
    rows: Rows
    n_all: Int64Array
    columns: Sequence[Conditions]
    levels: Sequence[Int64Array]

    @classmethod
    def of(cls, searched: Searched, metric: Metric, scoring: Scoring, least: int) -> "Population":
        """Take the rows that a metric counts, and the levels with enough of them."""
        strata = strata_of(metric, scoring, searched.reading)
        if searched.measures.weight is not None:
            strata = strata.by_cell()
        n_all = np.zeros(len(strata.of_outcome), np.int64)
        cells = np.flatnonzero(strata.of_cell != OUTSIDE)
        np.add.at(n_all, strata.of_cell[cells], searched.reading.cells.n[cells])
        _check_rows(strata, n_all, least, searched)
        outcome = strata.of_cell[searched.cell]
        is_inside = outcome != OUTSIDE
        inside: RowIndex = slice(None) if is_inside.all() else np.flatnonzero(is_inside)
        narrow = np.min_scalar_type(len(n_all))
        measures = searched.measures.at(inside).summable()
        measures = replace(measures, weight_sq=None, keeps_squares=False)
        rows = Rows(outcome[inside].astype(narrow), len(n_all), measures)

        def are_large(counts: Int64Array) -> BoolArray:
            return np.asarray((strata.n(counts) >= least).all(axis=1))

        found = [
            Conditions.of(
                replace(one, values=one.values[inside]), rows, are_large, least * strata.n_strata
            )
            for one in searched.columns
        ]
        columns = [conditions for conditions, _ in found]
        return cls(searched, strata, least, rows, n_all, columns, [levels for _, levels in found])

    def search(
        self, depth: int, found: Callable[[int], None], advance: Callable[[], None]
    ) -> Iterator[Conjunctions]:
        """Find the slices of one condition, of two and so on; their columns are positions."""
        used = [i for i, levels in enumerate(self.levels) if len(levels)]

        def suits(counts: Int64Array) -> BoolArray:
            n = self.strata.n(counts)
            n_all = self.strata.n(self.n_all)
            return np.asarray(((n >= self.least) & (n_all - n >= self.least)).all(axis=1))

        columns = [self.columns[i] for i in used]
        least = self.least * self.strata.n_strata
        for slices in Search(columns, self.rows, suits, least, found, advance).to(depth):
            yield replace(slices, on=np.array(used, np.int64)[slices.on])

    def left_out(self) -> list[str]:
        """Describe the columns most of whose rows have levels that are too small."""
        described = []
        for name, one, levels in zip(
            self.searched.reading.query.by, self.columns, self.levels, strict=True
        ):
            small = one.codes == one.n_levels
            n = self.rows.measures.n
            share = float(small.mean() if n is None else n[small].sum() / n.sum())
            if share > _MOST_LEFT_OUT:
                codes = self.searched.columns[self.searched.reading.query.by.index(name)].values
                n_levels = int(np.count_nonzero(np.bincount(codes)))
                described.append(f"{n_levels - len(levels):,} of {n_levels:,} levels of {name!r}")
        return described


def _check_rows(strata: Strata, n_all: Int64Array, least: int, searched: Searched) -> None:
    """Raise where some stratum has too few rows for a slice and its rest."""
    n = strata.n(n_all)
    if len(n) and n.min() >= 2 * least:
        return
    rarest = int(n.argmin()) if len(n) else -1
    n_rarest = int(n[rarest]) if len(n) else 0
    cells = np.flatnonzero(strata.of_cell != OUTSIDE)
    of_rarest = cells[strata.of_outcome[strata.of_cell[cells]] == rarest]
    labels = np.unique(searched.reading.cells.actual[of_rarest])
    read = searched.reading.cells
    is_all = len(labels) == 1 and int(read.n[read.actual == labels[0]].sum()) == n_rarest
    whose = f"label {searched.reading.labels.values[labels[0]]!r} has" if is_all else "there are"
    raise InvalidInputError(
        f"{too_small(strata, least)}, but {whose} {n_rarest:,} rows. Decrease "
        f"{parameter('min_support')}, or choose another metric."
    )


def too_small(strata: Strata, least: int) -> str:
    """Say how many rows a slice needs."""
    which = "of every label" if strata.n_strata > 1 else "that the metric counts"
    return (
        "no slice is large enough: a slice and the rest each need "
        f"{parameter('min_support', least)} rows {which}"
    )
