"""Conditions `column = level`, conjunctions of them, and the rows that are searched for these."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from balframe.core.array_types import BoolArray, Counts, FloatArray, Int64Array, IntegerArray
from balframe.core.column_subsets import Grouping
from balframe.core.group_sum import sum_by_group
from balframe.core.integer_codes import Codes, codes_from_zero
from balframe.core.row_sums import RowSums

CountCriterion = Callable[[Int64Array], BoolArray]  # of counts by outcome, shape (lines, outcomes)

NO_LEVEL = -1


@dataclass(frozen=True, slots=True)
class Conjunctions:
    """Conjunctions of equally many conditions, one a line: the columns, and the level of each.

    `counts` are their rows by outcome, and `weights` the sums of the weights of these rows.
    """

    columns: Int64Array
    levels: Int64Array
    counts: Int64Array
    weights: FloatArray | None

    def __len__(self) -> int:
        """Return the number of conjunctions."""
        return len(self.columns)

    def take(self, lines: Int64Array) -> "Conjunctions":
        """Select some lines."""
        weights = None if self.weights is None else self.weights[lines]
        return Conjunctions(self.columns[lines], self.levels[lines], self.counts[lines], weights)

    @classmethod
    def concat(cls, parts: "Sequence[Conjunctions]") -> "Conjunctions":
        """Concatenate several."""
        weights = [part.weights for part in parts if part.weights is not None]
        return cls(
            np.concatenate([part.columns for part in parts]),
            np.concatenate([part.levels for part in parts]),
            np.concatenate([part.counts for part in parts]),
            np.concatenate(weights) if weights else None,
        )


@dataclass(frozen=True, slots=True)
class SearchRows:
    """Rows to search: the outcome of each, its count and its weight."""

    outcome: IntegerArray
    n_outcomes: int
    measures: RowSums

    def count_conjunctions(
        self, columns: Sequence[Codes], grouping: Grouping, min_rows: int
    ) -> Conjunctions:
        """Count the rows of every combination of levels with at least `min_rows` rows."""
        outcome = Codes(self.outcome, 0, self.n_outcomes)
        (*levels, position), sums = sum_by_group([*columns, outcome], self.measures)
        is_start = np.ones(len(position), np.bool_)
        is_start[1:] = np.logical_or.reduce([codes[1:] != codes[:-1] for codes in levels])
        group, first = np.cumsum(is_start) - 1, np.flatnonzero(is_start)
        total = np.zeros(len(first), np.int64)
        np.add.at(total, group, sums.row_counts)
        large = np.flatnonzero(total >= min_rows)
        group_line = np.full(len(first), NO_LEVEL)
        group_line[large] = np.arange(len(large))
        large_cells = np.flatnonzero(group_line[group] != NO_LEVEL)

        def table(values: Counts) -> Counts:
            out = np.zeros((len(large), self.n_outcomes), values.dtype)
            out[group_line[group[large_cells]], position[large_cells]] = values[large_cells]
            return out

        return Conjunctions(
            np.tile(np.array(grouping, np.int64), (len(large), 1)),
            np.column_stack([codes[first[large]] for codes in levels]),
            table(sums.row_counts),
            None if sums.weight is None else table(sums.weight),
        )


@dataclass(frozen=True, slots=True)
class ConditionColumn:
    """A column whose first `n_levels` codes are conditions; one more code is all other levels."""

    codes: IntegerArray
    n_levels: int
    size: int
    most_frequent: int

    @property
    def is_constant(self) -> bool:
        """Whether all rows have the same level, so that a condition on it selects all of them."""
        return self.n_levels == self.size == 1

    @classmethod
    def of(
        cls, column: Codes, rows: SearchRows, is_large_enough: CountCriterion, min_rows: int
    ) -> "tuple[ConditionColumn, Int64Array]":
        """Return the column and the levels whose counts satisfy the criterion."""
        conjunctions = rows.count_conjunctions([column], (0,), min_rows)
        levels = conjunctions.levels[is_large_enough(conjunctions.counts), 0]
        table = np.full(column.size, len(levels), np.min_scalar_type(len(levels)))
        table[levels] = np.arange(len(levels))
        codes = table[codes_from_zero(column, slice(None))]
        frequency = np.bincount(codes, minlength=1)
        return cls(codes, len(levels), len(frequency), int(frequency.argmax())), levels
