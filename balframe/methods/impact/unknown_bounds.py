"""Bounds of impact ratios over all categories that rows of unknown category could be in."""

import numpy as np

from balframe.core.array_types import FloatArray, Int64Array
from balframe.core.safe_divide import ratio

Bounds = tuple[FloatArray, FloatArray]

_ROUNDING = 1e-15  # relative; so much less than a whole row is rounding


def bounds_with_unknowns(
    selected: Int64Array, n: Int64Array, n_selected_unknown: int, n_unknown: int
) -> Bounds:
    """Return the lowest and the highest ratio of each category's rate to the largest rate.

    The ratio is lowest if all unselected unknown rows are in the category, and all selected ones in
    the rival whose rate that makes largest. It is highest if all selected ones are in the category,
    and the unselected ones in its rivals, so that the largest of their rates is as low as possible.

    Parameters
    ----------
    selected, n : int64 arrays, shape (k,)
        Selected rows and all rows of each category; every n is at least 1.
    n_selected_unknown, n_unknown : int
        Selected rows and all rows whose category is unknown.

    Returns
    -------
    lower, upper : float arrays, shape (k,)
        NaN where there is only one category, or no row is selected.
    """
    k, misses = len(n), n_unknown - n_selected_unknown
    if k < 2:
        lower, upper = np.full((2, k), np.nan)
        return lower, upper
    with_hits = (selected + n_selected_unknown) / (n + n_selected_unknown)
    lower = _to_largest(selected / (n + misses), _largest_of_others(with_hits))
    others = [np.delete(np.arange(k), one) for one in range(k)]
    flattened = [_lowest_maximum(selected[rivals], n[rivals], misses) for rivals in others]
    return lower, _to_largest(with_hits, np.array(flattened))


def _to_largest(own: FloatArray, rival: FloatArray) -> FloatArray:
    """Divide a rate by the larger of it and the largest of its rivals'."""
    return ratio(own, np.maximum(own, rival))


def _largest_of_others(rates: FloatArray) -> FloatArray:
    """Find the largest rate of all others, for each."""
    first = np.argmax(rates)
    out = np.full(len(rates), rates[first])
    out[first] = np.delete(rates, first).max()
    return out


def _lowest_maximum(selected: Int64Array, n: Int64Array, rows: int) -> float:
    """Add unselected rows to categories so that the largest rate is as low as possible; return it.

    A rate can be had if the rows that bring all categories down to it are not more than there are.
    """
    high = float(np.max(selected / n))
    low = 0.0
    while rows and low < (middle := (low + high) / 2) < high:
        if _rows_down_to(middle, selected, n).sum() <= rows:
            high = middle
        else:
            low = middle
    if not high:
        return high
    return float(np.max(selected / (n + _rows_down_to(high, selected, n))))  # without its rounding


def _rows_down_to(rate: float, selected: Int64Array, n: Int64Array) -> FloatArray:
    """Count the unselected rows that each category lacks for a rate of at most this one."""
    return np.maximum(np.ceil(selected / rate * (1 - _ROUNDING) - n), 0)
