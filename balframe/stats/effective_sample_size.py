"""Effective sample sizes, from sums of weights and of squared weights."""

import numpy as np

from balframe.core.array_types import FloatArray
from balframe.core.safe_divide import ratio


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


def effective_counts(
    x: FloatArray, n: FloatArray, x_sq: FloatArray, n_sq: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """Return the effective numbers of correct rows and of all rows of proportions.

    This is Kish's effective size, divided by a design effect of at least 1: weights that correlate
    with being correct increase the variance of a proportion. That variance is estimated after
    adding one correct and one wrong row of average weight, because the estimate would otherwise
    be 0 if no row is wrong. Without weights, the result is exactly the numbers of rows.

    Parameters
    ----------
    x, n : float arrays
        Sums of the weights of correct rows, and of all rows.
    x_sq, n_sq : float arrays
        The same of squared weights.
    """
    is_unweighted = (x == x_sq) & (n == n_sq)
    if is_unweighted.all():
        return np.where(n > 0, x, np.nan), np.where(n > 0, n, np.nan)
    size = kish_effective_size(n, n_sq)
    right, wrong = ratio(x, n), ratio(n - x, n)
    square = ratio(np.where(np.isfinite(size), x_sq, 0), np.where(np.isfinite(size), n_sq, 1))
    row = ratio(np.ones_like(size), size)  # the share of a row of average weight
    p, q = (right + row) / (1 + 2 * row), (wrong + row) / (1 + 2 * row)
    variance = q * q * (square + row) + p * p * (1 - square + row)
    design_effect = ratio(variance, p * q * (1 + 2 * row))
    n_eff = np.where(is_unweighted, size, size / np.maximum(design_effect, 1))
    return np.where(is_unweighted & np.isfinite(size), x, right * n_eff), n_eff
