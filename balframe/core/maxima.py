"""Largest weights, which are added up by taking the larger of two."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from balframe.core.array_types import BoolArray, FloatArray, Int64Array, IntegerArray


class Maxima(np.ndarray[Any, np.dtype[np.float64]]):
    """The largest weight of each of several groups of rows, 0 of a group without rows.

    The sum of two is the larger one, so that what adds up the counts of groups returns the largest
    weight of the rows that it counts. The difference of two is the first: without some of its rows,
    a group has no larger weight than before.
    """

    @classmethod
    def of(cls, values: FloatArray) -> "Maxima":
        """View an array of floats as largest weights."""
        return values.view(cls)

    def __array_ufunc__(
        self,
        ufunc: np.ufunc,
        method: str,
        *inputs: Any,  # noqa: ANN401 (whatever NumPy passes on)
        out: tuple[Any, ...] | None = None,
        **options: Any,  # noqa: ANN401
    ) -> Any:  # noqa: ANN401
        """Add and subtract largest weights; other functions see plain arrays."""
        plain = [_plain(value) for value in inputs]
        if out is not None:
            options["out"] = tuple(_plain(value) for value in out)
        if ufunc is np.subtract and method == "__call__":
            return Maxima.of(np.broadcast_to(plain[0], np.broadcast_shapes(*map(np.shape, plain))))
        if ufunc is not np.add:
            return getattr(ufunc, method)(*plain, **options)
        result = getattr(np.maximum, method)(*plain, **options)
        if out is not None:
            return out[0]
        return Maxima.of(result) if isinstance(result, np.ndarray) else result

    def in_groups(self, group: Int64Array, n_groups: int) -> "Maxima":
        """Return the largest of each group of entries."""
        out = np.zeros(n_groups)
        np.maximum.at(out, group, _plain(self))
        return Maxima.of(out)

    def two_largest(
        self, group: Int64Array, n_groups: int
    ) -> tuple[FloatArray, Int64Array, FloatArray]:
        """Return the largest of each group of entries, its position, and the largest of the others.

        The position is -1 in a group without entries.
        """
        values = _plain(self)
        order = np.lexsort((values, group))
        last = np.searchsorted(group[order], np.arange(n_groups), side="right") - 1
        length = np.bincount(group, minlength=n_groups)
        largest, second, owner = np.zeros(n_groups), np.zeros(n_groups), np.full(n_groups, -1)
        some, several = np.flatnonzero(length > 0), np.flatnonzero(length > 1)
        owner[some] = order[last[some]]
        largest[some] = values[owner[some]]
        second[several] = values[order[last[several] - 1]]
        return largest, owner, second

    def others_in_group(self, group: Int64Array, n_groups: int) -> "Maxima":
        """Return, for each entry, the largest of the other entries of its group."""
        largest, owner, second = self.two_largest(group, n_groups)
        is_owner = owner[group] == np.arange(len(group))
        return Maxima.of(np.where(is_owner, second[group], largest[group]))


@dataclass(frozen=True, slots=True)
class RunningMaxima:
    """The largest value of each stretch of entries that begins or ends where its segment does."""

    up_to: FloatArray
    onwards: FloatArray

    @classmethod
    def of(cls, values: FloatArray, segment: IntegerArray) -> "RunningMaxima":
        """Take the largest so far, from either end of each segment; `segment` is ascending."""
        backwards = _accumulate(values[::-1], -segment[::-1].astype(np.float64))
        return cls(_accumulate(values, segment.astype(np.float64)), backwards[::-1])

    def below(self, first: Int64Array, at: Int64Array) -> FloatArray:
        """Return the largest from the first entry of a segment up to but not with `at`; or 0."""
        return self._take(self.up_to, at - 1, at > first)

    def above(self, at: Int64Array, last: Int64Array) -> FloatArray:
        """Return the largest from `at` up to but not with the end `last` of a segment; or 0."""
        return self._take(self.onwards, at, at < last)

    def _take(self, values: FloatArray, at: Int64Array, is_some: BoolArray) -> FloatArray:
        out = np.zeros(len(at))
        out[is_some] = values[at[is_some]]
        return out


def _accumulate(values: FloatArray, order: FloatArray) -> FloatArray:
    """Return the largest value so far of each segment; `order` ascends from segment to segment.

    NumPy compares complex numbers by their real parts first.
    """
    pairs = np.empty(len(values), np.complex128)
    pairs.real, pairs.imag = order, values
    largest: FloatArray = np.maximum.accumulate(pairs).imag
    return largest


def _plain(value: Any) -> Any:  # noqa: ANN401
    return value.view(np.ndarray) if isinstance(value, Maxima) else value
