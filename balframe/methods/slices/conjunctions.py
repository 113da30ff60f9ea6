"""The search for all conjunctions of conditions that enough rows satisfy.

Rows are counted once for each grouping of columns, in a table with an axis for the outcome and one
for each column. In most columns one level is far more frequent than the others. Rows with it are
not read: its counts are those of the grouping without the column, less those of all other levels.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property, partial
from math import prod
from typing import Any

import numpy as np
import numpy.typing as npt

from balframe.core.array_types import FloatArray, Int64Array, IntegerArray
from balframe.core.column_subsets import Grouping, groupings
from balframe.core.counting_strategy import LARGEST_TABLE, MERGED, are_many_to_share
from balframe.core.integer_codes import Codes, narrow_key
from balframe.core.threads import on_all_cores
from balframe.methods.slices.conditions import Conditions, Conjunctions, Rows, Suits

_EXACT = 2**53  # rows up to which sums of floats count them

Table = npt.NDArray[Any]  # of counts by outcome and the columns of a grouping


@dataclass(frozen=True, slots=True)
class _Block:
    """Neighbouring columns of few levels, merged so that they are counted together."""

    columns: Grouping
    sizes: tuple[int, ...]
    codes: IntegerArray


@dataclass(frozen=True, slots=True)
class _Part:
    """Rows without the most frequent levels of the columns kept, keyed by outcome and levels."""

    kept: Grouping
    rows: Int64Array | slice
    key: Int64Array


@dataclass(frozen=True)
class Search:
    """A search for the conjunctions whose counts suit.

    `found` is told how many were found, and may raise; `advance` is called for each grouping.
    """

    columns: Sequence[Conditions]
    rows: Rows
    suits: Suits
    least: int
    found: Callable[[int], None]
    advance: Callable[[], None]
    _tables: dict[Grouping, Table] = field(default_factory=dict)

    def to(self, depth: int) -> Iterator[Conjunctions]:
        """Find the conjunctions of one condition, then those of two and so on."""
        is_long = are_many_to_share(len(self.rows.outcome) * len(self.columns))
        for size in range(1, min(depth, len(self.columns)) + 1):
            work = partial(self._beginning_with, size=size, keeps=size < depth)
            firsts = range(len(self.columns) - size + 1)
            yield Conjunctions.concat(list((on_all_cores if is_long else map)(work, firsts)))

    def _beginning_with(self, first: int, *, size: int, keeps: bool) -> Conjunctions:
        """Find those of so many conditions, the first of them on this column."""
        whole = _Part((), slice(None), self.rows.outcome.astype(np.int64))
        large = []
        for grouping, table in self._counted(whole, range(first, first + 1), size):
            if keeps and table is not None:
                self._tables[grouping] = table
            large.append(self._large(grouping, table))
            self.advance()
        together = Conjunctions.concat(large)
        suiting = together.at(np.flatnonzero(self.suits(together.rows)))
        self.found(len(suiting))
        return suiting

    def _counted(
        self, part: _Part, nexts: range, more: int
    ) -> Iterator[tuple[Grouping, Table | None]]:
        """Give a table to each grouping with one of the next columns, and others beyond it.

        It is None where it would be too large.
        """
        if more == 1:
            yield from self._tabulated(part, nexts)
            return
        for column in nexts:
            kept = (*part.kept, column)
            beyond = range(column + 1, len(self.columns) - more + 2)
            if not self._fits(kept):
                rest = groupings(len(self.columns) - column - 1, [more - 1])
                yield from (((*kept, *(column + 1 + i for i in one)), None) for one in rest)
                continue
            one = self.columns[column]
            codes = one.codes[part.rows]
            read = np.flatnonzero(codes != one.most_frequent) if self._subtracts else slice(None)
            rows = read if isinstance(part.rows, slice) else part.rows[read]
            key = part.key[read] * one.size
            key += codes[read]
            yield from self._counted(_Part(kept, rows, key), beyond, more - 1)

    def _tabulated(self, part: _Part, nexts: range) -> Iterator[tuple[Grouping, Table | None]]:
        """Count the rows of a part by each of the next columns, those of a block together."""
        for block in self._blocks:
            wanted = [column for column in block.columns if column in nexts]
            if not wanted:
                continue
            if not self._fits((*part.kept, *block.columns)):
                yield from (((*part.kept, column), None) for column in wanted)
                continue
            key = part.key * prod(block.sizes)
            key += block.codes[part.rows]
            shape = (self.rows.n_outcomes, *self._sizes(part.kept), *block.sizes)
            sums = [
                np.bincount(key, None if values is None else values[part.rows], prod(shape))
                for values in self._values
            ]
            together = np.stack(sums).reshape(-1, *shape)
            first = together.ndim - len(block.sizes)
            for column in wanted:
                position = first + block.columns.index(column)
                others = tuple(i for i in range(first, together.ndim) if i != position)
                grouping = (*part.kept, column)
                yield grouping, self._completed(grouping, together.sum(axis=others))

    def _completed(self, grouping: Grouping, table: Table) -> Table:
        """Put in the most frequent level of each column but the last, by subtraction."""
        for i in reversed(range(len(grouping) - 1 if self._subtracts else 0)):
            without = self._tables[grouping[:i] + grouping[i + 1 :]]
            at: Any = (*[slice(None)] * (i + 2), self.columns[grouping[i]].most_frequent)
            table[at] = 0
            table[at] = without - table.sum(axis=i + 2)
        return table

    def _large(self, grouping: Grouping, table: Table | None) -> Conjunctions:
        """List the conjunctions of a grouping that have enough rows for any to suit."""
        columns = [self.columns[i] for i in grouping]
        n_levels = [one.n_levels for one in columns]
        if table is None:
            codes = [Codes(one.codes, 0, one.size) for one in columns]
            found = self.rows.by_levels(codes, grouping, self.least)
            return found.at(np.flatnonzero((found.levels < n_levels).all(axis=1)))
        inside = table[(slice(None), slice(None), *map(slice, n_levels))]
        flat = inside.reshape(*table.shape[:2], -1)
        at = np.flatnonzero(flat[0].sum(axis=0) >= self.least)
        on, levels = np.empty((2, len(at), len(grouping)), np.int64)
        on[:] = grouping
        levels.T[:] = np.unravel_index(at, n_levels)
        rows, *weights = flat[:, :, at].transpose(0, 2, 1)
        return Conjunctions(on, levels, rows.astype(np.int64), weights[0] if weights else None)

    @cached_property
    def _values(self) -> list[FloatArray | None]:
        """List what is added up: rows, of which None counts each as one, and their weights."""
        n, weight = self.rows.measures.n, self.rows.measures.weight
        rows = None if n is None else n.astype(np.float64)
        return [rows] if weight is None else [rows, weight]

    @cached_property
    def _is_exact(self) -> bool:
        """Tell whether sums of floats count the rows."""
        n = self.rows.measures.n
        return n is None or float(n.sum(dtype=np.float64)) < _EXACT

    @property
    def _subtracts(self) -> bool:
        """Tell whether rows may be left out: a difference of sums of weights has few digits."""
        return self.rows.measures.weight is None

    @cached_property
    def _blocks(self) -> list[_Block]:
        """Merge neighbouring columns as long as they have few levels together."""
        runs: list[list[int]] = []
        for i, column in enumerate(self.columns):
            if not runs or prod(self._sizes(runs[-1])) * column.size > MERGED:
                runs.append([])
            runs[-1].append(i)
        return [_Block(tuple(run), self._sizes(run), self._merged(run)) for run in runs]

    def _merged(self, run: Sequence[int]) -> IntegerArray:
        columns = [Codes(self.columns[i].codes, 0, self.columns[i].size) for i in run]
        return narrow_key(columns, len(self.rows.outcome))

    def _sizes(self, columns: Sequence[int]) -> tuple[int, ...]:
        return tuple(self.columns[i].size for i in columns)

    def _fits(self, columns: Sequence[int]) -> bool:
        """Tell whether a table of these columns is small enough, and its sums are exact."""
        size = self.rows.n_outcomes * prod(self._sizes(columns))
        return self._is_exact and size <= LARGEST_TABLE
