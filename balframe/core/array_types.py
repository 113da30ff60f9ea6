"""The array types that packages hand to each other, and what can be listed."""

from collections.abc import Iterable
from typing import Any, Protocol, TypeGuard, TypeVar

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


def is_iterable(value: object) -> TypeGuard[Iterable[Any]]:
    """Return whether this can be listed; an array of no dimension and a class only look like it."""
    try:
        iter(value)  # type: ignore[call-overload]
    except TypeError:
        return False
    return True
