"""The rows whose slices are searched: those that a metric counts, with their conditions."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from balframe.api.metric_selection import Scoring
from balframe.core.array_types import BoolArray, FloatArray, Int64Array, RowIndex
from balframe.core.cells import LEFT_OUT, Cells
from balframe.core.row_sums import Measures
from balframe.errors import InvalidInputError, parameter
from balframe.frames.counted_frame import CountedFrame
from balframe.frames.slice_features import Searched
from balframe.methods.slices.conditions import Conditions, Conjunctions, Rows
from balframe.methods.slices.conjunctions import Search
from balframe.metrics.registry import Metric

# The strata of a metric: the rows that it counts, in groups, and which of them are wrong.


OUTSIDE = -1


@dataclass(frozen=True)
class Mean:
    """How a metric is a mean of the shares of right rows: the weights, and its two ends.

    `at_0` and `at_1` are the metric where all shares are 0 or 1.
    """

    weight: FloatArray
    at_0: float
    at_1: float

    @property
    def slope(self) -> float:
        """How much the metric changes with the mean."""
        return self.at_1 - self.at_0


@dataclass(frozen=True)
class Strata:
    """Outcomes of rows, the stratum of each, whether it is wrong, and the outcome of each cell.

    A cell whose rows the metric does not count has the outcome `OUTSIDE`. `mean` is None where the
    metric is no mean of proportions.
    """

    of_cell: Int64Array
    of_outcome: Int64Array
    is_wrong: BoolArray
    mean: Mean | None

    @cached_property
    def n_strata(self) -> int:
        """Number of strata."""
        return int(self.of_outcome.max(initial=-1)) + 1

    def by_cell(self) -> "Strata":
        """Give each cell that is counted an outcome of its own, for metrics of all cells."""
        counted = np.flatnonzero(self.of_cell != OUTSIDE)
        outcome = self.of_cell[counted]
        of_cell = np.full_like(self.of_cell, OUTSIDE)
        of_cell[counted] = np.arange(len(counted))
        return Strata(of_cell, self.of_outcome[outcome], self.is_wrong[outcome], None)

    def n(self, rows: Int64Array) -> Int64Array:
        """Count rows by stratum, from counts by outcome."""
        return np.asarray(rows @ self._members, np.int64)

    def wrong(self, rows: Int64Array) -> Int64Array:
        """Count wrong rows by stratum, from counts by outcome."""
        return np.asarray(rows[..., self.is_wrong] @ self._members[self.is_wrong], np.int64)

    @cached_property
    def _members(self) -> Int64Array:
        """Tell, for each outcome and stratum, whether the first is of the second: 1 or 0."""
        is_in = self.of_outcome[:, None] == np.arange(self.n_strata)
        return np.asarray(is_in, np.int64)


def strata_of(metric: Metric, scoring: Scoring, reading: CountedFrame) -> Strata:
    """Find the strata of a metric: of a mean of proportions its denominators, else the labels."""
    return _denominators(metric, scoring, reading) or _labels(reading.cells)


def _denominators(metric: Metric, scoring: Scoring, reading: CountedFrame) -> Strata | None:
    """Ask the kind of interval what it counts of a single row of each cell."""
    cells = reading.cells
    counted = np.flatnonzero(cells.actual != LEFT_OUT)
    single = Cells(
        (np.arange(len(counted)),),
        cells.actual[counted],
        cells.outcome[counted],
        Measures(np.ones(len(counted), np.int64)),
    )
    scoring = replace(scoring, absent="skip")
    kind = metric.interval
    recalls = kind.linear_recalls(scoring.class_counts(reading, single))
    rows = replace(cells, sums=Measures(cells.n, cells.missing))  # labels may lack weight
    c = scoring.class_counts(reading, rows)
    whole = kind.linear_recalls(c)
    if recalls is None or whole is None or not len(whole.label):
        return None
    is_single = len(np.unique(recalls.segment)) == len(recalls.segment)
    if (
        not is_single
        or not (recalls.support == 1).all()
        or not np.isin(recalls.correct, (0, 1)).all()
    ):
        return None
    at_0, at_1 = (float(kind.rescaled(c, np.array([value]))[0]) for value in (0.0, 1.0))
    if not np.isfinite([at_0, at_1]).all():
        return None
    order = np.argsort(whole.label)
    known, weight = whole.label[order], whole.weight[order]
    stratum = np.searchsorted(known, recalls.label)
    is_right = recalls.correct == 1
    of_cell = np.full(len(cells.actual), OUTSIDE)
    of_cell[counted[recalls.segment]] = 2 * stratum + (is_right == (metric.better == "lower"))
    return Strata(
        of_cell,
        np.repeat(np.arange(len(known)), 2),
        np.tile([False, True], len(known)),
        Mean(weight / weight.sum(), at_0, at_1),
    )


def _labels(cells: Cells) -> Strata:
    """Take the rows of each true label as a stratum, and each cell as an outcome."""
    counted = np.flatnonzero(cells.actual != LEFT_OUT)
    of_cell = np.full(len(cells.actual), OUTSIDE)
    of_cell[counted] = np.arange(len(counted))
    actual, outcome = cells.actual[counted], cells.outcome[counted]
    return Strata(of_cell, np.unique(actual, return_inverse=True)[1], actual != outcome, None)


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
