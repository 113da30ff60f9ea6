"""Columns as small integers, and several of them merged into one key."""

from collections.abc import Sequence
from dataclasses import dataclass
from math import prod
from typing import Any

import numpy as np
import numpy.typing as npt

from balframe.core.array_types import Int64Array, IntegerArray, RowIndex

LARGEST_KEY = 2**62


class MisjudgedRangeError(Exception):
    """Values lie outside of the range that a look at some of them led to expect."""


@dataclass(frozen=True, slots=True)
class Codes:
    """A column as small integers: the code of a row is `values - low`, below `size`.

    Where the range `is_guess`, merging columns raises MisjudgedRangeError if it does not hold.
    """

    values: IntegerArray
    low: int
    size: int
    is_guess: bool = False

    @classmethod
    def spanning(cls, values: Int64Array) -> "Codes":
        """Take the range from the values themselves."""
        low, high = min_max(values) if len(values) else (0, 0)
        return cls(values, low, high - low + 1)


def min_max(values: npt.NDArray[Any]) -> tuple[int, int]:
    """Find the least and the largest of some integers."""
    return int(values.min()), int(values.max())


def n_keys(columns: Sequence[Codes]) -> int:
    """Count the possible keys of columns."""
    return prod(column.size for column in columns)


def codes_from_zero(column: Codes, rows: RowIndex) -> Int64Array:
    """Return the codes of some rows, from 0."""
    codes = column.values[rows].astype(np.int64)
    codes -= _wrapped(column.low, codes.dtype)
    return codes


def ravel(columns: Sequence[Codes]) -> Int64Array:
    """Merge columns into one key; where it would overflow, its ranks take the key's place."""
    everything = slice(None)
    key = codes_from_zero(columns[0], everything)
    size = columns[0].size
    for column in columns[1:]:
        if size * column.size > LARGEST_KEY:
            distinct, key = np.unique(key, return_inverse=True)
            size = len(distinct)
        key = key * column.size + codes_from_zero(column, everything)
        size *= column.size
    return key


def narrow_key(columns: Sequence[Codes], rows: int) -> IntegerArray:
    """Merge columns into one key of as few bytes as hold it."""
    key: IntegerArray
    key, spare = np.empty((2, rows), key_dtype(columns))
    write_keys(columns, slice(0, rows), key, spare)
    return key


def key_dtype(columns: Sequence[Codes]) -> np.dtype[Any]:
    """Choose the fewest bytes that hold the number of possible keys."""
    size = n_keys(columns)
    return np.min_scalar_type(size) if size < 2**32 else np.dtype(np.int64)


def write_keys(
    columns: Sequence[Codes], rows: slice, key: IntegerArray, spare: IntegerArray
) -> None:
    """Write the keys of some rows; arithmetic wraps around on the way, and is right in the end."""
    for column in columns:
        if column.is_guess:  # while the values are in cache
            low, high = min_max(column.values[rows])
            if low < column.low or high >= column.low + column.size:
                raise MisjudgedRangeError
    varying = [column for column in columns if column.size > 1]
    if not varying:
        key.fill(0)
        return
    np.copyto(key, varying[0].values[rows], casting="unsafe")
    low = varying[0].low
    for column in varying[1:]:
        np.copyto(spare, column.values[rows], casting="unsafe")
        key *= column.size
        key += spare
        low = low * column.size + column.low
    if low:
        key -= _wrapped(low, key.dtype)


def _wrapped(value: int, dtype: np.dtype[Any]) -> np.integer[Any]:
    """Wrap a number as a cast to the type does: differences stay right."""
    wrapped: np.integer[Any] = np.array([value % 2**64], np.uint64).astype(dtype)[0]
    return wrapped


def unravel(keys: npt.NDArray[Any], sizes: Sequence[int]) -> tuple[Int64Array, ...]:
    """Take keys apart into the codes of each column."""
    codes = []
    for size in reversed(sizes[1:]):
        rest = keys // size
        codes.append((keys - rest * size).astype(np.int64, copy=False))
        keys = rest
    return (keys.astype(np.int64, copy=False), *reversed(codes))
