"""Running sums, from which the sum of any stretch of entries is a difference."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from balframe.core.array_types import FloatArray, Int64Array

Positions = slice | Int64Array

_FEW = 2**31  # ones whose sum four bytes hold


@dataclass(frozen=True, slots=True)
class PrefixSums:
    """Sums of all entries before each position, kept with the rounding errors of floats.

    Floats may have several columns, which are added up one by one.
    """

    total: npt.NDArray[Any]
    error: FloatArray | None

    @classmethod
    def of(cls, values: npt.NDArray[Any]) -> "PrefixSums":
        """Add up."""
        if values.dtype.kind != "f":
            few = len(values) < _FEW and values.dtype.itemsize == 1
            total = np.zeros(len(values) + 1, np.int32 if few else np.int64)
            np.cumsum(values, out=total[1:])
            return cls(total, None)
        sums: FloatArray = np.zeros((len(values) + 1, *values.shape[1:]))
        np.cumsum(values, axis=0, out=sums[1:])
        before, after = sums[:-1], sums[1:]
        with np.errstate(invalid="ignore", over="ignore"):
            added = after - before
            lost = (before - (after - added)) + (values - added)
        error = np.zeros_like(sums)
        np.cumsum(lost, axis=0, out=error[1:])
        return cls(sums, error)

    def between(self, low: Positions, high: Positions) -> npt.NDArray[Any]:
        """Add up the entries from `low` up to but not with `high`."""
        with np.errstate(invalid="ignore", over="ignore"):
            sums = _at(self.total, high) - _at(self.total, low)
            if self.error is None:
                return np.asarray(sums, np.int64)
            return np.asarray(sums + (_at(self.error, high) - _at(self.error, low)))


def _at(sums: npt.NDArray[Any], positions: Positions) -> npt.NDArray[Any]:
    return sums[positions] if isinstance(positions, slice) else sums.take(positions, 0)
