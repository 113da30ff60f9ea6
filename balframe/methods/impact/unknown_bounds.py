"""Bounds of impact ratios over all categories that rows of unknown category could be in."""

import numpy as np

from balframe.core.array_types import FloatArray, Int64Array
from balframe.core.safe_divide import ratio

Bounds = tuple[FloatArray, FloatArray]

_ROUNDING = 1e-15  # relative rounding error of a number of rows


def unknown_category_bounds(
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
    lower = _ratio_to_largest(selected / (n + misses), _largest_of_others(with_hits))
    rivals = [np.delete(np.arange(k), category) for category in range(k)]
    lowest = [_lowest_maximum(selected[others], n[others], misses) for others in rivals]
    return lower, _ratio_to_largest(with_hits, np.array(lowest))


def _ratio_to_largest(own: FloatArray, rival: FloatArray) -> FloatArray:
    """Return a rate over the larger of it and the largest rate of its rivals."""
    return ratio(own, np.maximum(own, rival))


def _largest_of_others(rates: FloatArray) -> FloatArray:
    """Return, for each category, the largest rate of all others."""
    first = np.argmax(rates)
    out = np.full(len(rates), rates[first])
    out[first] = np.delete(rates, first).max()
    return out


def _lowest_maximum(selected: Int64Array, n: Int64Array, rows: int) -> float:
    """Return the lowest possible largest rate, if unselected rows are added to the categories.

    A rate is possible if the rows that bring all categories down to it are at most `rows`.
    """
    high = float(np.max(selected / n))
    low = 0.0
    while rows and low < (middle := (low + high) / 2) < high:
        if _rows_needed(middle, selected, n).sum() <= rows:
            high = middle
        else:
            low = middle
    if not high:
        return high
    # once more in whole rows, without the rounding of the bisection
    return float(np.max(selected / (n + _rows_needed(high, selected, n))))


def _rows_needed(rate: float, selected: Int64Array, n: Int64Array) -> FloatArray:
    """Return the unselected rows that each category needs for at most this rate."""
    return np.maximum(np.ceil(selected / rate * (1 - _ROUNDING) - n), 0)
