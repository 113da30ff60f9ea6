"""Effective sample sizes, from sums of weights and of squared weights and largest weights."""

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np

from balframe.core.array_types import FloatArray, Int64Array
from balframe.core.safe_divide import ratio
from balframe.stats.constrained_mle_paired import difference_variance
from balframe.stats.proportions import Rows

PairedRows = tuple[FloatArray, FloatArray, FloatArray]  # only first right, only second, all


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


def effective_number(values: FloatArray, add_up: Callable[[FloatArray], FloatArray]) -> FloatArray:
    """Return the effective number of clusters with these values, such as their errors.

    That is Kish's effective size of the values as weights; 0 where all are 0. `add_up` adds up over
    the clusters of each segment or label.
    """
    return np.nan_to_num(kish_effective_size(add_up(values), add_up(values**2)))


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


def effective_paired_counts(
    sums: Sequence[FloatArray], squares: Sequence[FloatArray], largest: FloatArray | None
) -> tuple[PairedRows, PairedRows | None]:
    """Return the effective rows of a label, for the lower and for the upper limit.

    For the lower limit, the variance V of the difference d = b - c is that after one more row of
    the largest weight, which only the second model gets right. The rows are (b + c - d^2) / V - 1
    with the shares b and c of rows that only the first, and only the second, gets right, but at
    most Kish's effective size (sum w)^2 / sum w^2. For the upper limit only the first gets that row
    right. With equal weights these are exactly the numbers of rows. NaN if the squares overflow or
    underflow a float.

    Parameters
    ----------
    sums : three float arrays
        Sums of the weights of the rows that only the first, and only the second, of two models gets
        right, and of all other rows.
    squares : three float arrays
        Sums of their squares.
    largest : float array or None
        Largest weights of all rows; None without weights.

    Returns
    -------
    lower, upper : three float arrays each
        Effective rows that only the first, and only the second, gets right; and all. The upper ones
        are None if they are the same.
    """
    only_first, only_second, other = sums
    with np.errstate(over="ignore", under="ignore"):
        total = only_first + only_second + other
        total_sq = squares[0] + squares[1] + squares[2]
    if largest is None:
        return (only_first, only_second, total), None
    with np.errstate(over="ignore", under="ignore"):
        is_equal = total_sq == total * largest
    size = np.where(np.isfinite(largest), kish_effective_size(total, total_sq), np.nan)
    usable = np.isfinite(size)
    b, c, e = (ratio(np.where(usable, weight, 0), total) for weight in sums)
    b_sq, c_sq, e_sq = (
        ratio(ratio(np.where(usable, square, 0), total_sq), size) for square in squares
    )
    row = ratio(np.where(usable, largest, 0), total)
    is_counted = usable & is_equal & (largest == 1)

    def rows(size_of_side: FloatArray) -> PairedRows:
        n = np.where(is_equal, size, np.fmin(size_of_side, size))
        return (
            np.where(is_counted, only_first, b * n),
            np.where(is_counted, only_second, c * n),
            np.where(is_counted, total, n),
        )

    lower = rows(_size_after_a_lost_row((b, c, e), (b_sq, c_sq, e_sq), row))
    if (is_equal | ~usable).all():
        return lower, None
    return lower, rows(_size_after_a_lost_row((c, b, e), (c_sq, b_sq, e_sq), row))


def _size_after_a_lost_row(sums: PairedRows, squares: PairedRows, row: FloatArray) -> FloatArray:
    """Return (b + c - d^2) / V - 1 after adding a row that only the second model gets right.

    The arguments are sums of weights and of their squares in units of the total weight, and the
    weight of the row. NaN where nothing varies then.
    """
    (b, c, e), (b_sq, c_sq, e_sq), whole = sums, squares, 1 + row
    b, c, e = b / whole, (c + row) / whole, e / whole
    difference = b - c
    with np.errstate(under="ignore"):
        variance = (
            (1 - difference) ** 2 * b_sq
            + (1 + difference) ** 2 * (c_sq + row * row)
            + difference**2 * e_sq
        ) / whole**2
    return ratio(difference_variance(b, c, e), variance) - 1
