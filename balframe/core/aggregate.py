"""Group rows by integer codes and add up what they carry: the one loop over rows."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import prod
from typing import Any, TypeVar

import numpy as np

from balframe.core.arrays import BoolArray, FloatArray, Int64Array, IntegerArray
from balframe.errors import InvalidInputError

_Array = TypeVar("_Array", Int64Array, FloatArray)

_BLOCK = 32_768
_LARGEST_KEY = 2**62
_NARROW = 2**16
SPARE_EXPONENT = 32  # more rows than 2**32 are not summed at once
_LARGEST_COUNT = 2**63 - 1


@dataclass(frozen=True, slots=True)
class Codes:
    """A column as small integers: the code of a row is `values - low`, below `size`."""

    values: IntegerArray
    low: int
    size: int

    @classmethod
    def spanning(cls, values: Int64Array) -> "Codes":
        """Take the range from the values themselves."""
        low, high = (int(values.min()), int(values.max())) if len(values) else (0, 0)
        return cls(values, low, high - low + 1)


@dataclass(frozen=True, slots=True)
class Measures:
    """What rows carry: how many rows each stands for, rows left out, weights and their squares.

    `n=None` stands for one each; `weight_sq=None` beside weights for the square of each weight.
    Weights are in units of 2**exponent, squares are not.
    """

    n: Int64Array | None = None
    missing: Int64Array | None = None
    weight: FloatArray | None = None
    weight_sq: FloatArray | None = None
    exponent: int = 0

    def at(self, rows: Any) -> "Measures":  # noqa: ANN401 (any index of numpy)
        """Select rows by a slice, mask or positions."""
        return Measures(
            None if self.n is None else self.n[rows],
            None if self.missing is None else self.missing[rows],
            None if self.weight is None else self.weight[rows],
            None if self.weight_sq is None else self.weight_sq[rows],
            self.exponent,
        )

    @classmethod
    def concat(cls, parts: Sequence["Measures"]) -> "Measures":
        """Put the sums of several parts one behind the other; all are weighted or none is."""
        exponent = max(part.exponent for part in parts)
        parts = [part.in_units_of(exponent) for part in parts]
        return cls(
            _joined([part.n for part in parts]),
            _joined([np.zeros_like(p.n) if p.missing is None else p.missing for p in parts]),
            _joined([part.weight for part in parts]),
            _joined([part.weight_sq for part in parts]),
            exponent,
        )

    def leaving_out(self, rows: BoolArray, missing: Int64Array) -> "Measures":
        """Let these rows count as missing only."""
        return replace(
            self,
            n=np.where(rows, 0, 1 if self.n is None else self.n),
            missing=missing,
            weight=None if self.weight is None else np.where(rows, 0.0, self.weight),
            weight_sq=None if self.weight_sq is None else np.where(rows, 0.0, self.weight_sq),
        )

    def losing(self, rows: BoolArray) -> "Measures":
        """Let these rows count as missing only, on top of what is missing already."""
        n = np.ones(len(rows), np.int64) if self.n is None else self.n
        lost = np.where(rows, n, 0)
        return self.leaving_out(rows, lost if self.missing is None else self.missing + lost)

    def with_squares(self) -> "Measures":
        """Square the weights of single rows; what leaves the range of a float becomes 0 or inf."""
        if self.weight is None or self.weight_sq is not None:
            return self
        with np.errstate(over="ignore", under="ignore"):
            return replace(self, weight_sq=self.weight * self.weight)

    def in_units_of(self, exponent: int) -> "Measures":
        """Rescale the weights, squaring them first."""
        if self.weight is None or exponent == self.exponent:
            return self
        weight = np.ldexp(self.weight, self.exponent - exponent)
        return replace(self.with_squares(), weight=weight, exponent=exponent)

    def summable(self) -> "Measures":
        """Rescale the weights if their sum would overflow."""
        with np.errstate(over="ignore"):
            overflows = self.weight is not None and np.isinf(self.weight.sum())
        return self.in_units_of(self.exponent + SPARE_EXPONENT) if overflows else self


def _joined(arrays: Sequence[_Array | None]) -> _Array | None:
    present = [array for array in arrays if array is not None]
    return np.concatenate(present) if present else None


def dense_limit(rows: int) -> int:
    """Give the number of possible groups up to which an array over all of them pays."""
    return max(rows, 65_536)


def is_dense(columns: Sequence[Codes]) -> bool:
    """Tell whether the possible groups are few enough, beside the rows, to count in an array."""
    return prod(column.size for column in columns) <= dense_limit(len(columns[0].values))


def aggregate(
    columns: Sequence[Codes], measures: Measures
) -> tuple[tuple[Int64Array, ...], Measures]:
    """Group rows by their codes, in ascending order of the codes, and add up the measures.

    Groups that stand for no row at all are left out. Returns the codes of each column, one for
    each group, and the sums.
    """
    check_total(measures.n)
    check_total(measures.missing)
    measures = measures.summable()
    if is_dense(columns):
        keys, sums = _aggregate_dense(columns, measures)
        codes = _unravel(keys, [column.size for column in columns])
    else:
        first, sums = _aggregate_sorted(columns, measures)
        codes = tuple(shifted(column, first) for column in columns)
    return codes, sums


def check_total(n: Int64Array | None) -> None:
    """Raise where counts add up to more than a 64-bit integer holds."""
    if n is not None:
        total = (int((n >> 32).sum()) << 32) + int((n & 0xFFFF_FFFF).sum())
        if total > _LARGEST_COUNT:
            raise InvalidInputError(
                f"the counts add up to {total}, more than the {_LARGEST_COUNT} that a 64-bit "
                "integer holds; report on parts of the data, or scale the counts down."
            )


def _aggregate_dense(columns: Sequence[Codes], measures: Measures) -> tuple[Int64Array, Measures]:
    size = prod(column.size for column in columns)
    rows = len(columns[0].values)
    step = max(_BLOCK, 2 * size)
    buffer, spare = np.empty((2, min(step, rows)), np.int64)
    sums = _zeros(measures, size)
    for start in range(0, rows, step):
        block = slice(start, min(start + step, rows))
        key = _ravel_block(columns, block, buffer, spare)
        _add_block(sums, key, measures.at(block).with_squares())
    keys = _standing_for_rows(sums)
    return keys, sums.at(keys)


def _zeros(measures: Measures, size: int) -> Measures:
    weighted = measures.weight is not None
    return Measures(
        np.zeros(size, np.int64),
        None if measures.missing is None else np.zeros(size, np.int64),
        np.zeros(size) if weighted else None,
        np.zeros(size) if weighted else None,
        measures.exponent,
    )


def _ravel_block(
    columns: Sequence[Codes], block: slice, buffer: Int64Array, spare: Int64Array
) -> Int64Array:
    length = block.stop - block.start
    key = target = buffer[:length]
    for column in columns:
        low, values = _as_int64(column.low), column.values[block]
        np.subtract(values, low, out=target, casting="unsafe", dtype=np.int64)
        if target is not key:
            key *= column.size
            key += target
        target = spare[:length]
    return key


def _as_int64(value: int) -> np.int64:
    """Wrap a value of the unsigned range, as a cast of the column does: differences stay right."""
    return np.int64((value + 2**63) % 2**64 - 2**63)


def _add_block(sums: Measures, key: Int64Array, part: Measures) -> None:
    assert sums.n is not None
    size = len(sums.n)
    if part.n is None:
        np.add(sums.n, np.bincount(key, minlength=size), out=sums.n)
    else:
        np.add.at(sums.n, key, part.n)
    if sums.missing is not None and part.missing is not None:
        np.add.at(sums.missing, key, part.missing)
    with np.errstate(over="ignore"):
        for total, values in ((sums.weight, part.weight), (sums.weight_sq, part.weight_sq)):
            if total is not None:
                np.add(total, np.bincount(key, weights=values, minlength=size), out=total)


def _unravel(keys: Int64Array, sizes: Sequence[int]) -> tuple[Int64Array, ...]:
    codes = []
    for size in reversed(sizes):
        keys, code = np.divmod(keys, size)
        codes.append(code)
    return tuple(reversed(codes))


def _aggregate_sorted(columns: Sequence[Codes], measures: Measures) -> tuple[Int64Array, Measures]:
    key = ravel(columns)
    order = np.argsort(key, kind="stable")
    key = key[order]
    changes = np.ones(len(key), np.bool_)
    changes[1:] = key[1:] != key[:-1]
    starts = np.flatnonzero(changes)
    ordered = measures.at(order).with_squares()
    n = np.ones(len(key), np.int64) if ordered.n is None else ordered.n
    with np.errstate(over="ignore"):
        sums = Measures(
            np.add.reduceat(n, starts),
            None if ordered.missing is None else np.add.reduceat(ordered.missing, starts),
            None if ordered.weight is None else np.add.reduceat(ordered.weight, starts),
            None if ordered.weight_sq is None else np.add.reduceat(ordered.weight_sq, starts),
            ordered.exponent,
        )
    kept = _standing_for_rows(sums)
    return order[starts[kept]], sums.at(kept)


def _standing_for_rows(sums: Measures) -> Int64Array:
    assert sums.n is not None
    return np.flatnonzero(sums.n if sums.missing is None else sums.n | sums.missing)


def ravel(columns: Sequence[Codes]) -> Int64Array:
    """Merge columns into one key; where it would overflow, its ranks take the key's place."""
    everything = slice(None)
    key = shifted(columns[0], everything)
    size = columns[0].size
    for column in columns[1:]:
        if size * column.size > _LARGEST_KEY:
            distinct, key = np.unique(key, return_inverse=True)
            size = len(distinct)
        key = key * column.size + shifted(column, everything)
        size *= column.size
    return key


def narrow_key(columns: Sequence[Codes], rows: int) -> IntegerArray:
    """Merge columns into one key of as few bytes as hold it."""
    size = prod(column.size for column in columns)
    if size > _NARROW:
        return ravel(columns)
    key: IntegerArray
    key, code = np.zeros((2, rows), np.min_scalar_type(max(size - 1, 0)))
    for column in columns:
        key *= np.array(column.size, np.int64).astype(key.dtype)
        low = _as_int64(column.low)
        np.subtract(column.values, low, out=code, casting="unsafe", dtype=np.int64)
        key += code
    return key


def shifted(column: Codes, rows: Int64Array | slice) -> Int64Array:
    """Give the codes of some rows, from 0."""
    return column.values[rows].astype(np.int64) - _as_int64(column.low)
