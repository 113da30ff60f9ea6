"""The rows whose slices are features: those that a metric counts, with their conditions."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from balframe.api.metric_selection import MetricSelection
from balframe.core.array_types import BoolArray, FloatArray, Int64Array, RowIndex
from balframe.core.cells import LEFT_OUT, Cells
from balframe.core.row_sums import RowSums
from balframe.errors import OPTION, InvalidInputError, Message
from balframe.frames.adapter import Name
from balframe.frames.counted_frame import CountedFrame
from balframe.frames.slice_features import SliceFeatures
from balframe.methods.slices.conjunctions import (
    ConditionColumn,
    Conjunctions,
    SearchRows,
    find_conjunctions,
)
from balframe.metrics.registry import Metric

OUTSIDE = -1


@dataclass(frozen=True)
class RecallMean:
    """A metric as a linear function of the weighted mean of the recalls of its strata.

    `at_0` and `at_1` are its values where all recalls are 0 or 1.
    """

    weight: FloatArray
    at_0: float
    at_1: float

    @property
    def slope(self) -> float:
        """Change of the metric per unit of the mean."""
        return self.at_1 - self.at_0


@dataclass(frozen=True)
class OutcomeStrata:
    """The outcome of each cell, the stratum of each outcome, and whether it is wrong.

    A cell whose rows the metric does not count has the outcome `OUTSIDE`. `mean` is None if the
    metric is not a mean of proportions.
    """

    cell_outcome: Int64Array
    outcome_stratum: Int64Array
    is_wrong: BoolArray
    mean: RecallMean | None

    @cached_property
    def n_strata(self) -> int:
        """Number of strata."""
        return int(self.outcome_stratum.max(initial=-1)) + 1

    def split_by_cell(self) -> "OutcomeStrata":
        """Make each cell that is counted an outcome, for metrics that are functions of cells."""
        inside_cells = np.flatnonzero(self.cell_outcome != OUTSIDE)
        outcome = self.cell_outcome[inside_cells]
        cell_outcome = np.full_like(self.cell_outcome, OUTSIDE)
        cell_outcome[inside_cells] = np.arange(len(inside_cells))
        return OutcomeStrata(
            cell_outcome, self.outcome_stratum[outcome], self.is_wrong[outcome], None
        )

    def count_rows(self, counts: Int64Array) -> Int64Array:
        """Count rows by stratum, from counts by outcome."""
        return np.asarray(counts @ self._membership, np.int64)

    def count_wrong(self, counts: Int64Array) -> Int64Array:
        """Count wrong rows by stratum, from counts by outcome."""
        return np.asarray(counts[..., self.is_wrong] @ self._membership[self.is_wrong], np.int64)

    @cached_property
    def _membership(self) -> Int64Array:
        """1 where an outcome is in a stratum and 0 elsewhere, shape (outcomes, strata)."""
        is_in = self.outcome_stratum[:, None] == np.arange(self.n_strata)
        return np.asarray(is_in, np.int64)


def metric_strata(
    metric: Metric, selection: MetricSelection, counted_frame: CountedFrame
) -> OutcomeStrata:
    """Return the strata of a metric: the denominators of a mean of recalls, else the labels."""
    return _recall_strata(metric, selection, counted_frame) or _label_strata(counted_frame.cells)


def _recall_strata(
    metric: Metric, selection: MetricSelection, counted_frame: CountedFrame
) -> OutcomeStrata | None:
    """Return the strata of a mean of recalls, from the recalls of one row of each cell."""
    cells = counted_frame.cells
    inside_cells = np.flatnonzero(cells.actual != LEFT_OUT)
    single = Cells(
        (np.arange(len(inside_cells)),),
        cells.actual[inside_cells],
        cells.outcome[inside_cells],
        RowSums(np.ones(len(inside_cells), np.int64)),
    )
    selection = replace(selection, absent="skip")
    kind = metric.interval
    recalls = kind.linear_recalls(selection.class_counts(counted_frame, single))
    rows = replace(cells, sums=RowSums(cells.n, cells.missing))  # labels may lack weight
    c = selection.class_counts(counted_frame, rows)
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
    labels, weight = whole.label[order], whole.weight[order]
    stratum = np.searchsorted(labels, recalls.label)
    is_right = recalls.correct == 1
    cell_outcome = np.full(len(cells.actual), OUTSIDE)
    cell_outcome[inside_cells[recalls.segment]] = 2 * stratum + (
        is_right == (metric.better == "lower")
    )
    return OutcomeStrata(
        cell_outcome,
        np.repeat(np.arange(len(labels)), 2),
        np.tile([False, True], len(labels)),
        RecallMean(weight / weight.sum(), at_0, at_1),
    )


def _label_strata(cells: Cells) -> OutcomeStrata:
    """Return the true labels as strata, with each cell as an outcome."""
    inside_cells = np.flatnonzero(cells.actual != LEFT_OUT)
    cell_outcome = np.full(len(cells.actual), OUTSIDE)
    cell_outcome[inside_cells] = np.arange(len(inside_cells))
    actual, outcome = cells.actual[inside_cells], cells.outcome[inside_cells]
    return OutcomeStrata(
        cell_outcome, np.unique(actual, return_inverse=True)[1], actual != outcome, None
    )


_MAX_SMALL_SHARE = 0.5  # of rows in small levels, above which a column is reported


@dataclass(frozen=True)
class Population:
    """Rows in their strata, with the conditions on each column.

    A slice and its rest have at least `min_support` rows of every stratum. `levels` are the codes
    of the levels that are conditions, by column. `all_counts` counts all rows by outcome.
    """

    features: SliceFeatures
    strata: OutcomeStrata
    min_support: int
    rows: SearchRows
    all_counts: Int64Array
    columns: Sequence[ConditionColumn]
    levels: Sequence[Int64Array]

    @classmethod
    def of(
        cls, features: SliceFeatures, metric: Metric, selection: MetricSelection, min_support: int
    ) -> "Population":
        """Select the rows that a metric counts, and the levels with enough of them.

        Columns of few numbers that are barely searched as they are, are cut into bins.
        """
        population = cls._of(features, metric, selection, min_support)
        binned = features.with_bins(population._sparse_columns)
        if binned is features:
            return population
        return cls._of(binned, metric, selection, min_support)

    @classmethod
    def _of(
        cls, features: SliceFeatures, metric: Metric, selection: MetricSelection, min_support: int
    ) -> "Population":
        strata = metric_strata(metric, selection, features.counted_frame)
        if features.row_sums.weight is not None:
            strata = strata.split_by_cell()
        all_counts = np.zeros(len(strata.outcome_stratum), np.int64)
        cells = np.flatnonzero(strata.cell_outcome != OUTSIDE)
        np.add.at(all_counts, strata.cell_outcome[cells], features.counted_frame.cells.n[cells])
        _check_rows(strata, all_counts, min_support, features)
        outcome = strata.cell_outcome[features.cell]
        is_inside = outcome != OUTSIDE
        inside: RowIndex = slice(None) if is_inside.all() else np.flatnonzero(is_inside)
        narrow = np.min_scalar_type(len(all_counts))
        measures = features.row_sums.at(inside).summable()
        measures = replace(measures, weight_sq=None, keeps_squares=False)
        rows = SearchRows(outcome[inside].astype(narrow), len(all_counts), measures)

        def are_large(counts: Int64Array) -> BoolArray:
            return np.asarray((strata.count_rows(counts) >= min_support).all(axis=1))

        conditions = [
            ConditionColumn.of(
                replace(codes, values=codes.values[inside]),
                rows,
                are_large,
                min_support * strata.n_strata,
            )
            for codes in features.columns
        ]
        names = features.counted_frame.query.by
        none = np.zeros(0, np.int64)
        return cls(
            features,
            strata,
            min_support,
            rows,
            all_counts,
            [column for column, _ in conditions],
            [
                none if column.is_constant or name in features.score_columns else levels
                for name, (column, levels) in zip(names, conditions, strict=True)
            ],
        )

    def search(self, depth: int, max_slices: int) -> list[Conjunctions]:
        """Return the slices of one condition, of two and so on; their columns are positions."""

        def is_large_enough(counts: Int64Array) -> BoolArray:
            n = self.strata.count_rows(counts)
            n_all = self.strata.count_rows(self.all_counts)
            return np.asarray(
                ((n >= self.min_support) & (n_all - n >= self.min_support)).all(axis=1)
            )

        return find_conjunctions(
            self.columns,
            self.levels,
            self.rows,
            is_large_enough,
            self.min_support * self.strata.n_strata,
            depth=depth,
            max_slices=max_slices,
        )

    @cached_property
    def _sparse_columns(self) -> list[Name]:
        """The columns most of whose rows have levels that are too small."""
        names, n = self.features.counted_frame.query.by, self.rows.measures.n
        sparse = []
        for name, column in zip(names, self.columns, strict=True):
            is_small = column.codes == column.n_levels
            share = float(is_small.mean() if n is None else n[is_small].sum() / n.sum())
            if share > _MAX_SMALL_SHARE and name not in self.features.score_columns:
                sparse.append(name)
        return sparse

    def describe_sparse_columns(self) -> list[str]:
        """Describe the columns most of whose rows have levels that are too small."""
        described = []
        names = list(self.features.counted_frame.query.by)
        for name in self._sparse_columns:
            i = names.index(name)
            n_levels = int(np.count_nonzero(np.bincount(self.features.columns[i].values)))
            n_small = n_levels - len(self.levels[i])
            described.append(f"{n_small:,} of {n_levels:,} levels of {name!r}")
        return described


def _check_rows(
    strata: OutcomeStrata, all_counts: Int64Array, min_support: int, features: SliceFeatures
) -> None:
    """Raise where some stratum has too few rows for a slice and its rest."""
    n = strata.count_rows(all_counts)
    if len(n) and n.min() >= 2 * min_support:
        return
    rarest = int(n.argmin()) if len(n) else -1
    n_rarest = int(n[rarest]) if len(n) else 0
    cells = features.counted_frame.cells
    inside_cells = np.flatnonzero(strata.cell_outcome != OUTSIDE)
    in_rarest = inside_cells[strata.outcome_stratum[strata.cell_outcome[inside_cells]] == rarest]
    labels = np.unique(cells.actual[in_rarest])
    is_all = len(labels) == 1 and int(cells.n[cells.actual == labels[0]].sum()) == n_rarest
    label_values = features.counted_frame.labels.values
    subject = f"label {label_values[labels[0]]!r} has" if is_all else "there are"
    raise InvalidInputError(
        "{}, but {} {:,} rows. Decrease {min_support}, or choose another metric.",
        too_small_message(strata, min_support),
        subject,
        n_rarest,
        min_support=OPTION,
    )


def too_small_message(strata: OutcomeStrata, min_support: int) -> Message:
    """Return the message that no slice has the rows that it needs."""
    which = "of every label" if strata.n_strata > 1 else "that the metric counts"
    return Message(
        "no slice is large enough: a slice and the rest each need {min_support} rows {}",
        which,
        min_support=min_support,
    )
