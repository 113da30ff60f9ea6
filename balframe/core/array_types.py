"""The array types that packages hand to each other."""

from typing import Any, Protocol, TypeVar

import numpy as np
import numpy.typing as npt

IntegerArray = npt.NDArray[np.integer[Any]]
Int64Array = npt.NDArray[np.int64]
FloatArray = npt.NDArray[np.float64]
BoolArray = npt.NDArray[np.bool_]

RowIndex = slice | Int64Array | BoolArray  # which of the rows

Counts = TypeVar("Counts", Int64Array, FloatArray)


class Regroup(Protocol):
    """From the counts of some entries to those of others, whole numbers staying whole."""

    def __call__(self, values: Counts, /) -> Counts:
        """Take or add up."""
