"""The search for all conjunctions of conditions that enough rows satisfy.

Rows are counted once for each grouping of columns, in a table with an axis for the outcome and one
for each column. In most columns one level is far more frequent than the others. Its rows are not
read: its counts are those of the grouping without the column, less those of all other levels.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from math import prod
from typing import Any

import numpy as np
import numpy.typing as npt

from balframe._progress import counting
from balframe.core.array_types import BoolArray, Counts, FloatArray, Int64Array, IntegerArray
from balframe.core.column_subsets import Grouping, column_subsets, n_column_subsets
from balframe.core.counting_strategy import LARGEST_TABLE, MERGED, should_share
from balframe.core.group_sum import sum_by_group
from balframe.core.integer_codes import Codes, codes_from_zero, narrow_key
from balframe.core.row_sums import RowSums
from balframe.core.threads import run_on_all_cores
from balframe.errors import OPTION, InvalidInputError, parameter

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


_MAX_EXACT = 2**53  # rows, up to which float sums are exact

_CountTable = npt.NDArray[Any]  # of counts by outcome and the columns of a grouping


@dataclass(frozen=True, slots=True)
class _Block:
    """Neighbouring columns of few levels, merged so that they are counted together."""

    columns: Grouping
    sizes: tuple[int, ...]
    codes: IntegerArray


@dataclass(frozen=True, slots=True)
class _Part:
    """Rows without the most frequent levels of a grouping, keyed by outcome and levels."""

    grouping: Grouping
    rows: Int64Array | slice
    key: Int64Array


@dataclass(frozen=True)
class ConjunctionSearch:
    """A search for all conjunctions whose counts satisfy a criterion.

    `on_found` is called with the number of conjunctions found, and may raise. `advance` is called
    for each grouping.
    """

    columns: Sequence[ConditionColumn]
    rows: SearchRows
    is_large_enough: CountCriterion
    min_rows: int
    on_found: Callable[[int], None]
    advance: Callable[[], None]
    _tables: dict[Grouping, _CountTable] = field(default_factory=dict)

    def run(self, depth: int) -> Iterator[Conjunctions]:
        """Yield the conjunctions of one condition, then those of two and so on."""
        is_long = should_share(len(self.rows.outcome) * len(self.columns))
        for size in range(1, min(depth, len(self.columns)) + 1):
            search = partial(self._search_from, size=size, keeps_tables=size < depth)
            firsts = range(len(self.columns) - size + 1)
            yield Conjunctions.concat(list((run_on_all_cores if is_long else map)(search, firsts)))

    def _search_from(self, first: int, *, size: int, keeps_tables: bool) -> Conjunctions:
        """Return the conjunctions of `size` conditions, the first of them on the column `first`."""
        whole = _Part((), slice(None), self.rows.outcome.astype(np.int64))
        parts = []
        for grouping, table in self._count_groupings(whole, range(first, first + 1), size):
            if keeps_tables and table is not None:
                self._tables[grouping] = table
            parts.append(self._large_conjunctions(grouping, table))
            self.advance()
        candidates = Conjunctions.concat(parts)
        large = candidates.take(np.flatnonzero(self.is_large_enough(candidates.counts)))
        self.on_found(len(large))
        return large

    def _count_groupings(
        self, part: _Part, next_columns: range, n_more: int
    ) -> Iterator[tuple[Grouping, _CountTable | None]]:
        """Yield the table of each grouping with a next column and `n_more` - 1 later ones.

        The table is None where it would be too large.
        """
        if n_more == 1:
            yield from self._count_part(part, next_columns)
            return
        for column in next_columns:
            grouping = (*part.grouping, column)
            later_columns = range(column + 1, len(self.columns) - n_more + 2)
            if not self._fits(grouping):
                later_groupings = column_subsets(len(self.columns) - column - 1, [n_more - 1])
                yield from (
                    ((*grouping, *(column + 1 + i for i in later)), None)
                    for later in later_groupings
                )
                continue
            conditions = self.columns[column]
            codes = conditions.codes[part.rows]
            read: Int64Array | slice = slice(None)
            if self._subtracts:
                read = np.flatnonzero(codes != conditions.most_frequent)
            rows = read if isinstance(part.rows, slice) else part.rows[read]
            key = part.key[read] * conditions.size
            key += codes[read]
            yield from self._count_groupings(_Part(grouping, rows, key), later_columns, n_more - 1)

    def _count_part(
        self, part: _Part, next_columns: range
    ) -> Iterator[tuple[Grouping, _CountTable | None]]:
        """Count the rows of a part by each of the next columns, a block of columns at a time."""
        for block in self._blocks:
            columns = [column for column in block.columns if column in next_columns]
            if not columns:
                continue
            if not self._fits((*part.grouping, *block.columns)):
                yield from (((*part.grouping, column), None) for column in columns)
                continue
            key = part.key * prod(block.sizes)
            key += block.codes[part.rows]
            shape = (self.rows.n_outcomes, *self._sizes(part.grouping), *block.sizes)
            sums = [
                np.bincount(key, None if values is None else values[part.rows], prod(shape))
                for values in self._values
            ]
            block_table = np.stack(sums).reshape(-1, *shape)
            first = block_table.ndim - len(block.sizes)
            for column in columns:
                position = first + block.columns.index(column)
                others = tuple(i for i in range(first, block_table.ndim) if i != position)
                grouping = (*part.grouping, column)
                yield grouping, self._add_most_frequent(grouping, block_table.sum(axis=others))

    def _add_most_frequent(self, grouping: Grouping, table: _CountTable) -> _CountTable:
        """Fill in the most frequent level of each column but the last, by subtraction."""
        for i in reversed(range(len(grouping) - 1 if self._subtracts else 0)):
            without = self._tables[grouping[:i] + grouping[i + 1 :]]
            at: Any = (*[slice(None)] * (i + 2), self.columns[grouping[i]].most_frequent)
            table[at] = 0
            table[at] = without - table.sum(axis=i + 2)
        return table

    def _large_conjunctions(self, grouping: Grouping, table: _CountTable | None) -> Conjunctions:
        """Return the conjunctions of a grouping with at least `min_rows` rows."""
        columns = [self.columns[i] for i in grouping]
        n_levels = [column.n_levels for column in columns]
        if table is None:
            codes = [Codes(column.codes, 0, column.size) for column in columns]
            conjunctions = self.rows.count_conjunctions(codes, grouping, self.min_rows)
            return conjunctions.take(np.flatnonzero((conjunctions.levels < n_levels).all(axis=1)))
        inside = table[(slice(None), slice(None), *map(slice, n_levels))]
        flat = inside.reshape(*table.shape[:2], -1)
        at = np.flatnonzero(flat[0].sum(axis=0) >= self.min_rows)
        on, levels = np.empty((2, len(at), len(grouping)), np.int64)
        on[:] = grouping
        levels.T[:] = np.unravel_index(at, n_levels)
        rows, *weights = flat[:, :, at].transpose(0, 2, 1)
        return Conjunctions(on, levels, rows.astype(np.int64), weights[0] if weights else None)

    @cached_property
    def _values(self) -> list[FloatArray | None]:
        """What is summed: the counts of rows, None if each is 1, and any weights."""
        n, weight = self.rows.measures.n, self.rows.measures.weight
        rows = None if n is None else n.astype(np.float64)
        return [rows] if weight is None else [rows, weight]

    @cached_property
    def _is_exact(self) -> bool:
        """Whether float sums of the counts are exact."""
        n = self.rows.measures.n
        return n is None or float(n.sum(dtype=np.float64)) < _MAX_EXACT

    @property
    def _subtracts(self) -> bool:
        """Whether counts may be subtracted; differences of sums of weights would lose digits."""
        return self.rows.measures.weight is None

    @cached_property
    def _blocks(self) -> list[_Block]:
        """Merge neighbouring columns as long as they have few levels together."""
        runs: list[list[int]] = []
        for i, column in enumerate(self.columns):
            if not runs or prod(self._sizes(runs[-1])) * column.size > MERGED:
                runs.append([])
            runs[-1].append(i)
        return [_Block(tuple(run), self._sizes(run), self._merge_codes(run)) for run in runs]

    def _merge_codes(self, run: Sequence[int]) -> IntegerArray:
        """Return one code for each combination of levels of neighbouring columns."""
        columns = [Codes(self.columns[i].codes, 0, self.columns[i].size) for i in run]
        return narrow_key(columns, len(self.rows.outcome))

    def _sizes(self, columns: Sequence[int]) -> tuple[int, ...]:
        return tuple(self.columns[i].size for i in columns)

    def _fits(self, columns: Sequence[int]) -> bool:
        """Return whether a table of these columns is small enough and its sums are exact."""
        size = self.rows.n_outcomes * prod(self._sizes(columns))
        return self._is_exact and size <= LARGEST_TABLE


def find_conjunctions(
    columns: Sequence[ConditionColumn],
    levels: Sequence[Int64Array],
    rows: SearchRows,
    is_large_enough: CountCriterion,
    min_rows: int,
    *,
    depth: int,
    max_slices: int,
) -> list[Conjunctions]:
    """Return the conjunctions of one condition, of two and so on; their columns are positions.

    Columns without `levels` that are large enough are left out.
    """
    n_slices = 0

    def count(n: int) -> None:
        nonlocal n_slices
        n_slices += n
        if n_slices > max_slices:
            raise InvalidInputError(
                "there are more than {max_slices} slices; search fewer columns, decrease {depth}, "
                "increase {min_support}, or increase {} if memory allows.",
                parameter("max_slices"),
                max_slices=max_slices,
                depth=OPTION,
                min_support=OPTION,
            )

    positions = np.array([i for i, some in enumerate(levels) if len(some)], np.int64)
    n_sets = n_column_subsets(len(positions), range(1, min(depth, len(positions)) + 1))
    with counting(n_sets, "sets of columns searched") as advance:
        searched = [columns[i] for i in positions]
        search = ConjunctionSearch(searched, rows, is_large_enough, min_rows, count, advance)
        return [replace(part, columns=positions[part.columns]) for part in search.run(depth)]
