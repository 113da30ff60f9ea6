"""Effective sample sizes, from sums of weights and of squared weights and largest weights."""

from typing import NamedTuple

import numpy as np

from balframe.core.array_types import FloatArray, Int64Array
from balframe.core.safe_divide import ratio
from balframe.stats.proportions import Rows


class RowsBySide(NamedTuple):
    """Effective rows for the lower limits of proportions, and for the upper ones.

    `upper` is None where the rows are the same for both.
    """

    lower: Rows
    upper: Rows | None

    @property
    def for_upper(self) -> Rows:
        """The rows for upper limits, whether or not they are others."""
        return self.lower if self.upper is None else self.upper

    def at(self, entries: Int64Array) -> "RowsBySide":
        """Take the rows at these positions."""
        lower, upper = (
            None if rows is None else (rows[0][entries], rows[1][entries])
            for rows in (self.lower, self.upper)
        )
        assert lower is not None
        return RowsBySide(lower, upper)

    def mirror(self) -> "RowsBySide":
        """Exchange correct and wrong rows, and the two limits."""
        (x, n), (x_up, n_up) = self.lower, self.for_upper
        lower = n_up - x_up, n_up
        return RowsBySide(lower, None if self.upper is None else (n - x, n))

    @property
    def fewer(self) -> Rows:
        """The fewer of the rows for the two limits, for tests that have no side."""
        (x, n), (x_up, n_up) = self.lower, self.for_upper
        is_fewer = ~(n > n_up)
        return np.where(is_fewer, x, x_up), np.where(is_fewer, n, n_up)


def kish_effective_size(n: FloatArray, n_sq: FloatArray) -> FloatArray:
    """Return Kish's effective size (sum w)^2 / sum w^2.

    NaN if the squares overflow or underflow a float.

    References
    ----------
    L. Kish, "Survey Sampling", 1965.
    """
    usable = (n > 0) & (n_sq >= np.finfo(np.float64).tiny) & np.isfinite(n_sq)
    with np.errstate(over="ignore"):
        size = np.where(usable, n / np.where(usable, n_sq, 1) * n, np.nan)
    return np.where(np.isfinite(size), size, np.nan)


def effective_rows(
    x: FloatArray,
    n: FloatArray,
    x_sq: FloatArray,
    n_sq: FloatArray,
    largest: FloatArray | None,
) -> RowsBySide:
    """Return the effective rows of proportions of weighted rows, for each of their limits.

    Weights that correlate with being correct increase the variance of a proportion, which the rows
    alone show too rarely: it depends on the few heavy ones. For a lower limit, the variance V is
    that of the proportion q of wrong rows after one more wrong row of the largest weight, and the
    rows are q (1 - q) / V - 1, but at most Kish's effective size. For an upper limit that row is
    correct. With equal weights the result is exactly the numbers of rows. It lies between sum w /
    largest weight and Kish's size, which holds where no row is correct, for the lower limit, or
    wrong, for the upper one.

    Parameters
    ----------
    x, n : float arrays
        Sums of the weights of correct rows, and of all rows.
    x_sq, n_sq : float arrays
        The same of squared weights.
    largest : float array or None
        Largest weights of all rows; None without weights.

    Returns
    -------
    RowsBySide
        NaN if the squares overflow or underflow a float.

    References
    ----------
    M. P. Fay and E. J. Feuer, "Confidence intervals for directly standardized rates: a method based
    on the gamma distribution", Statistics in Medicine 1997, for the row that is added to weighted
    rates; here for proportions.
    """
    if largest is None:
        return RowsBySide((np.where(n > 0, x, np.nan), np.where(n > 0, n, np.nan)), None)
    size = kish_effective_size(n, n_sq)
    size = np.where(np.isfinite(largest), size, np.nan)
    is_defined = np.isfinite(size)
    right, wrong = ratio(x, n), np.maximum(ratio(n - x, n), 0)
    share = ratio(np.where(is_defined, x_sq, 0), np.where(is_defined, n_sq, 1))
    right_sq, wrong_sq = ratio(share, size), ratio(np.maximum(1 - share, 0), size)
    row = ratio(np.where(is_defined, largest, np.nan), n)
    with np.errstate(over="ignore", under="ignore"):
        is_equal = n_sq == n * largest
    is_counted = is_equal & (largest == 1) & is_defined

    def rows(size_of_side: FloatArray) -> Rows:
        n_eff = np.where(is_equal, size, np.fmin(size_of_side, size))
        return np.where(is_counted, x, right * n_eff), np.where(is_counted, n, n_eff)

    lower = rows(_size_after_a_wrong_row(right, wrong, right_sq, wrong_sq, row))
    if (is_equal | ~is_defined).all():
        return RowsBySide(lower, None)
    return RowsBySide(lower, rows(_size_after_a_wrong_row(wrong, right, wrong_sq, right_sq, row)))


def _size_after_a_wrong_row(
    right: FloatArray,
    wrong: FloatArray,
    right_sq: FloatArray,
    wrong_sq: FloatArray,
    row: FloatArray,
) -> FloatArray:
    """Return q (1 - q) / V - 1 after adding a wrong row; NaN where no row is right.

    The arguments are sums of weights and of their squares in units of the total weight, and the
    weight of the row.
    """
    p, q = right / (1 + row), (wrong + row) / (1 + row)
    with np.errstate(under="ignore"):
        variance = (p * p * (wrong_sq + row * row) + q * q * right_sq) / (1 + row) ** 2
    return ratio(p * q, variance) - 1
