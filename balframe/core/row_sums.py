"""Counts and weights of rows, and sums of them."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from balframe.core.array_types import BoolArray, Counts, FloatArray, Int64Array, RowIndex
from balframe.errors import InvalidInputError

SPARE_EXPONENT = 32  # more rows than 2**32 are not summed at once
_LARGEST_COUNT = 2**63 - 1


@dataclass(frozen=True, slots=True)
class RowSums:
    """Counts and weights of rows: how many rows each stands for, rows left out, and weights.

    Of weights these are their sum, the sum of their squares, and the largest. `n=None` stands for
    one row each; `weight_sq=None` beside weights for the square of each weight, and
    `weight_max=None` for the weight itself. Weights are in units of 2**exponent, squares are not.
    Without `keeps_squares` there are neither squares nor largest weights.
    """

    n: Int64Array | None = None
    missing: Int64Array | None = None
    weight: FloatArray | None = None
    weight_sq: FloatArray | None = None
    weight_max: FloatArray | None = None
    exponent: int = 0
    keeps_squares: bool = True

    @property
    def row_counts(self) -> Int64Array:
        """How many rows each stands for, where that is known to have been counted."""
        assert self.n is not None
        return self.n

    @property
    def is_plain(self) -> bool:
        """Return whether every row stands for itself and nothing more."""
        return self.n is None and self.missing is None and self.weight is None

    def at(self, rows: RowIndex) -> "RowSums":
        """Select rows by a slice, mask or positions."""
        return RowSums(
            None if self.n is None else self.n[rows],
            None if self.missing is None else self.missing[rows],
            None if self.weight is None else self.weight[rows],
            None if self.weight_sq is None else self.weight_sq[rows],
            None if self.weight_max is None else self.weight_max[rows],
            self.exponent,
            self.keeps_squares,
        )

    @classmethod
    def concat(cls, parts: Sequence["RowSums"]) -> "RowSums":
        """Put the sums of several parts one behind the other; all are weighted or none is."""
        exponent = max(part.exponent for part in parts)
        parts = [part.in_units_of(exponent) for part in parts]
        return cls(
            _joined([part.n for part in parts]),
            _joined([np.zeros_like(p.n) if p.missing is None else p.missing for p in parts]),
            _joined([part.weight for part in parts]),
            _joined([part.weight_sq for part in parts]),
            _joined([part.weight_max for part in parts]),
            exponent,
            parts[0].keeps_squares,
        )

    def leaving_out(self, rows: BoolArray, missing: Int64Array) -> "RowSums":
        """Let these rows count as missing only."""
        return replace(
            self,
            n=np.where(rows, 0, 1 if self.n is None else self.n),
            missing=missing,
            weight=None if self.weight is None else np.where(rows, 0.0, self.weight),
            weight_sq=None if self.weight_sq is None else np.where(rows, 0.0, self.weight_sq),
            weight_max=None if self.weight_max is None else np.where(rows, 0.0, self.weight_max),
        )

    def losing(self, rows: BoolArray) -> "RowSums":
        """Let these rows count as missing only, on top of what is missing already."""
        n = np.ones(len(rows), np.int64) if self.n is None else self.n
        lost = np.where(rows, n, 0)
        return self.leaving_out(rows, lost if self.missing is None else self.missing + lost)

    def without_ones(self) -> "RowSums":
        """Leave out counts that are all 1, so that less is added up."""
        return self if self.n is None or (self.n != 1).any() else replace(self, n=None)

    def with_squares(self) -> "RowSums":
        """Square the weights of single rows, each of which is its own largest weight.

        Squares that leave the range of a float become 0 or inf.
        """
        if self.weight is None or not self.keeps_squares:
            return self
        square, largest = self.weight_sq, self.weight_max
        if square is not None and largest is not None:
            return self
        if square is None:
            with np.errstate(over="ignore", under="ignore"):
                square = self.weight * self.weight
        return replace(
            self, weight_sq=square, weight_max=self.weight if largest is None else largest
        )

    def in_units_of(self, exponent: int) -> "RowSums":
        """Rescale the weights, squaring them first."""
        if self.weight is None or exponent == self.exponent:
            return self
        sums = self.with_squares()
        weight, weight_max = (
            None if values is None else np.ldexp(values, self.exponent - exponent)
            for values in (sums.weight, sums.weight_max)
        )
        return replace(sums, weight=weight, weight_max=weight_max, exponent=exponent)

    def summable(self) -> "RowSums":
        """Rescale the weights if their sum would overflow."""
        with np.errstate(over="ignore"):
            overflows = self.weight is not None and np.isinf(self.weight.sum())
        return self.in_units_of(self.exponent + SPARE_EXPONENT) if overflows else self


def _joined(arrays: Sequence[Counts | None]) -> Counts | None:
    present = [array for array in arrays if array is not None]
    return np.concatenate(present) if present else None


def check_count_total(n: Int64Array | None) -> None:
    """Raise where counts add up to more than a 64-bit integer holds."""
    if n is not None and int(n.max(initial=0)) * len(n) > _LARGEST_COUNT:
        total = (int((n >> 32).sum()) << 32) + int((n & 0xFFFF_FFFF).sum())
        if total > _LARGEST_COUNT:
            raise InvalidInputError(
                f"the counts add up to {total}, more than {_LARGEST_COUNT}, the largest 64-bit "
                "integer; process the data in parts, or scale the counts down."
            )
