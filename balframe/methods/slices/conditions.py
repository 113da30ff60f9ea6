"""Conditions `column = level`, conjunctions of them, and the rows that are searched for these."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from balframe.core.array_types import BoolArray, Counts, FloatArray, Int64Array, IntegerArray
from balframe.core.column_subsets import Grouping
from balframe.core.group_sum import aggregate
from balframe.core.integer_codes import Codes, shifted
from balframe.core.row_sums import Measures

Suits = Callable[[Int64Array], BoolArray]  # of counts by outcome, one line for each conjunction

NO_LEVEL = -1


@dataclass(frozen=True, slots=True)
class Conjunctions:
    """Conjunctions of equally many conditions, one a line: on which columns, and which levels.

    `rows` counts their rows by outcome, and `weights` adds up the weights of these.
    """

    on: Int64Array
    levels: Int64Array
    rows: Int64Array
    weights: FloatArray | None

    def __len__(self) -> int:
        """Count the lines."""
        return len(self.on)

    def at(self, lines: Int64Array) -> "Conjunctions":
        """Take these lines."""
        weights = None if self.weights is None else self.weights[lines]
        return Conjunctions(self.on[lines], self.levels[lines], self.rows[lines], weights)

    @classmethod
    def concat(cls, parts: "Sequence[Conjunctions]") -> "Conjunctions":
        """Put several one behind the other."""
        weights = [part.weights for part in parts if part.weights is not None]
        return cls(
            np.concatenate([part.on for part in parts]),
            np.concatenate([part.levels for part in parts]),
            np.concatenate([part.rows for part in parts]),
            np.concatenate(weights) if weights else None,
        )


@dataclass(frozen=True, slots=True)
class Rows:
    """Rows to search: the outcome of each, and how many rows and what weight it stands for."""

    outcome: IntegerArray
    n_outcomes: int
    measures: Measures

    def by_levels(self, columns: Sequence[Codes], on: Grouping, least: int) -> Conjunctions:
        """Count the rows of every combination of levels that has at least so many."""
        outcome = Codes(self.outcome, 0, self.n_outcomes)
        (*levels, position), sums = aggregate([*columns, outcome], self.measures)
        changes = np.ones(len(position), np.bool_)
        changes[1:] = np.logical_or.reduce([one[1:] != one[:-1] for one in levels])
        group, first = np.cumsum(changes) - 1, np.flatnonzero(changes)
        total = np.zeros(len(first), np.int64)
        np.add.at(total, group, sums.counted)
        kept = np.flatnonzero(total >= least)
        line = np.full(len(first), NO_LEVEL)
        line[kept] = np.arange(len(kept))
        cells = np.flatnonzero(line[group] != NO_LEVEL)

        def in_lines(values: Counts) -> Counts:
            out = np.zeros((len(kept), self.n_outcomes), values.dtype)
            out[line[group[cells]], position[cells]] = values[cells]
            return out

        return Conjunctions(
            np.tile(np.array(on, np.int64), (len(kept), 1)),
            np.column_stack([one[first[kept]] for one in levels]),
            in_lines(sums.counted),
            None if sums.weight is None else in_lines(sums.weight),
        )


@dataclass(frozen=True, slots=True)
class Conditions:
    """A column whose first `n_levels` codes are conditions; one more is all its other levels."""

    codes: IntegerArray
    n_levels: int
    size: int
    most_frequent: int

    @classmethod
    def of(
        cls, column: Codes, rows: Rows, suits: Suits, least: int
    ) -> "tuple[Conditions, Int64Array]":
        """Take the levels whose counts suit, and list them."""
        found = rows.by_levels([column], (0,), least)
        levels = found.levels[suits(found.rows), 0]
        table = np.full(column.size, len(levels), np.min_scalar_type(len(levels)))
        table[levels] = np.arange(len(levels))
        codes = table[shifted(column, slice(None))]
        frequency = np.bincount(codes, minlength=1)
        return cls(codes, len(levels), len(frequency), int(frequency.argmax())), levels
