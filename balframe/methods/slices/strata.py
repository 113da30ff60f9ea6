"""The strata of a metric: the rows that it counts, in groups, and which of them are wrong."""

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from balframe.api.metric_selection import Scoring
from balframe.core.array_types import BoolArray, FloatArray, Int64Array
from balframe.core.cells import LEFT_OUT, Cells
from balframe.core.row_sums import Measures
from balframe.frames.counted_frame import Reading
from balframe.metrics.registry import Metric

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


def strata_of(metric: Metric, scoring: Scoring, reading: Reading) -> Strata:
    """Find the strata of a metric: of a mean of proportions its denominators, else the labels."""
    return _denominators(metric, scoring, reading) or _labels(reading.cells)


def _denominators(metric: Metric, scoring: Scoring, reading: Reading) -> Strata | None:
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
