"""Rows of numbers that occur more than once, found by one key of whole numbers."""

from collections.abc import Sequence

import numpy as np

from balframe.core.array_types import FloatArray, Int64Array
from balframe.core.cells import LEFT_OUT, Cells
from balframe.core.counting_strategy import SAMPLE, should_find_equal_segments, suits_key_table
from balframe.core.integer_codes import Codes, n_keys, ravel

_WHOLE = 2.0**31  # so that a key holds a column and more
_MOST_COLUMNS = 64  # rows of more columns are hardly ever equal, and the search takes long


def unique_rows(columns: Sequence[FloatArray | Int64Array]) -> tuple[Int64Array, Int64Array]:
    """Find the different rows: where one of each stands, and which of them every row is.

    Rows of very many columns are taken to be different.

    Parameters
    ----------
    columns : float or int64 arrays, shape (rows,)
        At least one column; the numbers are finite.
    """
    every_row = np.arange(len(columns[0]))
    if len(columns) > _MOST_COLUMNS:
        return every_row, every_row
    codes = []
    for column in columns:
        values = _whole_numbers(column)
        if values is None:
            distinct, values = np.unique(column, return_inverse=True)
            if len(distinct) == len(column):  # as where rows have weights
                return every_row, every_row
        codes.append(Codes.spanning(values))
    key = ravel(codes)
    if not suits_key_table(n_keys(codes), len(key)):
        _, first, copies = np.unique(key, return_index=True, return_inverse=True)
        return first, copies
    occurs = np.zeros(n_keys(codes), np.bool_)
    occurs[key] = True
    copies = (np.cumsum(occurs) - 1)[key]
    first = np.empty(np.count_nonzero(occurs), np.int64)
    first[copies] = np.arange(len(key))
    return first, copies


def _whole_numbers(column: FloatArray | Int64Array) -> Int64Array | None:
    """Return the numbers as integers; None where they are not whole, or large."""
    if len(column) and np.abs(column).max() < _WHOLE:
        whole: Int64Array = column.astype(np.int64, copy=False)
        if (whole == column).all():
            return whole
    return None


# Segments with equal counts in every cell, whose scores are equal too.


_FEW_PAIRS = 16  # of labels; with more, segments of more than a few rows are hardly ever equal
_MOST_DIFFERENT = 0.25  # share of a sample up to which computing less makes up for the search


def unique_segments(cells: Cells, n_labels: int) -> tuple[Int64Array, Int64Array] | None:
    """Find the different segments: where one of each stands, and which of them every segment is.

    None where segments are few or mostly different, and where rows are weighted or left out.
    """
    segment, first = cells.segments
    if not should_find_equal_segments(len(first)) or n_labels**2 > _FEW_PAIRS:
        return None
    if cells.sums.weight is not None or (cells.actual == LEFT_OUT).any():
        return None
    pair = cells.actual * n_labels + cells.outcome
    some = slice(first[SAMPLE] if len(first) > SAMPLE else None)
    sampled = _columns(segment[some], pair[some], cells.n[some], n_labels**2)
    if len(unique_rows(sampled)[0]) > _MOST_DIFFERENT * len(sampled[0]):
        return None
    return unique_rows(_columns(segment, pair, cells.n, n_labels**2))


def _columns(
    segment: Int64Array, pair: Int64Array, n: Int64Array, n_pairs: int
) -> list[Int64Array]:
    """Make a column of counts for every pair of labels, with a row for every segment."""
    counts = np.zeros((n_pairs, segment[-1] + 1), np.int64)
    counts[pair, segment] = n
    return list(counts)
