"""The search for the slices that got worse between two runs."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Protocol

import numpy as np

from balframe.api.metric_selection import MetricSelection
from balframe.core.array_types import BoolArray, FloatArray, Int64Array
from balframe.core.row_sums import RowSums
from balframe.errors import InvalidInputError
from balframe.frames.run_features import RunFeatures
from balframe.frames.slice_features import SliceFeatures
from balframe.methods.slices.conjunctions import (
    ConditionColumn,
    Conjunctions,
    SearchRows,
    find_conjunctions,
)
from balframe.methods.slices.excess_test import log_hypergeometric_tail
from balframe.methods.slices.population import OUTSIDE, RecallMean, metric_strata
from balframe.metrics.registry import Metric
from balframe.stats.lazy_scipy import special

# Exact one-sided tests that a slice got worse between two runs, and their adjustment.


class RunOutcomes(Protocol):
    """What rows are counted by, and the test of slices that have such counts, one a line."""

    def is_large_enough(self, counts: Int64Array, min_support: int) -> BoolArray:
        """Return which slices have enough rows of both runs."""

    def rows_and_wrong(self, counts: Int64Array) -> tuple[Int64Array, ...]:
        """Return the rows and the wrong rows of the new run, and of the earlier one."""

    def log_p_values(self, counts: Int64Array) -> tuple[FloatArray, FloatArray]:
        """Return the logarithms of the p-values, and of the least that are possible."""


@dataclass(frozen=True, slots=True)
class PairedOutcomes:
    """Rows of both runs: outcome 2 * wrong now + wrong before.

    Under the null hypothesis, each row that only one run gets right is as likely to be lost as to
    be gained. Given how many such rows a slice has, the number lost is binomial.
    """

    def is_large_enough(self, counts: Int64Array, min_support: int) -> BoolArray:
        """Return which slices have enough rows."""
        return np.asarray(counts.sum(axis=1) >= min_support)

    def rows_and_wrong(self, counts: Int64Array) -> tuple[Int64Array, ...]:
        """Return the rows and the wrong rows of the new run, and of the earlier one."""
        n = counts.sum(axis=1)
        return n, counts[:, 2] + counts[:, 3], n, counts[:, 1] + counts[:, 3]

    def log_p_values(self, counts: Int64Array) -> tuple[FloatArray, FloatArray]:
        """Return log P(B >= lost), B binomial with probability 1/2, and the least possible."""
        gained, lost = counts[:, 1].astype(np.float64), counts[:, 2].astype(np.float64)
        tail = special.betainc(np.maximum(lost, 1), gained + 1, 0.5)
        with np.errstate(divide="ignore"):
            log_p = np.log(np.where(lost > 0, tail, 1))
        return log_p, -np.log(2) * (lost + gained)


@dataclass(frozen=True, slots=True)
class UnpairedOutcomes:
    """Rows of one run each: outcome 2 * is earlier + wrong.

    Under the null hypothesis, the probabilities of being wrong are equal. Given how many rows are
    wrong, the number of these in the new run is hypergeometric: Fisher's exact test.
    """

    def is_large_enough(self, counts: Int64Array, min_support: int) -> BoolArray:
        """Return which slices have enough rows in both runs."""
        n, _, earlier_n, _ = self.rows_and_wrong(counts)
        return (n >= min_support) & (earlier_n >= min_support)

    def rows_and_wrong(self, counts: Int64Array) -> tuple[Int64Array, ...]:
        """Return the rows and the wrong rows of the new run, and of the earlier one."""
        return counts[:, :2].sum(axis=1), counts[:, 1], counts[:, 2:].sum(axis=1), counts[:, 3]

    def log_p_values(self, counts: Int64Array) -> tuple[FloatArray, FloatArray]:
        """Return log P(E >= wrong now), E hypergeometric, and the least possible."""
        n, wrong, earlier_n, earlier_wrong = (
            values.astype(np.float64) for values in self.rows_and_wrong(counts)
        )
        n_all, wrong_all = n + earlier_n, wrong + earlier_wrong
        most = np.minimum(n, wrong_all)
        log_p, least = (log_hypergeometric_tail(x, n, n_all, wrong_all) for x in (wrong, most))
        return log_p, least


def log_number_of_tests(log_least: FloatArray, log_level: float) -> float:
    """Return the logarithm of the number of tests by which p-values are multiplied.

    It is the smallest number k such that at most k tests can have a p-value of level / k or less.
    The other tests can never be significant, and do not count.

    References
    ----------
    R. E. Tarone, "A modified Bonferroni method for discrete data", Biometrics 1990.
    """
    k = np.arange(1, len(log_least) + 1)
    n_possible = np.searchsorted(np.sort(log_least), log_level - np.log(k), side="right")
    return float(np.log(k[np.argmax(n_possible <= k)])) if len(k) else 0.0


_MAX_WALKED = 2_000  # significant slices that are examined for the list
_N_OUTCOMES = 4


@dataclass(frozen=True)
class RunRows:
    """Rows that the metric counts in both runs, or of either run, with their conditions."""

    features: SliceFeatures
    columns: Sequence[ConditionColumn]
    levels: Sequence[Int64Array]
    rows: SearchRows
    outcomes: RunOutcomes
    mean: RecallMean
    min_support: int

    @classmethod
    def of(
        cls,
        runs: RunFeatures,
        is_new: BoolArray | None,
        metric: Metric,
        selection: MetricSelection,
        min_support: int,
    ) -> "RunRows":
        """Select the rows that the metric counts; `is_new` is the run of each, if it is of one."""
        is_wrong, is_counted, mean = _wrong_rows(runs.new, metric, selection)
        outcomes: RunOutcomes = UnpairedOutcomes()
        if runs.earlier is None:
            assert is_new is not None, "rows are of one run"
            outcome = 2 * ~is_new + is_wrong
        else:
            was_wrong, was_counted, _ = _wrong_rows(runs.earlier, metric, selection)
            if not np.array_equal(is_counted, was_counted):
                raise _metric_error(metric)
            outcomes, outcome = PairedOutcomes(), 2 * is_wrong + was_wrong
        inside = np.flatnonzero(is_counted)
        rows = SearchRows(
            outcome[inside].astype(np.int8), _N_OUTCOMES, RowSums(None, keeps_squares=False)
        )
        conditions = [
            ConditionColumn.of(
                replace(codes, values=codes.values[inside]),
                rows,
                lambda counts: outcomes.is_large_enough(counts, min_support),
                min_support,
            )
            for codes in runs.new.columns
        ]
        none = np.zeros(0, np.int64)
        return cls(
            runs.new,
            [column for column, _ in conditions],
            [none if column.is_constant else levels for column, levels in conditions],
            rows,
            outcomes,
            mean,
            min_support,
        )

    def search(self, depth: int, max_slices: int) -> list[Conjunctions]:
        """Return the slices of one condition, of two and so on; their columns are positions."""
        parts = find_conjunctions(
            self.columns,
            self.levels,
            self.rows,
            lambda counts: self.outcomes.is_large_enough(counts, self.min_support),
            self.min_support,
            depth=depth,
            max_slices=max_slices,
        )
        if not any(map(len, parts)):
            raise InvalidInputError(
                "no slice is large enough: a slice needs {min_support} rows that the metric counts "
                "in both runs. Decrease {min_support}, search other columns, or give fewer bins.",
                min_support=self.min_support,
            )
        return parts

    def inside(self, columns: Int64Array, levels: Int64Array) -> BoolArray:
        """Return which rows are in a slice."""
        inside = np.ones(len(self.rows.outcome), np.bool_)
        for column, level in zip(columns, levels, strict=True):
            inside &= self.columns[column].codes == level
        return inside

    def count(self, rows: BoolArray) -> Int64Array:
        """Count rows by outcome."""
        return np.bincount(self.rows.outcome[rows], minlength=_N_OUTCOMES)[None, :]


def _wrong_rows(
    features: SliceFeatures, metric: Metric, selection: MetricSelection
) -> tuple[BoolArray, BoolArray, RecallMean]:
    """Return which rows are wrong, and which the metric counts, which is a single proportion."""
    strata = metric_strata(metric, selection, features.counted_frame)
    if strata.mean is None or strata.n_strata != 1:
        raise _metric_error(metric)
    outcome = strata.cell_outcome[features.cell]
    is_counted = outcome != OUTSIDE
    return strata.is_wrong[np.maximum(outcome, 0)] & is_counted, is_counted, strata.mean


def _metric_error(metric: Metric) -> InvalidInputError:
    return InvalidInputError(
        "{metrics} is not a proportion of the same rows in both runs, so slices cannot be tested "
        "by it; choose accuracy, recall, specificity, false_positive_rate or false_negative_rate.",
        metrics=metric.name,
    )


@dataclass(frozen=True)
class RunSearch:
    """All slices that were tested, and the logarithms of their p-values."""

    rows: RunRows
    parts: Sequence[Conjunctions]
    log_level: float

    @cached_property
    def depth(self) -> Int64Array:
        """Number of conditions of each slice."""
        return np.repeat(np.arange(1, len(self.parts) + 1), [len(part) for part in self.parts])

    @cached_property
    def counts(self) -> Int64Array:
        """Rows of each slice by outcome."""
        return np.concatenate([part.counts for part in self.parts])

    @cached_property
    def _log_p_values(self) -> tuple[FloatArray, FloatArray]:
        return self.rows.outcomes.log_p_values(self.counts)

    @property
    def log_p(self) -> FloatArray:
        """Logarithm of the p-value of each slice."""
        return self._log_p_values[0]

    @cached_property
    def log_factor(self) -> FloatArray:
        """Logarithm of the number by which each p-value is multiplied: depths share the level."""
        n_depths = len(np.unique(self.depth))
        by_depth: Mapping[int, float] = {
            int(depth): log_number_of_tests(
                self._log_p_values[1][self.depth == depth], self.log_level - np.log(n_depths)
            )
            for depth in np.unique(self.depth)
        }
        factors = np.array([by_depth[int(depth)] for depth in self.depth], np.float64)
        return np.asarray(factors + np.log(n_depths), np.float64)

    @property
    def log_adjusted(self) -> FloatArray:
        """Logarithm of each adjusted p-value."""
        return np.asarray(np.minimum(self.log_p + self.log_factor, 0), np.float64)

    def conditions(self, position: int) -> tuple[Int64Array, Int64Array]:
        """Return the columns and the levels of a slice."""
        sizes = np.cumsum([0, *(len(part) for part in self.parts)])
        number = int(np.searchsorted(sizes, position, side="right")) - 1
        line = position - sizes[number]
        return self.parts[number].columns[line], self.parts[number].levels[line]

    def list_worst(self, top: int) -> tuple[Int64Array, Int64Array]:
        """Return the slices to list, and how many further ones each explains.

        A slice is left out if its rows outside of those listed before it did not get significantly
        worse.
        """
        order = np.lexsort((self.depth, self.log_adjusted))
        significant = order[self.log_adjusted[order] <= self.log_level][:_MAX_WALKED]
        listed_slices: list[int] = []
        n_explained: list[int] = []
        masks: list[BoolArray] = []
        for position in map(int, significant):
            inside = self.rows.inside(*self.conditions(position))
            is_covered = np.logical_or.reduce(masks) if masks else np.zeros_like(inside)
            log_p, _ = self.rows.outcomes.log_p_values(self.rows.count(inside & ~is_covered))
            if log_p[0] + self.log_factor[position] > self.log_level:
                shared = [int((mask & inside).sum()) for mask in masks]
                n_explained[int(np.argmax(shared))] += 1
            elif len(listed_slices) == top:
                break
            else:
                listed_slices.append(position)
                n_explained.append(0)
                masks.append(inside)
        return np.array(listed_slices, np.int64), np.array(n_explained, np.int64)
