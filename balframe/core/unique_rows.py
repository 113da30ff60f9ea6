"""Rows of numbers that occur more than once, found by one key of whole numbers."""

from collections.abc import Sequence

import numpy as np

from balframe.core.array_types import FloatArray, Int64Array
from balframe.core.counting_strategy import are_few_keys
from balframe.core.integer_codes import Codes, n_keys, ravel

_WHOLE = 2.0**31  # so that a key holds a column and more


def distinct(columns: Sequence[FloatArray | Int64Array]) -> tuple[Int64Array, Int64Array]:
    """Find the different rows: where one of each stands, and which of them every row is.

    Parameters
    ----------
    columns : float or int64 arrays, shape (rows,)
        At least one column; the numbers are finite.
    """
    codes = [_codes(column) for column in columns]
    key = ravel(codes)
    if not are_few_keys(n_keys(codes), len(key)):
        _, first, copies = np.unique(key, return_index=True, return_inverse=True)
        return first, copies
    occurs = np.zeros(n_keys(codes), np.bool_)
    occurs[key] = True
    copies = (np.cumsum(occurs) - 1)[key]
    first = np.empty(np.count_nonzero(occurs), np.int64)
    first[copies] = np.arange(len(key))
    return first, copies


def _codes(column: FloatArray | Int64Array) -> Codes:
    """Take whole numbers as they are, and the ranks of others."""
    if len(column) and np.abs(column).max() < _WHOLE:
        whole = column.astype(np.int64, copy=False)
        if (whole == column).all():
            return Codes.spanning(whole)
    _, ranks = np.unique(column, return_inverse=True)
    return Codes.spanning(ranks)
